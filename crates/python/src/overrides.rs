//! Values to replace in a file, as Python gives them: a mapping, or pairs, of dotted paths and what to set.

use crate::error::Error;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};
use std::ops::Deref;

/// Dotted paths and what to set, as a file writes it.
#[derive(Clone, Default)]
pub(crate) struct Overrides(Vec<(String, String)>);

impl Deref for Overrides {
    type Target = [(String, String)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// `object`: what a path is set to may be of any of TOML's kinds.
const VALUE: PyStaticExpr = type_hint_identifier!("builtins", "object");
const PATH: PyStaticExpr = type_hint_identifier!("builtins", "str");

impl<'a, 'py> FromPyObject<'a, 'py> for Overrides {
    type Error = PyErr;
    const INPUT_TYPE: PyStaticExpr = type_hint_union!(
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Mapping"), PATH, VALUE),
        type_hint_subscript!(
            type_hint_identifier!("collections.abc", "Sequence"),
            type_hint_subscript!(type_hint_identifier!("builtins", "tuple"), PATH, VALUE)
        ),
        type_hint_identifier!("builtins", "None")
    );

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if given.is_none() {
            return Ok(Self::default());
        }
        match pairs(&given) {
            Ok(pairs) => Ok(Self(pairs)),
            // What has another shape is told which has this.
            Err(Error::Python(_)) => Err(Error::input(
                format!("overrides cannot be {}", given.repr()?),
                "give a dict of dotted paths and values, as {\"rotation_rpm\": 5400}, or pairs of them",
            )
            .into()),
            Err(error) => Err(error.into()),
        }
    }
}

fn pairs(given: &Bound<'_, PyAny>) -> Result<Vec<(String, String)>, Error> {
    // Any mapping has `items`.
    let pairs = if given.hasattr("items")? { given.call_method0("items")? } else { given.clone() };
    let pair = |pair: PyResult<Bound<'_, PyAny>>| {
        let (path, value) = pair?.extract::<(String, Bound<'_, PyAny>)>()?;
        // A word of its own needs no quotation marks.
        let text = if let Ok(word) = value.extract() { word } else { toml_of(&path, &value)? };
        Ok((path, text))
    };
    pairs.try_iter()?.map(pair).collect()
}

/// A value as TOML writes it.
fn toml_of(path: &str, value: &Bound<'_, PyAny>) -> Result<String, Error> {
    let text = |value: &Bound<'_, PyAny>| Ok(value.str()?.to_string());
    let each = |value: PyResult<Bound<'_, PyAny>>| toml_of(path, &value?);
    if value.is_instance_of::<PyBool>() {
        Ok(value.is_truthy()?.to_string())
    } else if value.is_instance_of::<PyString>() {
        // JSON's text is a TOML string, too.
        Ok(serde_json::Value::from(value.extract::<String>()?).to_string())
    } else if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!("{} = {}", serde_json::Value::from(text(&key)?), toml_of(path, &value)?))
        };
        let entries: Result<Vec<_>, Error> = table.iter().map(entry).collect();
        Ok(format!("{{ {} }}", entries?.join(", ")))
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let values: Result<Vec<_>, Error> = value.try_iter()?.map(each).collect();
        Ok(format!("[{}]", values?.join(", ")))
    } else if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        text(value)
    } else if value.hasattr("item")? {
        // A number of NumPy.
        toml_of(path, &value.call_method0("item")?)
    } else {
        Err(Error::input(
            format!("`{path}` cannot be set to {}", value.repr()?),
            "give a number, a text, true or false, a list or a dict of these",
        ))
    }
}

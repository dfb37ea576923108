//! Small conversions: JSON documents to Python objects, words to operations.

use crate::error::Error;
use headstack_units::Op;
use pyo3::IntoPyObjectExt;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A JSON value as the Python object it stands for.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(count), _) => count.into_bound_py_any(py),
            (None, Some(count)) => count.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_bound_py_any(py)
        }
        Value::Object(_) => dict(py, value)?.into_bound_py_any(py),
    }
}

/// A JSON object as a `dict` that also knows the names its keys had before; anything else becomes an empty one.
pub(crate) fn dict<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyDict>> {
    static TABLE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let dict = TABLE.import(py, "headstack.results.names", "Result")?.call0()?.cast_into::<PyDict>()?;
    for (key, item) in value.as_object().into_iter().flatten() {
        dict.set_item(key, to_python(py, item)?)?;
    }
    Ok(dict)
}

/// What an object is rebuilt from in another process: the function that does it, and its arguments.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, (String, String));

/// What `pickle` keeps of an object that a name and a description make.
pub(crate) fn reduced<'py, T: PyTypeInfo>(
    py: Python<'py>,
    name: &str,
    description: &impl Serialize,
) -> PyResult<Reduced<'py>> {
    let text = serde_json::to_string(description).map_err(|error| Error::Internal(error.to_string()))?;
    Ok((py.get_type::<T>().getattr("_restored")?, (name.to_owned(), text)))
}

/// The description that [`reduced`] wrote; another version may have written another one.
pub(crate) fn restored<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        Error::input(
            format!("the pickled object cannot be restored: {error}"),
            "pickle it with the same version",
        )
    })
}

/// "read" or "write".
pub(crate) fn operation(word: &str) -> Result<Op, Error> {
    match word {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(Error::input(format!("`{word}` is not an operation"), "use `read` or `write`")),
    }
}

/// The word for an operation.
pub(crate) fn word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
    }
}

//! Small conversions: JSON documents to Python objects, words to operations.

use crate::error::Error;
use headstack_units::Op;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
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

/// A JSON object as a `dict`; anything else becomes an empty one.
pub(crate) fn dict<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, item) in value.as_object().into_iter().flatten() {
        dict.set_item(key, to_python(py, item)?)?;
    }
    Ok(dict)
}

/// "read" or "write".
pub(crate) fn operation(word: &str) -> Result<Op, Error> {
    match word {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(Error::input(format!("`{word}` is no operation"), "use `read` or `write`")),
    }
}

/// The word for an operation.
pub(crate) fn word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
    }
}

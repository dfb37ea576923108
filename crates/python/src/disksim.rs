//! Drive parameter files of DiskSim 4.0.

use crate::convert::dict;
use crate::error::{Error, guarded};
use headstack_disksim::{ImportError, Options, Report, import};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;

impl From<ImportError> for Error {
    fn from(error: ImportError) -> Self {
        Self::Input(error.to_string(), error.hint)
    }
}

/// Read the drive parameter files of DiskSim 4.0 into a drive file.
///
/// The first file describes the drive (a `.diskspecs`, a `.parv` with one drive, or a `.model` alone); further ones (the
/// `.parv` of a simulation) add the bus. With `lenient`, doubtful input is a warning where something sensible can be
/// done. Returns the text of the drive file, and a report: `files` read, `carried`, `not_carried` with reasons, and
/// `warnings`. Raises `InputError` with file and line.
#[pyfunction]
#[pyo3(signature = (files, *, lenient=false, name=None, summary=None))]
pub(crate) fn import_disksim(
    py: Python<'_>,
    files: Vec<PathBuf>,
    lenient: bool,
    name: Option<String>,
    summary: Option<String>,
) -> PyResult<(String, Bound<'_, PyDict>)> {
    let options = Options { lenient, name, summary, note: None };
    let (text, report) = guarded(py, || {
        let drive = import(&files, &options)?;
        Ok((drive.to_toml(), report_values(&drive.report)))
    })?;
    Ok((text, dict(py, &report)?))
}

fn report_values(report: &Report) -> Value {
    let carried = report.carried.iter().map(|one| json!({ "parameter": one.parameter, "to": one.to }));
    let not_carried = report.not_carried.iter().map(|one| {
        json!({ "parameter": one.parameter, "value": one.value, "reason": one.reason, "matters": one.matters })
    });
    let warnings = report.warnings.iter().map(|one| json!({ "place": one.place, "message": one.message }));
    json!({
        "files": report.files,
        "carried": carried.collect::<Vec<_>>(),
        "not_carried": not_carried.collect::<Vec<_>>(),
        "warnings": warnings.collect::<Vec<_>>(),
    })
}

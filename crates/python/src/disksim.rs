//! Drive parameter files of DiskSim 4.0.

use crate::convert::dict;
use crate::error::{Error, guarded};
use headstack_disksim::{
    ImportError, Meaning, Options, Report, SimulationOptions, import, import_simulation,
};
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
/// `.parv` of a simulation) add the bus. `meaning` is what the parameters mean: `measured`, what the drives did, as far as
/// measured traces tell; `disksim`, what DiskSim 4.0 does with them. With `lenient`, doubtful input is a warning where
/// something sensible can be done. Returns the text of the drive file, and a report: `files` read, `carried`, `not_carried` with reasons, and
/// `warnings`. Raises `InputError` with file and line.
#[pyfunction]
#[pyo3(signature = (files, *, meaning="measured", lenient=false, name=None, summary=None))]
pub(crate) fn import_disksim<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    meaning: &str,
    lenient: bool,
    name: Option<String>,
    summary: Option<String>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let (text, report) = guarded(py, || {
        let options = Options { meaning: meaning_of(meaning)?, lenient, name, summary, note: None };
        let drive = import(&files, &options)?;
        Ok((drive.to_toml(), report_values(&drive.report)))
    })?;
    Ok((text, dict(py, &report)?))
}

/// Read a simulation file of DiskSim 4.0 (a `.parv`) into a system file, the files of its drives, and a workload file.
///
/// `meaning` as for `import_disksim`. The names of the drive files begin with `prefix`. What the file sources is looked for beside it and in `folders`. With `lenient`, components that headstack does not have are left
/// out. Returns a mapping: the text of the `system`, `drives` (pairs of file name and text), the text of the `workload` or
/// `None`, `trace_options` with which a trace runs as the file means it, and the report as `import_disksim` gives it.
/// Raises `InputError` with file and line.
#[pyfunction]
#[pyo3(signature = (file, *, meaning="measured", lenient=false, prefix=String::new(), folders=Vec::new()))]
pub(crate) fn import_disksim_simulation<'py>(
    py: Python<'py>,
    file: PathBuf,
    meaning: &str,
    lenient: bool,
    prefix: String,
    folders: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let values = guarded(py, || {
        let options = SimulationOptions { meaning: meaning_of(meaning)?, lenient, prefix, folders };
        let simulation = import_simulation(&file, &options)?;
        let drives: Vec<_> = simulation.drives.iter().map(|drive| json!([drive.name, drive.toml])).collect();
        let mut values = json!({
            "system": simulation.system_toml(),
            "drives": drives,
            "workload": simulation.workload_toml(),
            "trace_options": simulation.trace_options,
        });
        if let (Value::Object(values), Value::Object(report)) =
            (&mut values, report_values(&simulation.report))
        {
            values.extend(report);
        }
        Ok(values)
    })?;
    dict(py, &values)
}

fn meaning_of(word: &str) -> Result<Meaning, Error> {
    let found = Meaning::ALL.iter().find(|(_, known)| *known == word);
    found.map(|(meaning, _)| *meaning).ok_or_else(|| {
        let words = Meaning::ALL.map(|(_, word)| format!("`{word}`")).join(" or ");
        Error::Input(format!("`{word}` is not a meaning: {words}"), None)
    })
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

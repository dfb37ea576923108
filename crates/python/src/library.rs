//! Names in the library, and drive files by name or path.

use crate::error::Error;
use crate::results::{self, Typed, typed};
use headstack_cost::DesignSpec;
use headstack_drive::scheduler::{MODIFIERS, Needs, Parameter, SCHEDULERS};
use headstack_drive::spec::{DriveSpec, old_names};
use headstack_system::library::{self, Entry, Source};
use headstack_system::{SystemSpec, WorkloadSpec};
use pyo3::prelude::*;
use serde_json::json;
use std::path::Path;

/// Keys of a drive file that are called otherwise now, each with its name.
pub(crate) type OldNames = Vec<(&'static str, &'static str)>;

/// A drive file, with values replaced; what to call the drive, and the old names among its keys.
pub(crate) fn drive_spec(
    source: &str,
    overrides: &[(String, String)],
) -> Result<(String, DriveSpec, OldNames), Error> {
    let Source { name, origin, text, .. } =
        library::resolve(library::DRIVE, source, &[library::drives()], None::<&Path>)?;
    Ok((name, DriveSpec::from_toml_with(&origin, &text, overrides)?, old_names(&text)))
}

fn names(entries: &[Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// Names of the drives in the library.
#[pyfunction]
pub(crate) fn library_drives() -> Vec<&'static str> {
    names(library::drives())
}

/// Names of the systems in the library.
#[pyfunction]
pub(crate) fn library_systems() -> Vec<&'static str> {
    names(library::systems())
}

/// Names of the designs in the library: what drives are made of, for `cost`.
#[pyfunction]
pub(crate) fn library_designs() -> Vec<&'static str> {
    names(library::designs())
}

/// Names of the workloads in the library.
#[pyfunction]
pub(crate) fn library_workloads() -> Vec<&'static str> {
    names(library::workloads())
}

/// The schedulers that the host's driver and drives know, and the modifiers that may follow their names after a `+`.
///
/// Returns a list of dicts: `name`, `what` (one line), `needs` (`addresses`, `rotation`, `cache`; `any` for a modifier),
/// `is_modifier`, and `parameter`: `None`, or a dict of `what`, `unit`, `default`, `least`, `most`.
#[pyfunction]
pub(crate) fn schedulers(py: Python<'_>) -> PyResult<Vec<Typed<'_, results::SchedulerEntry>>> {
    let entry = |name: &str, what: &str, needs: &str, parameter: Option<&Parameter>, is_modifier: bool| {
        let parameter = parameter.map(|parameter| {
            let [least, most] = &parameter.allowed;
            json!({"what": parameter.what, "unit": parameter.unit, "default": parameter.default, "least": least, "most": most})
        });
        typed(
            py,
            &json!({"name": name, "what": what, "needs": needs, "is_modifier": is_modifier, "parameter": parameter}),
        )
    };
    let needs = |needs| match needs {
        Needs::Addresses => "addresses",
        Needs::Rotation => "rotation",
        Needs::Cache => "cache",
    };
    let schedulers = SCHEDULERS
        .iter()
        .map(|info| entry(info.name, info.what, needs(info.needs), info.parameter.as_ref(), false));
    let modifiers =
        MODIFIERS.iter().map(|(name, parameter, what)| entry(name, what, "any", parameter.as_ref(), true));
    schedulers.chain(modifiers).collect()
}

/// The JSON Schema of a kind of file, for editors that complete and check TOML.
///
/// `kind` is `drive`, `system`, `workload` or `design`. Returns the schema as JSON text; raises `InputError` if there is no such
/// kind of file.
#[pyfunction]
pub(crate) fn json_schema(kind: &str) -> Result<String, Error> {
    let schema = match kind {
        "drive" => schemars::schema_for!(DriveSpec),
        "system" => schemars::schema_for!(SystemSpec),
        "workload" => schemars::schema_for!(WorkloadSpec),
        "design" => schemars::schema_for!(DesignSpec),
        _ => {
            return Err(Error::input(
                format!("there is no kind of file called `{kind}`"),
                "known: drive, system, workload, design",
            ));
        }
    };
    Ok(format!("{:#}", schema.to_value()))
}

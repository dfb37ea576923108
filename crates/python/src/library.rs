//! Names in the library, and drive files by name or path.

use crate::error::Error;
use headstack_drive::spec::DriveSpec;
use headstack_system::library::{self, Entry, Source};
use headstack_system::{SystemSpec, WorkloadSpec};
use pyo3::prelude::*;
use std::path::Path;

/// A drive file, with values replaced; and what to call the drive.
pub(crate) fn drive_spec(source: &str, overrides: &[(String, String)]) -> Result<(String, DriveSpec), Error> {
    let Source { name, origin, text, .. } =
        library::resolve("drive", source, &[library::drives()], None::<&Path>)?;
    Ok((name, DriveSpec::from_toml_with(&origin, &text, overrides)?))
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

/// Names of the workloads in the library.
#[pyfunction]
pub(crate) fn library_workloads() -> Vec<&'static str> {
    names(library::workloads())
}

/// The JSON Schema of a kind of file, for editors that complete and check TOML.
///
/// `kind` is `drive`, `system` or `workload`. Returns the schema as JSON text; raises `InputError` if there is no such
/// kind of file.
#[pyfunction]
pub(crate) fn json_schema(kind: &str) -> Result<String, Error> {
    let schema = match kind {
        "drive" => schemars::schema_for!(DriveSpec),
        "system" => schemars::schema_for!(SystemSpec),
        "workload" => schemars::schema_for!(WorkloadSpec),
        _ => {
            return Err(Error::input(
                format!("there is no kind of file called `{kind}`"),
                "known: drive, system, workload",
            ));
        }
    };
    Ok(format!("{:#}", schema.to_value()))
}

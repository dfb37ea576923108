//! `System` and `Workload`: what is simulated, and what it is fed with.

use crate::convert::{Reduced, dict, reduced, restored};
use crate::drive::Drive;
use crate::error::Error;
use crate::overrides::Overrides;
use crate::range::ConstantMs;
use headstack_drive::spec::LadderStep;
use headstack_system::library::Source;
use headstack_system::spec::config_hash;
use headstack_system::{SystemConfig, WorkloadSpec};
use headstack_trace::Target;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Drives, volumes, buses and a host.
///
/// Parameters
/// ----------
/// source
///     The name of a system or a drive in the library, or the path of a system file or a drive file.
/// toml
///     The text of such a file, instead of `source`.
/// overrides
///     Values to replace: dotted paths (`host.scheduler`, `drive.*.rotation_rpm`; for a drive alone also the plain paths
///     of its drive file) and what to set.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct System {
    pub(crate) system: Arc<headstack_system::System>,
}

#[pymethods]
impl System {
    #[new]
    #[pyo3(signature = (source=None, *, toml=None, overrides=Overrides::default()))]
    fn new(source: Option<PathBuf>, toml: Option<&str>, overrides: Overrides) -> Result<Self, Error> {
        let source = source.as_deref().map(Path::to_string_lossy);
        let config = match (source.as_deref(), toml) {
            (Some(source), None) => SystemConfig::load(source, &overrides)?,
            (None, Some(text)) => SystemConfig::from_source(&text_source("system", text), &overrides)?,
            _ => return Err(Error::input("a system is either a source or a text", "give one of the two")),
        };
        Self::build(config)
    }

    /// A system of one drive on its own bus.
    #[staticmethod]
    fn of_drive(drive: &Bound<'_, Drive>) -> Result<Self, Error> {
        let drive = drive.get();
        Self::build(SystemConfig::of_drive(&drive.id, drive.spec.clone()))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.system.config().name
    }

    /// Bytes in a sector of the host's requests.
    #[getter]
    fn sector_bytes(&self) -> u32 {
        self.system.sector_bytes()
    }

    /// Names and sizes, in sectors, of the volumes; a request's device is a position in this list.
    #[getter]
    fn volumes(&self) -> Vec<(String, u64)> {
        self.system.devices().into_iter().map(|device| (device.name, device.sectors)).collect()
    }

    /// Names and drive files of the drives.
    #[getter]
    fn drives(&self) -> Vec<(String, String)> {
        let drives = &self.system.config().drives;
        drives.iter().map(|drive| (drive.name.clone(), drive.model.clone())).collect()
    }

    /// Hash of everything that describes it.
    #[getter]
    fn config_hash(&self) -> String {
        config_hash(self.system.config())
    }

    /// Everything that describes it.
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &serde_json::to_value(self.system.config()).unwrap_or_default())
    }

    /// The drive file of a system that is one drive, overrides included.
    fn drive_toml(&self) -> Result<String, Error> {
        let config = self.system.config();
        match config.drives.as_slice() {
            [drive] => Ok(drive.spec.to_toml()),
            drives => Err(Error::Input(
                format!("{} has {} drives, and a drive file describes one", config.name, drives.len()),
                None,
            )),
        }
    }

    /// The system as a rung of the model ladder sees its drives: "M0" (every request takes `constant_ms`) to "M5".
    #[pyo3(signature = (step, *, constant_ms))]
    fn ladder(&self, step: &str, constant_ms: ConstantMs) -> Result<Self, Error> {
        let rung = LadderStep::ALL.into_iter().find(|rung| rung.name() == step);
        let Some(rung) = rung else {
            return Err(Error::input(
                format!("there is no rung `{step}`"),
                "the rungs are M0, M1, M2, M3, M4, M5",
            ));
        };
        self.rung(rung, constant_ms.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let config = self.system.config();
        reduced::<Self>(py, &config.name, config)
    }

    /// The system that was pickled.
    #[staticmethod]
    fn _restored(_name: &str, config: &str) -> Result<Self, Error> {
        Self::build(restored(config)?)
    }

    fn __repr__(&self) -> String {
        let config = self.system.config();
        let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (volumes, drives) = (of(config.volumes.len(), "volume"), of(config.drives.len(), "drive"));
        format!("System({:?}, {volumes}, {drives})", config.name)
    }
}

impl System {
    pub(crate) fn build(config: SystemConfig) -> Result<Self, Error> {
        Ok(Self { system: Arc::new(headstack_system::System::new(config)?) })
    }

    /// The system on a rung of the ladder.
    pub(crate) fn rung(&self, step: LadderStep, constant_ms: f64) -> Result<Self, Error> {
        let mut config = self.system.config().clone();
        for drive in &mut config.drives {
            drive.spec = drive.spec.ladder(step, constant_ms);
        }
        Self::build(config)
    }

    /// The volumes as traces are fitted to them.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let devices = self.system.devices();
        devices
            .iter()
            .map(|device| Target { sector_bytes: device.sector_bytes, sectors: device.sectors })
            .collect()
    }
}

/// A workload that is made, request by request, from a description.
///
/// Parameters
/// ----------
/// source
///     The name of a workload in the library, or the path of a workload file.
/// toml
///     The text of a workload file, instead of `source`.
/// overrides
///     Values to replace: dotted paths (`stream.0.read_fraction`) and what to set.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) spec: WorkloadSpec,
}

#[pymethods]
impl Workload {
    #[new]
    #[pyo3(signature = (source=None, *, toml=None, overrides=Overrides::default()))]
    fn new(source: Option<PathBuf>, toml: Option<&str>, overrides: Overrides) -> Result<Self, Error> {
        let source = source.as_deref().map(Path::to_string_lossy);
        match (source.as_deref(), toml) {
            (Some(source), None) => {
                let (name, spec) = WorkloadSpec::load(source, &overrides)?;
                Ok(Self { name, spec })
            }
            (None, Some(text)) if overrides.is_empty() => {
                Ok(Self { name: "workload".to_owned(), spec: WorkloadSpec::from_toml("workload", text)? })
            }
            (None, Some(_)) => {
                Err(Error::input("overrides replace values of a file", "change the text instead"))
            }
            _ => Err(Error::input("a workload is either a source or a text", "give one of the two")),
        }
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// How many requests it makes at most.
    #[getter]
    fn requests(&self) -> Option<u64> {
        self.spec.requests
    }

    /// Everything that describes it.
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &serde_json::to_value(&self.spec).unwrap_or_default())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.name, &self.spec)
    }

    /// The workload that was pickled.
    #[staticmethod]
    fn _restored(name: String, spec: &str) -> Result<Self, Error> {
        Ok(Self { name, spec: restored(spec)? })
    }

    fn __repr__(&self) -> String {
        let count = self.spec.stream.len();
        format!("Workload({:?}, {count} stream{})", self.name, if count == 1 { "" } else { "s" })
    }
}

fn text_source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), origin: name.to_owned(), directory: None, text: text.to_owned() }
}

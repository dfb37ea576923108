//! `StreamModel`: sequential streams by server, cache and mechanism.

use crate::convert::{Reduced, dict, operation, reduced, restored};
use crate::error::{Error, guarded};
use crate::range::{RepeatCount, Seed, StartPercent};
use headstack_stream::{
    Fitted, Law, Model, ModelSpec, Parameter, Repeats, Start, StreamFit, StreamRun, Throughput,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// A model of a drive that serves sequential streams: server, disk cache, mechanism (Vickovic, Celar & Mudnic 2010).
///
/// Parameters
/// ----------
/// drive
///     A name in the library, or the path of a drive file: its media rates, switches, bus, buffer and overhead are taken over,
///     without delays. Or the path of a model that was saved.
/// json
///     A description instead, as `spec` gives it, in JSON.
/// toml
///     A description instead, in TOML.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct StreamModel {
    name: String,
    model: Model,
}

#[pymethods]
impl StreamModel {
    #[new]
    #[pyo3(signature = (drive=None, *, json=None, toml=None))]
    fn new(drive: Option<&str>, json: Option<&str>, toml: Option<&str>) -> Result<Self, Error> {
        let (name, spec) = match (drive, json, toml) {
            (Some(drive), None, None) => headstack_stream::model_of(drive)?,
            (None, Some(text), None) => ("stream model".to_owned(), from_json(text)?),
            (None, None, Some(text)) => {
                ("stream model".to_owned(), ModelSpec::from_toml("stream model", text)?)
            }
            _ => {
                return Err(Error::input(
                    "a stream model is made of a drive or of a description",
                    "give one of `drive`, `json` and `toml`",
                ));
            }
        };
        Ok(Self { name, model: Model::new(spec)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.name, self.model.spec())
    }

    /// The model that was pickled.
    #[staticmethod]
    fn _restored(name: String, spec: &str) -> Result<Self, Error> {
        Ok(Self { name, model: Model::new(restored(spec)?)? })
    }

    /// The drive it was made of, or "stream model".
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its description: `server`, `cache` and `mechanism`.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &serde_json::to_value(self.model.spec()).unwrap_or_default())
    }

    /// Whole bytes on all tracks.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes()
    }

    /// Tracks.
    #[getter]
    fn tracks(&self) -> u64 {
        self.model.tracks()
    }

    /// The paper's equation 1: what a request takes on average that finds the arm anywhere, in ms.
    fn average_service_time_ms(&self, size_bytes: u64) -> f64 {
        self.model.average_service_time_ms(size_bytes)
    }

    /// Writes or reads files in records of one size, one file behind the other.
    ///
    /// Parameters
    /// ----------
    /// op
    ///     "read" or "write".
    /// file_mb, record_kib
    ///     Size of a file, in 10⁶ bytes, and of a record. A file is whole records, as many as hold it.
    /// repeats
    ///     How many files; `None`: until the disk is full.
    /// start_percent
    ///     So many percent of the tracks further in the first file begins; `None`: each file on a track drawn at random.
    /// positioning
    ///     Whether each file begins with half a full stroke and half a revolution.
    /// seed
    ///     Of everything random.
    ///
    /// Returns a dict: `files` (each with `start_track`, `bytes`, `time_ns`, `mb_per_s`), `bytes`, `time_s`, `mb_per_s` (mean of
    /// the files), `mechanism_busy` and `interface_busy` (shares of the time).
    #[pyo3(
        signature = (op, *, file_mb, record_kib, repeats=Some(RepeatCount(1)), start_percent=Some(StartPercent(0.0)),
            positioning=false, seed=Seed(1)),
        text_signature = "($self, op, *, file_mb, record_kib, repeats=1, start_percent=0.0, positioning=False, seed=1)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        op: &str,
        file_mb: f64,
        record_kib: f64,
        repeats: Option<RepeatCount>,
        start_percent: Option<StartPercent>,
        positioning: bool,
        seed: Seed,
    ) -> PyResult<Bound<'py, PyDict>> {
        let run = StreamRun {
            op: operation(op)?,
            file_bytes: bytes("file_mb", file_mb * 1e6)?,
            record_bytes: bytes("record_kib", record_kib * 1024.0)?,
            repeats: repeats.map_or(Repeats::UntilFull, |count| Repeats::Count(count.0)),
            start: start_percent.map_or(Start::Random, |percent| Start::AtPercent(percent.0)),
            positioning,
            seed: seed.0,
        };
        let result = guarded(py, || Ok(self.model.run(&run)?))?;
        dict(py, &serde_json::to_value(result).map_err(|error| Error::Internal(error.to_string()))?)
    }

    /// Fits values to measured throughputs.
    ///
    /// Parameters
    /// ----------
    /// rows
    ///     Throughputs: "read" or "write", file in 10⁶ bytes, record in KiB, files over which it is the mean, 10⁶ bytes a second.
    /// parameters
    ///     Paths of the values to fit, or tables of them (`cache`): `cache.read_delay`, `cache.write_delay`, `server.read_delay`, `server.write_delay` (their
    ///     means), `cache.overhead_ms`, `cache.interface_mb_per_s`, `mechanism.outer_mb_per_s`, `mechanism.inner_mb_per_s`,
    ///     `mechanism.head_switch_ms`.
    /// law
    ///     The form of fitted delays: "constant", "uniform" (from 0 to twice the mean), "normal" (a quarter of the mean as standard
    ///     deviation), "exponential"; `None`: that of the model's own delays, and "normal" where it has none.
    ///
    /// Returns
    /// -------
    /// dict
    ///     `spec`, `parameters` (each with `name`, `unit`, `before` (`None` of a delay that the model does not have), `after`, `law`
    ///     (of a delay), `ci95` (two ends), `identifiable`, `why`), and `differences` of the fitted model from each row, relative.
    #[pyo3(
        signature = (rows, parameters, *, law=None, seed=Seed(1)),
        text_signature = "($self, rows, parameters, *, law=None, seed=1)"
    )]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<MeasuredRow>,
        parameters: Vec<String>,
        law: Option<&str>,
        seed: Seed,
    ) -> PyResult<Bound<'py, PyDict>> {
        let table = rows.into_iter().map(throughput).collect::<Result<Vec<_>, _>>()?;
        let parameters =
            parameters.iter().map(|name| fitted_by(name)).collect::<Result<Vec<_>, _>>()?.concat();
        let law = law.map(law_named).transpose()?;
        let found =
            guarded(py, || Ok(headstack_stream::fit(self.model.spec(), &table, &parameters, law, seed.0)?))?;
        let StreamFit { spec, parameters, differences } = found;
        let parameters: Vec<Value> = parameters.iter().map(parameter_value).collect();
        dict(py, &json!({"spec": spec, "parameters": parameters, "differences": differences}))
    }

    /// Relative differences of the model from measured throughputs (`rows` as for `fit`): model less measured, over measured.
    #[pyo3(signature = (rows, *, seed=Seed(1)), text_signature = "($self, rows, *, seed=1)")]
    fn differences(&self, py: Python<'_>, rows: Vec<MeasuredRow>, seed: Seed) -> PyResult<Vec<f64>> {
        let table = rows.into_iter().map(throughput).collect::<Result<Vec<_>, _>>()?;
        guarded(py, || Ok(headstack_stream::differences(self.model.spec(), &table, seed.0)?))
    }

    /// The description as a TOML file.
    fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self.model.spec()).map_err(|error| Error::Internal(error.to_string()))
    }

    fn __repr__(&self) -> String {
        let mechanism = &self.model.spec().mechanism;
        format!(
            "StreamModel({:?}, {:.2} to {:.2} MB/s)",
            self.name, mechanism.outer_mb_per_s, mechanism.inner_mb_per_s
        )
    }
}

/// A parameter of a fit; what the model did not have, and does not get, has no value.
fn parameter_value(fitted: &Fitted) -> Value {
    let before = fitted.was_there.then_some(fitted.before);
    let after = (fitted.was_there || fitted.identifiable || fitted.after > 0.0).then_some(fitted.after);
    json!({
        "name": fitted.name,
        "unit": fitted.unit,
        "before": before,
        "after": after,
        "law": fitted.law,
        "ci95": fitted.ci95,
        "identifiable": fitted.identifiable,
        "why": fitted.why,
    })
}

fn law_named(name: &str) -> Result<Law, Error> {
    Law::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
        let known = Law::ALL.map(Law::name).join(", ");
        Error::input(format!("there is no law `{name}`"), format!("known: {known}"))
    })
}

/// A throughput as Python gives it: operation, file in MB, record in KiB, files, MB/s.
type MeasuredRow = (String, f64, f64, RepeatCount, f64);

fn throughput((op, file_mb, record_kib, repeats, mb_per_s): MeasuredRow) -> Result<Throughput, Error> {
    Ok(Throughput {
        op: operation(&op)?,
        file_bytes: bytes("file_mb", file_mb * 1e6)?,
        record_bytes: bytes("record_kib", record_kib * 1024.0)?,
        repeats: repeats.0,
        mb_per_s,
    })
}

fn from_json(text: &str) -> Result<ModelSpec, Error> {
    serde_json::from_str(text).map_err(|error| {
        Error::input(
            format!("stream model: {error}"),
            "start from the `spec` of a model, and change its values",
        )
    })
}

/// A size in whole bytes.
fn bytes(argument: &str, bytes: f64) -> Result<u64, Error> {
    if (1.0..=1e18).contains(&bytes) {
        return Ok(bytes.round() as u64);
    }
    Err(Error::input(format!("`{argument}` is {bytes} bytes"), format!("`{argument}`: 1 byte to 10¹⁸ bytes")))
}

/// The parameter of a name, or all of a table (`cache`).
fn fitted_by(name: &str) -> Result<Vec<Parameter>, Error> {
    let is_meant = |parameter: &Parameter| {
        parameter.name() == name || parameter.name().split_once('.').is_some_and(|(table, _)| table == name)
    };
    let found: Vec<Parameter> = Parameter::ALL.into_iter().filter(is_meant).collect();
    if found.is_empty() {
        let known = Parameter::ALL.map(Parameter::name).join(", ");
        return Err(Error::input(format!("`{name}` cannot be fitted"), format!("known: {known}")));
    }
    Ok(found)
}

//! Probes on devices, records, and what is extracted from them.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::overrides::Overrides;
use crate::range::{NoisePercent, OutlierMs, OutlierPercent, RepeatCount, ScanPercent, Seed, WithinS};
use crate::results::{self, Typed, typed};
use crate::table::Table;
use headstack_measure::device::{Noise, OpenOptions, WriteConsent};
use headstack_measure::probe::{self, PROBES, Probe, Writing};
use headstack_measure::record::{self, Record};
use headstack_measure::{MeasureError, Options, Progress, Scope, StreamGrid};
use headstack_trace::atomic_file::at_once;
use pyo3::prelude::*;
use serde_json::json;
use std::borrow::Cow;
use std::path::PathBuf;

impl From<MeasureError> for Error {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Stopped => Self::Stopped,
            error => Self::Input(error.to_string(), error.hint()),
        }
    }
}

/// The probes, in the order in which they run: `name`, `about`, `needs` (names of probes that run before it), `writes`
/// (whether it writes where the device may be written), `when_named` (whether it runs only when it is named).
#[pyfunction]
pub(crate) fn measure_probes(py: Python<'_>) -> PyResult<Vec<Typed<'_, results::ProbeEntry>>> {
    let describe = |probe: &&Probe| {
        let needs: Vec<&str> = probe.needs.iter().map(|need| need.as_str()).collect();
        let writes = probe.writes != Writing::Never;
        typed(
            py,
            &json!({"name": probe.name.as_str(), "about": probe.about, "needs": needs, "writes": writes,
                "when_named": probe.runs_when_named()}),
        )
    };
    PROBES.iter().map(describe).collect()
}

/// How a device is opened; the arguments that `measure` and `measure_plan` share.
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
fn open_options(
    write: bool,
    yes_destroy: Option<PathBuf>,
    seed: Seed,
    noise_percent: NoisePercent,
    outlier_percent: OutlierPercent,
    outlier_ms: OutlierMs,
    read_only: bool,
    overrides: Overrides,
) -> OpenOptions {
    OpenOptions {
        consent: WriteConsent { write, yes_destroy },
        noise: Noise {
            relative: noise_percent.0 / 100.0,
            outlier_share: outlier_percent.0 / 100.0,
            outlier_ms: outlier_ms.0,
        },
        seed: seed.0,
        overrides: overrides.to_vec(),
        read_only,
    }
}

/// How much the probes do: those that are `None` as the paper has them.
fn scope(
    whole_device: bool,
    file_mb: Option<Vec<f64>>,
    record_kib: Option<Vec<f64>>,
    repeats: Option<RepeatCount>,
    scan_percent: ScanPercent,
) -> Scope {
    let paper = StreamGrid::default();
    let streams = StreamGrid {
        file_mb: file_mb.unwrap_or(paper.file_mb),
        record_kib: record_kib.unwrap_or(paper.record_kib),
        repeats: repeats.map_or(paper.repeats, |count| count.0),
    };
    Scope { whole_device, streams, scan_share: scan_percent.0 / 100.0 }
}

/// What `measure` would do, without doing it: a list of `{"probe", "expected_s", "fits", "for_drive_file"}` (on the device's clock) in
/// order. A few reads show how fast the device is. Where all would take longer than `within_s`, some do not fit: first those that a
/// drive file can do without.
#[pyfunction]
#[pyo3(signature = (device, *, probes=Vec::new(), whole_device=false, file_mb=None, record_kib=None, repeats=None,
    scan_percent=ScanPercent(100.0), write=false, yes_destroy=None, seed=Seed(1), noise_percent=NoisePercent(0.0),
    outlier_percent=OutlierPercent(0.0), outlier_ms=OutlierMs(20.0), read_only=false, overrides=Overrides::default(), within_s=None))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn measure_plan<'py>(
    py: Python<'py>,
    device: &str,
    probes: Vec<String>,
    whole_device: bool,
    file_mb: Option<Vec<f64>>,
    record_kib: Option<Vec<f64>>,
    repeats: Option<RepeatCount>,
    scan_percent: ScanPercent,
    write: bool,
    yes_destroy: Option<PathBuf>,
    seed: Seed,
    noise_percent: NoisePercent,
    outlier_percent: OutlierPercent,
    outlier_ms: OutlierMs,
    read_only: bool,
    overrides: Overrides,
    within_s: Option<WithinS>,
) -> PyResult<Vec<Typed<'py, results::PlannedProbe>>> {
    let options = open_options(
        write,
        yes_destroy,
        seed,
        noise_percent,
        outlier_percent,
        outlier_ms,
        read_only,
        overrides,
    );
    let scope = scope(whole_device, file_mb, record_kib, repeats, scan_percent);
    let (plan, expected_s, fits) = guarded(py, || {
        let mut device = headstack_measure::device::open(device, &options)?;
        let plan = probe::plan(&probes, device.info())?;
        let expected_s = probe::announce(&plan, device.as_mut(), &scope)?;
        let within_s = within_s.map_or(f64::INFINITY, |within| within.0);
        let fits = probe::fitting(&plan, &expected_s, within_s, &device.info().name)?;
        Ok((plan, expected_s, fits))
    })?;
    plan.iter()
        .zip(expected_s)
        .zip(fits)
        .map(|((probe, s), fits)| {
            let name = probe.name.as_str();
            let for_drive_file = probe::is_for_drive_file(probe.name);
            typed(
                py,
                &json!({"probe": name, "expected_s": s, "fits": fits, "for_drive_file": for_drive_file}),
            )
        })
        .collect()
}

/// Runs probes on a device.
///
/// Parameters
/// ----------
/// device
///     `sim:SYSTEM` (a library name, a drive file, a system file; virtual time), `mock:` (the paper's formula; parameters after
///     the colon as `rpm=5400,heads=9,…`), or the path of a block device or a file (read unless both consents are given).
/// probes
///     Names from `measure_probes`, or `skippy` for its three kinds; those they need run before. None: all that suit the device.
/// record
///     File of the record (Parquet). While measuring, `RECORD.part` beside it grows. Absent: the record stays in memory.
/// resume
///     Go on with the record if the file or its `.part` exists. Otherwise a new one takes its place.
/// whole_device
///     `zoned` reads the whole device, not samples of it.
/// file_mb, record_kib, repeats
///     What `stream` reads and writes: sizes of files in 10⁶ bytes, sizes of records in KiB, and how often. Those of Vickovic et
///     al. (2010) if absent.
/// scan_percent
///     How much of the device `scan` reads, spread evenly over it.
/// write, yes_destroy
///     Consent to losing what is on a real device: `write` and the device's path once more.
/// seed, noise_percent, outlier_percent, outlier_ms, read_only, overrides
///     For simulated devices: the seed; by how much times are misread, up to this share, evenly; how many completions are seen
///     late, and by how much on average; that it must not be written; values of the system to replace.
/// within_s
///     In how much time of the device's clock to be through: what a drive file can do without is left out where that turns out to be
///     too short (`Measurement.left_out`).
/// progress
///     Called about twenty times a second with a dict: `probe`, `samples`, `elapsed_s`, `expected_s`, and
///     `rest_s` for the probes after it (of the device's clock). An answer of `False` stops; so does Ctrl-C. What was
///     measured until then is kept.
///
/// Raises `InputError` for unknown probes, unusable devices and unreadable records. What ends a measurement under way (stopped,
/// device gone, too many errors) does not raise: see `Measurement.stopped`.
#[pyfunction]
#[pyo3(signature = (device, *, probes=Vec::new(), record=None, resume=false, whole_device=false, file_mb=None, record_kib=None,
    repeats=None, scan_percent=ScanPercent(100.0), write=false, yes_destroy=None, seed=Seed(1), noise_percent=NoisePercent(0.0), outlier_percent=OutlierPercent(0.0), outlier_ms=OutlierMs(20.0), read_only=false,
    overrides=Overrides::default(), within_s=None, progress=None))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "they are Python's keywords"
)]
pub(crate) fn measure(
    py: Python<'_>,
    device: &str,
    probes: Vec<String>,
    record: Option<PathBuf>,
    resume: bool,
    whole_device: bool,
    file_mb: Option<Vec<f64>>,
    record_kib: Option<Vec<f64>>,
    repeats: Option<RepeatCount>,
    scan_percent: ScanPercent,
    write: bool,
    yes_destroy: Option<PathBuf>,
    seed: Seed,
    noise_percent: NoisePercent,
    outlier_percent: OutlierPercent,
    outlier_ms: OutlierMs,
    read_only: bool,
    overrides: Overrides,
    within_s: Option<WithinS>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Measurement> {
    let opening = open_options(
        write,
        yes_destroy,
        seed,
        noise_percent,
        outlier_percent,
        outlier_ms,
        read_only,
        overrides,
    );
    let scope = scope(whole_device, file_mb, record_kib, repeats, scan_percent);
    let within_s = within_s.map(|within| within.0);
    let options = Options { probes, record, resume, scope, within_s };
    let mut watcher = Watcher { progress, refusal: None };
    let measured = guarded(py, || {
        let mut device = headstack_measure::device::open(device, &opening)?;
        Ok(at_once(|| {
            headstack_measure::measure(device.as_mut(), &options, &mut |progress| watcher.goes_on(progress))
        })?)
    })?;
    if let Some(Error::Python(error)) = watcher.refusal.take()
        && !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
    {
        return Err(error);
    }
    let left_out = measured.left_out.iter().map(|probe| probe.as_str()).collect();
    Ok(Measurement {
        record: measured.record,
        stopped: measured.stopped,
        left_out,
        took_s: Some(measured.took_s),
    })
}

/// Asks Python whether to go on: when a probe begins, and now and then (measuring tells no oftener).
struct Watcher {
    progress: Option<Py<PyAny>>,
    refusal: Option<Error>,
}

impl Watcher {
    fn goes_on(&mut self, progress: &Progress) -> bool {
        match Python::attach(|py| self.ask(py, progress)) {
            Ok(goes_on) => goes_on,
            Err(error) => {
                self.refusal = Some(Error::Python(error));
                false
            }
        }
    }

    fn ask(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        py.check_signals()?;
        let Some(function) = &self.progress else { return Ok(true) };
        let told = dict(
            py,
            &json!({
                "probe": progress.probe,
                "samples": progress.samples,
                "elapsed_s": progress.elapsed_s,
                "expected_s": progress.expected_s,
                "rest_s": progress.rest_s,
            }),
        )?;
        let answer = function.bind(py).call1((told,))?;
        Ok(answer.is_none() || answer.is_truthy()?)
    }
}

/// Reads a record: a Parquet file that `measure` wrote, or the `.part` beside it where it was cut off. Raises `InputError` if
/// it is none.
#[pyfunction]
pub(crate) fn read_measurement(path: PathBuf) -> PyResult<Measurement> {
    let record = record::store::read(&path).map_err(Error::from)?;
    Ok(Measurement { record, stopped: None, left_out: Vec::new(), took_s: None })
}

/// The record that `_to_bytes` was asked of.
#[pyfunction]
pub(crate) fn _measurement_of(bytes: &[u8]) -> PyResult<Measurement> {
    let record = record::store::from_bytes(bytes).map_err(Error::from)?;
    Ok(Measurement { record, stopped: None, left_out: Vec::new(), took_s: None })
}

/// What was measured: every access of every probe, raw.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Measurement {
    record: Record,
    stopped: Option<MeasureError>,
    /// Probes that were left out on the way, to be through within `within_s`.
    #[pyo3(get)]
    left_out: Vec<&'static str>,
    /// How long it took on the device's clock, in s; `None` of a record that was read.
    #[pyo3(get)]
    took_s: Option<f64>,
}

#[pymethods]
impl Measurement {
    /// The samples: `probe`, `series`, `step`, `role`, `mode`, `lba`, `sectors`, `depth`, `start_ns`, `end_ns`, `ok`, `session`.
    #[getter]
    fn samples(&self) -> Table {
        Table::new(record::schema(), vec![record::batch(&self.record.samples)])
    }

    /// What is known beside the samples: `device` (`name`, `kind`, `sectors`, `sector_bytes`, `physical_sector_bytes`,
    /// `writable`, `queue_depth`, `rotational`, `overhead_ns`), `version`, `finished` (probes), `writes`, `sessions`.
    #[getter]
    fn head<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::RecordHead>> {
        typed(py, &serde_json::to_value(&self.record.head).unwrap_or_default())
    }

    /// Why it did not come to its end: `None` if it did, else `kind` ("stopped", "gone", "unreadable", "other"), `message`,
    /// `hint`.
    #[getter]
    fn stopped<'py>(&self, py: Python<'py>) -> PyResult<Option<Typed<'py, results::Stopped>>> {
        let describe = |error: &MeasureError| {
            let kind = match error {
                MeasureError::Stopped => "stopped",
                MeasureError::Gone { .. } => "gone",
                MeasureError::Unreadable { .. } => "unreadable",
                _ => "other",
            };
            typed(py, &json!({"kind": kind, "message": error.to_string(), "hint": error.hint()}))
        };
        self.stopped.as_ref().map(describe).transpose()
    }

    /// The values that the record shows; see the reference for the keys. Raises `InputError` for a record without samples.
    fn extract<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::MeasurementSummary>> {
        let found = guarded(py, || Ok(headstack_measure::extract::extract(&self.record)?.to_json()))?;
        typed(py, &found)
    }

    /// A drive file of what the record shows, as text, and how well it replays the record's accesses (`None` where none of them are
    /// random): `reads` and `writes` one at a time, `queued`, and reads of each size, `sequential` and `by_size` (lists), each with
    /// `demerit_percent` and more, and `within_limit`.
    /// Values that the record does not show are assumed and marked so. Raises `InputError` where too little was measured.
    fn drive_file<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(String, Option<Typed<'py, results::ReplayScores>>)> {
        let file = guarded(py, || Ok(headstack_measure::replay::drive_file(&self.record, name)?))?;
        let replay = file.replay.map(|replay| typed(py, &serde_json::to_value(replay).unwrap_or_default()));
        Ok((file.toml, replay.transpose()?))
    }

    /// The record for another process: `_measurement_of` makes it again.
    fn _to_bytes(&self) -> PyResult<Cow<'static, [u8]>> {
        Ok(Cow::Owned(record::store::to_bytes(&self.record).map_err(Error::from)?))
    }

    /// Writes the record as a Parquet file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        Ok(record::store::write(&self.record, &path).map_err(Error::from)?)
    }

    fn __len__(&self) -> usize {
        self.record.samples.len()
    }

    fn __repr__(&self) -> String {
        let head = &self.record.head;
        format!(
            "Measurement({:?}, {} samples, {})",
            head.device.name,
            self.record.samples.len(),
            head.finished.join(", ")
        )
    }
}

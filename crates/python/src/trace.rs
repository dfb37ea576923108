//! `Trace`: a trace file, how to read it, and how to fit it to a system.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::poll::{Poll, Polled};
use crate::range::{Device, FromS, InterArrivalMs, LbaOffset, LbaScale, SectorBytes, TimeScale, ToS};
use crate::spool::Spool;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use headstack_system::WorkloadLabel;
use headstack_trace::atomic_file::check_apart;
use headstack_trace::info::{DeviceInfo, TimeSummary};
use headstack_trace::shape::shape_file;
use headstack_trace::tick::SliceTable;
use headstack_trace::{
    Devices, FORMATS, FitLba, Gap, IologUnit, OpenOptions, OutputFormat, Request, RequestSource, Shaped,
    Shaping, Target, TraceError, TraceInfo, TraceReader, convert, open, record_batch, request_schema,
};
use headstack_units::Nanos;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatchReader;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A trace of requests in a file.
///
/// Opening it reads the beginning, so that a missing file or an unknown format is an error here and not later. As an
/// Arrow stream (`polars.DataFrame(trace)`, `pyarrow.table(trace)`) it gives its requests as they are in the file; the
/// shaping (`devices` to `to_s`) applies when it is converted or run on a system.
///
/// Parameters
/// ----------
/// path
///     The file; gzip and zstd unpack by themselves.
/// format
///     Its format, one of `trace_formats()`; recognised from the contents if absent.
/// columns
///     For CSV: pairs of a column's name and the field it holds.
/// gap
///     For disksim-validate: whether the gap on a line comes "after" or "before" its request.
/// sector_bytes
///     Sector size, where the trace states none.
/// sort
///     Order the requests by arrival, in memory.
/// skip_zero_length
///     Leave out requests that move nothing.
/// devices
///     Pairs of a device of the trace and the volume it becomes (`None`: volume 0); empty: all, as they are.
/// time_scale, inter_arrival_ms
///     Multiply the times between requests, or replace them by a constant.
/// lba_offset, lba_scale
///     Move addresses.
/// fit_lba
///     What to do about addresses past the end: "wrap", "scale" or "offset".
/// from_s, to_s
///     Leave out what arrives before or after.
/// blkparse_format
///     For text of `blkparse -f`: that format.
/// iolog_unit
///     For fio's iolog of version 3: the unit of its stamps, "us" or "ms".
/// slices
///     For tick traces: a file that says where the slices of the drives lie.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    /// Which request the gaps belong to is still to be found out.
    gap_open: bool,
    shaping: Shaping,
    format: &'static str,
    sector_bytes: u32,
    /// The file of its slices.
    slices: Option<PathBuf>,
    /// Where the path leads, if it was a pipe.
    spool: Option<Spool>,
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (
        path, *, format=None, columns=Vec::new(), gap=None, sector_bytes=None, sort=false, skip_zero_length=false,
        devices=Vec::new(), time_scale=None, inter_arrival_ms=None, lba_offset=None, lba_scale=None, fit_lba=None,
        from_s=None, to_s=None, blkparse_format=None, iolog_unit=None, slices=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: Option<String>,
        columns: Vec<(String, String)>,
        gap: Option<&str>,
        sector_bytes: Option<SectorBytes>,
        sort: bool,
        skip_zero_length: bool,
        devices: Vec<(Device, Option<Device>)>,
        time_scale: Option<TimeScale>,
        inter_arrival_ms: Option<InterArrivalMs>,
        lba_offset: Option<LbaOffset>,
        lba_scale: Option<LbaScale>,
        fit_lba: Option<&str>,
        from_s: Option<FromS>,
        to_s: Option<ToS>,
        blkparse_format: Option<String>,
        iolog_unit: Option<&str>,
        slices: Option<PathBuf>,
    ) -> PyResult<Self> {
        let spool = Spool::of(py, &path)?;
        let path = spool.as_ref().map_or(path, Spool::path);
        let options = OpenOptions {
            format,
            sort,
            skip_zero_length,
            sector_bytes: sector_bytes.map(|bytes| bytes.0),
            gap: gap.filter(|gap| *gap != "auto").map(gap_named).transpose()?,
            columns,
            blkparse_format,
            iolog_unit: iolog_unit.map(unit_named).transpose()?,
            slices: slices.as_deref().map(SliceTable::of_file).transpose().map_err(Error::from)?,
            ..OpenOptions::default()
        };
        let shaping = Shaping {
            devices: chosen(&devices),
            time_scale: time_scale.map_or(1.0, |scale| scale.0),
            constant_inter_arrival: inter_arrival_ms.map(|ms| Nanos::from_ms(ms.0)),
            lba_scale: lba_scale.map_or(1.0, |scale| scale.0),
            lba_offset: lba_offset.map_or(0, |offset| offset.0),
            fit: fit_lba.map_or(Ok(FitLba::None), fit_named)?,
            start: from_s.map(|from| Nanos::from_s(from.0)),
            end: to_s.map(|to| Nanos::from_s(to.0)),
            limit: None,
        };
        let reader = open(&path, &options).map_err(Error::from)?;
        let format = reader.format();
        if gap == Some("auto") && format != GAPPED {
            let problem = format!("`--gap` goes with the format {GAPPED}, but the trace is {format}");
            return Err(Error::input(problem, "leave `--gap` out").into());
        }
        let gap_open = format == GAPPED && options.gap.is_none();
        Ok(Self {
            format,
            sector_bytes: reader.sector_bytes(),
            path,
            options,
            gap_open,
            shaping,
            slices,
            spool,
        })
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The name of its format.
    #[getter]
    pub(crate) fn format(&self) -> &'static str {
        self.format
    }

    /// Whether it has gaps, and nobody has said which request they belong to: "auto" or nothing was given.
    #[getter]
    fn gap_is_open(&self) -> bool {
        self.gap_open
    }

    /// The same trace with its gaps "after" or "before" their requests.
    fn with_gap(&self, gap: &str) -> Result<Self, Error> {
        Ok(self.read_as(gap_named(gap)?))
    }

    /// The size of the sectors in which its addresses are counted.
    #[getter]
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// Reads the trace through and tells what is in it; the shaping does not apply.
    #[pyo3(signature = (*, progress=None))]
    fn info<'py>(&self, py: Python<'py>, progress: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyDict>> {
        let (poll, refusal) = Poll::new(progress);
        let info = guarded(py, || {
            let reader = open(&self.path, &self.options)?;
            let mut source = Polled::new(reader, poll);
            let info = TraceInfo::of_source(&mut source, self.sector_bytes).map_err(|e| refusal.or(e))?;
            let (skipped, in_order) = (source.inner().records_skipped(), source.inner().in_order());
            Ok(TraceInfo { format: self.format, records_skipped: skipped, in_order, ..info })
        })?;
        dict(py, &info_value(&info))
    }

    /// Writes the trace, shaped, to a file, and returns the number of requests: Parquet or CSV by the file's name, or the
    /// format named, one of `written_formats()`.
    #[pyo3(signature = (out, *, format=None, progress=None))]
    fn convert(
        &self,
        py: Python<'_>,
        out: PathBuf,
        format: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let (poll, refusal) = Poll::new(progress);
        guarded(py, || {
            check_apart(&[("out", &out)], &[("the trace", &self.path)])?;
            let format = format.map_or_else(|| OutputFormat::of(&out), OutputFormat::named)?;
            if self.shaping.fit != FitLba::None {
                return Err(Error::input(
                    "--fit-lba fits a trace to a system, and a conversion has none",
                    "leave it out here, and give it to `simulate` or `validate`",
                ));
            }
            let reader = open(&self.path, &self.options)?;
            let source = Shaped::anywhere(reader, self.sector_bytes, self.shaping.clone())?;
            let mut source = Polled::new(source, poll);
            convert(&mut source, self.sector_bytes, &out, format).map_err(|error| refusal.or(error))
        })
    }

    /// The requests as an Arrow stream, in constant memory.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reader = open(&self.path, &self.options).map_err(Error::from)?;
        let batches = Batches { schema: request_schema(self.sector_bytes), reader, requests: Vec::new() };
        let stream = PyRecordBatchReader::new(Box::new(batches)).into_pyobject(py)?;
        stream.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// What `pickle` opens it with in another process: the path and the options.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyDict>)> {
        if self.spool.is_some() {
            let problem = "a trace out of a pipe cannot be sent to another process";
            return Err(Error::input(problem, "convert it to a file first").into());
        }
        Ok(((std::path::absolute(&self.path)?,), self.keywords(py)?))
    }

    fn __repr__(&self) -> String {
        format!("Trace({:?}, format={:?})", self.path.display().to_string(), self.format)
    }
}

impl Trace {
    /// The options it was opened with, as Python's keywords.
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (options, shaping) = (&self.options, &self.shaping);
        let devices: Vec<(u32, Option<u32>)> = match &shaping.devices {
            Devices::Keep => Vec::new(),
            Devices::Only(device) => vec![(*device, None)],
            Devices::Map(pairs) => pairs.iter().map(|&(from, to)| (from, Some(to))).collect(),
        };
        let keywords = PyDict::new(py);
        keywords.set_item("format", &options.format)?;
        keywords.set_item("columns", &options.columns)?;
        keywords
            .set_item("gap", options.gap.map(|gap| if gap == Gap::After { "after" } else { "before" }))?;
        keywords.set_item("sector_bytes", options.sector_bytes)?;
        keywords.set_item("sort", options.sort)?;
        keywords.set_item("skip_zero_length", options.skip_zero_length)?;
        keywords.set_item("blkparse_format", &options.blkparse_format)?;
        keywords.set_item("iolog_unit", options.iolog_unit.map(unit_word))?;
        keywords.set_item("slices", self.slices.as_deref().map(std::path::absolute).transpose()?)?;
        keywords.set_item("devices", devices)?;
        keywords.set_item("time_scale", shaping.time_scale)?;
        keywords.set_item("inter_arrival_ms", shaping.constant_inter_arrival.map(Nanos::as_ms))?;
        keywords.set_item("lba_offset", shaping.lba_offset)?;
        keywords.set_item("lba_scale", shaping.lba_scale)?;
        keywords.set_item("fit_lba", fit_word(shaping.fit))?;
        keywords.set_item("from_s", shaping.start.map(Nanos::as_s))?;
        keywords.set_item("to_s", shaping.end.map(Nanos::as_s))?;
        Ok(keywords)
    }

    /// What results call it, and what makes it what it is.
    pub(crate) fn label(&self) -> WorkloadLabel {
        let name = self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let bytes = std::fs::metadata(&self.path).map_or(0, |about| about.len());
        let configuration = json!({
            "bytes": bytes,
            "options": format!("{:?}", self.options),
            "shaping": format!("{:?}", self.shaping),
        });
        WorkloadLabel { name, configuration }
    }

    /// Whether its requests have measured starts and completions, judged by the first ones.
    pub(crate) fn is_measured(&self) -> Result<bool, Error> {
        let mut requests = Vec::new();
        open(&self.path, &self.options)?.next_batch(&mut requests)?;
        Ok(requests.iter().any(|request| request.measured_service().is_some()))
    }

    /// The same trace with its gaps read in one of the two ways.
    pub(crate) fn read_as(&self, gap: Gap) -> Self {
        let options = OpenOptions { gap: Some(gap), ..self.options.clone() };
        Self {
            options,
            gap_open: false,
            path: self.path.clone(),
            shaping: self.shaping.clone(),
            slices: self.slices.clone(),
            spool: self.spool.clone(),
            ..*self
        }
    }

    /// The requests, fitted to a system's devices.
    pub(crate) fn shaped(
        &self,
        targets: Vec<Target>,
        limit: Option<u64>,
    ) -> Result<Shaped<TraceReader>, TraceError> {
        shape_file(&self.path, &self.options, Shaping { limit, ..self.shaping.clone() }, targets)
    }
}

/// Names and descriptions of the trace formats.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.name, format.about)).collect()
}

/// Names of the formats that can be written.
#[pyfunction]
pub(crate) fn written_formats() -> Vec<&'static str> {
    ["parquet", "csv", "arrow"].into_iter().chain(OutputFormat::others()).collect()
}

/// The requests of a trace as record batches.
struct Batches {
    schema: SchemaRef,
    reader: TraceReader,
    requests: Vec<Request>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |error: TraceError| ArrowError::ExternalError(Box::new(error));
        if let Err(error) = self.reader.next_batch(&mut self.requests) {
            return Some(Err(failed(error)));
        }
        (!self.requests.is_empty()).then(|| record_batch(&self.requests, &self.schema).map_err(failed))
    }
}

/// The format whose lines have a gap that may belong to either request.
const GAPPED: &str = "disksim-validate";

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn chosen(devices: &[(Device, Option<Device>)]) -> Devices {
    match devices {
        [] => Devices::Keep,
        [(device, None)] => Devices::Only(device.0),
        several => {
            Devices::Map(several.iter().map(|&(from, to)| (from.0, to.map_or(0, |to| to.0))).collect())
        }
    }
}

fn gap_named(word: &str) -> Result<Gap, Error> {
    match word {
        "after" => Ok(Gap::After),
        "before" => Ok(Gap::Before),
        _ => Err(Error::input(format!("a gap is not `{word}`"), "use `after`, `before` or `auto`")),
    }
}

fn unit_named(word: &str) -> Result<IologUnit, Error> {
    match word {
        "us" => Ok(IologUnit::Microseconds),
        "ms" => Ok(IologUnit::Milliseconds),
        _ => Err(Error::input(format!("`{word}` is no unit of an iolog"), "use `us` or `ms`")),
    }
}

fn unit_word(unit: IologUnit) -> &'static str {
    match unit {
        IologUnit::Microseconds => "us",
        IologUnit::Milliseconds => "ms",
    }
}

fn fit_word(fit: FitLba) -> Option<&'static str> {
    match fit {
        FitLba::None => None,
        FitLba::Wrap => Some("wrap"),
        FitLba::Scale => Some("scale"),
        FitLba::Offset => Some("offset"),
    }
}

fn fit_named(word: &str) -> Result<FitLba, Error> {
    match word {
        "wrap" => Ok(FitLba::Wrap),
        "scale" => Ok(FitLba::Scale),
        "offset" => Ok(FitLba::Offset),
        _ => Err(Error::input(
            format!("addresses cannot be fitted by `{word}`"),
            "use `wrap`, `scale` or `offset`",
        )),
    }
}

fn info_value(info: &TraceInfo) -> Value {
    json!({
        "format": info.format,
        "sector_bytes": info.sector_bytes,
        "requests": info.requests,
        "reads": info.reads,
        "writes": info.writes,
        "read_fraction": info.read_fraction,
        "records_skipped": info.records_skipped,
        "in_order": info.in_order,
        "first_arrival_s": info.first_arrival_s,
        "span_s": info.span_s,
        "requests_per_s": info.requests_per_s,
        "bytes_read": info.bytes_read,
        "bytes_written": info.bytes_written,
        "sizes": {
            "mean_bytes": info.sizes.mean_bytes,
            "min_bytes": info.sizes.min_bytes,
            "max_bytes": info.sizes.max_bytes,
            "common": info.sizes.common.iter()
                .map(|(bytes, count)| json!({"bytes": bytes, "requests": count})).collect::<Vec<_>>(),
        },
        "footprint_sectors": info.footprint_sectors,
        "footprint_grid_sectors": info.footprint_grid_sectors,
        "highest_lba": info.highest_lba,
        "sequential_fraction": info.sequential_fraction,
        "inter_arrival": info.inter_arrival.as_ref().map(times),
        "service": info.service.as_ref().map(times),
        "response": info.response.as_ref().map(times),
        "max_outstanding": info.max_outstanding,
        "devices": info.devices.iter().map(device).collect::<Vec<_>>(),
    })
}

fn times(times: &TimeSummary) -> Value {
    json!({
        "count": times.count,
        "mean_ms": times.mean_ms,
        "std_ms": times.std_ms,
        "min_ms": times.min_ms,
        "p50_ms": times.p50_ms,
        "p90_ms": times.p90_ms,
        "p95_ms": times.p95_ms,
        "p99_ms": times.p99_ms,
        "p999_ms": times.p999_ms,
        "max_ms": times.max_ms,
        "quantiles": if times.exact { "exact" } else { "hdr" },
    })
}

fn device(device: &DeviceInfo) -> Value {
    json!({
        "device": device.device,
        "requests": device.requests,
        "reads": device.reads,
        "bytes": device.bytes,
        "lowest_lba": device.lowest_lba,
        "highest_lba": device.highest_lba,
        "footprint_sectors": device.footprint_sectors,
        "sequential_fraction": device.sequential_fraction,
        "max_in_service": device.max_in_service,
    })
}

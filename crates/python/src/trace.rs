//! `Trace`: a trace file, how to read it, and how to fit it to a system.

use crate::error::{Error, guarded};
use crate::outputs::to_write;
use crate::poll::{Poll, Polled};
use crate::range::{FromS, InterArrivalMs, LbaOffset, LbaScale, SectorBytes, TimeScale, ToS};
use crate::results::{self, Typed, typed};
use crate::spool::Spool;
use crate::trace_convert;
use crate::trace_info::info_value;
use crate::trace_stream::Batches;
use crate::trace_tools::{extend, notes as notes_value};
use crate::trace_words::{
    Chosen, chosen, chosen_apart, fit_named, fit_word, gap_named, op_named, pairing_named, unit_named,
    unit_word,
};
use headstack_system::WorkloadLabel;
use headstack_trace::event::{PairingRule, open_ios};
use headstack_trace::format::preset;
use headstack_trace::shape::shape_file;
use headstack_trace::tick::SliceTable;
use headstack_trace::{
    Devices, FORMATS, Filter, FitLba, Gap, IoSource, Op, OpenOptions, OutputFormat, RequestSource, Shaped,
    Shaping, Target, TraceError, TraceInfo, TraceReader, open,
};
use headstack_units::Nanos;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatchReader;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A trace of requests in a file.
///
/// Opening it reads the beginning, so that a missing file or an unknown format is an error here and not later. As an
/// Arrow stream (`polars.DataFrame(trace)`, `pyarrow.table(trace)`) it gives its requests as they are in the file; the
/// shaping (`devices` to `to_s`) applies when it is converted or run on a system.
///
/// Parameters
/// ----------
/// path
///     The file, a pipe, `-` for standard input, or a URL that fsspec opens (`s3://bucket/host.parquet`), which is copied
///     first; gzip and zstd unpack by themselves.
/// format
///     Its format, one of `trace_formats()`; recognised from the contents if absent.
/// columns
///     For CSV: pairs of a column's name and the field it holds.
/// table
///     For any table: which column holds what, as `time:0:us,op:2,offset:3:bytes,size:4`.
/// gap
///     For disksim-validate: whether the gap on a line comes "after" or "before" its request.
/// sector_bytes
///     Sector size, where the trace states none.
/// sort
///     Order the requests by arrival, in memory.
/// skip_zero_length
///     Leave out requests that move nothing.
/// devices
///     Devices of the trace, each alone or as a pair with the volume it becomes (`None`: volume 0); empty: all, as they are.
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
/// pairing
///     For traces of events: "strict" leaves out what lost events may have made up, "btt" pairs as btt does.
/// op
///     Only "read"s or "write"s.
/// processes
///     For traces that know processes: only these, by name or number.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    /// Which request the gaps belong to is still to be found out.
    gap_open: bool,
    shaping: Shaping,
    /// The devices that were named.
    chosen: Vec<Chosen>,
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
        path, *, format=None, columns=Vec::new(), table=None, gap=None, sector_bytes=None, sort=false, skip_zero_length=false,
        devices=Vec::new(), time_scale=None, inter_arrival_ms=None, lba_offset=None, lba_scale=None, fit_lba=None,
        from_s=None, to_s=None, blkparse_format=None, iolog_unit=None, slices=None, pairing=None, op=None,
        processes=Vec::new()
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: Option<String>,
        mut columns: Vec<(String, String)>,
        table: Option<&str>,
        gap: Option<&str>,
        sector_bytes: Option<SectorBytes>,
        sort: bool,
        skip_zero_length: bool,
        devices: Vec<Chosen>,
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
        pairing: Option<&str>,
        op: Option<&str>,
        processes: Vec<String>,
    ) -> PyResult<Self> {
        let path = if path.as_os_str() == "-" { "/dev/stdin".into() } else { path };
        let spool = Spool::of(py, &path)?;
        let path = spool.as_ref().map_or(path, Spool::path);
        if let Some(words) = table {
            columns.extend(preset::columns(words).map_err(Error::from)?);
        }
        let mut options = OpenOptions {
            format,
            pairing: pairing.map_or(Ok(PairingRule::Strict), pairing_named)?,
            filter: Filter { op: op.map(op_named).transpose()?, ..Filter::default() },
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
        // Whether what makes no sense is an error is said when it is read.
        let tolerant = |options: &OpenOptions| OpenOptions { tolerant: true, ..options.clone() };
        if !processes.is_empty() {
            let pids = guarded(py, || pids_of(&path, &tolerant(&options), &processes))?;
            options.filter.pids = Some(pids);
        }
        let reader = open(&path, &tolerant(&options)).map_err(Error::from)?;
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
            chosen: devices,
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

    /// Reads the trace through and tells what is in the chosen part of it: devices, time, direction, processes. A record
    /// that makes no sense is an error, or with `strict=False` left out and counted.
    #[pyo3(signature = (*, strict=true, progress=None))]
    fn info<'py>(
        &self,
        py: Python<'py>,
        strict: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Typed<'py, results::TraceInfo>> {
        let (poll, refusal) = Poll::new(progress);
        let (info, notes) = guarded(py, || {
            leniently(strict, |tolerant| {
                let mut reader = open(&self.path, &OpenOptions { tolerant, ..self.chosen_part() })?;
                let lead = reader.lead()?;
                let mut source = Polled::new(reader, poll.sibling());
                let info = TraceInfo::of_source(&mut source, self.sector_bytes).map_err(|e| refusal.or(e))?;
                let (skipped, in_order) = (source.inner().records_skipped(), source.inner().in_order());
                let first_arrival_s = info.first_arrival_s - lead.as_s();
                let info = TraceInfo {
                    format: self.format,
                    records_skipped: skipped,
                    in_order,
                    first_arrival_s,
                    ..info
                };
                Ok((info, source.inner().notes()))
            })
        })?;
        let mut value = info_value(&info);
        extend(&mut value, json!({ "notes": notes_value(&notes) }));
        typed(py, &value)
    }

    /// Writes the trace, shaped, to a file, and returns the number of requests: Parquet or CSV by the file's name, or the
    /// format named, one of `written_formats()`. A record that makes no sense is an error, or with `strict=False` left out.
    #[pyo3(signature = (out, *, format=None, strict=true, progress=None))]
    fn convert(
        &self,
        py: Python<'_>,
        out: PathBuf,
        format: Option<&str>,
        strict: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let out = to_write(py, &out)?;
        let (poll, refusal) = Poll::new(progress);
        Ok(guarded(py, || trace_convert::written(self, &out, format, strict, &poll, &refusal))?.ios.requests)
    }

    /// The same, and tells what became of the rest: `requests`, `others` (flushes, discards) and `notes`.
    #[pyo3(signature = (out, *, format=None, strict=true, progress=None))]
    fn convert_all<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        format: Option<&str>,
        strict: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Typed<'py, results::Converted>> {
        let out = to_write(py, &out)?;
        let (poll, refusal) = Poll::new(progress);
        let written = guarded(py, || trace_convert::written(self, &out, format, strict, &poll, &refusal))?;
        typed(py, &written.value())
    }

    /// The requests as an Arrow stream, in constant memory.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reader = open(&self.path, &self.options).map_err(Error::from)?;
        let batches = Batches::new(reader, self.sector_bytes);
        let stream = PyRecordBatchReader::new(Box::new(batches)).into_pyobject(py)?;
        stream.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// What `pickle` opens it with in another process: the path and the options.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyDict>)> {
        let path = match self.spool.as_ref().map(Spool::url) {
            None => std::path::absolute(&self.path)?,
            Some(Some(url)) => url.into(),
            Some(None) => {
                let problem = "a trace out of a pipe cannot be sent to another process";
                return Err(Error::input(problem, "convert it to a file first").into());
            }
        };
        Ok(((path,), self.keywords(py)?))
    }

    fn __repr__(&self) -> String {
        format!("Trace({:?}, format={:?})", self.path.display().to_string(), self.format)
    }
}

impl Trace {
    /// The options it was opened with, as Python's keywords.
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (options, shaping) = (&self.options, &self.shaping);
        let devices: Vec<(u32, Option<u32>)> = self.chosen.iter().map(|device| device.numbers()).collect();
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
        keywords.set_item("pairing", if options.pairing == PairingRule::Btt { "btt" } else { "strict" })?;
        keywords.set_item("op", options.filter.op.map(|op| if op == Op::Read { "read" } else { "write" }))?;
        let pids = options.filter.pids.iter().flatten();
        keywords.set_item("processes", pids.map(ToString::to_string).collect::<Vec<_>>())?;
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

    /// How to read the chosen part of it, without what changes its requests.
    pub(crate) fn chosen_part(&self) -> OpenOptions {
        let (from, to) = (self.shaping.start, self.shaping.end);
        let options = self.of_devices();
        OpenOptions { filter: Filter { from, to, ..options.filter }, ..options }
    }

    /// How to read what the shaping then chooses from: the chosen devices, of which one must be there.
    pub(crate) fn of_devices(&self) -> OpenOptions {
        let devices = match &self.shaping.devices {
            Devices::Keep => Vec::new(),
            Devices::Only(device) => vec![*device],
            Devices::Map(pairs) => pairs.iter().map(|(from, _)| *from).collect(),
        };
        OpenOptions { filter: Filter { devices, ..self.options.filter.clone() }, ..self.options.clone() }
    }

    /// Whether its shaping chooses requests, and changes none.
    pub(crate) fn only_chooses(&self) -> bool {
        let Shaping { time_scale, constant_inter_arrival, lba_scale, lba_offset, .. } = &self.shaping;
        let chooses = !matches!(self.shaping.devices, Devices::Map(_));
        chooses
            && constant_inter_arrival.is_none()
            && (*time_scale, *lba_scale, *lba_offset) == (1.0, 1.0, 0)
            && !self.options.sort
    }

    pub(crate) fn shaping(&self) -> &Shaping {
        &self.shaping
    }

    /// What results call it, and what makes it what it is.
    pub(crate) fn label(&self) -> WorkloadLabel {
        let path = self.spool.as_ref().and_then(Spool::url).map_or(self.path.as_path(), Path::new);
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
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
        Self { gap_open: false, ..self.with_options(options) }
    }

    /// The same trace, with its flushes and discards or without.
    pub(crate) fn with_commands(&self, commands: bool) -> Self {
        self.with_options(OpenOptions { commands, ..self.options.clone() })
    }

    fn with_options(&self, options: OpenOptions) -> Self {
        Self {
            options,
            path: self.path.clone(),
            shaping: self.shaping.clone(),
            chosen: self.chosen.clone(),
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
        shape_file(&self.path, &self.of_devices(), Shaping { limit, ..self.shaping.clone() }, targets)
    }

    /// The same, fitted to devices that are all alike, each a system of its own, whatever their numbers.
    pub(crate) fn shaped_alike(
        &self,
        target: Target,
        limit: Option<u64>,
    ) -> Result<Shaped<TraceReader>, TraceError> {
        let source = open(&self.path, &self.of_devices())?;
        let sector_bytes = source.sector_bytes();
        let devices = chosen_apart(&self.chosen);
        Shaped::alike(source, sector_bytes, Shaping { limit, devices, ..self.shaping.clone() }, target)
    }
}

/// Names and descriptions of the trace formats.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<(String, String)> {
    let own = FORMATS.iter().map(|format| (format.name.to_owned(), format.about.to_owned()));
    own.chain(preset::presets().into_iter().map(|preset| (preset.name, preset.about))).collect()
}

/// Names of the formats that can be written.
#[pyfunction]
pub(crate) fn written_formats() -> Vec<&'static str> {
    ["parquet", "csv", "arrow"].into_iter().chain(OutputFormat::others()).collect()
}

/// The format whose lines have a gap that may belong to either request.
const GAPPED: &str = "disksim-validate";

/// The numbers of the processes `wanted` by name or number; names stand anywhere in a trace.
fn pids_of(path: &Path, options: &OpenOptions, wanted: &[String]) -> Result<BTreeSet<u32>, Error> {
    let names = process_names(path, options)?;
    let (mut pids, mut unknown) = (BTreeSet::new(), Vec::new());
    for word in wanted {
        let before = pids.len();
        pids.extend(names.iter().filter(|(_, name)| *name == word).map(|(pid, _)| *pid));
        pids.extend(word.parse::<u32>().ok());
        if pids.len() == before {
            unknown.push(word.as_str());
        }
    }
    if unknown.is_empty() {
        return Ok(pids);
    }
    let known: BTreeSet<&str> = names.values().map(String::as_str).take(16).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    let hint = if known.is_empty() {
        "this trace names none; give a number, or leave it out".to_owned()
    } else {
        format!("processes in it: {known}")
    };
    let problem = format!("the trace knows no process `{}`", unknown.join("`, `"));
    Err(Error::Input(problem, Some(hint)))
}

/// The names of processes, which stand anywhere in a trace: all of it is read.
pub(crate) fn process_names(path: &Path, options: &OpenOptions) -> Result<BTreeMap<u32, String>, Error> {
    let options = OpenOptions { tolerant: true, pairing: PairingRule::Btt, ..options.clone() };
    let mut reader = open_ios(path, &options)?;
    let mut batch = Vec::new();
    loop {
        reader.next_ios(&mut batch)?;
        if batch.is_empty() {
            return Ok(reader.processes());
        }
    }
}

/// Runs `work` on the trace as it stands; what makes no sense is left out in a second run, unless `strict`.
pub(crate) fn leniently<T>(strict: bool, work: impl Fn(bool) -> Result<T, Error>) -> Result<T, Error> {
    match work(false) {
        Err(first @ Error::Input(..)) if !strict => work(true).map_err(|_| first),
        result => result,
    }
}

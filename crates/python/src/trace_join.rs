//! Several traces written as one.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::trace::{Trace, leniently};
use crate::trace_tools::notes;
use headstack_trace::atomic_file::check_apart;
use headstack_trace::join::{Clocks, Joined, Numbering};
use headstack_trace::{Notes, OpenOptions, OutputFormat, TraceReader, convert};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::path::{Path, PathBuf};

fn clocks_named(word: &str) -> Result<Clocks, Error> {
    let found = Clocks::NAMES.iter().find(|(name, _)| *name == word);
    found.map(|(_, clocks)| *clocks).ok_or_else(|| {
        Error::input(
            format!("clocks do not stand to each other as `{word}`"),
            "use `same`, `begin` or `follow`",
        )
    })
}

/// Writes several traces as one, merged by arrival, and tells the number of requests and how the clocks were read.
///
/// Parameters
/// ----------
/// traces
///     Two or more, all read with the options of the first.
/// out
///     The file, as `Trace.convert` writes it.
/// clocks
///     "same": one clock; "begin": all begin together; "follow": one after the other, with the mean time between
///     arrivals of the one before in between. May be left out if all have times of day.
/// devices_apart
///     Number the devices of each trace anew; otherwise one number is one device in all of them.
#[pyfunction]
#[pyo3(signature = (traces, out, *, clocks=None, devices_apart=false, format=None, strict=true))]
pub(crate) fn join_traces<'py>(
    py: Python<'py>,
    traces: Vec<Bound<'py, Trace>>,
    out: PathBuf,
    clocks: Option<&str>,
    devices_apart: bool,
    format: Option<&str>,
    strict: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let clocks = clocks.map(clocks_named).transpose()?;
    let Some(first) = traces.first() else {
        return Err(Error::input("there is no trace to join", "name two or more").into());
    };
    let options = first.get().chosen_part();
    let paths: Vec<&Path> = traces.iter().map(|trace| trace.get().path.as_path()).collect();
    let numbering = if devices_apart { Numbering::Apart } else { Numbering::Kept };
    let value = guarded(py, || {
        let others: Vec<(&str, &Path)> = paths.iter().map(|path| ("a trace", *path)).collect();
        check_apart(&[("out", &out)], &others)?;
        let format = format.map_or_else(|| OutputFormat::of(&out), OutputFormat::named)?;
        leniently(strict, |tolerant| {
            let options = OpenOptions { tolerant, ..options.clone() };
            let mut joined = Joined::open(&paths, &options, clocks, numbering)?;
            let sector_bytes = joined.sector_bytes();
            let requests = convert(&mut joined, sector_bytes, &out, format)?;
            let mut seen = Notes::default();
            joined.readers().for_each(|reader| seen.merge(&reader.notes()));
            let skipped: u64 = joined.readers().map(TraceReader::records_skipped).sum();
            let read_as = Clocks::NAMES.iter().find(|(_, clocks)| *clocks == joined.clocks());
            Ok(json!({
                "requests": requests,
                "left_out": skipped - seen.without_length,
                "clocks": read_as.map(|(name, _)| name),
                "pauses_s": joined.pauses().iter().map(|pause| pause.0 as f64 / 1e9).collect::<Vec<_>>(),
                "notes": notes(&seen),
            }))
        })
    })?;
    dict(py, &value)
}

//! Writing a trace in another format: as requests, or with all that a trace of events knows.

use crate::error::Error;
use crate::poll::{Poll, Polled, Refusal};
use crate::trace::{Trace, leniently, process_names};
use crate::trace_tools::notes;
use headstack_trace::atomic_file::check_apart;
use headstack_trace::event::{is_event_trace, open_ios};
use headstack_trace::{
    FitLba, IoSource, Notes, OpenOptions, OutputFormat, Shaped, Shaping, WrittenIos, convert, convert_ios,
    open,
};
use headstack_units::Nanos;
use serde_json::{Value, json};
use std::path::Path;

/// What was written, and what was not.
pub(crate) struct Written {
    pub(crate) ios: WrittenIos,
    /// Why a trace that knows more was written as requests: `format` or `options`.
    requests_only: Option<&'static str>,
    notes: Notes,
}

impl Written {
    pub(crate) fn value(&self) -> Value {
        let WrittenIos { requests, others, left_out, merges_left_out, instants_left_out, names_changed } =
            self.ios;
        json!({
            "requests": requests,
            "others": others,
            "left_out": left_out,
            "merges_left_out": merges_left_out,
            "instants_left_out": instants_left_out,
            "names_changed": names_changed,
            "requests_only": self.requests_only,
            "notes": notes(&self.notes),
        })
    }
}

/// Writes `trace`, shaped, to `out`.
pub(crate) fn written(
    trace: &Trace,
    out: &Path,
    format: Option<&str>,
    strict: bool,
    poll: &Poll,
    refusal: &Refusal,
) -> Result<Written, Error> {
    check_apart(&[("out", out)], &[("the trace", &trace.path)])?;
    check_outside(&trace.path, out)?;
    let format = format.map_or_else(|| OutputFormat::of(out), OutputFormat::named)?;
    if trace.shaping().fit != FitLba::None {
        return Err(Error::input(
            "--fit-lba fits a trace to a system, and a conversion has none",
            "leave it out here, and give it to `simulate` or `validate`",
        ));
    }
    let keeps_all = format.holds_ios() && trace.only_chooses();
    leniently(strict, |tolerant| {
        let all = if keeps_all { ios(trace, out, format, tolerant, poll.sibling()) } else { Ok(None) };
        let written = match all {
            Ok(None) => requests(trace, out, format, tolerant, poll.sibling()).map(|written| Written {
                requests_only: written
                    .requests_only
                    .map(|why| if format.holds_ios() { "options" } else { why }),
                ..written
            }),
            Ok(Some(written)) => Ok(written),
            Err(error) => Err(error),
        };
        written.map_err(|error| refusal.or(error))
    })
}

/// What is written may not become a file of the set that is read.
fn check_outside(set: &Path, out: &Path) -> Result<(), Error> {
    let folder = if set.is_dir() { set } else { set.parent().unwrap_or(Path::new("")) };
    let of =
        |path: &Path| std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let is_in_it = out.parent().and_then(|parent| of(parent).ok()) == of(folder).ok();
    let name = out.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if set.is_file() || !is_in_it || !name.contains(".blktrace.") {
        return Ok(());
    }
    Err(Error::input(
        format!("`{}` would be a file of the set that is read", out.display()),
        "write it to another folder, or under a name that does not end in .blktrace.N",
    ))
}

/// As I/Os, if the trace knows more than requests.
fn ios(
    trace: &Trace,
    out: &Path,
    format: OutputFormat,
    tolerant: bool,
    poll: Poll,
) -> Result<Option<Written>, Error> {
    let options = OpenOptions { tolerant, ..trace.chosen_part() };
    let reader = open_ios(&trace.path, &options)?;
    if !reader.knows_more_than_requests() {
        return Ok(None);
    }
    let processes = process_names(&trace.path, &options)?;
    let kernel_devices = reader.kernel_devices();
    let mut source = Polled::new(reader, poll);
    let ios = convert_ios(&mut source, kernel_devices, &processes, out, format)?;
    Ok(Some(Written { ios, requests_only: None, notes: source.inner().notes() }))
}

fn requests(
    trace: &Trace,
    out: &Path,
    format: OutputFormat,
    tolerant: bool,
    poll: Poll,
) -> Result<Written, Error> {
    let mut reader = open(&trace.path, &OpenOptions { tolerant, ..trace.of_devices() })?;
    let (lead, sector_bytes) = (reader.lead()?, reader.sector_bytes());
    let mut shaping = trace.shaping().clone();
    if lead > Nanos::ZERO {
        let later = |at: Nanos| Nanos(at.0.saturating_add(lead.0));
        shaping = Shaping {
            start: Some(later(shaping.start.unwrap_or_default())),
            end: shaping.end.map(later),
            ..shaping
        };
    }
    let source = Shaped::anywhere(reader, sector_bytes, shaping)?;
    let mut source = Polled::new(source, poll);
    let requests = convert(&mut source, sector_bytes, out, format)?;
    let reader = source.inner().source();
    let left_out = reader.records_skipped() - reader.notes().without_length;
    let ios = WrittenIos { requests, left_out, ..WrittenIos::default() };
    let requests_only = knows_more(trace, reader.format()).then_some("format");
    Ok(Written { ios, requests_only, notes: reader.notes() })
}

/// Whether a trace, of the format `name`, tells more than requests. (A pipe is read once.)
fn knows_more(trace: &Trace, name: &str) -> bool {
    is_event_trace(name)
        || trace.path.is_file()
            && open_ios(&trace.path, &trace.chosen_part())
                .is_ok_and(|reader| reader.knows_more_than_requests())
}

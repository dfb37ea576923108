//! Writing a trace in another format: as requests, or with all that a trace of events knows.

use crate::error::Error;
use crate::poll::{Poll, Polled, Refusal};
use crate::trace::{Trace, leniently, process_names};
use crate::trace_tools::notes;
use headstack_trace::atomic_file::check_apart;
use headstack_trace::event::open_ios;
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
    notes: Notes,
}

impl Written {
    pub(crate) fn value(&self) -> Value {
        let WrittenIos { requests, others, left_out, merges_left_out, instants_left_out } = self.ios;
        json!({
            "requests": requests,
            "others": others,
            "left_out": left_out,
            "merges_left_out": merges_left_out,
            "instants_left_out": instants_left_out,
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
            Ok(None) => requests(trace, out, format, tolerant, poll.sibling()),
            Ok(Some(written)) => Ok(written),
            Err(error) => Err(error),
        };
        written.map_err(|error| refusal.or(error))
    })
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
    Ok(Some(Written { ios, notes: source.inner().notes() }))
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
    Ok(Written { ios: WrittenIos { requests, left_out, ..WrittenIos::default() }, notes: reader.notes() })
}

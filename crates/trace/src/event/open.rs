//! Opening a trace of events, or any trace as a stream of I/Os.

use std::path::Path;

use super::blktrace::{self, BlktraceFile};
use super::blktrace_set::{BlktraceSet, files_of};
use super::lines::{TextEvents, finds_events};
use super::{Event, EventIos, EventSource, Loss, PairingSummary, blkparse, blkparse_format, ftrace};
use crate::format::{self, Format, IoDecoder};
use crate::input::Input;
use crate::{Io, IoSource, Notes, OpenOptions, Request, RequestSource, TraceError, TraceReader};

/// The formats of events; each is one of requests as well, by pairing.
pub(crate) static BLKTRACE: Format = Format {
    name: "blktrace",
    about: "blktrace binary, versions 7 and 8: a file, or FOLDER/NAME of the files NAME.blktrace.N; paired",
    sniff: blktrace::sniff,
    open: |input, options| {
        let events = BlktraceFile::new(input, options.tolerant)?;
        Ok(Box::new(IoDecoder::new(EventIos::new(events, options.pairing))))
    },
};

pub(crate) static BLKPARSE: Format = Format {
    name: "blkparse",
    about: "text of blkparse, or of blkparse -f with --blkparse-format; paired",
    sniff: |sample| finds_events(sample, blkparse::Parser::default()),
    open: |input, options| match &options.blkparse_format {
        None => Ok(text(input, blkparse::Parser::default(), options)),
        Some(own) => Ok(text(input, blkparse_format::Parser::new(own)?, options)),
    },
};

pub(crate) static FTRACE: Format = Format {
    name: "ftrace",
    about: "block tracepoints as text of tracefs, trace-cmd report, perf script or bpftrace; paired",
    sniff: |sample| finds_events(sample, ftrace::Parser::default()),
    open: |input, options| {
        refuse_cycles(&input)?;
        Ok(text(input, ftrace::Parser::default(), options))
    },
};

/// A clock of cycles (`x86-tsc`, `counter`) says nothing of time.
fn refuse_cycles(input: &Input) -> Result<(), TraceError> {
    if !ftrace::counts_cycles(input.sample()) {
        return Ok(());
    }
    Err(TraceError::unusable(
        format!(
            "the stamps of `{}` are the count of a clock (x86-tsc, counter), not seconds",
            input.path().display()
        ),
        "record with a clock of time: `echo mono > trace_clock`, or `trace-cmd record -C mono`".into(),
    ))
}

fn text<P: super::lines::EventLineParser + 'static>(
    input: Input,
    parser: P,
    options: &OpenOptions,
) -> Box<dyn format::Decoder> {
    let events = TextEvents::new(input, parser, options.tolerant);
    Box::new(IoDecoder::new(EventIos::new(events, options.pairing)))
}

/// A trace of events being read.
pub struct EventReader {
    source: Box<dyn EventSource>,
    format: &'static str,
}

impl EventReader {
    /// The name of its format.
    pub fn format(&self) -> &'static str {
        self.format
    }
}

impl EventSource for EventReader {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        self.source.next_events(batch)
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn loss(&self) -> Loss {
        self.source.loss()
    }

    fn processes(&self) -> std::collections::BTreeMap<u32, String> {
        self.source.processes()
    }
}

/// Whether `path` names the files of a blktrace run rather than a file.
pub(crate) fn is_set(path: &Path) -> bool {
    !path.is_file() && (path.is_dir() || files_of(path).is_ok_and(|files| !files.is_empty()))
}

/// The files of the run that `path` names, merged.
pub(crate) fn open_set(path: &Path, options: &OpenOptions) -> Result<BlktraceSet, TraceError> {
    let files = files_of(path)?;
    if files.is_empty() {
        return Err(TraceError::unusable(
            format!("`{}` holds no files NAME.blktrace.N", path.display()),
            "a folder is read as the run of blktrace in it; give a file otherwise".into(),
        ));
    }
    BlktraceSet::open(&files, options.tolerant)
}

/// Whether a trace of this format is one of events.
pub fn is_event_trace(format: &str) -> bool {
    [&BLKTRACE, &BLKPARSE, &FTRACE].iter().any(|event| event.name == format)
}

/// Opens a trace of events: a folder or `FOLDER/NAME` of blktrace's files, or a file.
///
/// # Errors
/// If it cannot be read, or is no trace of events.
pub fn open_events(path: &Path, options: &OpenOptions) -> Result<EventReader, TraceError> {
    if is_set(path) {
        return Ok(EventReader { source: Box::new(open_set(path, options)?), format: BLKTRACE.name });
    }
    let input = Input::open(path)?;
    let format = crate::open::chosen_format(&input, options)?;
    events(input, format, options)
}

fn events(input: Input, format: &Format, options: &OpenOptions) -> Result<EventReader, TraceError> {
    let tolerant = options.tolerant;
    let source: Box<dyn EventSource> = match format.name {
        name if name == BLKTRACE.name => Box::new(BlktraceFile::new(input, tolerant)?),
        name if name == FTRACE.name => {
            refuse_cycles(&input)?;
            Box::new(TextEvents::new(input, ftrace::Parser::default(), tolerant))
        }
        name if name == BLKPARSE.name => match &options.blkparse_format {
            None => Box::new(TextEvents::new(input, blkparse::Parser::default(), tolerant)),
            Some(own) => Box::new(TextEvents::new(input, blkparse_format::Parser::new(own)?, tolerant)),
        },
        other => {
            return Err(TraceError::unusable(
                format!("`{}` is a trace of requests ({other}), not of events", input.path().display()),
                "traces of events: blktrace, blkparse, ftrace".into(),
            ));
        }
    };
    let format = if format.name == FTRACE.name { FTRACE.name } else { format.name };
    Ok(EventReader { source, format })
}

/// Any trace as a stream of I/Os, with all it knows of them.
pub struct IoReader {
    format: &'static str,
    kind: Source,
}

enum Source {
    Events(Box<EventIos<EventReader>>),
    Ticks(Box<crate::tick::source::TickIos>),
    Requests(Box<Wrapped>),
}

/// A trace of requests, each as an I/O of which nothing more is known.
struct Wrapped {
    reader: TraceReader,
    batch: Vec<Request>,
}

impl IoReader {
    /// The name of the format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// For a trace of events: what pairing came to so far.
    pub fn pairing(&self) -> Option<PairingSummary> {
        match &self.kind {
            Source::Events(ios) => Some(ios.summary()),
            _ => None,
        }
    }

    /// For a trace of ticks: what matching came to so far.
    pub fn matching(&self) -> Option<&crate::tick::MatchSummary> {
        match &self.kind {
            Source::Ticks(ios) => Some(ios.summary()),
            _ => None,
        }
    }
}

impl IoSource for IoReader {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        match &mut self.kind {
            Source::Events(ios) => ios.next_ios(batch),
            Source::Ticks(ios) => ios.next_ios(batch),
            Source::Requests(wrapped) => {
                batch.clear();
                wrapped.reader.next_batch(&mut wrapped.batch)?;
                batch.extend(wrapped.batch.iter().copied().map(Io::new));
                Ok(())
            }
        }
    }

    fn notes(&self) -> Notes {
        match &self.kind {
            Source::Events(ios) => ios.notes(),
            Source::Ticks(ios) => ios.notes(),
            Source::Requests(wrapped) => wrapped.reader.notes(),
        }
    }

    fn sector_bytes(&self) -> u32 {
        match &self.kind {
            Source::Events(ios) => ios.sector_bytes(),
            Source::Ticks(ios) => ios.sector_bytes(),
            Source::Requests(wrapped) => wrapped.reader.sector_bytes(),
        }
    }
}

/// Opens any trace as a stream of I/Os.
///
/// # Errors
/// As [`crate::open`].
pub fn open_ios(path: &Path, options: &OpenOptions) -> Result<IoReader, TraceError> {
    if is_set(path) {
        let events = open_events(path, options)?;
        let kind = Source::Events(Box::new(EventIos::new(events, options.pairing)));
        return Ok(IoReader { format: BLKTRACE.name, kind });
    }
    let input = Input::open(path)?;
    let format = crate::open::chosen_format(&input, options)?;
    options.check(format.name)?;
    let kind = if is_event_trace(format.name) {
        Source::Events(Box::new(EventIos::new(events(input, format, options)?, options.pairing)))
    } else if format.name.starts_with("tick-") {
        match crate::tick::source::ios(input, options, format.name) {
            Some(ios) => Source::Ticks(Box::new(ios)),
            None => return open_ios(path, options),
        }
    } else {
        Source::Requests(Box::new(Wrapped { reader: crate::open(path, options)?, batch: Vec::new() }))
    };
    Ok(IoReader { format: format.name, kind })
}

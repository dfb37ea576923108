//! Opening a trace of events, or any trace as a stream of I/Os.

use std::collections::VecDeque;
use std::path::Path;

use super::blktrace::{self, BlktraceFile};
use super::blktrace_set::{BlktraceSet, files_of};
use super::cuts::Cut;
use super::ends::{self, Ends, Silent};
use super::lines::{TextEvents, finds_events};
use super::pairing::{Pairing, PairingRule, Survey};
use super::surveys::{Looked, find_cut, pair, read_through, survey, survey_before};
use super::{
    Event, EventIos, EventSource, Loss, PairingSummary, balance, blkparse, blkparse_format, ftrace, lttng,
    stated,
};
use crate::filter::{Chosen, ChosenEvents, ChosenIos};
use crate::format::columns_io::TableIos;
use crate::format::completions::{CompletionIos, Completions, Parse};
use crate::format::preset::expanded;
use crate::format::{self, Format, IoDecoder, biosnoop, procmon};
use crate::input::{self, Input};
use crate::{Io, IoSource, Notes, OpenOptions, Request, RequestSource, TraceError, TraceReader};

/// The formats of events; each is one of requests as well, by pairing.
pub(crate) static BLKTRACE: Format = Format {
    name: "blktrace",
    about: "blktrace binary, versions 7 and 8: a file, or FOLDER/NAME of the files NAME.blktrace.N; paired",
    sniff: blktrace::sniff,
    open: |input, options| decoder(input, &BLKTRACE, options),
};

pub(crate) static BLKPARSE: Format = Format {
    name: "blkparse",
    about: "text of blkparse, or of blkparse -f with --blkparse-format; paired",
    sniff: |sample| finds_events(sample, blkparse::Parser::default()),
    open: |input, options| decoder(input, &BLKPARSE, options),
};

pub(crate) static FTRACE: Format = Format {
    name: "ftrace",
    about: "block tracepoints as text of tracefs, trace-cmd report, perf script or bpftrace; paired",
    sniff: |sample| finds_events(sample, ftrace::Parser::default()),
    open: |input, options| decoder(input, &FTRACE, options),
};

pub(crate) static LTTNG: Format = Format {
    name: "lttng",
    about: "block tracepoints of LTTng as text of babeltrace or babeltrace2; paired",
    sniff: |sample| finds_events(sample, lttng::Parser::default()),
    open: |input, options| decoder(input, &LTTNG, options),
};

/// All of them.
pub(crate) static EVENT_FORMATS: [&Format; 4] = [&BLKTRACE, &BLKPARSE, &FTRACE, &LTTNG];

fn decoder(input: Input, format: &Format, options: &OpenOptions) -> format::Opened {
    Ok(Box::new(IoDecoder::new(paired(events(input, format, options)?, options), options.commands)))
}

/// The I/Os of a stream of events: of those that the options choose.
pub(crate) fn paired(events: EventReader, options: &OpenOptions) -> EventIos<EventReader> {
    EventIos::new(events, options.pairing).choosing(&options.filter)
}

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

/// So many events at the beginning are looked at for losses before the first is given out.
const AHEAD: usize = 1 << 13;

/// What is shorter tells little of itself where events are missing.
const LONG: u64 = 1 << 12;

/// A trace of events being read.
pub struct EventReader {
    pub(super) source: Box<dyn EventSource>,
    survey: Option<Survey>,
    /// Batches that were read ahead for the survey.
    ahead: VecDeque<Vec<Event>>,
    failure: Option<TraceError>,
    format: &'static str,
    cut: input::Cut,
    /// Processors of text that tell nothing at its end, where events are missing.
    short: Vec<u32>,
    /// So many events lie before the end of the first of these.
    pub(super) until_cut: u64,
    /// Each half has its other: nothing is missing.
    is_balanced: bool,
}

impl EventReader {
    /// The events of `source` that the options choose.
    fn new(source: Box<dyn EventSource>, format: &'static str, options: &OpenOptions) -> Self {
        let filter = &options.filter;
        let mut source = source;
        if !filter.devices.is_empty() || filter.from.is_some() || filter.to.is_some() {
            source = Box::new(ChosenEvents { source, chosen: Chosen::new(filter, None) });
        }
        Self {
            source,
            survey: None,
            ahead: VecDeque::new(),
            failure: None,
            format,
            cut: input::Cut::default(),
            short: Vec::new(),
            until_cut: 0,
            is_balanced: false,
        }
    }

    /// Reads the beginning ahead, for what it tells of losses.
    fn survey_beginning(mut self, rule: PairingRule) -> Self {
        if rule == PairingRule::Btt {
            return self;
        }
        let mut pairing = Pairing::new(PairingRule::Strict);
        let (mut read, mut ios, mut whole) = (0, Vec::new(), false);
        while read < AHEAD && !whole {
            let mut batch = Vec::new();
            if let Err(error) = self.source.next_events(&mut batch) {
                self.failure = Some(error);
            }
            whole = batch.is_empty() || self.failure.is_some();
            read += batch.len();
            pair(&mut pairing, &batch, &mut ios);
            self.ahead.extend((!batch.is_empty()).then_some(batch));
        }
        let is_certain = self.source.loss().is_certain();
        let is_whole = whole && !is_certain && self.failure.is_none();
        if is_whole {
            pairing.finish(&mut ios);
        }
        let has_all = pairing.has_all() && !pairing.is_lossy();
        // Things may wait for long, or very little is known: where each half has its other nothing is missing.
        if is_whole && !has_all {
            self.survey = balance::survey(&self.ahead);
            self.is_balanced = self.survey.is_some();
        }
        if self.is_balanced {
            return self;
        }
        // Once losses are known, what came before them is looked at again.
        let lacking = if has_all { None } else { balance::lacking(&self.ahead, is_whole, is_certain) };
        if pairing.is_lossy() || is_certain || lacking.is_some() {
            let mut again = Pairing::new(PairingRule::Strict);
            again.events_are_missing();
            self.ahead.iter().for_each(|batch| pair(&mut again, batch, &mut ios));
            let survey = again.survey(whole);
            self.survey = Some(match lacking {
                Some(alone) => survey.lacking(whole && alone.tell_little()),
                None => survey,
            });
        } else {
            let begun = self.ahead.front().and_then(|batch| batch.first()).map(|event| event.time);
            self.survey = Some(pairing.beginning(begun.unwrap_or_default()));
        }
        self
    }

    /// The same trace, of all of which that is known. Of a short one the beginning may tell more: many halves that are alone.
    fn known_as(self, survey: Option<Survey>) -> Self {
        let survey = match (survey, &self.survey) {
            (Some(survey), Some(beginning)) => Some(survey.lacking_as(beginning)),
            (survey, _) => survey,
        };
        Self { survey, is_balanced: false, ..self }
    }

    /// No batch lies on both sides of the end of a processor.
    fn end_at_cut(&mut self, batch: &mut Vec<Event>) {
        if self.until_cut > 0 && self.until_cut < batch.len() as u64 {
            self.ahead.push_front(batch.split_off(self.until_cut as usize));
        }
        self.until_cut = self.until_cut.saturating_sub(batch.len() as u64);
    }

    /// The name of its format.
    pub fn format(&self) -> &'static str {
        self.format
    }
}

impl EventSource for EventReader {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        if let Some(ahead) = self.ahead.pop_front() {
            *batch = ahead;
        } else if let Some(failure) = self.failure.take() {
            batch.clear();
            return Err(failure);
        } else {
            self.source.next_events(batch)?;
        }
        self.end_at_cut(batch);
        Ok(())
    }

    fn notes(&self) -> Notes {
        let mut notes = self.source.notes();
        self.cut.note(&mut notes);
        notes
    }

    fn loss(&self) -> Loss {
        let mut loss = self.source.loss();
        loss.short_cpus.extend(&self.short);
        loss.short_cpus.sort_unstable();
        loss.short_cpus.dedup();
        loss
    }

    fn take_survey(&mut self) -> Option<Survey> {
        self.survey.take()
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
    EVENT_FORMATS.iter().any(|event| event.name == format)
}

/// Opens a trace of events: a folder or `FOLDER/NAME` of blktrace's files, or a file.
///
/// # Errors
/// If it cannot be read, or is no trace of events.
pub fn open_events(path: &Path, options: &OpenOptions) -> Result<EventReader, TraceError> {
    if is_set(path) {
        return events_of_set(path, options);
    }
    let input = Input::open_packed(path, options.tolerant)?;
    let (format, cut) = (crate::open::chosen_format(&input, options)?, input.cut());
    Ok(EventReader { cut, ..events(input, format, options)? })
}

/// The events of a run; where a processor's may be missing, they are read twice, and once again where its end is.
fn events_of_set(path: &Path, options: &OpenOptions) -> Result<EventReader, TraceError> {
    let reader = |set| EventReader::new(Box::new(set), BLKTRACE.name, options);
    let set = open_set(path, options)?;
    let (loss, file_ends) = (set.loss(), set.ends().to_vec());
    if options.pairing == PairingRule::Btt {
        return Ok(reader(set));
    }
    let whole = || open_set(path, options).ok().map(reader);
    if !(loss.missing_cpus.is_empty() && loss.empty_cpus.is_empty()) {
        let survey = whole().map(|events| survey(events, true, Vec::new()));
        return Ok(reader(set).survey_beginning(options.pairing).known_as(survey));
    }
    let opened = reader(set).survey_beginning(options.pairing);
    let mut silent = ends::short_files(&opened.beginning(), &file_ends);
    silent.extend(&loss.short_cpus);
    silent.sort_unstable();
    silent.dedup();
    let are_missing = !(loss.short_cpus.is_empty() && loss.late_cpus.is_empty());
    Ok(opened.ending_early(&silent, are_missing, whole))
}

/// The events of a file; text of which a processor's may be missing at the end is read once more, and once again where they are.
fn events(input: Input, format: &Format, options: &OpenOptions) -> Result<EventReader, TraceError> {
    let reader = |source| EventReader::new(source, format.name, options);
    let is_file = input.is_file();
    let (path, is_packed) = (input.path().clone(), input.is_packed());
    let opened = reader(source_of(input, format, options)?).survey_beginning(options.pairing);
    if options.pairing == PairingRule::Btt || !is_file {
        return Ok(opened);
    }
    let again = |input| source_of(input, format, options).ok();
    let is_whole = |events| {
        let source = Input::open_packed(&path, options.tolerant).ok().and_then(again);
        source.is_some_and(|mut source| stated::holds(&mut *source, events))
    };
    if stated::stated(&path, is_packed).is_some_and(is_whole) {
        return Ok(opened.whole());
    }
    if format.name == BLKTRACE.name {
        return Ok(opened);
    }
    let again = |input| source_of(input, format, options).ok().map(reader);
    let whole = || Input::open_packed(&path, options.tolerant).ok().and_then(again);
    let beginning = opened.beginning();
    let Silent { short, has_new } = if is_packed {
        ends::silent_of_packed(&path, &beginning, whole)
    } else {
        ends::silent(&path, &beginning, again)
    };
    // A processor that begins late had nothing to tell, or has lost it.
    let has_late = |events: &EventReader| !events.source.loss().late_cpus.is_empty();
    let are_missing =
        has_late(&opened) || has_new && whole().is_some_and(|events| has_late(&read_through(events)));
    Ok(opened.ending_early(&short, are_missing, whole))
}

impl EventReader {
    /// The same trace, of which nothing is missing but the queueing of what has none in the trace that it was made of.
    fn whole(self) -> Self {
        let (mut pairing, mut ios) = (Pairing::of_all(), Vec::new());
        let begun = self.ahead.front().and_then(|batch| batch.first()).map(|event| event.time);
        self.ahead.iter().for_each(|batch| pair(&mut pairing, batch, &mut ios));
        let survey = Some(pairing.beginning(begun.unwrap_or_default()).queued_if_known());
        Self { survey, is_balanced: true, ..self }
    }

    /// When each processor told something, as far as the beginning was read.
    fn beginning(&self) -> Ends {
        let mut beginning = Ends::default();
        for event in self.ahead.iter().flatten() {
            beginning.push(event);
        }
        beginning
    }

    /// The same trace, of which these processors tell nothing at the end, and may have lost events there; or they have, if not only there.
    fn ending_early(self, silent: &[u32], are_missing: bool, whole: impl Fn() -> Option<Self>) -> Self {
        if self.is_balanced {
            return self;
        }
        let looked = if silent.is_empty() { None } else { whole().map(|events| find_cut(events, silent)) };
        let Looked { cut, lost_ends, is_lossy } = looked.unwrap_or_default();
        // Much that is known to lack events tells more of itself than little that comes before.
        let cut = cut.filter(|cut| !(are_missing && cut.events >= LONG && cut.behind > cut.events));
        let Some(Cut { cpus: short, events: until_cut, .. }) = cut else {
            // What was taken for a loss on the way may be none by what comes later, as in a set of files of which some end early.
            let whole = if is_lossy || are_missing { whole() } else { None };
            let survey = whole.map(|events| survey(events, true, lost_ends.clone())).or(self.survey);
            let mut short: Vec<u32> = lost_ends.iter().map(|lost| u32::from(lost.cpu)).collect();
            short.dedup();
            return Self { survey: survey.map(|survey| survey.ending_without(lost_ends)), short, ..self };
        };
        // Where events are missing before, too, all of it is looked at for what may be wrong.
        let before = whole().and_then(|events| survey_before(events, until_cut));
        let survey = before.or_else(|| whole().map(|events| survey(events, true, lost_ends.clone())));
        let survey = survey.map(|survey| survey.ending_without(lost_ends));
        Self { survey, short, until_cut, ..self }
    }
}

/// What reads the events of a file.
fn source_of(
    input: Input,
    format: &Format,
    options: &OpenOptions,
) -> Result<Box<dyn EventSource>, TraceError> {
    let tolerant = options.tolerant;
    Ok(match format.name {
        name if name == BLKTRACE.name => Box::new(BlktraceFile::new(input, tolerant)?),
        name if name == FTRACE.name => {
            refuse_cycles(&input)?;
            Box::new(TextEvents::new(input, ftrace::Parser::default(), tolerant))
        }
        name if name == LTTNG.name => Box::new(TextEvents::new(input, lttng::Parser::default(), tolerant)),
        name if name == BLKPARSE.name => match &options.blkparse_format {
            None => Box::new(TextEvents::new(input, blkparse::Parser::default(), tolerant)),
            Some(own) => Box::new(TextEvents::new(input, blkparse_format::Parser::new(own)?, tolerant)),
        },
        other => {
            return Err(TraceError::unusable(
                format!("`{}` is a trace of requests ({other}), not of events", input.path().display()),
                "traces of events: blktrace, blkparse, ftrace, lttng".into(),
            ));
        }
    })
}

/// Any trace as a stream of I/Os, with all it knows of them.
pub struct IoReader {
    format: &'static str,
    kind: Source,
    cut: input::Cut,
}

enum Source {
    Events(Box<EventIos<EventReader>>),
    Ticks(Box<ChosenIos<crate::tick::source::TickIos>>),
    Table(Box<ChosenIos<TableIos>>),
    Completions(Box<ChosenIos<CompletionIos>>),
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

    /// Whether it knows kinds, layers or processes.
    pub fn knows_more_than_requests(&self) -> bool {
        matches!(self.kind, Source::Events(_) | Source::Table(_) | Source::Completions(_))
    }

    /// Whether device numbers are the kernel's, major × 2^20 + minor.
    pub fn kernel_devices(&self) -> bool {
        match &self.kind {
            Source::Events(_) => true,
            Source::Table(ios) => ios.source.kernel_devices(),
            _ => false,
        }
    }

    /// Names of processes by their number, as far as they were read.
    pub fn processes(&self) -> std::collections::BTreeMap<u32, String> {
        match &self.kind {
            Source::Events(ios) => ios.source().processes(),
            Source::Table(ios) => ios.source.processes().clone(),
            Source::Completions(ios) => ios.source.processes(),
            _ => std::collections::BTreeMap::new(),
        }
    }

    /// For a trace of ticks: what matching came to so far.
    pub fn matching(&self) -> Option<&crate::tick::MatchSummary> {
        match &self.kind {
            Source::Ticks(ios) => Some(ios.source.summary()),
            _ => None,
        }
    }
}

impl IoSource for IoReader {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        match &mut self.kind {
            Source::Events(ios) => ios.next_ios(batch),
            Source::Ticks(ios) => ios.next_ios(batch),
            Source::Table(ios) => ios.next_ios(batch),
            Source::Completions(ios) => ios.next_ios(batch),
            Source::Requests(wrapped) => {
                batch.clear();
                wrapped.reader.next_batch(&mut wrapped.batch)?;
                batch.extend(wrapped.batch.iter().copied().map(Io::new));
                Ok(())
            }
        }
    }

    fn notes(&self) -> Notes {
        let mut notes = match &self.kind {
            Source::Events(ios) => ios.notes(),
            Source::Ticks(ios) => ios.notes(),
            Source::Table(ios) => ios.notes(),
            Source::Completions(ios) => ios.notes(),
            Source::Requests(wrapped) => wrapped.reader.notes(),
        };
        self.cut.note(&mut notes);
        notes
    }

    fn sector_bytes(&self) -> u32 {
        match &self.kind {
            Source::Events(ios) => ios.sector_bytes(),
            Source::Ticks(ios) => ios.sector_bytes(),
            Source::Table(ios) => ios.sector_bytes(),
            Source::Completions(ios) => ios.sector_bytes(),
            Source::Requests(wrapped) => wrapped.reader.sector_bytes(),
        }
    }
}

type Lines = fn(Input, &OpenOptions) -> Result<Completions<Box<dyn Parse>>, TraceError>;

/// What reads the lines of a format that names processes; none where they are put into order first.
fn lines_with_processes(format: &str, options: &OpenOptions) -> Option<Lines> {
    let formats: [(_, Lines); 2] =
        [(biosnoop::FORMAT.name, biosnoop::lines), (procmon::FORMAT.name, procmon::lines)];
    let found = formats.into_iter().find(|(name, _)| *name == format);
    found.filter(|_| !options.sort).map(|(_, lines)| lines)
}

/// Opens any trace as a stream of I/Os.
///
/// # Errors
/// As [`crate::open`].
pub fn open_ios(path: &Path, options: &OpenOptions) -> Result<IoReader, TraceError> {
    let options = &expanded(options)?;
    if is_set(path) {
        let events = open_events(path, options)?;
        let kind = Source::Events(Box::new(paired(events, options)));
        return Ok(IoReader { format: BLKTRACE.name, kind, cut: input::Cut::default() });
    }
    let input = Input::open_packed(path, options.tolerant)?;
    let (format, mut cut) = (crate::open::chosen_format(&input, options)?, input.cut());
    options.check(format.name)?;
    let kind = if is_event_trace(format.name) {
        Source::Events(Box::new(paired(events(input, format, options)?, options)))
    } else if let Some(ios) = TableIos::open(path, format.name, options)? {
        let chosen = Chosen::new(&options.filter, Some(headstack_units::Nanos::ZERO));
        Source::Table(Box::new(ChosenIos::new(ios, &options.filter, Some(chosen))))
    } else if let Some(lines) = lines_with_processes(format.name, options) {
        let ios = CompletionIos::new(lines(input, options)?, path.into(), options);
        let chosen = Chosen::new(&options.filter, None);
        Source::Completions(Box::new(ChosenIos::new(ios, &options.filter, Some(chosen))))
    } else if options.filter.pids.is_some() {
        return Err(TraceError::unusable(
            format!(
                "`{}` is a trace of requests ({}), which names no processes",
                path.display(),
                format.name
            ),
            "leave the choice of processes out".into(),
        ));
    } else if format.name.starts_with("tick-") {
        match crate::tick::source::ios(input, options, format.name) {
            Some(ios) => {
                let chosen = Chosen::new(&options.filter, None);
                Source::Ticks(Box::new(ChosenIos::new(ios, &options.filter, Some(chosen))))
            }
            None => return open_ios(path, options),
        }
    } else {
        // It is opened once more, and tells itself.
        cut = input::Cut::default();
        Source::Requests(Box::new(Wrapped { reader: crate::open(path, options)?, batch: Vec::new() }))
    };
    Ok(IoReader { format: format.name, kind, cut })
}

//! Opening a trace: which format it has, and a stream of its requests.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;
use headstack_units::Nanos;

use crate::event;
use crate::filter::{Chosen, Filter};
use crate::format::columns::{BatchDecoder, SECTOR_BYTES_KEY};
use crate::format::preset::{TableWords, expanded};
use crate::format::{self, Decoder, Format, IoDecoder, IologUnit};
use crate::gate::{Gate, LAST_INSTANT, Notes, rebase, too_late};
use crate::input::{Cut, Input};
use crate::source::Delivery;
use crate::text::BATCH;
use crate::tick::SliceTable;
use crate::{Request, RequestSource, TraceError};

/// How to read a trace. The default recognises the format and takes everything as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The format by name (`--format`) instead of recognising it.
    pub format: Option<String>,
    /// Order the requests by arrival (`--sort`), equal ones as they stand. Reads the whole trace into memory: 48 bytes a
    /// request. Without it, the first request that arrives before the one above it is an error.
    pub sort: bool,
    /// Leave out requests that move nothing (`--skip-zero-length`), instead of an error; they are counted.
    pub skip_zero_length: bool,
    /// The sector size in bytes (`--sector-bytes`) where the format does not state one; otherwise 512.
    pub sector_bytes: Option<u32>,
    /// For `disksim-validate`: which request the gap on a line belongs to.
    pub gap: Option<Gap>,
    /// For `csv`: pairs (column name, field), in addition to the columns named like fields.
    pub columns: Vec<(String, String)>,
    /// For `csv`: how its lines are read beside the columns.
    pub words: TableWords,
    /// Let the first arrival be zero, also where the trace counts from its own zero.
    pub rebase: bool,
    /// Leave out records that make no sense, and let those out of order pass, instead of an error; both are counted in
    /// [`TraceReader::notes`]. An absolute clock is then re-based to one hour, not to zero.
    pub tolerant: bool,
    /// For `fio-iolog` of version 3: the unit of its stamps; for `fio-latency`: that of its latencies.
    pub iolog_unit: Option<IologUnit>,
    /// For `blkparse`: the format blkparse was given with `-f`.
    pub blkparse_format: Option<String>,
    /// For traces of events: what is made of halves where events are missing.
    pub pairing: event::PairingRule,
    /// Flushes (requests of no sectors, marked so) and discards come as well, where the trace knows them; they are passed over
    /// otherwise.
    pub commands: bool,
    /// The part of the trace to look at.
    pub filter: Filter,
    /// For tick traces: where the slices lie; blocks become those of the drive, and devices drives.
    pub slices: Option<SliceTable>,
}

/// What the time between requests in a `disksim-validate` trace means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gap {
    /// From the completion of the request on the same line to the issue of the next.
    #[default]
    After,
    /// From the completion of the request before to the issue of the one on the same line.
    Before,
}

impl OpenOptions {
    /// The stated sector size, else `usual`.
    pub(crate) fn sector_bytes_or(&self, usual: u32) -> u32 {
        self.sector_bytes.unwrap_or(usual)
    }

    /// The sector size the trace states, else the one in the options; an error if they differ.
    pub(crate) fn agreed_sector_bytes(
        &self,
        path: &Path,
        stated: Option<u32>,
    ) -> Result<Option<u32>, TraceError> {
        match (stated, self.sector_bytes) {
            (Some(stated), Some(wanted)) if stated != wanted => Err(TraceError::unusable(
                format!("`{}` states sectors of {stated} bytes, not {wanted}", path.display()),
                "leave --sector-bytes out".into(),
            )),
            (stated, wanted) => Ok(stated.or(wanted)),
        }
    }

    /// Options that would have no effect on a trace of this format are errors.
    pub(crate) fn check(&self, format: &str) -> Result<(), TraceError> {
        if self.sector_bytes == Some(0) {
            return Err(TraceError::unusable(
                "a sector size of 0 bytes is impossible".into(),
                "common: 512, 4096".into(),
            ));
        }
        let misplaced = [
            (!self.columns.is_empty() && format != "csv", "--column", "csv"),
            (self.blkparse_format.is_some() && format != "blkparse", "--blkparse-format", "blkparse"),
            (
                self.iolog_unit.is_some() && !["fio-iolog", "fio-latency"].contains(&format),
                "--iolog-unit",
                "fio-iolog",
            ),
            (self.slices.is_some() && !format.starts_with("tick-"), "--slices", "tick-text"),
            (self.gap.is_some() && format != "disksim-validate", "--gap", "disksim-validate"),
        ];
        match misplaced.into_iter().find(|(misplaced, ..)| *misplaced) {
            Some((_, option, of)) => Err(TraceError::unusable(
                format!("{option} is an option of the format {of}, but the trace is {format}"),
                format!("leave {option} out, or say --format {of}"),
            )),
            None => Ok(()),
        }
    }
}

/// Opens the trace at `path`; gzip, zstd and bzip2 unpack by themselves. A folder, or `FOLDER/NAME`, is read as the
/// files `NAME.blktrace.N` of a blktrace run.
///
/// # Errors
/// If the file cannot be read, is empty, is of no known format (or could be of two), or its header makes no sense.
pub fn open(path: &Path, options: &OpenOptions) -> Result<TraceReader, TraceError> {
    let options = &expanded(options)?;
    if event::open::is_set(path) {
        let decoder = event::open::paired(event::open_events(path, options)?, options);
        let decoder = IoDecoder::new(decoder, options.commands);
        let format = event::open::BLKTRACE.name;
        options.check(format)?;
        return Ok(TraceReader::new(path.into(), format, Box::new(decoder), options));
    }
    let input = Input::open_packed(path, options.tolerant)?;
    let format = chosen_format(&input, options)?;
    options.check(format.name)?;
    if options.filter.pids.is_some() && !event::is_event_trace(format.name) {
        return of_processes(path, format.name, options);
    }
    let suspected = suspicion(&input, format);
    let (path, cut) = (input.path().clone(), input.cut());
    let decoder = (format.open)(input, options).map_err(|error| suspect(error, suspected))?;
    Ok(TraceReader { suspected, cut, ..TraceReader::new(path, format.name, decoder, options) })
}

/// The requests of the chosen processes, of a trace that is no trace of events.
fn of_processes(path: &Path, format: &'static str, options: &OpenOptions) -> Result<TraceReader, TraceError> {
    let ios = event::open::open_ios(path, &OpenOptions { sort: false, ..options.clone() })?;
    let decoder = IoDecoder::new(ios, options.commands);
    // The filter is at work already, on the trace's own clock.
    let options = OpenOptions { filter: Filter::default(), ..options.clone() };
    Ok(TraceReader::new(path.into(), format, Box::new(decoder), &options))
}

/// The format the options name, else the one the file looks like.
pub(crate) fn chosen_format(input: &Input, options: &OpenOptions) -> Result<&'static Format, TraceError> {
    match options.format.as_deref() {
        Some("csv") => format::table(input),
        Some(name) => format::named(name),
        None if !options.columns.is_empty() => format::table(input),
        None if options.blkparse_format.is_some() => format::named("blkparse"),
        None => format::detect(input),
    }
}

/// If the file does not look like `chosen` but like exactly one other format, that one.
fn suspicion(input: &Input, chosen: &Format) -> Option<&'static str> {
    match format::likely(input)[..] {
        [other] if other.name != chosen.name => Some(other.name),
        _ => None,
    }
}

/// Adds the suspicion to an error's hint.
fn suspect(mut error: TraceError, suspected: Option<&str>) -> TraceError {
    if let (TraceError::Record { hint, .. } | TraceError::Unusable { hint, .. }, Some(suspected)) =
        (&mut error, suspected)
    {
        let other = format!("the file looks like a trace of format {suspected}: try --format {suspected}");
        *hint = Some(match hint.take() {
            Some(own) => format!("{own}; or {other}"),
            None => other,
        });
    }
    error
}

/// A trace being read: a stream of requests in constant memory (with [`OpenOptions::sort`], all of them in memory).
///
/// Requests before the first error are delivered; then the error; then nothing more.
pub struct TraceReader {
    path: Arc<Path>,
    format: &'static str,
    decoder: Box<dyn Decoder>,
    gate: Gate,
    sort: bool,
    rebase: bool,
    sorted: Option<std::vec::IntoIter<Request>>,
    suspected: Option<&'static str>,
    /// Nothing that makes sense was read so far.
    nothing_yet: bool,
    in_order: bool,
    /// What sorting took off every instant.
    sorted_zero: Nanos,
    delivery: Delivery,
    /// For traces of requests; events are chosen before they are paired.
    chosen: Option<Chosen>,
    cut: Cut,
    /// The first batch, once somebody asked where it lies; empty when it was delivered.
    ahead: Option<Vec<Request>>,
}

impl TraceReader {
    fn new(path: Arc<Path>, format: &'static str, decoder: Box<dyn Decoder>, options: &OpenOptions) -> Self {
        let rebase = options.rebase || decoder.absolute_clock();
        let zero = if decoder.absolute_clock() { None } else { Some(Nanos::ZERO) };
        let chooses = !options.filter.is_open() && !event::is_event_trace(format);
        let chosen = chooses.then(|| Chosen::new(&options.filter, zero));
        let gate = Gate::new(path.clone(), rebase, options.sort, options.skip_zero_length);
        let gate = if options.commands { gate.with_flushes() } else { gate };
        Self {
            gate: if options.tolerant { gate.tolerant() } else { gate },
            path,
            format,
            decoder,
            sort: options.sort,
            rebase,
            sorted: None,
            suspected: None,
            // What does not pair is sound: such formats see for themselves.
            nothing_yet: !event::is_event_trace(format) && !format.starts_with("tick-"),
            in_order: true,
            sorted_zero: Nanos::ZERO,
            delivery: Delivery::default(),
            chosen,
            cut: Cut::default(),
            ahead: None,
        }
    }

    /// A trace out of Arrow record batches, with the same columns, checks and options as a Parquet file; `name` is what
    /// messages call it. The sector size comes from `sector_bytes` in the schema's metadata, else from the options.
    ///
    /// # Errors
    /// If a required column is missing.
    pub fn from_batches(
        name: &str,
        schema: &SchemaRef,
        batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
        options: &OpenOptions,
    ) -> Result<Self, TraceError> {
        options.check("arrow")?;
        let stated = schema.metadata().get(SECTOR_BYTES_KEY).map(String::as_str);
        let decoder = BatchDecoder::new(Path::new(name), schema, stated, batches, options)?;
        Ok(Self::new(Path::new(name).into(), "arrow", Box::new(decoder), options))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The size of the sectors in which the requests' addresses and lengths are counted.
    pub fn sector_bytes(&self) -> u32 {
        self.decoder.sector_bytes()
    }

    /// Records passed over so far: those that are no I/O, and requests of length zero where they are skipped.
    pub fn records_skipped(&self) -> u64 {
        self.decoder.records_skipped() + self.gate.skipped()
    }

    /// Where the first arrival lies on its clock: a tolerant reader leaves room for earlier ones. The first requests are read
    /// ahead for it, if none were.
    ///
    /// # Errors
    /// As the first call of [`RequestSource::next_batch`].
    pub fn lead(&mut self) -> Result<Nanos, TraceError> {
        if self.ahead.is_none() {
            let mut first = Vec::new();
            self.read(&mut first)?;
            self.ahead = Some(first);
        }
        Ok(self.gate.lead())
    }

    /// What was taken off every instant read so far, so that the trace's own clock can be told.
    pub(crate) fn origin(&self) -> Nanos {
        self.gate.zero().max(self.sorted_zero)
    }

    /// What was passed over so far because it made no sense; always clean unless [`OpenOptions::tolerant`].
    pub fn notes(&self) -> Notes {
        let mut notes = self.gate.notes().clone();
        notes.merge(&self.decoder.notes());
        self.cut.note(&mut notes);
        notes
    }

    /// Whether the requests read so far stood in order of arrival in the file; with [`OpenOptions::sort`] they need not.
    pub fn in_order(&self) -> bool {
        self.in_order
    }

    /// The next requests that are to be looked at, in the order of the file.
    fn decode(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        loop {
            self.decode_any(batch)?;
            let Some(chosen) = &mut self.chosen else { return Ok(()) };
            if batch.is_empty() {
                return chosen.verdict();
            }
            batch.retain(|request| chosen.takes_request(request));
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }

    fn decode_any(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        let result = self.decoder.decode(batch, &mut self.gate);
        if !batch.is_empty() {
            self.nothing_yet = false;
            if result.is_ok() {
                self.suspected = None;
            }
        }
        let result = result.and_then(|()| self.something_sound());
        result.map_err(|error| suspect(error, self.suspected.take()))
    }

    /// A tolerant reader leaves out what makes no sense, but not all there is: an error at the end of such a trace.
    fn something_sound(&mut self) -> Result<(), TraceError> {
        if !std::mem::take(&mut self.nothing_yet) || self.records_skipped() > 0 {
            return Ok(());
        }
        self.notes().nothing_sound().map_or(Ok(()), Err)
    }

    /// Reads everything and orders it.
    fn sort_all(&mut self) -> Result<std::vec::IntoIter<Request>, TraceError> {
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        loop {
            batch.clear();
            self.decode(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            all.append(&mut batch);
        }
        self.in_order = all.is_sorted_by_key(|request| request.arrival);
        all.sort_by_key(|request: &Request| request.arrival);
        if self.rebase {
            let zero = all.first().map_or(Nanos::ZERO, |request| request.arrival);
            self.sorted_zero = zero;
            for request in &mut all {
                rebase(request, zero);
            }
        }
        if let Some(late) = all.last().filter(|request| request.arrival > LAST_INSTANT) {
            return Err(TraceError::Unusable {
                problem: format!("{}: {}", self.path.display(), too_late(late).0),
                hint: None,
            });
        }
        Ok(all.into_iter())
    }

    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if !self.sort {
            return self.decode(batch);
        }
        if self.sorted.is_none() {
            self.sorted = Some(self.sort_all()?);
        }
        batch.extend(self.sorted.iter_mut().flatten().take(BATCH));
        Ok(())
    }
}

impl TraceReader {
    fn read(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if !self.delivery.begin(batch)? {
            return Ok(());
        }
        let result = self.fill(batch);
        self.delivery.end(batch, result)
    }
}

impl RequestSource for TraceReader {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if let Some(first) = self.ahead.as_mut().filter(|first| !first.is_empty()) {
            *batch = std::mem::take(first);
            return Ok(());
        }
        self.read(batch)
    }
}

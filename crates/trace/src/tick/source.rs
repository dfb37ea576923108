//! Files of tick records, as text or gathered, and the I/Os that pair up in them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;
use std::sync::Arc;

use headstack_units::Lba;

use super::matching::{DISORDER_TICKS, LONGEST_TICKS, Matcher, Matching, Orphan, Pair};
use super::record::{GATHERED_BYTES, Half, TickRecord};
use super::{SliceTable, TickHistogram, instant, text};
use crate::buffer::Buffer;
use crate::event::open::EVENT_FORMATS;
use crate::format::{Decoder, Format, IoDecoder};
use crate::gate::Place;
use crate::input::{Input, Sample};
use crate::number::Problem;
use crate::text::{BATCH, Lines, trim};
use crate::{Filter, Io, IoSource, Notes, OpenOptions, Request, TraceError};

pub(crate) static TEXT: Format = Format {
    name: "tick-text",
    about: "S|R: (major,0xminor):blocks:R|W:block:tick of a 60 Hz clock, paired (Johnson et al. 1987)",
    sniff: |sample| {
        let mut lines = sample.lines().peekable();
        lines.peek().is_some() && lines.all(|line| text::parse(line).is_ok())
    },
    open: |input, options| Ok(requests(input, options, Encoding::Text)),
};

pub(crate) static GATHERED: Format = Format {
    name: "tick-packed",
    about: "12-byte records gathered from two trace rings, little-endian, paired (Johnson et al. 1987)",
    sniff: sniff_gathered,
    open: |input, options| Ok(requests(input, options, Encoding::Gathered)),
};

/// Whole records, each of a known half and of some size, and both halves among them: nothing marks such a file.
fn sniff_gathered(sample: Sample<'_>) -> bool {
    let (records, rest) = sample.bytes.as_chunks::<GATHERED_BYTES>();
    let sound = |bytes| TickRecord::from_bytes(bytes).is_ok_and(|record| record.blocks > 0);
    let received = records.iter().filter(|bytes| bytes[0] == 1).count();
    (rest.is_empty() || !sample.complete)
        && records.iter().all(sound)
        && (1..records.len()).contains(&received)
}

/// How records are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    Gathered,
}

fn requests(input: Input, options: &OpenOptions, encoding: Encoding) -> Box<dyn Decoder> {
    Box::new(IoDecoder::new(open_ios(input, options, encoding), false))
}

fn open_ios(input: Input, options: &OpenOptions, encoding: Encoding) -> TickIos {
    let records = TickRecords::new(input, encoding, options.tolerant);
    TickIos::new(records, options.slices.clone().unwrap_or_default())
}

/// The I/Os of a file of tick records, if `format` is one of the two.
pub(crate) fn ios(input: Input, options: &OpenOptions, format: &str) -> Option<TickIos> {
    let encoding = [(TEXT.name, Encoding::Text), (GATHERED.name, Encoding::Gathered)];
    let (_, encoding) = encoding.into_iter().find(|(name, _)| *name == format)?;
    Some(open_ios(input, options, encoding))
}

/// The records of a file.
pub struct TickRecords {
    path: Arc<Path>,
    source: Source,
    tolerant: bool,
    /// Of whole pairs: both halves name device and direction.
    filter: Filter,
    notes: Notes,
}

enum Source {
    Text(Lines),
    Gathered(Buffer),
}

impl TickRecords {
    fn new(input: Input, encoding: Encoding, tolerant: bool) -> Self {
        let path = input.path().clone();
        let source = match encoding {
            Encoding::Text => Source::Text(Lines::new(input.into_buffer())),
            Encoding::Gathered => Source::Gathered(input.into_buffer()),
        };
        Self { path, source, tolerant, filter: Filter::default(), notes: Notes::default() }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read or, unless bad records are tolerated, holds one.
    pub fn next_record(&mut self) -> Result<Option<TickRecord>, TraceError> {
        loop {
            let (place, record) = match &mut self.source {
                Source::Text(lines) => match next_line(lines)? {
                    Some((place, record)) => (place, record),
                    None => return Ok(None),
                },
                Source::Gathered(buffer) => match next_gathered(buffer)? {
                    Some((place, record)) => (place, record),
                    None => return Ok(None),
                },
            };
            match record {
                Ok(record) if self.takes(&record) => return Ok(Some(record)),
                Ok(_) => {}
                Err(Problem(problem)) => self.refuse(place, problem)?,
            }
        }
    }

    fn takes(&self, record: &TickRecord) -> bool {
        let Filter { devices, op, .. } = &self.filter;
        (devices.is_empty() || devices.contains(&device_of(record))) && op.is_none_or(|op| op == record.op)
    }

    fn refuse(&mut self, place: Place, problem: String) -> Result<(), TraceError> {
        let error = TraceError::Record {
            path: self.path.to_path_buf(),
            place: place.to_string(),
            problem,
            hint: None,
        };
        if !self.tolerant {
            return Err(error);
        }
        self.notes.bad(&error);
        Ok(())
    }
}

type Placed = Option<(Place, Result<TickRecord, Problem>)>;

fn next_line(lines: &mut Lines) -> Result<Placed, TraceError> {
    while let Some((line, number)) = lines.next()? {
        let line = trim(line);
        if !line.is_empty() && line[0] != b'#' {
            return Ok(Some((Place::Line(number), text::parse(line))));
        }
    }
    Ok(None)
}

fn next_gathered(buffer: &mut Buffer) -> Result<Placed, TraceError> {
    let offset = buffer.offset();
    let place = Place::Byte { offset, record: offset / GATHERED_BYTES as u64 + 1 };
    if buffer.ensure(GATHERED_BYTES)? {
        let record = buffer.take(GATHERED_BYTES).first_chunk().map(TickRecord::from_bytes);
        return Ok(record.map(|record| (place, record)));
    }
    let left = buffer.bytes().len();
    buffer.take(left);
    let cut = Problem(format!("the file ends after {left} of the record's {GATHERED_BYTES} bytes"));
    Ok((left > 0).then_some((place, Err(cut))))
}

/// The I/Os of a stream of tick records, in order of arrival. Times count from the first turn of the clock.
pub struct TickIos {
    records: TickRecords,
    slices: SliceTable,
    matcher: Option<Matcher>,
    /// Pairs before which another may still come, by tick and order of decision.
    held: BinaryHeap<Reverse<(u64, u64)>>,
    pairs: BTreeMap<u64, Pair>,
    summary: MatchSummary,
}

/// What became of the records of a file.
#[derive(Clone, Debug, Default)]
pub struct MatchSummary {
    /// Records read.
    pub records: u64,
    /// Requests with their response.
    pub pairs: u64,
    /// Responses without a request.
    pub orphan_responses: u64,
    /// Requests without a response.
    pub orphan_requests: u64,
    /// The first thousand of both.
    pub orphans: Vec<Orphan>,
    /// The first thousand pairs, in order of the requests' ticks.
    pub first_pairs: Vec<Pair>,
    /// Counts by ticks.
    pub histogram: TickHistogram,
    /// Records stamped before the one above them.
    pub out_of_order: u64,
    /// Pairs whose slice the slice table does not hold.
    pub off_slice: u64,
}

/// How many pairs and orphans are listed.
const LISTED: usize = 1000;

impl TickIos {
    fn new(records: TickRecords, slices: SliceTable) -> Self {
        Self {
            records,
            slices,
            matcher: Some(Matcher::default()),
            held: BinaryHeap::new(),
            pairs: BTreeMap::new(),
            summary: MatchSummary::default(),
        }
    }

    /// What became of the records read so far.
    pub fn summary(&self) -> &MatchSummary {
        &self.summary
    }

    /// Reads records until pairs are certain, at most a few thousand records on.
    fn advance(&mut self) -> Result<(), TraceError> {
        let Self { records, matcher, held, pairs, summary, .. } = self;
        let Some(active) = matcher else { return Ok(()) };
        let mut decide = |matching| match matching {
            Matching::Pair(pair) => {
                summary.pairs += 1;
                summary.histogram.record(pair.ticks);
                held.push(Reverse((pair.tick, summary.pairs)));
                pairs.insert(summary.pairs, pair);
            }
            Matching::Orphan(orphan) => {
                let received = orphan.record.half == Half::Received;
                summary.orphan_responses += u64::from(received);
                summary.orphan_requests += u64::from(!received);
                if summary.orphans.len() < LISTED {
                    summary.orphans.push(orphan);
                }
            }
        };
        for _ in 0..BATCH {
            let Some(record) = records.next_record()? else {
                summary.out_of_order = active.out_of_order();
                if let Some(matcher) = matcher.take() {
                    matcher.finish(&mut decide);
                }
                return Ok(());
            };
            summary.records += 1;
            active.push(record, &mut decide);
        }
        Ok(())
    }

    /// The tick before which every pair has been decided.
    fn certain(&self) -> u64 {
        let latest = self.matcher.as_ref().map(Matcher::latest);
        latest.map_or(u64::MAX, |latest| latest.saturating_sub(DISORDER_TICKS + LONGEST_TICKS))
    }

    fn io(&mut self, pair: &Pair) -> Option<Io> {
        let sent = &pair.sent;
        let Some(block) = self.slices.drive_block(sent) else {
            self.summary.off_slice += 1;
            return None;
        };
        let sliced = !self.slices.slice.is_empty();
        let request = Request {
            finish: instant(pair.tick + pair.ticks),
            device: if sliced { u32::from(self.slices.drive(sent)) } else { device_of(sent) },
            ..Request::new(instant(pair.tick), sent.op, Lba(block), u32::from(sent.blocks))
        };
        Some(Io { raw: self.slices.is_raw(sent), ..Io::new(request) })
    }
}

impl IoSource for TickIos {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        batch.clear();
        loop {
            let certain = self.certain();
            while batch.len() < BATCH {
                let Some(&Reverse((tick, number))) = self.held.peek().filter(|held| held.0.0 < certain)
                else {
                    break;
                };
                self.held.pop();
                let Some(pair) = self.pairs.remove(&number) else { continue };
                debug_assert_eq!(pair.tick, tick);
                if self.summary.first_pairs.len() < LISTED {
                    self.summary.first_pairs.push(pair);
                }
                batch.extend(self.io(&pair));
            }
            if !batch.is_empty() || (self.matcher.is_none() && self.held.is_empty()) {
                return Ok(());
            }
            self.advance()?;
        }
    }

    fn notes(&self) -> Notes {
        self.records.notes.clone()
    }

    fn sector_bytes(&self) -> u32 {
        512
    }
}

/// The device as one number.
fn device_of(record: &TickRecord) -> u32 {
    u32::from(record.major) << 8 | u32::from(record.minor)
}

/// Pairs all records of a file that `options` choose by device and direction.
///
/// # Errors
/// If it cannot be read, is of neither format or, unless `options` tolerate that, holds a record that makes no sense.
pub fn match_file(path: &Path, options: &OpenOptions) -> Result<(MatchSummary, Notes), TraceError> {
    let input = Input::open(path)?;
    let format = match options.format.as_deref() {
        Some(name) => name.to_owned(),
        None => crate::format::detect(&input)?.name.to_owned(),
    };
    let shown = path.display();
    let Some(mut ios) = ios(input, options, &format) else {
        return Err(TraceError::unusable(
            format!("`{shown}` is a {format} trace, of whole requests: there is nothing to pair"),
            format!(
                "formats of events: {}, {}, {}",
                crate::format::names(&EVENT_FORMATS),
                TEXT.name,
                GATHERED.name
            ),
        ));
    };
    if options.filter.from.is_some() || options.filter.to.is_some() {
        return Err(TraceError::unusable(
            "records of ticks are paired by a clock that wraps, and no part of their time is chosen before"
                .into(),
            "leave --from and --to out here; `trace analyze` and `trace convert` choose among the pairs"
                .into(),
        ));
    }
    ios.records.filter = options.filter.clone();
    let mut batch = Vec::new();
    loop {
        ios.next_ios(&mut batch)?;
        if batch.is_empty() {
            return Ok((ios.summary.clone(), ios.notes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_file, read_all, read_text};
    use crate::tick::matching::tests::SAMPLE;
    use headstack_units::{Nanos, Op};

    fn gathered() -> Vec<u8> {
        SAMPLE.lines().flat_map(|line| text::parse(line.as_bytes()).unwrap().to_bytes()).collect()
    }

    #[test]
    fn both_encodings_give_the_same_requests() {
        let from_text = read_text(None, SAMPLE).unwrap();
        let file = bytes_file(&gathered());
        assert_eq!(crate::open(file.path(), &OpenOptions::default()).unwrap().format(), "tick-packed");
        assert_eq!(read_all(file.path(), &OpenOptions::default()).unwrap(), from_text);
        assert_eq!(from_text.len(), 6);
        let first = &from_text[0];
        assert_eq!((first.lba, first.sectors, first.op, first.device), (Lba(1984), 2, Op::Read, 0x2010));
        assert_eq!(first.finish - first.arrival, Nanos(16_666_667));
        assert!(from_text.is_sorted_by_key(|request| request.arrival));
    }

    #[test]
    fn matching_pairs_what_is_chosen() {
        let file = crate::testing::text_file(SAMPLE);
        let of = |filter: Filter| match_file(file.path(), &OpenOptions { filter, ..OpenOptions::default() });
        let count = |filter| of(filter).unwrap().0.pairs;
        assert_eq!(
            [Op::Read, Op::Write].map(|op| count(Filter { op: Some(op), ..Filter::default() })),
            [6, 0]
        );
        assert_eq!(count(Filter { devices: vec![1], ..Filter::default() }), 0);
        let early = Filter { to: Some(Nanos(1)), ..Filter::default() };
        assert!(of(early).unwrap_err().to_string().contains("no part of their time"));
    }

    #[test]
    fn the_summary_lists_pairs_and_orphans() {
        let file = crate::testing::text_file(SAMPLE);
        let (summary, notes) = match_file(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!((summary.records, summary.pairs), (15, 6));
        assert_eq!((summary.orphan_responses, summary.orphan_requests), (3, 0));
        assert_eq!(
            summary.histogram.to_text(),
            "3 responses took 1 ticks.\n2 responses took 2 ticks.\n1 responses took 3 ticks.\n"
        );
        assert!(notes.is_clean());
    }

    #[test]
    fn garbage_is_counted_or_refused() {
        let text = format!("{SAMPLE}\nS: nonsense\nR: (32,0x6):2:Q:1:2\n");
        let file = crate::testing::text_file(&text);
        let strict = OpenOptions { format: Some("tick-text".into()), ..OpenOptions::default() };
        assert!(match_file(file.path(), &strict).unwrap_err().to_string().contains("line 16"));
        let tolerant = OpenOptions { tolerant: true, ..strict };
        let (summary, notes) = match_file(file.path(), &tolerant).unwrap();
        assert_eq!((summary.pairs, notes.bad_records, notes.first.len()), (6, 2, 2));
        let mut cut = gathered();
        cut.truncate(cut.len() - 5);
        let options = OpenOptions { format: Some("tick-packed".into()), ..tolerant };
        let (summary, notes) = match_file(bytes_file(&cut).path(), &options).unwrap();
        assert_eq!((summary.records, summary.pairs, notes.bad_records), (14, 5, 1));
        assert!(notes.first[0].contains("ends after 7 of the record's 12 bytes"), "{}", notes.first[0]);
    }

    #[test]
    fn a_trace_of_requests_is_refused_with_the_formats_of_events() {
        let error = match_file(
            bytes_file(b"1,0,8,R\n").path(),
            &OpenOptions { format: Some("csv".into()), ..OpenOptions::default() },
        );
        let error = error.unwrap_err();
        let said = format!("{error} {}", error.hint().unwrap_or_default());
        for part in
            ["csv trace, of whole requests", "blktrace, blkparse, ftrace, lttng, tick-text, tick-packed"]
        {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn half_a_million_records_pair_in_order() {
        let mut bytes = Vec::new();
        for number in 0..250_000_u64 {
            let tick = number * 3;
            let record = TickRecord {
                half: Half::Sent,
                major: 32,
                minor: (number % 4) as u8,
                blocks: 2,
                op: Op::Read,
                block: (number * 7919 % 1_000_003) as u32,
                tick: tick as u16,
            };
            bytes.extend(record.to_bytes());
            let tick = (tick + number % 5) as u16;
            bytes.extend(TickRecord { half: Half::Received, tick, ..record }.to_bytes());
        }
        let file = bytes_file(&bytes);
        let (summary, _) = match_file(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!((summary.pairs, summary.orphans.len()), (250_000, 0));
        assert_eq!(
            summary.histogram.counts().collect::<Vec<_>>(),
            (0..5).map(|t| (t, 50_000)).collect::<Vec<_>>()
        );
        let requests = read_all(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!((requests.len(), requests.is_sorted_by_key(|request| request.arrival)), (250_000, true));
    }
}

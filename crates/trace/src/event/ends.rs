//! Whether a processor stopped telling long before a trace of events ends: its last events are looked at before the first are given out.
//!
//! Running numbers tell of events that are missing between others, and of none behind the last one. In text there is no file for
//! each processor that would be seen to end early; and of files that all end within a second, too, one may have lost its last events.

use std::collections::BTreeMap;
use std::path::Path;

use headstack_units::Nanos;

use super::blktrace::End;
use super::{Event, EventSource};
use crate::input::Input;

/// A processor that tells nothing before the end for so many times as long as ever before has perhaps lost events.
const GAPS: u64 = 2;

/// One that told of fewer is not missed; of fewer still in text so short that it costs nothing to look at all of it for other signs of
/// a loss.
const KNOWN: u64 = 32;
const KNOWN_IN_SHORT: u64 = 8;

/// Files that hold no more events at their beginning hold none besides that cost much to look at.
const FEW: u64 = 1000;

/// So many bytes of the end are looked at first, and at most.
const FIRST_BYTES: u64 = 1 << 16;
const MOST_BYTES: u64 = 1 << 22;

/// What is packed must be read from its beginning: of more bytes the end is not looked at.
const MOST_PACKED_BYTES: u64 = 1 << 22;

#[derive(Clone, Copy, Debug)]
struct Told {
    count: u64,
    first: Nanos,
    last: Nanos,
    longest_gap: Nanos,
}

/// When each processor told something, in a part of a trace.
#[derive(Debug, Default)]
pub(super) struct Ends {
    span: Option<(Nanos, Nanos)>,
    cpus: BTreeMap<u16, Told>,
}

impl Ends {
    pub(super) fn push(&mut self, event: &Event) {
        let now = event.time;
        let (first, last) = self.span.unwrap_or((now, now));
        self.span = Some((first.min(now), last.max(now)));
        let new = Told { count: 0, first: now, last: now, longest_gap: Nanos::ZERO };
        let told = self.cpus.entry(event.cpu).or_insert(new);
        told.count += 1;
        told.longest_gap = told.longest_gap.max(now.saturating_sub(told.last));
        told.last = told.last.max(now);
    }

    /// How long one of which this was told at the beginning tells nothing at the end, of which this part is, and how long it told
    /// nothing before.
    fn silence(&self, cpu: u16, beginning: &Told) -> (Nanos, Nanos) {
        let (from, end) = self.span.unwrap_or_default();
        let Some(told) = self.cpus.get(&cpu) else {
            return (end.saturating_sub(from), beginning.longest_gap);
        };
        let gap = told.longest_gap.max(told.first.saturating_sub(from)).max(beginning.longest_gap);
        (end.saturating_sub(told.last), gap)
    }

    /// Those of the beginning that have perhaps lost what they told at the end.
    fn short(&self, beginning: &Self, known: u64) -> Vec<u32> {
        let is_short = |(cpu, told): &(&u16, &Told)| {
            let (silent, gap) = self.silence(**cpu, told);
            told.count >= known && silent > Nanos(gap.0.saturating_mul(GAPS))
        };
        beginning.cpus.iter().filter(is_short).map(|(cpu, _)| u32::from(*cpu)).collect()
    }

    /// Of how many events of a processor it is missed.
    fn known(&self) -> u64 {
        let count: u64 = self.cpus.values().map(|told| told.count).sum();
        if count <= FEW { KNOWN_IN_SHORT } else { KNOWN }
    }

    /// Whether all of the beginning tell something here.
    fn has_all(&self, beginning: &Self) -> bool {
        beginning.cpus.keys().all(|cpu| self.cpus.contains_key(cpu))
    }
}

/// Who tells nothing at the end or, perhaps, at the beginning of a text.
#[derive(Debug, Default)]
pub(super) struct Silent {
    /// Processors that have perhaps lost their end.
    pub(super) short: Vec<u32>,
    /// Whether one tells something at the end of which the beginning does not know.
    pub(super) has_new: bool,
}

impl Silent {
    fn of(end: &Ends, beginning: &Ends, known: u64) -> Self {
        Self { short: end.short(beginning, known), has_new: !beginning.has_all(end) }
    }
}

/// Who is silent in the text at `path`, which begins like this; `open` reads some of its lines.
pub(super) fn silent<S: EventSource>(
    path: &Path,
    beginning: &Ends,
    open: impl Fn(Input) -> Option<S>,
) -> Silent {
    let mut bytes = FIRST_BYTES;
    loop {
        let Some((input, whole)) = Input::end_of(path, bytes) else { return Silent::default() };
        let Some(source) = open(input) else { return Silent::default() };
        let end = ends_of(source);
        let known = if whole && bytes == FIRST_BYTES { KNOWN_IN_SHORT } else { KNOWN };
        let silent = Silent::of(&end, beginning, known);
        if !silent.short.is_empty() || whole || bytes >= MOST_BYTES || end.has_all(beginning) {
            return silent;
        }
        bytes *= 8;
    }
}

/// The same of text that is packed.
pub(super) fn silent_of_packed<S: EventSource>(
    path: &Path,
    beginning: &Ends,
    whole: impl Fn() -> Option<S>,
) -> Silent {
    let is_small = std::fs::metadata(path).is_ok_and(|about| about.len() <= MOST_PACKED_BYTES);
    let Some(source) = is_small.then(whole).flatten() else { return Silent::default() };
    let all = ends_of(source);
    Silent::of(&all, beginning, all.known())
}

fn ends_of(mut source: impl EventSource) -> Ends {
    let (mut ends, mut batch) = (Ends::default(), Vec::new());
    while source.next_events(&mut batch).is_ok() && !batch.is_empty() {
        for event in &batch {
            ends.push(event);
        }
    }
    ends
}

/// The same of a run that begins like this, of which the file of each processor has such an end.
pub(super) fn short_files(beginning: &Ends, files: &[(u32, End)]) -> Vec<u32> {
    let end = files.iter().map(|(_, last)| last.time).max().unwrap_or_default();
    let is_short = |(cpu, last): &&(u32, End)| {
        let told = u16::try_from(*cpu).ok().and_then(|cpu| beginning.cpus.get(&cpu));
        told.is_some_and(|told| {
            let gap = told.longest_gap.max(last.longest_gap);
            let silent = end.saturating_sub(last.time);
            told.count >= beginning.known() && silent > Nanos(gap.0.saturating_mul(GAPS))
        })
    };
    files.iter().filter(is_short).map(|(cpu, _)| *cpu).collect()
}

//! How long a drive rests before it brings to the media what its write cache holds: where it has begun by the end of a pause, a flush
//! behind that is done earlier than behind as many writes and no pause.

use crate::angles::median::{median, spread};
use crate::reading::stalls::Estimate;
use crate::record::series::write_cache::DRAINED;
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// The pauses that are tried one after the other, in ms, behind how many writes, and how often: these take some longer to reach the media
/// than the pause is.
pub(crate) const PAUSES: [Pause; 2] =
    [Pause { ms: 20.0, writes: 4, rounds: 32 }, Pause { ms: 100.0, writes: 20, rounds: 8 }];
/// A drive that does nothing for this share of a pause may do nothing for longer.
const ALL_OF_IT: f64 = 0.75;
/// Rests that are longer than none by fewer standard errors are none.
const SHOWS: f64 = 3.0;
/// Nor are those shorter than this, in ms: some rounds may have been done before the pause was over.
const LEAST_MS: f64 = 5.0;
/// A flush that takes less than this share of one without a pause had nothing left to do; of rounds no more than one in so many may be such.
const DRAINED_BELOW: f64 = 0.25;
const MOST_DRAINED: usize = 8;
/// Nothing is told where a flush without a pause takes hardly longer than the pause, in ms: a flush of nothing may take a turn, too, and
/// then some rounds were done before the pause was over.
const LONGER_MS: f64 = 12.0;
/// The standard error of a median, in those of a mean.
const OF_MEDIAN: f64 = 1.2533;

/// A pause between writes and a flush.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) ms: f64,
    pub(crate) writes: u64,
    pub(crate) rounds: u32,
}

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Idle {
    /// So long, in ms.
    Rests(Estimate),
    /// Longer than this, in ms.
    Longer(f64),
}

/// What the pauses that were tried show: the longest, unless it shows that a shorter one was long enough, which tells more exactly.
pub(crate) fn idle(record: &Record) -> Option<Idle> {
    let (mut found, mut before) = (by_pause(record, 0)?, PAUSES[0].ms);
    for (place, pause) in PAUSES.iter().enumerate().skip(1) {
        match by_pause(record, place) {
            Some(Idle::Rests(rests)) if rests.value < before => {
                return rested(record, place - 1).map(Idle::Rests);
            }
            Some(longer) => found = longer,
            None => break,
        }
        before = pause.ms;
    }
    Some(found)
}

/// What one of the pauses shows; `None` where it was not tried.
pub(crate) fn by_pause(record: &Record, place: usize) -> Option<Idle> {
    let rested = rested(record, place)?;
    let all_of_it = rested.value > ALL_OF_IT * PAUSES[place].ms;
    Some(if all_of_it { Idle::Longer(rested.value) } else { Idle::Rests(rested) })
}

/// By how much later a flush is done behind one of the pauses: as long as the drive rests within it, in ms.
fn rested(record: &Record, place: usize) -> Option<Estimate> {
    let all = rounds(record, DRAINED + place as u32);
    let (without, with) = (all.get(&0)?, all.get(&(PAUSES[place].ms as i64))?);
    // Where all had reached the media before the pause was over, the flush waits for the pause, and not for the drive.
    let flush_ms = |rounds: &[Round]| rounds.iter().map(|round| round.flush).collect::<Vec<f64>>();
    let drains_ms = median(&flush_ms(without));
    let least_ms = DRAINED_BELOW * drains_ms;
    let drained = flush_ms(with).iter().filter(|&&ms| ms < least_ms).count();
    if drains_ms < PAUSES[place].ms + LONGER_MS || MOST_DRAINED * drained > with.len() {
        return None;
    }
    // The same sectors were written in both.
    let later: Vec<f64> = with.iter().zip(without).map(|(with, without)| with.all - without.all).collect();
    let later_ms = median(&later);
    let error_ms = OF_MEDIAN * spread(&later) / (later.len() as f64).sqrt();
    let writing_ms: Vec<f64> = without.iter().map(|round| round.writing).collect();
    // Writes that come after the rest is over are behind it, too.
    let value = if later_ms > LEAST_MS.max(SHOWS * error_ms) { later_ms + median(&writing_ms) } else { 0.0 };
    Some(Estimate { value, ci95: 2.0 * error_ms })
}

/// Some writes, a pause and a flush, in ms.
struct Round {
    /// From the first write to the end of the flush.
    all: f64,
    /// From the first write to the end of the last.
    writing: f64,
    /// The flush.
    flush: f64,
}

/// The rounds of a series by their pause, in ms.
fn rounds(record: &Record, series: u32) -> BTreeMap<i64, Vec<Round>> {
    let mut all: BTreeMap<i64, Vec<Round>> = BTreeMap::new();
    let (mut first, mut last): (Option<&Sample>, Option<&Sample>) = (None, None);
    for sample in record.of(ProbeName::WriteCache).filter(|sample| sample.series == series) {
        if sample.sectors > 0 && sample.role == Role::Measure {
            first = first.or(Some(sample));
            last = Some(sample);
        } else if let (0, Some(first), Some(last)) = (sample.sectors, first.take(), last) {
            all.entry(sample.step).or_default().push(Round {
                all: (sample.end - first.start).as_ms(),
                writing: (last.end - first.start).as_ms(),
                flush: sample.latency_ms(),
            });
        }
    }
    all
}

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
    [Pause { ms: 20.0, writes: 4, rounds: 24 }, Pause { ms: 100.0, writes: 20, rounds: 8 }];
/// A drive that does nothing for this share of a pause may do nothing for longer.
const ALL_OF_IT: f64 = 0.75;
/// Rests that are longer than none by fewer standard errors are none.
const SHOWS: f64 = 2.0;
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

/// What the longest of the pauses that were tried shows.
pub(crate) fn idle(record: &Record) -> Option<Idle> {
    (0..PAUSES.len()).rev().find_map(|place| by_pause(record, place))
}

/// What one of the pauses shows; `None` where it was not tried.
pub(crate) fn by_pause(record: &Record, place: usize) -> Option<Idle> {
    let all = rounds(record, DRAINED + place as u32);
    let (&none, &pause) = (all.keys().next()?, all.keys().next_back().filter(|_| all.len() > 1)?);
    let of = |step: i64, value: fn(&Round) -> f64| -> Vec<f64> { all[&step].iter().map(value).collect() };
    let [without, with] = [none, pause].map(|step| of(step, |round| round.all_ms));
    // The same sectors were written in both.
    let later: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    let later_ms = median(&later);
    let error_ms = OF_MEDIAN * spread(&later) / (later.len() as f64).sqrt();
    if later_ms > ALL_OF_IT * pause as f64 {
        return Some(Idle::Longer(later_ms));
    }
    let shows = later_ms > SHOWS * error_ms;
    // Writes that come after the rest is over are behind it, too.
    let value = if shows { later_ms + median(&of(none, |round| round.writing_ms)) } else { 0.0 };
    Some(Idle::Rests(Estimate { value, ci95: 2.0 * error_ms }))
}

/// Some writes, a pause and a flush.
struct Round {
    /// From the first write to the end of the flush, in ms.
    all_ms: f64,
    /// From the first write to the end of the last, in ms.
    writing_ms: f64,
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
                all_ms: (sample.end - first.start).as_ms(),
                writing_ms: (last.end - first.start).as_ms(),
            });
        }
    }
    all
}

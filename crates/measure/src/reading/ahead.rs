//! How far ahead the drive reads, and whether it had the time to read farther.

use super::hits::of;
use crate::memory::HitTimes;
use crate::record::series::cache::PACE;
use crate::record::{ProbeName, Record, Role, Sample};

/// Where the segment ends, the share of hits falls from at least this …
const BEFORE_EDGE: f64 = 0.8;
/// … to less than this from one distance to the next: what ends with a track or a cylinder becomes rarer bit by bit.
const BEHIND_EDGE: f64 = 0.2;
/// What a distance must mostly hit to be told.
const MOSTLY: f64 = 0.5;

/// What a sector takes at the end of the device, block after block, in ms; `None` where the record does not show it.
pub(crate) fn pace_ms(record: &Record) -> Option<f64> {
    let blocks: Vec<&Sample> = of(record, PACE).filter(|sample| sample.ok).collect();
    // The first one pays for the way there.
    let (first, rest) = blocks.split_first()?;
    let sectors: u64 = rest.iter().map(|sample| u64::from(sample.sectors)).sum();
    let last = rest.last()?;
    Some((last.end - first.end).as_ms() / sectors as f64)
}

/// Reads so far behind another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ahead {
    /// How far, in sectors.
    pub(crate) sectors: u64,
    /// The share of them that the cache answered.
    pub(crate) share: f64,
    /// The shortest time that the drive was left to read on, in ms.
    pub(crate) pause_ms: f64,
}

impl Ahead {
    /// At one distance of a series.
    pub(crate) fn of(record: &Record, (series, sectors): (u32, u64), times: &HitTimes) -> Self {
        let own = |sample: &&Sample| sample.series == series && sample.step == sectors as i64;
        let (mut all, mut hits, mut pause_ms) = (0, 0, f64::INFINITY);
        let mut before: Option<&Sample> = None;
        for sample in record.of(ProbeName::Cache).filter(own) {
            if sample.role == Role::Measure {
                all += 1;
                hits += u32::from(times.contain(sample.latency_ms()));
                let pause = before.map_or(0.0, |before| sample.start.saturating_sub(before.end).as_ms());
                pause_ms = pause_ms.min(pause);
            }
            before = Some(sample);
        }
        Self { sectors, share: f64::from(hits) / f64::from(all.max(1)), pause_ms }
    }
}

/// How far behind a read the cache answers: at least, and, where that ends because the segment is full, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) at_least: u64,
    pub(crate) at_most: Option<u64>,
}

/// By the share of hits at each distance. Nothing bounds it from above where the drive did not have the time to read so far: of slow
/// drives that showed how far they come in a few revolutions, and not what a segment holds.
pub(crate) fn reach(at: &[Ahead], pace_ms: Option<f64>) -> Option<Reach> {
    let last = at.iter().rposition(|at| at.share >= MOSTLY)?;
    let at_most = at.get(last + 1).filter(|next| {
        let had_time = pace_ms.is_some_and(|each| next.pause_ms >= each * next.sectors as f64);
        had_time && at[last].share >= BEFORE_EDGE && next.share < BEHIND_EDGE
    });
    Some(Reach { at_least: at[last].sectors, at_most: at_most.map(|next| next.sectors) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(all: &[(u64, f64, f64)]) -> Vec<Ahead> {
        all.iter().map(|&(sectors, share, pause_ms)| Ahead { sectors, share, pause_ms }).collect()
    }

    #[test]
    fn a_segment_ends_where_hits_do_if_there_was_time_for_more() {
        let seen = at(&[(100, 1.0, 50.0), (150, 1.0, 50.0), (225, 0.0, 50.0)]);
        let at_least = 150;
        assert_eq!(reach(&seen, Some(0.2)), Some(Reach { at_least, at_most: Some(225) }));
        assert_eq!(reach(&seen, Some(0.3)), Some(Reach { at_least, at_most: None }));
        assert_eq!(reach(&seen, None), Some(Reach { at_least, at_most: None }));
        // What ends with a cylinder.
        let seen = at(&[(100, 0.8, 50.0), (150, 0.6, 50.0), (225, 0.1, 50.0)]);
        assert_eq!(reach(&seen, Some(0.2)), Some(Reach { at_least, at_most: None }));
        assert_eq!(reach(&at(&[(1, 0.0, 50.0)]), Some(0.2)), None);
    }
}

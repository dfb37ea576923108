//! What a segment holds: of a read that fills it, the first sectors are gone.

use crate::memory::HitTimes;
use crate::reading::hits::of;
use crate::record::Record;
use crate::record::series::cache::{WHOLE, WHOLE_END};

/// So many larger reads in a row of which the first sectors are gone show that it is not chance.
pub(crate) const GONE: usize = 4;
/// Of reads so large, the cache holds the last sectors at least so often: otherwise it does not keep them at all, whatever a segment
/// holds.
const KEPT: usize = 2;

/// The sectors that a segment holds, at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) at_least: Option<u64>,
    pub(crate) at_most: Option<u64>,
}

/// How many reads of a series in a row the cache did not answer, up to the last one.
pub(crate) fn gone(record: &Record, times: &HitTimes) -> usize {
    let all: Vec<bool> = of(record, WHOLE).map(|sample| times.contain(sample.latency_ms())).collect();
    all.iter().rev().take_while(|held| !**held).count()
}

/// By the probe `cache`: at the end of the device, so that nothing that is read ahead takes the place of what was asked for.
pub(crate) fn segment(record: &Record, times: &HitTimes) -> Segment {
    let all: Vec<(u64, bool)> =
        of(record, WHOLE).map(|sample| (sample.step as u64, times.contain(sample.latency_ms()))).collect();
    // One alone may take as long as a hit by chance.
    let sure = (0..all.len()).rev().find(|&place| all[place].1 && (place == 0 || all[place - 1].1));
    let last = all.iter().rposition(|read| read.1);
    let kept = of(record, WHOLE_END).filter(|sample| times.contain(sample.latency_ms())).count();
    let larger = &all[last.map_or(0, |last| last + 1)..];
    let ends = last.is_some() && larger.len() >= GONE && kept >= KEPT;
    Segment {
        at_least: sure.map(|last| all[last].0),
        // The first of them may have been seen late by chance.
        at_most: larger.get(1).filter(|_| ends).map(|read| read.0 - 1),
    }
}

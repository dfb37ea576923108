//! Which reads the cache answered, and how long it keeps what was read.

use crate::angles::median::{median, spread};
use crate::memory::{HitTimes, Keeps};
use crate::record::series::cache::{
    AGAIN, AGAIN_AFTER_WRITE, AHEAD, AHEAD_SEQUENTIAL, BEFORE, NEXT, SEGMENTS,
};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// By how much hits differ at most, in ms, however long they take: a revolution of any drive is several times as long.
const MOST_JITTER_MS: f64 = 0.5;

/// The reads that a series of the probe `cache` is about.
pub(crate) fn of(record: &Record, series: u32) -> impl Iterator<Item = &Sample> {
    record.of(ProbeName::Cache).filter(move |s| s.series == series && s.role == Role::Measure)
}

/// Latencies of hits: reads of a sector just read take always the same, whatever the rotation, unless they miss.
pub(crate) fn hits(record: &Record, series: u32) -> Vec<f64> {
    let mut all: Vec<f64> = of(record, series).map(Sample::latency_ms).collect();
    all.sort_unstable_by(f64::total_cmp);
    let count = all.len();
    if count < 8 {
        return Vec::new();
    }
    // A constant in the lower half: misses are spread over a turn.
    let (low, middle) = (all[count / 10], all[count / 2]);
    if middle - low > (0.25 * low).min(MOST_JITTER_MS) + 0.05 {
        return rare_hits(all, low);
    }
    all.retain(|&latency| latency < middle * 1.25 + 0.02);
    all
}

/// Where fewer than half are hits, as in a cache that what is read ahead soon runs over: those of the shortest that hardly
/// differ. Misses differ by the angle that they began at.
fn rare_hits(mut all: Vec<f64>, low: f64) -> Vec<f64> {
    let least = (all.len() / 4).max(8);
    all.retain(|&latency| latency < low * 1.1 + 0.02);
    let constant = spread(&all) < 0.015 * median(&all) + 0.005;
    if constant && all.len() >= least { all } else { Vec::new() }
}

/// What reads take that the cache answers, by the probe `cache`.
pub(crate) fn hit_times(record: &Record) -> HitTimes {
    let range = |&series: &u32| {
        let all = hits(record, series);
        let middle = median(&all);
        let width = (4.0 * spread(&all)).max(0.002 * middle);
        (!all.is_empty()).then_some((middle - width, middle + width))
    };
    HitTimes::new([AGAIN, AGAIN_AFTER_WRITE, NEXT].iter().filter_map(range).collect())
}

/// Shares of hits by `step`.
pub(crate) fn shares(record: &Record, series: u32, times: &HitTimes) -> Vec<(u64, f64)> {
    let mut counts: BTreeMap<i64, (u32, u32)> = BTreeMap::new();
    for sample in of(record, series) {
        let count = counts.entry(sample.step).or_default();
        count.0 += 1;
        count.1 += u32::from(times.contain(sample.latency_ms()));
    }
    counts.into_iter().map(|(step, (all, hit))| (step as u64, f64::from(hit) / f64::from(all))).collect()
}

/// How long the cache keeps what was read, and how much comes with a read: rather too much than too little.
pub(crate) fn keeps(record: &Record) -> Keeps {
    let times = hit_times(record);
    if times.is_empty() {
        return Keeps::default();
    }
    let reaches = |series: u32| {
        let shares = shares(record, series, &times);
        let last = shares.iter().rposition(|share| share.1 > 0.15);
        last.map_or(0, |last| shares.get(last + 1).map_or(2 * shares[last].0, |next| next.0))
    };
    let segments = shares(record, SEGMENTS, &times);
    let last = segments.iter().rposition(|share| share.1 > 0.5);
    let others =
        last.map_or(1, |last| segments.get(last + 1).map_or(2 * segments[last].0, |next| next.0 - 1));
    let whole = of(record, BEFORE).filter(|sample| times.contain(sample.latency_ms())).count() > 3;
    let ahead = reaches(AHEAD);
    let track = ahead.max(64 * record.head.device.unit());
    Keeps {
        others,
        ahead,
        ahead_sequential: ahead.max(reaches(AHEAD_SEQUENTIAL)),
        before: if whole { track } else { 0 },
    }
}

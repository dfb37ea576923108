//! How much of one write an empty write cache takes: what it holds.

use crate::angles::median::{median, spread};
use crate::record::series::write_cache::{SIZES, WHOLE};
use crate::record::{ProbeName, Record, Role};
use std::collections::BTreeMap;

/// A write is one that the cache takes if it takes no longer than those of other sizes foretell, by more than this, in ms, and so
/// many times what these scatter.
const LONGER_MS: f64 = 0.3;
const TIMES_SPREAD: f64 = 4.0;

/// What writes of a series took, in ms, by their sectors.
fn by_size(record: &Record, series: u32) -> BTreeMap<u64, Vec<f64>> {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let of_series = |sample: &&crate::record::Sample| {
        sample.series == series && sample.role == Role::Measure && sample.ok
    };
    for sample in record.of(ProbeName::WriteCache).filter(of_series) {
        all.entry(u64::from(sample.sectors)).or_default().push(sample.latency_ms());
    }
    all
}

/// What a write takes that the cache takes at once, by writes of several sizes into an empty one.
pub(crate) struct Foretold {
    /// The fewest sectors of a write, and what that took, in ms.
    few: f64,
    few_ms: f64,
    /// Each sector more, in ms.
    each_ms: f64,
    /// By which share they scatter.
    scatter: f64,
}

impl Foretold {
    /// `None` where none were written.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let all = by_size(record, SIZES);
        let sizes: Vec<(f64, f64)> =
            all.iter().map(|(&sectors, latencies)| (sectors as f64, median(latencies))).collect();
        let scatter = all.values().map(|latencies| spread(latencies) / median(latencies)).fold(0.0, f64::max);
        let (&(few, few_ms), &(many, slow_ms)) = (sizes.first()?, sizes.last()?);
        let each_ms = if many > few { (slow_ms - few_ms) / (many - few) } else { 0.0 };
        Some(Self { few, few_ms, each_ms, scatter })
    }

    pub(crate) fn ms(&self, sectors: u64) -> f64 {
        self.few_ms + self.each_ms * (sectors as f64 - self.few)
    }
}

/// Of each size that was tried, in sectors, whether the empty cache took all of it: most writes of it were quick.
pub(crate) fn takes(record: &Record) -> BTreeMap<u64, bool> {
    taken(record).into_iter().map(|(sectors, share)| (sectors, share > 0.5)).collect()
}

/// Of each size that was tried, in sectors, the share of writes that were as quick as smaller ones foretell, of which the bus takes its
/// time.
pub(crate) fn taken(record: &Record) -> BTreeMap<u64, f64> {
    let Some(foretold) = Foretold::of(record) else { return BTreeMap::new() };
    let judge = |(sectors, latencies): (u64, Vec<f64>)| {
        let ms = foretold.ms(sectors);
        let most = ms + LONGER_MS + TIMES_SPREAD * foretold.scatter * ms;
        let quick = latencies.iter().filter(|&&ms| ms < most).count();
        (sectors, quick as f64 / latencies.len() as f64)
    };
    by_size(record, WHOLE).into_iter().map(judge).collect()
}

/// The sectors that the cache holds: a write of so many it takes, and none of a unit more.
pub(crate) fn held(record: &Record) -> Option<u64> {
    let takes = takes(record);
    let (&sectors, _) = takes.iter().rfind(|(_, taken)| **taken)?;
    let next = takes.range(sectors + 1..).next()?;
    (*next.0 == sectors + record.head.device.unit()).then_some(sectors)
}

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

/// Of each size that was tried, in sectors, whether the empty cache took all of it: most writes of it were as quick as smaller ones
/// foretell, of which the bus takes its time.
pub(crate) fn takes(record: &Record) -> BTreeMap<u64, bool> {
    let all = by_size(record, SIZES);
    let sizes: Vec<(f64, f64)> =
        all.iter().map(|(&sectors, latencies)| (sectors as f64, median(latencies))).collect();
    let scatter = all.values().map(|latencies| spread(latencies) / median(latencies)).fold(0.0, f64::max);
    let (Some(&(few, quick)), Some(&(many, slow))) = (sizes.first(), sizes.last()) else {
        return BTreeMap::new();
    };
    let each = if many > few { (slow - quick) / (many - few) } else { 0.0 };
    let judge = |(sectors, latencies): (u64, Vec<f64>)| {
        let foretold = quick + each * (sectors as f64 - few);
        let most = foretold + LONGER_MS + TIMES_SPREAD * scatter * foretold;
        let quick = latencies.iter().filter(|&&ms| ms < most).count();
        (sectors, 2 * quick > latencies.len())
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

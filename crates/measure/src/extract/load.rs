//! The profile under load.

use crate::device::Mode;
use crate::record::{ProbeName, Record, Role, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

/// Random accesses of one kind at one depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// "read" or "write".
    pub mode: &'static str,
    /// Accesses outstanding at a time.
    pub depth: u32,
    /// Mean latency, in ms.
    pub mean_ms: f64,
    /// Accesses per second.
    pub iops: f64,
    /// Accesses measured.
    pub accesses: u64,
}

/// From the probe `random`.
pub(crate) fn load(record: &Record) -> Vec<LoadPoint> {
    let mut groups: BTreeMap<(Mode, u32), Vec<&Sample>> = BTreeMap::new();
    for sample in record.of(ProbeName::Random).filter(|sample| sample.role == Role::Measure) {
        groups.entry((sample.mode, sample.depth)).or_default().push(sample);
    }
    let point = |((mode, depth), samples): ((Mode, u32), Vec<&Sample>)| {
        let count = samples.len() as f64;
        // Chunks are measured one behind the other, with nothing outstanding between.
        let first = samples.iter().map(|sample| sample.start).min()?;
        let last = samples.iter().map(|sample| sample.end).max()?;
        Some(LoadPoint {
            mode: mode.as_str(),
            depth,
            mean_ms: samples.iter().map(|sample| sample.latency_ms()).sum::<f64>() / count,
            iops: count / last.saturating_sub(first).as_s().max(1e-9),
            accesses: samples.len() as u64,
        })
    };
    groups.into_iter().filter_map(point).collect()
}

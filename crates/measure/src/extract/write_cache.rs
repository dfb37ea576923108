//! What filling a write cache says about it.

use super::bus;
use crate::angles::spindle::Spindle;
use crate::reading::idle::{self, Idle};
use crate::reading::{fill, whole};
use crate::record::Record;
use crate::record::series::write_cache::{LARGE, SMALL, TWO_PLACES};
use serde::Serialize;

/// What is known of the write cache, where writes are complete before they are on the media.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WriteCacheFindings {
    /// "write-back" where it holds many writes; "immediate-reporting" where random writes wait for the media all the same.
    pub policy: &'static str,
    /// A write that the cache takes at once, in ms.
    pub quick_ms: Option<f64>,
    /// A write of no sectors that the cache takes at once, in ms: what its data take on the bus is left out.
    pub overhead_ms: Option<f64>,
    /// With immediate reporting, the same behind a write, where that differs from behind a read.
    pub behind_write_ms: Option<f64>,
    /// Host to drive, in 10⁶ bytes per second; absent where no writes of several sizes showed it.
    pub bus_mb_per_s: Option<f64>,
    /// 95 % confidence, half width, in 10⁶ bytes per second.
    pub bus_ci95_mb_per_s: Option<f64>,
    /// What it holds, in KiB; what was written to it where it never got full.
    pub size_kib: Option<f64>,
    /// Whether one write of that size filled it, and no larger one could: otherwise it is estimated.
    pub size_is_exact: bool,
    /// Where that is estimated, what was written until it was full, in KiB: it holds no more.
    #[serde(skip)]
    pub size_at_most_kib: Option<f64>,
    /// Whether it never got full: it holds more, or was emptied as fast as it was filled.
    pub size_is_more: bool,
    /// Small writes it holds, where these fill it before their bytes do; with immediate reporting, those that are complete at
    /// once before one waits.
    pub runs: Option<u64>,
    /// How long the drive rests before it begins to empty it.
    #[serde(skip)]
    pub(crate) idle: Option<Idle>,
    /// From one small random write to the next when it is full, in ms.
    pub destage_ms: Option<f64>,
    /// What reaches the media of large random writes when it is full, in 10⁶ bytes per second.
    pub destage_mb_per_s: Option<f64>,
}

/// What goes to the media while writes fill a cache is estimated: by this share its size may be off.
const ABOUT: f64 = 0.25;

/// Small writes that hold less than this share of what large ones do are limited by their number.
const BY_NUMBER: f64 = 0.7;

/// Early writes take the same within this share, and so many of those that the cache may take early do.
const ALIKE: f64 = 0.02;
const LEAST_SHARE: f64 = 0.2;
/// They differ from those behind a read by more than this, in ms.
const LEAST_OTHER_MS: f64 = 0.02;

/// What a write that is reported early takes behind a write, its data left out, where that is another time than behind a read: those of
/// two places in turn that took the least.
fn behind_write(record: &Record, line: &bus::Line) -> Option<f64> {
    let bytes = record.head.device.unit() as f64 * f64::from(record.head.device.sector_bytes);
    let data_ms = bytes / line.mb_per_s?.0 / 1e3;
    let latencies: Vec<f64> = fill::of(record, TWO_PLACES).iter().map(|sample| sample.latency_ms()).collect();
    let least_ms = latencies.iter().copied().reduce(f64::min)?;
    let alike = latencies.iter().filter(|&&ms| ms < (1.0 + ALIKE) * least_ms).count();
    let behind_ms = least_ms - data_ms;
    let differs = (behind_ms - line.foot_ms).abs() > LEAST_OTHER_MS;
    (differs && alike as f64 > LEAST_SHARE * latencies.len() as f64).then_some(behind_ms)
}

/// What the probe `write-cache` found by filling the cache; `None` where it did not have to.
pub(super) fn write_cache(record: &Record, spindle: Option<Spindle>) -> Option<WriteCacheFindings> {
    let small = fill::fill(record, SMALL)?;
    if !fill::is_quick(record, SMALL, spindle) {
        let runs = fill::at_once(record, spindle);
        let quick_ms = runs.and_then(|runs| fill::least_ms(record, runs));
        let line = bus::of_cached_writes(record);
        let rate = line.and_then(|line| line.mb_per_s);
        return Some(WriteCacheFindings {
            policy: "immediate-reporting",
            runs,
            quick_ms,
            overhead_ms: line.map(|line| line.foot_ms),
            behind_write_ms: line.and_then(|line| behind_write(record, &line)),
            bus_mb_per_s: rate.map(|rate| rate.0),
            bus_ci95_mb_per_s: rate.map(|rate| rate.1),
            ..Default::default()
        });
    }
    let sector_bytes = f64::from(record.head.device.sector_bytes);
    let kib = |fill: fill::Fill| fill.held * fill.sectors as f64 * sector_bytes / 1024.0;
    // A cache that holds not even a few of them shows little by large ones: no more than that they wait, where small ones do not.
    let is_shown =
        fill::are_alike(record, LARGE, spindle) || (!small.full && fill::takes_large(record, spindle));
    let large = fill::fill(record, LARGE).filter(|_| is_shown);
    // Small ones that never waited went to the media as they came.
    let holds_more = |large: &fill::Fill| kib(*large) > kib(small) || (large.full && !small.full);
    let largest = large.filter(holds_more).unwrap_or(small);
    let line = bus::of_cached_writes(record);
    let rate = line.and_then(|line| line.mb_per_s);
    // What one write fills holds about as much as what many do, or is something else.
    let whole = whole::held(record).map(|sectors| sectors as f64 * sector_bytes / 1024.0);
    let one = largest.sectors as f64 * sector_bytes / 1024.0;
    let whole = whole.filter(|whole| (whole - kib(largest)).abs() < ABOUT * kib(largest) + one);
    Some(WriteCacheFindings {
        policy: "write-back",
        quick_ms: Some(small.quick_ms),
        overhead_ms: line.map(|line| line.foot_ms),
        behind_write_ms: None,
        bus_mb_per_s: rate.map(|rate| rate.0),
        bus_ci95_mb_per_s: rate.map(|rate| rate.1),
        size_kib: whole.or(Some(kib(largest))),
        size_is_exact: whole.is_some(),
        size_at_most_kib: (whole.is_none() && largest.full)
            .then(|| largest.taken * largest.sectors as f64 * sector_bytes / 1024.0),
        size_is_more: !largest.full,
        runs: (small.full && kib(small) < BY_NUMBER * kib(largest)).then_some(small.held.round() as u64),
        idle: idle::idle(record),
        destage_ms: small.each_ms,
        destage_mb_per_s: large
            .and_then(|large| large.each_ms.map(|ms| large.sectors as f64 * sector_bytes / ms / 1e3)),
    })
}

//! What a write cache brings to the media by itself: its seek begins where the arm is free, and not beside what a command takes.

use super::times::{Ways, together};
use crate::angles::median::median;
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::reading::least::{self, Least};
use crate::reading::stalls::Estimate;
use crate::record::series::seek_curve::{FLUSHED_INWARDS, FLUSHED_OUTWARDS, WRITES_INWARDS, WRITES_OUTWARDS};
use crate::record::series::switches::{COMMON, FLUSHED, RARE, SAME_TRACK};
use crate::record::{ProbeName, Record};

/// A way that takes no more than this longer than one along the track, in ms, is hidden beside what a command takes.
const HIDDEN_MS: f64 = 0.01;
/// All ways show the same within this, in ms.
const ALIKE_MS: f64 = 0.005;

/// What is known of writes that a cache brings to the media.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Destage {
    /// By how much more a way takes than one along the track, than a write takes that is forced to the media, in ms.
    pub(super) beside: Option<Estimate>,
    /// To the next track, where the skew is the more common one, by how much more than along the track, in ms.
    pub(super) common: Option<Estimate>,
}

impl Destage {
    pub(super) fn of(
        record: &Record,
        spindle: Spindle,
        forced: &Ways,
        slope: impl Fn(u64) -> f64 + Copy,
    ) -> Self {
        let ways = |series: u32| {
            together(least::by_step(record, (ProbeName::Switches, series), slope, spindle).values())
        };
        let (Some(cached), Some(rest)) = (ways(FLUSHED + SAME_TRACK), forced.same) else {
            return Self::default();
        };
        // Flushing takes the same behind each, turns or parts of one.
        let longer = |other: Least, rest: Least| spindle.ms(wrap_signed(spindle.turns(other.ms - rest.ms)));
        let mut seen: Vec<f64> = Vec::new();
        let mut note = |by_cache: Least, by_force: Least| {
            let shown_ms = by_force.ms - rest.ms;
            if shown_ms > HIDDEN_MS {
                seen.push(longer(by_cache, cached) - longer(by_force, rest));
            }
        };
        for kind in [COMMON, RARE] {
            if let (Some(by_cache), Some(by_force)) = (ways(FLUSHED + kind), ways(kind)) {
                note(by_cache, by_force);
            }
        }
        for (by_cache, by_force) in [(FLUSHED_INWARDS, WRITES_INWARDS), (FLUSHED_OUTWARDS, WRITES_OUTWARDS)] {
            let of = |series: u32| least::by_step(record, (ProbeName::SeekCurve, series), slope, spindle);
            let by_force = of(by_force);
            for (distance, least) in of(by_cache) {
                if let Some(&other) = by_force.get(&distance) {
                    note(least, other);
                }
            }
        }
        let usual = median(&seen);
        let alike: Vec<f64> = seen.iter().copied().filter(|ms| (ms - usual).abs() < ALIKE_MS).collect();
        let ci95 = f64::hypot(cached.ci95_ms(), rest.ci95_ms());
        let common = ways(FLUSHED + COMMON).map(|least| Estimate { value: longer(least, cached), ci95 });
        // Where ways disagree, something else than the way decides when a flush is complete.
        if alike.len() < 3 || 4 * alike.len() < 3 * seen.len() {
            return Self::default();
        }
        Self { beside: Some(Estimate { value: median(&alike), ci95 }), common }
    }
}

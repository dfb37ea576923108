//! The write-back cache of a description, in sectors and nanoseconds.

use crate::spec::{DirtyHit, DriveSpec, WritePolicy};
use headstack_units::Nanos;

/// Sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteBack {
    pub(crate) room: u64,
    /// Runs of consecutive sectors at most.
    pub(crate) runs: usize,
    /// Runs compared for the next piece, at most: those nearest to the arm.
    pub(crate) compared: usize,
    /// Above this fill buffered writes go before reads, down to that.
    pub(crate) high: Level,
    pub(crate) low: Level,
    /// Rest after reads before destage begins.
    pub(crate) idle: Nanos,
    /// What is older goes first.
    pub(crate) age_limit: Nanos,
    /// What overlaps data not yet on the media waits for them.
    pub(crate) delays_overlaps: bool,
}

/// How full the cache is: in sectors, and in runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) sectors: u64,
    pub(crate) runs: usize,
}

impl Level {
    /// Whether it is more than `mark` in either.
    pub(crate) fn is_above(self, mark: Self) -> bool {
        self.sectors > mark.sectors || self.runs > mark.runs
    }
}

impl WriteBack {
    pub(super) fn new(spec: &DriveSpec) -> Option<Self> {
        let WritePolicy::WriteBack {
            size_kib,
            runs,
            runs_compared,
            high_water_percent,
            low_water_percent,
            idle_before_destage_ms,
            age_limit_ms,
            dirty_hit,
        } = spec.write_policy
        else {
            return None;
        };
        let sectors = size_kib * 1024.0 / f64::from(spec.sector_bytes);
        let percent = |share: f64| Level {
            sectors: (sectors * share / 100.0) as u64,
            runs: runs.map_or(usize::MAX, |runs| (f64::from(runs) * share / 100.0) as usize),
        };
        Some(Self {
            room: sectors as u64,
            runs: runs.map_or(usize::MAX, |runs| runs as usize),
            compared: runs_compared.map_or(usize::MAX, |compared| compared as usize),
            high: percent(high_water_percent),
            low: percent(low_water_percent),
            idle: Nanos::from_ms(idle_before_destage_ms),
            age_limit: Nanos::from_ms(age_limit_ms),
            delays_overlaps: dirty_hit == DirtyHit::Delay,
        })
    }
}

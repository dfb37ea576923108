//! The write cache of a description, in sectors and nanoseconds.

use super::{Flash, Log, Store};
use crate::layout::Layout;
use crate::scheduler::Reach;
use crate::spec::{DirtyHit, DriveSpec, WritePolicy};
use headstack_units::{Nanos, RequestFlags};

/// Sizes in sectors.
#[derive(Clone, Debug)]
pub(crate) struct WriteBack {
    pub(crate) room: u64,
    /// Runs of consecutive sectors at most.
    pub(crate) runs: usize,
    /// Runs compared for the next piece.
    pub(crate) compared: Reach,
    /// Above this fill buffered writes go before reads, down to that.
    pub(crate) high: Level,
    pub(crate) low: Level,
    /// Rest after reads before destage begins.
    pub(crate) idle: Nanos,
    /// What is older goes first.
    pub(crate) age_limit: Nanos,
    /// What overlaps data not yet on the media waits for them.
    pub(crate) delays_overlaps: bool,
    /// Larger writes go straight to the media, in sectors.
    largest: u64,
    /// Where there is no room, so many pieces go before a write is taken.
    pub(crate) at_a_time: u32,
    pub(crate) store: Store,
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
    pub(super) fn new(spec: &DriveSpec, layout: &Layout) -> Option<Self> {
        let sectors = |kib: f64| (kib * 1024.0 / f64::from(spec.sector_bytes)) as u64;
        match &spec.write_policy {
            WritePolicy::WriteThrough {} | WritePolicy::ImmediateReporting { .. } => None,
            WritePolicy::WriteBack {
                size_kib,
                runs,
                runs_compared,
                compared_within_cylinders,
                high_water_percent,
                low_water_percent,
                idle_before_destage_ms,
                age_limit_ms,
                dirty_hit,
            } => {
                let percent = |share: &f64| Level {
                    sectors: sectors(size_kib * share / 100.0),
                    runs: runs.map_or(usize::MAX, |runs| (f64::from(runs) * share / 100.0) as usize),
                };
                Some(Self {
                    runs: runs.map_or(usize::MAX, |runs| runs as usize),
                    compared: Reach::new(*runs_compared, *compared_within_cylinders),
                    high: percent(high_water_percent),
                    low: percent(low_water_percent),
                    age_limit: Nanos::from_ms(*age_limit_ms),
                    delays_overlaps: *dirty_hit == DirtyHit::Delay,
                    ..Self::plain(sectors(*size_kib), *idle_before_destage_ms, Store::Buffer)
                })
            }
            WritePolicy::MediaCache(cache) => Some(Self {
                compared: Reach::new(cache.runs_compared, cache.compared_within_cylinders),
                largest: sectors(cache.largest_write_kib),
                at_a_time: cache.cleaned_at_a_time,
                ..Self::plain(
                    sectors(cache.size_kib),
                    cache.idle_before_cleaning_ms,
                    Store::Log(Log::new(cache, layout)),
                )
            }),
            WritePolicy::FlashCache(cache) => Some(Self {
                compared: Reach::new(cache.runs_compared, cache.compared_within_cylinders),
                largest: sectors(cache.largest_write_kib.unwrap_or(cache.size_kib)),
                ..Self::plain(
                    sectors(cache.size_kib),
                    cache.idle_before_destage_ms,
                    Store::Flash(Flash::new(cache)),
                )
            }),
        }
    }

    /// A cache that waits for idle time, or for being full.
    fn plain(room: u64, idle_ms: f64, store: Store) -> Self {
        let full = Level { sectors: room, runs: usize::MAX };
        Self {
            room,
            runs: usize::MAX,
            compared: Reach::new(None, None),
            largest: room,
            high: full,
            low: full,
            idle: Nanos::from_ms(idle_ms),
            age_limit: Nanos::MAX,
            delays_overlaps: false,
            at_a_time: 1,
            store,
        }
    }

    /// Whether a write of so many sectors goes into the cache.
    pub(crate) fn admits(&self, sectors: u32, flags: RequestFlags) -> bool {
        let forced = flags.contains(RequestFlags::FORCE_MEDIA) && self.store.is_volatile();
        // The data of one sector would take the room of all.
        let same = flags.contains(RequestFlags::WRITE_SAME);
        !forced && !same && u64::from(sectors) <= self.largest
    }
}

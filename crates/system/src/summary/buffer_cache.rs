//! What the host's buffer cache did.

use headstack_stats::Moments;
use schemars::JsonSchema;
use serde::Serialize;

use crate::host::Origin;
use crate::layer::buffer_cache::Counts;
use crate::summary::content::MeanTime;

/// What a cache did, and what it has yet to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferCacheUse {
    pub(crate) counts: Counts,
    /// Blocks that are dirty at the end, and blocks being written.
    pub(crate) dirty: u64,
    pub(crate) writing: u64,
}

/// What the host's buffer cache did, in blocks where nothing else is said. Every block that became dirty was handed to
/// the driver once, on one of the occasions, or is dirty at the end (but for those dirty when the counting began).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BufferCacheSummary {
    /// Read from the cache.
    pub read_hits: u64,
    /// Read, and fetched for that.
    pub read_misses: u64,
    /// Written to where they were in the cache.
    pub write_hits: u64,
    /// Written to, and not in the cache before.
    pub write_misses: u64,
    /// Wanted while their fetch for another request was under way.
    pub shared_fetches: u64,
    /// Clean blocks that were written to.
    pub dirtied: u64,
    /// Written by a sync.
    pub written_by_sync: u64,
    /// Written by a trickle flush.
    pub written_by_trickle: u64,
    /// Written to make room.
    pub written_by_eviction: u64,
    /// Written because too many were dirty.
    pub written_by_limit: u64,
    /// Written because the write is complete only on the drive.
    pub written_through: u64,
    /// Dirty at the end of the run.
    pub dirty_at_end: u64,
    /// Handed to the driver and not written at the end of the run.
    pub writing_at_end: u64,
    /// Most that were dirty at a time.
    pub dirty_max: u64,
    /// Longest time from the first write to a block to its being on the drive, in s.
    pub longest_dirty_s: f64,
    /// Requests that had to wait for room because every block had a transfer under way.
    pub waits_for_room: u64,
    /// Requests of the driver, raw ones included: reads…
    pub driver_reads: u64,
    /// …their response; …
    pub driver_read_ms: MeanTime,
    /// …writes…
    pub driver_writes: u64,
    /// …and theirs.
    pub driver_write_ms: MeanTime,
}

impl BufferCacheSummary {
    pub(super) fn new(used: &BufferCacheUse, driver: &[Moments; 2]) -> Self {
        let BufferCacheUse { counts, dirty, writing } = used;
        let written = |origin: Origin| counts.written[origin as usize];
        let [reads, writes] = driver;
        Self {
            read_hits: counts.read_hits,
            read_misses: counts.read_misses,
            write_hits: counts.write_hits,
            write_misses: counts.write_misses,
            shared_fetches: counts.shared_fetches,
            dirtied: counts.dirtied,
            written_by_sync: written(Origin::Sync),
            written_by_trickle: written(Origin::Trickle),
            written_by_eviction: written(Origin::Eviction),
            written_by_limit: written(Origin::Limit),
            written_through: written(Origin::Through),
            dirty_at_end: *dirty,
            writing_at_end: *writing,
            dirty_max: counts.most_dirty,
            longest_dirty_s: counts.longest_dirty.as_s(),
            waits_for_room: counts.room_waits,
            driver_reads: reads.count(),
            driver_read_ms: MeanTime { mean: reads.mean_ms() },
            driver_writes: writes.count(),
            driver_write_ms: MeanTime { mean: writes.mean_ms() },
        }
    }
}

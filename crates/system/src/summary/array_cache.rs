//! What the caches of arrays' controllers did.

use schemars::JsonSchema;
use serde::Serialize;

use crate::layer::ArrayCacheCounts as Counts;

/// What a cache did, and what it has yet to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArrayCacheUse {
    pub(crate) volume: usize,
    pub(crate) counts: Counts,
    pub(crate) dirty_sectors: u64,
}

/// What the cache of a volume's controller did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArrayCacheSummary {
    /// The volume.
    pub volume: String,
    /// Reads that found all they wanted.
    pub read_hits: u64,
    /// Reads that did not.
    pub read_misses: u64,
    /// Writes.
    pub writes: u64,
    /// Commands that read what was missing.
    pub fetches: u64,
    /// Commands that wrote what was dirty.
    pub destages: u64,
    /// Writes to the cache device of what had been read.
    pub populations: u64,
    /// Sectors dirty at the end of the run.
    pub dirty_sectors_at_end: u64,
}

impl ArrayCacheSummary {
    pub(super) fn new(used: &ArrayCacheUse, volume: &str) -> Self {
        let Counts { read_hits, read_misses, writes, fetches, destages, populations } = used.counts;
        Self {
            volume: volume.to_owned(),
            read_hits,
            read_misses,
            writes,
            fetches,
            destages,
            populations,
            dirty_sectors_at_end: used.dirty_sectors,
        }
    }
}

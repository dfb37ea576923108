//! The host's buffer cache, as in the system file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host's buffer cache: blocks of all volumes in the host's memory, the least recently used given up first.
///
/// Requests marked raw go around it. Writes become dirty blocks; dirty blocks are written when they must make room, and
/// on the occasions below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferCacheSpec {
    /// How many blocks it holds.
    pub blocks: u32,
    /// Size of a block, in KiB: a whole number of the host's sectors. Blocks are counted from sector 0 of each volume.
    pub block_kib: f64,
    /// How many adjacent blocks one request to the driver may carry (1 if absent: every buffer is a request of its own).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cluster_blocks: u32,
    /// Whether a write is complete once the blocks are dirty.
    #[serde(default)]
    pub write_policy: CacheWritePolicy,
    /// Time from one sync, which writes all dirty blocks, to the next, in s; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_every_s: Option<f64>,
    /// In which order a sync hands the blocks to the driver.
    #[serde(default)]
    pub sync_order: SyncOrder,
    /// Time from one trickle flush (dribbling) to the next, in s: each writes the `trickle_blocks` least recently written dirty
    /// blocks.
    #[serde(default, alias = "dribble_every_s", skip_serializing_if = "Option::is_none")]
    pub trickle_every_s: Option<f64>,
    /// How many blocks a trickle flush writes at most.
    #[serde(default, alias = "dribble_blocks", skip_serializing_if = "Option::is_none")]
    pub trickle_blocks: Option<u32>,
    /// As soon as more blocks than this are dirty, the least recently written are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_limit_blocks: Option<u32>,
    /// CPU time to copy between the cache and whoever asked, in µs per KiB of the request.
    #[serde(default)]
    pub copy_us_per_kib: f64,
}

/// What the host's cache does with writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheWritePolicy {
    /// Blocks stay dirty until there is an occasion to write them.
    #[default]
    WriteBack,
    /// Blocks are written at once, and the write is complete when they are.
    WriteThrough,
}

/// An order of dirty blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncOrder {
    /// The least recently used first, as Unix goes through its list of free buffers.
    #[default]
    Lru,
    /// By the buffer's number: where in memory it lies.
    Buffer,
    /// By volume and address.
    Address,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl BufferCacheSpec {
    /// The host's sectors in a block; `None` if a block is not a whole number of them.
    pub fn block_sectors(&self, sector_bytes: u32) -> Option<u32> {
        let sectors = self.block_kib * 1024.0 / f64::from(sector_bytes);
        (sectors >= 1.0 && sectors <= f64::from(1 << 20) && sectors.fract() == 0.0).then_some(sectors as u32)
    }

    /// Everything that cannot be, with `sector_bytes` in one of the host's sectors.
    pub(crate) fn check(&self, sector_bytes: u32) -> Vec<String> {
        let mut problems = Vec::new();
        let mut add =
            |key: &str, problem: String| problems.push(format!("`host.buffer_cache.{key}`: {problem}"));
        if !(1..=1 << 24).contains(&self.blocks) {
            add("blocks", format!("{} is not between 1 and 16777216", self.blocks));
        }
        if self.block_sectors(sector_bytes).is_none() {
            let problem =
                format!("{} KiB are not a whole number of {sector_bytes}-byte sectors", self.block_kib);
            add("block_kib", problem);
        }
        if !(1..=1 << 16).contains(&self.cluster_blocks) {
            add("cluster_blocks", format!("{} is not between 1 and 65536", self.cluster_blocks));
        }
        for (key, interval) in
            [("sync_every_s", self.sync_every_s), ("trickle_every_s", self.trickle_every_s)]
        {
            if let Some(interval) = interval
                && !(0.001..=1e6).contains(&interval)
            {
                add(key, format!("{interval} is not between 0.001 and 1000000"));
            }
        }
        if self.trickle_every_s.is_some() != self.trickle_blocks.is_some() {
            add("trickle_blocks", "`trickle_every_s` and `trickle_blocks` belong together".to_owned());
        }
        if self.trickle_blocks == Some(0) {
            add("trickle_blocks", "must be at least 1".to_owned());
        }
        if !(0.0..=1e6).contains(&self.copy_us_per_kib) {
            add("copy_us_per_kib", format!("{} is not between 0 and 1000000", self.copy_us_per_kib));
        }
        if self.write_policy == CacheWritePolicy::WriteThrough {
            let idle = [
                ("sync_every_s", self.sync_every_s.is_some()),
                ("trickle_every_s", self.trickle_every_s.is_some()),
                ("dirty_limit_blocks", self.dirty_limit_blocks.is_some()),
            ];
            for (key, _) in idle.iter().filter(|(_, is_given)| *is_given) {
                add(
                    key,
                    "a cache that writes through has no dirty blocks; take write_policy = \"write-back\""
                        .into(),
                );
            }
        }
        problems
    }
}

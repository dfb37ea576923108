//! `[controller]`, `[buffer]`, `[cache]`, `[write_policy.…]`, `[bus]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Command processing and queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// From picking up a read to starting its work, in ms.
    #[serde(default)]
    pub read_overhead_ms: f64,
    /// From picking up a write to starting its work, in ms.
    #[serde(default)]
    pub write_overhead_ms: f64,
    /// From picking up a write to asking for its data, in ms, beside the rest of the overhead; absent: all of the overhead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_data_after_ms: Option<f64>,
    /// From picking up a read that the cache holds to asking for the bus, in ms; absent: as any read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_overhead_ms: Option<f64>,
    /// From the last byte of a read to its completion, in ms.
    #[serde(default)]
    pub read_completion_ms: f64,
    /// From the end of a write's work to its completion, in ms.
    #[serde(default)]
    pub write_completion_ms: f64,
    /// How much of the overhead the arm does not wait for, in ms: the seek begins that long before the overhead ends.
    #[serde(default)]
    pub overhead_beside_seek_ms: f64,
    /// Commands the drive accepts at a time (1: no command queueing).
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// Order in which the drive serves its queue.
    #[serde(default = "fcfs")]
    pub scheduler: String,
}

impl Default for ControllerSpec {
    fn default() -> Self {
        Self {
            read_overhead_ms: 0.0,
            write_overhead_ms: 0.0,
            write_data_after_ms: None,
            hit_overhead_ms: None,
            read_completion_ms: 0.0,
            write_completion_ms: 0.0,
            overhead_beside_seek_ms: 0.0,
            queue_depth: one(),
            scheduler: fcfs(),
        }
    }
}

fn one() -> u32 {
    1
}

fn fcfs() -> String {
    "fcfs".to_owned()
}

/// The speed-matching buffer between media and bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Its size, in KiB. 0: none; the host must take and give each sector as it passes, or a revolution is lost.
    #[serde(default = "default_buffer")]
    pub size_kib: f64,
    /// A read asks for the bus when this much of it is in the buffer, in KiB (or all of it, if that is less).
    #[serde(default)]
    pub read_fence_kib: f64,
    /// A read also asks for the bus when the first track of it is in the buffer, even below the fence.
    #[serde(default)]
    pub read_fence_at_track_end: bool,
    /// A write goes to the media when this much of it is in the buffer, in KiB (or all of it, if that is less); data that
    /// then run out cost a revolution. Absent: as soon as they cannot run out before the track's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_fence_kib: Option<f64>,
    /// A write's data may come over the bus while the arm moves; otherwise they are fetched when it has settled.
    #[serde(default = "yes")]
    pub write_overlaps_seek: bool,
}

impl Default for BufferSpec {
    fn default() -> Self {
        Self {
            size_kib: default_buffer(),
            read_fence_kib: 0.0,
            read_fence_at_track_end: false,
            write_fence_kib: None,
            write_overlaps_seek: true,
        }
    }
}

fn default_buffer() -> f64 {
    64.0
}

fn yes() -> bool {
    true
}

/// What the drive reads beyond what it was asked for (S0: R0.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// Nothing; what was read stays in its segment.
    #[default]
    None,
    /// On to the end of the track.
    ToTrackEnd,
    /// On to the end of the cylinder.
    ToCylinderEnd,
    /// Across track and cylinder boundaries until the segment is full.
    UntilFull,
    /// As `until-full`, and space already handed to the host is filled again: the drive stays a segment ahead.
    Aggressive,
    /// As `aggressive`, but only behind a read that continued the one before; else to the end of the track.
    SequentialAware,
    /// From wherever the head lands on the track ("zero-latency read"); nothing behind the request.
    OnArrival,
}

/// What happens to a read of which the cache holds only the first part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialHit {
    /// The cached part comes from the cache, the rest from the media.
    #[default]
    Serve,
    /// All of it comes from the media.
    Bypass,
}

/// What happens to cached data the host has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterHit {
    /// They stay until the segment is needed for something else.
    #[default]
    Keep,
    /// They are dropped.
    Discard,
}

/// The read cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Number of segments; the least recently used one is replaced.
    pub segments: u32,
    /// Size of a segment, in KiB.
    pub segment_kib: f64,
    /// What is read ahead.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// At most this much is read ahead, in KiB; absent: a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_limit_kib: Option<f64>,
    /// Reads of which only the first part is cached.
    #[serde(default)]
    pub partial_hit: PartialHit,
    /// Cached data the host has read.
    #[serde(default)]
    pub after_hit: AfterHit,
    /// Reads larger than this leave the cache alone, in KiB; absent: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_above_kib: Option<f64>,
}

/// What happens to a write that overlaps written data not yet on the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirtyHit {
    /// It waits until the first copy is on the media (safest without non-volatile memory).
    #[default]
    Delay,
    /// It replaces the data in the buffer.
    Overwrite,
}

/// When a write counts as done (S0: R0.13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum WritePolicy {
    /// When it is on the media.
    WriteThrough {},
    /// When it is in the buffer, if it is the first write since a read or continues the last write, and is not marked
    /// otherwise; it goes to the media at once.
    ImmediateReporting {
        /// Writes that overlap data not yet on the media.
        #[serde(default)]
        dirty_hit: DirtyHit,
    },
    /// When it is in the (non-volatile) cache, as long as it fits; buffered writes go to the media when the drive is
    /// idle or the cache fills up, nearest address first.
    WriteBack {
        /// Size of the write cache, in KiB.
        size_kib: f64,
        /// Above this fill, in percent, buffered writes go before waiting reads.
        #[serde(default = "default_high_water")]
        high_water_percent: f64,
        /// …until the fill is down to this, in percent.
        #[serde(default = "default_low_water")]
        low_water_percent: f64,
        /// Buffered writes start after the drive has been idle for this long, in ms.
        #[serde(default)]
        idle_before_destage_ms: f64,
        /// Writes that overlap data not yet on the media.
        #[serde(default = "overwrite")]
        dirty_hit: DirtyHit,
    },
}

impl Default for WritePolicy {
    fn default() -> Self {
        Self::WriteThrough {}
    }
}

fn default_high_water() -> f64 {
    80.0
}

fn default_low_water() -> f64 {
    50.0
}

fn overwrite() -> DirtyHit {
    DirtyHit::Overwrite
}

/// A bus; asymmetric rates are possible (HP-IB reads at 1.0, writes at 1.2 MB/s). MB = 10⁶ bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusSpec {
    /// Its name ("SCSI-2", "HP-IB"), for people.
    #[serde(default)]
    pub kind: String,
    /// Drive to host, in 10⁶ bytes per second.
    pub read_mb_per_s: f64,
    /// Host to drive, in 10⁶ bytes per second.
    pub write_mb_per_s: f64,
    /// Gaining control of an idle bus, in µs, at the start of every data transfer.
    #[serde(default)]
    pub arbitration_us: f64,
    /// Reconnecting after a disconnect, in µs, at the start of every data transfer that followed mechanical work.
    #[serde(default)]
    pub reconnect_us: f64,
    /// The drive lets go of the bus while it waits for the mechanism; otherwise it holds the bus from command to
    /// completion.
    #[serde(default = "yes")]
    pub disconnects: bool,
}

//! `[controller]`, `[buffer]`, `[cache]`, `[write_policy.…]`, `[bus]`.

use super::duration::DurationLimitSpec;
use super::rules::{
    Appends, CachedPart, DuringEarlyWrite, HitDuringReadAhead, LookUp, ReadAheadRoom, ReadAheadStop,
    Replacement, Rounding,
};
use super::write_cache::{FlashCacheSpec, MediaCacheSpec};
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
    /// From picking up a command to the start of its seek, in ms, whatever is left of the overhead then (the arm is not
    /// used before the overhead ends); absent: the overhead less `overhead_beside_seek_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_after_ms: Option<f64>,
    /// By how much later the seek of a write begins that follows a write elsewhere, in ms (drives that leave the bus once
    /// more before such a write).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_after_write_seek_delay_ms: f64,
    /// From the end of such a write's work to its completion, in ms; absent: `write_completion_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_after_write_completion_ms: Option<f64>,
    /// The arm of a write takes at least this long from its start to the first sector's track, in ms, even where it is
    /// there already (but not where the write goes straight on from an early one).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub least_write_seek_ms: f64,
    /// What the cached part of a read waits for, of which the media bring the rest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cached_part: CachedPart,
    /// From having the bus to the first byte, in ms, at the start of every data transfer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub data_preparation_ms: f64,
    /// Overheads that depend on the command before and on the buffer; they take the place of `read_overhead_ms`,
    /// `hit_overhead_ms` and `write_overhead_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_history: Option<OverheadsByHistory>,
    /// Commands the drive accepts at a time (1: no command queueing).
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// Order in which the drive serves its queue.
    #[serde(default = "fcfs")]
    pub scheduler: String,
    /// Commands marked as limited should be complete after this, in ms (a command duration limit, by best effort); the
    /// scheduler `ncq` regards it. Absent: the drive has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_limit_ms: Option<f64>,
    /// …or up to seven limits, from short to long, of which a command names one (`flags` of a trace: 64 the first, 128 the
    /// second, 192 the third, and so on).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duration_limits: Vec<DurationLimitSpec>,
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
            seek_after_ms: None,
            write_after_write_seek_delay_ms: 0.0,
            write_after_write_completion_ms: None,
            least_write_seek_ms: 0.0,
            cached_part: CachedPart::default(),
            data_preparation_ms: 0.0,
            by_history: None,
            queue_depth: one(),
            scheduler: fcfs(),
            duration_limit_ms: None,
            duration_limits: Vec::new(),
        }
    }
}

/// Overheads by what the buffer holds and by the command before: `[after a read, after a write]`, in ms (S0's M5; the
/// eight overheads of DiskSim's drive files).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverheadsByHistory {
    /// Reads that the buffer holds.
    pub read_hit_ms: [f64; 2],
    /// Reads after a read that the buffer holds, but that do not continue a stream the drive is still reading ahead for;
    /// absent: as other hits after a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_hit_at_rest_ms: Option<f64>,
    /// For how long after a command the drive is ready for the read that continues it, once a read from the media has begun
    /// a stream and until a read comes later or a write; absent: for as long as it reads ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_wait_ms: Option<f64>,
    /// Reads from the media.
    pub read_miss_ms: [f64; 2],
    /// Writes that continue the write before them, or lie on the track of the command before them.
    pub write_hit_ms: [f64; 2],
    /// Other writes.
    pub write_miss_ms: [f64; 2],
    /// From picking up a read to the start of its seek, where the rest of the overhead overlaps it (reads to where
    /// the arm is already still wait for all of it); absent: as for any command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_seek_after_ms: Option<[f64; 2]>,
    /// The same for writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_seek_after_ms: Option<[f64; 2]>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
    /// A read asks for the bus when this share of it is in the buffer, of 1, or the buffer is full; takes the place of `read_fence_kib`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_fence_fraction: Option<f64>,
    /// A read also asks for the bus when the first track of it is in the buffer, even below the fence.
    #[serde(default)]
    pub read_fence_at_track_end: bool,
    /// A write goes to the media when this much of it is in the buffer, in KiB (or all of it, if that is less); data that
    /// then run out cost a revolution. Absent: as soon as they cannot run out before the track's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_fence_kib: Option<f64>,
    /// As `write_fence_kib`, but a share of the write, of 1; takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_fence_fraction: Option<f64>,
    /// A write whose data are all there takes the sectors of each track as they come, starting in its middle if that is
    /// where the head lands.
    #[serde(default, skip_serializing_if = "is_false")]
    pub write_on_arrival: bool,
    /// From having that much of a write in the buffer to being able to write it, in ms (drives that leave the bus first).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_start_ms: f64,
    /// A write's data may come over the bus while the arm moves; otherwise they are fetched when it has settled.
    #[serde(default = "yes")]
    pub write_overlaps_seek: bool,
    /// While a write goes to the media, the data of a waiting write that goes on where it ends come over the bus, if the drive would
    /// serve that next and has room for it: the media go on without losing a revolution. For drives that queue commands.
    #[serde(default, skip_serializing_if = "is_false")]
    pub takes_next_write: bool,
    /// How the data of a command go over the bus; absent: in bursts on a bus at least eight times as fast as the media of
    /// the fastest zone, in one transfer on a slower one. A drive that does not disconnect, or has no buffer, uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_transfers: Option<BusTransfers>,
    /// Most of a command that goes over the bus in one burst, in KiB; at most half the buffer does.
    #[serde(default = "default_burst", skip_serializing_if = "is_default_burst")]
    pub burst_kib: f64,
    /// Between the bursts of a read: the drive asks for the bus again when this much more is in the buffer, in KiB, or the
    /// rest (SCSI's buffer-full ratio); absent: a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_full_kib: Option<f64>,
    /// As `buffer_full_kib`, but a share of the read, of 1; takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_full_fraction: Option<f64>,
    /// How shares of a command are rounded to sectors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fraction_rounding: Rounding,
    /// Between the bursts of a write larger than the buffer: the drive asks for more data when there is room for this much,
    /// in KiB, or for the rest (SCSI's buffer-empty ratio); absent: a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_empty_kib: Option<f64>,
}

/// How the data of a command go over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BusTransfers {
    /// In one transfer: once the drive has the bus it keeps it until the last byte, at the pace of the media if need be.
    One,
    /// In bursts: the drive lets go of the bus when its buffer has run empty (a write: full) or a burst is through, and
    /// asks for it again, arbitration and reconnection included.
    Bursts,
}

impl Default for BufferSpec {
    fn default() -> Self {
        Self {
            size_kib: default_buffer(),
            read_fence_kib: 0.0,
            read_fence_fraction: None,
            read_fence_at_track_end: false,
            write_fence_kib: None,
            write_fence_fraction: None,
            write_on_arrival: false,
            write_start_ms: 0.0,
            write_overlaps_seek: true,
            takes_next_write: false,
            bus_transfers: None,
            burst_kib: default_burst(),
            buffer_full_kib: None,
            buffer_full_fraction: None,
            fraction_rounding: Rounding::default(),
            buffer_empty_kib: None,
        }
    }
}

fn default_burst() -> f64 {
    64.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_default_burst(value: &f64) -> bool {
    *value == default_burst()
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
    /// Nothing, until a read continues the one before; then as `aggressive`. (Drives whose segments hold less than a
    /// track.)
    OnceSequential,
    /// From wherever the head lands on the track ("zero-latency read"); nothing behind the request.
    OnArrival,
    /// On to the end of the track of the next sector, and of the track behind it if the segment begins before that track,
    /// whatever a segment holds.
    TrackAhead,
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

/// What a write leaves of a segment of read data that holds some of its sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOverlap {
    /// What lies before the written sectors.
    #[default]
    KeepFront,
    /// Nothing.
    DropSegment,
    /// All of it: the written sectors are replaced where they lie.
    Update,
    /// Nothing; but a segment that is being read ahead then stays as it is, though its data are old.
    DropAtRest,
}

/// Whether reads find written data in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenData {
    /// They leave the buffer when they are on the media.
    #[default]
    Dropped,
    /// They take the least recently used segment; a write that continues the last one goes on in its segment.
    Shared,
    /// One of the segments is for writes alone.
    OwnSegment,
}

/// How the cache is divided into segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// `segments` of `segment_kib` each, whatever is asked.
    #[default]
    Fixed,
    /// Up to `segments`, which share `segments` times `segment_kib`: a stream that is alone has all of it, a new one takes a
    /// share, and one that nobody asks for gives its share back.
    Adaptive,
}

/// The read cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Number of segments; the least recently used one is replaced.
    pub segments: u32,
    /// Size of a segment, in KiB; with `segmentation = "adaptive"`, its size when all of them are in use.
    pub segment_kib: f64,
    /// Whether segments keep their number and size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub segmentation: Segmentation,
    /// What is read ahead.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// At most this much is read ahead, in KiB; absent: a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_limit_kib: Option<f64>,
    /// The sectors of a track are taken as they come, from wherever the head lands, whatever is read ahead behind the
    /// request ("zero-latency read").
    #[serde(default, skip_serializing_if = "is_false")]
    pub zero_latency: bool,
    /// With `zero_latency`, where read-ahead ends with the track: what had passed before the head landed is read last, so
    /// that the whole track comes in.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole_track: bool,
    /// Read-ahead may fill a whole segment behind the request, in the place of what the host already has; with
    /// `until-full`, which otherwise keeps the request and fills up the rest.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_ahead_over_requested: bool,
    /// After a hit the drive reads on where the host made room; absent: yes with `aggressive`, `sequential-aware` and
    /// `once-sequential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_on_hit: Option<bool>,
    /// What a hit means for read-ahead under way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hit_during_read_ahead: HitDuringReadAhead,
    /// When read-ahead that is in the way lets go of the arm.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_ahead_stop: ReadAheadStop,
    /// Whether read-ahead waits for data that the host has not got yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_ahead_room: ReadAheadRoom,
    /// When it is decided whether the cache holds a read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub look_up: LookUp,
    /// Which segment makes room.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replacement: Replacement,
    /// What a write leaves of a segment that holds some of its sectors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_overlap: WriteOverlap,
    /// Where written data stay, so that reads find them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub written_data: WrittenData,
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

impl CacheSpec {
    /// Segments that read nothing ahead; everything else as in a file that does not mention it.
    pub fn new(segments: u32, segment_kib: f64) -> Self {
        Self {
            segments,
            segment_kib,
            segmentation: Segmentation::default(),
            read_ahead: ReadAhead::default(),
            read_ahead_limit_kib: None,
            zero_latency: false,
            whole_track: false,
            read_ahead_over_requested: false,
            read_ahead_on_hit: None,
            hit_during_read_ahead: HitDuringReadAhead::default(),
            read_ahead_stop: ReadAheadStop::default(),
            read_ahead_room: ReadAheadRoom::default(),
            look_up: LookUp::default(),
            replacement: Replacement::default(),
            write_overlap: WriteOverlap::default(),
            written_data: WrittenData::default(),
            partial_hit: PartialHit::default(),
            after_hit: AfterHit::default(),
            bypass_above_kib: None,
        }
    }

    /// Whether a hit lets the drive read on.
    pub fn reads_on_after_hits(&self) -> bool {
        self.read_ahead_on_hit.unwrap_or(matches!(
            self.read_ahead,
            ReadAhead::Aggressive | ReadAhead::SequentialAware | ReadAhead::OnceSequential
        ))
    }
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
        /// Writes the drive may have reported and not yet written, at most; another one that does not continue the last
        /// waits until there is room. Absent: only a first write since a read, or a continuation, is reported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending_writes: Option<u32>,
        /// Writes that overlap data not yet on the media.
        #[serde(default)]
        dirty_hit: DirtyHit,
        /// What other commands do meanwhile.
        #[serde(default, skip_serializing_if = "is_default")]
        during_early_write: DuringEarlyWrite,
        /// How often data that continue an early write go to the media.
        #[serde(default, skip_serializing_if = "is_default")]
        appends: Appends,
    },
    /// When it is in the cache, as long as it fits. Buffered writes go to the media piece by piece while the arm has
    /// nothing else to do, or the cache fills up: what comes under the head soonest first.
    WriteBack {
        /// Size of the write cache, in KiB.
        size_kib: f64,
        /// Runs of consecutive sectors the cache keeps track of, at most; absent: as many as fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runs: Option<u32>,
        /// For the next piece that goes to the media, so many runs are compared by seek and rotation: those whose cylinders
        /// are nearest to the arm. Absent: all; one, where `compared_within_cylinders` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runs_compared: Option<u32>,
        /// …and besides, all runs within so many cylinders of the arm: the more is cached, the more are compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compared_within_cylinders: Option<u32>,
        /// Above this fill, in percent, buffered writes go to the media without a pause, one piece before each read.
        #[serde(default = "default_high_water")]
        high_water_percent: f64,
        /// …until the fill is down to this, in percent.
        #[serde(default = "default_low_water")]
        low_water_percent: f64,
        /// Otherwise they go after no read has needed the arm for this long, in ms.
        #[serde(default)]
        idle_before_destage_ms: f64,
        /// What has waited longer than this, in ms, goes without waiting for that; while reads want the arm it has a tenth of its time.
        #[serde(default = "default_age_limit")]
        age_limit_ms: f64,
        /// Writes that overlap data not yet on the media.
        #[serde(default = "overwrite")]
        dirty_hit: DirtyHit,
    },
    /// When it is in a log on reserved tracks of the media, as long as it fits; it goes to its place when the drive is idle, or
    /// the log is full. Nothing is lost with the power.
    MediaCache(MediaCacheSpec),
    /// When it is in flash memory, as long as it fits; it goes to its place while the arm has nothing else to do, or the flash is
    /// full. Nothing is lost with the power.
    FlashCache(FlashCacheSpec),
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

fn default_age_limit() -> f64 {
    10_000.0
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

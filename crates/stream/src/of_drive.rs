//! The model of a drive that has a drive file: what sequential streams get from it, in the model's few numbers.

use crate::check::MOST_RATE_MB_PER_S;
use crate::spec::{CacheSpec, MechanismSpec, ModelSpec, ServerSpec};
use headstack_drive::layout::{Layout, ZoneSummary};
use headstack_drive::mechanics::Mechanics;
use headstack_drive::spec::{DriveSpec, ReadAhead, WritePolicy};
use headstack_drive::{ZoneRate, zone_rates};
use headstack_system::SystemError;
use headstack_system::library;
use headstack_units::Rpm;

/// The largest command of a host that addresses sectors with 28 bits: 256 sectors.
const ATA_COMMAND_KIB: f64 = 128.0;

/// A drive of the library or of a file, and its name.
///
/// # Errors
/// [`SystemError::UnknownName`], [`SystemError::Io`] and [`SystemError::Drive`].
pub fn drive_of(name: &str) -> Result<(String, DriveSpec), SystemError> {
    let source = library::resolve(library::DRIVE, name, &[library::drives()], None)?;
    let spec = DriveSpec::from_toml_with(&source.origin, &source.text, &[])?;
    Ok((source.name, spec))
}

/// The model of a drive of the library or of a file, or a model that was saved, and its name.
///
/// # Errors
/// As [`drive_of`], and [`SystemError::Syntax`] for what is no model.
pub fn model_of(name: &str) -> Result<(String, ModelSpec), SystemError> {
    let source = library::resolve("drive or stream model", name, &[library::drives()], None)?;
    if library::is_stream_model(&source.text) {
        return Ok((source.name, ModelSpec::from_toml(&source.origin, &source.text)?));
    }
    let spec = DriveSpec::from_toml_with(&source.origin, &source.text, &[])?;
    Ok((source.name, ModelSpec::of_drive(&spec)))
}

impl ModelSpec {
    /// The model of a checked drive file: media rates of its outermost and innermost zone, what a change of track costs a
    /// stream on average, the bus, the buffer, the overhead of a command. As many tracks as hold what the drive holds. No
    /// delays: those must be fitted.
    pub fn of_drive(spec: &DriveSpec) -> Self {
        let layout = Layout::new(&spec.joined_layout());
        let turn_ms = Rpm(spec.rotation_rpm).period_ns() / 1e6;
        let sector_bytes = f64::from(spec.sector_bytes);
        let zones: Vec<(ZoneSummary, ZoneRate)> = layout.zones().zip(zone_rates(spec)).collect();
        let media = |sectors: u32| f64::from(sectors) * sector_bytes / 1e3 / turn_ms;
        let rates = || zones.iter().map(|(zone, _)| media(zone.sectors_per_track));
        let (outer, inner) = (rates().fold(0.0, f64::max), rates().fold(f64::INFINITY, f64::min));
        let bytes = layout.capacity() as f64 * sector_bytes;
        let tracks = bytes / (0.5 * (outer + inner) * 1e3 * turn_ms);
        let switch_ms = mean_switch_ms(&zones, media, turn_ms);
        // A bus that takes no time stands in files as one of 1,000,000 MB/s.
        let [reads, writes] =
            [spec.bus.read_mb_per_s, spec.bus.write_mb_per_s].map(|rate| rate.min(MOST_RATE_MB_PER_S));
        let [reads_ms, writes_ms] = overheads_ms(spec);
        Self {
            server: ServerSpec::default(),
            cache: CacheSpec {
                size_kib: spec.buffer.size_kib.max(1.0),
                interface_mb_per_s: reads,
                write_interface_mb_per_s: Some(writes).filter(|&rate| rate != reads),
                command_kib: Some(ATA_COMMAND_KIB),
                read_ahead: reads_ahead(spec),
                write_through: writes_through(spec),
                overhead_ms: reads_ms,
                write_overhead_ms: Some(writes_ms).filter(|&time| time != reads_ms),
                read_delay: None,
                write_delay: None,
            },
            mechanism: MechanismSpec {
                outer_mb_per_s: outer,
                inner_mb_per_s: inner,
                rotation_rpm: spec.rotation_rpm,
                cylinders: (tracks / f64::from(layout.heads())).round().max(1.0) as u32,
                heads: layout.heads(),
                head_switch_ms: switch_ms,
                cylinder_switch_ms: switch_ms,
                full_stroke_ms: Mechanics::new(spec).curve.averages().full_stroke_ms,
            },
        }
    }
}

/// Whether a write is over when it is on the media.
fn writes_through(spec: &DriveSpec) -> bool {
    matches!(spec.write_policy, WritePolicy::WriteThrough {})
}

/// Whether the drive reads on behind a read that continued the one before.
fn reads_ahead(spec: &DriveSpec) -> bool {
    let read_ahead = spec.cache.as_ref().map_or(ReadAhead::None, |cache| cache.read_ahead);
    !matches!(read_ahead, ReadAhead::None | ReadAhead::OnArrival)
}

/// What a command of a stream waits for before its data, and behind them, in ms: a read that the buffer holds, where the drive reads ahead, and
/// a write that continues the one before.
fn overheads_ms(spec: &DriveSpec) -> [f64; 2] {
    let controller = &spec.controller;
    let by_history = controller.by_history.as_ref();
    let hit_ms = || controller.hit_overhead_ms.unwrap_or(controller.read_overhead_ms);
    let read_ms = match (by_history, reads_ahead(spec)) {
        (Some(history), true) => history.read_hit_ms[0],
        (Some(history), false) => history.read_miss_ms[0],
        (None, true) => hit_ms(),
        (None, false) => controller.read_overhead_ms,
    };
    let all_ms = || by_history.map_or(controller.write_overhead_ms, |history| history.write_hit_ms[1]);
    // Of what lies beside the data nothing shows, but where the media wait for it.
    let beside = controller.write_data_after_ms.filter(|_| !writes_through(spec));
    let write_ms = beside.unwrap_or_else(all_ms);
    [read_ms + controller.read_completion_ms, write_ms + controller.write_completion_ms]
}

/// What streams lose at a change of track, heads and cylinders alike, the zones weighed by their size.
fn mean_switch_ms(zones: &[(ZoneSummary, ZoneRate)], media: impl Fn(u32) -> f64, turn_ms: f64) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (zone, rate) in zones {
        // A track's bytes over the stream's rate, less its revolution.
        let lost = turn_ms * (media(zone.sectors_per_track) / rate.possible_mb_per_s - 1.0);
        sum += lost * zone.sectors as f64;
        weight += zone.sectors as f64;
    }
    (sum / weight.max(1.0)).max(0.0)
}

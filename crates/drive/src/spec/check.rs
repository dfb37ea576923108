//! Physics checks of a drive file: all problems at once.

use super::controller::is_default_burst;
use super::{
    BusSpec, BusTransfers, DriveSpec, OverheadsByHistory, RotationModel, SeekSpec, TransferModel,
    WritePolicy, WrittenData, arms, check_layout, duration, power, provenance, write_cache,
};
use crate::scheduler::{Needs, Policy};
use std::fmt;

/// One value, or one pair of values, that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecProblem {
    /// Dotted path of the value.
    pub path: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

/// Collects problems.
pub(super) struct Findings(pub(super) Vec<SpecProblem>);

impl Findings {
    pub(super) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(SpecProblem { path: path.into(), message: message.into() });
    }

    /// `value` must be a finite number within the bounds.
    pub(super) fn range(&mut self, path: &str, value: f64, low: f64, high: f64) {
        if !(value >= low && value <= high) {
            // A number of hundreds of digits says less than its power of ten.
            let value = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
            self.add(path, format!("{value} is not between {low} and {high}"));
        }
    }

    /// A time in ms: not negative, below a minute.
    pub(super) fn time_ms(&mut self, path: &str, value: f64) {
        self.range(path, value, 0.0, 60_000.0);
    }
}

pub(super) fn check(spec: &DriveSpec) -> Vec<SpecProblem> {
    let mut findings = Findings(Vec::new());
    basics(spec, &mut findings);
    arms::check(spec, &mut findings);
    duration::check(spec, &mut findings);
    check_layout::layout(&spec.layout, &mut findings);
    seek(spec, &mut findings);
    mechanics(spec, &mut findings);
    controller(spec, &mut findings);
    cache(spec, &mut findings);
    bus("bus", &spec.bus, &mut findings);
    power::check(spec, &mut findings);
    let (missing, unused) = provenance::gaps(spec);
    for path in missing {
        findings.add(
            format!("provenance.\"{path}\""),
            "missing: every value needs a provenance entry, its own or that of a prefix, such as { kind = \"assumed\", source = \"…\" }",
        );
    }
    for path in unused {
        findings.add(format!("provenance.\"{path}\""), "names no value of this file");
    }
    findings.0
}

fn basics(spec: &DriveSpec, findings: &mut Findings) {
    if !(64..=65_536).contains(&spec.sector_bytes) {
        findings.add("sector_bytes", format!("{} is not between 64 and 65536", spec.sector_bytes));
    }
    if let Some(physical) = spec.physical_sector_bytes
        && (spec.sector_bytes == 0 || physical % spec.sector_bytes != 0 || physical < spec.sector_bytes)
    {
        findings.add(
            "physical_sector_bytes",
            format!("{physical} is not a multiple of sector_bytes ({})", spec.sector_bytes),
        );
    }
    findings.range("rotation_rpm", spec.rotation_rpm, 60.0, 1_000_000.0);
    if !(1..=64).contains(&spec.actuators) {
        findings.add("actuators", format!("{} is not between 1 and 64", spec.actuators));
    }
    findings.range("fidelity.seek_scale", spec.fidelity.seek_scale, 0.0, 100.0);
    findings.range("fidelity.rotation_scale", spec.fidelity.rotation_scale, 0.0, 1.0);
    findings.range("spindle.error_percent", spec.spindle.error_percent, -50.0, 50.0);
    findings.range("spindle.drift_ppm", spec.spindle.drift_ppm, 0.0, 100_000.0);
    findings.range("spindle.drift_interval_s", spec.spindle.drift_interval_s, 1e-3, 1e6);
    findings.range("spindle.initial_angle_revolutions", spec.spindle.initial_angle_revolutions, 0.0, 1.0);
    findings.range("recalibration.interval_s", spec.recalibration.interval_s, 1e-3, 1e9);
    findings.time_ms("recalibration.duration_ms", spec.recalibration.duration_ms);
    super::soft_errors::check(spec.soft_errors.as_ref(), findings);
}

fn seek(spec: &DriveSpec, findings: &mut Findings) {
    match &spec.seek {
        SeekSpec::Constant { time_ms } => findings.time_ms("seek.constant.time_ms", *time_ms),
        SeekSpec::Linear { single_cylinder_ms, full_stroke_ms } => {
            findings.time_ms("seek.linear.single_cylinder_ms", *single_cylinder_ms);
            findings.time_ms("seek.linear.full_stroke_ms", *full_stroke_ms);
            if full_stroke_ms < single_cylinder_ms {
                findings.add("seek.linear.full_stroke_ms", "is shorter than the single-cylinder seek");
            }
        }
        SeekSpec::TwoPiece { short_ms, long_ms, first_ms, .. } => {
            for (key, value) in [("short_ms", short_ms), ("long_ms", long_ms)] {
                for v in value {
                    findings.time_ms(&format!("seek.two-piece.{key}"), *v);
                }
            }
            for v in first_ms {
                findings.time_ms("seek.two-piece.first_ms", *v);
            }
        }
        SeekSpec::ThreePoint { single_cylinder_ms, average_ms, full_stroke_ms } => {
            ascending("seek.three-point", [*single_cylinder_ms, *average_ms, *full_stroke_ms], findings);
        }
        SeekSpec::LeeKatz { single_cylinder_ms, average_ms, full_stroke_ms } => {
            ascending("seek.lee-katz", [*single_cylinder_ms, *average_ms, *full_stroke_ms], findings);
        }
        SeekSpec::Table { points } => {
            if points.is_empty() {
                findings.add("seek.table.points", "there must be at least one point");
            }
            for point in points {
                findings.time_ms("seek.table.points", point[1]);
            }
            if !points.windows(2).all(|pair| pair[0][0] < pair[1][0])
                || points.iter().any(|point| !(point[0] >= 1.0 && point[0] <= 1e9))
            {
                findings
                    .add("seek.table.points", "distances must be at least 1 and ascend without repetition");
            }
        }
        SeekSpec::Kinematic { track_pitch_um, acceleration_m_per_s2, max_velocity_m_per_s, settle_ms } => {
            findings.range("seek.kinematic.track_pitch_um", *track_pitch_um, 1e-4, 1e4);
            findings.range("seek.kinematic.acceleration_m_per_s2", *acceleration_m_per_s2, 1e-2, 1e6);
            findings.range("seek.kinematic.max_velocity_m_per_s", *max_velocity_m_per_s, 1e-3, 1e4);
            findings.time_ms("seek.kinematic.settle_ms", *settle_ms);
        }
    }
}

/// Single-cylinder, average and full-stroke times.
fn ascending(path: &str, times: [f64; 3], findings: &mut Findings) {
    findings.time_ms(&format!("{path}.single_cylinder_ms"), times[0]);
    findings.time_ms(&format!("{path}.full_stroke_ms"), times[2]);
    if !times.is_sorted() {
        findings.add(path, "single-cylinder, average and full-stroke times must ascend");
    }
}

fn mechanics(spec: &DriveSpec, findings: &mut Findings) {
    let mechanics = &spec.mechanics;
    findings.time_ms("mechanics.head_switch_ms", mechanics.head_switch_ms);
    for (path, points) in [
        ("mechanics.write_settle_by_distance_ms", &mechanics.write_settle_by_distance_ms),
        ("mechanics.seek_extra_by_distance_ms", &mechanics.seek_extra_by_distance_ms),
    ] {
        by_distance(path, points, findings);
    }
    findings.range("mechanics.inward_seek_extra_ms", mechanics.inward_seek_extra_ms, -50.0, 50.0);
    if let Some(time) = mechanics.cylinder_switch_ms {
        findings.time_ms("mechanics.cylinder_switch_ms", time);
    }
    findings.range("mechanics.read_settle_ms", mechanics.read_settle_ms, -60_000.0, 60_000.0);
    findings.range("mechanics.write_settle_ms", mechanics.write_settle_ms, -60_000.0, 60_000.0);
}

fn controller(spec: &DriveSpec, findings: &mut Findings) {
    let controller = &spec.controller;
    for (key, value) in [
        ("read_overhead_ms", controller.read_overhead_ms),
        ("write_overhead_ms", controller.write_overhead_ms),
        ("write_data_after_ms", controller.write_data_after_ms.unwrap_or(0.0)),
        ("hit_overhead_ms", controller.hit_overhead_ms.unwrap_or(0.0)),
        ("read_completion_ms", controller.read_completion_ms),
        ("write_completion_ms", controller.write_completion_ms),
        ("overhead_beside_seek_ms", controller.overhead_beside_seek_ms),
        ("seek_after_ms", controller.seek_after_ms.unwrap_or(0.0)),
        ("write_after_write_seek_delay_ms", controller.write_after_write_seek_delay_ms),
        ("write_after_write_completion_ms", controller.write_after_write_completion_ms.unwrap_or(0.0)),
        ("least_write_seek_ms", controller.least_write_seek_ms),
        ("data_preparation_ms", controller.data_preparation_ms),
    ] {
        findings.time_ms(&format!("controller.{key}"), value);
    }
    if let Some(history) = &controller.by_history {
        overheads_by_history(history, findings);
    }
    if !(1..=1_000_000).contains(&controller.queue_depth) {
        findings.add(
            "controller.queue_depth",
            format!("{} is not between 1 and 1000000", controller.queue_depth),
        );
    }
    match controller.scheduler.parse::<Policy>() {
        Err(error) => findings.add("controller.scheduler", format!("{error}; {}", error.hint)),
        Ok(policy)
            if policy.needs() > Needs::Addresses && spec.fidelity.rotation != RotationModel::Tracked =>
        {
            findings.add(
                "controller.scheduler",
                format!("{policy} chooses by the rotation, which `fidelity.rotation` leaves out: take sstf"),
            );
        }
        Ok(policy) if !policy.regards_duration_limits() => {
            let message = format!(
                "{policy} knows no limits: take `controller.scheduler = \"ncq\"`, or leave the key out"
            );
            if controller.duration_limit_ms.is_some() {
                findings.add("controller.duration_limit_ms", message.clone());
            }
            if !controller.duration_limits.is_empty() {
                findings.add("controller.duration_limits", message);
            }
        }
        Ok(_) => {}
    }
}

fn overheads_by_history(history: &OverheadsByHistory, findings: &mut Findings) {
    for (key, values) in [
        ("read_hit_ms", history.read_hit_ms),
        ("read_hit_at_rest_ms", [history.read_hit_at_rest_ms.unwrap_or(0.0); 2]),
        ("stream_wait_ms", [history.stream_wait_ms.unwrap_or(0.0); 2]),
        ("read_miss_ms", history.read_miss_ms),
        ("write_hit_ms", history.write_hit_ms),
        ("write_miss_ms", history.write_miss_ms),
        ("read_seek_after_ms", history.read_seek_after_ms.unwrap_or_default()),
        ("write_seek_after_ms", history.write_seek_after_ms.unwrap_or_default()),
    ] {
        for value in values {
            findings.time_ms(&format!("controller.by_history.{key}"), value);
        }
    }
}

fn by_distance(path: &str, points: &[[f64; 2]], findings: &mut Findings) {
    if !points.windows(2).all(|pair| pair[0][0] < pair[1][0]) {
        findings.add(path, "the distances must ascend");
    }
    for &[distance, ms] in points {
        if !(distance >= 0.0 && distance.fract() == 0.0 && distance <= f64::from(u32::MAX)) {
            findings.add(path, format!("{distance} is not a distance in cylinders"));
        }
        findings.range(path, ms, -100.0, 1e4);
    }
}

fn bursts(spec: &DriveSpec, sector_kib: f64, findings: &mut Findings) {
    let buffer = &spec.buffer;
    findings.range("buffer.burst_kib", buffer.burst_kib, sector_kib, 1e9);
    if buffer.size_kib > 0.0 {
        for (key, kib) in
            [("buffer_full_kib", buffer.buffer_full_kib), ("buffer_empty_kib", buffer.buffer_empty_kib)]
        {
            findings.range(&format!("buffer.{key}"), kib.unwrap_or(sector_kib), sector_kib, buffer.size_kib);
        }
    }
    if buffer.bus_transfers == Some(BusTransfers::One) {
        for (key, is_set) in [
            ("burst_kib", !is_default_burst(&buffer.burst_kib)),
            ("buffer_full_kib", buffer.buffer_full_kib.is_some()),
            ("buffer_full_fraction", buffer.buffer_full_fraction.is_some()),
            ("buffer_empty_kib", buffer.buffer_empty_kib.is_some()),
        ] {
            if is_set {
                let message = "has no effect where the data of a command go over the bus in one transfer \
                               (buffer.bus_transfers = \"one\"); leave it out, or use \"bursts\"";
                findings.add(format!("buffer.{key}"), message);
            }
        }
    }
    if buffer.bus_transfers == Some(BusTransfers::Bursts) {
        let cannot = if buffer.size_kib == 0.0 {
            "a drive without a buffer has no bursts: it needs the bus while the sectors pass"
        } else if !spec.bus.disconnects {
            "a drive that does not disconnect (bus.disconnects = false) keeps the bus for a whole command"
        } else if spec.fidelity.transfer == TransferModel::Linear {
            "a transfer that is linear in length (fidelity.transfer) takes the bus once"
        } else {
            return;
        };
        findings.add("buffer.bus_transfers", format!("{cannot}; use \"one\", or leave it out"));
    }
}

/// A transfer that is linear in length asks for the bus at its first sector and keeps it.
fn linear(spec: &DriveSpec, findings: &mut Findings) {
    if spec.fidelity.transfer != TransferModel::Linear {
        return;
    }
    let (buffer, controller) = (&spec.buffer, &spec.controller);
    let is_zero_latency = spec.cache.as_ref().is_some_and(|cache| cache.zero_latency);
    let is_physical = spec.physical_sector_bytes.is_some_and(|bytes| bytes != spec.sector_bytes);
    for (path, is_set, without) in [
        ("buffer.read_fence_kib", buffer.read_fence_kib > 0.0, "0"),
        ("buffer.read_fence_fraction", buffer.read_fence_fraction.is_some(), "absent"),
        ("buffer.read_fence_at_track_end", buffer.read_fence_at_track_end, "false"),
        ("buffer.write_fence_kib", buffer.write_fence_kib.is_some(), "absent"),
        ("buffer.write_fence_fraction", buffer.write_fence_fraction.is_some(), "absent"),
        ("buffer.write_on_arrival", buffer.write_on_arrival, "false"),
        ("buffer.write_start_ms", buffer.write_start_ms > 0.0, "0"),
        ("buffer.burst_kib", !is_default_burst(&buffer.burst_kib), "absent"),
        ("buffer.buffer_full_kib", buffer.buffer_full_kib.is_some(), "absent"),
        ("buffer.buffer_full_fraction", buffer.buffer_full_fraction.is_some(), "absent"),
        ("buffer.buffer_empty_kib", buffer.buffer_empty_kib.is_some(), "absent"),
        ("controller.data_preparation_ms", controller.data_preparation_ms > 0.0, "0"),
        ("cache.zero_latency", is_zero_latency, "false"),
        ("physical_sector_bytes", is_physical, "absent"),
    ] {
        if is_set {
            let message = format!(
                "a transfer that is linear in length (fidelity.transfer) has the bus from its first sector on: this must be \
                 {without}"
            );
            findings.add(path, message);
        }
    }
}

fn cache(spec: &DriveSpec, findings: &mut Findings) {
    linear(spec, findings);
    findings.range("buffer.read_fence_fraction", spec.buffer.read_fence_fraction.unwrap_or(0.0), 0.0, 1.0);
    findings.range("buffer.buffer_full_fraction", spec.buffer.buffer_full_fraction.unwrap_or(0.0), 0.0, 1.0);
    findings.range("buffer.write_fence_fraction", spec.buffer.write_fence_fraction.unwrap_or(0.0), 0.0, 1.0);
    findings.time_ms("buffer.write_start_ms", spec.buffer.write_start_ms);
    if let WritePolicy::ImmediateReporting { pending_writes: Some(0), .. } = spec.write_policy {
        let message = "0 writes cannot be pending; `write-through` reports none early";
        findings.add("write_policy.immediate-reporting.pending_writes", message);
    }
    let kib = 1e9;
    findings.range("buffer.size_kib", spec.buffer.size_kib, 0.0, kib);
    findings.range("buffer.read_fence_kib", spec.buffer.read_fence_kib, 0.0, kib);
    findings.range("buffer.write_fence_kib", spec.buffer.write_fence_kib.unwrap_or(0.0), 0.0, kib);
    let sector_kib = f64::from(spec.sector_bytes) / 1024.0;
    bursts(spec, sector_kib, findings);
    if spec.buffer.size_kib > 0.0 && spec.buffer.size_kib < 2.0 * sector_kib {
        findings.add("buffer.size_kib", "a buffer must hold two sectors; 0 stands for no buffer");
    }
    if let Some(cache) = &spec.cache {
        if !(1..=100_000).contains(&cache.segments) {
            findings.add("cache.segments", format!("{} is not between 1 and 100000", cache.segments));
        }
        if cache.written_data == WrittenData::OwnSegment && cache.segments < 2 {
            findings.add(
                "cache.written_data",
                "a segment for writes alone leaves none for reads: segments must be 2",
            );
        }
        findings.range("cache.segment_kib", cache.segment_kib, sector_kib, kib);
        findings.range("cache.read_ahead_limit_kib", cache.read_ahead_limit_kib.unwrap_or(1.0), 0.0, kib);
        findings.range("cache.bypass_above_kib", cache.bypass_above_kib.unwrap_or(1.0), 0.0, kib);
        if spec.buffer.size_kib == 0.0 {
            findings.add("cache", "a drive without a buffer (buffer.size_kib = 0) cannot have a cache");
        }
    }
    if let WritePolicy::WriteBack {
        size_kib,
        runs,
        runs_compared,
        high_water_percent,
        low_water_percent,
        idle_before_destage_ms,
        age_limit_ms,
        ..
    } = &spec.write_policy
    {
        if *runs == Some(0) {
            let message =
                "a write cache keeps track of at least one run; leave the key out for as many as fit";
            findings.add("write_policy.write-back.runs", message);
        }
        if *runs_compared == Some(0) {
            let message = "at least one run is looked at; leave the key out for all";
            findings.add("write_policy.write-back.runs_compared", message);
        }
        findings.time_ms("write_policy.write-back.idle_before_destage_ms", *idle_before_destage_ms);
        findings.time_ms("write_policy.write-back.age_limit_ms", *age_limit_ms);
        findings.range("write_policy.write-back.size_kib", *size_kib, sector_kib, kib);
        findings.range("write_policy.write-back.high_water_percent", *high_water_percent, 0.0, 100.0);
        findings.range(
            "write_policy.write-back.low_water_percent",
            *low_water_percent,
            0.0,
            *high_water_percent,
        );
    }
    write_cache::check(spec, sector_kib, findings);
    if spec.buffer.size_kib == 0.0 && spec.write_policy != (WritePolicy::WriteThrough {}) {
        findings.add("write_policy", "a drive without a buffer (buffer.size_kib = 0) must write through");
    }
    if spec.buffer.size_kib == 0.0 {
        let densest = f64::from(spec.joined_layout().most_sectors_per_track());
        let media = densest * f64::from(spec.sector_bytes) * spec.rotation_rpm / 60e6;
        if spec.bus.read_mb_per_s.min(spec.bus.write_mb_per_s) < media {
            findings.add(
                "buffer.size_kib",
                format!("without a buffer the bus must keep up with the media, {media:.3} MB/s: give it a buffer or a faster bus"),
            );
        }
    }
    for (key, value) in [
        ("read_overhead_ms", spec.published.read_overhead_ms),
        ("write_overhead_ms", spec.published.write_overhead_ms),
        ("single_cylinder_seek_ms", spec.published.single_cylinder_seek_ms),
        ("full_stroke_seek_ms", spec.published.full_stroke_seek_ms),
    ] {
        findings.time_ms(&format!("published.{key}"), value.unwrap_or(0.0));
    }
    if let Some(constant) = spec.fidelity.constant_ms {
        findings.time_ms("fidelity.constant_ms", constant);
    }
}

fn bus(path: &str, bus: &BusSpec, findings: &mut Findings) {
    findings.range(&format!("{path}.read_mb_per_s"), bus.read_mb_per_s, 1e-3, 1e6);
    findings.range(&format!("{path}.write_mb_per_s"), bus.write_mb_per_s, 1e-3, 1e6);
    findings.range(&format!("{path}.arbitration_us"), bus.arbitration_us, 0.0, 1e6);
    findings.range(&format!("{path}.reconnect_us"), bus.reconnect_us, 0.0, 1e6);
}

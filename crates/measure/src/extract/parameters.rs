//! Each value by itself, with its unit, its error and how it was found.

use super::bus;
use super::destage::Destage;
use super::ends;
use super::extraction::{Extraction, Parameter};
use super::history::History;
use super::load::queue_gain;
use super::times::Times;
use super::unfilled;
use super::write_cache::WriteCacheFindings;
use crate::angles::median::{median, spread};
use crate::device::Mode;
use crate::reading::idle::Idle;
use crate::reading::known::{Changes, Known};
use crate::reading::least::Least;
use crate::reading::order::TrackOrder;
use crate::reading::rotation;
use crate::reading::stalls::{Estimate, Stalls};
use crate::record::{ProbeName, Record, Sample};

/// How much of what was written while a write cache was filled went to the media is known within this share.
const ABOUT_GONE: f64 = 0.25;
/// Of a write cache to which so many times as much was written as is left at the pace of a full one, no size is told.
const MOST_GONE: f64 = 1.5;

pub(super) struct Parameters<'a> {
    pub(super) record: &'a Record,
    pub(super) known: &'a Known,
    pub(super) times: &'a Times,
    pub(super) history: History,
    pub(super) destage: Destage,
    pub(super) found: &'a Extraction,
    pub(super) stalls: Option<&'a Stalls>,
}

/// How long a drive rests before it begins to empty its write cache.
fn rests(idle: Idle) -> Parameter {
    let method = "flushes behind a read, some writes and a pause, or none";
    let (ms, ci95) = match idle {
        Idle::Rests(Estimate { value, ci95 }) => (value, Some(ci95)),
        Idle::Longer(ms) => (ms, None),
    };
    let rests = seen("idle_before_destage_ms", "ms", ms, ci95, method);
    match idle {
        Idle::Rests(_) => rests,
        Idle::Longer(_) => Parameter { value: None, observable: false, lower: Some(ms), ..rests },
    }
}

/// The size of a write cache of which a part went to the media while it was filled: less than was written, and, as what is chosen among
/// more goes faster, more than is left by the pace of a full one. Where most of what was written had gone, nothing between is told.
fn estimated(size: Parameter, cache: &WriteCacheFindings) -> Parameter {
    let (Some(kib), Some(at_most)) = (size.value, cache.size_at_most_kib) else { return size };
    let lower = (kib - ABOUT_GONE * (at_most - kib)).max(0.0);
    let bounded = Parameter { lower: Some(lower), upper: Some(at_most), ..size };
    if at_most < MOST_GONE * kib {
        return bounded;
    }
    let note =
        "what went to the media while it was filled, as when completions were seen late, is not known well";
    Parameter { value: None, observable: false, note: note.to_owned(), ..bounded }
}

fn seen(
    name: &'static str,
    unit: &'static str,
    value: f64,
    ci95: Option<f64>,
    method: &'static str,
) -> Parameter {
    Parameter {
        name,
        value: Some(value),
        unit,
        ci95,
        method,
        observable: true,
        lower: None,
        upper: None,
        note: String::new(),
    }
}

impl Parameters<'_> {
    pub(super) fn all(&self) -> Vec<Parameter> {
        let mut all = Vec::new();
        if self.found.rotating == Some(false) {
            all.extend(self.latency());
        }
        // Of what does not rotate, sawteeth are of something else.
        if self.found.rotating != Some(false) {
            self.rotation(&mut all);
            self.tracks(&mut all);
            self.times(&mut all);
        }
        self.controller(&mut all);
        self.write_cache(&mut all);
        self.stalls(&mut all);
        self.queue(&mut all);
        all
    }

    /// What a device shows that does not rotate.
    fn latency(&self) -> Option<Parameter> {
        let samples: Vec<&Sample> = rotation::last_stage(self.record).filter(|sample| sample.ok).collect();
        let writes = samples.first()?.mode.is_write();
        let mut all: Vec<f64> = samples.iter().map(|sample| sample.latency_ms()).collect();
        all.sort_unstable_by(f64::total_cmp);
        let (name, method) = if writes {
            ("write_latency_ms", "median of writes of one sector, after random pauses")
        } else {
            ("read_latency_ms", "median of reads of one sector, in many places")
        };
        let error = 1.96 * 1.2533 * spread(&all) / (all.len() as f64).sqrt();
        let mut latency = seen(name, "ms", median(&all), Some(error), method);
        latency.note = format!(
            "90 % take between {:.4} and {:.4} ms",
            all[all.len() / 20],
            all[all.len() - 1 - all.len() / 20]
        );
        Some(latency)
    }

    fn rotation(&self, all: &mut Vec<Parameter>) {
        if let Some(rotation) = self.known.rotation.filter(|rotation| rotation.rotates()) {
            let method = "completions at one sector are whole revolutions apart";
            all.push(seen("rotation_ms", "ms", rotation.turn_ms, Some(rotation.ci95_ms), method));
            all.push(seen("rotation_rpm", "rpm", 60_000.0 / rotation.turn_ms, None, method));
        } else if let Some(sawtooth) = self.found.skippy.first() {
            all.push(seen("rotation_ms", "ms", sawtooth.rotation_ms, None, "height of Skippy's drop"));
        }
    }

    fn tracks(&self, all: &mut Vec<Parameter>) {
        // Where heads differ, no number holds for all tracks of a zone.
        let start = self.found.zones.first().filter(|zone| zone.sectors_per_track_by_head.is_empty());
        if let Some(zone) = start {
            let method = if self.known.no_skews {
                "sectors in a revolution, one of which an access over a track's end loses"
            } else {
                "addresses between jumps of the angle"
            };
            all.push(seen("sectors_per_track", "sectors", zone.sectors_per_track as f64, Some(0.0), method));
        } else if let Some(sawtooth) =
            self.found.skippy.first().filter(|_| self.known.densities.is_none() && self.known.has_zones())
        {
            let method = "a revolution over the slope of Skippy's base line";
            all.push(seen("sectors_per_track", "sectors", sawtooth.sectors_per_track, None, method));
        }
        let zones = &self.found.zones;
        // Where zones alone show that surfaces differ, the tracks at the start do not tell how many there are.
        let hidden = self.known.densities.as_ref().is_some_and(Vec::is_empty);
        let heads = self.known.order.as_ref().and_then(TrackOrder::surfaces).filter(|_| !hidden);
        if let Some(heads) = heads {
            let method = match self.known.changes() {
                _ if !self.known.head_zones.is_empty() => "how often the sectors of tracks recur",
                Changes::CylinderThenHead
                    if self.known.order.as_ref().is_some_and(|order| order.by_times) =>
                {
                    "minimum times over more and more tracks: where these turn back"
                }
                Changes::CylinderOnly | Changes::Alike => {
                    "minimum times from track to track: where cylinders change"
                }
                _ => "how often the rarer of the two skews recurs",
            };
            all.push(seen("heads", "", f64::from(heads), Some(0.0), method));
        } else if let Some(heads) = self.skippy_heads() {
            all.push(seen(
                "heads",
                "",
                f64::from(heads),
                None,
                "Skippy's head switches between cylinder switches",
            ));
        }
        let of_head = start.map(|zone| (zone.track_skew_sectors, zone.track_skew_ci95_sectors));
        let of_cylinder = start
            .filter(|_| self.known.sure_changes() != Changes::Unknown)
            .map(|zone| (zone.cylinder_skew_sectors, zone.cylinder_skew_ci95_sectors));
        for (name, skew) in [("track_skew_sectors", of_head), ("cylinder_skew_sectors", of_cylinder)] {
            if let Some((Some(value), ci95)) = skew {
                all.push(seen(
                    name,
                    "sectors",
                    value,
                    ci95,
                    "jump of the angle from track to track, in the first zone",
                ));
            }
        }
        if let Some(last) = zones.last().and_then(|zone| zone.last_cylinder) {
            let mut cylinders = seen(
                "cylinders",
                "",
                (last + 1) as f64,
                None,
                "addresses over heads times sectors per track, whole cylinders in each zone",
            );
            "cylinders without data are not seen, unless the angles behind them show them"
                .clone_into(&mut cylinders.note);
            all.push(cylinders);
        }
        if self.known.actuators > 1 {
            let method = "the second half of the addresses is like the first";
            all.push(seen("actuators", "", self.known.actuators as f64, None, method));
        }
        if !zones.is_empty() {
            let method = match start {
                Some(_) => "runs of tracks with equally many sectors",
                None => "runs of cylinders whose heads have the same sectors",
            };
            all.push(seen("zones", "", zones.len() as f64, None, method));
        }
    }

    fn times(&self, all: &mut Vec<Parameter>) {
        let turn_ms = self.known.spindle.map_or(0.0, |spindle| spindle.ms(1.0));
        let per_turn = self.found.zones.first().map_or(f64::INFINITY, |zone| zone.sectors_per_revolution);
        let method = "minimum time to a sector of the same track, its transfer taken off";
        for (name, ways) in [("mtm_ms", &self.times.write), ("mtm_read_ms", &self.times.read)] {
            if let Some(same) = ways.same {
                all.push(seen(name, "ms", same.ms, Some(same.ci95_ms()), method));
            }
        }
        all.extend(self.skippy_mtm());
        for (reads, ways) in [(false, &self.times.write), (true, &self.times.read)] {
            let skews =
                self.found.zones.first().map(|zone| (zone.track_skew_sectors, zone.cylinder_skew_sectors));
            let (head_skew, cylinder_skew) = skews.unwrap_or((None, None));
            for (word, least, skew) in
                [("head", ways.head, head_skew), ("cylinder", ways.cylinder, cylinder_skew)]
            {
                let name = match (reads, word) {
                    (true, "head") => "head_switch_ms",
                    (true, _) => "cylinder_switch_ms",
                    (false, "head") => "write_head_switch_ms",
                    (false, _) => "write_cylinder_switch_ms",
                };
                let skew_ms = skew.map(|sectors| sectors * turn_ms / per_turn);
                let mut parameter = switch(name, ways.same, least, skew_ms);
                if let Some(parameter) = parameter.as_mut().filter(|_| self.known.skews_unsure) {
                    parameter.ci95 = None;
                    "that of the head and that of the cylinder may be swapped"
                        .clone_into(&mut parameter.note);
                }
                all.extend(parameter);
            }
        }
        if self.times.read.same.is_none()
            && self.known.densities.is_none()
            && let Some(sawtooth) = self.found.skippy.first()
        {
            for (name, level) in [
                ("head_switch_ms", sawtooth.head_switch_ms),
                ("cylinder_switch_ms", sawtooth.cylinder_switch_ms),
            ] {
                all.extend(level.map(|level| self.skippy_switch(name, level)));
            }
        }
        if let Some(ms) = self.found.skippy.iter().find_map(|sawtooth| sawtooth.head_positioning_ms) {
            let mut width = seen(
                "head_positioning_ms",
                "ms",
                ms,
                None,
                "width of the downward spikes before Skippy's drop",
            );
            "the part of the skew that the switch does not need; a multiple of a sector's time"
                .clone_into(&mut width.note);
            all.push(width);
        }
    }

    /// Surfaces as Skippy counts them: where tracks were followed and no order was found, its count may be of anything.
    fn skippy_heads(&self) -> Option<u32> {
        let looked = self.known.has_zones() && self.record.has_finished(ProbeName::Surfaces);
        self.found.skippy.iter().find_map(|sawtooth| sawtooth.heads).filter(|_| !looked)
    }

    /// Skippy's lowest point, where no least time of its kind was measured: of the writes, or, where there are none, of the
    /// reads that nothing was read ahead of.
    fn skippy_mtm(&self) -> Option<Parameter> {
        let sawtooths = &self.found.skippy;
        let (name, known, sawtooth) = match sawtooths.iter().find(|sawtooth| sawtooth.probe == "skippy-write")
        {
            Some(writes) => ("mtm_ms", self.times.write.same, writes),
            None => ("mtm_read_ms", self.times.read.same, sawtooths.last()?),
        };
        let mut mtm = seen(name, "ms", sawtooth.mtm_ms, None, "Skippy's lowest point, a transfer taken off");
        let sector_ms = sawtooth.rotation_ms / sawtooth.sectors_per_track;
        mtm.lower = Some(sawtooth.mtm_ms - sector_ms);
        mtm.upper = Some(sawtooth.mtm_ms);
        known.is_none().then_some(mtm)
    }

    /// Skippy's lines show the skew, which hides the switch; only the formula has no skew.
    fn skippy_switch(&self, name: &'static str, level: f64) -> Parameter {
        let method = "height of Skippy's line over its base line";
        if self.record.head.device.kind == "mock" {
            return seen(name, "ms", level, None, method);
        }
        Parameter {
            value: None,
            observable: false,
            lower: Some(0.0),
            upper: Some(level),
            note: "Skippy shows the skew, not the switch that it hides; the probe `switches` shows more"
                .to_owned(),
            ..seen(name, "ms", level, None, method)
        }
    }

    fn write_cache(&self, all: &mut Vec<Parameter>) {
        let Some(cache) = &self.found.write_cache else { return };
        let method = "random writes one after the other, until they wait";
        if let Some(kib) = cache.size_kib {
            let size = seen("write_cache_kib", "KiB", kib, None, method);
            all.push(if cache.size_is_more { self.unfilled(&size) } else { estimated(size, cache) });
        }
        if let Some(runs) = cache.runs {
            all.push(seen("write_cache_runs", "", runs as f64, None, method));
        }
        if let Some(rate) = cache.bus_mb_per_s {
            let method = "writes of several sizes into an empty write cache";
            all.push(seen("write_bus_mb_per_s", "MB/s", rate, cache.bus_ci95_mb_per_s, method));
        }
        all.extend(cache.idle.map(rests));
        let method = "random writes when the write cache is full";
        for (name, unit, value) in
            [("destage_ms", "ms", cache.destage_ms), ("destage_mb_per_s", "MB/s", cache.destage_mb_per_s)]
        {
            all.extend(value.map(|value| seen(name, unit, value, None, method)));
        }
    }

    /// The size of a write cache whose writes never waited: not known, unless they came faster than any media take them.
    fn unfilled(&self, size: &Parameter) -> Parameter {
        let fastest =
            self.found.zones.iter().map(|zone| zone.sectors_per_track).max().zip(self.known.spindle);
        let lower = fastest.and_then(|(sectors, spindle)| {
            let bytes = sectors as f64 * f64::from(self.found.device.sector_bytes);
            unfilled::at_least_kib(self.record, self.known.actuators as f64 * bytes / spindle.ms(1.0))
        });
        let note = match lower {
            Some(_) => "writes never waited: less what the media may have taken meanwhile",
            None => "not known: writes never waited, as if the drive wrote them as fast as they came",
        };
        Parameter { value: None, observable: false, lower, note: note.to_owned(), ..size.clone() }
    }

    fn queue(&self, all: &mut Vec<Parameter>) {
        for (name, mode) in [("read_queue_gain", Mode::Read), ("write_queue_gain", Mode::Write)] {
            let Some(gain) = queue_gain(&self.found.random, mode) else { continue };
            let method = "IOPS with many requests outstanding, over IOPS with one";
            let order =
                if gain.reorders { "in an order of the drive's choice" } else { "in the order of arrival" };
            let mut value = seen(name, "", gain.times, gain.ci95, method);
            value.note = format!("{} outstanding, served {order}", gain.depth);
            all.push(value);
        }
    }

    fn stalls(&self, all: &mut Vec<Parameter>) {
        let Some(stalls) = self.stalls else { return };
        let method = "accesses that take much longer than all others: how long they wait, and when";
        let length = stalls.length;
        all.push(seen("stall_ms", "ms", length.value, Some(length.ci95), method));
        all.extend(
            stalls.interval.map(|each| seen("stall_interval_s", "s", each.value, Some(each.ci95), method)),
        );
    }

    /// Bounds for the bus where there is no cache.
    fn bus_beside_media(&self) -> Option<Parameter> {
        let zone_at = |lba: u64| self.found.zones.iter().rev().find(|zone| zone.first_lba <= lba);
        let by_head = |lba: u64| self.known.sectors_by_head(lba).map(|sectors| sectors as f64);
        let sectors = |lba: u64| by_head(lba).or(zone_at(lba).map(|zone| zone.sectors_per_revolution));
        let slope = |lba: u64| sectors(lba).map_or(0.0, |sectors| 1.0 / sectors);
        let (lower, upper) = bus::beside_media(self.record, self.known.spindle?, slope)?;
        let method = "reads of several sizes: end of the read, less the passing of its last sector";
        Some(Parameter {
            value: None,
            observable: false,
            lower: Some(lower),
            upper: Some(upper),
            note: "the upper bound if all of a read is in the buffer before it is sent, the lower if it is sent as it comes"
                .to_owned(),
            ..seen("bus_mb_per_s", "MB/s", upper, None, method)
        })
    }

    fn controller(&self, all: &mut Vec<Parameter>) {
        if let Some(ms) = self.found.seek.write_minus_read_ms {
            let method = "seeks before writes less seeks before reads, median over the distances";
            all.push(seen("write_settle_difference_ms", "ms", ms, None, method));
        }
        if let Some(ms) = self.found.seek.inward_extra_ms {
            let method = "seeks inwards less the mean of both ways, median over the distances";
            all.push(seen("inward_seek_extra_ms", "ms", ms, self.found.seek.inward_extra_ci95_ms, method));
        }
        for (name, later) in
            [("read_after_read_ms", self.history.read), ("write_after_read_ms", self.history.write)]
        {
            let method = "random reads and writes in alternation: start of the seek after a read, less that after a write";
            all.extend(later.map(|later| seen(name, "ms", later.value, Some(later.ci95), method)));
        }
        let method = "writes that the cache brings to the media, less those that are forced there: the way to another track";
        if let Some(beside) = self.destage.beside {
            all.push(seen("cached_write_longer_ms", "ms", beside.value, Some(beside.ci95), method));
        }
        if let Some(common) =
            self.destage.common.filter(|_| self.known.sure_changes() == Changes::HeadThenCylinder)
        {
            let method = "writes that the cache brings to the media: minimum time to the other track less that on the same";
            all.push(seen("cached_write_head_switch_ms", "ms", common.value, Some(common.ci95), method));
        }
        if let Some(later) = self.known.spindle.and_then(|spindle| ends::read_later(self.record, spindle)) {
            let method = "angle at which a read of a sector is complete, less that of a write to it";
            all.push(seen("read_ends_later_ms", "ms", later.value, Some(later.ci95), method));
        }
        let points =
            if self.found.seek.write.is_empty() { &self.found.seek.read } else { &self.found.seek.write };
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let method = "minimum time over the distance less that on the same track";
            if self.known.sure_changes() != Changes::Unknown {
                all.push(seen("seek_single_ms", "ms", first.ms, Some(first.ci95_ms), method));
            }
            all.push(seen("seek_longest_ms", "ms", last.ms, Some(last.ci95_ms), method));
        }
        all.extend(self.bus_beside_media());
        let Some(cache) = &self.found.cache else { return };
        let method = "reads that the cache answers, of several sizes";
        if let Some(ms) = cache.hit_overhead_ms.or(cache.hit_ms) {
            all.push(seen("hit_overhead_ms", "ms", ms, None, method));
        }
        if let Some(rate) = cache.bus_mb_per_s {
            all.push(seen("bus_mb_per_s", "MB/s", rate, cache.bus_ci95_mb_per_s, method));
        }
        if let Some(segments) = cache.segments {
            let mut value = seen(
                "cache_segments",
                "",
                segments as f64,
                None,
                "other places read before the first one misses",
            );
            if cache.segments_are_more {
                value = Parameter { value: None, observable: false, lower: Some(segments as f64), ..value };
            }
            all.push(value);
        }
        if let Some(least) = cache.segment_sectors_at_least {
            all.push(Parameter {
                value: None,
                observable: false,
                lower: Some(least as f64),
                upper: cache.segment_sectors_at_most.map(|most| most as f64),
                ..seen(
                    "cache_segment_sectors",
                    "sectors",
                    0.0,
                    None,
                    "how far behind a read the cache answers, and the largest read of which it keeps all",
                )
            });
        }
    }
}

/// The switch is what the way to the other track takes longer; no longer than the skew allows. What the overhead hides is
/// bounded only.
fn switch(
    name: &'static str,
    same: Option<Least>,
    other: Option<Least>,
    skew_ms: Option<f64>,
) -> Option<Parameter> {
    let (same, other) = (same?, other?);
    let ms = other.ms - same.ms;
    let error = f64::hypot(same.ci95_ms(), other.ci95_ms());
    let method = "minimum time to the other track less that on the same track";
    let resolution = (2.0 * error).max(0.002);
    if ms > resolution {
        let mut value = seen(name, "ms", ms, Some(error), method);
        "settle included, less the time overlapped with command processing".clone_into(&mut value.note);
        return Some(value);
    }
    Some(Parameter {
        value: None,
        observable: false,
        lower: Some(0.0),
        upper: Some(skew_ms.map_or(same.ms, |skew| skew.min(same.ms))),
        ci95: None,
        note: "hidden: command processing takes at least as long".to_owned(),
        ..seen(name, "ms", ms, None, method)
    })
}

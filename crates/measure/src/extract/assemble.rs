//! Everything a record says, put together.

use super::cylinders::CylinderMap;
use super::known::{self, Known};
use super::landings::{self, Least};
use super::order::TrackOrder;
use super::seeks::{AtRest, seeks};
use super::tracks::{self, Border};
use super::{Extraction, Parameter, ZoneFindings, cache, load, rotation, skippy, zoned};
use crate::MeasureError;
use crate::probe::switches::{COMMON, RARE, READS, SAME_TRACK};
use crate::record::{Record, Sample};
use crate::spindle::{Spindle, median, spread};

/// Reads a record.
///
/// # Errors
/// [`MeasureError::Insufficient`] for a record without samples.
pub fn extract(record: &Record) -> Result<Extraction, MeasureError> {
    if record.samples.is_empty() {
        return Err(MeasureError::Insufficient {
            problem: "the record holds no samples".to_owned(),
            hint: "run at least one probe".to_owned(),
        });
    }
    let known = Known::of(record);
    let rotation = rotation::rotation(record);
    let turn_ms = known.spindle.map(|spindle| spindle.ms(1.0));
    let sawtooths: Vec<skippy::Sawtooth> = ["skippy-write", "skippy-read", "skippy-backwards"]
        .iter()
        .filter_map(|probe| skippy::sawtooth(record, probe, turn_ms))
        .collect();
    let map = CylinderMap::of(record);
    let zones = zone_findings(record, &known, map.as_ref());
    let slope = |lba: u64| {
        let zone = zones.iter().rev().find(|zone| zone.first_lba <= lba);
        zone.map_or(0.0, |zone| 1.0 / zone.sectors_per_turn)
    };
    let times = known.spindle.map(|spindle| Times::of(record, spindle, slope)).unwrap_or_default();
    let seek = known
        .spindle
        .map(|spindle| {
            let rest = AtRest {
                write_ms: times.write.same.map(|least| least.ms),
                read_ms: times.read.same.map(|least| least.ms),
            };
            seeks(record, spindle, &rest, slope)
        })
        .unwrap_or_default();
    let cache = cache::cache(record, known.sectors_per_track);
    let mut found = Extraction {
        device: record.head.device.clone(),
        rotating: rotation.map(|rotation| rotation.coherence >= rotation::COHERENT),
        parameters: Vec::new(),
        order: known
            .order
            .as_ref()
            .map(|order| if order.by_surface { "serpentine-by-surface" } else { "classical" }),
        group_cylinders: known.order.as_ref().filter(|o| o.by_surface).map(|order| order.group_cylinders),
        naive: sawtooths.first().and_then(skippy::naive),
        bandwidth: zoned::bandwidth(record, |lba| zones.iter().filter(|zone| zone.first_lba <= lba).count()),
        random: load::load(record),
        warnings: Vec::new(),
        samples: record.samples.len(),
        failed: record.failures().count(),
        failed_lbas: record.failures().take(100).map(|sample| sample.lba).collect(),
        finished: record.head.finished.clone(),
        skippy: sawtooths,
        seek,
        cache,
        zones,
    };
    found.parameters = Parameters { record, known: &known, times: &times, found: &found }.all();
    found.warnings = warnings(record, &known, &found);
    Ok(found)
}

/// Least times to the same track, over the more common and over the rarer skew.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    same: Option<Least>,
    common: Option<Least>,
    rare: Option<Least>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    write: Ways,
    read: Ways,
}

impl Times {
    fn of(record: &Record, spindle: Spindle, slope: impl Fn(u64) -> f64 + Copy) -> Self {
        let middle = |series: u32| -> Option<Least> {
            let found = landings::by_step(record, ("switches", series), slope, spindle);
            let ms: Vec<f64> = found.values().map(|least| least.ms).collect();
            let half: Vec<f64> = found.values().map(|least| least.half_width_ms).collect();
            let half_width_ms = median(&half).max(1.96 * spread(&ms) / (ms.len() as f64).sqrt());
            (!ms.is_empty()).then(|| Least { ms: median(&ms), half_width_ms })
        };
        let ways = |offset: u32| Ways {
            same: middle(offset + SAME_TRACK),
            common: middle(offset + COMMON),
            rare: middle(offset + RARE),
        };
        Self { write: ways(0), read: ways(READS) }
    }
}

fn zone_findings(record: &Record, known: &Known, map: Option<&CylinderMap>) -> Vec<ZoneFindings> {
    let by_surface = known.order.as_ref().is_some_and(|order| order.by_surface);
    let heads_of = |borders: &[Border]| -> Option<u32> {
        match &known.order {
            Some(order) if order.by_surface => Some(order.heads),
            _ => super::order::pattern(borders).map(|pattern| pattern.spacing as u32),
        }
    };
    let zone = |(series, zone): (usize, &super::zones::Zone)| {
        let mut borders = known
            .spindle
            .map(|spindle| tracks::borders(record, "zone-tracks", series as u32, spindle))
            .unwrap_or_default();
        if borders.is_empty() && known.zones.len() == 1 {
            borders.clone_from(&known.borders);
        }
        let per_turn = borders.first().map_or(zone.sectors_per_track as f64, |border| border.per_turn);
        let (common, rare) = if borders.is_empty() { (None, None) } else { tracks::skews(&borders) };
        let (head, cylinder) = if by_surface { (rare, common) } else { (common, rare) };
        let sectors = |skew: tracks::Skew| skew.turns * per_turn;
        let errors = [head, cylinder].into_iter().flatten().map(|skew| skew.ci95_turns * per_turn);
        let cylinders = map.and_then(|map| map.zones.get(series));
        ZoneFindings {
            first_lba: zone.first_lba,
            end_lba: zone.end_lba,
            first_cylinder: cylinders.map(|zone| zone.first_cylinder),
            last_cylinder: cylinders.map(|zone| zone.first_cylinder + zone.cylinders - 1),
            sectors_per_track: zone.sectors_per_track,
            sectors_per_turn: per_turn,
            track_skew_sectors: head.map(sectors),
            cylinder_skew_sectors: cylinder.map(sectors),
            skew_ci95_sectors: errors.reduce(f64::max),
            heads: heads_of(&borders),
        }
    };
    known.zones.iter().enumerate().map(zone).collect()
}

struct Parameters<'a> {
    record: &'a Record,
    known: &'a Known,
    times: &'a Times,
    found: &'a Extraction,
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
    fn all(&self) -> Vec<Parameter> {
        let mut all = Vec::new();
        if self.found.rotating == Some(false) {
            all.extend(self.latency());
        }
        self.rotation(&mut all);
        self.tracks(&mut all);
        self.times(&mut all);
        self.controller(&mut all);
        all
    }

    /// What a device shows that does not rotate.
    fn latency(&self) -> Option<Parameter> {
        let samples: Vec<&Sample> = rotation::last_stage(self.record).filter(|sample| sample.ok).collect();
        let writes = samples.first()?.mode.is_write();
        let mut all: Vec<f64> = samples.iter().map(|sample| sample.latency_ms()).collect();
        all.sort_unstable_by(f64::total_cmp);
        let (name, method) = if writes {
            ("write_latency_ms", "middle of writes of one sector, after random pauses")
        } else {
            ("read_latency_ms", "middle of reads of one sector, in many places")
        };
        let error = 1.96 * 1.2533 * spread(&all) / (all.len() as f64).sqrt();
        let mut latency = seen(name, "ms", median(&all), Some(error), method);
        latency.note = format!(
            "nine of ten take between {:.4} and {:.4} ms",
            all[all.len() / 20],
            all[all.len() - 1 - all.len() / 20]
        );
        Some(latency)
    }

    fn rotation(&self, all: &mut Vec<Parameter>) {
        if let Some(rotation) = rotation::rotation(self.record)
            && self.known.spindle.is_some()
        {
            let method = "completions at one sector lie whole turns apart";
            all.push(seen("rotation_ms", "ms", rotation.turn_ms, Some(rotation.ci95_ms), method));
            all.push(seen("rotation_rpm", "rpm", 60_000.0 / rotation.turn_ms, None, method));
        } else if let Some(sawtooth) = self.found.skippy.first() {
            all.push(seen("rotation_ms", "ms", sawtooth.rotation_ms, None, "height of Skippy's drop"));
        }
    }

    fn tracks(&self, all: &mut Vec<Parameter>) {
        let start = self.found.zones.first();
        if let Some(zone) = start {
            let method = "addresses between jumps of the angle";
            all.push(seen("sectors_per_track", "sectors", zone.sectors_per_track as f64, Some(0.0), method));
        } else if let Some(sawtooth) = self.found.skippy.first() {
            let method = "a turn over the slope of Skippy's base line";
            all.push(seen("sectors_per_track", "sectors", sawtooth.sectors_per_track, None, method));
        }
        let zones = &self.found.zones;
        let heads = self.known.order.as_ref().map(|order: &TrackOrder| order.heads);
        if let Some(heads) = heads {
            let method = "tracks between changes of the rarer skew";
            all.push(seen("heads", "", f64::from(heads), Some(0.0), method));
        } else if let Some(heads) = self.found.skippy.iter().find_map(|sawtooth| sawtooth.heads) {
            all.push(seen(
                "heads",
                "",
                f64::from(heads),
                None,
                "Skippy's head switches between cylinder switches",
            ));
        }
        for (name, value) in [
            ("track_skew_sectors", start.and_then(|zone| zone.track_skew_sectors)),
            ("cylinder_skew_sectors", start.and_then(|zone| zone.cylinder_skew_sectors)),
        ] {
            let ci95 = start.and_then(|zone| zone.skew_ci95_sectors);
            if let Some(value) = value {
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
                "addresses over heads times sectors per track",
            );
            "cylinders without data are not seen".clone_into(&mut cylinders.note);
            all.push(cylinders);
        }
        if self.known.actuators > 1 {
            let method = "the second half of the addresses is like the first";
            all.push(seen("actuators", "", self.known.actuators as f64, None, method));
        }
        if !zones.is_empty() {
            all.push(seen("zones", "", zones.len() as f64, None, "runs of tracks with equally many sectors"));
        }
    }

    fn times(&self, all: &mut Vec<Parameter>) {
        let turn_ms = self.known.spindle.map_or(0.0, |spindle| spindle.ms(1.0));
        let per_turn = self.found.zones.first().map_or(f64::INFINITY, |zone| zone.sectors_per_turn);
        let method = "least time to a sector of the same track, its transfer taken off";
        for (name, ways) in [("mtm_ms", &self.times.write), ("mtm_read_ms", &self.times.read)] {
            if let Some(same) = ways.same {
                all.push(seen(name, "ms", same.ms, Some(same.half_width_ms), method));
            }
        }
        all.extend(self.skippy_mtm());
        let by_surface = self.known.order.as_ref().is_some_and(|order| order.by_surface);
        for (reads, ways) in [(false, &self.times.write), (true, &self.times.read)] {
            let (head, cylinder) =
                if by_surface { (ways.rare, ways.common) } else { (ways.common, ways.rare) };
            let skews =
                self.found.zones.first().map(|zone| (zone.track_skew_sectors, zone.cylinder_skew_sectors));
            let (head_skew, cylinder_skew) = skews.unwrap_or((None, None));
            for (word, least, skew) in [("head", head, head_skew), ("cylinder", cylinder, cylinder_skew)] {
                let name = match (reads, word) {
                    (true, "head") => "head_switch_ms",
                    (true, _) => "cylinder_switch_ms",
                    (false, "head") => "write_head_switch_ms",
                    (false, _) => "write_cylinder_switch_ms",
                };
                let skew_ms = skew.map(|sectors| sectors * turn_ms / per_turn);
                if let Some(parameter) = switch(name, ways.same, least, skew_ms) {
                    all.push(parameter);
                }
            }
        }
        if self.times.read.same.is_none()
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
            "what the skew leaves beyond the switch; a multiple of a sector's time"
                .clone_into(&mut width.note);
            all.push(width);
        }
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

    fn controller(&self, all: &mut Vec<Parameter>) {
        if let Some(ms) = self.found.seek.write_minus_read_ms {
            let method = "seeks before writes less seeks before reads, middle over the distances";
            all.push(seen("write_settle_difference_ms", "ms", ms, None, method));
        }
        if let Some(ms) = self.found.seek.inward_extra_ms {
            let method = "seeks inwards less the mean of both ways, middle over the distances";
            all.push(seen("inward_seek_extra_ms", "ms", ms, None, method));
        }
        let points =
            if self.found.seek.write.is_empty() { &self.found.seek.read } else { &self.found.seek.write };
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let method = "least time over the distance less that on the same track";
            all.push(seen("seek_single_ms", "ms", first.ms, Some(first.ci95_ms), method));
            all.push(seen("seek_longest_ms", "ms", last.ms, Some(last.ci95_ms), method));
        }
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
                "places after which the first one still hits",
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
                ..seen("cache_segment_sectors", "sectors", 0.0, None, "how far ahead reads hit")
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
    let error = f64::hypot(same.half_width_ms, other.half_width_ms);
    let method = "least time to the other track less that on the same track";
    let resolution = (2.0 * error).max(0.002);
    if ms > resolution {
        let mut value = seen(name, "ms", ms, Some(error), method);
        "settle included, and less what passes beside the command's processing".clone_into(&mut value.note);
        return Some(value);
    }
    Some(Parameter {
        value: None,
        observable: false,
        lower: Some(0.0),
        upper: Some(skew_ms.map_or(same.ms, |skew| skew.min(same.ms))),
        ci95: None,
        note: "hidden: the command's processing takes at least as long".to_owned(),
        ..seen(name, "ms", ms, None, method)
    })
}

fn warnings(record: &Record, known: &Known, found: &Extraction) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.rotating == Some(false) {
        warnings.push(
            "the device is not rotating: completions at one sector lie anyhow. What was measured is its latency".to_owned(),
        );
    }
    if let Some(spindle) = known.spindle
        && record.head.writes == "write-forced"
    {
        let hidden: Vec<String> = known::write_coherence(record, spindle)
            .iter()
            .filter(|(_, coherence)| *coherence < rotation::COHERENT)
            .map(|(series, _)| write_case(*series).to_owned())
            .collect();
        warnings.push(format!(
            "writes are complete before they are on the media ({}): forced writes were used; where these are not possible, \
             `skippy-backwards` sees the media past the cache",
            hidden.join(", ")
        ));
    }
    if found.order == Some("serpentine-by-surface") {
        warnings.push(
            "tracks run along surfaces: Skippy's count of heads means nothing here; they were counted by angle and seek"
                .to_owned(),
        );
    }
    if known.spindle.is_some() && known.order.is_none() && record.has_finished("surfaces") {
        warnings.push(
            "surfaces could not be counted: no second kind of skew recurs (equal skews, or tracks that cannot be told apart)"
                .to_owned(),
        );
    }
    if found.failed > 0 {
        warnings.push(format!("{} accesses failed and were skipped", found.failed));
    }
    warnings
}

/// What a series of the probe `write-cache` does.
fn write_case(series: u32) -> &'static str {
    match series {
        0 => "the same sector again",
        1 => "behind a write of the sector before",
        2 => "behind a read",
        3 => "here and there",
        _ => "two places by turns",
    }
}

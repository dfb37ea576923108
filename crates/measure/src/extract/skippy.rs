//! Skippy's sawtooth: the drop, the lines, and what they mean (Talagala et al. 1999, section 4.1).

use crate::angles::median::{median, spread};
use crate::angles::spindle::wrap_signed;
use crate::reading::drops::jumps;
use crate::record::{ProbeName, Record, Role};
use serde::Serialize;

/// What one Skippy shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sawtooth {
    /// The probe.
    pub probe: String,
    /// Steps, in sectors, and latencies, in ms, as measured.
    pub points: Vec<(u64, f64)>,
    /// For each point: `base` (same track), `head`, `cylinder`, `other`.
    pub kinds: Vec<&'static str>,
    /// The first step without the lost turn, in sectors.
    pub drop_step: u64,
    /// Time of a turn: the height of the drop, one sector's rotation added, in ms.
    pub rotation_ms: f64,
    /// Slope of the base line, in ms per sector.
    pub slope_ms: f64,
    /// Intercept of the base line behind the drop: one transfer unit's time, in ms.
    pub intercept_ms: f64,
    /// Sectors per turn, of a turn over the slope.
    pub sectors_per_track: f64,
    /// Minimum time to media, one sector's transfer taken off, in ms: between the lowest point and one sector's rotation less.
    pub mtm_ms: f64,
    /// Height of the head-switch line over the base line, in ms.
    pub head_switch_ms: Option<f64>,
    /// Height of the cylinder-switch line over the base line, in ms.
    pub cylinder_switch_ms: Option<f64>,
    /// Head switches between two cylinder switches and one.
    pub heads: Option<u32>,
    /// Switch points before the drop that lost no turn: from this step to the drop the head positions itself in what the
    /// skew leaves of the overhead, in ms (R2.8). `None` where no point dives.
    pub head_positioning_ms: Option<f64>,
}

/// The sawtooth of a probe; `None` where there is none.
pub(crate) fn sawtooth(record: &Record, probe: ProbeName, turn_ms: Option<f64>) -> Option<Sawtooth> {
    let unit = record.head.device.unit();
    let samples = record.of(probe).filter(|sample| sample.role == Role::Measure);
    let backwards = probe == ProbeName::SkippyBackwards;
    let sign = if backwards { -1.0 } else { 1.0 };
    let all: Vec<(u64, f64)> =
        samples.map(|sample| (sample.step as u64 * unit, sample.latency_ms())).collect();
    let latencies: Vec<f64> = all.iter().map(|point| point.1).collect();
    let jump = *jumps(&latencies, backwards).first()?;
    let (slope_ms, turn_ms) = base(&all, jump, turn_ms, sign)?;
    let sectors_per_track = turn_ms / slope_ms;
    let sector_ms = slope_ms * unit as f64;
    // Steps longer than a track change it every time: they have no base line.
    let shorter = all.iter().filter(|point| (point.0 + unit) as f64 <= sectors_per_track).count();
    if jump >= shorter {
        return None;
    }
    let points = &all[..shorter];
    // From one completion to the next, the disk turns by the step and the sector itself, and by whole turns.
    let offset = |&(step, latency): &(u64, f64)| {
        (sign * latency - step as f64 * slope_ms - sector_ms + 0.45 * sector_ms).rem_euclid(turn_ms)
            - 0.45 * sector_ms
    };
    let offsets: Vec<f64> = points.iter().map(offset).collect();
    let width = width(points, sector_ms, turn_ms);
    let base_ms = level(&offsets, 0.0, width, turn_ms);
    let levels = levels(&offsets, width, turn_ms);
    let kinds = kinds(&offsets, base_ms, &levels, width, turn_ms);
    let lowest = points
        .iter()
        .zip(&kinds)
        .filter(|(_, kind)| **kind == "base")
        .map(|(point, _)| point.1)
        .fold(f64::INFINITY, f64::min);
    let dive = if backwards { None } else { dive(points, &kinds, jump, turn_ms) };
    Some(Sawtooth {
        probe: probe.to_string(),
        drop_step: points[jump].0,
        rotation_ms: turn_ms,
        slope_ms,
        intercept_ms: base_ms + sector_ms,
        sectors_per_track,
        mtm_ms: lowest - sector_ms,
        head_switch_ms: levels.0.map(|level| level - base_ms),
        cylinder_switch_ms: levels.1.map(|level| level - base_ms),
        heads: heads(&kinds),
        head_positioning_ms: dive.map(|step| (points[jump].0 - step) as f64 * slope_ms),
        kinds: all
            .iter()
            .enumerate()
            .map(|(place, _)| kinds.get(place).copied().unwrap_or("other"))
            .collect(),
        points: all,
    })
}

/// Slope of the base line, from differences of neighbours, and the time of a turn, from the drop where it is not known.
fn base(points: &[(u64, f64)], jump: usize, turn_ms: Option<f64>, sign: f64) -> Option<(f64, f64)> {
    // Most neighbours lie on one line; the median leaves the others out.
    let differences: Vec<f64> = points
        .windows(2)
        .map(|pair| sign * (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0).max(1) as f64)
        .collect();
    let rough = median(&differences);
    let unit = points.get(1)?.0.saturating_sub(points[0].0).max(1) as f64;
    let height = sign * (points[jump - 1].1 - points[jump].1);
    let turn_ms = turn_ms.unwrap_or(height + rough * unit);
    // Longer differences are exacter: those of points a power of two apart that agree with what is known so far.
    let mut slope = rough;
    let mut apart = 1;
    while apart * 2 < points.len() {
        apart *= 2;
        let expected = slope;
        let longer: Vec<f64> = points
            .windows(apart + 1)
            .filter_map(|window| {
                let way = (window[apart].0 - window[0].0) as f64;
                let rise = sign * (window[apart].1 - window[0].1) - expected * way;
                let off = rise - (rise / turn_ms).round() * turn_ms;
                (off.abs() < (0.6 * expected * unit).max(0.01 * turn_ms)).then_some(expected + off / way)
            })
            .collect();
        if longer.len() < 8 {
            break;
        }
        slope = median(&longer);
    }
    (slope > 0.0 && slope * unit < turn_ms / 4.0).then_some((slope, turn_ms))
}

/// How far a point may lie from its line: less than a sector, unless the times are noisier than that.
fn width(points: &[(u64, f64)], sector_ms: f64, turn_ms: f64) -> f64 {
    let bends: Vec<f64> = points
        .windows(3)
        .map(|three| three[0].1 - 2.0 * three[1].1 + three[2].1)
        .map(|bend| bend - (bend / turn_ms).round() * turn_ms)
        .collect();
    // A second difference has √6 times the spread of its points.
    (0.45 * sector_ms).max(1.6 * spread(&bends)).min(turn_ms / 20.0)
}

fn distance(a: f64, b: f64, turn_ms: f64) -> f64 {
    let off = (a - b).rem_euclid(turn_ms);
    off.min(turn_ms - off)
}

/// The middle of what lies around a level.
fn level(offsets: &[f64], around: f64, width: f64, turn_ms: f64) -> f64 {
    let close: Vec<f64> = offsets
        .iter()
        .map(|offset| wrap_signed((offset - around) / turn_ms) * turn_ms)
        .filter(|off| off.abs() < width)
        .collect();
    around + median(&close)
}

/// Levels of the head-switch and the cylinder-switch lines: the two most common besides the base line; the more common is
/// the head switch's, of about equals the lower.
fn levels(offsets: &[f64], width: f64, turn_ms: f64) -> (Option<f64>, Option<f64>) {
    let mut left: Vec<f64> =
        offsets.iter().copied().filter(|&offset| distance(offset, 0.0, turn_ms) > width).collect();
    let mut take = || -> Option<(f64, usize)> {
        let near = |a: f64| left.iter().filter(|&&b| distance(a, b, turn_ms) < width).count();
        let center = left.iter().copied().max_by_key(|&a| near(a))?;
        let (found, count) = (level(&left, center, width, turn_ms), near(center));
        left.retain(|&b| distance(center, b, turn_ms) >= width);
        (count > 1).then_some((found, count))
    };
    match (take(), take()) {
        (Some(a), Some(b)) if a.1 < 2 * b.1 && b.0 < a.0 => (Some(b.0), Some(a.0)),
        (Some(a), b) => (Some(a.0), b.map(|b| b.0)),
        _ => (None, None),
    }
}

fn kinds(
    offsets: &[f64],
    base_ms: f64,
    levels: &(Option<f64>, Option<f64>),
    width: f64,
    turn_ms: f64,
) -> Vec<&'static str> {
    let near =
        |offset: f64, level: Option<f64>| level.is_some_and(|level| distance(offset, level, turn_ms) < width);
    offsets
        .iter()
        .map(|&offset| {
            if near(offset, Some(base_ms)) {
                "base"
            } else if near(offset, levels.0) {
                "head"
            } else if near(offset, levels.1) {
                "cylinder"
            } else {
                "other"
            }
        })
        .collect()
}

/// Head switches between two cylinder switches, and one; `None` without two of those.
fn heads(kinds: &[&'static str]) -> Option<u32> {
    let cylinders: Vec<usize> = (0..kinds.len()).filter(|&place| kinds[place] == "cylinder").collect();
    let mut counts: Vec<u32> = cylinders
        .windows(2)
        .map(|pair| kinds[pair[0]..pair[1]].iter().filter(|&&kind| kind == "head").count() as u32 + 1)
        .collect();
    // A point that is late by chance hides a switch: the middle count stands.
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied()
}

/// The first step before the drop from which all switch points lost no turn.
fn dive(points: &[(u64, f64)], kinds: &[&'static str], drop: usize, turn_ms: f64) -> Option<u64> {
    let limit = points[drop].1 + 0.5 * turn_ms;
    let switches = points[..drop].iter().zip(kinds).rev();
    switches
        .filter(|(_, kind)| matches!(**kind, "head" | "cylinder"))
        .take_while(|(point, _)| point.1 < limit)
        .last()
        .map(|(point, _)| point.0)
}

/// What the paper's extractor makes of a sawtooth: adjacent points of the drop, nothing corrected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Naive {
    /// Height of the drop between adjacent points, in ms.
    pub rotation_ms: f64,
    /// Latency of the lowest point, one transfer not taken off, in ms.
    pub mtm_ms: f64,
    /// That height over the slope.
    pub sectors_per_track: f64,
    /// Head-switch line over base line, in ms.
    pub head_switch_ms: Option<f64>,
    /// Cylinder-switch line over base line, in ms.
    pub cylinder_switch_ms: Option<f64>,
    /// Head switches between cylinder switches and one.
    pub heads: Option<u32>,
}

/// The paper's extractor.
pub(crate) fn naive(sawtooth: &Sawtooth) -> Option<Naive> {
    let place = sawtooth.points.iter().position(|point| point.0 == sawtooth.drop_step)?;
    let before = (0..place).rev().find(|&before| sawtooth.kinds[before] == "base")?;
    let after = (place..sawtooth.points.len()).find(|&after| sawtooth.kinds[after] == "base")?;
    let (high, low) = (sawtooth.points[before], sawtooth.points[after]);
    // Where a switch point lies between the two, the line is followed to the sector before.
    let between = (low.0 - high.0) as f64 - sawtooth.points.get(1)?.0 as f64;
    let height = high.1 + between * sawtooth.slope_ms - low.1;
    Some(Naive {
        rotation_ms: height,
        mtm_ms: low.1,
        sectors_per_track: height / sawtooth.slope_ms,
        head_switch_ms: sawtooth.head_switch_ms,
        cylinder_switch_ms: sawtooth.cylinder_switch_ms,
        heads: sawtooth.heads,
    })
}

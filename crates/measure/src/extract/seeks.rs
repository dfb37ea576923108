//! The seek curve: least times over distances, less the least time without one.

use super::straight::corners;
use crate::angles::median::{median, spread};
use crate::angles::sighting::student;
use crate::angles::spindle::Spindle;
use crate::reading::least::{self, ALIKE_MS, Least};
use crate::record::series::seek_curve::{READS_INWARDS, READS_OUTWARDS, WRITES_INWARDS, WRITES_OUTWARDS};
use crate::record::{ProbeName, Record, Role};
use serde::Serialize;
use std::collections::BTreeMap;

/// One distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeekPoint {
    /// In cylinders.
    pub cylinders: u64,
    /// By how much the least time exceeds that on the same track, settle included, in ms.
    pub ms: f64,
    /// 95 % confidence, half width, in ms.
    pub ci95_ms: f64,
}

/// a + b·√d below the boundary, c + e·d from it on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TwoPiece {
    /// First distance of the straight piece, in cylinders.
    pub boundary_cylinders: u64,
    /// a and b, in ms and ms per √cylinder.
    pub short_ms: [f64; 2],
    /// c and e, in ms and ms per cylinder.
    pub long_ms: [f64; 2],
    /// Largest relative miss among the points.
    pub worst_relative: f64,
}

/// A place of Seeker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeekerPoint {
    /// Distance in sectors.
    pub sectors: u64,
    /// The least latency there, in ms.
    pub least_ms: f64,
    /// That less the least latency at distance 0, in ms.
    pub seek_ms: f64,
}

/// What was found of seeks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Seeks {
    /// Writes: the mean of both ways.
    pub write: Vec<SeekPoint>,
    /// Reads: the mean of both ways.
    pub read: Vec<SeekPoint>,
    /// By how much inward seeks take longer than the mean of both ways (median over the distances), in ms.
    pub inward_extra_ms: Option<f64>,
    /// 95 % confidence of that, half width, in ms.
    pub inward_extra_ci95_ms: Option<f64>,
    /// By how much a seek before a write takes longer than one before a read, in ms.
    pub write_minus_read_ms: Option<f64>,
    /// Fitted to `write`, or to `read` where there are no writes.
    pub two_piece: Option<TwoPiece>,
    /// Seeker's curve.
    pub seeker: Vec<SeekerPoint>,
}

/// Least times without a seek, for writes and reads.
pub(crate) struct AtRest {
    pub(crate) write: Option<Least>,
    pub(crate) read: Option<Least>,
}

impl Seeks {
    /// By how much more than the usual difference a seek before a write takes longer than one before a read, over distances, where
    /// that depends on the distance.
    pub(crate) fn write_settles(&self) -> Vec<(f64, f64)> {
        let Some(usual) = self.write_minus_read_ms else { return Vec::new() };
        let extra = |read: &SeekPoint| {
            let write = self.write.iter().find(|write| write.cylinders == read.cylinders)?;
            Some((read.cylinders as f64, write.ms - read.ms - usual))
        };
        // Reads are measured over few of the distances: where they follow a law, it tells the others.
        let all: Vec<(f64, f64)> = match law(&self.read) {
            Some(law) => self
                .write
                .iter()
                .map(|write| (write.cylinders as f64, write.ms - law.ms(write.cylinders) - usual))
                .collect(),
            None => self.read.iter().filter_map(extra).collect(),
        };
        if all.iter().all(|(_, ms)| ms.abs() < ALIKE_MS) {
            return Vec::new();
        }
        corners(&all, LEAST_MISS_MS.max(TIMES_CI95 * usual_ci95(&self.write)))
    }

    /// The curve before reads; by those before writes, where too few reads were measured.
    pub(crate) fn curve(&self) -> Vec<SeekPoint> {
        let Some(usual) = self.write_minus_read_ms.filter(|_| !self.write.is_empty()) else {
            return if self.write.is_empty() { self.read.clone() } else { self.write.clone() };
        };
        let settles = self.write_settles();
        let before_read = |point: &SeekPoint| SeekPoint {
            ms: point.ms - usual - level(&settles, point.cylinders),
            ..*point
        };
        self.write.iter().map(before_read).collect()
    }

    /// How long a seek takes, in ms, by the curve; `None` without one.
    pub(crate) fn before(&self, write: bool, cylinders: u64) -> Option<f64> {
        let curve: Vec<(f64, f64)> =
            self.curve().iter().map(|point| (point.cylinders as f64, point.ms)).collect();
        let more = if write && !self.write.is_empty() {
            self.write_minus_read_ms.unwrap_or(0.0) + level(&self.write_settles(), cylinders)
        } else {
            0.0
        };
        (curve.len() > 3).then(|| level(&curve, cylinders) + more)
    }
}

/// Straight lines between points, level beyond the first and the last; 0 of none.
fn level(points: &[(f64, f64)], at: u64) -> f64 {
    let at = at as f64;
    let behind = points.partition_point(|point| point.0 < at);
    match (behind.checked_sub(1).map(|before| points[before]), points.get(behind)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (at - a.0) / (b.0 - a.0),
        (Some((_, ms)), None) | (None, Some(&(_, ms))) => ms,
        (None, None) => 0.0,
    }
}

pub(crate) fn seeks(
    record: &Record,
    spindle: Spindle,
    rest: &AtRest,
    slope: impl Fn(u64) -> f64 + Copy,
) -> Seeks {
    let of = |series: u32| least::by_step(record, (ProbeName::SeekCurve, series), slope, spindle);
    let (write_in, write_out) = (of(WRITES_INWARDS), of(WRITES_OUTWARDS));
    let (read_in, read_out) = (of(READS_INWARDS), of(READS_OUTWARDS));
    let write = rest.write.map(|base| both(&write_in, &write_out, base)).unwrap_or_default();
    let read = rest.read.map(|base| both(&read_in, &read_out, base)).unwrap_or_default();
    let extras: Vec<f64> = [(&write_in, &write_out), (&read_in, &read_out)]
        .iter()
        .flat_map(|(inward, outward)| {
            inward.iter().filter_map(|(d, least)| Some((least.ms - outward.get(d)?.ms) / 2.0))
        })
        .collect();
    let differences: Vec<f64> = write
        .iter()
        .filter_map(|point| {
            let other = read.iter().find(|other| other.cylinders == point.cylinders)?;
            Some(point.ms - other.ms)
        })
        .collect();
    Seeks {
        two_piece: two_piece(if write.is_empty() { &read } else { &write }),
        inward_extra_ms: (extras.len() > 4).then(|| median(&extras)),
        inward_extra_ci95_ms: (extras.len() > 4).then(|| {
            MEDIAN * student(extras.len() as f64 - 1.0) * spread(&extras) / (extras.len() as f64).sqrt()
        }),
        write_minus_read_ms: (differences.len() > 2).then(|| median(&differences)),
        seeker: seeker(record),
        write,
        read,
    }
}

fn both(inward: &BTreeMap<i64, Least>, outward: &BTreeMap<i64, Least>, base: Least) -> Vec<SeekPoint> {
    inward
        .iter()
        .filter_map(|(&distance, a)| {
            let b = outward.get(&distance)?;
            let ways_ms = f64::hypot(a.ci95_ms(), b.ci95_ms()) / 2.0;
            Some(SeekPoint {
                cylinders: distance as u64,
                ms: f64::midpoint(a.ms, b.ms) - base.ms,
                ci95_ms: f64::hypot(ways_ms, base.ci95_ms()),
            })
        })
        .collect()
}

/// The best of all boundaries, by relative least squares.
fn two_piece(points: &[SeekPoint]) -> Option<TwoPiece> {
    if points.len() < 8 {
        return None;
    }
    let candidates = 3..points.len() - 3;
    let fitted = candidates.filter_map(|split| {
        let (short, long) = points.split_at(split);
        let (a, b) = line(short, f64::sqrt)?;
        let (c, e) = line(long, |d| d)?;
        let law = |place: usize, d: f64| if place < split { a + b * d.sqrt() } else { c + e * d };
        let misses: Vec<f64> = points
            .iter()
            .enumerate()
            .map(|(place, point)| (law(place, point.cylinders as f64) / point.ms - 1.0).abs())
            .collect();
        let cost: f64 = misses.iter().map(|miss| miss * miss).sum();
        let worst_relative = misses.into_iter().fold(0.0, f64::max);
        let piece = TwoPiece {
            boundary_cylinders: points[split].cylinders,
            short_ms: [a, b],
            long_ms: [c, e],
            worst_relative,
        };
        cost.is_finite().then_some((cost, piece))
    });
    fitted.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, piece)| piece)
}

/// By how much the middle of many is less certain than their mean.
const MEDIAN: f64 = 1.2533;

/// A law is kept whose misses are no more than this, in ms, or than so many times the half width of a point's interval, …
const LEAST_MISS_MS: f64 = 0.0005;
const TIMES_CI95: f64 = 2.0;
/// … but for one of so many points. One that is known so many times less well than usual is none of those that tell.
const ODD_ONES: usize = 10;
const TIMES_USUAL: f64 = 4.0;

/// The half width of most intervals of points, in ms; 0 of none.
fn usual_ci95(points: &[SeekPoint]) -> f64 {
    let all: Vec<f64> = points.iter().map(|point| point.ci95_ms).collect();
    if all.is_empty() { 0.0 } else { median(&all) }
}

/// The law of a curve, where there is one: next to all points lie on it. Between points, it is nearer than what is drawn straight.
pub(crate) fn law(points: &[SeekPoint]) -> Option<TwoPiece> {
    let mut kept = points.to_vec();
    let most_ci95 = TIMES_USUAL * usual_ci95(points);
    kept.retain(|point| point.ci95_ms <= most_ci95);
    let miss = |law: &TwoPiece, point: &SeekPoint| {
        (law.ms(point.cylinders) - point.ms).abs() / LEAST_MISS_MS.max(TIMES_CI95 * point.ci95_ms)
    };
    while kept.len() + points.len() / ODD_ONES >= points.len() {
        let found = two_piece(&kept)?;
        let law = TwoPiece { boundary_cylinders: found.meeting(&kept), ..found };
        let worst = (0..kept.len()).max_by(|&a, &b| miss(&law, &kept[a]).total_cmp(&miss(&law, &kept[b])))?;
        if miss(&law, &kept[worst]) <= 1.0 {
            return kept.iter().all(|point| point.ms > 0.0).then_some(law);
        }
        kept.remove(worst);
    }
    None
}

impl TwoPiece {
    /// How long a seek takes, in ms.
    fn ms(&self, cylinders: u64) -> f64 {
        let d = cylinders as f64;
        if cylinders < self.boundary_cylinders {
            self.short_ms[0] + self.short_ms[1] * d.sqrt()
        } else {
            self.long_ms[0] + self.long_ms[1] * d
        }
    }

    /// Where the pieces are nearest to each other, between the points on both sides of the boundary.
    fn meeting(&self, points: &[SeekPoint]) -> u64 {
        let before = points.iter().rfind(|point| point.cylinders < self.boundary_cylinders);
        let from = before.map_or(self.boundary_cylinders, |point| point.cylinders + 1);
        let gap = |cylinders: &u64| {
            let at = |boundary_cylinders| Self { boundary_cylinders, ..*self }.ms(*cylinders);
            (at(cylinders + 1) - at(*cylinders)).abs()
        };
        (from..=self.boundary_cylinders)
            .min_by(|a, b| gap(a).total_cmp(&gap(b)))
            .unwrap_or(self.boundary_cylinders)
    }
}

/// y = a + b·f(d), points weighted so that relative misses count.
fn line(points: &[SeekPoint], function: fn(f64) -> f64) -> Option<(f64, f64)> {
    let (mut sw, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for point in points {
        let (x, y) = (function(point.cylinders as f64), point.ms);
        let weight = 1.0 / (y * y).max(1e-6);
        sw += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
    }
    let determinant = sw * sxx - sx * sx;
    (determinant.abs() > 1e-12).then(|| {
        let b = (sw * sxy - sx * sy) / determinant;
        ((sy - b * sx) / sw, b)
    })
}

fn seeker(record: &Record) -> Vec<SeekerPoint> {
    let mut least: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for sample in record.of(ProbeName::Seeker).filter(|sample| sample.role == Role::Measure) {
        let entry = least.entry(sample.series).or_insert((sample.lba, f64::INFINITY));
        if sample.latency_ms() < entry.1 {
            *entry = (sample.lba, sample.latency_ms());
        }
    }
    let rest_ms = least.get(&0).map_or(0.0, |first| first.1);
    let points = least.into_values();
    points.map(|(sectors, least_ms)| SeekerPoint { sectors, least_ms, seek_ms: least_ms - rest_ms }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(ms: impl Fn(f64) -> f64) -> Vec<SeekPoint> {
        let distances = [1, 2, 3, 5, 8, 12, 20, 34, 57, 97, 165, 279, 363, 472, 614, 798, 1038, 1349, 1754];
        distances.map(|cylinders| SeekPoint { cylinders, ms: ms(cylinders as f64), ci95_ms: 0.0002 }).to_vec()
    }

    #[test]
    fn a_law_is_found_where_there_is_one() {
        let truth = |d: f64| if d < 400.0 { 1.2 + 0.1 * d.sqrt() } else { 2.2 + 0.0025 * d };
        let mut points = curve(truth);
        points[9].ms += 0.05;
        let found = law(&points).unwrap();
        for distance in [1, 40, 220, 399, 400, 410, 900, 1754] {
            let off = (found.ms(distance) - truth(distance as f64)).abs();
            assert!(off < 0.0005, "{off} ms at {distance}: {found:?}");
        }
        assert!(law(&curve(|d| 1.2 + 0.1 * d.powf(0.4))).is_none());
    }
}

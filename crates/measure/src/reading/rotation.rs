//! The time of a turn, from completions at one sector.

use crate::angles::median::{median, spread};
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// What completions at one sector say about the rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rotation {
    /// Time of a turn, in ms.
    pub(crate) turn_ms: f64,
    /// 95 % confidence, half width, in ms.
    pub ci95_ms: f64,
    /// How well completions agree with it: 1 if all lie whole turns apart, about 0 if they lie anyhow.
    pub(crate) coherence: f64,
    /// Spread of the completions around whole turns, as a standard deviation, in ms.
    pub(crate) noise_ms: f64,
    /// Completions used.
    pub(crate) samples: usize,
}

/// Turns of all spindles there are: 1,500 to 20,000 rpm.
const SHORTEST_NS: f64 = 3.0e6;
const LONGEST_NS: f64 = 40.0e6;
/// Below this, nothing rotates.
pub(crate) const COHERENT: f64 = 0.8;

/// How well differences of completions are multiples of a period, up to 1; robust against a few that are not.
pub(crate) fn coherence(differences: &[f64], period_ns: f64) -> f64 {
    let sum: f64 =
        differences.iter().map(|difference| (std::f64::consts::TAU * difference / period_ns).cos()).sum();
    sum / differences.len().max(1) as f64
}

/// The samples of the probe's last stage: each stage is two series, and comes back to its places behind more other reads.
pub(crate) fn last_stage(record: &Record) -> impl Iterator<Item = &Sample> {
    let all = || record.of(ProbeName::Rotation).filter(|sample| sample.role == Role::Measure);
    let last = all().map(|sample| sample.series / 2).max();
    all().filter(move |sample| Some(sample.series / 2) == last)
}

/// The rotation, from the probe `rotation`; `None` without enough samples.
pub(crate) fn rotation(record: &Record) -> Option<Rotation> {
    let all: Vec<(u64, f64)> = last_stage(record).map(|sample| (sample.lba, sample.end.0 as f64)).collect();
    let first = last_stage(record).filter(|sample| sample.series % 2 == 0).count();
    let differences = few(differences(&all[..first]));
    if differences.len() < 16 {
        return None;
    }
    let coarse = coarse_period(&differences)?;
    let coherence = coherence(&differences, coarse);
    let (period, ci95, noise) = refine(&all, coarse);
    Some(Rotation {
        turn_ms: period / 1e6,
        ci95_ms: ci95 / 1e6,
        coherence,
        noise_ms: noise / 1e6,
        samples: all.len(),
    })
}

/// From one completion at a place to the next one there, in ns.
fn differences(ends: &[(u64, f64)]) -> Vec<f64> {
    let mut last: BTreeMap<u64, f64> = BTreeMap::new();
    ends.iter().filter_map(|&(lba, end)| last.insert(lba, end).map(|before| end - before)).collect()
}

/// Some of many, no two longer than the shortest by much: all would take long to look at.
fn few(mut differences: Vec<f64>) -> Vec<f64> {
    differences.sort_unstable_by(f64::total_cmp);
    let shortest = differences.first().copied().unwrap_or(0.0).max(LONGEST_NS);
    differences.retain(|&difference| difference < 20.0 * LONGEST_NS || difference < 2.2 * shortest);
    let stride = differences.len().div_ceil(128).max(1);
    differences.into_iter().step_by(stride).collect()
}

/// The longest period of which the differences are multiples.
fn coarse_period(differences: &[f64]) -> Option<f64> {
    // The longest difference tells how finely to look.
    let longest = differences.iter().copied().fold(LONGEST_NS, f64::max);
    let step = SHORTEST_NS / longest / 16.0;
    let mut scores: Vec<(f64, f64)> = Vec::new();
    let mut period = SHORTEST_NS;
    while period < LONGEST_NS {
        scores.push((period, coherence(differences, period)));
        period *= 1.0 + step;
    }
    let best = scores.iter().map(|score| score.1).fold(f64::MIN, f64::max);
    let place = scores.iter().rposition(|score| score.1 > 0.9 * best)?;
    // The peak itself lies at or just before that.
    let around = &scores[place.saturating_sub(24)..=place];
    around.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(period, _)| period)
}

/// Lines through the completions at each place and the number of turns between them, all with one slope, without those that
/// are late by chance; period, 95 % confidence and spread, in ns.
fn refine(ends: &[(u64, f64)], coarse: f64) -> (f64, f64, f64) {
    let mut period = coarse;
    let mut noise = 0.0;
    // The lines are drawn longer and longer, so that turns are never miscounted.
    for power in 4.. {
        let count = (1 << power).min(ends.len());
        let mut places: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for &(lba, end) in &ends[..count] {
            places.entry(lba).or_default().push(end);
        }
        places.retain(|_, ends| ends.len() > 1);
        // For each place: its first completion, and by how much the others miss whole turns.
        let mut all: Vec<(usize, f64, f64)> = Vec::new();
        for (place, ends) in places.values().enumerate() {
            let misses: Vec<f64> =
                ends.iter().map(|end| wrap_signed((end - ends[0]) / period) * period).collect();
            let middle = median(&misses);
            all.extend(ends.iter().zip(&misses).map(|(&end, &miss)| (place, end - ends[0], miss - middle)));
        }
        let residuals: Vec<f64> = all.iter().map(|(_, _, residual)| *residual).collect();
        // Each place's middle is one of its own, or lies between two.
        let freedom = all.len() as f64 / (all.len() - places.len()).max(1) as f64;
        noise = spread(&residuals) * freedom.sqrt();
        let limit = (4.0 * noise).max(1_500.0);
        let used: Vec<(usize, f64, f64)> = all
            .iter()
            .filter(|(_, _, residual)| residual.abs() <= limit)
            .map(|&(place, since, _)| (place, (since / period).round(), since))
            .collect();
        if let Some((slope, error)) = line(&used) {
            period = slope;
            if count == ends.len() {
                return (period, 1.96 * error, noise);
            }
        }
        if count == ends.len() {
            break;
        }
    }
    (period, 0.0, noise)
}

/// The one slope of the lines of all places by least squares, and its standard error; points are (place, x, y).
fn line(points: &[(usize, f64, f64)]) -> Option<(f64, f64)> {
    let mut means: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for &(place, x, y) in points {
        let mean = means.entry(place).or_default();
        *mean = (mean.0 + 1.0, mean.1 + x, mean.2 + y);
    }
    let centered: Vec<(f64, f64)> = points
        .iter()
        .map(|(place, x, y)| {
            let (count, sum_x, sum_y) = means[place];
            (x - sum_x / count, y - sum_y / count)
        })
        .collect();
    let sxx: f64 = centered.iter().map(|(x, _)| x * x).sum();
    if points.len() < means.len() + 2 || sxx <= 0.0 {
        return None;
    }
    let slope = centered.iter().map(|(x, y)| x * y).sum::<f64>() / sxx;
    let rest: f64 = centered.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let freedom = (points.len() - means.len()).saturating_sub(1).max(1) as f64;
    Some((slope, (rest / freedom / sxx).sqrt()))
}

/// The rotation as a clock; `None` where nothing rotates.
pub(crate) fn spindle(record: &Record) -> Option<Spindle> {
    rotation(record)
        .filter(|rotation| rotation.coherence >= COHERENT)
        .map(|rotation| Spindle { period_ns: rotation.turn_ms * 1e6 })
}

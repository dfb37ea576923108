//! The time of a turn, from completions at one sector.

use crate::record::{Record, Role};
use crate::spindle::{Spindle, median, spread, wrap_signed};

/// What completions at one sector say about the rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// Time of a turn, in ms.
    pub turn_ms: f64,
    /// 95 % confidence, half width, in ms.
    pub ci95_ms: f64,
    /// How well completions agree with it: 1 if all lie whole turns apart, about 0 if they lie anyhow.
    pub coherence: f64,
    /// Spread of the completions around whole turns, as a standard deviation, in ms.
    pub noise_ms: f64,
    /// Completions used.
    pub samples: usize,
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

/// The rotation, from the probe `rotation`; `None` without enough samples.
pub(crate) fn rotation(record: &Record) -> Option<Rotation> {
    let of =
        |series: u32| record.of("rotation").filter(move |s| s.series == series && s.role == Role::Measure);
    let ends: Vec<f64> = of(0).map(|sample| sample.end.0 as f64).collect();
    let differences: Vec<f64> = ends
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|&difference| difference < 20.0 * LONGEST_NS)
        .collect();
    if differences.len() < 16 {
        return None;
    }
    let coarse = coarse_period(&differences)?;
    let coherence = coherence(&differences, coarse);
    let mut all = ends;
    all.extend(of(1).map(|sample| sample.end.0 as f64));
    let (period, ci95, noise) = refine(&all, coarse);
    Some(Rotation {
        turn_ms: period / 1e6,
        ci95_ms: ci95 / 1e6,
        coherence,
        noise_ms: noise / 1e6,
        samples: all.len(),
    })
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

/// A line through completions and the number of turns between them, without those that are late by chance; period, 95 %
/// confidence and spread, in ns.
fn refine(ends: &[f64], coarse: f64) -> (f64, f64, f64) {
    let mut period = coarse;
    let mut noise = 0.0;
    let Some(&first) = ends.first() else { return (coarse, 0.0, 0.0) };
    // The line is drawn longer and longer, so that turns are never miscounted.
    for power in 4.. {
        let count = (1 << power).min(ends.len());
        let residuals: Vec<f64> =
            ends[..count].iter().map(|end| wrap_signed((end - first) / period) * period).collect();
        let middle = median(&residuals);
        noise = spread(&residuals);
        let limit = (4.0 * noise).max(1_500.0);
        let used: Vec<(f64, f64)> = ends[..count]
            .iter()
            .zip(&residuals)
            .filter(|(_, residual)| (*residual - middle).abs() <= limit)
            .map(|(&end, residual)| (((end - first - residual) / period).round(), end - first))
            .collect();
        if used.len() < 3 {
            return (period, 0.0, noise);
        }
        let (slope, error) = line(&used);
        if count == ends.len() {
            return (slope, 1.96 * error, noise);
        }
        period = slope;
    }
    (period, 0.0, noise)
}

/// Slope of a line by least squares, and its standard error.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let (mx, my) =
        points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
    let sxx: f64 = points.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = sxy / sxx;
    let rest: f64 = points.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    (slope, (rest / (count - 2.0).max(1.0) / sxx).sqrt())
}

/// The rotation as a clock; `None` where nothing rotates.
pub(crate) fn spindle(record: &Record) -> Option<Spindle> {
    rotation(record)
        .filter(|rotation| rotation.coherence >= COHERENT)
        .map(|rotation| Spindle { period_ns: rotation.turn_ms * 1e6 })
}

//! Finding the angle of a step from pairs that are several steps apart, without taking an alias.
//!
//! Over n steps the angle shows n-fold, and modulo a turn: many steps say precisely, and few steps say which of the n
//! answers is meant. So the search begins with pairs a step or so apart and goes outward; at each distance it keeps the
//! best few answers rather than one, because near pairs are few.

use crate::kernel::{NARROW, WIDE, weight, wrap};

/// One pair as seen by the search: `turns` − `step` · angle is its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) turns: f64,
    pub(crate) step: f64,
    pub(crate) block: usize,
}

/// The angle found, in [0, 1), and the largest number of steps that it was checked over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) value: f64,
    pub(crate) reach: f64,
}

/// Answers kept from one distance to the next.
const KEPT: usize = 24;
/// Pairs without which a distance says nothing.
const FEW: usize = 6;
/// By how much the distance grows.
const GROWTH: f64 = 3.0;
/// Points of a search grid per turn at the largest distance: a third of the kernel's width apart.
const DENSITY: f64 = 24.0;

/// Mean of what the errors count.
pub(crate) fn score(terms: &[Term], value: f64, width: f64) -> f64 {
    let sum: f64 = terms.iter().map(|term| weight(term.turns - term.step * value, width)).sum();
    sum / terms.len().max(1) as f64
}

/// The angle of the step, searched outward; `None` where the terms are too few.
pub(crate) fn outward(terms: &[Term]) -> Option<Found> {
    let mut sorted: Vec<Term> = terms.iter().filter(|term| term.step != 0.0).copied().collect();
    sorted.sort_by(|a, b| a.step.abs().total_cmp(&b.step.abs()));
    let farthest = sorted.last()?.step.abs();
    let nearest = sorted[(FEW - 1).min(sorted.len() - 1)].step.abs();
    if sorted.len() < FEW {
        return None;
    }
    let mut distance = nearest;
    let steps = (distance * DENSITY).ceil();
    let mut kept: Vec<f64> = (0..steps as u32).map(|point| f64::from(point) / steps).collect();
    let mut spacing = 1.0 / steps;
    loop {
        let within = &sorted[..sorted.partition_point(|term| term.step.abs() <= distance)];
        kept = best(within, &kept, spacing);
        if distance >= farthest {
            break;
        }
        let reach = WIDE / distance;
        distance = (distance * GROWTH).min(farthest);
        spacing = 1.0 / (distance * DENSITY);
        kept = around(&kept, reach, spacing);
    }
    let refined = kept.iter().map(|&start| refine(&sorted, start));
    let value = refined.max_by(|&a, &b| score(&sorted, a, NARROW).total_cmp(&score(&sorted, b, NARROW)))?;
    Some(Found { value: value.rem_euclid(1.0), reach: farthest })
}

/// The angle near `start` that the terms agree on best, within half a kernel's width at the farthest of them.
pub(crate) fn refine(terms: &[Term], start: f64) -> f64 {
    let mut value = start;
    for width in [WIDE, NARROW] {
        for _ in 0..8 {
            let (mut slope, mut curve) = (0.0, 0.0);
            for term in terms {
                let error = wrap(term.turns - term.step * value);
                let weight = weight(error, width).sqrt();
                slope += weight * error * term.step;
                curve += weight * term.step * term.step;
            }
            if curve <= 0.0 {
                break;
            }
            value += slope / curve;
        }
    }
    value
}

/// The best local maxima of the score among the points of a grid, best first.
fn best(terms: &[Term], grid: &[f64], spacing: f64) -> Vec<f64> {
    let scores: Vec<f64> = grid.iter().map(|&value| score(terms, value, WIDE)).collect();
    let near = |a: usize, b: usize| (grid[a] - grid[b]).abs() < 1.5 * spacing;
    let is_peak = |at: usize| {
        let lower = |other: usize| !near(at, other) || scores[other] < scores[at];
        (at == 0 || lower(at - 1))
            && (at + 1 == grid.len() || !near(at, at + 1) || scores[at + 1] <= scores[at])
    };
    let mut peaks: Vec<usize> = (0..grid.len()).filter(|&at| is_peak(at)).collect();
    peaks.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let enough = peaks.first().map_or(0.0, |&first| 0.5 * scores[first]);
    peaks.retain(|&at| scores[at] >= enough);
    peaks.truncate(KEPT);
    peaks.into_iter().map(|at| grid[at]).collect()
}

/// A finer grid of `reach` around each of the values, ascending.
fn around(values: &[f64], reach: f64, spacing: f64) -> Vec<f64> {
    let arm = (reach / spacing).ceil() as i32;
    let mut points: Vec<i64> = values
        .iter()
        .flat_map(|value| {
            let centre = (value / spacing).round() as i64;
            (-arm..=arm).map(move |offset| centre + i64::from(offset))
        })
        .collect();
    points.sort_unstable();
    points.dedup();
    points.into_iter().map(|point| point as f64 * spacing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of all sizes, a fifth of the angles anywhere.
    fn terms(angle: f64, far: i32, count: i32) -> Vec<Term> {
        let noise = |i: i32, k: f64| (f64::from(i) * k).fract();
        let term = |i: i32| {
            let step =
                (f64::from(far) * noise(i, 0.618_034).powi(3)).round() * if i % 2 == 0 { 1.0 } else { -1.0 };
            let error = if i % 5 == 0 { noise(i, 0.414_214) } else { 0.02 * (noise(i, 0.732_051) - 0.5) };
            Term { turns: step * angle + error, step, block: 0 }
        };
        (1..=count).map(term).filter(|term| term.step != 0.0).collect()
    }

    #[test]
    fn an_angle_is_found_over_a_thousand_steps() {
        for angle in [0.0, 0.641_79, 0.277_777, 0.999_98, 0.130_5] {
            let found = outward(&terms(angle, 1200, 200)).unwrap();
            assert!(wrap(found.value - angle).abs() < 1e-5, "{angle}: {found:?}");
        }
    }

    #[test]
    fn the_wrong_sign_is_not_found() {
        let terms = terms(0.2, 10, 100);
        assert!(score(&terms, 0.2, WIDE) > 0.7);
        assert!(score(&terms, -0.2, WIDE) < 0.4);
    }

    #[test]
    fn a_handful_of_terms_says_nothing() {
        assert!(outward(&terms(0.3, 10, 4)).is_none());
        assert!(outward(&[]).is_none());
    }
}

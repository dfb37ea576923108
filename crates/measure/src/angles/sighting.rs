//! Where a sector is seen: the phase of a completion, which counts the more the less time the access took. Clocks and hosts
//! misread a time in proportion to it: an access that just missed its sector tells a hundredth of what one tells that was
//! issued just in time.

use super::spindle::{Spindle, wrap, wrap_signed};
use crate::record::Sample;

/// Below this, in turns, an access tells no more for being shorter: not all that is misread goes by proportion, and no single one
/// shall outweigh all others.
const LEAST_TURNS: f64 = 0.1;
/// Sightings farther off than this many of the usual misses are of something else: completions seen late, …
const MOST_MISSES: f64 = 4.0;
/// … unless all agree as well as this, in turns.
const EXACT: f64 = 1e-6;

/// One completion at a sector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sighting {
    /// Its phase, in turns.
    pub(crate) phase: f64,
    /// How long the access took, in turns.
    pub(crate) turns: f64,
}

impl Sighting {
    /// A sample, as a spindle shows it.
    pub(crate) fn of(sample: &Sample, spindle: Spindle) -> Self {
        Self { phase: spindle.phase(sample.end), turns: spindle.turns(sample.latency_ms()) }
    }

    /// The same `turns` farther on.
    pub(crate) fn shifted(self, turns: f64) -> Self {
        Self { phase: wrap(self.phase + turns), ..self }
    }

    fn weight(self) -> f64 {
        1.0 / self.turns.max(LEAST_TURNS)
    }
}

/// The angle that sightings of a sector agree on, in turns; 0 of none. First the phase that most of their weight lies around,
/// which a few late ones do not move; then the mean of those that miss it by as much as is usual.
pub(crate) fn angle_of(sightings: &[Sighting]) -> f64 {
    sighted(sightings).0
}

/// The same with its 95 % confidence, half width. The weights make the few that took little time count: by how few they are, the
/// scatter itself is uncertain (Student).
pub(crate) fn sighted(sightings: &[Sighting]) -> (f64, f64) {
    let distance = |center: &Sighting| -> f64 {
        sightings.iter().map(|seen| seen.weight() * wrap_signed(seen.phase - center.phase).abs()).sum()
    };
    let center = sightings.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(center) = center.map(|center| center.phase) else { return (0.0, 0.0) };
    let off = |seen: &Sighting| wrap_signed(seen.phase - center);
    let miss = |seen: &Sighting| seen.weight() * off(seen).abs();
    let mut misses: Vec<f64> = sightings.iter().map(miss).collect();
    misses.sort_unstable_by(f64::total_cmp);
    // The lower middle: of two, one may be late.
    let usual = misses[(misses.len() - 1) / 2];
    let counts = |seen: &&Sighting| miss(seen) <= MOST_MISSES * usual || off(seen).abs() < EXACT;
    let used: Vec<(f64, f64)> =
        sightings.iter().filter(counts).map(|seen| (seen.weight().powi(2), off(seen))).collect();
    let weights: f64 = used.iter().map(|(weight, _)| weight).sum();
    let mean = used.iter().map(|(weight, off)| weight * off).sum::<f64>() / weights;
    let scatter: f64 = used.iter().map(|(weight, off)| (weight * (off - mean)).powi(2)).sum();
    let squares: f64 = used.iter().map(|(weight, _)| weight * weight).sum();
    let counted = weights * weights / squares;
    let freedom = (counted - 1.0).max(1.0);
    let error = (scatter * counted / freedom).sqrt() / weights;
    (wrap(center + mean), student(freedom) * error)
}

/// How many standard errors hold 95 %, for so many degrees of freedom.
pub(crate) fn student(freedom: f64) -> f64 {
    1.96 + 2.4 / freedom + 3.1 / (freedom * freedom)
}

/// Those of some sightings that lie within `tolerance` of one of them, as many as there are.
pub(crate) fn agreeing(sightings: &[Sighting], tolerance: f64) -> Vec<Sighting> {
    let near = |center: Sighting| {
        sightings
            .iter()
            .copied()
            .filter(move |seen| wrap_signed(seen.phase - center.phase).abs() <= tolerance)
    };
    let center = sightings.iter().copied().max_by_key(|&center| near(center).count());
    center.map_or_else(Vec::new, |center| near(center).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(all: &[(f64, f64)]) -> Vec<Sighting> {
        all.iter().map(|&(phase, turns)| Sighting { phase, turns }).collect()
    }

    #[test]
    fn short_accesses_tell_more_than_long_ones() {
        // Four that just missed the sector, each misread by up to half a percent of a turn, and one issued in time.
        let angle =
            angle_of(&seen(&[(0.504, 1.01), (0.505, 1.01), (0.5000, 0.013), (0.503, 1.01), (0.504, 1.0)]));
        assert!((angle - 0.5).abs() < 4e-4, "{angle}");
        // One that is short and late does not pass for the sector's angle.
        let late = angle_of(&seen(&[(0.98, 0.3), (0.02, 0.32), (0.979, 0.3), (0.981, 0.3), (0.98, 0.3)]));
        assert!((late - 0.98).abs() < 1e-3, "{late}");
        // Of the tables: 12.71 is rounded down, as nothing rests on two values.
        for (freedom, quantile) in [(3.0, 3.18), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042)] {
            assert!((student(freedom) / quantile - 1.0).abs() < 0.03, "{freedom}: {}", student(freedom));
        }
        assert!((angle_of(&seen(&[(0.2, 1.0), (0.2, 1.0), (0.3, 1.1), (0.4, 1.2)])) - 0.2).abs() < 1e-9);
        // Of two, the shorter one.
        assert!((angle_of(&seen(&[(0.2, 0.5), (0.3, 0.6)])) - 0.2).abs() < 1e-9);
        assert!(wrap_signed(angle_of(&seen(&[(0.9999, 0.1), (0.0001, 0.1), (0.0, 0.1)]))).abs() < 2e-4);
        let agreed = agreeing(&seen(&[(0.5, 1.0), (0.999, 1.0), (0.001, 1.0), (0.7, 1.0)]), 0.01);
        assert_eq!(agreed.iter().map(|seen| seen.phase).collect::<Vec<_>>(), [0.999, 0.001]);
    }
}

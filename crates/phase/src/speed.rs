//! Which of several speeds the times speak for.
//!
//! Where times are noisy, pairs of neighbours tell the speed to a tenth of a percent, and the search may end on one beside the
//! right one. Requests that are farther apart tell more, and so do all of a few seconds together. The file's speed stays
//! where none is clearly better.

use core::f64::consts::TAU;

use crate::evidence::{advantage, small_advantage};
use crate::model::Model;
use crate::pairs::{Pair, Sighting, distant_pairs};

/// Beside those close in time, pairs of sightings so far apart have a say.
const APART_NS: [u64; 3] = [500_000_000, 1_500_000_000, 5_000_000_000];
/// By so many standard errors a speed must be ahead of the file's. The best of all speeds is ahead of the right one by half of
/// what it is off, in standard errors of its own.
const CLEAR: f64 = 3.0;
/// Sightings within so long are looked at together; a jump of the phase spoils one such window.
const WINDOW_NS: f64 = 4e9;
/// Windows of fewer say next to nothing.
const FEW: usize = 8;

/// What speaks for a speed or against it: pairs close in time and far apart.
pub(crate) struct Evidence(Vec<Pair>);

impl Evidence {
    pub(crate) fn new(sightings: &[Sighting], pairs: &[Pair]) -> Self {
        let far = APART_NS.iter().flat_map(|&apart_ns| distant_pairs(sightings, apart_ns));
        Self(pairs.iter().copied().chain(far).collect())
    }

    /// By how many standard errors one model is ahead of another; each sees the sightings as it places them.
    pub(crate) fn ahead(&self, one: (&Model, &[Sighting]), other: (&Model, &[Sighting])) -> f64 {
        advantage(self.errors(one, other))
    }

    fn errors<'a>(
        &'a self,
        (one, one_sees): (&'a Model, &'a [Sighting]),
        (other, other_sees): (&'a Model, &'a [Sighting]),
    ) -> impl Iterator<Item = (usize, f64, f64)> {
        self.0
            .iter()
            .map(move |pair| (pair.block(), one.error(one_sees, pair), other.error(other_sees, pair)))
    }

    /// Gives a model the file's speed, unless its own is clearly better.
    pub(crate) fn keep_file(&self, model: &mut Model, sightings: &[Sighting], nominal_ns: f64) {
        let with_file = Model { period_ns: nominal_ns, ..model.clone() };
        let ahead = small_advantage(self.errors((model, sightings), (&with_file, sightings)));
        if ahead <= CLEAR {
            *model = with_file;
        }
    }
}

/// The period near the model's, at most `range` of it away, at which the sightings of each window agree best with its layout.
pub(crate) fn of_windows(model: &Model, sightings: &[Sighting], range: f64) -> Option<f64> {
    let windows: Vec<Vec<(f64, f64)>> = sightings
        .chunk_by(|a, b| (a.at.0 as f64 / WINDOW_NS) as u64 == (b.at.0 as f64 / WINDOW_NS) as u64)
        .filter(|window| window.len() >= FEW)
        .map(|window| {
            let first = window[0].at.0;
            let turned = |sighting: &Sighting| (sighting.at.0 - first) as f64 / model.period_ns;
            window.iter().map(|sighting| (turned(sighting), model.turns(sighting))).collect()
        })
        .collect();
    // What is together in a window adds up to a vector, whose length does not know the phase.
    let score = |speed: f64| {
        let power = |window: &Vec<(f64, f64)>| {
            let angles = window.iter().map(|(turned, turns)| TAU * (turned * (1.0 + speed) - turns));
            let (x, y) = angles.fold((0.0, 0.0), |(x, y), angle| (x + angle.cos(), y + angle.sin()));
            (x * x + y * y) / window.len() as f64
        };
        windows.iter().map(power).sum::<f64>()
    };
    let mut best = (0.0, score(0.0));
    // A peak is as wide as a turn in a window.
    let mut step = 0.2 * model.period_ns / WINDOW_NS;
    let mut arm = (range / step).ceil() as i32;
    for _ in 0..3 {
        let around = best.0;
        let tried = (-arm..=arm).map(|point| around + step * f64::from(point)).map(|at| (at, score(at)));
        best = tried.fold(best, |best, next| if next.1 > best.1 { next } else { best });
        (step, arm) = (step / 8.0, 8);
    }
    (!windows.is_empty()).then(|| model.period_ns / (1.0 + best.0))
}

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
/// By so many standard errors pairs must speak for a speed. The best of all is ahead of the right one by half of what it is off, in
/// standard errors of its own.
const CLEAR: f64 = 3.0;
/// The same where no window says anything.
const ALONE: f64 = 1.0;
/// By so much less pairs may agree with the file's speed, of however few.
const NOTHING_LOST: f64 = 0.02;
/// A speed that is less likely by so much (twice the logarithm) is off by four standard errors.
const UNLIKELY: f64 = 16.0;
/// Sightings within so long are looked at together.
const WINDOWS_NS: [f64; 3] = [4e9, 16e9, 64e9];
/// A period is right to a turn in this time before.
const FIRST_NS: f64 = 1e9;
/// Windows of fewer say next to nothing.
const FEW: usize = 4;

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

    /// The same of models that differ in nothing but their speed.
    fn in_speed(&self, one: (&Model, &[Sighting]), other: (&Model, &[Sighting])) -> f64 {
        small_advantage(self.errors(one, other))
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
}

/// What the sightings of windows of time say together. Those of a window add up to a vector, whose length does not know the phase:
/// one that jumps spoils a window.
struct Windows {
    /// Of each sighting of a window the turns since the window began, at the model's period, and its angle.
    turns: Vec<Vec<(f64, f64)>>,
    sightings: usize,
    /// A turn in so many is what a window can tell.
    longest: f64,
}

impl Windows {
    fn new(model: &Model, sightings: &[Sighting], window_ns: f64) -> Self {
        let number = |sighting: &Sighting| (sighting.at.0 as f64 / window_ns) as u64;
        let turns: Vec<Vec<(f64, f64)>> = sightings
            .chunk_by(|a, b| number(a) == number(b))
            .filter(|window| window.len() >= FEW)
            .map(|window| {
                let turned = |it: &Sighting| (it.at.0 - window[0].at.0) as f64 / model.period_ns;
                window.iter().map(|it| (turned(it), model.turns(it))).collect()
            })
            .collect();
        Self { sightings: turns.iter().map(Vec::len).sum(), turns, longest: window_ns / model.period_ns }
    }

    /// How long the vectors are at a speed, as the relative error of the model's.
    fn length(&self, speed: f64) -> f64 {
        let length = |window: &Vec<(f64, f64)>| {
            let angles = window.iter().map(|(turned, turns)| TAU * (turned * (1.0 + speed) - turns));
            let (x, y) = angles.fold((0.0, 0.0), |(x, y), angle| (x + angle.cos(), y + angle.sin()));
            x.hypot(y)
        };
        self.turns.iter().map(length).sum()
    }

    /// The speed at which they are longest, at most `range` away.
    fn best(&self, range: f64) -> f64 {
        let mut best = (0.0, self.length(0.0));
        let mut step = 0.2 / self.longest;
        let mut arm = (range / step).ceil() as i32;
        for _ in 0..3 {
            let around = best.0;
            let tried = (-arm..=arm).map(|point| around + step * f64::from(point));
            best = tried
                .map(|at| (at, self.length(at)))
                .fold(best, |best, next| if next.1 > best.1 { next } else { best });
            (step, arm) = (step / 8.0, 8);
        }
        best.0
    }

    /// The mean cosine of the errors, at a speed.
    fn agreement(&self, speed: f64) -> f64 {
        self.length(speed) / self.sightings.max(1) as f64
    }

    /// How much likelier one speed is than another: twice the logarithm, as of errors that lie around the circle as von Mises has them.
    fn likelier(&self, one: f64, other: f64) -> f64 {
        2.0 * concentration(self.agreement(one)) * (self.length(one) - self.length(other))
    }
}

/// The concentration of a von Mises distribution whose mean cosine this is (Fisher 1993, to a few percent).
fn concentration(mean: f64) -> f64 {
    let mean = mean.min(0.999);
    match mean {
        _ if mean < 0.53 => 2.0 * mean + mean.powi(3) + 5.0 / 6.0 * mean.powi(5),
        _ if mean < 0.85 => -0.4 + 1.39 * mean + 0.43 / (1.0 - mean),
        _ => 1.0 / (mean.powi(3) - 4.0 * mean.powi(2) + 3.0 * mean),
    }
}

/// The period near the model's, at most `range` of it away, at which the sightings of each window agree best with its layout.
pub(crate) fn of_windows(model: &Model, sightings: &[Sighting], range: f64) -> Option<f64> {
    let windows = Windows::new(model, sightings, WINDOWS_NS[0]);
    (!windows.turns.is_empty()).then(|| model.period_ns / (1.0 + windows.best(range)))
}

/// Makes the period of a model precise where windows, ever longer ones as long as their sightings agree as well, find
/// another clearly likelier. The file's speed stays where neither they nor pairs speak against it.
pub(crate) fn settle(
    model: &mut Model,
    sightings: &[Sighting],
    (pairs, evidence): (&[Pair], &Evidence),
    nominal_ns: f64,
) {
    let (mut reach, mut agreed) = (model.period_ns / FIRST_NS, 0.0);
    let mut against_file = 0.0;
    for window_ns in WINDOWS_NS {
        let windows = Windows::new(model, sightings, window_ns);
        let best = windows.best(reach);
        if 2 * windows.sightings < sightings.len() || windows.agreement(best) < 0.95 * agreed {
            break;
        }
        (reach, agreed) = (1.0 / windows.longest, windows.agreement(best));
        against_file = windows.likelier(best, model.period_ns / nominal_ns - 1.0);
        let moved = Model { period_ns: model.period_ns / (1.0 + best), ..model.clone() };
        // Where a few times are wrong and the others precise, pairs know better: they do not mind the few.
        let pairs_say = evidence.in_speed((&moved, sightings), (model, sightings));
        if windows.likelier(best, 0.0) > UNLIKELY && pairs_say > -1.0 {
            *model = moved;
        }
    }
    let with_file = Model { period_ns: nominal_ns, ..model.clone() };
    let pairs_say = evidence.in_speed((model, sightings), (&with_file, sightings));
    let is_as_good = model.coherence(sightings, pairs) - with_file.coherence(sightings, pairs) < NOTHING_LOST;
    if against_file <= UNLIKELY && pairs_say <= if agreed > 0.0 { CLEAR } else { ALONE } && is_as_good {
        *model = with_file;
    }
}

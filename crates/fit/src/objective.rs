//! The objective: how far a drive is from the measured times, block by block, and whether a change of it is more than
//! noise.

use headstack_units::{Nanos, Op};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::sync::LazyLock;

/// Contiguous blocks of the requests: errors of neighbouring requests hang together (cache, arm, angle of the spindle),
/// those of blocks hardly.
pub(crate) const BLOCKS: usize = 24;

/// What a fit makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The mean absolute error per request, and beside it the mean distance of the two distributions, of reads and of writes
    /// apart: a drive that predicts single requests better and has other times altogether is no better drive.
    Balanced,
    /// The mean absolute error per request. A late completion counts as much as it is late: robust.
    #[default]
    PerRequest,
    /// The root mean square error per request: a request that misses a revolution counts more than many small errors.
    RootMeanSquare,
    /// The demerit: the distance of the two distributions, whichever request a time belongs to.
    Demerit,
}

impl Objective {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Balanced, Self::PerRequest, Self::RootMeanSquare, Self::Demerit];

    /// Its name in results, which ends in the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced_ms",
            Self::PerRequest => "mae_ms",
            Self::RootMeanSquare => "rmse_ms",
            Self::Demerit => "demerit_ms",
        }
    }

    /// Its name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::Balanced => "error per request and of the distributions",
            Self::PerRequest => "error per request",
            Self::RootMeanSquare => "root mean square error",
            Self::Demerit => "demerit",
        }
    }

    /// How far each request (for the demerit: each quantile, at the request whose measured time it is) is off.
    fn of_requests(self, ops: &[Op], measured: &[Nanos], model: &[Nanos]) -> Vec<f64> {
        match self {
            Self::Balanced => {
                let mut losses = Self::PerRequest.of_requests(ops, measured, model);
                for op in [Op::Read, Op::Write] {
                    let own = (0..ops.len()).filter(|&request| ops[request] == op).collect();
                    quantiles(own, measured, model, |request, ms| losses[request] += ms);
                }
                losses
            }
            Self::PerRequest => measured.iter().zip(model).map(|(&a, &b)| apart(a, b)).collect(),
            Self::RootMeanSquare => measured.iter().zip(model).map(|(&a, &b)| apart(a, b).powi(2)).collect(),
            Self::Demerit => {
                let mut losses = vec![0.0; measured.len()];
                let all = (0..measured.len()).collect();
                quantiles(all, measured, model, |request, ms| losses[request] = ms.powi(2));
                losses
            }
        }
    }
}

/// How far two times are apart, in ms.
fn apart(a: Nanos, b: Nanos) -> f64 {
    a.0.abs_diff(b.0) as f64 / 1e6
}

/// How far each quantile of the measured times of some requests is from the model's, in ms, at the request whose measured
/// time it is.
fn quantiles(mut of: Vec<usize>, measured: &[Nanos], model: &[Nanos], mut is: impl FnMut(usize, f64)) {
    let mut quantiles: Vec<Nanos> = of.iter().map(|&request| model[request]).collect();
    quantiles.sort_unstable();
    of.sort_by_key(|&request| (measured[request], request));
    for (request, quantile) in of.into_iter().zip(quantiles) {
        is(request, apart(measured[request], quantile));
    }
}

/// How far one drive is from the measured times.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Sums over the requests of each block.
    blocks: Vec<f64>,
    requests: usize,
    objective: Objective,
}

impl Loss {
    /// Compares model times with measured ones, request by request; `ops` are the directions of the requests.
    pub fn new(objective: Objective, ops: &[Op], measured: &[Nanos], model: &[Nanos]) -> Self {
        let losses = objective.of_requests(ops, measured, model);
        let edge = |block| losses.len() * block / BLOCKS;
        let blocks = (0..BLOCKS).map(|block| losses[edge(block)..edge(block + 1)].iter().sum()).collect();
        Self { blocks, requests: losses.len(), objective }
    }

    /// A loss that was known before.
    pub(crate) fn restored(objective: Objective, requests: usize, blocks: Vec<f64>) -> Self {
        Self { blocks, requests, objective }
    }

    /// Sums over the requests of each block.
    pub(crate) fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// Mean over the requests; for the demerit and the root mean square error before the root is drawn.
    pub(crate) fn mean(&self) -> f64 {
        self.blocks.iter().sum::<f64>() / self.requests as f64
    }

    /// The objective, in ms.
    pub fn ms(&self) -> f64 {
        match self.objective {
            Objective::Balanced | Objective::PerRequest => self.mean(),
            Objective::RootMeanSquare | Objective::Demerit => self.mean().sqrt(),
        }
    }

    /// By how much a drive is better than this one, block by block.
    pub fn improvement(&self, after: &Self) -> Improvement {
        let gains: Vec<f64> = self.blocks.iter().zip(&after.blocks).map(|(old, new)| old - new).collect();
        let count = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / count;
        let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let t = match error {
            error if error > 0.0 => mean / error,
            _ if mean == 0.0 => 0.0,
            _ => f64::INFINITY.copysign(mean),
        };
        let half = |odd: usize| gains.iter().skip(odd).step_by(2).sum::<f64>();
        Improvement {
            gain: self.mean() - after.mean(),
            gain_ms: self.ms() - after.ms(),
            t,
            halves: [half(0), half(1)],
        }
    }
}

/// By how much one drive is better than another, on the same requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    gain: f64,
    /// Of the objective, in ms.
    pub gain_ms: f64,
    /// The gain in standard errors, which are estimated from the blocks.
    pub t: f64,
    halves: [f64; 2],
}

/// Student's t beyond which a difference of blocks has two chances in a hundred and a half to be noise.
static CLEARLY: LazyLock<f64> = LazyLock::new(|| {
    StudentsT::new(0.0, 1.0, BLOCKS as f64 - 1.0).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
});

impl Improvement {
    /// Whether the gain is more than noise: so many standard errors, and on the even and on the odd blocks alike.
    pub fn is_clear(&self, t: f64) -> bool {
        self.gain > 0.0 && self.t >= t && self.halves.iter().all(|&half| half > 0.0)
    }

    /// Whether the drive before is out, as against the one after, at the 95 % level (Student's t over the blocks).
    pub fn rules_out(&self) -> bool {
        self.t >= *CLEARLY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_stats::{demerit, per_request};

    /// Times that look random, in ns, up to 20 ms.
    fn times(seed: u64, count: u64) -> Vec<Nanos> {
        (0..count)
            .map(|id| Nanos((id + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40))
            .collect()
    }

    #[test]
    fn each_objective_is_what_the_score_of_its_name_says() {
        let (measured, model) = (times(3, 1001), times(77, 1001));
        let errors = per_request(&measured, &model).unwrap();
        let ops: Vec<Op> = (0..1001).map(|id| if id % 3 == 0 { Op::Write } else { Op::Read }).collect();
        let ms = |objective| Loss::new(objective, &ops, &measured, &model).ms();
        assert!((ms(Objective::PerRequest) - errors.mae_ms).abs() < 1e-9);
        assert!((ms(Objective::RootMeanSquare) - errors.rmse_ms).abs() < 1e-9);
        assert!((ms(Objective::Demerit) - demerit(&measured, &model).unwrap().ms).abs() < 1e-9);
        // Beside the error per request: reads and writes, each sorted, one against the other.
        let sorted = |times: &[Nanos], op: Op| {
            let mut own: Vec<u64> =
                times.iter().zip(&ops).filter(|it| *it.1 == op).map(|it| it.0.0).collect();
            own.sort_unstable();
            own
        };
        let distance = |op| -> f64 {
            let pairs = sorted(&measured, op).into_iter().zip(sorted(&model, op));
            pairs.map(|(a, b)| a.abs_diff(b) as f64 / 1e6).sum()
        };
        let both = errors.mae_ms + (distance(Op::Read) + distance(Op::Write)) / 1001.0;
        assert!((ms(Objective::Balanced) - both).abs() < 1e-9);
    }

    #[test]
    fn a_model_that_misses_other_requests_than_the_drive_is_told_from_one_with_other_times() {
        let ms = |times: &[f64]| times.iter().map(|&time| Nanos::from_ms(time)).collect::<Vec<_>>();
        let measured = ms(&[1.0, 1.0, 9.0, 9.0]);
        let loss =
            |objective, model: &[f64]| Loss::new(objective, &[Op::Read; 4], &measured, &ms(model)).ms();
        let (swapped, shifted) = ([1.0, 9.0, 1.0, 9.0], [5.0, 5.0, 5.0, 5.0]);
        assert!(loss(Objective::PerRequest, &swapped) == loss(Objective::PerRequest, &shifted));
        assert!(loss(Objective::Balanced, &swapped) < loss(Objective::Balanced, &shifted));
    }

    #[test]
    fn noise_is_no_improvement_and_a_shift_of_every_request_is_one() {
        let measured = times(3, 4800);
        let off = |by: i64, noise: u64| -> Vec<Nanos> {
            let jitter = times(noise, 4800);
            let time = |(time, jitter): (&Nanos, &Nanos)| {
                Nanos((time.0 as i64 + by + (jitter.0 % 2001) as i64) as u64)
            };
            measured.iter().zip(&jitter).map(time).collect()
        };
        let ops = vec![Op::Read; 4800];
        let loss = |model: &[Nanos]| Loss::new(Objective::PerRequest, &ops, &measured, model);
        // The same drive twice, with noise of its own each time: by chance one of them is better.
        let clear = (0..200).filter(|seed| {
            let difference = loss(&off(50_000, 2 * seed + 5)).improvement(&loss(&off(50_000, 1000 + seed)));
            difference.is_clear(2.0) || difference.rules_out()
        });
        assert!(clear.count() <= 20, "noise that passes for a change");
        let difference = loss(&off(50_000, 5)).improvement(&loss(&off(40_000, 9)));
        assert!(difference.is_clear(2.0) && difference.rules_out());
        assert!((difference.gain_ms - 0.01).abs() < 0.001);
        let same = loss(&off(0, 5)).improvement(&loss(&off(0, 5)));
        assert_eq!((same.t, same.is_clear(0.0)), (0.0, false));
    }

    #[test]
    fn a_gain_on_half_of_the_blocks_is_not_clear() {
        let flat = |value: f64| Loss {
            blocks: vec![value; BLOCKS],
            requests: 240,
            objective: Objective::PerRequest,
        };
        let mut better = flat(10.0);
        for block in (0..BLOCKS).step_by(2) {
            better.blocks[block] = 1.0;
        }
        let difference = flat(10.0).improvement(&better);
        assert!(difference.t > 4.0 && !difference.is_clear(2.0));
    }
}

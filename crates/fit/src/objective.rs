//! The objective: how far a drive is from the measured times, block by block, and whether a change of it is more than
//! noise.

use headstack_units::Nanos;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::sync::LazyLock;

/// Contiguous blocks of the requests: errors of neighbouring requests hang together (cache, arm, angle of the spindle),
/// those of blocks hardly.
pub(crate) const BLOCKS: usize = 24;

/// What a fit makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
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
    pub const ALL: [Self; 3] = [Self::PerRequest, Self::RootMeanSquare, Self::Demerit];

    /// Its name in results, which ends in the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerRequest => "mae_ms",
            Self::RootMeanSquare => "rmse_ms",
            Self::Demerit => "demerit_ms",
        }
    }

    /// Its name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::PerRequest => "error per request",
            Self::RootMeanSquare => "root mean square error",
            Self::Demerit => "demerit",
        }
    }

    /// How far each request (for the demerit: each quantile, at the request whose measured time it is) is off.
    fn of_requests(self, measured: &[Nanos], model: &[Nanos]) -> Vec<f64> {
        let apart = |a: Nanos, b: Nanos| a.0.abs_diff(b.0) as f64 / 1e6;
        match self {
            Self::PerRequest => measured.iter().zip(model).map(|(&a, &b)| apart(a, b)).collect(),
            Self::RootMeanSquare => measured.iter().zip(model).map(|(&a, &b)| apart(a, b).powi(2)).collect(),
            Self::Demerit => {
                let mut order: Vec<usize> = (0..measured.len()).collect();
                order.sort_by_key(|&request| (measured[request], request));
                let mut quantiles = model.to_vec();
                quantiles.sort_unstable();
                let mut losses = vec![0.0; measured.len()];
                for (request, quantile) in order.into_iter().zip(quantiles) {
                    losses[request] = apart(measured[request], quantile).powi(2);
                }
                losses
            }
        }
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
    /// Compares model times with measured ones, request by request.
    pub fn new(objective: Objective, measured: &[Nanos], model: &[Nanos]) -> Self {
        let losses = objective.of_requests(measured, model);
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
            Objective::PerRequest => self.mean(),
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
        let ms = |objective| Loss::new(objective, &measured, &model).ms();
        assert!((ms(Objective::PerRequest) - errors.mae_ms).abs() < 1e-9);
        assert!((ms(Objective::RootMeanSquare) - errors.rmse_ms).abs() < 1e-9);
        assert!((ms(Objective::Demerit) - demerit(&measured, &model).unwrap().ms).abs() < 1e-9);
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
        let loss = |model: &[Nanos]| Loss::new(Objective::PerRequest, &measured, model);
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

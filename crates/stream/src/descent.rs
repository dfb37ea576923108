//! How a search goes down: damped Gauss–Newton steps.
//!
//! Two things stop such steps though there is a way down. A track more or less in a file is a jump of its throughput, and a slope over
//! a jump is none: slopes are those of a model whose switches are spread evenly over its tracks ([`Surface::Even`]). Where interface
//! and media take turns as the bottleneck there is a kink, and a slope over it is that of neither side: slopes are taken on both
//! sides, and the best of the steps counts.

use crate::check::{LEAST_RATE_MB_PER_S, LEAST_RPM};
use crate::least_squares::{damped, norm, square};
use crate::search::{Search, moved};
use crate::spec::ModelSpec;
use headstack_system::SystemError;

/// Differences for slopes, in scales, one after the other.
const SHARES: [f64; 2] = [0.1, 0.01];
/// Squares of a throughput that are no difference.
const NOTHING: f64 = 1e-16;
/// What damping begins with, and by how much it grows where a step leads nowhere.
const DAMPING: f64 = 1e-3;
const MORE_DAMPING: f64 = 30.0;

/// What is gone down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// The model with its switches spread evenly over the tracks: no jumps.
    Even,
    /// The model.
    Exact,
}

/// How much trouble is taken.
struct Care {
    surface: Surface,
    /// The difference for slopes, in scales.
    share: f64,
    steps: usize,
    /// More damping leads nowhere.
    damping: f64,
    /// A step that takes less than this share of the squares is the last.
    gain: f64,
}

/// The slopes of each parameter.
type Slopes = Vec<Vec<f64>>;

impl Search<'_> {
    /// The values with which a descent from `start` ends: on the even surface, then on the exact one.
    pub(crate) fn descend(&self, start: &[f64], free: &[usize]) -> Result<Vec<f64>, SystemError> {
        let even = |share| Care { surface: Surface::Even, share, steps: 30, damping: 1e3, gain: 1e-3 };
        let exact = Care { surface: Surface::Exact, share: SHARES[1], steps: 30, damping: 1e4, gain: 1e-6 };
        let mut values = start.to_vec();
        for share in SHARES {
            values = self.steps(values, free, &even(share))?;
        }
        let values = self.steps(values, free, &exact)?;
        // The jumps may be more than what the even surface gained.
        if self.loss(&values) <= self.loss(start) {
            Ok(values)
        } else {
            self.steps(start.to_vec(), free, &exact)
        }
    }

    /// A short descent on the exact surface, from values that are nearly the best.
    pub(crate) fn follow(&self, start: &[f64], free: &[usize]) -> Result<Vec<f64>, SystemError> {
        let care = Care { surface: Surface::Exact, share: SHARES[1], steps: 4, damping: 30.0, gain: 1e-2 };
        self.steps(start.to_vec(), free, &care)
    }

    fn steps(&self, mut values: Vec<f64>, free: &[usize], care: &Care) -> Result<Vec<f64>, SystemError> {
        let mut damping = DAMPING;
        let mut here = self.logs(care.surface, &values)?;
        for _ in 0..care.steps {
            let loss = square(&here);
            if loss <= NOTHING * here.len() as f64 || free.is_empty() {
                break;
            }
            let sides = self.sides(&values, free, care.share)?;
            let better = loop {
                let ends = sides.iter().filter_map(|slopes| self.step(&values, slopes, &here, free, damping));
                let ends =
                    ends.filter_map(|next| self.logs(care.surface, &next).ok().map(|there| (there, next)));
                let best = ends.min_by(|a, b| square(&a.0).total_cmp(&square(&b.0)));
                if let Some(best) = best.filter(|best| square(&best.0) < loss) {
                    break Some(best);
                }
                damping = damping.max(DAMPING) * MORE_DAMPING;
                if damping > care.damping {
                    break None;
                }
            };
            let Some(better) = better else { break };
            (here, values) = better;
            damping = (damping * 0.1).max(1e-9);
            if square(&here) > (1.0 - care.gain) * loss {
                break;
            }
        }
        Ok(values)
    }

    /// Slopes of both sides and between, once where they are the same.
    fn sides(&self, values: &[f64], free: &[usize], share: f64) -> Result<Vec<Slopes>, SystemError> {
        let (up, down) = self.both_slopes(values, free, share)?;
        let differ = |(up, down): (&Vec<f64>, &Vec<f64>)| {
            let apart: Vec<f64> = up.iter().zip(down).map(|(up, down)| up - down).collect();
            norm(&apart) > 0.05 * norm(up).max(norm(down))
        };
        let is_kink = up.iter().zip(&down).any(differ);
        let middle = up.iter().zip(&down).map(|(up, down)| halfway(up, down)).collect();
        Ok(if is_kink { vec![middle, up, down] } else { vec![middle] })
    }

    /// How logarithms change with each parameter that is free, by its scale, upwards and downwards, on the even surface. At a bound, and
    /// where the files of the table would not fit any more, the other way.
    pub(crate) fn both_slopes(
        &self,
        values: &[f64],
        free: &[usize],
        share: f64,
    ) -> Result<(Slopes, Slopes), SystemError> {
        let here = self.logs(Surface::Even, values)?;
        let flat = vec![0.0; here.len()];
        let (mut up, mut down) = (vec![flat.clone(); values.len()], vec![flat.clone(); values.len()]);
        for &place in free {
            let parameter = self.parameters[place];
            let value = values[place];
            let along = |by: f64| -> Option<Vec<f64>> {
                let to = parameter.within(parameter.moved(value, by), self.spec);
                let scales = parameter.scales(value, to);
                // Right beside a bound rounding would be most of a slope.
                let there = self.logs(Surface::Even, &moved(values, place, to)).ok();
                let there = there.filter(|_| scales.abs() >= 0.5 * share)?;
                Some(there.iter().zip(&here).map(|(there, here)| (there - here) / scales).collect())
            };
            let (above, below) = (along(share), along(-share));
            up[place] = above.clone().or(below.clone()).unwrap_or(flat.clone());
            down[place] = below.or(above).unwrap_or(flat.clone());
        }
        Ok((up, down))
    }

    /// Where a damped step leads. What stands at a bound and would leave it stays, and the others move as if it were no parameter.
    fn step(
        &self,
        values: &[f64],
        slopes: &[Vec<f64>],
        here: &[f64],
        free: &[usize],
        damping: f64,
    ) -> Option<Vec<f64>> {
        let mut free: Vec<usize> = free.iter().copied().filter(|&place| norm(&slopes[place]) > 0.0).collect();
        loop {
            let step = damped(slopes, here, &free, damping)?;
            let mut next = values.to_vec();
            for (&place, step) in free.iter().zip(&step) {
                let parameter = self.parameters[place];
                next[place] = parameter.within(parameter.moved(values[place], *step), self.spec);
            }
            let moves = |place: &usize| next[*place] != values[*place];
            let moving: Vec<usize> = free.iter().copied().filter(moves).collect();
            if moving.len() == free.len() {
                return Some(next);
            }
            free = moving;
        }
    }
}

/// The same disk whose switches take no time, but its revolutions so much longer: as many bytes on a track, and the same time from one
/// track to the next.
pub(crate) fn evened(mut spec: ModelSpec) -> ModelSpec {
    let disk = &mut spec.mechanism;
    let heads = f64::from(disk.heads);
    let switch_ms = ((heads - 1.0) * disk.head_switch_ms + disk.cylinder_switch_ms) / heads;
    let slower = 1.0 / (1.0 + switch_ms * disk.rotation_rpm / 60_000.0);
    (disk.head_switch_ms, disk.cylinder_switch_ms) = (0.0, 0.0);
    disk.rotation_rpm = (disk.rotation_rpm * slower).max(LEAST_RPM);
    for rate in [&mut disk.outer_mb_per_s, &mut disk.inner_mb_per_s] {
        *rate = (*rate * slower).max(LEAST_RATE_MB_PER_S);
    }
    spec
}

fn halfway(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect()
}

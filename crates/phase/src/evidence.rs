//! Whether one hypothesis explains the pairs clearly better than another.

use crate::kernel::{NARROW, WIDE, by_chance, chance_deviation, weight};
use std::collections::BTreeMap;

/// By how many standard errors one hypothesis is ahead of another, from the errors of each pair under both: `(block,
/// error, other's error)` in turns, with the kernel that shows it more clearly.
///
/// The pairs of a block share observations and count as one. The standard error is not taken below what as many pairs
/// of any phase would have: hypotheses that are nearly the same differ little on every pair, and that is no reason to
/// leave the simpler one.
pub(crate) fn advantage(errors: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    ahead(errors, 1.0)
}

/// The same of hypotheses that differ in one number alone, where little on every pair is evidence, too: the standard error is
/// what the blocks differ by.
pub(crate) fn small_advantage(errors: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    ahead(errors, 1e-9)
}

/// `least`: the least standard error, as a share of what pairs of any phase have.
fn ahead(errors: impl Iterator<Item = (usize, f64, f64)>, least: f64) -> f64 {
    // For each block, what its pairs count more in all, and how many they are.
    let mut blocks: BTreeMap<usize, ([f64; 2], f64)> = BTreeMap::new();
    for (block, error, other) in errors {
        let (sums, pairs) = blocks.entry(block).or_default();
        for (sum, width) in sums.iter_mut().zip(WIDTHS) {
            *sum += weight(error, width) - weight(other, width);
        }
        *pairs += 1.0;
    }
    let pairs: f64 = blocks.values().map(|block| block.1).sum();
    if pairs == 0.0 {
        return 0.0;
    }
    let ahead = |kernel: usize| {
        let total: f64 = blocks.values().map(|(sums, _)| sums[kernel]).sum();
        let each = total / pairs;
        let spread: f64 = blocks.values().map(|(sums, pairs)| (sums[kernel] - each * pairs).powi(2)).sum();
        let chance = pairs * (least * chance_deviation(WIDTHS[kernel])).powi(2);
        total / spread.max(chance).sqrt()
    };
    let (wide, narrow) = (ahead(0), ahead(1));
    if wide.abs() > narrow.abs() { wide } else { narrow }
}

/// Widths of the kernels: for hypotheses that differ much, and little.
const WIDTHS: [f64; 2] = [WIDE, NARROW];

/// By how many standard errors a mean score (kernel `WIDE`) of so many pairs is above chance.
pub(crate) fn above_chance(score: f64, pairs: usize) -> f64 {
    (score - by_chance(WIDE)) * (pairs as f64).sqrt() / chance_deviation(WIDE)
}

/// How many standard errors the best of `tries` independent values is ahead by chance alone, and two more.
pub(crate) fn look_elsewhere(tries: f64) -> f64 {
    (2.0 * tries.max(1.0).ln()).sqrt() + 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_on_every_pair_is_clear_only_if_it_is_large() {
        let each = |error: f64, other: f64| advantage((0..200).map(|pair| (pair / 10, error, other)));
        assert!(each(0.0, 0.05) > 5.0);
        assert!(each(0.05, 0.0) < -5.0);
        assert!(each(0.0, 0.004) < 2.0);
        assert_eq!(advantage(core::iter::empty()), 0.0);
    }

    #[test]
    fn one_block_alone_convinces_nobody() {
        let one = advantage((0..400).map(|pair| (pair / 10, 0.0, if pair < 10 { 0.3 } else { 0.0 })));
        assert!(one < 2.0, "{one}");
    }
}

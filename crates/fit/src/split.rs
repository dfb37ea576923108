//! The parts of a trace: what is fitted, and what nothing but the score looks at.

use crate::FitError;
use headstack_units::grouped;
use std::ops::Range;

/// Fewer than this many requests cannot tell a change from noise.
pub(crate) const LEAST_TRAIN: usize = 200;
/// Fewer than this many are no score.
const LEAST_TEST: usize = 20;
/// The share of a trace that may be fitted.
const SHARES: std::ops::RangeInclusive<f64> = 0.05..=0.95;
/// Most folds that make sense: each is a fit of its own.
const MOST_FOLDS: usize = 50;

/// How a trace is divided into what is fitted and what is scored.
///
/// Both ways cut the trace into contiguous blocks: the errors of neighbouring requests hang together (cache, arm, angle
/// of the spindle), and a request beside one that was fitted is no fair test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// The first part of the trace, this share of it, is fitted; the rest is scored.
    First(f64),
    /// The trace is cut into so many contiguous blocks. Each is scored by a drive that was fitted to all the others; the
    /// drive that results is fitted to the whole trace.
    KFold(usize),
}

impl Split {
    /// The blocks that are scored, of a trace of so many requests; each is hidden from the drive that is scored on it.
    ///
    /// ```
    /// use headstack_fit::Split;
    ///
    /// assert_eq!(Split::First(0.5).tests("t", 1000)?, [500..1000]);
    /// assert_eq!(Split::KFold(3).tests("t", 1000)?, [0..333, 333..666, 666..1000]);
    /// # Ok::<(), headstack_fit::FitError>(())
    /// ```
    ///
    /// # Errors
    /// [`FitError::Input`] for a share or a number of folds that makes no sense, or leaves a part too small.
    #[expect(clippy::single_range_in_vec_init, reason = "one block is a list of blocks")]
    pub fn tests(&self, trace: &str, requests: usize) -> Result<Vec<Range<usize>>, FitError> {
        let blocks = match *self {
            Self::First(share) if SHARES.contains(&share) => {
                let train = ((requests as f64 * share) as usize).clamp(1, requests.saturating_sub(1).max(1));
                vec![train.min(requests)..requests]
            }
            Self::First(share) => {
                let problem =
                    format!("the part to fit is {share} of the trace, which is not between 0.05 and 0.95");
                return Err(FitError::input(problem, "--split half"));
            }
            Self::KFold(folds) if (2..=MOST_FOLDS).contains(&folds) => {
                let edge = |fold| requests * fold / folds;
                (0..folds).map(|fold| edge(fold)..edge(fold + 1)).collect()
            }
            Self::KFold(folds) => {
                let problem = format!("a trace is split into 2 to {MOST_FOLDS} folds, not into {folds}");
                return Err(FitError::input(problem, "--split k-fold, which is 5, or --split 10-fold"));
            }
        };
        for test in &blocks {
            let (train, test) = (requests - test.len(), test.len());
            if train < LEAST_TRAIN || test < LEAST_TEST {
                return Err(FitError::input(
                    format!(
                        "{trace}: {} of {} measured requests to fit and {} to score are too few",
                        grouped(train as u64),
                        grouped(requests as u64),
                        grouped(test as u64)
                    ),
                    format!(
                        "at least {LEAST_TRAIN} are needed to fit and {LEAST_TEST} to score: choose a longer trace, or \
                         another --split"
                    ),
                ));
            }
        }
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_hold_every_request_once_and_in_order() {
        for requests in [441, 1000, 9999] {
            for folds in [2, 3, 5, 7] {
                let blocks = Split::KFold(folds).tests("t", requests).unwrap();
                let all: Vec<usize> = blocks.iter().cloned().flatten().collect();
                assert!(all.into_iter().eq(0..requests));
                let sizes: Vec<usize> = blocks.iter().map(ExactSizeIterator::len).collect();
                assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn what_leaves_too_little_is_refused_with_the_option_that_helps() {
        for (split, requests) in [
            (Split::First(0.5), 300),
            (Split::First(0.94), 300),
            (Split::KFold(50), 900),
            (Split::KFold(2), 0),
        ] {
            let error = split.tests("t", requests).unwrap_err();
            let FitError::Input { problem, hint } = error else { panic!("{error}") };
            assert!(problem.contains("too few") && hint.contains("--split"), "{problem} / {hint}");
        }
        for split in [Split::First(0.99), Split::First(f64::NAN), Split::KFold(1), Split::KFold(51)] {
            assert!(matches!(split.tests("t", 100_000), Err(FitError::Input { .. })), "{split:?}");
        }
    }
}

//! How sure scores are: the requests drawn anew, in blocks.
//!
//! Errors of neighbouring requests hang together (cache, arm, angle of the spindle), so whole blocks are drawn (Künsch 1989).
//! A demerit is never below 0 and grows with noise: those of the samples lie above the score itself. The percentiles are
//! shifted back by that bias (Efron & Tibshirani 1993, chapter 10).

use crate::{Scores, StatsError};
use headstack_units::{Nanos, Op};

/// Contiguous blocks that are drawn.
const BLOCKS: usize = 50;

/// 95 % intervals of the scores of some requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreInterval {
    /// Of the demerit, in ms.
    pub demerit_ms: [f64; 2],
    /// Of the mean absolute error per request, in percent of the measured mean.
    pub mae_percent: [f64; 2],
}

/// Intervals of all requests, of the reads and of the writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreIntervals {
    /// All requests.
    pub all: ScoreInterval,
    /// The reads; `None` where a sample had none.
    pub reads: Option<ScoreInterval>,
    /// The writes; `None` where a sample had none.
    pub writes: Option<ScoreInterval>,
}

/// 95 % intervals of the scores, from so many samples; the same for the same `seed`.
///
/// # Errors
/// As [`Scores::new`].
pub fn score_intervals(
    ops: &[Op],
    measured: &[Nanos],
    model: &[Nanos],
    samples: usize,
    seed: u64,
) -> Result<ScoreIntervals, StatsError> {
    let whole = Scores::new(ops, measured, model)?;
    let blocks = BLOCKS.min(ops.len());
    let edge = |block: usize| ops.len() * block / blocks;
    let mut state = seed;
    let mut drawn = Vec::with_capacity(samples);
    for _ in 0..samples {
        let (mut op, mut real, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..blocks {
            let block = ((u128::from(next(&mut state)) * blocks as u128) >> 64) as usize;
            let range = edge(block)..edge(block + 1);
            op.extend_from_slice(&ops[range.clone()]);
            real.extend_from_slice(&measured[range.clone()]);
            ours.extend_from_slice(&model[range]);
        }
        drawn.push(Scores::new(&op, &real, &ours)?);
    }
    let of = |score: fn(&Scores) -> Option<&crate::Score>| {
        let centre = score(&whole)?;
        let all: Vec<&crate::Score> = drawn.iter().map(score).collect::<Option<_>>()?;
        let interval = |value: fn(&crate::Score) -> f64| {
            shifted(value(centre), all.iter().map(|&score| value(score)).collect())
        };
        Some(ScoreInterval {
            demerit_ms: interval(|score| score.demerit.ms),
            mae_percent: interval(|score| score.per_request.mae_percent),
        })
    };
    let none = ScoreInterval {
        demerit_ms: [whole.all.demerit.ms; 2],
        mae_percent: [whole.all.per_request.mae_percent; 2],
    };
    Ok(ScoreIntervals {
        all: of(|scores| Some(&scores.all)).unwrap_or(none),
        reads: of(|scores| scores.reads.as_ref()),
        writes: of(|scores| scores.writes.as_ref()),
    })
}

/// SplitMix64 (Steele, Lea & Flood 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Where 95 % of the samples lie around their mean, around `centre`: the samples' mean less the score is the bias of such samples.
fn shifted(centre: f64, mut samples: Vec<f64>) -> [f64; 2] {
    if samples.is_empty() {
        return [centre; 2];
    }
    samples.sort_by(f64::total_cmp);
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let at = |share: f64| {
        let rank = (share * (samples.len() - 1) as f64).round() as usize;
        (centre + samples[rank] - mean).max(0.0)
    };
    [at(0.025), at(0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured times and a model whose errors are the same within blocks of 40.
    fn trace(seed: u64) -> (Vec<Op>, Vec<Nanos>, Vec<Nanos>) {
        let mut state = seed;
        let mut unit = || (next(&mut state) >> 11) as f64 / 9_007_199_254_740_992.0;
        let (mut ops, mut measured, mut model) = (Vec::new(), Vec::new(), Vec::new());
        let mut shift = 0.0;
        for request in 0..2000 {
            if request % 40 == 0 {
                shift = unit() - 0.5;
            }
            let time = 5.0 + 10.0 * unit();
            ops.push(if unit() < 0.5 { Op::Read } else { Op::Write });
            measured.push(Nanos::from_ms(time));
            model.push(Nanos::from_ms(time + shift));
        }
        (ops, measured, model)
    }

    #[test]
    fn the_true_error_lies_within_nine_of_ten_intervals() {
        // |shift| is uniform up to 0.5 ms: 0.25 ms of a mean of 10.
        let hits = (0..100).filter(|&seed| {
            let (ops, measured, model) = trace(seed);
            let found = score_intervals(&ops, &measured, &model, 200, seed).unwrap();
            let [low, high] = found.all.mae_percent;
            low <= 2.5 && 2.5 <= high
        });
        let count = hits.count();
        assert!((85..=100).contains(&count), "{count} of 100");
    }

    #[test]
    fn the_score_lies_within_its_interval_and_the_seed_decides() {
        let (ops, measured, model) = trace(3);
        let scores = Scores::new(&ops, &measured, &model).unwrap();
        let found = score_intervals(&ops, &measured, &model, 200, 1).unwrap();
        for (score, interval) in [(scores.all, found.all), (scores.reads.unwrap(), found.reads.unwrap())] {
            let [low, high] = interval.demerit_ms;
            assert!(low < score.demerit.ms && score.demerit.ms < high, "{score:?} {interval:?}");
            assert!(high - low < 2.0 * score.demerit.ms);
        }
        assert_eq!(score_intervals(&ops, &measured, &model, 200, 1).unwrap(), found);
        assert_ne!(score_intervals(&ops, &measured, &model, 200, 2).unwrap(), found);
    }
}

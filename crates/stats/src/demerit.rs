//! The demerit figure: how far the model's distribution of I/O times is from the measured one.

use headstack_units::Nanos;

use crate::wide::Wide;
use crate::{NS_PER_MS, StatsError};

/// The demerit of a model, and the two means beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demerit {
    /// Root mean square horizontal distance between the two distribution curves, in milliseconds.
    pub ms: f64,
    /// The same in percent of the measured mean.
    pub percent: f64,
    /// Mean measured time, in milliseconds.
    pub measured_mean_ms: f64,
    /// Mean model time, in milliseconds.
    pub model_mean_ms: f64,
}

/// The demerit of Ruemmler & Wilkes, *An Introduction to Disk Drive Modeling* (1994): the root mean square of the
/// horizontal distance between the cumulative distributions of the real and the modelled I/O times,
///
/// D = √ ∫₀¹ (F⁻¹(p) − G⁻¹(p))² dp,
///
/// in percent of the mean real time. It is exact: no bins, no grid of fractions. With equal counts this is the root
/// mean square difference of the two sorted samples; with unequal counts the integral runs over the merged steps of
/// both quantile functions, as if each sample were repeated up to the common multiple of the counts. The sum of
/// squares is an integer, so the order of the samples cannot matter.
///
/// DiskSim's `rms` reads two binned curves (bins of 1 µs + 1 %) at 10,000 fractions instead; on its six validation
/// traces that differs by at most 0.004 ms.
///
/// # Errors
/// [`StatsError::NoMeasured`] or [`StatsError::NoModel`] for an empty sample, [`StatsError::ZeroMean`] when every
/// measured time is zero.
pub fn demerit(measured: &[Nanos], model: &[Nanos]) -> Result<Demerit, StatsError> {
    score(measured.iter().map(|t| t.0).collect(), model.iter().map(|t| t.0).collect())
}

/// [`demerit`] of times in milliseconds, each rounded to the nearest nanosecond.
///
/// # Errors
/// As [`demerit`], and [`StatsError::NotATime`] for a value that is negative, not finite or beyond 2^64 ns.
pub fn demerit_ms(measured: &[f64], model: &[f64]) -> Result<Demerit, StatsError> {
    score(nanos_of(measured)?, nanos_of(model)?)
}

fn nanos_of(times_ms: &[f64]) -> Result<Vec<u64>, StatsError> {
    let to_ns = |(index, &ms): (usize, &f64)| {
        let is_time = ms >= 0.0 && ms * NS_PER_MS < u64::MAX as f64;
        if is_time { Ok(Nanos::from_ms(ms).0) } else { Err(StatsError::NotATime { index, ms }) }
    };
    times_ms.iter().enumerate().map(to_ns).collect()
}

fn score(mut measured: Vec<u64>, mut model: Vec<u64>) -> Result<Demerit, StatsError> {
    if measured.is_empty() {
        return Err(StatsError::NoMeasured);
    }
    if model.is_empty() {
        return Err(StatsError::NoModel);
    }
    let measured_mean_ms = mean_ms(&measured);
    if measured_mean_ms == 0.0 {
        return Err(StatsError::ZeroMean);
    }
    measured.sort_unstable();
    model.sort_unstable();
    let ms = mean_squared_distance(&measured, &model).sqrt() / NS_PER_MS;
    Ok(Demerit {
        ms,
        percent: 100.0 * ms / measured_mean_ms,
        measured_mean_ms,
        model_mean_ms: mean_ms(&model),
    })
}

fn mean_ms(times: &[u64]) -> f64 {
    times.iter().map(|&t| u128::from(t)).sum::<u128>() as f64 / times.len() as f64 / NS_PER_MS
}

/// ∫ (F⁻¹ − G⁻¹)² dp in ns², of two sorted samples. Lengths along p are counted in units of 1/lcm of the counts.
fn mean_squared_distance(a: &[u64], b: &[u64]) -> f64 {
    let common = gcd(a.len() as u64, b.len() as u64);
    let (step_a, step_b) = (b.len() as u64 / common, a.len() as u64 / common);
    let (mut i, mut j) = (0, 0);
    let (mut left_a, mut left_b) = (step_a, step_b);
    let mut total = Wide::default();
    while i < a.len() && j < b.len() {
        let length = left_a.min(left_b);
        let distance = u128::from(a[i].abs_diff(b[j]));
        total.merge(Wide::product(distance * distance, length));
        left_a -= length;
        left_b -= length;
        if left_a == 0 {
            i += 1;
            left_a = step_a;
        }
        if left_b == 0 {
            j += 1;
            left_b = step_b;
        }
    }
    total.to_f64() / (a.len() as f64 * step_a as f64)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moments;

    const MEASURED: [f64; 8] = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];

    #[test]
    fn identical_samples_score_zero_in_any_order() {
        let mut reversed = MEASURED;
        reversed.reverse();
        let score = demerit_ms(&MEASURED, &reversed).unwrap();
        assert_eq!((score.ms, score.percent), (0.0, 0.0));
        assert_eq!((score.measured_mean_ms, score.model_mean_ms), (5.0, 5.0));
    }

    #[test]
    fn a_constant_mean_scores_the_standard_deviation() {
        let score = demerit_ms(&MEASURED, &[5.0; 8]).unwrap();
        assert_eq!((score.ms, score.percent), (2.0, 40.0));
        let moments: Moments = MEASURED.map(Nanos::from_ms).into_iter().collect();
        assert_eq!(Some(score.ms), moments.std_ms());
        assert_eq!(
            demerit_ms(&MEASURED, &[5.0]).unwrap().ms,
            2.0,
            "one constant stands for any number of them"
        );
    }

    #[test]
    fn a_constant_off_the_mean_adds_in_squares() {
        // √(σ² + 3²) with σ = 2
        assert!((demerit_ms(&MEASURED, &[8.0; 8]).unwrap().ms - 13f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_shift_scores_the_shift() {
        let shifted = MEASURED.map(|ms| ms + 1.5);
        assert_eq!(demerit_ms(&MEASURED, &shifted).unwrap().ms, 1.5);
        assert_eq!(demerit_ms(&MEASURED, &shifted).unwrap().percent, 30.0);
    }

    #[test]
    fn two_against_three_by_hand() {
        // quantiles (1, 4) against (1, 2, 6): sixths of p hold 1-1 1-1 1-2 4-2 4-6 4-6; squares 0 0 1 4 4 4
        let score = demerit_ms(&[4.0, 1.0], &[6.0, 1.0, 2.0]).unwrap();
        assert!((score.ms - (13f64 / 6.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn bad_samples_are_refused() {
        assert_eq!(demerit(&[], &[Nanos(1)]), Err(StatsError::NoMeasured));
        assert_eq!(demerit(&[Nanos(1)], &[]), Err(StatsError::NoModel));
        assert_eq!(demerit(&[Nanos(0)], &[Nanos(1)]), Err(StatsError::ZeroMean));
        assert_eq!(demerit_ms(&[1.0, -2.0], &[1.0]), Err(StatsError::NotATime { index: 1, ms: -2.0 }));
        assert!(matches!(demerit_ms(&[1.0], &[f64::NAN]), Err(StatsError::NotATime { index: 0, .. })));
        assert!(demerit_ms(&[1.0], &[f64::INFINITY]).is_err());
    }

    #[test]
    fn the_largest_distances_do_not_overflow() {
        let far = demerit(&[Nanos(u64::MAX); 3], &[Nanos(0); 5]).unwrap();
        assert!((far.percent - 100.0).abs() < 1e-9);
    }
}

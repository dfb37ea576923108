//! How far the model's time of each single request is from its measured one.

use headstack_units::Nanos;

use crate::quantiles::nearest_rank;
use crate::{NS_PER_MS, StatsError};

/// Errors request by request; the error of a request is its model time less its measured time.
///
/// The demerit compares distributions and forgives times given to the wrong request; these do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerRequest {
    /// Number of requests.
    pub requests: u64,
    /// Mean absolute error, in milliseconds.
    pub mae_ms: f64,
    /// Mean absolute error in percent of the measured mean.
    pub mae_percent: f64,
    /// Median (nearest rank) of the absolute errors, in milliseconds.
    pub median_ms: f64,
    /// 90 % quantile (nearest rank) of the absolute errors, in milliseconds.
    pub p90_ms: f64,
    /// Root mean square error, in milliseconds.
    pub rmse_ms: f64,
    /// Mean error, in milliseconds: positive where the model is slower.
    pub bias_ms: f64,
    /// Share of requests, in [0, 1], with an absolute error of at most 1 ms.
    pub within_1_ms: f64,
    /// Pearson's correlation of model and measured times; `None` where either does not vary.
    pub correlation: Option<f64>,
}

/// Compares `model[i]` with `measured[i]` for each request i.
///
/// # Errors
/// [`StatsError::LengthsDiffer`] when the lists cannot be paired, [`StatsError::NoMeasured`] when they are empty,
/// [`StatsError::ZeroMean`] when every measured time is zero.
pub fn per_request(measured: &[Nanos], model: &[Nanos]) -> Result<PerRequest, StatsError> {
    if measured.len() != model.len() {
        return Err(StatsError::LengthsDiffer { measured: measured.len(), model: model.len() });
    }
    if measured.is_empty() {
        return Err(StatsError::NoMeasured);
    }
    let measured_mean = mean_ns(measured);
    if measured_mean == 0.0 {
        return Err(StatsError::ZeroMean);
    }
    let n = measured.len() as f64;
    let model_mean = mean_ns(model);
    let mut errors: Vec<u64> = measured.iter().zip(model).map(|(a, b)| a.0.abs_diff(b.0)).collect();
    errors.sort_unstable();
    let mae_ms = errors.iter().map(|&e| u128::from(e)).sum::<u128>() as f64 / n / NS_PER_MS;
    let squares: f64 = errors.iter().map(|&e| (e as f64 / NS_PER_MS).powi(2)).sum();
    let at =
        |p| nearest_rank(p, errors.len() as u64).map_or(0.0, |rank| Nanos(errors[rank as usize - 1]).as_ms());
    Ok(PerRequest {
        requests: errors.len() as u64,
        mae_ms,
        mae_percent: 100.0 * mae_ms * NS_PER_MS / measured_mean,
        median_ms: at(0.5),
        p90_ms: at(0.9),
        rmse_ms: (squares / n).sqrt(),
        bias_ms: (model_mean - measured_mean) / NS_PER_MS,
        within_1_ms: errors.partition_point(|&e| e <= 1_000_000) as f64 / n,
        correlation: correlation(measured, measured_mean, model, model_mean),
    })
}

fn mean_ns(times: &[Nanos]) -> f64 {
    times.iter().map(|t| u128::from(t.0)).sum::<u128>() as f64 / times.len() as f64
}

fn correlation(a: &[Nanos], mean_a: f64, b: &[Nanos], mean_b: f64) -> Option<f64> {
    let varies = |times: &[Nanos]| times.iter().any(|&t| t != times[0]);
    if !varies(a) || !varies(b) {
        return None;
    }
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a.0 as f64 - mean_a, b.0 as f64 - mean_b);
        aa += a * a;
        bb += b * b;
        ab += a * b;
    }
    let r = ab / (aa.sqrt() * bb.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms<const N: usize>(times: [f64; N]) -> [Nanos; N] {
        times.map(Nanos::from_ms)
    }

    #[test]
    fn errors_by_hand() {
        // errors +1 −1 +4 0, measured mean 5
        let found = per_request(&ms([2.0, 4.0, 6.0, 8.0]), &ms([3.0, 3.0, 10.0, 8.0])).unwrap();
        assert_eq!((found.requests, found.mae_ms, found.mae_percent), (4, 1.5, 30.0));
        assert_eq!((found.median_ms, found.p90_ms, found.bias_ms), (1.0, 4.0, 1.0));
        assert_eq!(found.within_1_ms, 0.75);
        assert!((found.rmse_ms - 4.5f64.sqrt()).abs() < 1e-12);
        // deviations (−3 −1 1 3) and (−3 −3 4 2): 9 + 3 + 4 + 6 = 22 over √(20 · 38)
        assert!((found.correlation.unwrap() - 22.0 / 760f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn perfect_opposite_and_constant_models() {
        let measured = ms([1.0, 2.0, 3.0]);
        let same = per_request(&measured, &measured).unwrap();
        assert_eq!((same.mae_ms, same.rmse_ms, same.within_1_ms), (0.0, 0.0, 1.0));
        assert!((same.correlation.unwrap() - 1.0).abs() < 1e-12);
        let opposite = per_request(&measured, &ms([3.0, 2.0, 1.0])).unwrap();
        assert!((opposite.correlation.unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(opposite.bias_ms, 0.0);
        // 0.1 ms three times has a mean that floating point misses; still no variance.
        assert_eq!(per_request(&measured, &ms([0.1; 3])).unwrap().correlation, None);
    }

    #[test]
    fn lists_that_cannot_be_paired_are_refused() {
        let one = ms([1.0]);
        assert_eq!(per_request(&one, &[]), Err(StatsError::LengthsDiffer { measured: 1, model: 0 }));
        assert_eq!(per_request(&[], &[]), Err(StatsError::NoMeasured));
        assert_eq!(per_request(&ms([0.0]), &one), Err(StatsError::ZeroMean));
    }
}

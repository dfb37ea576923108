//! Whether something comes at even times.

use headstack_units::Nanos;

/// How far intervals may be off a whole number of periods, root mean square, as a share of the period: by number of intervals, from
/// two on. Of four by chance it is so little once in a hundred times.
const EVEN: [f64; 5] = [0.0025, 0.02, 0.04, 0.06, 0.08];

/// Of the intervals at most such a share may be longer than one period.
const LEFT_OUT: f64 = 0.5;

/// The period of `instants`, in order, in s, if they come evenly; some of them may be missing.
pub(crate) fn period_s(instants: &[Nanos]) -> Option<f64> {
    let intervals: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]).as_s()).collect();
    let even = EVEN[..].get(intervals.len().checked_sub(2)?.min(EVEN.len() - 1))?;
    let mut sorted = intervals.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    // The shortest may be early by chance, and half may be longer than a period.
    let guess = sorted[(sorted.len() - 1) / 4];
    let periods: f64 = intervals.iter().map(|interval| (interval / guess).round()).sum();
    let period = intervals.iter().sum::<f64>() / periods;
    let whole = |interval: &f64| (interval / period).round().max(1.0);
    let off = intervals.iter().map(|interval| (interval / period - whole(interval)).powi(2)).sum::<f64>();
    let off = (off / intervals.len() as f64).sqrt();
    let longer = intervals.iter().filter(|interval| **interval > 1.5 * period).count();
    let few_left_out = longer as f64 <= LEFT_OUT * intervals.len() as f64;
    (periods > 0.0 && few_left_out && off < *even).then_some(period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, Exp, Normal};

    fn instants(seconds: impl IntoIterator<Item = f64>) -> Vec<Nanos> {
        seconds.into_iter().map(Nanos::from_s).collect()
    }

    #[test]
    fn what_comes_every_ten_seconds_has_a_period_though_some_are_missing() {
        let all = (1..31).map(|at| 10.0 * f64::from(at));
        assert_eq!(period_s(&instants(all.clone())), Some(10.0));
        assert_eq!(period_s(&instants(all.filter(|at| ![70.0, 150.0, 160.0].contains(at)))), Some(10.0));
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let off = Normal::new(0.0, 0.15).unwrap();
        let found =
            period_s(&instants((1..100).map(|at| 5.0 * f64::from(at) + off.sample(&mut random)))).unwrap();
        assert!((found - 5.0).abs() < 0.02, "{found}");
    }

    #[test]
    fn what_comes_by_chance_has_none() {
        for count in [4, 8, 30, 100] {
            let named = (0..1000).filter(|&seed| {
                let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
                let gap = Exp::new(0.1).unwrap();
                let mut at = 0.0;
                let seconds = (0..count).map(|_| {
                    at += gap.sample(&mut random);
                    at
                });
                period_s(&instants(seconds)).is_some()
            });
            let named = named.count();
            assert!(named <= 10, "{count}: {named} of 1,000");
        }
        assert_eq!(period_s(&[]), None);
        assert_eq!(period_s(&[Nanos::ZERO; 20]), None);
    }
}

//! An empirical distribution curve, thinned for plotting.

use headstack_units::Nanos;

use crate::Quantiles;

/// A point of a cumulative distribution: `fraction` of the values are at most `value`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdfPoint {
    /// A recorded value (the middle of its bin, once bins have taken over).
    pub value: Nanos,
    /// Share of values at or below it, in (0, 1].
    pub fraction: f64,
}

/// The empirical distribution in at most `max_points` points (at least 2 are allowed), ascending.
///
/// The curve begins with the smallest value and ends with the largest, and no fraction is rounded. Between the ends
/// a point is kept when since the last one the curve has risen by 1/k or moved on by 1/k of the range, k = `max_points`/2 − 1:
/// half of the points go to the steep parts and half to the long tail. Draw it as steps (the fraction holds until the
/// next point): then it is nowhere off by 1/k or more.
pub fn cdf(values: &mut Quantiles, max_points: usize) -> Vec<CdfPoint> {
    let (Some(min), Some(max)) = (values.min(), values.max()) else { return Vec::new() };
    let total = values.count();
    let k = (max_points / 2).saturating_sub(1) as u64;
    // The least rise and the least move that make a point worth keeping.
    let least = |whole: u64| if k > 0 { whole.div_ceil(k) } else { u64::MAX };
    let (rise, advance) = (least(total), least(max.0 - min.0));
    let steps = values.steps();
    let mut points = Vec::new();
    let mut next = steps.first_at(1, min.0);
    while let Some((value, below)) = next {
        points.push(CdfPoint { value: Nanos(value), fraction: below as f64 / total as f64 });
        next = (below < total)
            .then(|| steps.first_at(below.saturating_add(rise).min(total), value.saturating_add(advance)))
            .flatten();
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sample_is_kept_whole() {
        let mut values: Quantiles = [3, 1, 1, 7].map(Nanos).into_iter().collect();
        let points: Vec<(u64, f64)> = cdf(&mut values, 100).iter().map(|p| (p.value.0, p.fraction)).collect();
        assert_eq!(points, [(1, 0.5), (3, 0.75), (7, 1.0)]);
    }

    /// The points by their definition, one step after the other.
    fn step_by_step(values: &mut Quantiles, max_points: usize) -> Vec<(u64, u64)> {
        let (total, range) = (values.count(), values.max().unwrap().0 - values.min().unwrap().0);
        let k = (max_points / 2).saturating_sub(1) as u64;
        let least = |whole: u64| if k > 0 { whole.div_ceil(k) } else { u64::MAX };
        let mut points: Vec<(u64, u64)> = Vec::new();
        values.for_each_step(|value, below| {
            let keep = points.last().is_none_or(|&(last, last_below)| {
                below == total || below - last_below >= least(total) || value - last >= least(range)
            });
            if keep {
                points.push((value, below));
            }
        });
        points
    }

    #[test]
    fn points_that_are_looked_up_are_those_of_all_steps() {
        let spread = |i: u64| i * i % 9_973 * (1 + i % 3 * 1_000_000);
        for (count, limit) in [(1, 10), (37, 100), (5_000, 10_000), (5_000, 100)] {
            let mut values = Quantiles::with_limit(limit);
            (0..count).for_each(|i| values.record(Nanos(spread(i))));
            for max_points in [2, 5, 60, 1_000] {
                let expected = step_by_step(&mut values, max_points);
                let total = values.count() as f64;
                let points: Vec<_> =
                    cdf(&mut values, max_points).iter().map(|p| (p.value.0, p.fraction)).collect();
                let expected: Vec<_> =
                    expected.iter().map(|&(value, below)| (value, below as f64 / total)).collect();
                assert_eq!(points, expected, "{count} values, {max_points} points");
            }
        }
    }

    #[test]
    fn few_points_and_no_values() {
        assert!(cdf(&mut Quantiles::new(), 10).is_empty());
        let mut values: Quantiles = (1..=100).map(Nanos).collect();
        for max_points in 0..4 {
            let points = cdf(&mut values, max_points);
            assert_eq!(points.len(), 2);
            assert_eq!((points[0].value, points[1].value, points[1].fraction), (Nanos(1), Nanos(100), 1.0));
        }
        let mut constant: Quantiles = [Nanos(5); 9].into_iter().collect();
        assert_eq!(cdf(&mut constant, 10), [CdfPoint { value: Nanos(5), fraction: 1.0 }]);
    }

    #[test]
    fn a_lone_straggler_keeps_its_place() {
        let mut values: Quantiles = (0..10_000).map(Nanos).chain([Nanos(1_000_000)]).collect();
        let points = cdf(&mut values, 50);
        assert!(points.len() <= 50);
        assert_eq!(points.last().map(|p| p.value), Some(Nanos(1_000_000)));
        assert!(points.len() > 20, "the bulk is drawn too");
    }
}

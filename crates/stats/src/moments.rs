//! Count, mean, standard deviation and extremes of a stream of times.

use headstack_units::Nanos;

use crate::NS_PER_MS;
use crate::wide::Wide;

/// Streaming moments, held as exact integers: two recorders merge into precisely what one would have held.
///
/// Sums are kept wide enough (128 bits for ns, 256 for ns²) that no stream of 64-bit values overflows them. The
/// variance is formed from integers centred on the mean, so nothing cancels: a spread of 1 ns around an hour is
/// found as well as around zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    count: u64,
    sum: u128,
    squares: Wide,
    min: u64,
    max: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum: 0, squares: Wide::default(), min: u64::MAX, max: 0 }
    }
}

impl Moments {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        let wide = u128::from(value.0);
        self.count += 1;
        self.sum += wide;
        self.squares.add(wide * wide);
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
    }

    /// Adds the values of another recorder; the order of merging does not matter.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares.merge(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// The smallest value, if there is any.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.min))
    }

    /// The largest value, if there is any.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max))
    }

    /// Arithmetic mean in milliseconds; `None` without values.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / NS_PER_MS)
    }

    /// Standard deviation of the *population* (divisor n) in milliseconds; `None` without values.
    ///
    /// This is the one a constant model's demerit equals, and the `std` of the JSON output.
    pub fn std_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squared_deviations() / self.count as f64).sqrt() / NS_PER_MS)
    }

    /// Standard deviation of a *sample* (divisor n − 1) in milliseconds; `None` with fewer than two values.
    pub fn sample_std_ms(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squared_deviations() / (self.count - 1) as f64).sqrt() / NS_PER_MS)
    }

    /// Σ (x − mean)² in ns². With Σx = q·n + r: Σ(x − q)² = Σx² − q(Σx + r) in integers, less r²/n.
    fn squared_deviations(&self) -> f64 {
        let n = u128::from(self.count);
        let (quotient, remainder) = (self.sum / n, self.sum % n);
        let around_quotient =
            self.squares.minus(Wide::product(self.sum + remainder, quotient as u64)).to_f64();
        let remainder = remainder as f64;
        (around_quotient - remainder * (remainder / self.count as f64)).max(0.0)
    }
}

impl Extend<Nanos> for Moments {
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.record(value));
    }
}

impl FromIterator<Nanos> for Moments {
    fn from_iter<I: IntoIterator<Item = Nanos>>(values: I) -> Self {
        let mut moments = Self::new();
        moments.extend(values);
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // 2 4 4 4 5 5 7 9: mean 5, population σ 2, sample σ √(32/7)
        let moments: Moments =
            [2u64, 4, 4, 4, 5, 5, 7, 9].map(|ms| Nanos(ms * 1_000_000)).into_iter().collect();
        assert_eq!(moments.count(), 8);
        assert_eq!(moments.sum_ns(), 40_000_000);
        assert_eq!(moments.mean_ms(), Some(5.0));
        assert_eq!(moments.std_ms(), Some(2.0));
        assert!((moments.sample_std_ms().unwrap() - (32f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((moments.min(), moments.max()), (Some(Nanos(2_000_000)), Some(Nanos(9_000_000))));
    }

    #[test]
    fn no_value_and_one_value() {
        let mut moments = Moments::new();
        assert_eq!((moments.mean_ms(), moments.std_ms(), moments.min()), (None, None, None));
        moments.record(Nanos(7));
        assert_eq!((moments.std_ms(), moments.sample_std_ms()), (Some(0.0), None));
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let moments: Moments = (0..1_000u32).map(|_| Nanos(u64::MAX)).collect();
        assert_eq!(moments.sum_ns(), 1_000 * u128::from(u64::MAX));
        assert_eq!(moments.std_ms(), Some(0.0));
        let halves: Moments = (0..1_000u32).map(|i| Nanos(if i % 2 == 0 { 0 } else { u64::MAX })).collect();
        let half_ms = u64::MAX as f64 / 2e6;
        assert!((halves.std_ms().unwrap() / half_ms - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_spread_of_one_nanosecond_around_an_hour_is_found() {
        let hour = 3_600_000_000_000;
        let moments: Moments = (0..100_000u64).map(|i| Nanos(hour + i % 2)).collect();
        assert!((moments.std_ms().unwrap() - 0.5e-6).abs() < 1e-15);
    }
}

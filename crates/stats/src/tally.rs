//! A small histogram of times, for where there are very many of them.

use hdrhistogram::Histogram as Hdr;
use headstack_units::Nanos;

/// Times below this share a bin.
const LOWEST_NS: u64 = 1 << 10;
/// A longer time counts as this long.
const HIGHEST_NS: u64 = 1 << 42;

/// Times counted in 128 bins an octave, from 1 µs to 73 min: quantiles within 0.4 %, in some 13 kB.
#[derive(Clone, Debug)]
pub struct Tally {
    bins: Hdr<u32>,
    max: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// Without values.
    ///
    /// # Panics
    /// Never: the bounds are constants.
    pub fn new() -> Self {
        let bins = Hdr::new_with_bounds(LOWEST_NS, HIGHEST_NS, 2).expect("the bounds are far apart");
        Self { bins, max: 0 }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.max = self.max.max(value.0);
        self.bins.saturating_record(value.0);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.bins.len()
    }

    /// The largest value, exact.
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The smallest value with at least a share `p` of all at or below it, by the middle of its bin; zero without values.
    pub fn quantile(&self, p: f64) -> Nanos {
        let value = self.bins.value_at_quantile(p);
        Nanos(self.bins.median_equivalent(value).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_four_in_a_thousand(
            mut values in prop::collection::vec(2_000_u64..40_000_000_000, 1..300),
            p in 0.01..1.0_f64,
        ) {
            let mut tally = Tally::new();
            for &value in &values {
                tally.record(Nanos(value));
            }
            values.sort_unstable();
            let rank = ((p * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let (exact, found) = (values[rank - 1] as f64, tally.quantile(p).0 as f64);
            // A time in the lowest octave is known to half a bin of 1 µs / 128 at best.
            prop_assert!((found - exact).abs() <= 0.004 * exact + 1024.0, "{} is not {}", found, exact);
            prop_assert_eq!(tally.count(), values.len() as u64);
            prop_assert_eq!(tally.max().0, *values.last().unwrap());
        }
    }
}

//! Moments and quantiles of the times in a trace, in bounded memory.

use headstack_units::Nanos;

use crate::info::TimeSummary;

/// So many values are kept; more are counted in bins.
const EXACT: usize = 10_000_000;

/// Bins to a doubling: quantiles from bins are off by at most 1/2048.
const BINS_LOG2: u32 = 10;

/// Times, collected one by one.
#[derive(Debug, Default)]
pub(crate) struct Distribution {
    kept: Vec<u64>,
    bins: Vec<u64>,
    count: u64,
    sum: u128,
    squares: u128,
    max: u64,
    min: Option<u64>,
}

impl Distribution {
    pub(crate) fn push(&mut self, Nanos(value): Nanos) {
        self.count += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        self.max = self.max.max(value);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        if self.bins.is_empty() {
            if self.kept.len() < EXACT {
                self.kept.push(value);
                return;
            }
            self.bins = vec![0; bin(u64::MAX) + 1];
            for value in std::mem::take(&mut self.kept) {
                self.bins[bin(value)] += 1;
            }
        }
        self.bins[bin(value)] += 1;
    }

    /// What was collected, if anything was.
    pub(crate) fn summary(mut self) -> Option<TimeSummary> {
        let min = self.min?;
        self.kept.sort_unstable();
        let count = self.count as f64;
        let mean = self.sum as f64 / count;
        // n Σx² − (Σx)², in integers where it fits: the difference of two large numbers keeps its digits.
        let (n, sum) = (u128::from(self.count), self.sum);
        let spread = n.checked_mul(self.squares).zip(sum.checked_mul(sum)).map(|(a, b)| (a - b) as f64);
        let spread = spread.unwrap_or_else(|| (count * self.squares as f64 - (sum as f64).powi(2)).max(0.0));
        let quantile = |p| self.quantile(p) as f64 / 1e6;
        Some(TimeSummary {
            count: self.count,
            mean_ms: mean / 1e6,
            std_ms: spread.sqrt() / count / 1e6,
            min_ms: min as f64 / 1e6,
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            p999_ms: quantile(0.999),
            max_ms: self.max as f64 / 1e6,
            exact: self.bins.is_empty(),
        })
    }

    /// The smallest value (or the middle of its bin) that a share `p` of all does not exceed; `kept` is sorted.
    fn quantile(&self, p: f64) -> u64 {
        let rank = ((p * self.count as f64).ceil() as u64).clamp(1, self.count);
        if self.bins.is_empty() {
            return self.kept[(rank - 1) as usize];
        }
        let mut below = 0;
        let found = self.bins.iter().position(|&count| {
            below += count;
            below >= rank
        });
        middle(found.unwrap_or(0)).clamp(self.min.unwrap_or(0), self.max)
    }
}

/// The bin of `value`: values below 2^11 have one each, above 2^10 bins share a doubling.
fn bin(value: u64) -> usize {
    let shift = (64 - BINS_LOG2 - 1).saturating_sub(value.leading_zeros());
    (u64::from(shift) * (1 << BINS_LOG2) + (value >> shift)) as usize
}

/// The middle of a bin.
fn middle(bin: usize) -> u64 {
    let shift = ((bin >> BINS_LOG2) as u32).saturating_sub(1);
    let head = bin as u64 - u64::from(shift) * (1 << BINS_LOG2);
    (head << shift) + ((1_u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_and_ranks_are_exact() {
        let mut times = Distribution::default();
        assert!(Distribution::default().summary().is_none());
        for ms in [4_u64, 1, 3, 2] {
            times.push(Nanos(ms * 1_000_000));
        }
        let summary = times.summary().unwrap();
        assert_eq!((summary.count, summary.mean_ms, summary.min_ms, summary.max_ms), (4, 2.5, 1.0, 4.0));
        assert_eq!((summary.p50_ms, summary.p90_ms, summary.p999_ms), (2.0, 4.0, 4.0));
        assert!((summary.std_ms - 1.25_f64.sqrt()).abs() < 1e-12);
        assert!(summary.exact);
    }

    proptest! {
        #[test]
        fn a_bin_holds_its_value_within_its_width(value: u64) {
            let (bin, middle) = (bin(value), middle(bin(value)));
            prop_assert_eq!(super::bin(middle), bin);
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 / 2047.0);
        }

        #[test]
        fn bins_keep_the_order(a: u64, b: u64) {
            prop_assert!((a <= b) == (bin(a) <= bin(b)) || bin(a) == bin(b));
        }
    }

    #[test]
    fn beyond_the_limit_quantiles_come_from_bins() {
        let mut times = Distribution::default();
        for value in 0..=EXACT as u64 {
            times.push(Nanos(value * 1000));
        }
        let summary = times.summary().unwrap();
        assert!(!summary.exact);
        let half = EXACT as f64 * 500.0 / 1e6;
        assert!((summary.p50_ms / half - 1.0).abs() < 1.0 / 2048.0, "{}", summary.p50_ms);
        assert_eq!(summary.max_ms, EXACT as f64 / 1e3);
    }
}

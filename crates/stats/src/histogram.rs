//! Counts of times in fixed bins, linear or logarithmic.

use headstack_units::Nanos;

use crate::StatsError;

/// A bin of a [`Histogram`]: times in [`from`, `to`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramBin {
    /// Lower edge, inside the bin.
    pub from: Nanos,
    /// Upper edge, outside it.
    pub to: Nanos,
    /// Number of values in the bin.
    pub count: u64,
}

/// Counts in bins whose edges are fixed beforehand; what lies outside is counted too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Ascending; `counts[0]` lies below the first edge, `counts[i]` in [edges[i − 1], edges[i]), the last above all.
    edges: Vec<u64>,
    counts: Vec<u64>,
}

impl Histogram {
    /// `bins` equal bins over [`from`, `to`), each edge rounded down to a nanosecond.
    ///
    /// Widths need not be whole: 100 bins over [0, 5/3 s) are the clock ticks of 1/60 s.
    ///
    /// # Errors
    /// [`StatsError::NoBins`] when there are no bins or fewer nanoseconds than bins.
    pub fn linear(from: Nanos, to: Nanos, bins: u32) -> Result<Self, StatsError> {
        let span = to.saturating_sub(from).0;
        if bins == 0 || span < u64::from(bins) {
            return Err(StatsError::NoBins("at least one bin, of at least 1 ns"));
        }
        let edge = |i: u32| from.0 + (u128::from(span) * u128::from(i) / u128::from(bins)) as u64;
        Ok(Self::with_edges((0..=bins).map(edge).collect()))
    }

    /// Bins in equal ratio, `per_decade` to a factor of ten, from `from` until `to` is covered; edges are rounded to a
    /// nanosecond, and bins that would be empty by that (below a few ns) are joined.
    ///
    /// # Errors
    /// [`StatsError::NoBins`] unless 0 < `from` < `to` and `per_decade` is 1 to 10,000.
    pub fn logarithmic(from: Nanos, to: Nanos, per_decade: u32) -> Result<Self, StatsError> {
        if from.0 == 0 || from >= to || !(1..=10_000).contains(&per_decade) {
            return Err(StatsError::NoBins("0 < from < to and 1 to 10,000 bins per decade"));
        }
        let edge = |i: u32| (from.0 as f64 * 10f64.powf(f64::from(i) / f64::from(per_decade))).round() as u64;
        let mut edges = vec![from.0];
        let mut reached = from.0;
        for i in 1.. {
            if reached >= to.0 {
                break;
            }
            let next = edge(i);
            if next > reached {
                edges.push(next);
                reached = next;
            }
        }
        Ok(Self::with_edges(edges))
    }

    fn with_edges(edges: Vec<u64>) -> Self {
        let counts = vec![0; edges.len() + 1];
        Self { edges, counts }
    }

    /// Adds one value.
    pub fn record(&mut self, value: Nanos) {
        self.counts[self.edges.partition_point(|&edge| edge <= value.0)] += 1;
    }

    /// Adds the counts of another histogram with the same edges.
    ///
    /// # Errors
    /// [`StatsError::BinsDiffer`] when the edges are not the same.
    pub fn merge(&mut self, other: &Self) -> Result<(), StatsError> {
        if self.edges != other.edges {
            return Err(StatsError::BinsDiffer);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        Ok(())
    }

    /// The bins in ascending order, empty ones included.
    pub fn bins(&self) -> impl Iterator<Item = HistogramBin> {
        let counts = self.counts[1..].iter();
        self.edges.windows(2).zip(counts).map(|(edge, &count)| HistogramBin {
            from: Nanos(edge[0]),
            to: Nanos(edge[1]),
            count,
        })
    }

    /// Values below the first bin.
    pub fn below(&self) -> u64 {
        self.counts[0]
    }

    /// Values at or above the end of the last bin.
    pub fn above(&self) -> u64 {
        self.counts[self.edges.len()]
    }

    /// All values, those outside the bins included.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Extend<Nanos> for Histogram {
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.record(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(histogram: &Histogram) -> Vec<u64> {
        histogram.bins().map(|bin| bin.count).collect()
    }

    #[test]
    fn linear_bins_hold_their_lower_edge() {
        let mut histogram = Histogram::linear(Nanos(10), Nanos(40), 3).unwrap();
        histogram.extend([9, 10, 19, 20, 39, 40, 1_000].map(Nanos));
        assert_eq!(counts(&histogram), [2, 1, 1]);
        assert_eq!((histogram.below(), histogram.above(), histogram.count()), (1, 2, 7));
        assert_eq!(histogram.bins().next(), Some(HistogramBin { from: Nanos(10), to: Nanos(20), count: 2 }));
    }

    #[test]
    fn clock_ticks_have_a_width_that_is_not_whole() {
        let histogram = Histogram::linear(Nanos(0), Nanos(1_000_000_000), 60).unwrap();
        let last = histogram.bins().last().unwrap();
        assert_eq!((last.from, last.to), (Nanos(983_333_333), Nanos(1_000_000_000)));
    }

    #[test]
    fn logarithmic_bins_double_a_decade_in_three() {
        let mut histogram = Histogram::logarithmic(Nanos(1_000), Nanos(100_000), 1).unwrap();
        histogram.extend([999, 1_000, 9_999, 10_000, 99_999, 100_000].map(Nanos));
        assert_eq!(counts(&histogram), [2, 2]);
        let edges: Vec<u64> = Histogram::logarithmic(Nanos(1_000), Nanos(10_000), 3)
            .unwrap()
            .bins()
            .map(|bin| bin.to.0)
            .collect();
        assert_eq!(edges, [2_154, 4_642, 10_000]);
        let fine = Histogram::logarithmic(Nanos(1), Nanos(u64::MAX), 100).unwrap();
        assert!(fine.bins().all(|bin| bin.from < bin.to));
        assert_eq!(fine.bins().last().map(|bin| bin.to), Some(Nanos(u64::MAX)));
    }

    #[test]
    fn merging_needs_the_same_bins() {
        let empty = Histogram::linear(Nanos(0), Nanos(10), 5).unwrap();
        let (mut a, mut b) = (empty.clone(), empty);
        a.extend([1, 2, 3].map(Nanos));
        b.extend([3, 11].map(Nanos));
        a.merge(&b).unwrap();
        assert_eq!((counts(&a), a.above()), (vec![1, 3, 0, 0, 0], 1));
        let other = Histogram::linear(Nanos(0), Nanos(10), 2).unwrap();
        assert_eq!(a.merge(&other), Err(StatsError::BinsDiffer));
    }

    #[test]
    fn impossible_bins_are_refused() {
        assert!(Histogram::linear(Nanos(0), Nanos(10), 0).is_err());
        assert!(Histogram::linear(Nanos(10), Nanos(10), 1).is_err());
        assert!(Histogram::logarithmic(Nanos(0), Nanos(10), 1).is_err());
        assert!(Histogram::logarithmic(Nanos(1), Nanos(10), 0).is_err());
    }
}

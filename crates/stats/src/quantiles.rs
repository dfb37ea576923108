//! Quantiles of a stream of times: exact while memory allows, then from a high-dynamic-range histogram.

use core::fmt;

use hdrhistogram::Histogram as Hdr;
use headstack_units::Nanos;

use crate::radix;

/// Where a [`Quantiles`] recorder's numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantileKind {
    /// Every value was kept.
    Exact,
    /// Values were counted in bins; a quantile is within 0.1 % (in fact 0.05 %) of the exact one.
    Hdr,
}

impl QuantileKind {
    /// The word used in JSON output: `exact` or `hdr`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Hdr => "hdr",
        }
    }
}

impl fmt::Display for QuantileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The quantiles every summary reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileSummary {
    /// Median.
    pub p50: Nanos,
    /// 90 % of the values are at most this.
    pub p90: Nanos,
    /// 99 % of the values are at most this.
    pub p99: Nanos,
    /// 99.9 % of the values are at most this.
    pub p999: Nanos,
    /// The largest value; always exact.
    pub max: Nanos,
}

/// Records times and answers quantiles.
///
/// The quantile at p is the *nearest rank*: the smallest recorded x with F(x) ≥ p, F being the empirical
/// distribution. It is always a value that occurred, never an interpolation (Hyndman & Fan 1996, type 1).
///
/// Up to a limit (10 million values unless set otherwise) all values are kept, at 4 bytes each up to 4.29 s and 8
/// beyond. Past the limit they are folded into an HDR histogram of 2^10 bins per octave (about 450 kB) whose quantile
/// is the middle of the bin, at most 1/2048 off. [`Quantiles::kind`] tells which. What is recorded depends on the
/// multiset of values alone: not on their order, nor on chunks or merging.
#[derive(Clone, Debug)]
pub struct Quantiles {
    limit: u64,
    min: u64,
    max: u64,
    store: Store,
}

#[derive(Clone, Debug)]
enum Store {
    /// All of `short` lie below all of `long`, so sorting each sorts the whole.
    Exact {
        short: Vec<u32>,
        long: Vec<u64>,
        sorted: bool,
    },
    Hdr(Box<Hdr<u64>>),
}

impl Store {
    const EMPTY: Self = Self::Exact { short: Vec::new(), long: Vec::new(), sorted: true };
}

impl Default for Quantiles {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl Quantiles {
    /// Values kept exactly, unless set otherwise.
    pub const DEFAULT_LIMIT: u64 = 10_000_000;

    /// Without values; exact up to [`Self::DEFAULT_LIMIT`] values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Without values; exact up to `limit` values.
    pub fn with_limit(limit: u64) -> Self {
        Self { limit, min: u64::MAX, max: 0, store: Store::EMPTY }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
        match &mut self.store {
            Store::Exact { short, long, sorted } => {
                *sorted = false;
                match u32::try_from(value.0) {
                    Ok(value) => short.push(value),
                    Err(_) => long.push(value.0),
                }
                if (short.len() + long.len()) as u64 > self.limit {
                    self.fold();
                }
            }
            Store::Hdr(hdr) => hdr.saturating_record(value.0),
        }
    }

    /// Adds many values that lie within `extremes`, which are values recorded before, or of these.
    pub fn record_all(&mut self, values: &[Nanos], (least, most): (Nanos, Nanos)) {
        let fits = self.count() + values.len() as u64 <= self.limit;
        let Store::Exact { short, long, sorted } = &mut self.store else {
            return values.iter().for_each(|&value| self.record(value));
        };
        if !fits {
            return values.iter().for_each(|&value| self.record(value));
        }
        *sorted = false;
        (self.min, self.max) = (self.min.min(least.0), self.max.max(most.0));
        if u32::try_from(most.0).is_ok() {
            return short.extend(values.iter().map(|value| value.0 as u32));
        }
        for value in values {
            match u32::try_from(value.0) {
                Ok(value) => short.push(value),
                Err(_) => long.push(value.0),
            }
        }
    }

    /// Adds a value that many times.
    pub fn record_many(&mut self, value: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
        if self.count() + count > self.limit {
            self.fold();
        }
        match &mut self.store {
            Store::Exact { short, long, sorted } => {
                *sorted = false;
                match u32::try_from(value.0) {
                    Ok(value) => short.extend((0..count).map(|_| value)),
                    Err(_) => long.extend((0..count).map(|_| value.0)),
                }
            }
            Store::Hdr(hdr) => hdr.saturating_record_n(value.0, count),
        }
    }

    /// Every distinct value, or a value of every bin, and how many there are of it; recorded again they come to the same.
    pub fn counted(&mut self) -> Vec<(u64, u64)> {
        let (mut counted, mut before) = (Vec::new(), 0);
        self.for_each_step(|value, below| {
            counted.push((value, below - before));
            before = below;
        });
        counted
    }

    /// Adds the values of another recorder. Exact plus exact stays exact up to this recorder's limit.
    pub fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if self.count() + other.count() > self.limit || other.kind() == QuantileKind::Hdr {
            self.fold();
        }
        match (&mut self.store, &other.store) {
            (
                Store::Exact { short, long, sorted },
                Store::Exact { short: more_short, long: more_long, .. },
            ) => {
                *sorted = false;
                short.extend_from_slice(more_short);
                long.extend_from_slice(more_long);
            }
            (Store::Hdr(hdr), Store::Exact { short, long, .. }) => record_all(hdr, short, long),
            (Store::Hdr(hdr), Store::Hdr(more)) => {
                let added = hdr.add(more.as_ref());
                debug_assert!(added.is_ok(), "histograms of this type all have the same bounds");
            }
            (Store::Exact { .. }, Store::Hdr(_)) => unreachable!("folded above"),
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        match &self.store {
            Store::Exact { short, long, .. } => (short.len() + long.len()) as u64,
            Store::Hdr(hdr) => hdr.len(),
        }
    }

    /// Whether quantiles are exact or from bins.
    pub fn kind(&self) -> QuantileKind {
        match self.store {
            Store::Exact { .. } => QuantileKind::Exact,
            Store::Hdr(_) => QuantileKind::Hdr,
        }
    }

    /// The smallest value, always exact.
    pub fn min(&self) -> Option<Nanos> {
        (self.min <= self.max).then_some(Nanos(self.min))
    }

    /// The largest value, always exact.
    pub fn max(&self) -> Option<Nanos> {
        (self.min <= self.max).then_some(Nanos(self.max))
    }

    /// The smallest recorded x with F(x) ≥ `p`; the minimum at `p` = 0.
    ///
    /// `None` without values, or for a `p` outside [0, 1]. The first call after a `record` sorts the values.
    pub fn quantile(&mut self, p: f64) -> Option<Nanos> {
        let rank = nearest_rank(p, self.count())?;
        self.sort();
        Some(Nanos(match &self.store {
            Store::Exact { short, long, .. } => {
                let index = (rank - 1) as usize;
                short.get(index).map_or_else(|| long[index - short.len()], |&value| u64::from(value))
            }
            Store::Hdr(_) if rank == 1 => self.min,
            Store::Hdr(hdr) if rank == hdr.len() => self.max,
            Store::Hdr(hdr) => {
                let mut seen = 0;
                let value = hdr.iter_recorded().find_map(|bin| {
                    seen += bin.count_at_value();
                    (seen >= rank).then(|| bin.value_iterated_to())
                })?;
                self.middle(hdr, value)
            }
        }))
    }

    /// Median, 90 %, 99 %, 99.9 % and maximum; `None` without values.
    pub fn summary(&mut self) -> Option<QuantileSummary> {
        Some(QuantileSummary {
            p50: self.quantile(0.5)?,
            p90: self.quantile(0.9)?,
            p99: self.quantile(0.99)?,
            p999: self.quantile(0.999)?,
            max: self.max()?,
        })
    }

    /// The distribution, to be looked up by rank and value.
    pub(crate) fn steps(&mut self) -> Steps<'_> {
        self.sort();
        if let Store::Hdr(_) = self.store {
            let mut bins = Vec::new();
            self.for_each_step(|value, below| bins.push((value, below)));
            return Steps::Bins(bins);
        }
        let Store::Exact { short, long, .. } = &self.store else { unreachable!("bins were told above") };
        Steps::Values { short, long }
    }

    /// Calls `visit(value, number of values at or below it)` for each distinct value (each bin that is not empty, once
    /// bins have taken over: the first as the minimum, the last as the maximum, the others by their middle), ascending.
    pub(crate) fn for_each_step(&mut self, mut visit: impl FnMut(u64, u64)) {
        self.sort();
        match &self.store {
            Store::Exact { short, long, .. } => {
                let mut below = 0;
                for (index, &value) in (1..).zip(short) {
                    below += 1;
                    if short.get(index) != Some(&value) {
                        visit(u64::from(value), below);
                    }
                }
                for run in long.chunk_by(|a, b| a == b) {
                    below += run.len() as u64;
                    visit(run[0], below);
                }
            }
            Store::Hdr(hdr) => {
                let mut below = 0;
                for bin in hdr.iter_recorded() {
                    let is_first = below == 0;
                    below += bin.count_at_value();
                    let value = match below {
                        all if all == hdr.len() => self.max,
                        _ if is_first => self.min,
                        _ => self.middle(hdr, bin.value_iterated_to()),
                    };
                    visit(value, below);
                }
            }
        }
    }

    /// The middle of the bin that holds `value`, where the extremes allow it.
    fn middle(&self, hdr: &Hdr<u64>, value: u64) -> u64 {
        let lowest = hdr.lowest_equivalent(value);
        (lowest + (hdr.highest_equivalent(value) - lowest) / 2).clamp(self.min, self.max)
    }

    fn sort(&mut self) {
        if let Store::Exact { short, long, sorted } = &mut self.store
            && !*sorted
        {
            radix::sort(short);
            radix::sort(long);
            *sorted = true;
        }
    }

    /// Of values that are sorted, all of `short` below all of `long`.
    pub(crate) fn of_sorted(short: Vec<u32>, long: Vec<u64>) -> Self {
        let least = short.first().map(|&value| u64::from(value)).or(long.first().copied());
        let most = long.last().copied().or(short.last().map(|&value| u64::from(value)));
        Self {
            min: least.unwrap_or(u64::MAX),
            max: most.unwrap_or(0),
            store: Store::Exact { short, long, sorted: true },
            ..Self::default()
        }
    }

    /// Counts values in bins from here on, those that are kept, too.
    #[cold]
    pub(crate) fn fold(&mut self) {
        if let Store::Exact { short, long, .. } = &self.store {
            let mut hdr = Hdr::new_with_bounds(1, u64::MAX, 3).expect("constant bounds are valid");
            record_all(&mut hdr, short, long);
            self.store = Store::Hdr(Box::new(hdr));
        }
    }
}

/// The distinct values, each with the number of values at or below it.
pub(crate) enum Steps<'a> {
    /// Every value, ascending: first the short ones.
    Values { short: &'a [u32], long: &'a [u64] },
    /// The steps themselves.
    Bins(Vec<(u64, u64)>),
}

impl Steps<'_> {
    /// The first step at which at least `rank` values lie at or below the value, or the value is at least `least`; `None` beyond
    /// the last.
    pub(crate) fn first_at(&self, rank: u64, least: u64) -> Option<(u64, u64)> {
        match self {
            Self::Values { short, long } => {
                let before = |limit: u64| {
                    let short = short.partition_point(|&value| u64::from(value) < limit);
                    short + long.partition_point(|&value| value < limit)
                };
                let index = before(least).min(rank.saturating_sub(1) as usize);
                let in_long = || long.get(index - short.len()).copied();
                let value = short.get(index).map_or_else(in_long, |&value| Some(u64::from(value)))?;
                let below = value.checked_add(1).map_or(short.len() + long.len(), before);
                Some((value, below as u64))
            }
            Self::Bins(steps) => {
                let by_rank = steps.partition_point(|&(_, below)| below < rank);
                let by_value = steps.partition_point(|&(value, _)| value < least);
                steps.get(by_rank.min(by_value)).copied()
            }
        }
    }
}

fn record_all(hdr: &mut Hdr<u64>, short: &[u32], long: &[u64]) {
    for value in short.iter().map(|&value| u64::from(value)).chain(long.iter().copied()) {
        hdr.saturating_record(value);
    }
}

/// The smallest rank k in 1..=n with k/n ≥ p, judged in floating point so that 7 of 100 is the 0.07 quantile.
pub(crate) fn nearest_rank(p: f64, n: u64) -> Option<u64> {
    if n == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let reaches = |k: u64| k as f64 / n as f64 >= p;
    let guess = ((p * n as f64).ceil() as u64).clamp(1, n);
    if guess > 1 && reaches(guess - 1) {
        Some(guess - 1)
    } else if reaches(guess) {
        Some(guess)
    } else {
        Some((guess + 1).min(n))
    }
}

impl Extend<Nanos> for Quantiles {
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.record(value));
    }
}

impl FromIterator<Nanos> for Quantiles {
    fn from_iter<I: IntoIterator<Item = Nanos>>(values: I) -> Self {
        let mut quantiles = Self::new();
        quantiles.extend(values);
        quantiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_smallest_that_reach_p() {
        assert_eq!(nearest_rank(0.07, 100), Some(7)); // 0.07 × 100 > 7 in floating point
        assert_eq!(nearest_rank(0.5, 5), Some(3));
        assert_eq!(nearest_rank(0.5, 4), Some(2));
        assert_eq!(nearest_rank(0.999, 1_000), Some(999));
        assert_eq!((nearest_rank(0.0, 9), nearest_rank(1.0, 9)), (Some(1), Some(9)));
        assert_eq!(
            (nearest_rank(0.5, 0), nearest_rank(1.1, 9), nearest_rank(f64::NAN, 9)),
            (None, None, None)
        );
        for n in 1..300u64 {
            for k in 1..=n {
                assert_eq!(nearest_rank(k as f64 / n as f64, n), Some(k));
            }
        }
    }

    #[test]
    fn one_to_a_thousand() {
        let mut quantiles: Quantiles = (1..=1_000).rev().map(Nanos).collect();
        let expected = QuantileSummary {
            p50: Nanos(500),
            p90: Nanos(900),
            p99: Nanos(990),
            p999: Nanos(999),
            max: Nanos(1_000),
        };
        assert_eq!(quantiles.summary(), Some(expected));
        assert_eq!((quantiles.kind().as_str(), quantiles.count()), ("exact", 1_000));
        quantiles.record(Nanos(0));
        assert_eq!((quantiles.quantile(0.0), quantiles.min()), (Some(Nanos(0)), Some(Nanos(0))));
    }

    #[test]
    fn long_times_follow_short_ones() {
        let mut quantiles: Quantiles = [u64::MAX, 1 << 32, 3, (1 << 32) - 1].map(Nanos).into_iter().collect();
        let found: Vec<u64> =
            [0.25, 0.5, 0.75, 1.0].iter().map(|&p| quantiles.quantile(p).unwrap().0).collect();
        assert_eq!(found, [3, (1 << 32) - 1, 1 << 32, u64::MAX]);
    }

    #[test]
    fn past_the_limit_bins_take_over_and_the_extremes_stay_exact() {
        let mut quantiles = Quantiles::with_limit(10);
        quantiles.extend((1..=10).map(|i| Nanos(i * 1_000_003)));
        assert_eq!(quantiles.kind(), QuantileKind::Exact);
        quantiles.extend([Nanos(0), Nanos(u64::MAX)]);
        assert_eq!((quantiles.kind().as_str(), quantiles.count()), ("hdr", 12));
        assert_eq!(
            (quantiles.quantile(0.0), quantiles.quantile(1.0)),
            (Some(Nanos(0)), Some(Nanos(u64::MAX)))
        );
        let median = quantiles.quantile(0.5).unwrap().as_ms();
        assert!((median / 5.000_015 - 1.0).abs() < 0.001, "{median}");
    }

    #[test]
    fn many_at_a_time_take_no_more_room_than_the_limit() {
        let mut quantiles = Quantiles::with_limit(10);
        quantiles.record_many(Nanos(5), 10);
        assert_eq!((quantiles.kind(), quantiles.count()), (QuantileKind::Exact, 10));
        quantiles.record_many(Nanos(7), 3);
        assert_eq!((quantiles.kind(), quantiles.count()), (QuantileKind::Hdr, 13));
        quantiles.record_many(Nanos(9), 0);
        assert_eq!((quantiles.count(), quantiles.max()), (13, Some(Nanos(7))));
    }

    #[test]
    fn all_at_once_is_one_by_one() {
        for limit in [0, 5, 6, 100] {
            let values = [7, 1 << 33, 3, u64::MAX, 0, 7].map(Nanos);
            let (mut together, mut one_by_one) = (Quantiles::with_limit(limit), Quantiles::with_limit(limit));
            for values in values.chunks(3) {
                let extremes = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
                together.record_all(values, extremes);
            }
            for &value in &values {
                one_by_one.record(value);
            }
            assert_eq!(together.kind(), one_by_one.kind(), "{limit}");
            assert_eq!(together.counted(), one_by_one.counted(), "{limit}");
            assert_eq!((together.min(), together.max()), (Some(Nanos(0)), Some(Nanos(u64::MAX))));
        }
    }

    #[test]
    fn extremes_that_share_a_bin_stay_exact() {
        let mut quantiles = Quantiles::with_limit(0);
        quantiles.extend([1_000_100, 1_000_200, 1_000_300].map(Nanos));
        let found: Vec<u64> = [0.0, 0.5, 1.0].iter().map(|&p| quantiles.quantile(p).unwrap().0).collect();
        assert_eq!((found[0], found[2]), (1_000_100, 1_000_300));
        assert!(found[0] <= found[1] && found[1] <= found[2]);
    }

    #[test]
    fn empty_has_no_quantile() {
        let mut quantiles = Quantiles::new();
        assert_eq!((quantiles.quantile(0.5), quantiles.summary(), quantiles.max()), (None, None, None));
    }
}

//! Times counted in bins of equal ratio, ten to a factor of ten, from 1 us to 1,000 s.

use headstack_stats::Histogram;
use headstack_units::Nanos;
use serde::Serialize;

const FROM: Nanos = Nanos(1_000);
const TO: Nanos = Nanos(1_000_000_000_000);
const PER_DECADE: u32 = 10;

/// Times that are about the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeBin {
    /// At least this, ms.
    pub from_ms: f64,
    /// Below this.
    pub to_ms: f64,
    /// How many.
    pub count: u64,
}

/// Counts by time.
#[derive(Clone, Debug)]
pub struct TimeHistogram(Option<Histogram>);

impl Default for TimeHistogram {
    fn default() -> Self {
        Self(Histogram::logarithmic(FROM, TO, PER_DECADE).ok())
    }
}

impl TimeHistogram {
    /// Counts a time.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        if let Some(histogram) = &mut self.0 {
            histogram.record(time);
        }
    }

    /// The bins from the first to the last that hold something; what is shorter or longer than all bins has one more.
    pub fn bins(&self) -> Vec<TimeBin> {
        let Some(histogram) = &self.0 else { return Vec::new() };
        let inside = histogram.bins().map(|bin| TimeBin {
            from_ms: bin.from.as_ms(),
            to_ms: bin.to.as_ms(),
            count: bin.count,
        });
        let below = TimeBin { from_ms: 0.0, to_ms: FROM.as_ms(), count: histogram.below() };
        let above = TimeBin { from_ms: TO.as_ms(), to_ms: 10.0 * TO.as_ms(), count: histogram.above() };
        let bins: Vec<TimeBin> = std::iter::once(below).chain(inside).chain([above]).collect();
        let first = bins.iter().position(|bin| bin.count > 0).unwrap_or(bins.len());
        let last = bins.iter().rposition(|bin| bin.count > 0).map_or(first, |last| last + 1);
        bins[first..last].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(times: &[u64]) -> Vec<TimeBin> {
        let mut histogram = TimeHistogram::default();
        for &ns in times {
            histogram.record(Nanos(ns));
        }
        histogram.bins()
    }

    #[test]
    fn ends_are_the_first_and_the_last_that_hold_something() {
        assert!(bins(&[]).is_empty());
        let found = bins(&[2_000_000, 2_100_000, 10_000_000]);
        assert_eq!((found[0].count, found[found.len() - 1].count), (2, 1));
        assert!(found[0].from_ms <= 2.0 && 2.1 < found[0].to_ms);
        assert_eq!(found.iter().map(|bin| bin.count).sum::<u64>(), 3);
    }

    #[test]
    fn what_no_bin_holds_is_counted_beside_them() {
        let found = bins(&[0, 999, TO.0, u64::MAX]);
        assert_eq!((found[0].from_ms, found[0].count), (0.0, 2));
        let last = found[found.len() - 1];
        assert_eq!((last.from_ms, last.count), (TO.as_ms(), 2));
    }
}

//! What a clock of ticks does to a response time (§3.8 of the paper: "it is clear that we are losing information").
//!
//! A stamp is the number of whole ticks passed. A response of x ticks that begins a fraction u after a tick is seen as
//! ⌊u + x⌋. With u uniform, the expectation of that is x: **the mean is not biased**. But a response of n + f ticks is
//! seen as n or n + 1, which adds f(1 − f) to the variance (1/6 of a tick² where f is uniform); responses below a tick are
//! seen as nothing with probability 1 − f; and every quantile is a whole number of ticks.

use headstack_units::Nanos;

use super::TickHistogram;
use crate::distribution::Distribution;
use crate::info::TimeSummary;

/// Sees response times as a clock of ticks would, beside the true ones.
#[derive(Debug)]
pub struct Quantiser {
    ticks_per_s: u64,
    histogram: TickHistogram,
    truth: Distribution,
    seen: Distribution,
    expected_zero: f64,
    added_variance: f64,
}

/// True and seen response times.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// The clock.
    pub ticks_per_s: u64,
    /// The true times.
    pub truth: TimeSummary,
    /// The same as whole ticks.
    pub seen: TimeSummary,
    /// Mean of the seen minus mean of the true, ms.
    pub mean_bias_ms: f64,
    /// Median of the seen minus median of the true, ms.
    pub median_bias_ms: f64,
    /// The share seen as taking no time.
    pub zero_share: f64,
    /// The share that would be so on average over all phases of the clock.
    pub zero_share_expected: f64,
    /// The standard deviation the clock adds on average over all its phases: √ of the mean of f(1 − f), ms.
    pub added_std_expected_ms: f64,
    /// Counts by ticks.
    pub histogram: TickHistogram,
}

impl Quantiser {
    /// A clock of `ticks_per_s`, at least 1.
    pub fn new(ticks_per_s: u64) -> Self {
        Self {
            ticks_per_s: ticks_per_s.max(1),
            histogram: TickHistogram::default(),
            truth: Distribution::default(),
            seen: Distribution::default(),
            expected_zero: 0.0,
            added_variance: 0.0,
        }
    }

    /// Takes a response from `arrival` to `finish`, which is not before it.
    pub fn push(&mut self, arrival: Nanos, finish: Nanos) {
        const SECOND: u128 = 1_000_000_000;
        let stamp = |at: Nanos| u128::from(at.0) * u128::from(self.ticks_per_s) / SECOND;
        let ticks = (stamp(finish) - stamp(arrival)) as u64;
        let response = finish.saturating_sub(arrival);
        self.histogram.record(ticks);
        self.truth.push(response);
        self.seen.push(Nanos((u128::from(ticks) * SECOND / u128::from(self.ticks_per_s)) as u64));
        let fraction =
            (u128::from(response.0) * u128::from(self.ticks_per_s) % SECOND) as f64 / SECOND as f64;
        self.added_variance += fraction * (1.0 - fraction);
        if u128::from(response.0) * u128::from(self.ticks_per_s) < SECOND {
            self.expected_zero += 1.0 - fraction;
        }
    }

    /// What came of it; `None` without responses.
    pub fn finish(self) -> Option<Quantised> {
        let (truth, seen) = (self.truth.summary()?, self.seen.summary()?);
        let count = truth.count as f64;
        Some(Quantised {
            ticks_per_s: self.ticks_per_s,
            mean_bias_ms: seen.mean_ms - truth.mean_ms,
            median_bias_ms: seen.p50_ms - truth.p50_ms,
            zero_share: self.histogram.share_within(0),
            zero_share_expected: self.expected_zero / count,
            added_std_expected_ms: (self.added_variance / count).sqrt() * 1000.0 / self.ticks_per_s as f64,
            truth,
            seen,
            histogram: self.histogram,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_not_biased_and_the_variance_is() {
        // Responses of exactly 0.4 ticks at every phase of the clock.
        let mut quantiser = Quantiser::new(60);
        let response = 1_000_000_000 * 4 / 600;
        for phase in 0..10_000_u64 {
            let arrival = Nanos(phase * 1_000_000_000 / 60 / 10_000 + phase * 5_000_000_000 / 60 / 5 * 5);
            quantiser.push(arrival, Nanos(arrival.0 + response));
        }
        let quantised = quantiser.finish().unwrap();
        assert!((quantised.zero_share_expected - 0.6).abs() < 1e-6, "{quantised:?}");
        let tick_ms = 1000.0 / 60.0;
        assert!((quantised.added_std_expected_ms - 0.24_f64.sqrt() * tick_ms).abs() < 1e-3);
        assert!((quantised.zero_share - 0.6).abs() < 0.01, "{}", quantised.zero_share);
        assert!(quantised.mean_bias_ms.abs() < 0.01 * tick_ms, "{}", quantised.mean_bias_ms);
        assert!((quantised.seen.std_ms - 0.24_f64.sqrt() * tick_ms).abs() < 0.1);
        assert_eq!(quantised.truth.std_ms, 0.0);
        assert_eq!(quantised.seen.p50_ms, 0.0);
    }
}

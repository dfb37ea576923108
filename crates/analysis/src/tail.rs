//! How long times must be for the law of the others not to explain them.

use headstack_units::Nanos;
use statrs::distribution::{ContinuousCDF, Normal};

/// With fewer times their law is not known.
const FEWEST: u64 = 200;

/// Steps to an octave in which times are counted.
const STEPS: f64 = 16.0;

/// Times on a logarithmic scale, held against a normal law through their median and their 95th percentile.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    count: u64,
    by_step: Vec<u32>,
}

impl Tail {
    /// Takes the logarithm, to base 2, of a time in units that are shorter than any of them.
    pub(crate) fn add(&mut self, octaves: f64) {
        self.count += 1;
        let step = step_of(octaves);
        if self.by_step.len() <= step {
            self.by_step.resize(step + 1, 0);
        }
        self.by_step[step] = self.by_step[step].saturating_add(1);
    }

    /// How many it took.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Above how many octaves so many times lie beyond the law that one would come by chance in one of two hundred traces.
    pub(crate) fn limit(&self) -> Option<f64> {
        if self.count < FEWEST {
            return None;
        }
        let law = Normal::standard();
        let (middle, high) = (self.quantile(0.5), self.quantile(0.95));
        // Half a step more: times within one are not told apart.
        let spread = (high - middle + 0.5 / STEPS) / law.inverse_cdf(0.95);
        Some(middle + spread * law.inverse_cdf(1.0 - 0.005 / self.count as f64))
    }

    /// The octaves below which a share of the times lies.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut left = (share * self.count as f64) as u64;
        let reaches = |&count: &u32| {
            let over = u64::from(count) > left;
            left = left.saturating_sub(u64::from(count));
            over
        };
        self.by_step.iter().position(reaches).unwrap_or(0) as f64 / STEPS
    }
}

/// A time's octaves over a nanosecond, at least.
pub(crate) fn octaves(time: Nanos) -> f64 {
    (time.0.max(1) as f64).log2()
}

/// A time's octaves as they are counted, rounded down.
pub(crate) fn counted(octaves: f64) -> f64 {
    step_of(octaves) as f64 / STEPS
}

fn step_of(octaves: f64) -> usize {
    (STEPS * octaves.max(0.0)) as usize
}

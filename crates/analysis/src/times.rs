//! A set of times: moments, quantiles, box plot.

use headstack_stats::{BoxPlot, Moments, Quantiles};
use headstack_units::Nanos;
use serde::Serialize;

/// Times, collected one by one.
#[derive(Clone, Debug)]
pub struct Times {
    moments: Moments,
    quantiles: Quantiles,
}

/// What a set of times came to, in milliseconds; written below a key that ends in `_ms`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimesSummary {
    /// How many.
    pub count: u64,
    /// Mean.
    #[serde(rename = "mean")]
    pub mean_ms: f64,
    /// Standard deviation of all.
    #[serde(rename = "std")]
    pub std_ms: f64,
    /// Smallest.
    #[serde(rename = "min")]
    pub min_ms: f64,
    /// Median: the smallest that half of all do not exceed (so below).
    #[serde(rename = "p50")]
    pub p50_ms: f64,
    /// 90 %.
    #[serde(rename = "p90")]
    pub p90_ms: f64,
    /// 99 %.
    #[serde(rename = "p99")]
    pub p99_ms: f64,
    /// 99.9 %.
    #[serde(rename = "p999")]
    pub p999_ms: f64,
    /// Largest.
    #[serde(rename = "max")]
    pub max_ms: f64,
    /// `exact`, or `hdr` (within 0.05 %).
    pub quantiles: &'static str,
    /// Tukey's box plot.
    pub boxplot: BoxSummary,
}

/// A box plot in milliseconds: box from quartile to quartile, whiskers to the farthest value within 1.5 times their
/// distance, and how many values lie beyond, with up to 50 of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoxSummary {
    /// Lower whisker.
    #[serde(rename = "low")]
    pub low_ms: f64,
    /// Lower quartile.
    #[serde(rename = "q1")]
    pub q1_ms: f64,
    /// Median.
    #[serde(rename = "median")]
    pub median_ms: f64,
    /// Upper quartile.
    #[serde(rename = "q3")]
    pub q3_ms: f64,
    /// Upper whisker.
    #[serde(rename = "high")]
    pub high_ms: f64,
    /// Values beyond the whiskers.
    pub outliers: u64,
    /// Some of them, ascending.
    #[serde(rename = "shown")]
    pub shown_ms: Vec<f64>,
}

/// Mean and largest of a few times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanAndMax {
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

const SHOWN_OUTLIERS: usize = 50;

impl Default for Times {
    fn default() -> Self {
        Self { moments: Moments::new(), quantiles: Quantiles::new() }
    }
}

impl Times {
    /// For one of many groups: exact up to a million values.
    pub(crate) fn of_group() -> Self {
        Self { moments: Moments::new(), quantiles: Quantiles::with_limit(1_000_000) }
    }

    /// Adds a time.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.moments.record(value);
        self.quantiles.record(value);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// What they came to; `None` without any.
    pub fn summary(&mut self) -> Option<TimesSummary> {
        let quantiles = self.quantiles.summary()?;
        let plot = BoxPlot::of(&mut self.quantiles, SHOWN_OUTLIERS)?;
        Some(TimesSummary {
            count: self.moments.count(),
            mean_ms: self.moments.mean_ms()?,
            std_ms: self.moments.std_ms()?,
            min_ms: self.moments.min()?.as_ms(),
            p50_ms: quantiles.p50.as_ms(),
            p90_ms: quantiles.p90.as_ms(),
            p99_ms: quantiles.p99.as_ms(),
            p999_ms: quantiles.p999.as_ms(),
            max_ms: quantiles.max.as_ms(),
            quantiles: self.quantiles.kind().as_str(),
            boxplot: BoxSummary {
                low_ms: plot.whisker_low.as_ms(),
                q1_ms: plot.q1.as_ms(),
                median_ms: plot.median.as_ms(),
                q3_ms: plot.q3.as_ms(),
                high_ms: plot.whisker_high.as_ms(),
                outliers: plot.outlier_count,
                shown_ms: plot.outliers.iter().map(|value| value.as_ms()).collect(),
            },
        })
    }
}

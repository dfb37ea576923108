//! Statistics of runs: streaming recorders of times, and scores of a model against measured times.
//!
//! Values enter as [`Nanos`](headstack_units::Nanos) and are accumulated as integers, so every result is the same
//! however a stream is cut into chunks or, where a `merge` exists, spread over threads. Milliseconds and real
//! numbers appear only in what is handed out.
//!
//! | question | recorder or function |
//! | --- | --- |
//! | mean, standard deviation, extremes | [`Moments`] |
//! | how sure is the mean of a correlated stream | [`BatchMeans`] |
//! | how sure is the mean of independent values | [`mean_interval`] |
//! | how many independent values are neighbours worth | [`independent`] |
//! | quantiles | [`Quantiles`], [`Marked`] for those of two kinds of values, and [`Tally`] where there are very many streams |
//! | how far is the model's distribution from the measured one | [`demerit`], [`demerit_ms`] |
//! | how far is each request from its measured time | [`per_request`] |
//! | both, for all requests, the reads and the writes | [`Scores`] |
//! | how sure are they | [`score_intervals`] |
//! | plots | [`cdf`], [`Histogram`], [`BoxPlot`], [`Timeline`] |

mod batch_means;
mod bootstrap;
mod boxplot;
mod cdf;
mod demerit;
mod dependence;
mod error;
mod histogram;
mod interval;
mod marked;
mod moments;
mod per_request;
mod quantiles;
mod radix;
mod scores;
mod sums;
mod tally;
mod timeline;
mod wide;

pub use batch_means::BatchMeans;
pub use bootstrap::{ScoreInterval, ScoreIntervals, score_intervals};
pub use boxplot::BoxPlot;
pub use cdf::{CdfPoint, cdf};
pub use demerit::{Demerit, demerit, demerit_ms};
pub use dependence::independent;
pub use error::StatsError;
pub use histogram::{Histogram, HistogramBin};
pub use interval::{mean_interval, student_975};
pub use marked::Marked;
pub use moments::Moments;
pub use per_request::{PerRequest, per_request};
pub use quantiles::{QuantileKind, QuantileSummary, Quantiles};
pub use scores::{Score, Scores};
pub use sums::Sums;
pub use tally::Tally;
pub use timeline::{Timeline, TimelineBin};

/// Nanoseconds in a millisecond, for real-valued results.
const NS_PER_MS: f64 = 1e6;

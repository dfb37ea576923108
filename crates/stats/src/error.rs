//! What can be wrong with a question to the statistics.

use core::fmt;

/// Why a statistic cannot be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatsError {
    /// There are no measured times to compare with.
    NoMeasured,
    /// There are no model times to compare.
    NoModel,
    /// A comparison request by request needs as many model times as measured ones.
    LengthsDiffer {
        /// Number of measured times.
        measured: usize,
        /// Number of model times.
        model: usize,
    },
    /// Every measured time is zero, so nothing can be a percentage of their mean.
    ZeroMean,
    /// A number that is not a time: negative, not finite, or above 2^64 ns (584 years).
    NotATime {
        /// Position in its list, from 0.
        index: usize,
        /// The number as given, in milliseconds.
        ms: f64,
    },
    /// Bins asked for in a way that makes none; the text says what is needed.
    NoBins(&'static str),
    /// Two histograms with different bin edges cannot be merged.
    BinsDiffer,
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMeasured => write!(f, "there are no measured times to compare with"),
            Self::NoModel => write!(f, "there are no model times to compare"),
            Self::LengthsDiffer { measured, model } => {
                write!(
                    f,
                    "a comparison by request needs equal counts: {measured} measured, {model} of the model"
                )
            }
            Self::ZeroMean => write!(f, "all measured times are zero, so an error in percent has no meaning"),
            Self::NotATime { index, ms } => {
                write!(f, "value {index} is {ms} ms: a time must be finite, not negative and below 2^64 ns")
            }
            Self::NoBins(need) => write!(f, "a histogram needs {need}"),
            Self::BinsDiffer => write!(f, "histograms with different bin edges cannot be merged"),
        }
    }
}

impl core::error::Error for StatsError {}

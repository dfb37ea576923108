//! Why a fit cannot be made.

use headstack_stats::StatsError;
use headstack_system::SystemError;

/// Why a fit cannot be made. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The trace, the drive or an option does not serve: what is wrong, and what to do.
    #[error("{problem}")]
    Input {
        /// What is wrong, where, and what is allowed.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// [`Monitor::stop`](crate::Monitor::stop) was called.
    #[error("stopped")]
    Stopped,
    /// A drive cannot be built, or a request cannot be served.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A part of the trace cannot be scored.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

impl FitError {
    pub(crate) fn input(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input { problem: problem.into(), hint: hint.into() }
    }
}

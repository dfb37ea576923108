//! What is measured.

use headstack_units::Nanos;

/// At the instant `at` the end of sector `lba` passed under its head.
///
/// It may be wrong: a request that a cache answered tells nothing, and looks the same. Everything in this crate expects
/// some of the observations (up to about four in ten) to lie anywhere on the circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Number of the request, for the caller.
    pub index: u64,
    /// The measured instant.
    pub at: Nanos,
    /// The sector whose end it was.
    pub lba: u64,
}

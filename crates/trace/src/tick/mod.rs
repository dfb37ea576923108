//! Traces of a driver that stamps with clock ticks: Johnson, Smith and Wilson, "Disk Response Time Measurements" (1987).
//!
//! A driver writes a packed record of two words into one ring when a request enters it and into another when the response
//! comes ([`record`], [`ring`]). A poller dumps both, so that the stream is not in order of time; a formatter turns it
//! into lines of text ([`text`]); [`matching`] pairs the halves; [`histogram`] counts the ticks they took, and [`quantise`]
//! says what such a clock does to a response time.

pub mod histogram;
pub mod matching;
pub mod quantise;
pub mod record;
pub mod ring;
pub mod slices;
pub mod source;
pub mod text;

pub use histogram::TickHistogram;
pub use matching::{Matcher, Matching, Orphan, Pair};
pub use quantise::{Quantised, Quantiser};
pub use record::{Half, TickRecord};
pub use slices::SliceTable;
pub use source::{MatchSummary, match_file};

/// The rate of the driver's clock, ticks per second.
pub const TICKS_PER_S: u64 = 60;

/// The instant of a tick, in nanoseconds, rounded to the nearest.
pub(crate) fn instant(tick: u64) -> headstack_units::Nanos {
    headstack_units::Nanos((u128::from(tick) * 1_000_000_000).div_ceil(u128::from(TICKS_PER_S)) as u64)
}

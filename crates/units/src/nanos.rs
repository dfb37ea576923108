//! Time and rotation speed.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a length of it, in nanoseconds.
///
/// Instants count from the start of the run. Subtraction saturates at zero only through
/// [`Nanos::saturating_sub`]; the plain operator panics in debug builds when the result would be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero: the start of a run, or no time at all.
    pub const ZERO: Self = Self(0);
    /// "Never", and the mark for an absent instant in a compact record.
    pub const MAX: Self = Self(u64::MAX);

    /// From milliseconds, rounded to the nearest nanosecond. Negative values and NaN become zero.
    pub fn from_ms(ms: f64) -> Self {
        Self((ms * 1e6).round().max(0.0) as u64)
    }

    /// From microseconds, rounded to the nearest nanosecond.
    pub fn from_us(us: f64) -> Self {
        Self((us * 1e3).round().max(0.0) as u64)
    }

    /// From seconds, rounded to the nearest nanosecond.
    pub fn from_s(s: f64) -> Self {
        Self((s * 1e9).round().max(0.0) as u64)
    }

    /// In milliseconds.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In seconds.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − other`, or zero where that would be negative.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Nanos::MAX`] where that would overflow.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self − other` with its sign, in nanoseconds.
    pub fn signed_diff(self, other: Self) -> i64 {
        self.0.wrapping_sub(other.0) as i64
    }

    /// The instant, unless it is the mark for "absent".
    pub fn present(self) -> Option<Self> {
        (self != Self::MAX).then_some(self)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} ms", self.as_ms())
    }
}

/// Revolutions per minute; a real number, because integer rpm lose up to 100 ppm of a slow spindle's speed.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rpm(pub f64);

impl Rpm {
    /// The time of one turn in (real) nanoseconds.
    pub fn period_ns(self) -> f64 {
        60e9 / self.0
    }
}

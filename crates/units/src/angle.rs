//! Angles as fractions of a turn.

use core::ops::{Add, AddAssign, Sub};

/// An angle as a fraction of a turn: 2^64 units make one turn, so sums wrap around by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Angle(pub u64);

impl Angle {
    /// The index mark.
    pub const ZERO: Self = Self(0);

    /// `numerator / denominator` of a turn, rounded down; whole turns drop out.
    ///
    /// # Panics
    /// If `denominator` is zero.
    pub fn fraction(numerator: u64, denominator: u64) -> Self {
        let whole = u128::from(numerator % denominator) << 64;
        Self((whole / u128::from(denominator)) as u64)
    }

    /// From a real number of turns; whole turns drop out, negative values count backwards.
    pub fn from_turns(turns: f64) -> Self {
        Self(((turns.rem_euclid(1.0)) * 18_446_744_073_709_551_616.0) as u64)
    }

    /// As a real number of turns in [0, 1).
    pub fn as_turns(self) -> f64 {
        self.0 as f64 / 18_446_744_073_709_551_616.0
    }

    /// How far the disk must turn from `self` until `target` arrives, in [0, 1) turns.
    #[must_use]
    pub fn until(self, target: Self) -> Self {
        Self(target.0.wrapping_sub(self.0))
    }
}

impl Add for Angle {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for Angle {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl Sub for Angle {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_wrap_and_compare_by_the_way_still_to_go() {
        let quarter = Angle::fraction(1, 4);
        let three_quarters = Angle::fraction(3, 4);
        assert_eq!(three_quarters + quarter, Angle::ZERO);
        assert_eq!(three_quarters.until(quarter), Angle::fraction(1, 2));
        assert_eq!(Angle::fraction(9, 4), quarter);
        assert_eq!(Angle::from_turns(-0.25), three_quarters);
        assert!((three_quarters.as_turns() - 0.75).abs() < 1e-15);
    }
}

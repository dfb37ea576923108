//! Dollars, and ranges of them.

use serde::{Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};

const MICROS: f64 = 1e6;
/// No component costs more.
const MOST_USD: f64 = 1e6;

/// Dollars, counted in millionths: sums of prices are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(u128);

impl Usd {
    /// A price as written in a file; `None` if it is not between nothing and a million dollars.
    pub fn new(dollars: f64) -> Option<Self> {
        (0.0..=MOST_USD).contains(&dollars).then(|| Self((dollars * MICROS).round() as u128))
    }

    /// As a number of dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / MICROS
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

/// From the lowest to the highest price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Lowest price.
    #[serde(rename = "low_usd")]
    pub low: Usd,
    /// Highest price.
    #[serde(rename = "high_usd")]
    pub high: Usd,
}

impl Range {
    /// The middle of the range, in dollars.
    pub fn mean_usd(self) -> f64 {
        (self.low.0 + self.high.0) as f64 / (2.0 * MICROS)
    }
}

impl Add for Range {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { low: Usd(self.low.0 + other.low.0), high: Usd(self.high.0 + other.high.0) }
    }
}

impl Mul<u32> for Range {
    type Output = Self;
    fn mul(self, count: u32) -> Self {
        Self { low: Usd(self.low.0 * u128::from(count)), high: Usd(self.high.0 * u128::from(count)) }
    }
}

impl Sum for Range {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{:.2}", self.low.dollars())
        } else {
            write!(f, "{:.2}–{:.2}", self.low.dollars(), self.high.dollars())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_dimes_are_exact() {
        let dime = Range { low: Usd::new(0.1).unwrap(), high: Usd::new(0.1).unwrap() };
        let sum: Range = std::iter::repeat_n(dime, 10).sum();
        assert_eq!(sum.low.dollars(), 1.0);
        assert_eq!((dime * 3).low.dollars(), 0.3);
    }

    #[test]
    fn the_dearest_parts_in_the_largest_system_still_add_up() {
        let price = Usd::new(MOST_USD).unwrap();
        let each = Range { low: price, high: price };
        let all = each * (1_000 * crate::MOST_ACTUATORS * crate::MOST_PLATTERS) * crate::MOST_DRIVES;
        assert_eq!(all.mean_usd(), 1.024e18);
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for nonsense in [-0.01, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(Usd::new(nonsense), None, "{nonsense}");
        }
    }
}

//! Sums of squares that cannot overflow.

/// An unsigned integer of 256 bits with the few operations sums of squares need.
///
/// 2^64 squares of 64-bit values fit in 192 bits, and lengths in a demerit add at most another 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    /// `a · b`.
    pub(crate) fn product(a: u128, b: u64) -> Self {
        let b = u128::from(b);
        let bottom = (a & u128::from(u64::MAX)) * b;
        let top = (a >> 64) * b;
        let (low, carry) = bottom.overflowing_add(top << 64);
        Self { high: (top >> 64) + u128::from(carry), low }
    }

    /// Adds a number of 128 bits.
    #[inline]
    pub(crate) fn add(&mut self, value: u128) {
        let (low, carry) = self.low.overflowing_add(value);
        self.low = low;
        if carry {
            self.carry();
        }
    }

    /// Seldom: squares of times come to 2^128 after years of them.
    #[cold]
    fn carry(&mut self) {
        self.high += 1;
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.low);
        self.high += other.high;
    }

    /// `self − other`; the caller knows that `other` is not larger.
    #[must_use]
    pub(crate) fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { high: self.high - other.high - u128::from(borrow), low }
    }

    /// The nearest real number (to two roundings).
    pub(crate) fn to_f64(self) -> f64 {
        self.high as f64 * 2f64.powi(128) + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_carry_past_128_bits() {
        let max = u128::MAX;
        let product = Wide::product(max, u64::MAX);
        // (2^128 − 1)(2^64 − 1) = 2^192 − 2^128 − 2^64 + 1
        assert_eq!(product.high, u128::from(u64::MAX) - 1);
        assert_eq!(product.low, max - u128::from(u64::MAX) + 1);

        let mut sum = Wide::default();
        for _ in 0..3 {
            sum.add(max);
        }
        assert_eq!(sum, Wide::product(max, 3));
        assert_eq!(sum.minus(Wide::product(max, 2)), Wide { high: 0, low: max });
        assert_eq!(Wide::product(1 << 127, 4).to_f64(), 2f64.powi(129));
    }
}

//! Division by a number known beforehand.

/// A divisor with its reciprocal: one multiplication instead of a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    value: u64,
    /// floor((2^64 − 1) / value).
    reciprocal: u64,
}

impl Divisor {
    /// A divisor; zero is taken as one.
    pub(super) fn new(value: u64) -> Self {
        let value = value.max(1);
        Self { value, reciprocal: u64::MAX / value }
    }

    /// The divisor itself.
    pub(super) fn value(self) -> u64 {
        self.value
    }

    /// Quotient and remainder, exact for every `x`.
    #[inline]
    pub(super) fn split(self, x: u64) -> (u64, u64) {
        // With 2^64 = value·reciprocal + r and 1 ≤ r ≤ value, the estimate lies below x / value by at most
        // x·r / (value·2^64) < 1: the floor is right, or one too small.
        let estimate = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = x - estimate * self.value;
        if rest >= self.value { (estimate + 1, rest - self.value) } else { (estimate, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_extremes_divide_exactly() {
        for value in [1, 2, 3, 72, 114, (1 << 32) - 1, 1 << 32, (1 << 63) + 1, u64::MAX - 1, u64::MAX] {
            for x in [0, 1, value - 1, value, value.saturating_add(1), u64::MAX - 1, u64::MAX] {
                assert_eq!(Divisor::new(value).split(x), (x / value, x % value), "{x} / {value}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_divides_as_the_processor_does(value in 1_u64.., x: u64, shift in 0_u32..64) {
            let value = (value >> shift).max(1);
            prop_assert_eq!(Divisor::new(value).split(x), (x / value, x % value));
            let multiple = value.wrapping_mul(x / value);
            prop_assert_eq!(Divisor::new(value).split(multiple), (x / value, 0));
        }
    }
}

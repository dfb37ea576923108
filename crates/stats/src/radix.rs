//! Sorting many small numbers by their digits.

use std::ops::BitOr;

/// So many digits of 14 bits: times up to a quarter of a second have two, and the counts of one stay in the second-level cache.
const LARGE: usize = 1 << 14;
/// And of 11 bits, whose counts are looked through in less time than so many values take.
const SMALL: usize = 1 << 11;

/// Below so many values comparing them is faster.
const FEW: usize = 4096;
/// From so many on a pass less is worth the counts of large digits.
const MANY: usize = 1 << 16;

/// A number that has digits.
pub(crate) trait Digits: Copy + Ord + Default + BitOr<Output = Self> {
    /// What is above the lowest `low` bits.
    fn above(self, low: u32) -> u64;
}

impl Digits for u32 {
    #[inline]
    fn above(self, low: u32) -> u64 {
        u64::from(self >> low)
    }
}

impl Digits for u64 {
    #[inline]
    fn above(self, low: u32) -> u64 {
        self >> low
    }
}

/// Sorts ascending; takes as much room again while it does.
pub(crate) fn sort<T: Digits>(values: &mut Vec<T>) {
    sort_above(values, 0);
}

/// Sorts by what is above the lowest `low` bits. Equal ones come in any order.
pub(crate) fn sort_above<T: Digits>(values: &mut Vec<T>, low: u32) {
    match values.len() {
        ..FEW => values.sort_unstable(),
        FEW..MANY => sort_digits::<T, SMALL>(values, low),
        MANY.. => sort_digits::<T, LARGE>(values, low),
    }
}

/// By digits of so many values, a power of two.
fn sort_digits<T: Digits, const VALUES: usize>(values: &mut Vec<T>, low: u32) {
    let bits = VALUES.trailing_zeros();
    let all = values.iter().fold(T::default(), |all, &value| all | value).above(low);
    // An array, so that no place in it is looked at twice.
    let counts = vec![0_usize; VALUES].into_boxed_slice();
    let mut counts: Box<[usize; VALUES]> = counts.try_into().expect("it has that length");
    let mut other = vec![T::default(); values.len()];
    for digit in 0..(u64::BITS - all.leading_zeros()).div_ceil(bits) {
        let place = |value: T| value.above(low + digit * bits) as usize % VALUES;
        if digit > 0 {
            counts.fill(0);
        }
        for &value in values.iter() {
            counts[place(value)] += 1;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &value in values.iter() {
            let next = &mut counts[place(value)];
            other[*next] = value;
            *next += 1;
        }
        std::mem::swap(values, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_sorts_as_comparing_does(
            seed in prop::collection::vec(any::<u32>(), 1..40),
            length in prop_oneof![0..50_usize, FEW - 1..3 * FEW, MANY - 1..MANY + 2],
            shift in 0_u32..32,
        ) {
            // Few different digits and many, low ones and high ones.
            let mut values: Vec<u32> = (0..length as u32)
                .map(|i| seed[i as usize % seed.len()].wrapping_mul(i / 7 * 2 + 1) >> shift)
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            let mut wide: Vec<u64> = values.iter().map(|&value| u64::from(value) << (length % 30)).collect();
            let mut wide_expected = wide.clone();
            wide_expected.sort_unstable();
            sort(&mut wide);
            prop_assert_eq!(wide, wide_expected);
            let mut above = values.clone();
            sort(&mut values);
            prop_assert_eq!(&values, &expected);
            sort_above(&mut above, 3);
            let digits = |values: &[u32]| values.iter().map(|value| value >> 3).collect::<Vec<u32>>();
            prop_assert_eq!(digits(&above), digits(&expected));
            above.sort_unstable();
            prop_assert_eq!(&above, &expected);
        }
    }
}

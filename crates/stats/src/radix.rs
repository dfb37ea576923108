//! Sorting many small numbers by their digits.

use std::ops::BitOr;

/// Below so many values comparing them is faster.
const FEW: usize = 4096;
/// Below so many the counts of more than 11 bits take longer to look through than a pass less saves. Those of 15 bits stay in the
/// second-level cache.
const MANY: usize = 1 << 15;
const MOST_BITS: [u32; 2] = [11, 15];

/// A number that has digits.
pub(crate) trait Digits: Copy + Ord + Default + BitOr<Output = Self> {
    /// What is above the lowest `low` bits.
    fn above(self, low: u32) -> u64;
}

impl Digits for u32 {
    #[inline]
    fn above(self, low: u32) -> u64 {
        u64::from(self) >> low
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
    // Places are counted in 32 bits.
    if !(FEW..u32::MAX as usize).contains(&values.len()) {
        return values.sort_unstable();
    }
    let all = values.iter().fold(T::default(), |all, &value| all | value).above(low);
    let length = u64::BITS - all.leading_zeros();
    let most = MOST_BITS[usize::from(values.len() >= MANY)];
    // No larger digits than so many of them need.
    let digits = length.div_ceil(most).max(1);
    match length.div_ceil(digits) {
        ..12 => sort_by::<T, { 1 << 11 }>(values, low, digits),
        12 => sort_by::<T, { 1 << 12 }>(values, low, digits),
        13 => sort_by::<T, { 1 << 13 }>(values, low, digits),
        14 => sort_by::<T, { 1 << 14 }>(values, low, digits),
        _ => sort_by::<T, { 1 << 15 }>(values, low, digits),
    }
}

/// By the lowest `digits` digits, of so many values, a power of two. More of them do no harm.
fn sort_by<T: Digits, const VALUES: usize>(values: &mut Vec<T>, low: u32, digits: u32) {
    match digits {
        ..2 => sort_digits::<T, VALUES, 1>(values, low),
        2 => sort_digits::<T, VALUES, 2>(values, low),
        3 => sort_digits::<T, VALUES, 3>(values, low),
        4 => sort_digits::<T, VALUES, 4>(values, low),
        _ => sort_digits::<T, VALUES, 6>(values, low),
    }
}

fn sort_digits<T: Digits, const VALUES: usize, const DIGITS: usize>(values: &mut Vec<T>, low: u32) {
    let bits = VALUES.trailing_zeros();
    // Arrays, so that no place in them is looked at twice; all digits are counted at a time.
    let counts: Vec<[u32; VALUES]> = vec![[0; VALUES]; DIGITS];
    let mut counts: Box<[[u32; VALUES]; DIGITS]> =
        counts.into_boxed_slice().try_into().expect("it has that length");
    for &value in values.iter() {
        let mut rest = value.above(low);
        for counts in counts.iter_mut() {
            counts[rest as usize % VALUES] += 1;
            rest >>= bits;
        }
    }
    let mut other = vec![T::default(); values.len()];
    for (counts, digit) in counts.iter_mut().zip(0..) {
        let shift = low + digit * bits;
        if shift >= u64::BITS {
            break;
        }
        let place = |value: T| value.above(shift) as usize % VALUES;
        // What all have alike is passed over.
        if values.first().is_some_and(|&value| counts[place(value)] as usize == values.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        let mut put = |value: T| {
            let next = &mut counts[place(value)];
            other[*next as usize] = value;
            *next += 1;
        };
        // Two at a time.
        let (pairs, last) = values.as_chunks::<2>();
        for &[one, two] in pairs {
            put(one);
            put(two);
        }
        last.iter().copied().for_each(put);
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
            let mut wide: Vec<u64> = values.iter().map(|&value| u64::from(value) << (length % 33)).collect();
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

//! Sorting many small numbers by their digits.

/// Digits of 11 bits: three make a `u32`, and the counts of one stay in the first-level cache.
const BITS: u32 = 11;
const DIGITS: usize = 3;
const VALUES: usize = 1 << BITS;

/// Below so many values comparing them is faster.
const FEW: usize = 2048;

/// Sorts ascending; takes as much room again while it does.
pub(crate) fn sort(values: &mut Vec<u32>) {
    if values.len() < FEW {
        values.sort_unstable();
        return;
    }
    let mut counts = vec![[0_usize; VALUES]; DIGITS];
    for &value in values.iter() {
        for (digit, counts) in (0..).zip(&mut counts) {
            counts[place(value, digit)] += 1;
        }
    }
    let mut other = vec![0; values.len()];
    for (digit, counts) in (0..).zip(&mut counts) {
        // Where all values have the same digit nothing would move.
        if counts.contains(&values.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &value in values.iter() {
            let next = &mut counts[place(value, digit)];
            other[*next] = value;
            *next += 1;
        }
        std::mem::swap(values, &mut other);
    }
}

#[inline]
fn place(value: u32, digit: u32) -> usize {
    (value >> (digit * BITS)) as usize % VALUES
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
            length in prop_oneof![0..50_usize, FEW - 1..3 * FEW],
            shift in 0_u32..32,
        ) {
            // Few different digits and many, low ones and high ones.
            let mut values: Vec<u32> = (0..length as u32)
                .map(|i| seed[i as usize % seed.len()].wrapping_mul(i / 7 * 2 + 1) >> shift)
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            sort(&mut values);
            prop_assert_eq!(values, expected);
        }
    }
}

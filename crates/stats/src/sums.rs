//! Several sums at a time that cannot overflow.

/// Values below this are summed in 64 bits, so many of them.
const SMALL: u64 = 1 << 50;
const FULL: u32 = 1 << 13;

/// `N` sums of 64-bit values, exact in 128 bits. Nearly all values are small, and thousands of them fit into 64 bits: only
/// now and then are the wide sums touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<const N: usize> {
    wide: [u128; N],
    narrow: [u64; N],
    /// Values in each of the narrow sums.
    held: u32,
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self { wide: [0; N], narrow: [0; N], held: 0 }
    }
}

impl<const N: usize> Sums<N> {
    /// Adds one value to each sum.
    #[expect(clippy::inline_always, reason = "handing so many values on costs as much as adding them")]
    #[inline(always)]
    pub fn add(&mut self, values: [u64; N]) {
        if values.iter().fold(0, |all, value| all | value) >= SMALL || self.held == FULL {
            self.fold();
            self.wide.iter_mut().zip(values).for_each(|(sum, value)| *sum += u128::from(value));
            return;
        }
        self.held += 1;
        self.narrow.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    /// Adds the sums of others.
    pub fn merge(&mut self, others: &Self) {
        self.wide.iter_mut().zip(others.totals()).for_each(|(sum, more)| *sum += more);
    }

    #[cold]
    fn fold(&mut self) {
        for (sum, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            *sum += u128::from(std::mem::take(narrow));
        }
        self.held = 0;
    }

    /// The sums.
    pub fn totals(&self) -> [u128; N] {
        let mut totals = self.wide;
        totals.iter_mut().zip(self.narrow).for_each(|(sum, narrow)| *sum += u128::from(narrow));
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_values_just_small_enough() {
        let mut sums = Sums::<2>::default();
        for _ in 0..3 * FULL {
            sums.add([SMALL - 1, 1]);
        }
        let count = u128::from(3 * FULL);
        assert_eq!(sums.totals(), [count * u128::from(SMALL - 1), count]);
    }

    proptest! {
        #[test]
        fn they_are_what_wide_sums_are(
            values in prop::collection::vec((any::<[u64; 3]>(), 0_u32..64), 0..50),
            times in 1_u32..400,
        ) {
            let mut sums = Sums::<3>::default();
            let mut others = Sums::<3>::default();
            let mut twin = [0_u128; 3];
            for time in 0..times {
                for (row, shift) in &values {
                    let row = row.map(|value| value >> shift);
                    if time % 3 == 0 { others.add(row) } else { sums.add(row) }
                    twin.iter_mut().zip(row).for_each(|(sum, value)| *sum += u128::from(value));
                }
            }
            sums.merge(&others);
            prop_assert_eq!(sums.totals(), twin);
        }
    }
}

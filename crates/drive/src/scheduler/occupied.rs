//! In which cylinders something waits.

const BITS: usize = u64::BITS as usize;

/// A set of cylinders, that finds its next member upwards or downwards: a bit for each, and a bit for each word of them.
#[derive(Clone, Debug)]
pub(super) struct Occupied {
    bits: Vec<u64>,
    words: Vec<u64>,
}

impl Occupied {
    /// None of so many cylinders.
    pub(super) fn new(cylinders: usize) -> Self {
        let words = cylinders.div_ceil(BITS);
        Self { bits: vec![0; words], words: vec![0; words.div_ceil(BITS)] }
    }

    pub(super) fn insert(&mut self, cylinder: usize) {
        self.bits[cylinder / BITS] |= 1 << (cylinder % BITS);
        self.words[cylinder / BITS / BITS] |= 1 << (cylinder / BITS % BITS);
    }

    pub(super) fn remove(&mut self, cylinder: usize) {
        let word = &mut self.bits[cylinder / BITS];
        *word &= !(1 << (cylinder % BITS));
        if *word == 0 {
            self.words[cylinder / BITS / BITS] &= !(1 << (cylinder / BITS % BITS));
        }
    }

    /// The first at `from` or above.
    #[inline]
    pub(super) fn from(&self, from: usize) -> Option<usize> {
        let word = from / BITS;
        if let Some(found) = lowest(*self.bits.get(word)?, from % BITS) {
            return Some(word * BITS + found);
        }
        self.word_from(word + 1).map(|word| word * BITS + self.bits[word].trailing_zeros() as usize)
    }

    /// The last below `end`.
    #[inline]
    pub(super) fn below(&self, end: usize) -> Option<usize> {
        let last = end.min(self.bits.len() * BITS).checked_sub(1)?;
        let word = last / BITS;
        if let Some(found) = highest(self.bits[word], last % BITS) {
            return Some(word * BITS + found);
        }
        self.word_below(word).map(|word| word * BITS + BITS - 1 - self.bits[word].leading_zeros() as usize)
    }

    fn word_from(&self, from: usize) -> Option<usize> {
        let first = from / BITS;
        let (mut place, mut found) = (first, lowest(*self.words.get(first)?, from % BITS));
        while found.is_none() {
            place += 1;
            found = lowest(*self.words.get(place)?, 0);
        }
        found.map(|found| place * BITS + found)
    }

    fn word_below(&self, end: usize) -> Option<usize> {
        let last = end.checked_sub(1)?;
        let (mut place, mut found) = (last / BITS, highest(self.words[last / BITS], last % BITS));
        while found.is_none() {
            place = place.checked_sub(1)?;
            found = highest(self.words[place], BITS - 1);
        }
        found.map(|found| place * BITS + found)
    }
}

/// The lowest bit of a word at `from` or above.
fn lowest(word: u64, from: usize) -> Option<usize> {
    let left = word >> from;
    (left != 0).then(|| from + left.trailing_zeros() as usize)
}

/// The highest bit of a word at `last` or below.
fn highest(word: u64, last: usize) -> Option<usize> {
    let left = word << (BITS - 1 - last);
    (left != 0).then(|| last - left.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::Occupied;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_finds_what_a_sorted_set_finds(
            steps in prop::collection::vec((any::<bool>(), 0_usize..20_000), 1..200),
            from in prop::collection::vec(0_usize..20_100, 20)
        ) {
            let (mut ours, mut theirs) = (Occupied::new(20_000), BTreeSet::new());
            for (is_new, cylinder) in steps {
                if is_new {
                    ours.insert(cylinder);
                    theirs.insert(cylinder);
                } else if let Some(&near) = theirs.range(cylinder..).next() {
                    ours.remove(near);
                    theirs.remove(&near);
                }
                for &from in from.iter().chain([&0, &cylinder, &19_999]) {
                    prop_assert_eq!(ours.from(from), theirs.range(from..).next().copied());
                    prop_assert_eq!(ours.below(from), theirs.range(..from).next_back().copied());
                }
            }
        }
    }
}

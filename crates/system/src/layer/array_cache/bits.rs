//! Marks of the sectors of a line.

use std::ops::Range;

const WORD: u32 = u64::BITS;

/// One mark for each of so many sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: u32,
}

impl Bits {
    /// No sector is marked.
    pub(super) fn none(len: u32) -> Self {
        Self { words: vec![0; len.div_ceil(WORD) as usize], len }
    }

    pub(super) fn set(&mut self, sectors: Range<u32>, is_set: bool) {
        for at in sectors {
            let (word, bit) = (&mut self.words[(at / WORD) as usize], 1 << (at % WORD));
            *word = if is_set { *word | bit } else { *word & !bit };
        }
    }

    pub(super) fn is_set(&self, at: u32) -> bool {
        self.words[(at / WORD) as usize] >> (at % WORD) & 1 == 1
    }

    pub(super) fn is_none(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many are marked.
    pub(super) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The first from `from` on that is marked, or is not.
    pub(super) fn first(&self, from: u32, is_set: bool) -> Option<u32> {
        (from..self.len).find(|&at| self.is_set(at) == is_set)
    }

    /// The last that is marked, before the first from `from` on that is not marked in `within`.
    pub(super) fn last_before_gap(&self, from: u32, within: &Self) -> Option<u32> {
        let end = within.first(from, false).unwrap_or(self.len);
        (from..end).rev().find(|&at| self.is_set(at))
    }
}

//! A filter before a search among many segments: addresses that it does not know lie in none of them.

use super::segment::Segment;

/// So many blocks are looked up at most.
const MOST: u64 = 16;
/// Bits of the filter.
const BITS: usize = 4096;
/// After so many marks for each segment the filter begins anew: marks are not taken back one by one.
const MARKS_A_SEGMENT: usize = 6;

/// A Bloom filter with one hash function, over blocks of addresses. It may know blocks that no segment holds any more.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    words: Vec<u64>,
    /// Addresses of a block, as a power of two: about as many as a segment holds.
    shift: u32,
    marks: usize,
}

/// The word and the bit of a block.
#[inline]
fn place(block: u64) -> (usize, u64) {
    let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS.ilog2());
    (hash as usize / 64, 1 << (hash % 64))
}

impl Filter {
    /// For segments of `size` sectors, all of them empty.
    pub(super) fn new(size: u64) -> Self {
        Self { words: vec![0; BITS / 64], shift: size.max(1).ilog2(), marks: 0 }
    }

    #[inline]
    fn has(&self, block: u64) -> bool {
        let (word, bit) = place(block);
        self.words[word] & bit != 0
    }

    /// Whether a segment may hold `lba`, or end just before it. Empty segments lie at 0.
    #[inline]
    pub(super) fn may_hold(&self, lba: u64) -> bool {
        lba == 0 || self.has(lba >> self.shift)
    }

    /// Whether a segment may hold some of `start..end`.
    #[inline]
    pub(super) fn may_overlap(&self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        let (first, last) = (start >> self.shift, (end - 1) >> self.shift);
        last - first > MOST || (first..=last).any(|block| self.has(block))
    }

    /// Segment `index` of `all` has been filled, or holds more than before; what it held of it before ended at `known`.
    pub(super) fn note(&mut self, all: &[Segment], index: usize, known: Option<u64>) {
        let Segment { start, end, .. } = all[index];
        self.mark(known.map_or(start, |known| known.max(start)), end);
        if self.marks > MARKS_A_SEGMENT * all.len() {
            self.begin_anew(all);
        }
    }

    fn begin_anew(&mut self, all: &[Segment]) {
        self.words.fill(0);
        for segment in all {
            self.mark(segment.start, segment.end);
        }
        self.marks = 0;
    }

    /// Blocks of a segment, and that of the address behind it.
    fn mark(&mut self, start: u64, end: u64) {
        for block in start >> self.shift..=end >> self.shift {
            let (word, bit) = place(block);
            self.words[word] |= bit;
            self.marks += 1;
        }
    }
}

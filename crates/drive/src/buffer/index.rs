//! What saves a look at all segments where there are many of them.

use super::filter::Filter;
use super::recency::Recency;
use super::segment::Segment;

/// So few segments are looked at one by one.
const FEW: usize = 16;

/// Which addresses segments of one size may hold, and which of them was used longest ago.
#[derive(Clone, Debug)]
pub(super) struct Index {
    filter: Filter,
    recency: Recency,
    /// How many were never used, or are empty since.
    unused: usize,
}

impl Index {
    /// Of so many empty segments of `size` sectors; `None` where they are few.
    pub(super) fn new(segments: usize, size: u64) -> Option<Box<Self>> {
        let index = || Self { filter: Filter::new(size), recency: Recency::default(), unused: segments };
        (segments > FEW).then(|| Box::new(index()))
    }

    /// Whether a segment may hold `lba`, or end just before it.
    #[inline]
    pub(super) fn may_hold(&self, lba: u64) -> bool {
        self.filter.may_hold(lba)
    }

    /// Whether a segment may hold some of `start..end`.
    #[inline]
    pub(super) fn may_overlap(&self, start: u64, end: u64) -> bool {
        self.filter.may_overlap(start, end)
    }

    /// The least recently used of `all` but `spared`, if it is among the first `shared` and all have been used.
    pub(super) fn victim(&mut self, all: &[Segment], shared: usize, spared: Option<usize>) -> Option<usize> {
        if self.unused > 0 {
            return None;
        }
        self.recency.least(all).filter(|&least| least < shared && Some(least) != spared)
    }

    /// Segment `index` of `all` is used, for the first time if it `was_unused`.
    #[inline(never)]
    pub(super) fn note_use(&mut self, all: &[Segment], index: usize, was_unused: bool) {
        self.unused -= usize::from(was_unused);
        self.recency.note(all, index);
    }

    /// Segment `index` of `all` has been filled, or holds more than before; what it held of it before ended at `known`.
    #[inline(never)]
    pub(super) fn note_content(&mut self, all: &[Segment], index: usize, known: Option<u64>) {
        self.filter.note(all, index, known);
    }

    /// Some of `all` are empty now.
    pub(super) fn note_empty(&mut self, all: &[Segment]) {
        self.unused = all.iter().filter(|segment| segment.used == 0).count();
    }

    /// The segments have taken other places.
    pub(super) fn note_places(&mut self, all: &[Segment]) {
        self.recency.begin_anew(all);
    }
}

//! Ranges of sectors that neither touch nor overlap.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of sectors: where each range of them begins, and where it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    pub(super) fn insert(&mut self, Range { mut start, mut end }: Range<u64>) {
        let touching: Vec<(u64, u64)> =
            self.0.range(..=end).rev().map(|(a, b)| (*a, *b)).take_while(|(_, b)| *b >= start).collect();
        for (a, b) in touching {
            self.0.remove(&a);
            (start, end) = (start.min(a), end.max(b));
        }
        self.0.insert(start, end);
    }

    pub(super) fn remove(&mut self, Range { start, end }: &Range<u64>) {
        let overlapping: Vec<(u64, u64)> =
            self.0.range(..end).rev().map(|(a, b)| (*a, *b)).take_while(|(_, b)| b > start).collect();
        for (a, b) in overlapping {
            self.0.remove(&a);
            if a < *start {
                self.0.insert(a, *start);
            }
            if b > *end {
                self.0.insert(*end, b);
            }
        }
    }

    pub(super) fn contains(&self, Range { start, end }: &Range<u64>) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, b)| b >= end)
    }

    /// The lowest range.
    pub(super) fn first(&self) -> Option<Range<u64>> {
        self.0.first_key_value().map(|(&start, &end)| start..end)
    }

    /// How many sectors.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }
}

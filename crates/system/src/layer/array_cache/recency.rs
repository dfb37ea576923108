//! Which line was used when: a list of lines in segments. A line begins in the lowest segment, and each further use moves it up one; what
//! a segment above the lowest holds too many of, the least recently used first, falls into the one below. Lines are given up from
//! the lowest on, so that many that are used once do not drive out those that are used again. With one segment the order is that of the
//! last use.

use std::collections::BTreeMap;

/// Where a line stands in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    segment: usize,
    /// The larger, the more recently used.
    used: u64,
}

/// The order of some lines, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    stands: BTreeMap<u64, Stand>,
    /// Of each segment, from the lowest on, its lines by their last use.
    segments: Vec<BTreeMap<u64, u64>>,
    /// How many lines each holds at most; the lowest holds what is left.
    most: Vec<usize>,
    next_use: u64,
}

impl Recency {
    /// Of `capacity` lines; `shares` says of each segment what share of them it holds, from the lowest on. No shares: one segment.
    pub(super) fn new(capacity: usize, shares: &[f64]) -> Self {
        let most: Vec<usize> =
            shares.iter().map(|share| ((share * capacity as f64).round() as usize).max(1)).collect();
        let count = most.len().max(1);
        Self { stands: BTreeMap::new(), segments: vec![BTreeMap::new(); count], most, next_use: 0 }
    }

    /// A line is used, or comes in.
    pub(super) fn touch(&mut self, number: u64) {
        let segment = match self.leave(number) {
            Some(stand) => (stand.segment + 1).min(self.segments.len() - 1),
            None => 0,
        };
        self.enter(number, segment);
        for above in (1..self.segments.len()).rev() {
            while self.segments[above].len() > self.most[above]
                && let Some((_, oldest)) = self.segments[above].pop_first()
            {
                self.enter(oldest, above - 1);
            }
        }
    }

    /// A line is there no more.
    pub(super) fn forget(&mut self, number: u64) {
        self.leave(number);
    }

    /// The next to give up first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = u64> + '_ {
        self.segments.iter().flat_map(|segment| segment.values().copied())
    }

    fn enter(&mut self, number: u64, segment: usize) {
        let used = self.next_use;
        self.next_use += 1;
        self.segments[segment].insert(used, number);
        self.stands.insert(number, Stand { segment, used });
    }

    fn leave(&mut self, number: u64) -> Option<Stand> {
        let stand = self.stands.remove(&number)?;
        self.segments[stand.segment].remove(&stand.used);
        Some(stand)
    }
}

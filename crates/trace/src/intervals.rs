//! The set of sectors a trace touches, in bounded memory.

/// So many disjoint intervals are kept before the grid gets coarser.
const MOST: usize = 1 << 21;
/// No grid is coarser: only a trace of millions of devices could ask for it.
const COARSEST_LOG2: u32 = 40;
/// So many new intervals are collected before they are merged in.
const PENDING: usize = 1 << 16;

/// A union of intervals of sectors on numbered devices.
///
/// Exact while the union has at most two million disjoint intervals (50 MB). With more, all ends are rounded outwards to a
/// grid that gets twice as coarse until they fit; the union is then an upper bound.
pub(crate) struct Intervals {
    /// Disjoint, ascending, not touching.
    merged: Vec<Interval>,
    pending: Vec<Interval>,
    grid_log2: u32,
    most: usize,
}

/// Device, first sector, first sector beyond.
type Interval = (u32, u64, u64);

impl Default for Intervals {
    fn default() -> Self {
        Self::with_capacity(MOST)
    }
}

impl Intervals {
    fn with_capacity(most: usize) -> Self {
        Self { merged: Vec::new(), pending: Vec::new(), grid_log2: 0, most }
    }

    /// Adds [first, end) of `device`.
    pub(crate) fn insert(&mut self, device: u32, first: u64, end: u64) {
        if let Some(last) = self.pending.last_mut()
            && last.0 == device
            && (last.1..=last.2).contains(&first)
        {
            last.2 = last.2.max(end);
            return;
        }
        self.pending.push((device, first, end));
        if self.pending.len() >= PENDING.max(self.merged.len() / 8) {
            self.merge();
        }
    }

    /// The number of sectors in the union on each device that has any, ascending, and the grid's sectors (1: exact).
    pub(crate) fn into_totals(mut self) -> (Vec<(u32, u64)>, u64) {
        self.merge();
        let mut totals: Vec<(u32, u64)> = Vec::new();
        for (device, first, end) in self.merged {
            match totals.last_mut() {
                Some((known, total)) if *known == device => *total += end - first,
                _ => totals.push((device, end - first)),
            }
        }
        (totals, 1 << self.grid_log2)
    }

    #[expect(
        clippy::stable_sort_primitive,
        reason = "the stable sort finds the long ordered run and merges the rest in"
    )]
    fn merge(&mut self) {
        self.merged.append(&mut self.pending);
        self.merged.sort();
        self.unite();
        while self.merged.len() > self.most && self.grid_log2 < COARSEST_LOG2 {
            self.grid_log2 += 1;
            self.unite();
        }
    }

    /// Rounds the sorted intervals to the grid and joins those that overlap or touch.
    fn unite(&mut self) {
        let below = (1_u64 << self.grid_log2) - 1;
        let mut kept = 0;
        for at in 0..self.merged.len() {
            let (device, first, end) = self.merged[at];
            let (first, end) = (first & !below, end.checked_add(below).map_or(u64::MAX, |end| end & !below));
            if kept > 0 && self.merged[kept - 1].0 == device && first <= self.merged[kept - 1].2 {
                self.merged[kept - 1].2 = self.merged[kept - 1].2.max(end);
            } else {
                self.merged[kept] = (device, first, end);
                kept += 1;
            }
        }
        self.merged.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_counts_like_a_set(extents in proptest::collection::vec((0_u32..2, 0_u64..200, 1_u64..20), 0..60), most in 1_usize..8) {
            let mut set = BTreeSet::new();
            let mut exact = Intervals::default();
            let mut coarse = Intervals::with_capacity(most);
            for (at, &(device, first, length)) in extents.iter().enumerate() {
                set.extend((first..first + length).map(|sector| (device, sector)));
                exact.insert(device, first, first + length);
                coarse.insert(device, first, first + length);
                if at % 7 == 0 {
                    exact.merge();
                    coarse.merge();
                }
            }
            let count = |wanted: u32| set.iter().filter(|(device, _)| *device == wanted).count() as u64;
            let expected: Vec<_> = (0..2).map(|device| (device, count(device))).filter(|&(_, count)| count > 0).collect();
            prop_assert_eq!(exact.into_totals(), (expected.clone(), 1));
            coarse.merge();
            // Two devices cannot share an interval.
            prop_assert!(coarse.merged.len() <= most.max(2));
            let (totals, _) = coarse.into_totals();
            prop_assert!(totals.iter().zip(&expected).all(|(bound, exact)| bound.0 == exact.0 && bound.1 >= exact.1));
        }
    }

    #[test]
    fn intervals_that_touch_become_one() {
        let mut set = Intervals::default();
        for (first, end) in [(8, 16), (0, 8), (16, 24), (25, 26)] {
            set.insert(0, first, end);
        }
        set.merge();
        assert_eq!(set.merged, [(0, 0, 24), (0, 25, 26)]);
    }
}

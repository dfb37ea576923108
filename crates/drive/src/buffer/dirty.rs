//! Written data that are not on the media yet.

use std::collections::BTreeMap;

/// At most this many sectors go to the media in one piece, so that a waiting command does not wait for too much.
const LARGEST_PIECE: u64 = 2048;

/// Runs of buffered sectors, by first address; runs neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    runs: BTreeMap<u64, u64>,
    sectors: u64,
    /// Going down to the low-water mark.
    draining: bool,
}

impl Dirty {
    /// The runs: first address, and one after the last.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().map(|(&start, &end)| (start, end))
    }

    /// Sectors held.
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether nothing is held.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many sectors of `start..end` are not held yet.
    pub(crate) fn growth(&self, start: u64, end: u64) -> u64 {
        if self.is_empty() {
            return end - start;
        }
        let held: u64 = self.overlapping(start, end).map(|(s, e)| e.min(end) - s.max(start)).sum();
        end - start - held
    }

    /// The runs that share sectors with `start..end`.
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let before = self.runs.range(..start).next_back().filter(|&(_, &e)| e > start);
        before.into_iter().chain(self.runs.range(start..end)).map(|(&s, &e)| (s, e))
    }

    /// The first run that shares sectors with `start..end`.
    pub(crate) fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        self.overlapping(start, end).next()
    }

    /// Whether all of `start..end` is held.
    #[inline]
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        !self.is_empty() && self.growth(start, end) == 0
    }

    /// Adds `start..end`, over what was there, and joins it with its neighbours.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        self.sectors += self.growth(start, end);
        let mut merged = (start, end);
        let touching: Vec<(u64, u64)> = self
            .overlapping(start.saturating_sub(1), end + 1)
            .filter(|&(s, e)| e >= start && s <= end)
            .collect();
        for (s, e) in touching {
            self.runs.remove(&s);
            merged = (merged.0.min(s), merged.1.max(e));
        }
        self.runs.insert(merged.0, merged.1);
    }

    /// Takes `start..end` out, leaving what lies on either side.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        let cut: Vec<(u64, u64)> = self.overlapping(start, end).collect();
        for (s, e) in cut {
            self.runs.remove(&s);
            self.sectors -= e.min(end) - s.max(start);
            if s < start {
                self.runs.insert(s, start);
            }
            if e > end {
                self.runs.insert(end, e);
            }
        }
    }

    /// Whether buffered writes go before waiting reads: from above the high-water mark on until the low one is reached.
    /// `fill` and the marks in percent.
    pub(crate) fn drains(&mut self, fill: f64, high_water: f64, low_water: f64) -> bool {
        self.draining |= fill > high_water;
        if self.draining && !self.is_empty() && fill <= low_water {
            self.draining = false;
        }
        self.draining && !self.is_empty()
    }

    /// The next piece to go to the media, for an arm near `lba`.
    pub(crate) fn piece(&self, lba: u64) -> Option<(u64, u64)> {
        self.nearest(lba, LARGEST_PIECE)
    }

    /// The run whose first address is nearest to `lba`, the higher one on ties; at most `limit` sectors of it.
    fn nearest(&self, lba: u64, limit: u64) -> Option<(u64, u64)> {
        let above = self.runs.range(lba..).next();
        let below = self.runs.range(..lba).next_back();
        let (&start, &end) = match (below, above) {
            (Some(b), Some(a)) if lba - b.0 < a.0 - lba => b,
            (_, Some(a)) => a,
            (Some(b), None) => b,
            (None, None) => return None,
        };
        Some((start, end.min(start + limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The naive twin: a set of sectors.
        #[test]
        fn runs_behave_as_a_set_of_sectors(
            steps in prop::collection::vec((any::<bool>(), 0_u64..60, 1_u64..12), 1..60),
            probe in 0_u64..70,
        ) {
            let mut dirty = Dirty::default();
            let mut twin = BTreeSet::new();
            for (add, start, len) in steps {
                let range = start..start + len;
                prop_assert_eq!(
                    dirty.growth(start, start + len),
                    range.clone().filter(|s| !twin.contains(s)).count() as u64
                );
                if add {
                    dirty.insert(start, start + len);
                    twin.extend(range);
                } else {
                    dirty.remove(start, start + len);
                    twin.retain(|s| !range.contains(s));
                }
                prop_assert_eq!(dirty.sectors(), twin.len() as u64);
                prop_assert_eq!(dirty.covers(probe, probe + 1), twin.contains(&probe));
                let pairs: Vec<_> = dirty.overlapping(0, 1000).collect();
                for pair in pairs.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0, "runs must not touch: {:?}", pairs);
                }
                prop_assert_eq!(dirty.nearest(probe, 5).is_none(), twin.is_empty());
                if let Some((s, e)) = dirty.nearest(probe, 5) {
                    prop_assert!(e > s && e - s <= 5 && dirty.covers(s, e));
                }
            }
        }
    }
}

//! Written data that are not on the media yet.

use crate::model::Level;
use crate::scheduler::{Estimate, Places, Reach, Target};
use headstack_units::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// At most this many sectors go to the media in one piece, so that a waiting command does not wait for too much.
const LARGEST_PIECE: u64 = 2048;

/// One piece of so many, at most, is chosen because it is too old.
const OVERDUE_EVERY: u32 = 64;

/// What goes to the media because it is too old, while reads want the arm, has one part in so many of its time.
const PARTS_OF_TIME: u64 = 10;

/// A run of buffered sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    end: u64,
    /// Where its first sector is.
    place: Target,
}

/// A write as it came, for as long as its age matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrival {
    at: Nanos,
    start: u64,
    end: u64,
}

/// Runs of buffered sectors, by first address; runs neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    runs: BTreeMap<u64, Run>,
    /// The same by their place on the media.
    places: Places,
    /// Logical sectors in a physical one: pieces of a run end where one does, so that only the ends of the run are read before they are
    /// written.
    physical: u64,
    sectors: u64,
    /// In order of time.
    arrivals: VecDeque<Arrival>,
    /// The first of them is known to be held yet.
    holds_oldest: bool,
    /// Pieces that went by their place since one went by its age.
    by_place: u32,
    /// Going down to the low-water mark.
    draining: bool,
    /// By then reads have had the arm for their share of the time, what was too old having had its own.
    made_up_at: Nanos,
}

impl Dirty {
    /// None, on media whose physical sectors are of so many logical ones.
    pub(crate) fn on(physical: u64) -> Self {
        Self { physical, ..Self::default() }
    }

    /// Where a piece from `start` on ends, of a run that ends at `end`.
    fn piece_end(&self, start: u64, end: u64) -> u64 {
        let most = start + LARGEST_PIECE;
        if end <= most { end } else { most - most % self.physical.max(1) }
    }

    /// The runs: first address, and one after the last.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().map(|(&start, run)| (start, run.end))
    }

    /// How many runs there are.
    pub(crate) fn count(&self) -> usize {
        self.runs.len()
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
        if self.is_clear(start, end) {
            return end - start;
        }
        let held: u64 = self.overlapping(start, end).map(|(s, e)| e.min(end) - s.max(start)).sum();
        end - start - held
    }

    /// Whether none of `start..end` is held: of the runs that begin before its end the last reaches furthest.
    fn is_clear(&self, start: u64, end: u64) -> bool {
        self.is_empty() || self.runs.range(..end).next_back().is_none_or(|(_, run)| run.end <= start)
    }

    /// The runs that share sectors with `start..end`.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let before = self.runs.range(..start).next_back().filter(|&(_, run)| run.end > start);
        before.into_iter().chain(self.runs.range(start..end)).map(|(&s, run)| (s, run.end))
    }

    /// The runs that share sectors with `start..end`, or lie right beside.
    fn touching(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.overlapping(start.saturating_sub(1), end + 1).filter(move |&(s, e)| e >= start && s <= end)
    }

    /// The first sectors that are held of `start..end`, at most a piece of them.
    pub(crate) fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if self.is_clear(start, end) {
            return None;
        }
        self.overlapping(start, end).next().map(|(s, e)| {
            let s = s.max(start);
            (s, self.piece_end(s, e.min(end)))
        })
    }

    /// Whether all of `start..end` is held.
    #[inline]
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        !self.is_empty() && (start >= end || self.holds(start, end))
    }

    /// Few commands find anything dirty: the search is not to be put where they pass.
    #[inline(never)]
    fn holds(&self, start: u64, end: u64) -> bool {
        self.runs.range(..=start).next_back().is_some_and(|(_, run)| end <= run.end)
    }

    /// Whether `start..end` would be a run of its own.
    pub(crate) fn is_apart(&self, start: u64, end: u64) -> bool {
        self.runs.range(..=end).next_back().is_none_or(|(_, run)| run.end < start)
    }

    /// Adds `start..end`, over what was there, and joins it with its neighbours. `place` tells where an address lies.
    pub(crate) fn insert(&mut self, start: u64, end: u64, place: impl Fn(u64) -> Target) {
        if self.is_apart(start, end) {
            self.sectors += end - start;
            return self.keep((start, end), &place);
        }
        self.sectors += self.growth(start, end);
        let mut merged = (start, end);
        let touching: Vec<(u64, u64)> = self.touching(start, end).collect();
        for (s, e) in touching {
            self.forget(s);
            merged = (merged.0.min(s), merged.1.max(e));
        }
        self.keep(merged, &place);
    }

    /// Takes `start..end` out, leaving what lies on either side.
    pub(crate) fn remove(&mut self, start: u64, end: u64, place: impl Fn(u64) -> Target) {
        if self.is_clear(start, end) {
            return;
        }
        let cut: Vec<(u64, u64)> = self.overlapping(start, end).collect();
        for (s, e) in cut {
            self.forget(s);
            self.sectors -= e.min(end) - s.max(start);
            for rest in [(s, start), (end, e)] {
                self.keep(rest, &place);
            }
        }
    }

    fn keep(&mut self, (start, end): (u64, u64), place: &impl Fn(u64) -> Target) {
        if start < end {
            let run = Run { end, place: place(start) };
            self.places.insert(start, run.place);
            self.runs.insert(start, run);
        }
    }

    fn forget(&mut self, start: u64) {
        if let Some(run) = self.runs.remove(&start) {
            let is_of = |oldest: &Arrival| start < oldest.end && oldest.start < run.end;
            self.holds_oldest &= !self.arrivals.front().is_some_and(is_of);
            self.places.remove(start, &run.place);
        }
    }

    /// `start..end` came at `at`, not before anything else that came: its age counts from there.
    pub(crate) fn note_arrival(&mut self, at: Nanos, start: u64, end: u64) {
        self.arrivals.push_back(Arrival { at, start, end });
    }

    /// When the oldest came of those not on the media yet.
    pub(crate) fn oldest(&mut self) -> Option<Nanos> {
        while let Some(&Arrival { at, start, end }) = self.arrivals.front() {
            // It is asked far more often than runs go.
            if self.holds_oldest {
                return Some(at);
            }
            let is_held = !self.is_clear(start, end);
            self.holds_oldest = is_held;
            if !is_held {
                self.arrivals.pop_front();
            }
        }
        None
    }

    /// The next piece of the oldest.
    fn oldest_piece(&mut self) -> Option<(u64, u64)> {
        self.oldest()?;
        let &Arrival { start, end, .. } = self.arrivals.front()?;
        let (start, _) = self.first_overlap(start, end)?;
        // What follows goes with it.
        self.overlapping(start, end).next().map(|(_, e)| (start, self.piece_end(start, e)))
    }

    /// The next piece of the oldest, if that came more than `limit` before `now` and it is its turn.
    pub(crate) fn overdue(&mut self, limit: Nanos, now: Nanos) -> Option<(u64, u64)> {
        let is_due = self.oldest()?.saturating_add(limit) < now;
        self.by_place += 1;
        if !is_due || self.by_place < OVERDUE_EVERY {
            return None;
        }
        self.by_place = 0;
        self.oldest_piece()
    }

    /// From when on something is too old that came more than `limit` before, and may go although reads want the arm.
    pub(crate) fn forced_from(&mut self, limit: Nanos) -> Option<Nanos> {
        Some(self.oldest()?.saturating_add(limit).max(self.made_up_at))
    }

    /// A piece went from `start` to `end` although reads want the arm: they have it for as long as makes up for that.
    pub(crate) fn make_up(&mut self, start: Nanos, end: Nanos) {
        self.made_up_at = start + Nanos((end - start).0 * PARTS_OF_TIME);
    }

    /// Whether buffered writes go before waiting reads: from above the high-water mark on until the low one is reached.
    pub(crate) fn drains(&mut self, high: Level, low: Level) -> bool {
        let fill = Level { sectors: self.sectors, runs: self.runs.len() };
        self.draining |= fill.is_above(high);
        self.draining &= fill.is_above(low) && !self.is_empty();
        self.draining
    }

    /// The piece that goes on at `lba`.
    pub(crate) fn piece_at(&self, lba: u64) -> Option<(u64, u64)> {
        self.runs.get(&lba).map(|run| (lba, self.piece_end(lba, run.end)))
    }

    /// The piece whose first sector comes soonest under the head of one of several arms, as far as `reach` says.
    pub(crate) fn soonest(&self, arms: &[Estimate<'_>], reach: Reach) -> Option<(u64, u64)> {
        self.piece_at(self.places.soonest(arms, reach)?)
    }

    /// Whether everything to come is the same with `other`, no piece being to begin before `settled`. A turn by age that has come stays:
    /// how long ago it did is all the same.
    pub(super) fn has_same_future(&self, other: &Self, settled: Nanos) -> bool {
        // The places follow from the runs, and so does whether the oldest is held; the media are the same.
        let Self {
            runs,
            places: _,
            physical: _,
            sectors,
            arrivals,
            holds_oldest: _,
            by_place,
            draining,
            made_up_at,
        } = self;
        let turn = |by_place: u32| by_place.min(OVERDUE_EVERY - 1);
        *runs == other.runs
            && *sectors == other.sectors
            && *arrivals == other.arrivals
            && turn(*by_place) == turn(other.by_place)
            && *draining == other.draining
            && settled.max(*made_up_at) == settled.max(other.made_up_at)
    }

    /// Everything happens at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        for arrival in &mut self.arrivals {
            arrival.at = moved(arrival.at);
        }
        self.made_up_at = moved(self.made_up_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn somewhere(lba: u64) -> Target {
        Target { cylinder: (lba / 7) as u32, ..Target::default() }
    }

    /// Physical sectors of eight: a run from 3 to 5,001 goes in pieces that end where a physical sector does.
    #[test]
    fn pieces_of_a_run_end_with_physical_sectors() {
        let dirty = Dirty { physical: 8, ..Dirty::default() };
        assert_eq!(dirty.piece_end(3, 5_001), 2_048);
        assert_eq!(dirty.piece_end(2_048, 5_001), 4_096);
        assert_eq!(dirty.piece_end(4_096, 5_001), 5_001);
        assert_eq!(Dirty::default().piece_end(3, 5_001), 2_051);
    }

    #[test]
    fn what_is_as_old_as_the_bound_is_not_yet_too_old() {
        let mut dirty = Dirty::default();
        dirty.insert(0, 8, somewhere);
        dirty.note_arrival(Nanos(1000), 0, 8);
        let mut overdue = |now| dirty.overdue(Nanos(500), Nanos(now));
        for _ in 1..OVERDUE_EVERY {
            assert_eq!(overdue(2000), None, "one piece in so many");
        }
        assert_eq!(overdue(1500), None);
        assert_eq!(overdue(1501), Some((0, 8)));
    }

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
                    dirty.insert(start, start + len, somewhere);
                    twin.extend(range);
                } else {
                    dirty.remove(start, start + len, somewhere);
                    twin.retain(|s| !range.contains(s));
                }
                prop_assert_eq!(dirty.sectors(), twin.len() as u64);
                prop_assert_eq!(dirty.covers(probe, probe + 1), twin.contains(&probe));
                let [within, beside] = [(probe, probe + 3), (probe.saturating_sub(1), probe + 4)]
                    .map(|(from, to)| (from..to).filter(|sector| twin.contains(sector)).count());
                prop_assert_eq!(dirty.covers(probe, probe + 3), within == 3);
                prop_assert_eq!(dirty.is_clear(probe, probe + 3), within == 0);
                prop_assert_eq!(dirty.is_apart(probe, probe + 3), beside == 0);
                prop_assert_eq!(dirty.first_overlap(probe, probe + 3).is_none(), within == 0);
                let pairs: Vec<_> = dirty.overlapping(0, 1000).collect();
                for pair in pairs.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0, "runs must not touch: {:?}", pairs);
                }
                let places: BTreeSet<_> = pairs.iter().map(|&(s, _)| (somewhere(s).cylinder, s)).collect();
                prop_assert_eq!(dirty.places.keys().collect::<BTreeSet<_>>(), places);
            }
        }

        /// The naive twin: each write with its time, less the sectors taken out since it came.
        #[test]
        fn nothing_held_is_older_than_the_oldest(
            steps in prop::collection::vec((any::<bool>(), 0_u64..60, 1_u64..12), 1..60),
        ) {
            let mut dirty = Dirty::default();
            let mut twin: Vec<(u64, BTreeSet<u64>)> = Vec::new();
            for (at, (add, start, len)) in (0_u64..).zip(steps) {
                if add {
                    dirty.insert(start, start + len, somewhere);
                    dirty.note_arrival(Nanos(at), start, start + len);
                    twin.push((at, (start..start + len).collect()));
                } else {
                    dirty.remove(start, start + len, somewhere);
                    for (_, sectors) in &mut twin {
                        sectors.retain(|s| !(start..start + len).contains(s));
                    }
                }
                twin.retain(|(_, sectors)| !sectors.is_empty());
                // What replaced older data may count as old as they were: never as younger than it is.
                let (oldest, truth) = (dirty.oldest(), twin.first().map(|(at, _)| Nanos(*at)));
                prop_assert_eq!(oldest.is_some(), truth.is_some());
                prop_assert!(oldest <= truth, "{:?} {:?}", oldest, truth);
                let piece = dirty.oldest_piece();
                prop_assert_eq!(piece.is_some(), truth.is_some());
                prop_assert!(piece.is_none_or(|(s, e)| s < e && dirty.covers(s, e)), "{:?}", piece);
            }
        }
    }
}

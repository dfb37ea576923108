//! Queued pieces, which wait by place until a dispatch or a completion takes them.

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

use super::tiling::{Near, tiles};
use crate::event::{Event, Marks};

/// What the block layer was asked for in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    end: u64,
    write: bool,
    /// What a split or a dispatch of its beginning left.
    is_rest: bool,
    /// The trace tells that it was split, but not where.
    is_split: bool,
    pub(super) queued: Nanos,
    pub(super) got: Nanos,
    pub(super) inserted: Nanos,
    pub(super) pid: u32,
    pub(super) marks: Marks,
    /// A hole lies behind it: what takes it may belong to another.
    pub(super) doubtful: bool,
}

/// What is dispatched: device, sectors from … to before …, and whether they are written.
pub(super) type Extent = (u32, u64, u64, bool);

/// Those that wait, by device and first sector.
#[derive(Debug, Default)]
pub(super) struct Queued {
    pieces: BTreeMap<(u32, u64), Vec<Piece>>,
    /// Sectors of the largest ever: those that begin further before a sector do not reach it.
    longest: u64,
    /// Pieces of dispatches to come: those of the same extent as one dispatched before.
    owed: BTreeMap<Extent, Owed>,
}

/// Pieces of one extent, and when the first of them was dispatched. `None`: which it is, is not clear.
#[derive(Debug)]
struct Owed {
    pieces: VecDeque<Option<Piece>>,
    since: Nanos,
}

/// What was queued of an extent that is dispatched.
#[derive(Debug)]
pub(super) enum Taken {
    Pieces(Vec<Piece>),
    /// What lies there makes up something else.
    Misfit,
    /// An earlier dispatch may have had its piece.
    Unclear,
}

impl Queued {
    /// A piece begins to wait.
    pub(super) fn push(&mut self, event: &Event, write: bool, doubtful: bool) {
        let piece = Piece {
            end: event.end(),
            write,
            is_rest: false,
            is_split: false,
            queued: event.time,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            pid: event.pid,
            marks: event.marks,
            doubtful,
        };
        self.longest = self.longest.max(u64::from(event.sectors()));
        self.pieces.entry((event.device, event.sector)).or_default().push(piece);
    }

    /// The piece that holds the event's first sector, of several the nearest, and of those the last.
    pub(super) fn at(&mut self, event: &Event) -> Option<&mut Piece> {
        let reach = (event.device, event.sector.saturating_sub(self.longest))..=(event.device, event.sector);
        let mut pieces = self.pieces.range_mut(reach).rev().flat_map(|(_, pieces)| pieces.iter_mut().rev());
        pieces.find(|piece| event.sector < piece.end)
    }

    /// How many of one direction begin where the event does.
    pub(super) fn alike(&self, event: &Event, write: bool) -> u64 {
        self.instants_at((event.device, event.sector, write)).count() as u64
    }

    /// Gives up those that begin where the event does.
    pub(super) fn drop_alike(&mut self, event: &Event, write: bool) {
        if let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) {
            pieces.retain(|piece| piece.write != write);
        }
    }

    /// Whether the event tells again of the rest of a piece that was split, or of which the beginning was dispatched.
    pub(super) fn is_rest(&self, event: &Event, write: bool) -> bool {
        let pieces = self.pieces.get(&(event.device, event.sector)).into_iter().flatten();
        pieces.into_iter().any(|piece| piece.is_rest && piece.write == write && piece.end == event.end())
    }

    /// The piece that begins where the event does is split. Newer kernels tell of the first part, older ones of all of it, and
    /// text of no end.
    pub(super) fn split(&mut self, event: &Event, write: bool) {
        let end = event.end();
        let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) else { return };
        let longer = |piece: &Piece| piece.write == write && piece.end > end && end > event.sector;
        let Some(last) = pieces.iter().rposition(longer) else {
            pieces.iter_mut().filter(|piece| piece.write == write).for_each(|piece| piece.is_split = true);
            return;
        };
        let rest = Piece { is_rest: true, ..pieces[last] };
        pieces[last].end = end;
        self.pieces.entry((event.device, end)).or_default().push(rest);
    }

    /// Takes the pieces that make up what is dispatched at `now`. If none do: all that have a part in it, or with `strict` none.
    /// Of one that reaches beyond on either side, the rest stays; with `strict`, it must be known to be split.
    pub(super) fn take(&mut self, extent: Extent, now: Nanos, strict: bool) -> Taken {
        let mut near = self.near(extent, strict);
        let (_, first, end, _) = extent;
        let mut own = tiles(&near, first, end);
        if !self.owed.is_empty() {
            if own.is_none() && !self.owed.contains_key(&extent) && self.reclaim(extent) {
                near = self.near(extent, strict);
                own = tiles(&near, first, end);
            }
            if let Some(owed) = self.settle(extent, own.as_deref().unwrap_or_default()) {
                return owed.map_or(Taken::Unclear, |piece| Taken::Pieces(vec![piece]));
            }
        }
        let alike = near.iter().filter(|piece| (piece.start, piece.end) == (first, end)).count();
        let chosen = match own {
            Some(chosen) => chosen,
            None if strict && !near.is_empty() => return Taken::Misfit,
            None => near,
        };
        let taken = self.remove(extent, &chosen);
        if alike > 1 && taken.len() == 1 {
            self.owe(extent, now);
        }
        Taken::Pieces(taken)
    }

    /// The pieces that have a part in an extent, in order of place and of queueing.
    fn near(&self, (device, first, end, write): Extent, strict: bool) -> Vec<Near> {
        // One that begins before may reach in: it was split.
        let reach = (device, first.saturating_sub(self.longest))..(device, end);
        let all = self.pieces.range(reach).flat_map(|(&(_, start), pieces)| {
            pieces
                .iter()
                .enumerate()
                .map(move |(index, piece)| (Near { start, index, end: piece.end }, piece))
        });
        let has_part = |(near, piece): &(Near, &Piece)| {
            let is_whole = near.start >= first && near.end <= end;
            piece.write == write && near.end > first && (is_whole || piece.is_split || !strict)
        };
        all.filter(has_part).map(|(near, _)| near).collect()
    }

    /// What is chosen of an extent; what reaches beyond it waits on.
    fn remove(&mut self, (device, first, end, write): Extent, chosen: &[Near]) -> Vec<Piece> {
        let mut taken = Vec::with_capacity(chosen.len());
        let mut rest = None;
        for near in chosen {
            let Some(pieces) = self.pieces.get_mut(&(device, near.start)) else { continue };
            let at = pieces.iter().position(|piece| piece.write == write && piece.end == near.end);
            let Some(at) = at else { continue };
            let piece = if near.start < first {
                let whole = pieces[at];
                pieces[at].end = first;
                whole
            } else {
                pieces.remove(at)
            };
            taken.push(piece);
            if pieces.is_empty() {
                self.pieces.remove(&(device, near.start));
            }
            if near.end > end {
                rest = Some(Piece { is_rest: true, ..piece });
            }
        }
        if let Some(rest) = rest {
            self.pieces.entry((device, end)).or_default().push(rest);
        }
        taken
    }

    /// Those of the extent that is dispatched now go on waiting for dispatches of their own.
    fn owe(&mut self, extent: Extent, now: Nanos) {
        let (device, first, end, write) = extent;
        let Some(pieces) = self.pieces.get_mut(&(device, first)) else { return };
        let alike = pieces.extract_if(.., |piece| piece.write == write && piece.end == end).map(Some);
        let owed = self.owed.entry(extent).or_insert_with(|| Owed { pieces: VecDeque::new(), since: now });
        owed.pieces.extend(alike);
        if pieces.is_empty() {
            self.pieces.remove(&(device, first));
        }
    }

    /// Of those that are owed within an extent, the first of each waits again, as it may have been merged with others meanwhile:
    /// whether there are any.
    fn reclaim(&mut self, (device, first, end, write): Extent) -> bool {
        let within = self.owed.range_mut((device, first, 0, false)..(device, end, 0, false));
        let within = within.filter(|((_, _, until, is_write), _)| *until <= end && *is_write == write);
        let known = within.filter(|(_, owed)| matches!(owed.pieces.front(), Some(Some(_))));
        let found: Vec<_> =
            known.filter_map(|(key, owed)| Some((*key, owed.pieces.pop_front().flatten()?))).collect();
        for (key, piece) in &found {
            self.pieces.entry((device, key.1)).or_default().push(*piece);
        }
        self.owed.retain(|_, owed| !owed.pieces.is_empty());
        !found.is_empty()
    }

    /// The piece of a dispatch that was owed, or that it is not clear which it is. A piece that was queued since may have lost
    /// the dispatch that is owed, and then each one after would get the piece before: it takes its own, and none is clear.
    #[expect(clippy::option_option, reason = "nothing owed; something, and perhaps not which")]
    fn settle(&mut self, extent: Extent, own: &[Near]) -> Option<Option<Piece>> {
        let owed = self.owed.get_mut(&extent)?;
        let (device, first, end, _) = extent;
        let queued = |near: &Near| Some(self.pieces.get(&(device, near.start))?.get(near.index)?.queued);
        let is_whole = own.iter().all(|near| near.start >= first && near.end <= end);
        if is_whole && own.iter().filter_map(queued).min() > Some(owed.since) {
            owed.pieces.iter_mut().for_each(|piece| *piece = None);
            return None;
        }
        let piece = owed.pieces.pop_front()?;
        if owed.pieces.is_empty() {
            self.owed.remove(&extent);
        }
        Some(piece)
    }

    /// Events are missing: who is owed what is not known.
    pub(super) fn forget_owed(&mut self) -> u64 {
        let owed = std::mem::take(&mut self.owed);
        owed.into_values().map(|owed| owed.pieces.into_iter().flatten().count() as u64).sum()
    }

    /// A hole ended then: what was queued before is doubtful.
    pub(super) fn doubt(&mut self, ended: Nanos) {
        let pieces = self.pieces.values_mut().flatten().filter(|piece| piece.queued < ended);
        pieces.for_each(|piece| piece.doubtful = true);
    }

    /// When the pieces of one place and direction began to wait.
    pub(super) fn instants_at(
        &self,
        (device, sector, write): (u32, u64, bool),
    ) -> impl Iterator<Item = Nanos> {
        let pieces = self.pieces.get(&(device, sector)).into_iter().flatten();
        pieces.filter(move |piece| piece.write == write).map(|piece| piece.queued)
    }

    /// When each began to wait.
    pub(super) fn instants(&self) -> impl Iterator<Item = Nanos> {
        let owed = self.owed.values().flat_map(|owed| owed.pieces.iter().flatten());
        self.pieces.values().flatten().chain(owed).map(|piece| piece.queued)
    }

    /// Gives up what began to wait before `horizon`: how many.
    pub(super) fn sweep(&mut self, horizon: Nanos) -> u64 {
        let mut given_up = 0;
        let mut waits_on = |piece: &Piece| {
            given_up += u64::from(piece.queued < horizon);
            piece.queued >= horizon
        };
        self.pieces.retain(|_, pieces| {
            pieces.retain(&mut waits_on);
            !pieces.is_empty()
        });
        self.owed.retain(|_, owed| {
            let since = owed.since;
            owed.pieces.retain(|piece| piece.as_ref().map_or(since >= horizon, &mut waits_on));
            !owed.pieces.is_empty()
        });
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Action;
    use crate::event::pairing::tests::event;

    /// Pieces of 8 sectors that begin there, queued one ns after another.
    fn queued(starts: &[u64]) -> Queued {
        let mut queued = Queued::default();
        for (at, &start) in (1..).zip(starts) {
            queued.push(&event(at, Action::Queue, start, 8, "R"), false, false);
        }
        queued
    }

    const EXTENT: Extent = (7, 100, 108, false);

    /// When the pieces of a dispatch at `now` were queued; `None` if that is not clear.
    fn taken(queued: &mut Queued, now: u64) -> Option<Vec<u64>> {
        match queued.take(EXTENT, Nanos(now), false) {
            Taken::Pieces(pieces) => Some(pieces.iter().map(|piece| piece.queued.0).collect()),
            Taken::Misfit | Taken::Unclear => None,
        }
    }

    #[test]
    fn each_of_several_of_one_extent_has_a_dispatch_of_its_own() {
        let mut three = queued(&[100, 100, 96, 100]);
        assert_eq!([5, 6, 7].map(|now| taken(&mut three, now).unwrap()), [[1], [2], [4]]);
        assert_eq!(three.sweep(Nanos::MAX), 1, "the one that reaches in is another's");
        // One queued before any of them was dispatched waits for its turn.
        let mut late = queued(&[100, 100]);
        assert_eq!(taken(&mut late, 20), Some(vec![1]));
        late.push(&event(15, Action::Queue, 100, 8, "R"), false, false);
        assert_eq!(late.instants().count(), 2);
        assert_eq!([21, 22].map(|now| taken(&mut late, now).unwrap()), [[2], [15]]);
        assert_eq!(late.instants().count(), 0);
    }

    #[test]
    fn of_several_of_one_extent_one_may_be_merged_with_others() {
        let mut two = queued(&[100, 100, 108]);
        assert_eq!(taken(&mut two, 5), Some(vec![1]));
        let Taken::Pieces(merged) = two.take((7, 100, 116, false), Nanos(6), false) else {
            panic!("nothing")
        };
        let mut instants: Vec<u64> = merged.iter().map(|piece| piece.queued.0).collect();
        instants.sort_unstable();
        assert_eq!((instants, two.owed.len(), two.instants().count()), (vec![2, 3], 0, 0));
    }

    /// Nobody asks for just these sectors, but for parts that were merged: none of them is one that was owed long ago.
    #[test]
    fn what_was_queued_since_in_parts_is_not_what_was_owed() {
        let mut one_lost = queued(&[100, 100]);
        assert_eq!(taken(&mut one_lost, 5), Some(vec![1]));
        one_lost.push(&event(1000, Action::Queue, 100, 2, "R"), false, false);
        one_lost.push(&event(1001, Action::Queue, 102, 6, "R"), false, false);
        let mut parts = taken(&mut one_lost, 1005).unwrap();
        parts.sort_unstable();
        assert_eq!(parts, [1000, 1001]);
    }

    #[test]
    fn a_dispatch_that_is_missing_makes_no_other_wait() {
        let mut one_lost = queued(&[100, 100]);
        assert_eq!(taken(&mut one_lost, 5), Some(vec![1]));
        for now in [1000, 2000] {
            one_lost.push(&event(now, Action::Queue, 100, 8, "R"), false, false);
            assert_eq!(taken(&mut one_lost, now + 5), Some(vec![now]));
        }
        // Should it come after all, nobody knows when it was queued.
        assert_eq!(taken(&mut one_lost, 3000), None);
        assert_eq!(taken(&mut one_lost, 3000), Some(vec![]));
        let mut swept = queued(&[100, 100]);
        taken(&mut swept, 5);
        assert_eq!((swept.sweep(Nanos(2)), swept.sweep(Nanos(3)), swept.owed.len()), (0, 1, 0));
    }

    #[test]
    fn the_rest_of_a_piece_is_told_of_once() {
        let mut queued = queued(&[96]);
        assert!(matches!(queued.take((7, 96, 100, false), Nanos(3), false), Taken::Pieces(_)));
        let rest = |write, sectors| queued.is_rest(&event(4, Action::Queue, 100, sectors, "R"), write);
        assert_eq!([rest(false, 4), rest(true, 4), rest(false, 8)], [true, false, false]);
    }

    /// An older kernel queues what is left while the first part waits, and splits that again.
    #[test]
    fn the_rest_of_a_piece_that_waits_is_told_of_once() {
        let mut queued = queued(&[100]);
        let is_rest = |queued: &Queued, start, sectors, op| {
            queued.is_rest(&event(4, Action::Queue, start, sectors, op), op == "W")
        };
        queued.split(&event(2, Action::Split, 100, 8, "R"), false);
        queued.split(&event(2, Action::Split, 100, 0, "R"), false);
        assert!(queued.clone_of(100).is_split && !is_rest(&queued, 102, 6, "R"), "nobody knows where");
        queued.split(&event(2, Action::Split, 100, 2, "R"), false);
        assert!(is_rest(&queued, 102, 6, "R"));
        for (start, sectors, op) in [(102, 6, "W"), (102, 4, "R"), (104, 4, "R"), (100, 2, "R")] {
            assert!(!is_rest(&queued, start, sectors, op), "{start} + {sectors} {op}");
        }
        queued.split(&event(3, Action::Split, 102, 3, "R"), false);
        assert!(is_rest(&queued, 105, 3, "R"));
        for (first, end) in [(102, 105), (105, 108), (100, 102)] {
            let taken = queued.take((7, first, end, false), Nanos(5), true);
            assert!(matches!(&taken, Taken::Pieces(one) if one.len() == 1), "{first} to {end}: {taken:?}");
        }
        assert_eq!(queued.instants().count(), 0);
    }

    #[test]
    fn what_was_queued_before_a_hole_ended_is_doubtful() {
        let mut pieces = queued(&[100, 200, 300]);
        pieces.doubt(Nanos(2));
        let doubtful = |start| pieces.clone_of(start).doubtful;
        assert_eq!([100, 200, 300].map(doubtful), [true, false, false]);
    }

    impl Queued {
        fn clone_of(&self, start: u64) -> Piece {
            self.pieces[&(7, start)][0]
        }
    }
}

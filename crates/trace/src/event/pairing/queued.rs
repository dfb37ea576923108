//! Queued pieces, which wait by place until a dispatch or a completion takes them.

mod giving_up;
mod merging;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

use super::active::Active;
use super::tiling::{Near, tiles};
use super::together::Key;
use crate::event::{Event, Marks, Side};
use merging::Merge;

/// What the block layer was asked for in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    end: u64,
    side: Side,
    /// What a split or a dispatch of its beginning left.
    is_rest: bool,
    /// The trace tells that it was split, but not where.
    is_split: bool,
    pub(super) queued: Nanos,
    /// When the latest of its extent was queued.
    pub(super) latest: Nanos,
    pub(super) got: Nanos,
    pub(super) inserted: Nanos,
    pub(super) pid: u32,
    pub(super) marks: Marks,
    /// A hole lies behind it: what takes it may belong to another.
    pub(super) doubtful: bool,
    /// Another of its place was queued since.
    pub(super) superseded: bool,
    /// It was merged with a request that waited.
    merge: Option<Merge>,
}

impl Piece {
    /// What waited as a dispatch does.
    pub(super) fn of(active: &Active, side: Side) -> Self {
        let queued = active.io.request.arrival;
        Self {
            end: active.end,
            side,
            is_rest: false,
            is_split: false,
            queued,
            latest: queued,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            pid: active.io.pid,
            marks: active.marks,
            doubtful: active.doubtful,
            superseded: active.superseded,
            merge: None,
        }
    }

    /// When it was merged with a request that waited.
    pub(super) fn merged_at(&self) -> Option<Nanos> {
        self.merge.map(|merge| merge.at)
    }

    fn new(event: &Event, side: Side, doubtful: bool) -> Self {
        Self {
            end: event.end(),
            side,
            is_rest: false,
            is_split: false,
            queued: event.time,
            latest: event.time,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            pid: event.pid,
            marks: event.marks,
            doubtful,
            superseded: false,
            merge: None,
        }
    }
}

/// What is dispatched: device, sectors from … to before …, and what is done to them.
pub(super) type Extent = (u32, u64, u64, Side);

/// Those that wait, by device and first sector.
#[derive(Debug, Default)]
pub(super) struct Queued {
    pieces: BTreeMap<(u32, u64), Vec<Piece>>,
    /// Sectors of the largest ever: those that begin further before a sector do not reach it.
    longest: u64,
    /// Pieces of dispatches to come: those of the same extent as one dispatched before.
    owed: BTreeMap<Extent, Owed>,
    lost: u64,
    /// Whether pieces may wait that were merged backwards, or forwards.
    merged: [bool; 2],
    /// Lists that are empty, to be filled again.
    spare: Vec<Vec<Piece>>,
}

/// Pieces of one extent.
#[derive(Debug)]
struct Owed {
    pieces: VecDeque<Piece>,
}

/// What was queued of an extent that is dispatched.
#[derive(Debug)]
pub(super) enum Taken {
    Pieces(Vec<Piece>),
    /// What lies there makes up something else.
    Misfit,
}

impl Queued {
    /// A piece begins to wait.
    pub(super) fn push(&mut self, event: &Event, side: Side, doubtful: bool) {
        let piece = Piece::new(event, side, doubtful);
        self.longest = self.longest.max(u64::from(event.sectors()));
        self.pieces.entry((event.device, event.sector)).or_default().push(piece);
    }

    /// One that waited elsewhere waits here, at a device and a sector.
    pub(super) fn push_piece(&mut self, place: (u32, u64), piece: Piece) {
        self.longest = self.longest.max(piece.end - place.1);
        self.pieces.entry(place).or_default().push(piece);
    }

    /// The piece that holds the event's first sector, of several the nearest, and of those the last.
    pub(super) fn at(&mut self, event: &Event) -> Option<&mut Piece> {
        let reach = (event.device, event.sector.saturating_sub(self.longest))..=(event.device, event.sector);
        let mut pieces = self.pieces.range_mut(reach).rev().flat_map(|(_, pieces)| pieces.iter_mut().rev());
        pieces.find(|piece| event.sector < piece.end)
    }

    /// How many of one direction begin where the event does.
    pub(super) fn alike(&self, event: &Event, side: Side) -> u64 {
        self.instants_at((event.device, event.sector, side)).count() as u64
    }

    /// Another is queued that begins there: how many are superseded by it, and were not before.
    pub(super) fn supersede_alike(&mut self, event: &Event, side: Side) -> u64 {
        let pieces = self.pieces.get_mut(&(event.device, event.sector)).into_iter().flatten();
        let owed = self.owed.get_mut(&(event.device, event.sector, event.end(), side));
        let owed = owed.into_iter().flat_map(|owed| &mut owed.pieces);
        let all = pieces.filter(|piece| piece.side == side).chain(owed);
        all.map(|piece| u64::from(!std::mem::replace(&mut piece.superseded, true))).sum()
    }

    /// How many that are superseded wait since `since` or later.
    pub(super) fn young(&self, since: Nanos) -> u64 {
        let owed = self.owed.values().flat_map(|owed| &owed.pieces);
        let all = self.pieces.values().flatten().chain(owed);
        all.filter(|piece| piece.superseded && piece.queued >= since).count() as u64
    }

    /// Whether the event tells again of the rest of a piece that was split, or of which the beginning was dispatched.
    pub(super) fn is_rest(&self, event: &Event, side: Side) -> bool {
        let pieces = self.pieces.get(&(event.device, event.sector)).into_iter().flatten();
        pieces.into_iter().any(|piece| piece.is_rest && piece.side == side && piece.end == event.end())
    }

    /// The piece that begins where the event does is split. Newer kernels tell of the first part, older ones of all of it, and
    /// text of no end.
    pub(super) fn split(&mut self, event: &Event, side: Side) {
        let end = event.end();
        let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) else { return };
        let longer = |piece: &Piece| piece.side == side && piece.end > end && end > event.sector;
        let Some(last) = pieces.iter().rposition(longer) else {
            pieces.iter_mut().filter(|piece| piece.side == side).for_each(|piece| piece.is_split = true);
            return;
        };
        let rest = Piece { is_rest: true, ..pieces[last] };
        pieces[last].end = end;
        self.pieces.entry((event.device, end)).or_default().push(rest);
    }

    /// Takes the pieces that make up what is dispatched. If none do: all that have a part in it, or with `strict` none.
    /// Of one that reaches beyond on either side, the rest stays; with `strict`, it must be known to be split. Of several of the
    /// extent those queued before `since` lost their dispatch.
    pub(super) fn take(&mut self, extent: Extent, since: Nanos, strict: bool) -> Taken {
        let (_, first, end, _) = extent;
        if !strict && let Some(pieces) = self.take_merged(extent, since) {
            return Taken::Pieces(pieces);
        }
        // What waits for too long lost its dispatch, if others make up this one without it.
        let mut waiting_since = since;
        let mut near = self.near(extent, strict, since);
        let mut own = tiles(&near, first, end);
        if own.is_none() && since > Nanos::ZERO {
            waiting_since = Nanos::ZERO;
            near = self.near(extent, strict, waiting_since);
            own = tiles(&near, first, end);
        } else if since > Nanos::ZERO {
            self.drop_older(extent, since);
        }
        if !self.owed.is_empty() {
            if own.is_none() && !self.owed.contains_key(&extent) && self.reclaim(extent) {
                waiting_since = Nanos::ZERO;
                near = self.near(extent, strict, waiting_since);
                own = tiles(&near, first, end);
            }
            if let Some(owed) = self.settle(extent, since, own.is_some()) {
                return Taken::Pieces(vec![owed]);
            }
        }
        let alike = near.iter().filter(|piece| (piece.start, piece.end) == (first, end)).count();
        let chosen = match own {
            Some(chosen) => chosen,
            None if strict && !near.is_empty() => {
                self.doubt_within(extent, &near);
                return Taken::Misfit;
            }
            None => near,
        };
        let taken = self.remove(extent, &chosen, waiting_since);
        let [one] = taken[..] else { return Taken::Pieces(taken) };
        if alike <= 1 {
            return Taken::Pieces(taken);
        }
        self.owe(extent, one);
        Taken::Pieces(self.settle(extent, since, false).into_iter().collect())
    }

    /// Takes the only piece that begins where a dispatch does, if it is just that, and none is owed: nothing fits better.
    #[inline]
    pub(super) fn take_alone(&mut self, (device, first, end, side): Extent) -> Option<Piece> {
        if !self.owed.is_empty() {
            return None;
        }
        let Entry::Occupied(mut found) = self.pieces.entry((device, first)) else { return None };
        let [piece] = found.get()[..] else { return None };
        if piece.end != end || piece.side != side {
            return None;
        }
        found.get_mut().clear();
        self.spare.push(found.remove());
        Some(piece)
    }

    /// Queues a piece where none waits: whether that is so.
    #[inline]
    pub(super) fn push_alone(&mut self, event: &Event, side: Side) -> bool {
        if !self.owed.is_empty() {
            return false;
        }
        let Entry::Vacant(place) = self.pieces.entry((event.device, event.sector)) else { return false };
        let mut pieces = self.spare.pop().unwrap_or_default();
        pieces.push(Piece::new(event, side, false));
        place.insert(pieces);
        self.longest = self.longest.max(u64::from(event.sectors()));
        true
    }

    /// The pieces that have a part in an extent and were queued since `since`, in order of place and of queueing.
    fn near(&self, (device, first, end, side): Extent, strict: bool, since: Nanos) -> Vec<Near> {
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
            let is_alike = piece.side == side && piece.queued >= since;
            is_alike && near.end > first && (is_whole || piece.is_split || !strict)
        };
        all.filter(has_part).map(|(near, _)| near).collect()
    }

    /// Whether any have a part in an extent.
    pub(super) fn lie_about(&self, extent: Extent) -> bool {
        !self.near(extent, false, Nanos::ZERO).is_empty()
    }

    /// What is chosen of an extent, of what was queued since `since`; what reaches beyond it waits on.
    fn remove(&mut self, extent: Extent, chosen: &[Near], since: Nanos) -> Vec<Piece> {
        let (device, first, end, side) = extent;
        let mut taken = Vec::with_capacity(chosen.len());
        let mut rest = None;
        for near in chosen {
            let Some(pieces) = self.pieces.get_mut(&(device, near.start)) else { continue };
            let at = pieces
                .iter()
                .position(|piece| piece.side == side && piece.end == near.end && piece.queued >= since);
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

    /// The first of an extent and the others like it wait for dispatches of their own.
    fn owe(&mut self, extent: Extent, first: Piece) {
        let (device, start, end, side) = extent;
        let owed = self.owed.entry(extent).or_insert_with(|| Owed { pieces: VecDeque::new() });
        owed.pieces.push_back(first);
        let Some(pieces) = self.pieces.get_mut(&(device, start)) else { return };
        owed.pieces.extend(pieces.extract_if(.., |piece| piece.side == side && piece.end == end));
        if pieces.is_empty() {
            self.pieces.remove(&(device, start));
        }
    }

    /// Of those that are owed within an extent, the first of each waits again, as it may have been merged with others meanwhile:
    /// whether there are any.
    fn reclaim(&mut self, (device, first, end, side): Extent) -> bool {
        let within = self.owed.range_mut((device, first, 0, Side::Read)..(device, end, 0, Side::Read));
        let within = within.filter(|((_, _, until, is_of), _)| *until <= end && *is_of == side);
        let found: Vec<_> = within.filter_map(|(key, owed)| Some((*key, owed.pieces.pop_front()?))).collect();
        for (key, piece) in &found {
            self.pieces.entry((device, key.1)).or_default().push(*piece);
        }
        self.owed.retain(|_, owed| !owed.pieces.is_empty());
        !found.is_empty()
    }

    /// All that is owed within an extent waits again.
    fn reclaim_all(&mut self, (device, first, end, side): Extent) {
        let range = (device, first, 0, Side::Read)..(device, end, 0, Side::Read);
        let within = self.owed.range(range).map(|(key, _)| *key);
        let within: Vec<_> = within.filter(|key| key.2 <= end && key.3 == side).collect();
        for key in within {
            let Some(owed) = self.owed.remove(&key) else { continue };
            let pieces = self.pieces.entry((device, key.1)).or_default();
            pieces.extend(owed.pieces);
            pieces.sort_by_key(|piece| piece.queued);
        }
    }

    /// Of what is owed to dispatches of an extent, what was queued first since `since`; and the last, if none was and nothing
    /// else makes up the extent.
    fn settle(&mut self, extent: Extent, since: Nanos, has_own: bool) -> Option<Piece> {
        let owed = self.owed.get_mut(&extent)?;
        let (device, start, end, side) = extent;
        let later = self.pieces.get(&(device, start)).into_iter().flatten();
        let later = later.filter(|piece| (piece.end, piece.side) == (end, side));
        let latest = later.chain(&owed.pieces).map(|piece| piece.queued).max()?;
        while owed
            .pieces
            .front()
            .is_some_and(|piece| piece.queued < since && (has_own || piece.queued < latest))
        {
            owed.pieces.pop_front();
            self.lost += 1;
        }
        let piece = owed.pieces.pop_front();
        if owed.pieces.is_empty() {
            self.owed.remove(&extent);
        }
        piece.map(|piece| Piece { latest, ..piece })
    }

    /// How many were given up since this was asked last, as they waited for too long.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Events are missing: who is owed what is not known.
    pub(super) fn forget_owed(&mut self) -> u64 {
        let owed = std::mem::take(&mut self.owed);
        owed.into_values().map(|owed| owed.pieces.len() as u64).sum()
    }

    /// A hole ended then: what was queued before is doubtful.
    pub(super) fn doubt(&mut self, ended: Nanos) {
        let pieces = self.pieces.values_mut().flatten().filter(|piece| piece.queued < ended);
        pieces.for_each(|piece| piece.doubtful = true);
    }

    /// When the pieces of one place and direction began to wait.
    pub(super) fn instants_at(&self, (device, sector, side): Key) -> impl Iterator<Item = Nanos> {
        let pieces = self.pieces.get(&(device, sector)).into_iter().flatten();
        pieces.filter(move |piece| piece.side == side).map(|piece| piece.queued)
    }

    /// When each began to wait.
    pub(super) fn instants(&self) -> impl Iterator<Item = Nanos> {
        let owed = self.owed.values().flat_map(|owed| &owed.pieces);
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
            owed.pieces.retain(&mut waits_on);
            !owed.pieces.is_empty()
        });
        self.merged = self.merged_still();
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
            queued.push(&event(at, Action::Queue, start, 8, "R"), Side::Read, false);
        }
        queued
    }

    const EXTENT: Extent = (7, 100, 108, Side::Read);

    /// When the pieces of a dispatch were queued, if those queued before `since` lost theirs.
    fn taken(queued: &mut Queued, since: u64) -> Vec<u64> {
        match queued.take(EXTENT, Nanos(since), false) {
            Taken::Pieces(pieces) => pieces.iter().map(|piece| piece.queued.0).collect(),
            Taken::Misfit => panic!("nothing fits"),
        }
    }

    #[test]
    fn each_of_several_of_one_extent_has_a_dispatch_of_its_own() {
        let mut three = queued(&[100, 100, 96, 100]);
        assert_eq!([0, 0, 0].map(|since| taken(&mut three, since)), [[1], [2], [4]]);
        assert_eq!(three.sweep(Nanos::MAX), 1, "the one that reaches in is another's");
        // Those that come meanwhile wait for their turn.
        let mut late = queued(&[100, 100]);
        assert_eq!(taken(&mut late, 0), [1]);
        for at in [15, 16] {
            late.push(&event(at, Action::Queue, 100, 8, "R"), Side::Read, false);
        }
        assert_eq!(late.instants().count(), 3);
        assert_eq!([0, 0, 0].map(|since| taken(&mut late, since)), [[2], [15], [16]]);
        assert_eq!(late.instants().count(), 0);
    }

    #[test]
    fn of_several_of_one_extent_one_may_be_merged_with_others() {
        let mut two = queued(&[100, 100, 108]);
        assert_eq!(taken(&mut two, 0), [1]);
        let Taken::Pieces(merged) = two.take((7, 100, 116, Side::Read), Nanos(0), false) else {
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
        assert_eq!(taken(&mut one_lost, 0), [1]);
        one_lost.push(&event(1000, Action::Queue, 100, 2, "R"), Side::Read, false);
        one_lost.push(&event(1001, Action::Queue, 102, 6, "R"), Side::Read, false);
        let mut parts = taken(&mut one_lost, 900);
        parts.sort_unstable();
        assert_eq!(parts, [1000, 1001]);
    }

    #[test]
    fn a_dispatch_that_is_missing_makes_no_other_wait() {
        let mut one_lost = queued(&[100, 100]);
        assert_eq!(taken(&mut one_lost, 0), [1]);
        for now in [1000, 2000] {
            one_lost.push(&event(now, Action::Queue, 100, 8, "R"), Side::Read, false);
            assert_eq!(taken(&mut one_lost, now - 100), [now]);
        }
        assert_eq!(one_lost.take_lost(), 1);
        assert!(taken(&mut one_lost, 2900).is_empty());
        let mut swept = queued(&[100, 100]);
        taken(&mut swept, 0);
        assert_eq!((swept.sweep(Nanos(2)), swept.sweep(Nanos(3)), swept.owed.len()), (0, 1, 0));
    }

    /// The first of those that wait is known to be lost where another was queued since, and only there.
    #[test]
    fn of_several_of_one_extent_those_too_old_are_given_up() {
        let mut three = queued(&[100, 100, 100]);
        assert_eq!([taken(&mut three, 2), taken(&mut three, 9)], [[2], [3]]);
        assert_eq!((three.take_lost(), three.take_lost(), three.owed.len()), (1, 0, 0));
    }

    #[test]
    fn each_is_superseded_once_and_knows_the_latest_of_its_place() {
        let mut all = queued(&[100, 100]);
        let again = event(3, Action::Queue, 100, 8, "R");
        assert_eq!(
            [Side::Read, Side::Write, Side::Read].map(|side| all.supersede_alike(&again, side)),
            [2, 0, 0]
        );
        all.push(&again, Side::Read, false);
        let Taken::Pieces(first) = all.take(EXTENT, Nanos(0), false) else { panic!("nothing") };
        assert_eq!((first[0].queued, first[0].latest, first[0].superseded), (Nanos(1), Nanos(3), true));
        // Those that are owed are superseded, too.
        assert_eq!(all.supersede_alike(&event(4, Action::Queue, 100, 8, "R"), Side::Read), 1);
        assert_eq!((all.young(Nanos(2)), all.young(Nanos(3)), all.young(Nanos(4))), (2, 1, 0));
    }

    #[test]
    fn the_rest_of_a_piece_is_told_of_once() {
        let mut queued = queued(&[96]);
        assert!(matches!(queued.take((7, 96, 100, Side::Read), Nanos(0), false), Taken::Pieces(_)));
        let rest = |side, sectors| queued.is_rest(&event(4, Action::Queue, 100, sectors, "R"), side);
        assert_eq!([rest(Side::Read, 4), rest(Side::Write, 4), rest(Side::Read, 8)], [true, false, false]);
    }

    /// An older kernel queues what is left while the first part waits, and splits that again.
    #[test]
    fn the_rest_of_a_piece_that_waits_is_told_of_once() {
        let mut queued = queued(&[100]);
        let is_rest = |queued: &Queued, start, sectors, op| {
            let event = event(4, Action::Queue, start, sectors, op);
            queued.is_rest(&event, event.marks.side())
        };
        queued.split(&event(2, Action::Split, 100, 8, "R"), Side::Read);
        queued.split(&event(2, Action::Split, 100, 0, "R"), Side::Read);
        assert!(queued.clone_of(100).is_split && !is_rest(&queued, 102, 6, "R"), "nobody knows where");
        queued.split(&event(2, Action::Split, 100, 2, "R"), Side::Read);
        assert!(is_rest(&queued, 102, 6, "R"));
        for (start, sectors, op) in [(102, 6, "W"), (102, 4, "R"), (104, 4, "R"), (100, 2, "R")] {
            assert!(!is_rest(&queued, start, sectors, op), "{start} + {sectors} {op}");
        }
        queued.split(&event(3, Action::Split, 102, 3, "R"), Side::Read);
        assert!(is_rest(&queued, 105, 3, "R"));
        for (first, end) in [(102, 105), (105, 108), (100, 102)] {
            let taken = queued.take((7, first, end, Side::Read), Nanos(0), true);
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

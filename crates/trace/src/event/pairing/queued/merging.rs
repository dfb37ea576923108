//! Requests that pieces were merged with while several of their place waited: whose the pieces are.
//!
//! A merge goes to a request that waits then, and ends (or begins) where the piece begins (or ends). Which of several it was, the trace
//! does not tell; but requests of one place are dispatched in the order in which they were queued, and the size of a dispatch is that
//! of what was queued and merged. So a dispatch is the oldest request that can have grown to its size without leaving a merge behind
//! that nobody else can have taken.

use std::collections::BTreeMap;

use headstack_units::Nanos;

use super::{Extent, Piece, Queued};
use crate::event::{Action, Event, Side};

/// More requests than so many are not tried for one dispatch.
const MOST: usize = 64;

/// When a piece was merged with a request, and with which end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) at: Nanos,
    is_front: bool,
}

/// A piece where it waits: which of those that begin at `start` it is.
#[derive(Clone, Copy, Debug)]
struct Found {
    start: u64,
    index: usize,
    piece: Piece,
}

impl Found {
    /// When it was queued, or merged.
    fn arrived(&self) -> Nanos {
        self.piece.merge.map_or(self.piece.queued, |merge| merge.at)
    }

    /// At which sector a merge at that side of a request begins, and at which it ends.
    fn ends(&self, is_front: bool) -> (u64, u64) {
        if is_front { (self.piece.end, self.start) } else { (self.start, self.piece.end) }
    }

    fn is(&self, other: &Self) -> bool {
        (self.start, self.index) == (other.start, other.index)
    }

    /// Whether a dispatch may have begun as this.
    fn may_begin(&self, first: u64, end: u64) -> bool {
        self.piece.merge.is_none() && self.start >= first && self.piece.end <= end
    }
}

impl Queued {
    /// A piece that was queued last is merged with a request; one that has a request of its own already goes last.
    pub(in super::super) fn merge(&mut self, event: &Event, side: Side) {
        let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) else { return };
        let is_it = |piece: &Piece| piece.merge.is_none() && (piece.end, piece.side) == (event.end(), side);
        let has_none = |piece: &Piece| is_it(piece) && piece.got == Nanos::MAX;
        let is_own = |piece: &Piece| has_none(piece) && piece.pid == event.pid;
        let found = pieces.iter().rposition(is_own).or_else(|| pieces.iter().rposition(has_none));
        let Some(index) = found.or_else(|| pieces.iter().rposition(is_it)) else { return };
        let is_front = event.action == Action::FrontMerge;
        pieces[index].merge = Some(Merge { at: event.time, is_front });
        self.merged[usize::from(is_front)] = true;
    }

    /// Whether pieces wait that were merged backwards, or forwards.
    pub(super) fn merged_still(&self) -> [bool; 2] {
        let owed = self.owed.values().flat_map(|owed| &owed.pieces);
        let all = self.pieces.values().flatten().chain(owed);
        all.filter_map(|piece| piece.merge).fold([false; 2], |mut still, merge| {
            still[usize::from(merge.is_front)] = true;
            still
        })
    }

    /// Takes what makes up a dispatch where pieces merged with it, or with others of its place, wait: the oldest request that may have
    /// grown to its size. Requests queued before `since` lost their dispatch if another may be it. `None` where nothing is merged, only
    /// one can be it, or nothing fits.
    pub(super) fn take_merged(&mut self, extent: Extent, since: Nanos) -> Option<Vec<Piece>> {
        if self.merged == [false, false] || !self.are_several(extent) {
            return None;
        }
        self.reclaim_all(extent);
        let (device, first, end, side) = extent;
        let near = self.about(extent);
        let mut begun: Vec<&Found> = near.iter().filter(|found| found.may_begin(first, end)).collect();
        begun.sort_by_key(|found| (found.piece.queued < since, found.piece.queued));
        let grown = |begun: &&Found| {
            let mut chain = grow(&near, begun, end, false)?;
            chain.extend(grow(&near, begun, first, true)?);
            Some((**begun, chain))
        };
        let (own, mut chain) = begun.iter().take(MOST).find_map(grown)?;
        let alike = begun.iter().filter(|found| (found.start, found.piece.end) == (own.start, own.piece.end));
        let latest = alike.map(|found| found.piece.queued).max().unwrap_or(own.piece.queued);
        chain.push(Found { piece: Piece { latest, ..own.piece }, ..own });
        let pieces = self.remove_found(device, &chain);
        if own.piece.queued >= since {
            self.drop_older((device, own.start, own.piece.end, side), since);
        }
        Some(pieces)
    }

    /// Whether a dispatch may be of several requests, or several pieces may have been merged with it. (If all begin elsewhere, and one of
    /// them alone has a request of its own, there is nothing to choose.)
    fn are_several(&self, (device, first, end, _): Extent) -> bool {
        let mut begun = 0;
        for pieces in self.pieces.range((device, first)..(device, end)).map(|(_, pieces)| pieces) {
            begun += pieces.iter().filter(|piece| piece.merge.is_none()).count();
            if pieces.len() > 1 || begun > 1 {
                return true;
            }
        }
        !self.owed.is_empty()
            && self.owed.range((device, first, 0, Side::Read)..(device, end, 0, Side::Read)).next().is_some()
    }

    /// The pieces of one direction that have a part in an extent or lie next to it, in the order in which they were queued or merged.
    fn about(&self, (device, first, end, side): Extent) -> Vec<Found> {
        let range = self.pieces.range((device, first.saturating_sub(self.longest))..=(device, end));
        let all = range.flat_map(|(&(_, start), pieces)| {
            pieces.iter().enumerate().map(move |(index, &piece)| Found { start, index, piece })
        });
        let mut near: Vec<_> =
            all.filter(|found| found.piece.end >= first && found.piece.side == side).collect();
        near.sort_by_key(|found| (found.arrived(), found.piece.merge.is_some()));
        near
    }

    /// Takes these out, in their order.
    fn remove_found(&mut self, device: u32, chain: &[Found]) -> Vec<Piece> {
        let mut places: Vec<(u64, usize)> = chain.iter().map(|found| (found.start, found.index)).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        for (start, index) in places {
            let Some(pieces) = self.pieces.get_mut(&(device, start)) else { continue };
            pieces.remove(index);
            if pieces.is_empty() {
                self.pieces.remove(&(device, start));
            }
        }
        chain.iter().map(|found| found.piece).collect()
    }
}

/// Requests that end (or begin) at a sector, at some time.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    count: u32,
    /// The last of the merges by which a request may have come there, if it may be one of these.
    way: Option<usize>,
}

/// The merges by which a request may have grown to end (or begin) at `goal`, the earliest that may be, of pieces in order of time. Of
/// requests that end at one sector any may be merged with, and so each may be any of them, until none is left there.
fn grow(near: &[Found], begun: &Found, goal: u64, is_front: bool) -> Option<Vec<Found>> {
    let mut levels: BTreeMap<u64, Level> = BTreeMap::new();
    // Each merge with the one before it; first that the request was queued.
    let mut ways: Vec<(Option<&Found>, usize)> = vec![(None, 0)];
    for found in near {
        let (from, to) = found.ends(is_front);
        let mut way = None;
        match found.piece.merge {
            None => way = found.is(begun).then_some(0),
            Some(merge) if merge.is_front == is_front => {
                let level = levels.entry(from).or_default();
                if let Some(before) = level.way {
                    way = Some(ways.len());
                    ways.push((Some(found), before));
                }
                level.count = level.count.saturating_sub(1);
                level.way = level.way.filter(|_| level.count > 0);
            }
            Some(_) => continue,
        }
        let level = levels.entry(to).or_default();
        level.count += 1;
        level.way = level.way.or(way);
    }
    let mut chain = Vec::new();
    let mut way = levels.get(&goal)?.way?;
    while let (Some(found), before) = ways[way] {
        chain.push(*found);
        way = before;
    }
    Some(chain)
}

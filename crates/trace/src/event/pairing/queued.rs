//! Queued pieces, which wait by place until a dispatch or a completion takes them.

use std::collections::BTreeMap;

use headstack_units::Nanos;

use crate::event::{Event, Marks};

/// What the block layer was asked for in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    end: u64,
    write: bool,
    pub(super) queued: Nanos,
    pub(super) got: Nanos,
    pub(super) inserted: Nanos,
    pub(super) pid: u32,
    pub(super) marks: Marks,
    /// A hole lies behind it: what takes it may belong to another.
    pub(super) doubtful: bool,
}

/// Those that wait, by device and first sector.
#[derive(Debug, Default)]
pub(super) struct Queued {
    pieces: BTreeMap<(u32, u64), Vec<Piece>>,
    /// Sectors of the largest ever: those that begin further before a sector do not reach it.
    longest: u64,
    /// Dispatches to come by place and direction: an earlier one took their piece with its own, which lay in the same place.
    owed: BTreeMap<(u32, u64, bool), u64>,
}

impl Queued {
    /// A piece begins to wait.
    pub(super) fn push(&mut self, event: &Event, write: bool) {
        let piece = Piece {
            end: event.end(),
            write,
            queued: event.time,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            pid: event.pid,
            marks: event.marks,
            doubtful: false,
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

    /// How many of one direction begin where the event does; they are given up if `drops`.
    pub(super) fn supersede(&mut self, event: &Event, write: bool, drops: bool) -> u64 {
        let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) else { return 0 };
        let before = pieces.iter().filter(|piece| piece.write == write).count() as u64;
        if drops {
            pieces.retain(|piece| piece.write != write);
        }
        before
    }

    /// Takes the pieces of one direction in [`first`, `end`); of one that reaches beyond on either side, the rest stays.
    pub(super) fn take(&mut self, device: u32, first: u64, end: u64, write: bool) -> Vec<Piece> {
        let mut taken: Vec<Piece> = Vec::new();
        let mut rest = None;
        // One that begins before may reach in: it was split.
        let reach = (device, first.saturating_sub(self.longest))..(device, end);
        let keys: Vec<u64> = self.pieces.range(reach).map(|(&(_, start), _)| start).collect();
        for start in keys {
            let Some(pieces) = self.pieces.get_mut(&(device, start)) else { continue };
            let before = taken.len();
            pieces.retain_mut(|piece| {
                if piece.write != write || piece.end <= first {
                    return true;
                }
                taken.push(*piece);
                if piece.end > end {
                    rest = Some(*piece);
                }
                piece.end = first;
                start < first
            });
            if pieces.is_empty() {
                self.pieces.remove(&(device, start));
            }
            if start == first && taken.len() > before + 1 {
                *self.owed.entry((device, first, write)).or_default() += (taken.len() - before - 1) as u64;
            }
        }
        if let Some(rest) = rest {
            self.pieces.entry((device, end)).or_default().push(rest);
        }
        taken
    }

    /// Whether an earlier dispatch took the piece of this one.
    pub(super) fn settle(&mut self, key: (u32, u64, bool)) -> bool {
        let owed = self.owed.get_mut(&key).filter(|owed| **owed > 0);
        owed.map(|owed| *owed -= 1).is_some()
    }

    /// Dispatches that have not come by now will not.
    pub(super) fn forget_owed(&mut self) {
        self.owed.clear();
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
        self.pieces.values().flatten().map(|piece| piece.queued)
    }

    /// Gives up what began to wait before `horizon`: how many.
    pub(super) fn sweep(&mut self, horizon: Nanos) -> u64 {
        let mut given_up = 0;
        self.pieces.retain(|_, pieces| {
            let before = pieces.len();
            pieces.retain(|piece| piece.queued >= horizon);
            given_up += (before - pieces.len()) as u64;
            !pieces.is_empty()
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
            queued.push(&event(at, Action::Queue, start, 8, "R"), false);
        }
        queued
    }

    const KEY: (u32, u64, bool) = (7, 100, false);

    #[test]
    fn what_is_taken_with_another_of_its_place_is_dispatched_once_more() {
        let mut three = queued(&[100, 100, 100]);
        assert_eq!(three.take(7, 100, 108, false).len(), 3);
        assert!(!three.settle((7, 100, true)), "of the other direction");
        assert_eq!([(); 3].map(|()| three.settle(KEY)), [true, true, false]);
        // One that reaches in begins elsewhere, and counts for nothing.
        let mut beside = queued(&[96, 100, 100]);
        assert_eq!(beside.take(7, 100, 108, false).len(), 3);
        assert_eq!([(); 2].map(|()| beside.settle(KEY)), [true, false]);
        let mut before = queued(&[96, 96]);
        assert_eq!(before.take(7, 100, 108, false).len(), 2);
        assert!(!before.settle(KEY));
        let mut alone = queued(&[96, 100]);
        assert_eq!(alone.take(7, 100, 108, false).len(), 2);
        assert!(!alone.settle(KEY));
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

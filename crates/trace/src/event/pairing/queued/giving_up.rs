//! Pieces that lost their dispatch, or may have.

use headstack_units::Nanos;

use super::{Extent, Piece, Queued};
use crate::event::pairing::tiling::Near;
use crate::event::pairing::together::Key;
use crate::event::{Event, Side};

/// What was given up of one place.
pub(in super::super) struct Dropped {
    pub(in super::super) all: u64,
    /// Of them those known to be superseded.
    pub(in super::super) superseded: u64,
}

impl Queued {
    /// Gives up those that begin where the event does.
    pub(in super::super) fn drop_alike(&mut self, event: &Event, side: Side) -> Dropped {
        let mut dropped = Dropped { all: 0, superseded: 0 };
        if let Some(pieces) = self.pieces.get_mut(&(event.device, event.sector)) {
            pieces.retain(|piece| {
                dropped.all += u64::from(piece.side == side);
                dropped.superseded += u64::from(piece.side == side && piece.superseded);
                piece.side != side
            });
        }
        dropped
    }

    /// Gives up those that have a part in what is asked for, and were queued before `since`: how many.
    pub(in super::super) fn give_up_about(&mut self, event: &Event, since: Nanos) -> u64 {
        let reach = (event.device, event.sector.saturating_sub(self.longest))..(event.device, event.end());
        let (mut given_up, mut empty) = (0, Vec::new());
        for (place, pieces) in self.pieces.range_mut(reach) {
            let before = pieces.len();
            pieces.retain(|piece| piece.queued >= since || piece.end <= event.sector);
            given_up += (before - pieces.len()) as u64;
            empty.extend(pieces.is_empty().then_some(*place));
        }
        for place in empty {
            self.pieces.remove(&place);
        }
        given_up
    }

    /// Gives up what was queued there and then: how many.
    pub(in super::super) fn give_up_begun(&mut self, (device, sector, side): Key, begun: Nanos) -> u64 {
        let is_it = |piece: &Piece| piece.queued == begun && piece.side == side;
        if let Some(pieces) = self.pieces.get_mut(&(device, sector))
            && let Some(at) = pieces.iter().position(is_it)
        {
            pieces.remove(at);
            if pieces.is_empty() {
                self.pieces.remove(&(device, sector));
            }
            return 1;
        }
        let range = (device, sector, 0, Side::Read)..=(device, sector, u64::MAX, Side::Discard);
        for (_, owed) in self.owed.range_mut(range) {
            if let Some(at) = owed.pieces.iter().position(is_it) {
                owed.pieces.remove(at);
                self.owed.retain(|_, owed| !owed.pieces.is_empty());
                return 1;
            }
        }
        0
    }

    /// Gives up those of an extent that were queued before `since`.
    pub(super) fn drop_older(&mut self, (device, first, end, side): Extent, since: Nanos) {
        let Some(pieces) = self.pieces.get_mut(&(device, first)) else { return };
        let before = pieces.len();
        pieces.retain(|piece| piece.queued >= since || (piece.end, piece.side) != (end, side));
        self.lost += (before - pieces.len()) as u64;
        if pieces.is_empty() {
            self.pieces.remove(&(device, first));
        }
    }

    /// What of these lies in an extent was grown to it and dispatched, or another is: it is not known to wait.
    pub(super) fn doubt_within(&mut self, (device, first, end, side): Extent, near: &[Near]) {
        for Near { start, .. } in near.iter().filter(|near| near.start >= first) {
            let pieces = self.pieces.get_mut(&(device, *start)).into_iter().flatten();
            let within = pieces.filter(|piece| piece.side == side && piece.end <= end);
            within.for_each(|piece| piece.doubtful = true);
        }
    }
}

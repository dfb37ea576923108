//! Of several pieces that were queued at one sector, the one that a step belongs to.
//!
//! A process that queues a piece gets the structure for it, or merges it, before it does anything else: such a step is of the piece
//! queued last that had none yet, and of the same process if there is one. What waits is inserted in its order. A dispatch and a
//! completion are of the request that pairing gives them, and of others as they were queued.

use headstack_units::Nanos;

use super::Piece;
use crate::event::{Action, Event};

/// The piece of those that a place `holds` for which a structure is allocated, or that is inserted or merged.
#[inline]
pub(super) fn waiting<'a>(
    pieces: &'a mut [Piece],
    event: &Event,
    holds: impl Fn(&Piece) -> bool,
) -> Option<&'a mut Piece> {
    if pieces.len() == 1 {
        return pieces.first_mut().filter(|piece| holds(piece));
    }
    let fits = |piece: &Piece| {
        let is_alike = (piece.side == event.marks.side(), piece.pid == event.pid, piece.end == event.end());
        let has_structure = piece.got != Nanos::MAX;
        let is_due = match event.action {
            Action::Insert => has_structure && piece.inserted == Nanos::MAX && piece.dispatched == Nanos::MAX,
            _ => !has_structure && piece.merged == Nanos::MAX,
        };
        (is_due, is_alike)
    };
    let held = pieces.iter_mut().filter(|piece| holds(piece));
    if event.action == Action::Insert {
        held.rev().max_by_key(|piece| fits(piece))
    } else {
        held.max_by_key(|piece| fits(piece))
    }
}

/// The place among pieces of one that is dispatched, or completed if it `was_dispatched`, with a request that arrived then, or at zero
/// if that is not known.
#[inline]
pub(super) fn ending(pieces: &[Piece], event: &Event, arrival: Nanos, was_dispatched: bool) -> Option<usize> {
    if let [one] = pieces {
        return (one.end <= event.end()).then_some(0);
    }
    let fits = |piece: &Piece| {
        let is_due = (piece.dispatched != Nanos::MAX) == was_dispatched;
        let is_alike = (piece.side == event.marks.side(), piece.end == event.end());
        (piece.queued == arrival, is_due, is_alike, piece.queued >= arrival)
    };
    let within = pieces.iter().enumerate().rev().filter(|(_, piece)| piece.end <= event.end());
    within.max_by_key(|(_, piece)| fits(piece)).map(|(at, _)| at)
}

//! What a dispatch or a completion finds queued.

use headstack_units::Nanos;

use super::queued::{Piece, Taken};
use super::{Pairing, PairingRule};
use crate::event::Side;

/// What waits so many times as long as all but one in a thousand has lost its dispatch, if what is dispatched can be another.
const STALE: u64 = 4;

/// What a dispatch or a completion found queued.
pub(super) enum Claim {
    /// The earliest piece, and how many others.
    Pieces(Piece, u32),
    /// Only pieces that may belong to another.
    Doubtful,
    Nothing,
}

impl Pairing {
    /// Takes the queued pieces of one direction in [`first`, `end`). Those that wait for too long are given up, and in a
    /// trace with losses those that are doubtful.
    pub(super) fn claim(&mut self, device: u32, first: u64, end: u64, side: Side) -> Claim {
        if self.lossy {
            self.counts.orphan_queued += self.queued.forget_owed();
        }
        if let Some(piece) = self.queued.take_alone((device, first, end, side)) {
            self.take_notice(&piece);
            if self.is_believed(&piece) {
                return Claim::Pieces(piece, 0);
            }
            self.counts.orphan_queued += 1;
            return Claim::Doubtful;
        }
        let since = if self.lossy { self.lost_before() } else { self.queued_since() };
        let mut taken = match self.queued.take((device, first, end, side), since, self.lossy) {
            Taken::Pieces(taken) => taken,
            Taken::Misfit => return Claim::Doubtful,
        };
        for piece in &taken {
            self.take_notice(piece);
        }
        self.counts.orphan_queued += self.queued.take_lost();
        let before = taken.len();
        if self.lossy {
            leave_merged_before(&mut taken);
        }
        taken.retain(|piece| self.is_believed(piece));
        self.counts.orphan_queued += (before - taken.len()) as u64;
        match taken.iter().min_by_key(|piece| piece.queued) {
            Some(&earliest) => Claim::Pieces(earliest, taken.len() as u32 - 1),
            None if before > 0 => Claim::Doubtful,
            None => Claim::Nothing,
        }
    }

    /// A piece is dispatched.
    pub(super) fn take_notice(&mut self, piece: &Piece) {
        self.losses.waits.record(self.now.saturating_sub(piece.latest));
        self.losses.waits.returned(u64::from(piece.superseded));
    }

    /// Of several that may be dispatched those that were queued before lost their dispatch; with btt's rule none did.
    pub(super) fn queued_since(&self) -> Nanos {
        match (self.rule, self.losses.waits.usual()) {
            (PairingRule::Strict, Some(usual)) if !self.balanced => {
                self.now.saturating_sub(Nanos(usual.0.saturating_mul(STALE)))
            }
            _ => Nanos::ZERO,
        }
    }

    /// Whether a piece belongs to what takes it now.
    pub(super) fn is_believed(&self, piece: &Piece) -> bool {
        let waited = self.now.saturating_sub(piece.queued);
        piece.queued >= self.lost_before()
            && !piece.doubtful
            && !(self.lossy && (waited > self.losses.waits.limit() || self.is_far(piece.queued)))
    }
}

/// Leaves out what was merged before any request of these was queued, believed or not: its own was dispatched before, and that is not in
/// the trace. (What was merged and is dispatched without a request says nothing of losses: there are drivers that do so.)
fn leave_merged_before(taken: &mut Vec<Piece>) {
    let own = taken.iter().filter(|piece| piece.merged_at().is_none()).map(|piece| piece.queued).min();
    if let Some(own) = own {
        taken.retain(|piece| piece.merged_at().is_none_or(|at| at >= own));
    }
}

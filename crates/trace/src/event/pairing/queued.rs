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
}

/// Those that wait, by device and first sector.
#[derive(Debug, Default)]
pub(super) struct Queued(BTreeMap<(u32, u64), Vec<Piece>>);

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
        };
        self.0.entry((event.device, event.sector)).or_default().push(piece);
    }

    /// The piece that holds the event's first sector, of several the last.
    pub(super) fn at(&mut self, event: &Event) -> Option<&mut Piece> {
        let (&(device, _), pieces) = self.0.range_mut(..=(event.device, event.sector)).next_back()?;
        if device != event.device {
            return None;
        }
        pieces.iter_mut().rev().find(|piece| event.sector < piece.end)
    }

    /// How many of one direction begin where the event does; they are given up if `drops`.
    pub(super) fn supersede(&mut self, event: &Event, write: bool, drops: bool) -> u64 {
        let Some(pieces) = self.0.get_mut(&(event.device, event.sector)) else { return 0 };
        let before = pieces.iter().filter(|piece| piece.write == write).count() as u64;
        if drops {
            pieces.retain(|piece| piece.write != write);
        }
        before
    }

    /// Takes the pieces of one direction in [`first`, `end`); of one that reaches beyond, the rest stays.
    pub(super) fn take(&mut self, device: u32, first: u64, end: u64, write: bool) -> Vec<Piece> {
        let mut taken: Vec<Piece> = Vec::new();
        let mut rest = None;
        // One that begins before may reach in: the second part of a split.
        let before = self.0.range_mut((device, 0)..(device, first)).next_back();
        let mut keys: Vec<u64> = Vec::new();
        if let Some((&(_, start), pieces)) = before
            && pieces.iter().any(|piece| piece.write == write && piece.end > first)
        {
            keys.push(start);
        }
        keys.extend(self.0.range((device, first)..(device, end)).map(|(&(_, start), _)| start));
        for start in keys {
            let Some(pieces) = self.0.get_mut(&(device, start)) else { continue };
            pieces.retain(|piece| {
                if piece.write != write || piece.end <= first {
                    return true;
                }
                taken.push(*piece);
                if piece.end > end {
                    rest = Some(*piece);
                }
                false
            });
            if pieces.is_empty() {
                self.0.remove(&(device, start));
            }
        }
        if let Some(rest) = rest {
            self.0.entry((device, end)).or_default().push(rest);
        }
        taken
    }

    /// When each began to wait.
    pub(super) fn instants(&self) -> impl Iterator<Item = Nanos> {
        self.0.values().flatten().map(|piece| piece.queued)
    }

    /// Gives up what began to wait before `horizon`: how many.
    pub(super) fn sweep(&mut self, horizon: Nanos) -> u64 {
        let mut given_up = 0;
        self.0.retain(|_, pieces| {
            let before = pieces.len();
            pieces.retain(|piece| piece.queued >= horizon);
            given_up += (before - pieces.len()) as u64;
            !pieces.is_empty()
        });
        given_up
    }
}

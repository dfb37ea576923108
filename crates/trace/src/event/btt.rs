//! Times between layers, as btt counts them: for each *queued* piece (blktrace `Q`), not for each dispatched request.
//!
//! | row | from | to |
//! | --- | --- | --- |
//! | Q2Q | one queueing | the next |
//! | Q2G | queued | a request structure allocated |
//! | G2I | allocated | inserted into the scheduler |
//! | Q2M | queued | merged into a waiting request |
//! | I2D | inserted | dispatched |
//! | M2D | merged | dispatched |
//! | D2C | dispatched | completed |
//! | Q2C | queued | completed |
//!
//! A `G`, `I` or `M` belongs to the piece that holds its first sector; a `D` or `C` to all pieces that lie within it. So a
//! piece that was split is allocated several times, and dispatched never: it counts in Q2G and not in D2C. A flush has no
//! data and no part in the table (seen with btt 2.09 of blktrace 1.2.0: its `Q` is missing even from Q2Q).
//!
//! Where several pieces begin at one sector each step belongs to one of them ([`own`]). btt knows one only, the latest: what was queued
//! there before is in no later row, and what waits takes the steps of the others (seen with the same). With [`PairingRule::Btt`] so do we.
//!
//! Of devices that dispatch nothing, and lack halves, Q2C holds the responses of requests ([`undispatched`]).

mod own;
mod undispatched;

use std::collections::BTreeMap;

use headstack_units::Nanos;

use super::pairing::{Belief, PairingRule};
use super::{Action, Event, Side};
use crate::Io;
use undispatched::Devices;
pub(crate) use undispatched::Lacks;

/// One row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// How many.
    pub count: u64,
    /// Their sum, ns.
    pub sum_ns: u128,
    /// The smallest.
    pub min: Nanos,
    /// The largest.
    pub max: Nanos,
}

impl Row {
    fn record(&mut self, from: Nanos, to: Nanos) {
        let value = to.saturating_sub(from);
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum_ns += u128::from(value.0);
    }

    /// Both together.
    fn and(self, other: Self) -> Self {
        match (self.count, other.count) {
            (0, _) => other,
            (_, 0) => self,
            _ => Self {
                count: self.count + other.count,
                sum_ns: self.sum_ns + other.sum_ns,
                min: self.min.min(other.min),
                max: self.max.max(other.max),
            },
        }
    }

    /// Mean in seconds; `None` without values.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }
}

/// The names of the rows, in their order.
pub const ROWS: [&str; 8] = ["Q2Q", "Q2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C"];

/// What was queued in one place.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    pid: u32,
    side: Side,
    /// Its times are asked for.
    is_chosen: bool,
    queued: Nanos,
    got: Nanos,
    inserted: Nanos,
    merged: Nanos,
    dispatched: Nanos,
}

/// Collects the table from a stream of events.
#[derive(Clone, Debug, Default)]
pub struct Btt {
    pieces: BTreeMap<(u32, u64), Vec<Piece>>,
    last: Option<Nanos>,
    /// Q2C of what was dispatched; the rest is known by device.
    rows: [Row; 8],
    devices: Devices,
    /// Lists that are empty, to be filled again.
    spare: Vec<Vec<Piece>>,
    rule: PairingRule,
}

impl Btt {
    /// A table by `rule`.
    pub(crate) fn new(rule: PairingRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// Takes the next event; what it queues is in the table if that `is_chosen`. Those without data (flushes) have no part in it. Of a
    /// place that is queued again, dispatched or completed, pieces that are not believed have none, either: their events were lost.
    pub(crate) fn push(&mut self, event: &Event, belief: Belief, is_chosen: bool) {
        if event.bytes == 0 {
            return;
        }
        if belief.since > Nanos::ZERO {
            self.give_up(event, belief.since);
        }
        match event.action {
            Action::Queue => self.queue(event, is_chosen),
            Action::GetRequest | Action::Insert | Action::BackMerge | Action::FrontMerge => self.step(event),
            Action::Issue => self.issue(event, belief.arrival),
            Action::Complete => self.complete(event, belief.arrival),
            _ => {}
        }
    }

    fn give_up(&mut self, event: &Event, before: Nanos) {
        let last = match event.action {
            Action::Queue => event.sector,
            Action::Issue | Action::Complete => event.end(),
            _ => return,
        };
        let range = (event.device, event.sector)..=(event.device, last);
        // Another that is at the device stays there when one is dispatched.
        let is_inside = |piece: &Piece| event.action == Action::Issue && piece.dispatched != Nanos::MAX;
        let mut emptied = Vec::new();
        for (key, pieces) in self.pieces.range_mut(range) {
            pieces.retain(|piece| piece.queued >= before || piece.end > event.end() || is_inside(piece));
            if pieces.is_empty() {
                emptied.push(*key);
            }
        }
        for key in emptied {
            self.pieces.remove(&key);
        }
    }

    fn queue(&mut self, event: &Event, is_chosen: bool) {
        if is_chosen {
            if let Some(last) = self.last.replace(event.time) {
                self.rows[0].record(last, event.time);
            }
            self.devices.of(event).queued += 1;
        }
        let piece = Piece {
            end: event.end(),
            pid: event.pid,
            side: event.marks.side(),
            is_chosen,
            queued: event.time,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            merged: Nanos::MAX,
            dispatched: Nanos::MAX,
        };
        let spare = &mut self.spare;
        let place = self.pieces.entry((event.device, event.sector));
        let pieces = place.or_insert_with(|| spare.pop().unwrap_or_default());
        if self.rule == PairingRule::Btt {
            pieces.clear();
        }
        pieces.push(piece);
    }

    /// What waits gets a request structure, is inserted or merged: the piece that holds the first sector, the last to begin at or
    /// before it.
    fn step(&mut self, event: &Event) {
        let before = self.pieces.range_mut(..=(event.device, event.sector)).next_back();
        let Some((&(device, start), pieces)) = before else { return };
        let holds = |piece: &Piece| start == event.sector || event.sector < piece.end;
        if device != event.device {
            return;
        }
        let Some(piece) = own::waiting(pieces, event, holds) else { return };
        let (row, from, stamp) = match event.action {
            Action::GetRequest => (1, piece.queued, &mut piece.got),
            Action::Insert => (2, piece.got, &mut piece.inserted),
            _ => (3, piece.queued, &mut piece.merged),
        };
        *stamp = event.time;
        if piece.is_chosen && from != Nanos::MAX {
            self.rows[row].record(from, event.time);
        }
    }

    fn issue(&mut self, event: &Event, arrival: Nanos) {
        self.devices.of(event).dispatches = true;
        let range = (event.device, event.sector)..=(event.device, event.end());
        for pieces in self.pieces.range_mut(range).map(|(_, pieces)| pieces) {
            let Some(at) = own::ending(pieces, event, arrival, false) else { continue };
            let piece = &mut pieces[at];
            piece.dispatched = event.time;
            if piece.is_chosen && piece.inserted != Nanos::MAX {
                self.rows[4].record(piece.inserted, event.time);
            } else if piece.is_chosen && piece.merged != Nanos::MAX {
                self.rows[5].record(piece.merged, event.time);
            }
            if piece.end == event.end() && self.rule == PairingRule::Strict {
                break;
            }
        }
    }

    fn complete(&mut self, event: &Event, arrival: Nanos) {
        let range = (event.device, event.sector)..=(event.device, event.end());
        let mut emptied = Vec::new();
        let device = self.devices.of(event);
        device.completed += 1;
        for (key, pieces) in self.pieces.range_mut(range) {
            let Some(at) = own::ending(pieces, event, arrival, true) else { continue };
            let piece = pieces.remove(at);
            emptied.extend(pieces.is_empty().then_some(*key));
            if piece.is_chosen && piece.dispatched == Nanos::MAX {
                device.pieces.record(piece.queued, event.time);
            } else if piece.is_chosen {
                self.rows[7].record(piece.queued, event.time);
                self.rows[6].record(piece.dispatched, event.time);
            }
            if piece.end == event.end() && self.rule == PairingRule::Strict {
                break;
            }
        }
        for key in emptied {
            self.spare.extend(self.pieces.remove(&key));
        }
    }

    /// Takes requests that were paired.
    pub(crate) fn answer(&mut self, ios: &[Io]) {
        for io in ios {
            self.devices.answer(io);
        }
    }

    /// The table so far, of a trace that lacks so much.
    pub(crate) fn table(&self, lacks: Lacks) -> Self {
        let mut rows = self.rows;
        rows[7] = rows[7].and(self.devices.row(lacks));
        Self { rows, ..Self::default() }
    }

    /// The rows, by name.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Row)> {
        ROWS.into_iter().zip(self.rows)
    }

    /// The shares of Q2C that Q2G, G2I, Q2M, I2D and D2C take, in percent; `None` where nothing was both queued and
    /// completed.
    pub fn overhead_percent(&self) -> Option<[(&'static str, f64); 5]> {
        let whole = self.rows[7].sum_ns;
        (whole > 0).then(|| {
            [1, 2, 3, 4, 6].map(|row| (ROWS[row], 100.0 * self.rows[row].sum_ns as f64 / whole as f64))
        })
    }
}

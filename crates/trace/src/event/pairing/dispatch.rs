//! Dispatches, and what the device gives back.

use headstack_units::Lba;

use super::Pairing;
use super::active::{Active, undoubted};
use super::claim::Claim;
use super::together::Key;
use crate::event::{Event, Marks};
use crate::{Io, Kind, Request, RequestFlags};

impl Pairing {
    pub(super) fn issue(&mut self, event: &Event) {
        if self.dispatches_nothing(event.device) {
            self.wait_as_pieces(event.device, 0..u64::MAX, None);
        }
        self.dispatching.insert(event.device);
        let side = event.marks.side();
        let key = (event.device, event.sector, side);
        if let Some(mut active) = self.take_requeued(key, event) {
            active.io.request.start = event.time.max(active.io.request.arrival);
            self.believe(active.believed_arrival());
            self.begin(key, active);
            return;
        }
        let (kind, sectors) = (event.marks.kind(event.bytes), event.sectors());
        let mut io = Io::new(Request {
            device: event.device,
            start: event.time,
            ..Request::new(event.time, event.marks.op(), Lba(event.sector), sectors)
        });
        io.kind = kind;
        io.pid = event.pid;
        let (mut marks, mut joined) = (event.marks, false);
        if event.bytes == 0 {
            self.losses.flushes.begin();
            self.supersede_flushes(event.device);
            let asked = self.queued_flushes.remove(&event.device);
            if let Some((queued, pid)) = asked {
                io.request.arrival = queued.min(event.time);
                io.pid = pid;
            }
            // One that nobody queued belongs to a write, which is marked itself.
            if kind == Kind::Flush && (asked.is_some() || !self.queueing.contains(event.device)) {
                io.request.flags = RequestFlags::FLUSH;
            }
        } else {
            self.look_for_unended(key);
            match self.claim(event.device, event.sector, event.end(), side) {
                Claim::Pieces(piece, merges) => {
                    io.request.arrival = piece.queued.min(event.time);
                    (io.got, io.inserted, io.pid, io.merges) = (piece.got, piece.inserted, piece.pid, merges);
                    marks = marks.with(piece.marks);
                }
                claim => io.response_known = !self.misses_queueing(event, &claim),
            }
            self.losses.services.begin();
            joined = self.active.contains_key(&key);
            if joined {
                self.join(key);
            }
        }
        io.sync = marks.has(Marks::SYNC);
        if kind == Kind::Data {
            io.request.flags = marks.request_flags();
        }
        let active = Active { marks, joined, ..Active::new(io, event, self.completions) };
        self.believe(active.believed_arrival());
        self.begin(key, active);
    }

    /// What was given back and is dispatched again: of its size, or grown, if nothing else is queued there. Where events are missing,
    /// one that would be older than any is another's.
    pub(super) fn take_requeued(&mut self, key: Key, event: &Event) -> Option<Active> {
        let active = self.requeued.get(&key)?;
        let longest = self.losses.waits.limit().saturating_add(self.losses.services.limit());
        let is_stale = self.lossy && self.now.saturating_sub(active.io.request.arrival) > longest;
        let is_it = active.end == event.end() || self.queued.alike(event, key.2) == 0;
        if is_it && !is_stale { self.requeued.remove(&key) } else { None }
    }

    /// Whether the queueing of a dispatch, which has none that is believed, is missing.
    pub(super) fn misses_queueing(&mut self, event: &Event, claim: &Claim) -> bool {
        if self.is_unclear(event) {
            return true;
        }
        if !self.queueing.contains(event.device) {
            return false;
        }
        self.losses.waits.unbegun();
        self.losses.unqueued += 1;
        if matches!(claim, Claim::Doubtful) {
            return true;
        }
        if event.has_place() {
            self.lost_queueing();
        }
        // Of what was queued before the trace begins, too, nobody knows for how long it waited.
        self.lossy || event.has_place() && event.time <= self.queued_before
    }

    /// Whether several of its place waited at once, and nobody knows which of them was dispatched.
    pub(super) fn is_unclear(&self, event: &Event) -> bool {
        let key = (event.device, event.sector, event.marks.side());
        self.unclear.get(&key).is_some_and(|until| *until >= event.time)
    }

    /// The same for flushes, of which a device has one at a time.
    pub(super) fn supersede_flushes(&mut self, device: u32) {
        let Some(list) = self.flushing.get_mut(&device) else { return };
        self.losses.flushes.supersede(list.len() as u64);
        if self.lossy {
            self.counts.orphan_dispatches += undoubted(list.iter());
            list.clear();
        }
    }

    pub(super) fn begin(&mut self, key: Key, active: Active) {
        if active.io.request.sectors == 0 {
            self.flushing.entry(key.0).or_default().push_back(active);
        } else {
            let spare = &mut self.spare;
            self.active.entry(key).or_insert_with(|| spare.pop().unwrap_or_default()).push(active);
        }
    }

    pub(super) fn requeue(&mut self, event: &Event) {
        self.counts.requeues += 1;
        let key = (event.device, event.sector, event.marks.side());
        let Some(list) = self.active.get_mut(&key) else { return };
        let whole = list.iter().rposition(|active| active.end == event.end());
        let active = list.remove(whole.unwrap_or(list.len() - 1));
        if self.requeued.insert(key, active).is_some() {
            self.counts.orphan_dispatches += 1;
        }
        if self.active.get(&key).is_some_and(Vec::is_empty) {
            self.active.remove(&key);
        }
    }
}

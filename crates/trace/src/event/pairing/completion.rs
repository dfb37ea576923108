//! Completions, and whose they are.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::btree_map::Entry;

use headstack_units::{Lba, Nanos};

use super::active::Active;
use super::claim::Claim;
use super::queued::Piece;
use super::together::{Key, LIVES};
use super::{Pairing, PairingRule};
use crate::event::{Event, Marks, Side};
use crate::{Io, Kind, Request, RequestFlags};

impl Pairing {
    pub(super) fn complete(&mut self, event: &Event) {
        if event.bytes == 0 {
            return self.complete_flush(event);
        }
        let side = event.marks.side();
        let key = (event.device, event.sector, side);
        self.completions += 1;
        let (since, usual) = (self.alive_since(), self.usual_since(LIVES));
        let in_order = self.rule == PairingRule::Strict && self.losses.overlaps.are_seen();
        if self.dispatches_nothing(event.device) && !self.waits_whole(key, event.end()) {
            // What does not make it up lost its own completion, and this its queueing.
            if !self.balanced && !self.make_up(key, event.end()) {
                return self.complete_piece(event, side);
            }
            self.wait_as_pieces(event.device, event.sector..event.end(), Some(side));
        }
        let Entry::Occupied(mut place) = self.active.entry(key) else {
            return self.complete_piece(event, side);
        };
        let list = place.get_mut();
        let last = &list[list.len() - 1];
        self.losses.overlaps.complete(last.passed && last.io.request.start >= usual);
        let is_whole = |active: &Active| active.end == event.end();
        let latest = list.iter().rposition(is_whole).unwrap_or(list.len() - 1);
        let latest_age = list[latest].age(event.time);
        // Where nothing was lost the slowest has all the time that it takes, if it was young when the next one came.
        let lossy = self.lossy;
        let may_be_there = |active: &Active| {
            if lossy { !active.ended && active.io.request.start >= since } else { !active.stale }
        };
        let is_next = |active: &Active| in_order && is_whole(active) && may_be_there(active);
        let first = list[..latest].iter().position(is_next);
        let mut active = list.remove(first.unwrap_or(latest));
        match list.last_mut() {
            Some(last) => last.passed = true,
            None => self.spare.push(place.remove()),
        }
        if active.ended {
            return self.lost_begin();
        }
        if self.is_overtaken(&active) {
            self.losses.overtaken += 1;
            if !active.doubtful {
                self.counts.orphan(&active);
            }
            return self.lost_begin();
        }
        if active.superseded && self.losses.overlaps.are_to_be_expected() {
            self.losses.services.returned(1);
        }
        if event.end() < active.end {
            self.counts.partial_completions += 1;
            self.believe(active.believed_arrival());
            active.next = event.end();
            self.active.entry((event.device, active.next, side)).or_default().push(active);
            return;
        }
        let age = active.age(event.time);
        self.losses.services.record(latest_age);
        if active.was_alone() {
            self.losses.services.record_sure(age);
            self.losses.most_meanwhile = self.losses.most_meanwhile.max(self.completions - active.behind);
        }
        if self.gives_up(&active) {
            return self.believe(None);
        }
        let begun = active.io.request.start;
        if self.lossy
            && (event.end() > active.end
                || age > self.losses.services.limit()
                || self.is_far(begun)
                || self.only_alone && !active.was_alone())
        {
            self.counts.doubtful += 1;
            self.doubt_together(key);
            return self.believe(None);
        }
        let is_alone = self.together.is_empty() || !self.together.contains_key(&key);
        self.believe(active.believed_arrival().filter(|_| is_alone));
        let mut io = if active.is_dispatched { active.io } else { self.end_undispatched(&active, event) };
        if self.longest.is_some_and(|longest| event.time.saturating_sub(io.request.arrival) > longest) {
            (io.request.arrival, io.response_known) = (begun, false);
            (io.got, io.inserted) = (Nanos::MAX, Nanos::MAX);
        }
        self.end(io, event.time);
        if !is_alone {
            self.ended_together(key, self.ios.last());
        }
    }

    /// Whether something is at the device there that ends where a completion does.
    fn waits_whole(&self, key: Key, end: u64) -> bool {
        self.active.get(&key).is_some_and(|list| list.iter().any(|active| active.end == end))
    }

    /// Whether what completes a dispatch is not its own: a hole lies between them, or more than [`LOST_AFTER`].
    pub(super) fn gives_up(&mut self, active: &Active) -> bool {
        let lost = active.io.request.start < self.lost_before();
        if lost && !active.doubtful {
            self.counts.orphan(active);
            self.counts.orphan_completions += 1;
        }
        lost || active.doubtful
    }

    pub(super) fn complete_flush(&mut self, event: &Event) {
        let flush = self.flushing.get_mut(&event.device).and_then(VecDeque::pop_front);
        if let Some(active) = flush {
            *self.last_flush.entry(event.device).or_default() += 1;
            let age = active.age(event.time);
            self.losses.flushes.record(age);
            if self.gives_up(&active) {
                return;
            }
            if self.lossy && age > self.losses.flushes.limit() {
                self.counts.doubtful += 1;
                return;
            }
            self.counts.flushes += u64::from(active.marks.has(Marks::FLUSH));
            return self.end(active.io, event.time);
        }
        if let Some(ended) = self.last_flush.get_mut(&event.device).filter(|ended| **ended > 0) {
            *ended -= 1;
            self.counts.double_flush_completions += 1;
        } else {
            self.counts.orphan_completions += 1;
            self.losses.flushes.unbegun();
        }
    }

    /// A completion without a dispatch.
    pub(super) fn complete_piece(&mut self, event: &Event, side: Side) {
        let lost = self.dispatching.contains(event.device);
        if lost {
            self.losses.services.unbegun();
            self.look_for_unended((event.device, event.sector, side));
        }
        let claim = self.claim(event.device, event.sector, event.end(), side);
        let Claim::Pieces(piece, merges) = claim else {
            self.counts.orphan_completions += 1;
            let nothing = self.dispatches_nothing(event.device);
            if nothing {
                self.undispatched.alone += 1;
                self.losses.services.unbegun();
            }
            if (lost || nothing) && event.has_place() && matches!(claim, Claim::Nothing) {
                self.lost_dispatch();
            }
            if self.lossy || matches!(claim, Claim::Doubtful) {
                self.believe(None);
            }
            return;
        };
        if self.lossy && lost {
            self.counts.doubtful += 1;
            self.doubted_alone += 1;
            return self.believe(None);
        }
        if self.lasted_too_long(&piece, event) {
            self.counts.doubtful += 1;
            return self.believe(None);
        }
        self.believe(Some(piece.queued));
        if lost && self.losses.lack_a_dispatch() {
            self.lost_dispatch();
        }
        if !lost {
            self.undispatched.completed(event.device);
        }
        self.counts.undispatched += 1;
        let marks = event.marks.with(piece.marks);
        let request = Request {
            device: event.device,
            flags: marks.request_flags(),
            ..Request::new(piece.queued.min(event.time), marks.op(), Lba(event.sector), event.sectors())
        };
        let (got, inserted, pid) = (piece.got, piece.inserted, piece.pid);
        let (kind, sync) = (marks.kind(event.bytes), marks.has(Marks::SYNC));
        self.end(Io { kind, got, inserted, pid, merges, sync, ..Io::new(request) }, event.time);
    }

    /// Whether what is completed on a device that dispatches nothing was queued for longer than is believed, where events are missing.
    fn lasted_too_long(&mut self, piece: &Piece, event: &Event) -> bool {
        if !self.dispatches_nothing(event.device) {
            return false;
        }
        let age = event.time.saturating_sub(piece.queued);
        self.losses.services.record(age);
        self.lossy && (age > self.losses.services.limit() || self.is_far(piece.queued))
    }

    pub(super) fn end(&mut self, mut io: Io, time: Nanos) {
        let begun = io.request.start.present().unwrap_or(io.request.arrival);
        io.request.finish = time.max(begun);
        if !io.response_known {
            io.request.flags = io.request.flags.with(RequestFlags::ARRIVAL_UNKNOWN);
        }
        self.counts.pairs += 1;
        self.counts.without_queueing += u64::from(!io.response_known);
        self.counts.discards += u64::from(io.kind == Kind::Discard);
        let arrival = io.request.arrival;
        self.done.push(Reverse((arrival, self.ios.push(io))));
    }
}

//! What is asked of the block layer, and waits for its dispatch.

use headstack_units::Nanos;

use super::Pairing;
use crate::event::{Event, Side};

impl Pairing {
    pub(super) fn queue(&mut self, event: &Event) {
        self.queueing.insert(event.device);
        if event.bytes == 0 {
            return self.queue_flush(event);
        }
        let side = event.marks.side();
        let key = (event.device, event.sector, side);
        self.look_for_unended(key);
        if self.dispatches_nothing(event.device) {
            if !self.queued.is_rest(event, side) {
                self.begin_undispatched(event, side);
            }
            return;
        }
        if !self.lossy && self.queued.push_alone(event, side) {
            return self.losses.waits.begin();
        }
        if self.queued.is_rest(event, side) {
            return;
        }
        if self.lossy {
            self.supersede_early(key);
            self.believe(None);
        }
        self.losses.waits.begin();
        let doubtful = self.supersede_queued(event, side);
        self.queued.push(event, side, doubtful);
    }

    pub(super) fn queue_flush(&mut self, event: &Event) {
        let held = self.queued_flushes.entry(event.device).or_insert((event.time, event.pid));
        if self.lossy && held.0 != event.time {
            *held = (event.time, event.pid);
            self.counts.orphan_queued += 1;
        }
    }

    /// A place is asked for again: what is queued there may have lost its dispatch. Whether the new piece may be taken for it:
    /// both may wait.
    pub(super) fn supersede_queued(&mut self, event: &Event, side: Side) -> bool {
        let key = (event.device, event.sector, side);
        if !self.lossy {
            self.losses.waits.supersede(self.queued.supersede_alike(event, side));
            return false;
        }
        let usual = self.losses.waits.usual().unwrap_or_default();
        let limit = self.losses.waits.limit().max(Nanos(usual.0.saturating_mul(2)));
        let latest = self.queued.instants_at(key).max();
        let dropped = self.queued.drop_alike(event, side);
        self.counts.orphan_queued += dropped.all;
        let was_unclear = self.unclear.get(&key).is_some_and(|until| *until >= event.time);
        let is_unclear = was_unclear || latest.is_some_and(|latest| self.now.saturating_sub(latest) <= limit);
        if is_unclear {
            self.losses.waits.returned(dropped.superseded);
            self.unclear.insert(key, Nanos(event.time.0.saturating_add(limit.0)));
        } else {
            self.losses.waits.supersede(dropped.all - dropped.superseded);
            self.unclear.remove(&key);
        }
        is_unclear
    }
}

//! What lost its end with the processor that would have told it.
//!
//! Where processors serve their own requests, one that tells nothing more leaves what it had begun open for ever. What ends later at
//! that place is another's ([`crate::event::own_steps`] finds what it is).

use headstack_units::Nanos;

use super::Pairing;
use super::together::Key;

/// Something that lost its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostEnd {
    /// The processor that began it, and when that told its last event.
    pub(crate) cpu: u16,
    pub(crate) at: Nanos,
    pub(crate) key: Key,
    /// When it was queued, or dispatched if it is at the device.
    pub(crate) begun: Nanos,
    pub(crate) is_inside: bool,
}

impl Pairing {
    /// Gives up what lost its end before the event taken last.
    #[cold]
    pub(super) fn give_up_ended(&mut self) {
        while let Some(lost) = self.lost_ends.pop_if(|lost| lost.at < self.now) {
            if !self.give_up_inside(lost) && !lost.is_inside {
                self.counts.orphan_queued += self.queued.give_up_begun(lost.key, lost.begun);
            }
        }
    }

    /// Gives up what is at the device: whether it is there. If its own end was taken for that of another of its place, that other one is
    /// left in its stead.
    fn give_up_inside(&mut self, LostEnd { key, begun, is_inside, .. }: LostEnd) -> bool {
        let Some(list) = self.active.get_mut(&key) else { return false };
        let own = list.iter().position(|active| active.io.request.start == begun);
        let other = || list.iter().position(|active| is_inside && active.io.request.start > begun);
        let Some(at) = own.or_else(other) else { return false };
        let active = list.remove(at);
        if list.is_empty() {
            self.active.remove(&key);
        }
        if !active.doubtful {
            self.counts.orphan(&active);
        }
        self.doubt_together(key);
        true
    }
}

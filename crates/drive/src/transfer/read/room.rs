//! Read-ahead behind a read whose data have not all been sent: a segment keeps them until each has left.

use super::plan::Plan;
use crate::command::BusTiming;
use crate::mechanism::{Media, Pass};
use crate::transfer::Parts;
use headstack_units::{Nanos, Op};

/// Sectors of a read that go over the bus in one transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The first byte can go.
    pub(super) begin: Nanos,
    /// The first sector, counted from the command's first, and one after the last.
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Plan {
    /// Read-ahead waits for the room of sectors that leave in this transfer.
    pub(super) fn keep_unsent(
        &self,
        media: &Media<'_>,
        passes: &[Pass],
        parts: &mut Parts,
        sent: Sent,
        bus: &BusTiming,
    ) {
        let lba = self.command.lba.0;
        if !parts.buffer.may_need_room_of(lba + sent.from) {
            return;
        }
        let bytes = u64::from(media.model.sector_bytes());
        let mut left = sent.begin;
        for index in sent.from..sent.to {
            left = left.max(self.came(media, passes, index)) + bus.transfer(Op::Read, bytes);
            let is_last = index + 1 == self.sectors();
            let told = if is_last { media.model.overhead.read_completion } else { Nanos::ZERO };
            if parts.buffer.keep_unsent(media, lba + index, left + told) {
                return;
            }
        }
    }

    /// When sector `index` of the command came into the buffer.
    fn came(&self, media: &Media<'_>, passes: &[Pass], index: u64) -> Nanos {
        let of = |pass: &&Pass| self.share(pass).is_some_and(|(first, last)| first <= index && index <= last);
        passes.iter().find(of).map_or(Nanos::ZERO, |pass| self.arrival(media, pass, index))
    }
}

//! Data that continued an early write and went to the media with it: drives that write them again do so behind it.
//!
//! As long as further data continue the write they go first. When that is over is known when another command comes: what
//! the drive did in the meantime is worked out then.

use super::Parts;
use super::path::busy_of;
use super::read::passes_in_order;
use crate::buffer::Passes;
use crate::command::{Background, Work};
use crate::mechanism::{Arm, Media};
use headstack_units::{Lba, Nanos, Op};

/// Appended data that wait for it go to the media again, one write after the other.
#[cold]
pub(super) fn write_again(media: &Media<'_>, parts: &mut Parts) {
    for (start, end) in parts.buffer.early.take_again() {
        let (begin, arm) = (parts.mechanism.free_at(), parts.mechanism.arm());
        let target = media.extent(start, end - start);
        let seek = media.seek(arm, &target, Op::Write);
        let mut passes = Passes::new();
        passes_in_order(media, media.first_pass(begin, begin, seek, target), end, Op::Write, &mut passes);
        let last = *passes.last().expect("a write has sectors");
        parts.mechanism.release(Work::EarlyWrite, begin, last.end, Arm::over(&last.extent));
        parts.buffer.early.add(start, end, last.end);
        parts.log.add(Background {
            work: Work::EarlyWrite,
            lba: Lba(start),
            sectors: (end - start) as u32,
            start: begin,
            finish: last.end,
            busy: busy_of(&passes, Nanos::ZERO),
        });
    }
}

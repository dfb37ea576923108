//! The media work of a read (and of anything else that takes sectors in order): which passes there are.

use crate::buffer::Passes;
use crate::layout::Extent;
use crate::mechanism::{Arm, Media, Pass};
use headstack_units::Op;

/// The media work up to address `end` in the order of addresses, the first pass being given; for a write, one whose data
/// are all in the buffer.
#[inline]
pub(crate) fn passes_in_order(media: &Media<'_>, first: Pass, end: u64, op: Op, passes: &mut Passes) {
    let mut pass = first;
    loop {
        passes.push(pass);
        let next = pass.end_lba();
        if next >= end {
            return;
        }
        pass = media.next_pass(pass.end, Arm::over(&pass.extent), next, end - next, op);
    }
}

/// As [`passes_in_order`], of a read, `run` being all that lies one behind the other from the first address on. Returns what
/// follows behind the read on its last track.
#[inline]
pub(super) fn passes_along(
    media: &Media<'_>,
    first: Pass,
    run: Extent,
    end: u64,
    passes: &mut Passes,
) -> Option<Extent> {
    passes_in_order(media, first, end, Op::Read, passes);
    (passes.len() == 1 && run.sectors > first.sectors).then(|| run.behind(first.sectors))
}

/// The media work of a read that takes the sectors of each track as they come ("zero-latency read"). Returns the
/// address from which the first track was read into the buffer.
pub(super) fn passes_on_arrival(media: &Media<'_>, first: Pass, end: u64, passes: &mut Passes) -> u64 {
    let mut pass = first;
    let landed = landing(media, &first);
    loop {
        let extent = pass.extent;
        if let Some(late) = media.landed_inside(&pass) {
            let tail =
                media.pass_from(extent, late, extent.sectors - late, pass.begin, pass.ready, pass.ready);
            let head = media.pass_from(extent, 0, late, tail.end, tail.end, tail.end);
            passes.push(tail);
            pass = head;
        }
        passes.push(pass);
        let next = extent.lba + u64::from(extent.sectors);
        if next >= end {
            return landed;
        }
        pass = media.next_pass(pass.end, Arm::over(&extent), next, end - next, Op::Read);
    }
}

/// The first address that passes under the head on its way to the first extent.
fn landing(media: &Media<'_>, first: &Pass) -> u64 {
    let (track_start, _) = media.model.layout.track_range(first.lba());
    let ahead = media.epoch.angle(first.ready).until(first.extent.start);
    let whole = ahead.0 / first.extent.slot_width.0.max(1);
    first.lba() - whole.min(first.lba() - track_start)
}

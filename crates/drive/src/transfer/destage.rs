//! Buffered writes on their way to the media, when nobody is waiting or room is needed.

use super::Parts;
use super::path::busy_of;
use super::read::passes_in_order;
use super::write::physical_range;
use crate::buffer::Passes;
use crate::command::{Background, Work};
use crate::mechanism::Arm;
use crate::model::DriveModel;
use crate::spec::WritePolicy;
use headstack_units::{Lba, Nanos, Op};

/// What the drive did of its own accord before `until`: buffered writes in idle time.
pub(crate) fn destage_when_idle(model: &DriveModel, parts: &mut Parts, until: Nanos) {
    let WritePolicy::WriteBack { idle_before_destage_ms, .. } = model.spec().write_policy else { return };
    let idle = Nanos::from_ms(idle_before_destage_ms);
    while !parts.buffer.dirty.is_empty() {
        let start = parts.mechanism.free_at().max(parts.history.idle_since() + idle);
        if start >= until {
            return;
        }
        destage_one(model, parts, start);
    }
}

/// All that is buffered goes to the media.
pub(crate) fn drain(model: &DriveModel, parts: &mut Parts) {
    while !parts.buffer.dirty.is_empty() {
        destage_one(model, parts, parts.mechanism.free_at().max(parts.history.idle_since()));
    }
}

/// The buffered run nearest to where the mechanism last worked goes to the media at or after `at`; returns when it is
/// there.
pub(super) fn destage_one(model: &DriveModel, parts: &mut Parts, at: Nanos) -> Nanos {
    let piece = parts.buffer.dirty.piece(parts.history.last_lba());
    piece.map_or(at, |piece| destage(model, parts, piece, at))
}

/// One buffered run goes to the media at or after `at`; returns when it is there.
pub(super) fn destage(model: &DriveModel, parts: &mut Parts, (start, end): (u64, u64), at: Nanos) -> Nanos {
    let media = parts.mechanism.media(model, at);
    let claim = parts.mechanism.claim(&media, &mut parts.buffer, at);
    let (from, stop) = physical_range(&media, start, end);
    let target = model.layout.extent(from, stop - from);
    let mut passes = Passes::new();
    let mut arm = claim.arm;
    let mut begin = claim.at;
    let ops: &[Op] = if (from, stop) == (start, end) { &[Op::Write] } else { &[Op::Read, Op::Write] };
    for &op in ops {
        let seek = media.seek(arm, &target, op);
        let first = media.first_pass(begin, begin, seek, target);
        passes_in_order(&media, first, stop, op, &mut passes);
        let last = passes.last().expect("a run has sectors");
        (begin, arm) = (last.end, Arm::over(&last.extent));
    }
    parts.mechanism.release(Work::Destage, claim.at, begin, arm);
    parts.buffer.dirty.remove(start, end);
    parts.history.note_destage(end);
    parts.log.add(Background {
        work: Work::Destage,
        lba: Lba(start),
        sectors: (end - start) as u32,
        start: claim.at,
        finish: begin,
        busy: busy_of(&passes, Nanos::ZERO),
    });
    begin
}

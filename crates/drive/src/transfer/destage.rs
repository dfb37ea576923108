//! Buffered writes on their way to the media: background work of the drive's own.
//!
//! One piece goes at a time. Nothing happens "while" the drive destages: which pieces have begun by an instant is worked
//! out when somebody asks ([`destage_until`]), from what was in the buffer then. A piece that has begun is finished; a read
//! waits for no other. It is chosen by positioning time from where the arm is, but a run of sectors that has been begun
//! goes on, and what is older than the bound has its
//! turn (one piece in so many: where all are too old, to go by age alone would make them older still). While reads want the arm, what is
//! too old has a share of its time, or a steady stream of writes could take all of it.

use super::Parts;
use super::path::busy_of;
use super::read::passes_in_order;
use super::write::Edges;
use crate::buffer::Passes;
use crate::command::{Background, Work};
use crate::mechanism::{Arm, Claim, Media};
use crate::model::{DriveModel, WriteBack};
use crate::scheduler::{Estimate, Target, overhead, soonest};
use headstack_units::{Lba, Nanos, Op};

/// So many sectors of a run go to the media, at least, each time that the arm leaves a run of waiting reads for them: 4 MiB.
const TURN: u64 = 8192;

/// When the next piece begins, and why.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// There is room to make, or nothing else to do.
    Due(Nanos),
    /// It is too old, and reads want the arm.
    Forced(Nanos),
}

impl Next {
    fn start(self) -> Nanos {
        match self {
            Self::Due(start) | Self::Forced(start) => start,
        }
    }
}

/// Brings background work to `now`: the pieces that begin before it are on their way, and no other will begin before it.
pub(crate) fn destage_until(model: &DriveModel, parts: &mut Parts, now: Nanos) {
    let Some(write_back) = &model.write_back else { return };
    while let Some(next) = next_start(write_back, parts)
        && next.start() < now
    {
        match next {
            Next::Due(start) => _ = destage_one(model, parts, start),
            Next::Forced(start) => force_one(model, parts, start),
        }
    }
    parts.buffer.destaged_to(now);
}

/// When the next piece begins if no command comes.
fn next_start(write_back: &WriteBack, parts: &mut Parts) -> Option<Next> {
    let forced = parts.buffer.dirty.forced_from(write_back.age_limit)?;
    let ready = parts.mechanism.all_free().max(parts.buffer.settled());
    if parts.buffer.dirty.drains(write_back.high, write_back.low) {
        return Some(Next::Due(ready));
    }
    let idle = ready.max(parts.history.quiet_since() + write_back.idle);
    let forced = ready.max(forced);
    Some(if forced < idle { Next::Forced(forced) } else { Next::Due(idle) })
}

/// Whether something is too old at `at`, and may go although reads want the arm.
fn is_forced(write_back: &WriteBack, parts: &mut Parts, at: Nanos) -> bool {
    parts.buffer.dirty.forced_from(write_back.age_limit).is_some_and(|from| from <= at)
}

/// Before a read of a range that needs the arm one piece goes, if none has since the last command that did: where the cache is filled
/// above the high-water mark, and where something is too old that has not had its share of the time. A run of reads is not broken off for the first.
#[inline]
pub(super) fn give_buffer_its_share(model: &DriveModel, parts: &mut Parts, range: (u64, u64), at: Nanos) {
    let Some(write_back) = &model.write_back else { return };
    let drains = parts.buffer.dirty.drains(write_back.high, write_back.low);
    if parts.mechanism.last_work() == Work::Destage {
        return;
    }
    if drains {
        if !parts.history.is_near_last_read(range) {
            destage_one(model, parts, at);
        }
    } else if is_forced(write_back, parts, at) {
        force_one(model, parts, at);
    }
}

/// Before a read that read-ahead would serve: what is too old, and has not had its share of the time, goes first. A stream of reads of
/// which the next always waits leaves the arm free at no instant, and never needs it either.
pub(super) fn give_age_its_share(model: &DriveModel, parts: &mut Parts, at: Nanos) {
    let Some(write_back) = &model.write_back else { return };
    if parts.buffer.reads_ahead_at(at)
        && parts.mechanism.last_work() != Work::Destage
        && is_forced(write_back, parts, at)
    {
        force_one(model, parts, at);
    }
}

/// The same where a scheduler is about to choose at `at` by where the arm is, among them reads that need it: the piece goes first, so
/// that what is chosen is near where it leaves the arm.
pub(crate) fn share_before_choice(
    model: &DriveModel,
    parts: &mut Parts,
    mut reads: impl Iterator<Item = (u64, u64)> + Clone,
    at: Nanos,
) {
    if parts.buffer.dirty.is_empty() {
        return;
    }
    if reads.clone().filter(|&read| parts.history.is_near_last_read(read)).nth(1).is_some() {
        finish_turn(model, parts, at);
    }
    // One that may go on with a run comes first, most likely; another has the piece before it when it is dispatched.
    if reads.clone().any(|(start, end)| !parts.buffer.may_know(start, end))
        && !reads.any(|read| parts.history.is_near_last_read(read))
    {
        let decoded = at + overhead(model, Op::Read, parts.history.after());
        give_buffer_its_share(model, parts, (u64::MAX, u64::MAX), decoded);
    }
}

/// The arm has left a run of reads for buffered writes, for want of room: what follows there goes, too, up to so much, before it goes back.
fn finish_turn(model: &DriveModel, parts: &mut Parts, at: Nanos) {
    let Some(write_back) = &model.write_back else { return };
    while parts.mechanism.last_work() == Work::Destage
        && parts.history.destaged_in_turn() < TURN
        && parts.buffer.dirty.drains(write_back.high, write_back.low)
        && parts.buffer.dirty.piece_at(parts.history.last_destaged()).is_some()
    {
        destage_one(model, parts, at);
    }
}

/// All that is buffered goes to the media.
pub(crate) fn drain(model: &DriveModel, parts: &mut Parts) {
    while !parts.buffer.dirty.is_empty() {
        destage_one(model, parts, parts.buffer.settled());
    }
}

/// When all is on the media that is buffered of `start..end`, from `at` on.
pub(super) fn write_out(model: &DriveModel, parts: &mut Parts, (start, end): (u64, u64), at: Nanos) -> Nanos {
    while let Some(piece) = parts.buffer.dirty.first_overlap(start, end) {
        let claim = claim(model, parts, at);
        destage(model, parts, piece, &claim);
    }
    parts.buffer.destaging.over(start, end, at)
}

/// When the buffer has room for a write of `start..end`, wanted at `at`.
pub(super) fn make_room(
    model: &DriveModel,
    write_back: &WriteBack,
    parts: &mut Parts,
    (start, end): (u64, u64),
    at: Nanos,
) -> Nanos {
    let mut at = at;
    if write_back.delays_overlaps {
        at = write_out(model, parts, (start, end), at);
    }
    while !parts.buffer.takes(write_back, (start, end), at) {
        // What is on its way gives its room back when it is there.
        at = match parts.buffer.destaging.next_after(at) {
            Some(written) => written,
            None => (0..write_back.at_a_time).fold(at, |at, _| destage_one(model, parts, at)),
        };
    }
    at
}

pub(super) fn claim(model: &DriveModel, parts: &mut Parts, at: Nanos) -> Claim {
    // Where several arms work at a time, a piece waits for all of them.
    let at = at.max(parts.mechanism.all_free());
    let media = parts.mechanism.media(model, at);
    parts.mechanism.claim(&media, &mut parts.buffer, at)
}

/// The next piece goes to the media at or after `at`; returns when it is there.
fn destage_one(model: &DriveModel, parts: &mut Parts, at: Nanos) -> Nanos {
    let claim = claim(model, parts, at);
    let piece = next_piece(model, parts, &claim);
    piece.map_or(at, |piece| destage(model, parts, piece, &claim))
}

/// As [`destage_one`], of what is too old while reads want the arm: the time that it takes is made up for.
fn force_one(model: &DriveModel, parts: &mut Parts, at: Nanos) {
    let claim = claim(model, parts, at);
    if let Some(piece) = next_piece(model, parts, &claim) {
        let end = destage(model, parts, piece, &claim);
        parts.buffer.dirty.make_up(claim.at, end);
    }
}

/// Which piece is the next for an arm as claimed.
fn next_piece(model: &DriveModel, parts: &mut Parts, claim: &Claim) -> Option<(u64, u64)> {
    let write_back = model.write_back.as_ref()?;
    if let Some(piece) = parts.buffer.dirty.overdue(write_back.age_limit, claim.at) {
        return Some(piece);
    }
    if claim.after == Work::Destage
        && let Some(piece) = parts.buffer.dirty.piece_at(parts.history.last_destaged())
    {
        return Some(piece);
    }
    let estimates = estimates(model, parts, claim);
    parts.buffer.dirty.soonest(&estimates, write_back.compared)
}

/// For buffered writes, the arms in use, the mechanism being claimed.
fn estimates<'a>(model: &'a DriveModel, parts: &mut Parts, claim: &Claim) -> Vec<Estimate<'a>> {
    parts.mechanism.retire_arms(claim.at);
    let epoch = parts.mechanism.media(model, claim.at).epoch;
    let estimate = Estimate::of_buffered(model, epoch, claim.at, claim.arm);
    parts.mechanism.idle_arms(claim.at).map(|other| estimate.of_arm(&other)).collect()
}

/// Puts the arm to work that gets to a piece from `start` on soonest.
fn take_arm(model: &DriveModel, parts: &mut Parts, start: u64, claim: &Claim) -> Claim {
    if model.arm_angles.len() == 1 {
        return *claim;
    }
    let target = model.layout.extent(start - start % model.sizes.physical, 1);
    let best = soonest(&estimates(model, parts, claim), Op::Write, &Target::at(model, start), 1);
    let arm = parts.mechanism.idle_arms(claim.at).nth(best).map_or(0, |arm| arm.index);
    let media = parts.mechanism.media(model, claim.at);
    parts.mechanism.put_to_work(&media, &mut parts.buffer, claim.at, (arm, Arm::over(&target)));
    Claim { arm: parts.mechanism.arm(), ..*claim }
}

/// The wait for the first sector of a piece is scaled.
fn scale_rotation<'a>(media: &Media<'a>, parts: &mut Parts, edges: &Edges, claim: &Claim) -> Media<'a> {
    let op = if edges.reads().next().is_some() { Op::Read } else { Op::Write };
    let first = edges.first(media);
    let ready = claim.at + media.seek(claim.arm, &first, op);
    parts.mechanism.scale_rotation(media, claim.at, ready, first.start)
}

/// One piece of a buffered run goes to the media; returns when it is there.
fn destage(model: &DriveModel, parts: &mut Parts, (start, end): (u64, u64), claim: &Claim) -> Nanos {
    let claim = take_arm(model, parts, start, claim);
    let mut media = parts.mechanism.media(model, claim.at);
    let edges = Edges::of(&media, start, end);
    if !model.is_plain {
        media = scale_rotation(&media, parts, &edges, &claim);
    }
    let mut passes = Passes::new();
    let (mut begin, mut arm) = (claim.at, claim.arm);
    for (from, stop, op) in edges.reads().map(|(from, stop)| (from, stop, Op::Read)).chain([edges.write()]) {
        let target = media.extent(from, stop - from);
        let seek = media.seek(arm, &target, op);
        let mut first = media.first_pass(begin, begin, seek, target);
        if passes.is_empty() {
            first = parts.mechanism.through_channel(&media, claim.at, first, false);
        }
        passes_in_order(&media, first, stop, op, &mut passes);
        let last = passes.last().expect("a run has sectors");
        (begin, arm) = (last.end, Arm::over(&last.extent));
    }
    parts.mechanism.release(Work::Destage, claim.at, begin, arm);
    parts.mechanism.leave_channel(begin);
    parts.buffer.destage(model, (start, end), begin);
    parts.history.note_destage((start, end), claim.after == Work::Destage);
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

//! What the controller remembers of the commands before: overheads and policies depend on it.

use crate::command::Command;
use headstack_units::{Nanos, Op};

/// Reads that begin so many of their lengths from the end of the last, at most, may belong to one run: no more of it wait in a SATA
/// drive.
const RUN_REACH: u64 = 32;

/// The memory of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// Where the last write ended, if a write came last or before reads.
    write_end: Option<u64>,
    last_was_write: bool,
    /// Where the last read ended.
    read_end: Option<u64>,
    /// Whether the present command continues the last read.
    sequential: bool,
    /// A read from the media has begun a stream, and the drive waits for what continues it.
    streams: bool,
    /// Where the mechanism last worked.
    last_lba: u64,
    /// Where the last destage ended.
    last_destaged: u64,
    destaged_in_turn: u64,
    /// No command since.
    idle_since: Nanos,
    /// No read that needed the arm since, and whether the present command is one.
    quiet_since: Nanos,
    needs_arm: bool,
}

impl History {
    /// The controller turns to a command that begins at `lba`.
    #[inline]
    pub(crate) fn turn_to(&mut self, lba: u64) {
        self.sequential = self.read_end == Some(lba);
    }

    /// The command has been dispatched: those after it see it.
    #[inline]
    pub(crate) fn note(&mut self, command: &Command) {
        let end = command.lba.0 + u64::from(command.sectors);
        match command.op {
            Op::Read => self.read_end = Some(end),
            Op::Write => self.write_end = Some(end),
        }
        self.last_was_write = command.op == Op::Write;
        self.streams &= !self.last_was_write;
        self.last_lba = end;
    }

    /// The present command is a read, which the media bring or the buffer holds; a stream is waited for this long.
    #[inline]
    pub(crate) fn note_stream(&mut self, is_hit: bool, at: Nanos, wait: Nanos) {
        self.streams = !is_hit || self.waits_for_stream(at, wait);
    }

    /// Whether the drive still waits at `at`, the instant it turns to a command, for what continues a stream.
    #[inline]
    pub(crate) fn waits_for_stream(&self, at: Nanos, wait: Nanos) -> bool {
        self.streams && !self.last_was_write && at.saturating_sub(self.idle_since) <= wait
    }

    /// A write has been taken while the arm worked for another command.
    pub(crate) fn note_aside(&mut self, command: &Command) {
        self.write_end = Some(command.lba.0 + u64::from(command.sectors));
    }

    /// A piece of buffered writes went to the media, right behind another or not.
    pub(crate) fn note_destage(&mut self, (start, end): (u64, u64), goes_on: bool) {
        let before = if goes_on && start == self.last_destaged { self.destaged_in_turn } else { 0 };
        self.destaged_in_turn = before + (end - start);
        self.last_lba = end;
        self.last_destaged = end;
    }

    /// How many sectors of one run went to the media, up to the last that did, with nothing in between.
    pub(crate) fn destaged_in_turn(&self) -> u64 {
        self.destaged_in_turn
    }

    /// Where the last destage ended.
    pub(crate) fn last_destaged(&self) -> u64 {
        self.last_destaged
    }

    /// Whether the present command is a read that needs the arm.
    #[inline]
    pub(crate) fn note_arm(&mut self, needed: bool) {
        self.needs_arm = needed;
    }

    /// Since when no read needed the arm.
    pub(crate) fn quiet_since(&self) -> Nanos {
        self.quiet_since
    }

    /// Whether the present command continues the last read.
    #[inline]
    pub(crate) fn is_sequential(&self) -> bool {
        self.sequential
    }

    /// Index into the overheads by history: 0 after a read, 1 after a write.
    #[inline]
    pub(crate) fn after(&self) -> usize {
        usize::from(self.last_was_write)
    }

    /// Whether a read of `start..end` may belong to one run with the last: a drive that orders its queue takes some of a run before those
    /// ahead of them.
    pub(crate) fn is_near_last_read(&self, (start, end): (u64, u64)) -> bool {
        self.read_end.is_some_and(|last| last.abs_diff(start) <= RUN_REACH * (end - start))
    }

    /// Whether a command at `lba` goes on where the last write ended.
    #[inline]
    pub(crate) fn continues_write(&self, lba: u64) -> bool {
        self.write_end == Some(lba)
    }

    /// The controller has been free since `at`.
    #[inline]
    pub(crate) fn free_since(&mut self, at: Nanos) {
        self.idle_since = at;
        if self.needs_arm {
            self.quiet_since = at;
        }
    }

    /// A read that needs the arm waits at `at`, for whatever goes first.
    pub(crate) fn wanted_at(&mut self, at: Nanos) {
        self.quiet_since = self.quiet_since.max(at);
    }

    /// The work in hand happens at another time; `wanted` is when a read wanted the arm.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos, wanted: impl Fn(Nanos) -> Nanos) {
        self.idle_since = moved(self.idle_since);
        self.quiet_since = wanted(self.quiet_since);
    }

    /// Since when there was no command.
    pub(crate) fn idle_since(&self) -> Nanos {
        self.idle_since
    }

    /// Where the mechanism last worked.
    #[inline]
    pub(crate) fn last_lba(&self) -> u64 {
        self.last_lba
    }
}

//! A sequential stream among what is served.

use crate::command::Command;
use headstack_units::Op;

/// The sequential stream of reads that was served last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    /// Where it goes on.
    pub(super) end: Option<u64>,
    /// Whether its last read was the last command taken.
    pub(super) was_last: bool,
    /// Where the last reads ended, the latest first: one that goes on there begins a stream, though a few others came between.
    ends: [Option<u64>; REMEMBERED],
}

const REMEMBERED: usize = 8;

impl Stream {
    /// A command has been taken.
    pub(super) fn remember(&mut self, command: &Command) {
        let start = Some(command.lba.0);
        let end = Some(command.lba.0 + u64::from(command.sectors));
        let is_read = command.op == Op::Read;
        self.was_last = is_read && (start == self.end || self.ends.contains(&start));
        if self.was_last {
            self.end = end;
        }
        if is_read {
            self.ends.rotate_right(1);
            self.ends[0] = end;
        }
    }
}

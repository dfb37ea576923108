//! Commands under way on other arms, where several work at a time. One that shares sectors with them, or may find in the
//! buffer what they are just bringing there, waits until they are through.

use super::{Parts, Turn};
use crate::buffer::EarlyWrites;
use crate::command::Command;
use headstack_units::Nanos;

/// What is under way, and when it is through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnderWay(EarlyWrites);

impl UnderWay {
    /// The media work of a command is through at `done`.
    pub(super) fn add(&mut self, command: &Command, done: Nanos) {
        let (start, end) = range(command);
        self.0.add(start, end, done);
    }

    /// When the last of them is through.
    pub(super) fn last(&self) -> Option<Nanos> {
        self.0.last()
    }

    /// They are through at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.0.rebase(moved);
    }
}

/// The addresses that must not be touched in the meantime.
fn range(command: &Command) -> (u64, u64) {
    if command.is_ordered() {
        return (0, u64::MAX);
    }
    (command.lba.0, command.lba.0 + u64::from(command.sectors))
}

/// The command as the controller turns to it when what stands in its way is through.
#[cold]
pub(super) fn turn_later(parts: &mut Parts, turn: &Turn) -> Turn {
    let (start, end) = range(&turn.command);
    let under_way = &mut parts.under_way.0;
    under_way.forget_written(turn.at);
    let at = if parts.buffer.may_know(start, end) {
        under_way.last().map_or(turn.at, |last| last.max(turn.at))
    } else {
        under_way.over(start, end, turn.at)
    };
    parts.log.tell(|narrative| narrative.put_off = at);
    Turn { at, flush: turn.flush + (at - turn.at), ..*turn }
}

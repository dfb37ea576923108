//! What a scheduler does, and what it is told.

use super::estimate::Estimate;
use super::knowledge::{Knowledge, Last};
use super::waiting::{Slot, Slots, Waiting};
use crate::command::Command;
use headstack_units::{Nanos, Op};

/// What an order may look at when it chooses.
pub(super) struct Choice<'a> {
    /// When.
    pub(super) now: Nanos,
    /// The command before.
    pub(super) last: Last,
    pub(super) knowledge: &'a Knowledge,
    /// The mechanism, for each arm that could serve any of the commands, where the layout and the rotation are known.
    pub(super) arms: &'a [Estimate<'a>],
    /// Ranges of addresses in the buffer, where the cache is known: first, and one after the last.
    pub(super) buffered: &'a [(u64, u64)],
    /// What read-ahead under way may come to hold: first address, and one after the last.
    pub(super) coming: Option<(u64, u64)>,
    /// What of it will have been read when a read has been decoded.
    pub(super) read_on: Option<(u64, u64)>,
    /// What waits.
    pub(super) slots: &'a Slots,
}

impl Choice<'_> {
    /// Whether a command goes on with what is being read ahead: the media need not come around for it.
    pub(super) fn is_read_on(&self, command: &Command) -> bool {
        let lba = command.lba.0;
        command.op == Op::Read && self.read_on.is_some_and(|(from, front)| from <= lba && lba <= front)
    }

    /// Where the last command began: its address, or its cylinder where the layout is known.
    pub(super) fn start(&self) -> u64 {
        self.knowledge.coordinate(self.last.lba)
    }

    /// Where it ended: the address behind it, or its last cylinder.
    pub(super) fn end(&self) -> u64 {
        match self.knowledge {
            Knowledge::Addresses { .. } => self.last.end,
            Knowledge::Cylinders(_) | Knowledge::Layout(_) => {
                self.knowledge.coordinate(self.last.end.saturating_sub(1))
            }
        }
    }
}

/// What was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) slot: Slot,
    /// The arm that is to serve it.
    pub(super) arm: u32,
}

impl Pick {
    /// A command for whichever arm.
    pub(super) fn of(slot: Slot) -> Self {
        Self { slot, arm: 0 }
    }
}

/// One scheduler.
pub(super) trait Order {
    /// A command begins to wait; `at` is its coordinate.
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot);

    /// It waits no more.
    fn remove(&mut self, waiting: &Waiting, at: u64);

    /// Which is the next.
    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick>;

    /// When the command it chose must be begun lest its first sector come later; until then the choice may be put off.
    fn decides_by(&self, choice: &Choice<'_>, _pick: Pick) -> Nanos {
        choice.now
    }

    /// What can be served between `from` and `until`, when the choice must be made, and delays nothing.
    fn meanwhile(&mut self, _choice: &Choice<'_>, _from: Nanos, _until: Nanos) -> Option<Pick> {
        None
    }

    /// What it chose last is not taken: all is as before the choice.
    fn refused(&mut self) {}

    /// The one at `at` was taken, whoever chose it.
    fn taken(&mut self, _choice: &Choice<'_>, _at: u64) {}
}

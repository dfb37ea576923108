//! First come, first served.

use super::line::Line;
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Fcfs(Line);

impl Order for Fcfs {
    fn insert(&mut self, waiting: &Waiting, _at: u64, slot: Slot) {
        self.0.insert((waiting.sequence, 0), slot);
    }

    fn remove(&mut self, waiting: &Waiting, _at: u64) {
        self.0.remove((waiting.sequence, 0));
    }

    fn choose(&mut self, _choice: &Choice<'_>) -> Option<Pick> {
        self.0.first().map(|(_, slot)| Pick::of(slot))
    }
}

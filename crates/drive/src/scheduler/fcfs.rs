//! First come, first served.

use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};
use std::collections::BTreeMap;

/// The oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Fcfs(BTreeMap<u64, Slot>);

impl Order for Fcfs {
    fn insert(&mut self, waiting: &Waiting, _at: u64, slot: Slot) {
        self.0.insert(waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, _at: u64) {
        self.0.remove(&waiting.sequence);
    }

    fn choose(&mut self, _choice: &Choice<'_>) -> Option<Pick> {
        self.0.first_key_value().map(|(_, &slot)| Pick::of(slot))
    }
}

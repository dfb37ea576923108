//! C-LOOK: upwards through the addresses, then back to the lowest that waits.

use std::collections::BTreeMap;

use super::{Position, Waiting};

/// The lowest address at or above the *beginning* of the last command; if there is none, the lowest of all. Equal
/// addresses in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct CLook(BTreeMap<(u64, u64), Waiting>);

impl CLook {
    /// Takes a command in.
    pub fn push(&mut self, waiting: Waiting) {
        self.0.insert((waiting.command.lba.0, waiting.sequence), waiting);
    }

    /// The next of the sweep.
    pub fn pop(&mut self, position: Position) -> Option<Waiting> {
        self.pop_from(position.last_start)
    }

    /// The lowest address at or above `from`, else the lowest.
    pub(super) fn pop_from(&mut self, from: u64) -> Option<Waiting> {
        let key = *self.0.range((from, 0)..).next().or_else(|| self.0.first_key_value())?.0;
        self.0.remove(&key)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

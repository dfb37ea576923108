//! Shortest seek time first, as far as a driver can tell: the nearest address.

use std::collections::BTreeMap;

use super::{Position, Waiting};

/// The address nearest to the *end* of the last command, where the heads are, up or down; equally near ones, and equal
/// addresses, in order of arrival. What is far away may wait without end.
#[derive(Clone, Debug, Default)]
pub struct Sstf(BTreeMap<(u64, u64), Waiting>);

impl Sstf {
    /// Takes a command in.
    pub fn push(&mut self, waiting: Waiting) {
        self.0.insert((waiting.command.lba.0, waiting.sequence), waiting);
    }

    /// The nearest.
    pub fn pop(&mut self, position: Position) -> Option<Waiting> {
        let from = position.last_end;
        let above = self.0.range((from, 0)..).next().map(|(key, _)| *key);
        let below = self.0.range(..(from, 0)).next_back().map(|(key, _)| key.0);
        // Of those at the same address the oldest.
        let below = below.and_then(|lba| self.0.range((lba, 0)..).next().map(|(key, _)| *key));
        let nearest = [above, below].into_iter().flatten().min_by_key(|key| (key.0.abs_diff(from), key.1))?;
        self.0.remove(&nearest)
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

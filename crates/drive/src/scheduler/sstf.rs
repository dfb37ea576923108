//! Shortest seek time first.

use super::axis::{Axis, Point};
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The nearest to the *end* of the last command, where the heads are, up or down; equally near ones in order of
/// arrival. What is far away may wait without end.
#[derive(Clone, Debug, Default)]
pub(super) struct Sstf(Axis);

impl Order for Sstf {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.0.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.0.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        let from = choice.end();
        let neighbours = [self.0.upward(from), self.0.below(from)];
        let nearest =
            neighbours.into_iter().flatten().min_by_key(|point| (point.at.abs_diff(from), point.sequence));
        nearest.map(Point::pick)
    }
}

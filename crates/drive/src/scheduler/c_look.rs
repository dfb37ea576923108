//! C-LOOK: upwards, then back to the lowest that waits.

use super::axis::{Axis, Point};
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The lowest at or above the *beginning* of the last command; if there is none, the lowest of all. Equal ones in order
/// of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct CLook(Axis);

impl Order for CLook {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.0.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.0.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        self.0.upward(choice.start()).or_else(|| self.0.lowest()).map(Point::pick)
    }
}

//! C-SCAN: upwards, then from the bottom again.

use super::axis::{Axis, Point};
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The lowest at or above the *end* of the last command, where the heads are; if there is none, the lowest of all.
/// Nobody sends the arm to the edge of the disk for nothing, so this differs from C-LOOK only for what begins within
/// the last command's sectors (or, by cylinder, in the cylinders it crossed): C-LOOK takes it at once, C-SCAN on the next
/// sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct CScan(Axis);

impl Order for CScan {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.0.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.0.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        self.0.upward(choice.end()).or_else(|| self.0.lowest()).map(Point::pick)
    }
}

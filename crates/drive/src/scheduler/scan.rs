//! SCAN: a sweep up and down, from where the heads are.

use super::axis::Point;
use super::look::Sweep;
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The nearest at or beyond the *end* of the last command, where the heads are, in the direction of the sweep; if there
/// is none, the sweep turns. Nobody sends the arm to the edge of the disk for nothing, so this differs from LOOK only for
/// what begins within the last command's sectors: an upward sweep leaves it for the way back.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan(Sweep);

impl Order for Scan {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.0.axis.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.0.axis.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        self.0.next(choice.end()).map(Point::pick)
    }

    fn taken(&mut self, choice: &Choice<'_>, at: u64) {
        self.0.turn(choice.end(), at);
    }
}

//! LOOK, the elevator: up as long as something waits there, then down.

use super::axis::{Axis, Point};
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The nearest at or beyond the *beginning* of the last command in the direction of the sweep; if there is none, the
/// sweep turns. Equal ones in order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Look(Sweep);

/// A sweep up and down.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    pub(super) axis: Axis,
    pub(super) is_downward: bool,
}

impl Sweep {
    /// The next of the sweep from `from` on.
    pub(super) fn next(&self, from: u64) -> Option<Point> {
        let (up, down) = (self.axis.upward(from), self.axis.downward(from));
        if self.is_downward { down.or(up) } else { up.or(down) }
    }

    /// Something at `to` is served after something at `from`.
    pub(super) fn turn(&mut self, from: u64, to: u64) {
        if to != from {
            self.is_downward = to < from;
        }
    }
}

impl Order for Look {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.0.axis.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.0.axis.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        self.0.next(choice.start()).map(Point::pick)
    }

    fn taken(&mut self, choice: &Choice<'_>, at: u64) {
        self.0.turn(choice.start(), at);
    }
}

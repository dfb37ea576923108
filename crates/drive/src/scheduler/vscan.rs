//! VSCAN(R): between SSTF and SCAN.

use super::look::Sweep;
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};

/// The nearest to the end of the last command, where what lies against the direction of the sweep counts as R × the
/// stroke farther away: R = 0 is SSTF, R = 1 is SCAN (Geist & Daniel 1987, who recommend 0.2). Equally far ones in order of
/// arrival.
#[derive(Clone, Debug)]
pub(super) struct Vscan {
    sweep: Sweep,
    penalty: u64,
}

impl Vscan {
    /// `penalty`: R × the stroke, in addresses or cylinders.
    pub(super) fn new(penalty: u64) -> Self {
        Self { sweep: Sweep::default(), penalty }
    }
}

impl Order for Vscan {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.sweep.axis.insert(at, waiting.sequence, slot);
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.sweep.axis.remove(at, waiting.sequence);
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        let from = choice.end();
        let axis = &self.sweep.axis;
        let (ahead, behind) = if self.sweep.is_downward {
            (axis.downward(from), axis.upward(from + 1))
        } else {
            (axis.upward(from), axis.below(from))
        };
        let ahead = ahead.map(|point| (point.at.abs_diff(from), point.sequence, point.slot));
        let behind = behind
            .map(|point| (point.at.abs_diff(from).saturating_add(self.penalty), point.sequence, point.slot));
        [ahead, behind].into_iter().flatten().min().map(|(_, _, slot)| Pick::of(slot))
    }

    fn taken(&mut self, choice: &Choice<'_>, at: u64) {
        self.sweep.turn(choice.end(), at);
    }
}

//! Batches first come, first served; each in one sweep.

use super::axis::{Axis, Point};
use super::order::{Choice, Order, Pick};
use super::waiting::{Slot, Waiting};
use std::collections::BTreeMap;

/// The oldest N become a batch, which is served upwards before anything else is looked at ("N-step SCAN"): no command
/// waits for more than the batches before it.
#[derive(Clone, Debug)]
pub(super) struct BatchFcfs {
    size: usize,
    batch: Axis,
    later: BTreeMap<u64, (u64, Slot)>,
    /// The batch was formed for a choice, of which nothing has been taken yet.
    is_new: bool,
}

impl BatchFcfs {
    /// Batches of `size` commands.
    pub(super) fn new(size: usize) -> Self {
        Self { size, batch: Axis::default(), later: BTreeMap::new(), is_new: false }
    }
}

impl Order for BatchFcfs {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.later.insert(waiting.sequence, (at, slot));
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        self.is_new = false;
        if self.later.remove(&waiting.sequence).is_none() {
            self.batch.remove(at, waiting.sequence);
        }
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        if self.batch.len() == 0 {
            self.is_new = true;
            while self.batch.len() < self.size
                && let Some((sequence, (at, slot))) = self.later.pop_first()
            {
                self.batch.insert(at, sequence, slot);
            }
        }
        self.batch.upward(choice.end()).or_else(|| self.batch.lowest()).map(Point::pick)
    }

    fn refused(&mut self) {
        while self.is_new
            && let Some(Point { at, sequence, slot }) = self.batch.lowest()
        {
            self.batch.remove(at, sequence);
            self.later.insert(sequence, (at, slot));
        }
        self.is_new = false;
    }
}

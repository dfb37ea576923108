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
    /// The batch that begins with this one is formed when it is taken: who only looks changes nothing.
    first: Option<u64>,
}

impl BatchFcfs {
    /// Batches of `size` commands.
    pub(super) fn new(size: usize) -> Self {
        Self { size, batch: Axis::default(), later: BTreeMap::new(), first: None }
    }

    /// The next batch.
    fn form(&mut self) {
        while self.batch.len() < self.size
            && let Some((sequence, (at, slot))) = self.later.pop_first()
        {
            self.batch.insert(at, sequence, slot);
        }
    }

    /// The first of the batch that would be formed now, behind `from` or the lowest.
    fn first_of_next(&self, from: u64) -> Option<(u64, Slot)> {
        let next = self.later.iter().take(self.size);
        let (_, _, sequence, slot) =
            next.map(|(&sequence, &(at, slot))| (at < from, at, sequence, slot)).min()?;
        Some((sequence, slot))
    }
}

impl Order for BatchFcfs {
    fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
        self.later.insert(waiting.sequence, (at, slot));
    }

    fn remove(&mut self, waiting: &Waiting, at: u64) {
        if self.first.take() == Some(waiting.sequence) && self.batch.len() == 0 {
            self.form();
        }
        if self.later.remove(&waiting.sequence).is_none() {
            self.batch.remove(at, waiting.sequence);
        }
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        if self.batch.len() == 0 {
            let (sequence, slot) = self.first_of_next(choice.end())?;
            self.first = Some(sequence);
            return Some(Pick::of(slot));
        }
        self.batch.upward(choice.end()).or_else(|| self.batch.lowest()).map(Point::pick)
    }
}

//! How many requests are outstanding, found by each arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headstack_units::Nanos;

/// Requests that have arrived and not finished. Fed in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    finishes: BinaryHeap<Reverse<Nanos>>,
}

impl Outstanding {
    /// How many are outstanding at `now`, before the next is added.
    pub(crate) fn at(&mut self, now: Nanos) -> u64 {
        while self.finishes.peek().is_some_and(|Reverse(finish)| *finish <= now) {
            self.finishes.pop();
        }
        self.finishes.len() as u64
    }

    /// If at `now` at most `few` are left: when the last but `few` finished, or `now` if nothing did since.
    pub(crate) fn over_at(&mut self, now: Nanos, few: usize) -> Option<Nanos> {
        let mut end = now;
        let mut drained = false;
        while let Some(&Reverse(finish)) = self.finishes.peek().filter(|next| next.0 <= now) {
            if self.finishes.len() == few + 1 {
                (end, drained) = (finish, true);
            }
            self.finishes.pop();
        }
        (drained || self.finishes.len() <= few).then_some(end)
    }

    /// Adds one that finishes then.
    pub(crate) fn add(&mut self, finish: Nanos) {
        self.finishes.push(Reverse(finish));
    }

    /// When fewer than or as many as `few` will be outstanding, if nothing is added.
    pub(crate) fn falls_to(&self, few: usize) -> Nanos {
        let mut finishes: Vec<Nanos> = self.finishes.iter().map(|Reverse(finish)| *finish).collect();
        finishes.sort_unstable();
        let drained = finishes.len().saturating_sub(few);
        drained.checked_sub(1).map_or(Nanos::ZERO, |last| finishes[last])
    }
}

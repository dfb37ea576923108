//! Things put into order of time, equals in the order in which they came.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use headstack_units::Nanos;

/// What waits for its time.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    waiting: BinaryHeap<Waiting<T>>,
    number: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    time: Nanos,
    number: u64,
    item: T,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { waiting: BinaryHeap::new(), number: 0 }
    }
}

impl<T> InOrder<T> {
    /// Adds an item of `time`.
    pub(crate) fn push(&mut self, time: Nanos, item: T) {
        self.number += 1;
        self.waiting.push(Waiting { time, number: self.number, item });
    }

    /// Takes the earliest.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.waiting.pop().map(|waiting| waiting.item)
    }

    /// Takes the earliest, if its time is before `until`.
    pub(crate) fn pop_before(&mut self, until: Nanos) -> Option<T> {
        self.waiting.peek().filter(|waiting| waiting.time < until)?;
        self.pop()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// The greatest is the earliest, of equals the one that came first: what a heap gives first.
impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.number).cmp(&(self.time, self.number))
    }
}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Waiting<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The naive twin: a stable sort.
        #[test]
        fn items_come_as_a_stable_sort_has_them(times in proptest::collection::vec(0_u64..20, 0..100), until in 0_u64..20) {
            let mut order = InOrder::default();
            let mut sorted: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            for &(time, item) in &sorted {
                order.push(Nanos(time), (time, item));
            }
            sorted.sort_by_key(|&(time, _)| time);
            let mut taken: Vec<_> = std::iter::from_fn(|| order.pop_before(Nanos(until))).collect();
            prop_assert!(taken.iter().all(|&(time, _)| time < until));
            prop_assert_eq!(order.len(), times.iter().filter(|&&time| time >= until).count());
            taken.extend(std::iter::from_fn(|| order.pop()));
            prop_assert_eq!(taken, sorted);
        }
    }
}

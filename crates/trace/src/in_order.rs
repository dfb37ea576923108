//! Things put into order of time, equals in the order in which they came.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use headstack_units::Nanos;

/// What waits for its time. Most comes in order already: only what is earlier than something before it goes through a heap.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    run: VecDeque<Waiting<T>>,
    late: BinaryHeap<Waiting<T>>,
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
        Self { run: VecDeque::new(), late: BinaryHeap::new(), number: 0 }
    }
}

impl<T> InOrder<T> {
    /// Adds an item of `time`.
    #[inline]
    pub(crate) fn push(&mut self, time: Nanos, item: T) {
        self.number += 1;
        let waiting = Waiting { time, number: self.number, item };
        if self.run.back().is_none_or(|last| last.time <= time) {
            self.run.push_back(waiting);
        } else {
            self.late.push(waiting);
        }
    }

    /// Takes the earliest.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.pop_until(Nanos::MAX)
    }

    /// Takes the earliest, if its time is before `until`.
    #[inline]
    pub(crate) fn pop_before(&mut self, until: Nanos) -> Option<T> {
        self.pop_until(Nanos(until.0.checked_sub(1)?))
    }

    /// Takes the earliest, if its time is not after `last`.
    #[inline]
    fn pop_until(&mut self, last: Nanos) -> Option<T> {
        let next = self.run.front();
        let waiting = match self.late.peek() {
            Some(late) if next.is_none_or(|next| late > next) => {
                if late.time > last {
                    return None;
                }
                self.late.pop()?
            }
            _ => {
                if next?.time > last {
                    return None;
                }
                self.run.pop_front()?
            }
        };
        Some(waiting.item)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.run.len() + self.late.len()
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

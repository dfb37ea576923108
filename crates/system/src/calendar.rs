//! The calendar: what happens next.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};

use headstack_units::Nanos;

/// Names an entry, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u64);

/// Future events, earliest first; events of the same instant in the order they were entered.
///
/// A binary heap keyed by (time, sequence number). Cancelling marks an entry, which is dropped when it comes up.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    heap: BinaryHeap<Reverse<Item<E>>>,
    cancelled: BTreeSet<u64>,
    next_sequence: u64,
}

#[derive(Clone, Debug)]
struct Item<E> {
    at: Nanos,
    sequence: u64,
    event: E,
}

impl<E> Item<E> {
    fn key(&self) -> (Nanos, u64) {
        (self.at, self.sequence)
    }
}

impl<E> PartialEq for Item<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Item<E> {}

impl<E> PartialOrd for Item<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Item<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> Default for Calendar<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), cancelled: BTreeSet::new(), next_sequence: 0 }
    }
}

impl<E> Calendar<E> {
    /// Without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters an event.
    pub fn schedule(&mut self, at: Nanos, event: E) -> Entry {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.heap.push(Reverse(Item { at, sequence, event }));
        Entry(sequence)
    }

    /// Takes an entry out that has not come up yet. (An entry that has come up must not be cancelled.)
    pub fn cancel(&mut self, entry: Entry) {
        self.cancelled.insert(entry.0);
    }

    /// When the next event happens.
    pub fn next_time(&mut self) -> Option<Nanos> {
        self.skip_cancelled();
        self.heap.peek().map(|Reverse(item)| item.at)
    }

    /// Takes the next event out.
    pub fn pop(&mut self) -> Option<(Nanos, E)> {
        self.pop_until(Nanos::MAX)
    }

    /// Takes the next event out if it happens no later than `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: Nanos) -> Option<(Nanos, E)> {
        self.skip_cancelled();
        let first = self.heap.peek_mut()?;
        if first.0.at > limit {
            return None;
        }
        let Reverse(item) = PeekMut::pop(first);
        Some((item.at, item.event))
    }

    /// Takes out all events that are not to be kept.
    pub fn retain(&mut self, is_kept: impl Fn(&E) -> bool) {
        self.heap.retain(|Reverse(item)| is_kept(&item.event) && !self.cancelled.contains(&item.sequence));
        self.cancelled.clear();
    }

    /// Number of events to come.
    pub fn len(&self) -> usize {
        self.heap.len() - self.cancelled.len()
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn skip_cancelled(&mut self) {
        while !self.cancelled.is_empty()
            && let Some(Reverse(item)) = self.heap.peek()
            && self.cancelled.remove(&item.sequence)
        {
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equals_come_in_the_order_they_were_entered() {
        let mut calendar = Calendar::new();
        for (at, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            calendar.schedule(Nanos(at), event);
        }
        let order: String = std::iter::from_fn(|| calendar.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, "bdac");
        assert!(calendar.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Schedule(u64),
        Cancel(usize),
        Pop,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..20_u64).prop_map(Step::Schedule),
            1 => any::<usize>().prop_map(Step::Cancel),
            2 => Just(Step::Pop),
        ]
    }

    proptest! {
        #[test]
        fn it_equals_a_sorted_list(steps in prop::collection::vec(step(), 0..200)) {
            let mut calendar = Calendar::new();
            let mut naive: Vec<(u64, usize, Entry)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Schedule(at) => {
                        let entry = calendar.schedule(Nanos(at), number);
                        naive.push((at, number, entry));
                    }
                    Step::Cancel(which) if !naive.is_empty() => {
                        let (_, _, entry) = naive.remove(which % naive.len());
                        calendar.cancel(entry);
                    }
                    Step::Cancel(_) => {}
                    Step::Pop => {
                        naive.sort();
                        let expected = (!naive.is_empty()).then(|| naive.remove(0));
                        prop_assert_eq!(calendar.next_time(), expected.map(|(at, ..)| Nanos(at)));
                        prop_assert_eq!(calendar.pop(), expected.map(|(at, number, _)| (Nanos(at), number)));
                    }
                }
                prop_assert_eq!(calendar.len(), naive.len());
            }
        }
    }
}

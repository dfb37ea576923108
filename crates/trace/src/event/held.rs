//! Events of text held back until those of the lines behind them are read that may come before them.

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

use super::Event;
use crate::text::BATCH;

/// A line may stand so many lines behind its place.
pub(super) const WINDOW: usize = 1 << 14;

/// Events read at a time, in order, and what was known when the last of them was read.
#[derive(Debug, Default)]
struct Held<T> {
    events: Vec<Event>,
    told: T,
}

/// Events in order of time, of equals the one that was read first.
#[derive(Debug, Default)]
pub(super) struct Window<T> {
    held: VecDeque<Held<T>>,
    count: usize,
    /// Those being read: the ones that are in order, and the others with their times and numbers.
    reading: Vec<Event>,
    late: BTreeMap<(Nanos, usize), Event>,
    /// The latest so far.
    latest: Nanos,
    /// When the last of those given out was.
    given: Nanos,
    /// Empty, to be filled again.
    spare: Vec<Vec<Event>>,
}

impl<T: Default> Window<T> {
    /// When the latest event so far was.
    #[inline]
    pub(super) fn latest(&self) -> Nanos {
        self.latest
    }

    /// Whether the place of an event of that time was given out already.
    pub(super) fn is_past(&self, time: Nanos) -> bool {
        time < self.given
    }

    /// Takes an event that is not earlier than the latest.
    #[inline]
    pub(super) fn push(&mut self, event: Event) {
        self.latest = event.time;
        self.reading.push(event);
    }

    /// Takes any event.
    pub(super) fn push_late(&mut self, event: Event) {
        if event.time >= self.latest {
            return self.push(event);
        }
        self.late.insert((event.time, self.late.len()), event);
    }

    /// Whether enough were read at a time.
    #[inline]
    pub(super) fn is_read(&self) -> bool {
        self.reading.len() + self.late.len() >= BATCH
    }

    /// Whether so many are held that the earliest can be given out.
    pub(super) fn is_full(&self) -> bool {
        self.count >= WINDOW + BATCH
    }

    /// Whether the same event is there already.
    pub(super) fn holds(&self, event: &Event) -> bool {
        let among = |events: &[Event]| {
            let from = events.partition_point(|other| other.time < event.time);
            events[from..].iter().take_while(|other| other.time == event.time).any(|other| other == event)
        };
        let spans = |events: &&Vec<Event>| events.last().is_some_and(|last| last.time >= event.time);
        let mut late = self.late.range((event.time, 0)..=(event.time, usize::MAX));
        among(&self.reading)
            || late.any(|(_, other)| other == event)
            || self.held.iter().map(|held| &held.events).filter(spans).any(|events| among(events))
    }

    /// Takes out what is held of an instant on, if it `is_wrong`: how many that are.
    pub(super) fn take_back(&mut self, since: Nanos, is_wrong: impl Fn(&Event) -> bool) -> u64 {
        let mut taken = 0;
        let mut stays = |event: &Event| {
            let goes = event.time >= since && is_wrong(event);
            taken += u64::from(goes);
            !goes
        };
        self.reading.retain(&mut stays);
        let late = std::mem::take(&mut self.late).into_values().filter(&mut stays);
        self.late = late.enumerate().map(|(number, event)| ((event.time, number), event)).collect();
        self.held.iter_mut().for_each(|held| held.events.retain(&mut stays));
        self.held.retain(|held| !held.events.is_empty());
        self.count = self.held.iter().map(|held| held.events.len()).sum();
        taken
    }

    /// What is held, from the earliest on.
    pub(super) fn earliest(&self) -> impl Iterator<Item = Event> {
        self.held.iter().flat_map(|held| held.events.iter().copied())
    }

    /// What was read is known to be so many, with what is `told` now.
    pub(super) fn end_reading(&mut self, told: T) {
        let events = std::mem::replace(&mut self.reading, self.spare.pop().unwrap_or_default());
        if events.is_empty() && self.late.is_empty() {
            return;
        }
        self.count += events.len() + self.late.len();
        self.held.push_back(Held { events, told });
        if let Some(((earliest, _), _)) = self.late.first_key_value() {
            let from = self.held.partition_point(|held| {
                held.events.last().is_some_and(|last| last.time <= *earliest) && !held.events.is_empty()
            });
            self.merge(from);
        }
    }

    /// Puts what came late into order with what is held from there on.
    fn merge(&mut self, from: usize) {
        let from = from.min(self.held.len() - 1);
        let mut events: Vec<Event> =
            self.held.range_mut(from..).flat_map(|held| std::mem::take(&mut held.events)).collect();
        events.extend(std::mem::take(&mut self.late).into_values());
        events.sort_by_key(|event| event.time);
        // As many in each as before, but for the last.
        let last = self.held.len() - 1;
        for held in self.held.range_mut(from..last) {
            let behind = events.split_off(events.len().min(BATCH));
            held.events = std::mem::replace(&mut events, behind);
        }
        self.held[last].events = events;
    }

    /// Gives out the earliest, and what was told with them; `batch` is filled again later.
    pub(super) fn give(&mut self, batch: &mut Vec<Event>) -> Option<T> {
        let Held { events, told } = self.held.pop_front()?;
        self.count -= events.len();
        self.given = events.last().map_or(self.given, |last| self.given.max(last.time));
        let mut empty = std::mem::replace(batch, events);
        empty.clear();
        self.spare.push(empty);
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Action, Marks};
    use proptest::prelude::*;

    fn event(time: u64, pid: u32) -> Event {
        let (time, marks) = (Nanos(time), Marks::READ);
        Event { time, sector: 8, bytes: 4096, pid, device: 7, cpu: 0, action: Action::Queue, marks }
    }

    /// What is given out of events with these times, by times and the order in which they came.
    fn given(times: &[u64]) -> Vec<(u64, u32)> {
        let (mut window, mut all, mut batch) = (Window::<u64>::default(), Vec::new(), Vec::new());
        for chunk in times.iter().zip(0..).collect::<Vec<_>>().chunks(BATCH) {
            for &(&time, number) in chunk {
                assert!(!window.holds(&event(time, number)));
                window.push_late(event(time, number));
                assert!(window.holds(&event(time, number)));
            }
            window.end_reading(0);
            while window.is_full() && window.give(&mut batch).is_some() {
                all.extend(batch.iter().map(|event| (event.time.0, event.pid)));
            }
        }
        while window.give(&mut batch).is_some() {
            all.extend(batch.iter().map(|event| (event.time.0, event.pid)));
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// The naive twin: a stable sort.
        #[test]
        fn events_come_as_a_stable_sort_has_them(steps in proptest::collection::vec(0_u64..9, 0..300), far in 0_u64..40) {
            // Each line up to `far` times 400 lines behind its place, of so many steps over and over.
            let places: Vec<u64> = steps.iter().cycle().take(steps.len() * 100).copied().zip(0..)
                .map(|(step, at)| at / 2 + step * far * 25).collect();
            let mut sorted: Vec<(u64, u32)> = places.iter().copied().zip(0..).collect();
            sorted.sort_by_key(|(time, _)| *time);
            prop_assert_eq!(given(&places), sorted);
        }
    }
}

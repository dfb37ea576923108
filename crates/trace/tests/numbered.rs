//! What running numbers tell of events that are not there, or not where they should be.

mod common;

use std::collections::BTreeMap;

use common::load::{Found, any_load, compare};
use common::{Form, read_as};
use headstack_trace::event::{Action, Event};

/// What is wrong with the events of the last processor.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// Those of the first so many tenths of the time are missing.
    BeginsLate(u64),
    /// From the middle on its clock is so many µs behind.
    SetBack(u64),
}

impl Wrong {
    /// The events that are left in order of time, each with the number that it was given when it came.
    fn of(self, files: &[Vec<Event>], dispatched: bool) -> Vec<(u32, Event)> {
        let mut events: Vec<Event> = files.iter().flatten().copied().collect();
        events.retain(|event| dispatched || event.action != Action::Issue);
        events.sort_by_key(|event| event.time);
        let [first, last] = [events.first(), events.last()].map(|event| event.unwrap().time.0);
        let mut numbers: BTreeMap<u16, u32> = BTreeMap::new();
        let left = |mut event: Event| {
            let number = numbers.entry(event.cpu).or_default();
            *number += 1;
            let (is_wrong, after) = (usize::from(event.cpu) + 1 == files.len(), event.time.0 - first);
            match self {
                Self::BeginsLate(tenths) if is_wrong && 10 * after < tenths * (last - first) => None,
                Self::SetBack(micros) if is_wrong && 2 * after > last - first => {
                    event.time.0 -= 1000 * micros;
                    Some((*number, event))
                }
                _ => Some((*number, event)),
            }
        };
        let mut left: Vec<(u32, Event)> = events.into_iter().filter_map(left).collect();
        left.sort_by_key(|(_, event)| event.time);
        left
    }

    /// Asserts of 24 loads each of so many requests, where the loss shows, that it is told, and that hardly a time is above the truth or a
    /// mean more than 5 % off.
    fn makes_up_hardly_anything(self, forms: &[Form]) {
        let (mut texts, mut wrong) = (0, Vec::new());
        let loads = [200, 1000, 8000]
            .into_iter()
            .flat_map(|requests| (0..12).map(move |seed| any_load(seed, requests, false)));
        for (load, dispatched) in loads.flat_map(|load| [true, false].map(|dispatched| (load, dispatched))) {
            let (files, truths) = load.run();
            let left = self.of(&files, dispatched);
            if !self.shows(&left) {
                continue;
            }
            for &form in forms {
                let (ios, summary) = read_as(form, &left);
                let found = compare(&ios, summary, &truths);
                let what = format!("{self:?}, {form:?}, {dispatched}, {load:?}");
                assert!(self.is_told(&found), "{what}: {:?}", found.summary.loss);
                texts += 1;
                let longest = found.longest.max(found.longest_service);
                let is_off = [found.service, found.response].iter().any(|ratio| (ratio - 1.0).abs() > 0.05);
                if longest > 1.0 || is_off {
                    wrong.push((what, found.longest, found.longest_service, found.service, found.response));
                }
            }
        }
        assert!(texts >= 4 && 16 * wrong.len() <= texts, "{} of {texts}: {wrong:#?}", wrong.len());
    }

    /// Whether numbers tell of it: not where a processor told nothing for longer than its clock was set back.
    fn shows(self, events: &[(u32, Event)]) -> bool {
        match self {
            Self::BeginsLate(_) => true,
            Self::SetBack(_) => goes_back(events),
        }
    }

    fn is_told(self, found: &Found) -> bool {
        match self {
            Self::BeginsLate(_) => !found.summary.loss.late_cpus.is_empty(),
            Self::SetBack(_) => found.summary.loss.set_back_events > 0,
        }
    }
}

/// Whether numbers and times of a processor go different ways.
fn goes_back(events: &[(u32, Event)]) -> bool {
    let mut latest: BTreeMap<u16, (u32, u64)> = BTreeMap::new();
    events.iter().any(|(number, event)| {
        let (highest, time) = latest.get(&event.cpu).copied().unwrap_or_default();
        if *number > highest {
            latest.insert(event.cpu, (*number, event.time.0));
        }
        *number < highest && event.time.0 > time + 100_000
    })
}

/// It was taken for one that had told nothing yet: a response was up to 314 times the longest true one.
#[test]
fn a_processor_that_begins_late_has_lost_what_it_counted_before() {
    for tenths in [3, 6] {
        Wrong::BeginsLate(tenths).makes_up_hardly_anything(&[Form::Text, Form::Packed, Form::Files]);
    }
}

/// In text its events were taken as they stand: of 200 such texts 133 had times above the truth, up to 558 times.
#[test]
fn of_a_processor_whose_clock_was_set_back_nothing_is_believed_from_there_on() {
    for micros in [1000, 100_000, 900_000] {
        Wrong::SetBack(micros).makes_up_hardly_anything(&[Form::Text, Form::Files]);
    }
}

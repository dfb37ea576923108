//! The times between layers of devices that dispatch nothing, where events are missing.

mod common;

use common::load::{Load, any_load};
use common::{Form, Random, read_as};
use headstack_trace::Io;
use headstack_trace::event::btt::Row;
use headstack_trace::event::{Action, Event, PairingSummary};

/// What is missing.
#[derive(Clone, Copy, Debug)]
enum Lost {
    Nothing,
    /// One completion in the middle.
    One,
    /// Every second completion.
    Halved,
    /// So many of a thousand events.
    Any(u64),
    /// The second half of what the last processor told.
    End,
}

/// The events of a load on a device that dispatches nothing, each with its number: that of the whole trace, or of what is left.
fn left(load: &Load, lost: Lost, numbered: bool) -> Vec<(u32, Event)> {
    let (files, _) = load.run();
    let mut random = Random(1 + 977 * load.seed);
    let mut events: Vec<Event> = files.iter().flatten().copied().collect();
    events.retain(|event| event.action != Action::Issue);
    events.sort_by_key(|event| event.time);
    let (middle, mut completions) = (events[events.len() / 2].time, 0);
    let mut numbers = vec![0; files.len()];
    let last = files.len() as u16 - 1;
    let left = |event: Event| {
        let ends = event.action == Action::Complete;
        completions += u64::from(ends);
        let stays = match lost {
            Lost::Nothing => true,
            Lost::One => !ends || completions != load.requests / 2,
            Lost::Halved => !ends || completions.is_multiple_of(2),
            Lost::Any(share) => random.below(1000) >= share,
            Lost::End => event.cpu != last || event.time < middle,
        };
        let number = &mut numbers[usize::from(event.cpu)];
        *number += u32::from(numbered || stays);
        stays.then_some((*number, event))
    };
    events.into_iter().filter_map(left).collect()
}

fn q2c(summary: &PairingSummary) -> Row {
    summary.btt.rows().find(|(name, _)| *name == "Q2C").unwrap().1
}

/// The row that responses make.
fn responses(ios: &[Io]) -> Row {
    let all = || ios.iter().filter_map(Io::response);
    Row {
        count: all().count() as u64,
        sum_ns: all().map(|response| u128::from(response.0)).sum(),
        min: all().min().unwrap_or_default(),
        max: all().max().unwrap_or_default(),
    }
}

/// The table held times of completions that went to what was queued before, in 141 of 360 texts and sets.
#[test]
fn of_what_dispatches_nothing_the_table_holds_the_responses() {
    let losses = [Lost::One, Lost::Halved, Lost::Any(10), Lost::Any(100), Lost::End];
    let (mut other, mut texts) = (Vec::new(), 0);
    for requests in [200, 1000, 8000] {
        for seed in 0..if requests == 8000 { 4 } else { 16 } {
            let load = any_load(seed, requests, false);
            for (lost, numbered) in losses.into_iter().flat_map(|lost| [true, false].map(|one| (lost, one))) {
                let form = if seed % 2 == 0 { Form::Text } else { Form::Files };
                let events = left(&load, lost, numbered);
                if events.len() as u64 == 2 * load.requests {
                    continue;
                }
                let (ios, summary) = read_as(form, &events);
                texts += 1;
                if q2c(&summary) != responses(&ios) {
                    other.push((lost, numbered, form, requests, seed, q2c(&summary), responses(&ios)));
                }
            }
        }
    }
    assert!(other.is_empty(), "{} of {texts}: {other:#?}", other.len());
}

/// As btt pairs it: a completion ends all that is queued of its sectors.
#[test]
fn of_a_whole_trace_the_table_is_as_of_btt() {
    for seed in 0..24 {
        let load = any_load(seed, 1000, false);
        let events = left(&load, Lost::Nothing, true);
        let mut queued: std::collections::BTreeMap<u64, Vec<u64>> = std::collections::BTreeMap::new();
        let (mut count, mut sum_ns) = (0, 0);
        for (_, event) in &events {
            let waiting = queued.entry(event.sector).or_default();
            if event.action == Action::Queue {
                waiting.push(event.time.0);
                continue;
            }
            count += waiting.len() as u64;
            sum_ns += waiting.drain(..).map(|queued| u128::from(event.time.0 - queued)).sum::<u128>();
        }
        let row = q2c(&read_as(Form::Text, &events).1);
        assert_eq!((row.count, row.sum_ns), (count, sum_ns), "{load:?}");
    }
}

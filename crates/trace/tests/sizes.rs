//! Requests of several sizes at the same places, on a device that dispatches nothing, where what a processor told is missing.

mod common;

use std::collections::BTreeMap;

use common::{Form, Random, read_as};
use headstack_trace::Io;
use headstack_trace::event::{Action, Event, Marks, device_of};
use headstack_units::Nanos;

/// What is missing of the third processor.
#[derive(Clone, Copy, Debug)]
enum Lost {
    Nothing,
    /// What it told until so many tenths of the trace.
    Until(u64),
    All,
}

/// When each was queued, by sector, size and completion.
type Truth = BTreeMap<(u64, u32, u64), u64>;

/// Requests of four servers, so many of ten at 20 places, each event told by any of four processors; and what is true.
fn load(seed: u64, requests: u64, hot: u64) -> (Vec<Event>, Truth) {
    let mut random = Random(1 + 7919 * (seed + 1) * requests);
    let (mut events, mut truth, mut free) = (Vec::new(), Truth::new(), [0; 4]);
    let mut now = 1_000_000_u64;
    for _ in 0..requests {
        let is_hot = random.below(10) < hot;
        let place = if is_hot { random.below(20) } else { 1000 + random.below(1_000_000) };
        let letters: &[u8] = if random.below(10) < 6 { b"R" } else { b"W" };
        let event = |time, action, cpu: u64, size| Event {
            time: Nanos(time),
            sector: 512 * place,
            bytes: size * 512,
            pid: 1,
            device: device_of(253, 1),
            cpu: cpu as u16,
            action,
            marks: Marks::of_letters(letters).unwrap(),
        };
        let size = [8, 8, 16][random.below(3) as usize];
        let server = (0..4).min_by_key(|server| free[*server]).unwrap();
        // Services of 0.3 to 10 ms, most of them short.
        let bits = 20 + random.below(4);
        let service = 300_000 + random.below(1 << bits);
        free[server] = free[server].max(now) + service;
        let (own, other) = (random.below(4), random.below(4));
        let ends_on = if random.below(2) == 0 { own } else { other };
        events.push(event(now, Action::Queue, own, size));
        events.push(event(free[server], Action::Complete, ends_on, size));
        truth.insert((512 * place, size, free[server]), now);
        now += 20_000 + random.below(1_600_000);
    }
    events.sort_by_key(|event| event.time);
    (events, truth)
}

/// The events that are left, each with its number.
fn left(events: &[Event], lost: Lost) -> Vec<(u32, Event)> {
    let (first, last) = (events[0].time.0, events[events.len() - 1].time.0);
    let mut numbers = [0; 4];
    let left = |event: &Event| {
        let number = &mut numbers[usize::from(event.cpu)];
        *number += 1;
        let is_lost = event.cpu == 2
            && match lost {
                Lost::Nothing => false,
                Lost::Until(tenths) => event.time.0 < first + (last - first) / 10 * tenths,
                Lost::All => true,
            };
        (!is_lost).then_some((*number, *event))
    };
    events.iter().filter_map(left).collect()
}

/// The longest response to the longest true one, the mean to the true mean of the same requests, and which share is told.
fn found(ios: &[Io], truth: &Truth) -> (f64, f64, f64) {
    let longest = truth.iter().map(|((.., end), queued)| end - queued).max().unwrap() as f64;
    let (mut told, mut sums, mut most) = (0, [0.0; 2], 0.0_f64);
    for io in ios {
        let Some(response) = io.response() else { continue };
        let request = &io.request;
        let Some(queued) = truth.get(&(request.lba.0, request.sectors, request.finish.0)) else { continue };
        told += 1;
        sums[0] += response.0 as f64;
        sums[1] += (request.finish.0 - queued) as f64;
        most = most.max(response.0 as f64);
    }
    (most / longest, sums[0] / sums[1], f64::from(told) / truth.len() as f64)
}

/// A completion of another size than what had lost its own made a piece of it, which waited for the next of its size for as long as it took.
#[test]
fn what_lost_its_completion_takes_none_of_a_later_request_of_its_size() {
    let (mut wrong, mut texts) = (Vec::new(), 0);
    for (requests, seeds) in [(400, 10), (1500, 10), (6000, 2)] {
        for (seed, hot) in (0..seeds).flat_map(|seed| [3, 8].map(|hot| (seed, hot))) {
            let (events, truth) = load(seed, requests, hot);
            for lost in [Lost::Nothing, Lost::Until(4), Lost::Until(9), Lost::All] {
                let form = if seed % 2 == 0 { Form::Text } else { Form::Files };
                let (longest, mean, share) = found(&read_as(form, &left(&events, lost)).0, &truth);
                texts += 1;
                let is_whole = matches!(lost, Lost::Nothing);
                if longest > 1.0 || (mean - 1.0).abs() > 0.05 || is_whole && share < 1.0 {
                    wrong.push((lost, form, requests, seed, hot, (longest, mean, share)));
                }
            }
        }
    }
    assert!(wrong.len() <= 1, "{} of {texts}: {wrong:#?}", wrong.len());
}

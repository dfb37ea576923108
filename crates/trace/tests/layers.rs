//! The times between layers: of devices that dispatch nothing, where events are missing, and where requests of one place overlap.

mod common;

use std::collections::BTreeMap;

use common::load::{Load, Truth, any_load};
use common::{Form, Random, read, read_as, write_file};
use headstack_trace::event::btt::Row;
use headstack_trace::event::{Action, Event, Marks, PairingRule, PairingSummary, device_of};
use headstack_trace::{Filter, Io, Op, OpenOptions};
use headstack_units::Nanos;

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

/// Where several were asked for of a place btt has the latest only.
#[test]
fn of_a_whole_trace_the_table_holds_the_responses() {
    for seed in 0..24 {
        let load = any_load(seed, 1000, false);
        let (ios, summary) = read_as(Form::Text, &left(&load, Lost::Nothing, true));
        assert_eq!(q2c(&summary), responses(&ios), "{load:?}");
        assert_eq!(ios.len() as u64, load.requests);
    }
}

/// From a request's queueing to its structure, and from there to where it is inserted, ns.
const TO_GET: u64 = 200;
const TO_INSERT: u64 = 400;

/// One request: its process, whether it writes, and when it was queued, dispatched and completed.
#[derive(Clone, Copy, Debug)]
struct Asked {
    pid: u32,
    writes: bool,
    truth: Truth,
}

/// All events of a load whose requests get structures and are inserted, and its requests.
fn layered(load: &Load) -> (Vec<(u32, Event)>, Vec<Asked>) {
    let (mut events, mut all) = (Vec::new(), Vec::new());
    for ((sector, _), truth) in load.run().1 {
        let number = all.len() as u64;
        let (pid, writes) = (100 + number as u32 % 4, sector / 8 % 3 == 0);
        let steps = [
            (truth.queued, Action::Queue),
            (truth.queued + TO_GET, Action::GetRequest),
            (truth.queued + TO_GET + TO_INSERT, Action::Insert),
            (truth.dispatched, Action::Issue),
            (truth.completed, Action::Complete),
        ];
        let marks = Marks::of_letters(if writes { b"WS" } else { b"R" }).unwrap();
        let (bytes, device) = (4096, device_of(8, 16));
        events.extend(steps.map(|(time, action)| Event {
            time: Nanos(time),
            sector,
            bytes,
            pid: if action == Action::Complete { 0 } else { pid },
            device,
            cpu: (number % 3) as u16,
            action,
            marks,
        }));
        all.push(Asked { pid, writes, truth });
    }
    events.sort_by_key(|event| (event.time, event.cpu));
    let mut numbers = [0; 3];
    let numbered = events.into_iter().map(|event| {
        let number = &mut numbers[usize::from(event.cpu)];
        *number += 1;
        (*number, event)
    });
    (numbered.collect(), all)
}

/// The rows that these requests make.
fn rows(asked: &[Asked]) -> Vec<(&'static str, Row)> {
    let row = |duration: fn(&Truth) -> u64| {
        let all = || asked.iter().map(|asked| duration(&asked.truth));
        let sum_ns = all().map(u128::from).sum();
        Row {
            count: asked.len() as u64,
            sum_ns,
            min: Nanos(all().min().unwrap()),
            max: Nanos(all().max().unwrap()),
        }
    };
    vec![
        ("Q2G", row(|_| TO_GET)),
        ("G2I", row(|_| TO_INSERT)),
        ("I2D", row(|truth| truth.dispatched - truth.queued - TO_GET - TO_INSERT)),
        ("D2C", row(|truth| truth.completed - truth.dispatched)),
        ("Q2C", row(|truth| truth.completed - truth.queued)),
    ]
}

/// Half of the requests are for 40 places, many of which wait at once.
fn overlapping(seed: u64) -> Load {
    let load = any_load(seed, 1500, false);
    Load { gap_us: 700, depth: 8 << (seed % 3), hot: 5, places: 40, servers: 8, ..load }
}

fn read_layers(events: &[(u32, Event)], options: &OpenOptions) -> PairingSummary {
    let folder = tempfile::tempdir().unwrap();
    for cpu in 0..3 {
        let own = events.iter().filter(|(_, event)| usize::from(event.cpu) == cpu);
        write_file(folder.path(), cpu, own.copied());
    }
    read(folder.path(), options).1
}

/// Q2G was up to 400 times too long, as the oldest of a place was given the structure of the latest; and of some directions or processes
/// the structures of others went to those.
#[test]
fn each_request_of_a_place_has_the_steps_of_its_own() {
    type Is = fn(&Asked) -> bool;
    let pids = Some([101, 103].into());
    let choices: [(Filter, Is); 4] = [
        (Filter::default(), |_| true),
        (Filter { op: Some(Op::Read), ..Filter::default() }, |asked| !asked.writes),
        (Filter { op: Some(Op::Write), ..Filter::default() }, |asked| asked.writes),
        (Filter { pids, ..Filter::default() }, |asked| asked.pid % 2 == 1),
    ];
    for (seed, (filter, is_chosen)) in (0..12).flat_map(|seed| choices.clone().map(|choice| (seed, choice))) {
        let load = overlapping(seed);
        let (events, mut asked) = layered(&load);
        asked.retain(is_chosen);
        let what = format!("{filter:?} of {load:?}");
        let found = read_layers(&events, &OpenOptions { filter, ..OpenOptions::default() }).btt;
        let found: Vec<_> = found.rows().filter(|(name, row)| row.count > 0 && *name != "Q2Q").collect();
        assert_eq!(found, rows(&asked), "{what}");
    }
}

/// What btt makes of a place: what is queued there last takes each step.
#[test]
fn as_btt_pairs_the_latest_of_a_place_takes_all_steps() {
    for seed in 0..12 {
        let (events, _) = layered(&overlapping(seed));
        // When it was queued, got its structure, was inserted and dispatched.
        let mut places: BTreeMap<u64, [u64; 4]> = BTreeMap::new();
        let mut sums = [(0, 0); 5];
        for (_, event) in &events {
            let now = event.time.0;
            let mut add = |row: usize, from: u64| {
                if from > 0 {
                    sums[row] = (sums[row].0 + 1, sums[row].1 + u128::from(now - from));
                }
            };
            if event.action == Action::Queue {
                places.insert(event.sector, [now, 0, 0, 0]);
            }
            let Some(steps) = places.get_mut(&event.sector) else { continue };
            let step = match event.action {
                Action::GetRequest => 1,
                Action::Insert => 2,
                Action::Issue => 3,
                Action::Complete => {
                    add(3, steps[3]);
                    // One that was not dispatched yet is completed all the same.
                    add(4, steps[0]);
                    places.remove(&event.sector);
                    continue;
                }
                _ => continue,
            };
            add(step - 1, steps[step - 1]);
            steps[step] = now;
        }
        let options = OpenOptions { pairing: PairingRule::Btt, ..OpenOptions::default() };
        let table = read_layers(&events, &options).btt;
        let found = table.rows().filter(|(name, _)| ["Q2G", "G2I", "I2D", "D2C", "Q2C"].contains(name));
        let found: Vec<_> = found.map(|(_, row)| (row.count, row.sum_ns)).collect();
        assert_eq!(found, sums, "{seed}");
    }
}

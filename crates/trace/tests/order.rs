//! Text whose lines are out of order, or come twice.

mod common;

use common::{Random, as_text, read};
use headstack_trace::event::{
    Action, Event, EventSource as _, Loss, Marks, PairingSummary, device_of, open_events,
};
use headstack_trace::{Io, Notes, OpenOptions};
use headstack_units::Nanos;

/// Events of so many requests for a few places on three processors, each with its number, in order of time.
fn events(requests: u64) -> Vec<(u32, Event)> {
    let (mut random, mut all) = (Random(4242 + requests), Vec::new());
    for request in 0..requests {
        let sector = 8 * if request % 3 == 0 { request % 20 } else { 1000 + random.below(1_000_000) };
        let mut time = 1_000_000_000 + 9_000_000 * request;
        for action in [Action::Queue, Action::GetRequest, Action::Insert, Action::Issue, Action::Complete] {
            time += 1 + random.below(7_000_000);
            let cpu = random.below(3) as u16;
            let marks = Marks::of_letters(if sector % 3 == 0 { b"WS" } else { b"R" }).unwrap();
            let (time, device) = (Nanos(time), device_of(8, 16));
            all.push(Event { time, sector, bytes: 4096, pid: 7, device, cpu, action, marks });
        }
    }
    all.sort_by_key(|event| event.time);
    let mut numbers = [0; 3];
    let numbered = all.into_iter().map(|event| {
        let number = &mut numbers[usize::from(event.cpu)];
        *number += 1;
        (*number, event)
    });
    numbered.collect()
}

/// As trace-cmd prints queueing, dispatches and completions, which have no numbers.
fn as_tracepoints(events: &[(u32, Event)]) -> Vec<String> {
    let line = |(_, event): &(u32, Event)| {
        let (name, bytes) = match event.action {
            Action::Queue => ("block_bio_queue", ""),
            Action::Issue => ("block_rq_issue", " 4096 ()"),
            Action::Complete => ("block_rq_complete", " ()"),
            _ => return None,
        };
        let (seconds, nanos) = (event.time.0 / 1_000_000_000, event.time.0 % 1_000_000_000);
        let (cpu, marks, sector) = (event.cpu, event.marks.letters(), event.sector);
        let end = if event.action == Action::Complete { "[0]" } else { "[app]" };
        Some(format!(
            "app-7 [{cpu:03}] {seconds}.{nanos:09}: {name}: 8,16 {marks}{bytes} {sector} + 8 {end}\n"
        ))
    };
    events.iter().filter_map(line).collect()
}

fn as_lines(events: &[(u32, Event)]) -> Vec<String> {
    as_text(events).lines().map(|line| format!("{line}\n")).collect()
}

type Paired = (Vec<Io>, PairingSummary, Notes);

fn paired(lines: &[String]) -> Paired {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, lines.concat()).unwrap();
    let options = OpenOptions { tolerant: true, ..OpenOptions::default() };
    let (ios, summary) = read(&path, &options);
    let (mut events, mut batch) = (open_events(&path, &options).unwrap(), Vec::new());
    while {
        events.next_events(&mut batch).unwrap();
        !batch.is_empty()
    } {}
    (ios, summary, events.notes())
}

/// In each so many lines, one after the other, all are drawn by lot.
fn shuffled(lines: &[String], within: usize) -> Vec<String> {
    let (mut random, mut lines) = (Random(99 + within as u64), lines.to_vec());
    for part in lines.chunks_mut(within) {
        (1..part.len()).for_each(|at| part.swap(at, random.below(at as u64 + 1) as usize));
    }
    lines
}

/// So many lines on, each stands behind others by up to so many.
fn late(lines: &[String], by: usize) -> Vec<String> {
    let mut random = Random(77 + by as u64);
    let place = |at: usize| at + if random.below(3) == 0 { random.below(by as u64) as usize } else { 0 };
    let mut places: Vec<(usize, usize)> = (0..lines.len()).map(place).zip(0..).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, at)| lines[at].clone()).collect()
}

fn is_as(whole: &Paired, lines: &[String], doubled: u64, what: &str) {
    let found = paired(lines);
    let counts = &found.1.counts;
    assert_eq!((found.0.len(), counts.doubtful, counts.orphans()), (whole.0.len(), 0, 0), "{what}");
    assert!(found.0 == whole.0, "{what}");
    assert_eq!(counts, &whole.1.counts, "{what}");
    assert_eq!(found.1.tally.entries, whole.1.tally.entries, "{what}");
    assert_eq!((found.1.loss, found.2.doubled), (Loss::default(), doubled), "{what}");
}

/// Of lines within 100 of their place four in five requests were left out as doubtful.
#[test]
fn lines_out_of_order_are_put_into_order() {
    for requests in [100, 700, 12_000] {
        let lines = as_lines(&events(requests));
        let whole = paired(&lines);
        assert_eq!(whole.1.counts.pairs, requests);
        for within in [2, 100, 3000, 16_384] {
            is_as(&whole, &shuffled(&lines, within), 0, &format!("{requests} within {within}"));
            is_as(&whole, &late(&lines, within), 0, &format!("{requests} by {within}"));
        }
        // Each processor's after the other's, as they are printed one by one.
        if lines.len() <= 16_384 {
            let mut of_cpu = lines.clone();
            of_cpu.sort_by_key(|line| line.split_whitespace().nth(1).map(str::to_owned));
            is_as(&whole, &of_cpu, 0, &format!("{requests} by processor"));
        }
    }
}

/// Without numbers, a clock that goes back by more than a second is taken for one that was set back.
#[test]
fn tracepoints_out_of_order_are_put_into_order() {
    let lines = as_tracepoints(&events(12_000));
    let whole = paired(&lines);
    assert_eq!(whole.1.counts.pairs, 12_000);
    for within in [2, 100, 300] {
        is_as(&whole, &shuffled(&lines, within), 0, &format!("within {within}"));
    }
}

/// Of a text that came twice each request was read once, and of its last instant an event twice; of one of which each line came twice
/// all requests were doubtful.
#[test]
fn what_comes_twice_is_read_once() {
    for requests in [20, 700, 12_000] {
        let events = events(requests);
        for lines in [as_lines(&events), as_tracepoints(&events)] {
            let whole = paired(&lines);
            let count = lines.len() as u64;
            let each: Vec<String> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
            is_as(&whole, &each, count, &format!("each of {requests}"));
            is_as(&whole, &[&lines[..], &lines].concat(), count, &format!("{requests} and again"));
            is_as(&whole, &[&lines[..], &lines, &lines].concat(), 2 * count, &format!("{requests} thrice"));
            let from = lines.len() / 2;
            let tail = [&lines[..], &lines[from.max(lines.len().saturating_sub(10_000))..]].concat();
            is_as(&whole, &tail, tail.len() as u64 - count, &format!("{requests} and the end"));
        }
        let lines = as_lines(&events);
        let whole = paired(&lines);
        let both = [&lines[..], &lines].concat();
        if both.len() <= 16_384 {
            is_as(&whole, &shuffled(&both, 16_384), lines.len() as u64, &format!("{requests} in disorder"));
        }
    }
}

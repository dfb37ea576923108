//! Tracepoints in whole microseconds: events that are told in the same words, and lines that are written twice.

mod common;

use common::load::{Load, Truths, any_load};
use common::{Random, read};
use headstack_trace::event::{Action, Event, PairingSummary};
use headstack_trace::{Io, OpenOptions};

/// The events of a load that is so many times as fast, in order.
fn events(load: &Load, faster: u64) -> (Vec<Event>, Truths) {
    let (files, truths) = load.run();
    let mut events: Vec<Event> = files.into_iter().flatten().collect();
    events.sort_by_key(|event| event.time);
    let first = events[0].time.0;
    for event in &mut events {
        event.time.0 = first + (event.time.0 - first) / faster;
    }
    (events, truths)
}

/// As perf prints them.
fn as_lines(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| {
        let (name, bytes) = match event.action {
            Action::Queue => ("block_bio_queue", ""),
            Action::Issue => ("block_rq_issue", " 4096 ()"),
            _ => ("block_rq_complete", " ()"),
        };
        let (seconds, micros) = (event.time.0 / 1_000_000_000, event.time.0 / 1000 % 1_000_000);
        let (cpu, marks, sector) = (event.cpu, event.marks.letters(), event.sector);
        let end = if event.action == Action::Complete { "[0]" } else { "[app]" };
        format!(
            "app 7 [{cpu:03}] {seconds}.{micros:06}: block:{name}: 8,16 {marks}{bytes} {sector} + 8 {end}\n"
        )
    };
    events.iter().map(line).collect()
}

fn paired(lines: &[String]) -> (Vec<Io>, PairingSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, lines.concat()).unwrap();
    read(&path, &OpenOptions { tolerant: true, ..OpenOptions::default() })
}

/// How many lines are as one before.
fn alike(lines: &[String]) -> usize {
    let mut sorted: Vec<&String> = lines.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    lines.len() - sorted.len()
}

/// Loads in which some lines are alike, of one processor or three.
fn loads() -> impl Iterator<Item = (Load, u64)> {
    let one = (0..40).flat_map(|seed| [50, 400].map(|faster| (any_load(seed, 2000, true), faster)));
    one.map(|(load, faster)| {
        let cpus = if load.seed % 2 == 0 { 1 } else { 3 };
        (Load { hot: load.hot.max(3), cpus, ..load }, faster)
    })
}

/// Of two completions of the same sectors, in the same microsecond, one was left out as written twice.
#[test]
fn events_in_the_same_words_are_events_of_their_own() {
    let (mut texts, mut lost) = (0, Vec::new());
    for (load, faster) in loads() {
        let (events, truths) = events(&load, faster);
        let lines = as_lines(&events);
        let alike = alike(&lines);
        texts += usize::from(alike > 0);
        let (ios, summary) = paired(&lines);
        if summary.tally.entries != lines.len() as u64 || ios.len() != truths.len() {
            lost.push((
                faster,
                alike,
                lines.len() as u64 - summary.tally.entries,
                truths.len() - ios.len(),
                load,
            ));
        }
    }
    assert!(texts > 20 && lost.is_empty(), "{} of {texts}: {lost:#?}", lost.len());
}

/// … while what is written twice is read once: all of a text, its end, a part, or each line of it.
#[test]
fn lines_that_are_written_twice_are_read_once() {
    let mut random = Random(4711);
    for (load, faster) in loads().step_by(3) {
        let lines = as_lines(&events(&load, faster).0);
        let whole = paired(&lines);
        let count = lines.len();
        let (from, length) =
            (random.below(count as u64 / 2) as usize, 30 + random.below(count as u64 / 3) as usize);
        let part = from..from + length;
        let copy = lines[part.clone()].to_vec();
        let mut again = lines.clone();
        again.splice(part.end..part.end, copy.clone());
        for (what, text) in [
            ("all again", [&lines[..], &lines].concat()),
            ("the end again", [&lines[..], &lines[count / 2..]].concat()),
            ("a part again", again),
            ("a part at the end", [&lines[..], &copy].concat()),
        ] {
            let (ios, summary) = paired(&text);
            assert_eq!(summary.tally.entries, whole.1.tally.entries, "{what} {part:?}, {faster} {load:?}");
            assert!(ios == whole.0, "{what}");
        }
        // Of lines that are each there twice nobody can tell which were there twice already.
        let (mut once, mut known) = (lines.clone(), std::collections::BTreeSet::new());
        once.retain(|line| known.insert(line.clone()));
        let whole = paired(&once);
        let doubled =
            |lines: &[String]| lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect::<Vec<_>>();
        let all = doubled(&once);
        assert!(paired(&all).0 == whole.0, "each, {faster} {load:?}");
    }
}

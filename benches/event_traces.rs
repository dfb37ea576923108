//! Made traces of block-layer events: three for each request, its queueing, its dispatch and its completion.

use headstack_trace::event::blktrace::{Layout, push_record};
use headstack_trace::event::{Action, Event, EventSource, Marks};
use headstack_units::Nanos;
use std::fmt::Write as _;
use std::path::Path;

/// The formats.
pub const FORMATS: [&str; 3] = ["blktrace", "blkparse", "ftrace"];

/// Writes the events of so many requests.
///
/// # Panics
/// If the format is none of [`FORMATS`], or the file cannot be written.
pub fn write(path: &Path, format: &str, requests: u64) {
    let contents = match format {
        "blktrace" => blktrace(requests),
        "blkparse" => blkparse(requests),
        "ftrace" => ftrace(requests),
        _ => panic!("no such format of events: {format}"),
    };
    std::fs::write(path, contents).expect("writable");
}

/// Reads a trace of events to its end; how many there are.
///
/// # Panics
/// If it cannot be read.
pub fn count_events(path: &Path) -> u64 {
    let options = headstack_trace::OpenOptions::default();
    let mut reader = headstack_trace::event::open_events(path, &options).expect("readable");
    let (mut batch, mut total) = (Vec::new(), 0);
    loop {
        reader.next_events(&mut batch).expect("sound");
        if batch.is_empty() {
            return total;
        }
        total += batch.len() as u64;
    }
}

/// Instants (ns), letters and sectors of the events of so many requests, 20 us apart, four outstanding.
fn steps(requests: u64) -> impl Iterator<Item = (u64, Action, u64)> {
    (0..requests + 3).flat_map(move |k| {
        let sector = |k: u64| k * 7919 % 90_000_000 * 8;
        let done = k.checked_sub(3).map(|old| (k * 20_000 + 9000, Action::Complete, sector(old)));
        let new = (k < requests)
            .then(|| [(k * 20_000, Action::Queue, sector(k)), (k * 20_000 + 3000, Action::Issue, sector(k))]);
        new.into_iter().flatten().chain(done)
    })
}

fn blktrace(requests: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ((time, action, sector), sequence) in steps(requests).zip(1..) {
        let event = Event {
            time: Nanos(time),
            sector,
            bytes: 4096,
            pid: 7,
            device: 8 << 20,
            cpu: 0,
            action,
            marks: Marks::READ,
        };
        push_record(&mut bytes, Layout { version: 7, big_endian: false }, sequence, &event);
    }
    bytes
}

fn blkparse(requests: u64) -> Vec<u8> {
    let mut text = String::new();
    for ((time, action, sector), sequence) in steps(requests).zip(1_u32..) {
        let (s, ns, letter) = (time / 1_000_000_000, time % 1_000_000_000, action.letter());
        writeln!(text, "  8,0    0 {sequence:8} {s:5}.{ns:09}  1867 {letter:>2}   R {sector} + 8 [dd]")
            .expect("memory");
    }
    text.into_bytes()
}

fn ftrace(requests: u64) -> Vec<u8> {
    let mut text = String::new();
    for (time, action, sector) in steps(requests) {
        let (s, us) = (time / 1_000_000_000, time % 1_000_000_000 / 1000);
        let tail = match action {
            Action::Queue => format!("bio_queue: 8,0 R {sector} + 8 [dd]"),
            Action::Issue => format!("rq_issue: 8,0 R 4096 () {sector} + 8 none,0,0 [dd]"),
            _ => format!("rq_complete: 8,0 R () {sector} + 8 none,0,0 [0]"),
        };
        writeln!(text, "              dd-1867    [000] ..... {s:5}.{us:06}: block_{tail}").expect("memory");
    }
    text.into_bytes()
}

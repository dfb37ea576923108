//! Readers of block-layer events, on traces made here: events per second from a file in the page cache.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::traces::count;
use headstack_trace::event::blktrace::{Layout, push_record};
use headstack_trace::event::{Action, Event, EventSource, Marks};
use headstack_units::Nanos;
use std::fmt::Write as _;
use std::path::Path;

/// Events of a queueing, a dispatch and a completion for each of so many requests.
const REQUESTS: u64 = 100_000;

fn events(c: &mut Criterion) {
    let folder = std::env::temp_dir().join(format!("headstack-benches-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let mut group = c.benchmark_group("events");
    group.throughput(Throughput::Elements(3 * REQUESTS));
    for (name, contents) in [("blktrace", blktrace()), ("blkparse", blkparse()), ("ftrace", ftrace())] {
        let path = folder.join(name);
        std::fs::write(&path, contents).expect("writable");
        assert_eq!(count_events(&path), 3 * REQUESTS);
        group.bench_function(name, |b| b.iter(|| count_events(&path)));
    }
    // The same, paired to requests.
    let path = folder.join("blktrace");
    assert_eq!(count(&path), REQUESTS);
    group.bench_function("blktrace-paired", |b| b.iter(|| count(&path)));
    group.finish();
    std::fs::remove_dir_all(&folder).expect("removable");
}

fn count_events(path: &Path) -> u64 {
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

/// Instants (ns), letters and sectors of the events, 20 us apart, four requests outstanding.
fn steps() -> impl Iterator<Item = (u64, Action, u64)> {
    (0..REQUESTS + 3).flat_map(|k| {
        let sector = |k: u64| k * 7919 % 90_000_000 * 8;
        let done = k.checked_sub(3).map(|old| (k * 20_000 + 9000, Action::Complete, sector(old)));
        let new = (k < REQUESTS)
            .then(|| [(k * 20_000, Action::Queue, sector(k)), (k * 20_000 + 3000, Action::Issue, sector(k))]);
        new.into_iter().flatten().chain(done)
    })
}

fn blktrace() -> Vec<u8> {
    let mut bytes = Vec::new();
    for ((time, action, sector), sequence) in steps().zip(1..) {
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

fn blkparse() -> Vec<u8> {
    let mut text = String::new();
    for ((time, action, sector), sequence) in steps().zip(1_u32..) {
        let (s, ns, letter) = (time / 1_000_000_000, time % 1_000_000_000, action.letter());
        writeln!(text, "  8,0    0 {sequence:8} {s:5}.{ns:09}  1867 {letter:>2}   R {sector} + 8 [dd]")
            .expect("memory");
    }
    text.into_bytes()
}

fn ftrace() -> Vec<u8> {
    let mut text = String::new();
    for (time, action, sector) in steps() {
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

criterion_group!(benches, events);
criterion_main!(benches);

//! Readers of block-layer events, on traces made here: events per second from a file in the page cache.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::event_traces::{FORMATS, count_events, write};
use headstack_benches::traces::count;

/// Events of a queueing, a dispatch and a completion for each of so many requests.
const REQUESTS: u64 = 100_000;

fn events(c: &mut Criterion) {
    let folder = std::env::temp_dir().join(format!("headstack-benches-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let mut group = c.benchmark_group("events");
    group.throughput(Throughput::Elements(3 * REQUESTS));
    for name in FORMATS {
        let path = folder.join(name);
        write(&path, name, REQUESTS);
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

criterion_group!(benches, events);
criterion_main!(benches);

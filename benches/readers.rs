//! Trace readers, on traces made here: records per second from a file in the page cache.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::traces::{FORMATS, count, write};

const RECORDS: u64 = 100_000;

fn readers(c: &mut Criterion) {
    let folder = std::env::temp_dir().join(format!("headstack-benches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let mut group = c.benchmark_group("reader");
    group.throughput(Throughput::Elements(RECORDS));
    for name in FORMATS {
        let path = folder.join(name);
        write(&path, name, RECORDS);
        assert_eq!(count(&path), RECORDS);
        group.bench_function(name, |b| b.iter(|| count(&path)));
    }
    group.finish();
    std::fs::remove_dir_all(&folder).expect("removable");
}

criterion_group!(benches, readers);
criterion_main!(benches);

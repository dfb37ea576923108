//! From a Parquet trace to a summary: decoding, fitting to the system, the drive, statistics.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::cases::LIGHT_DRIVES;
use headstack_benches::whole::Whole;

const REQUESTS: u64 = 100_000;

fn end_to_end(c: &mut Criterion) {
    let path = std::env::temp_dir().join(format!("headstack-benches-{}.parquet", std::process::id()));
    let mut group = c.benchmark_group("parquet to summary");
    group.throughput(Throughput::Elements(REQUESTS));
    for name in LIGHT_DRIVES {
        let whole = Whole::light(name, path.clone());
        whole.write_light(REQUESTS);
        assert_eq!(whole.run(None).requests, REQUESTS);
        group.bench_function(name, |b| b.iter(|| whole.run(None)));
    }
    group.finish();
    std::fs::remove_file(&path).expect("removable");
}

criterion_group!(benches, end_to_end);
criterion_main!(benches);

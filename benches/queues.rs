//! Choosing among commands that wait, and serving: a queue of constant length in the drive, from 10 to 100,000.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::cases::DEPTHS;
use headstack_benches::steady::Steady;

fn sptf(c: &mut Criterion) {
    let mut group = c.benchmark_group("sptf cheetah-9lp");
    group.throughput(Throughput::Elements(1));
    for depth in DEPTHS {
        let mut steady = Steady::new("cheetah-9lp", "sptf", depth);
        group.bench_function(format!("{depth} waiting"), |b| b.iter(|| steady.step()));
    }
    group.finish();
}

criterion_group!(benches, sptf);
criterion_main!(benches);

//! Eighteen drives on one bus each, or as the simulation file has them, under the trace published with DiskSim.

#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::whole::Whole;

fn ascii(c: &mut Criterion) {
    let Some(whole) = Whole::eighteen_drives() else {
        eprintln!(
            "skipped: eighteen drives need validate/ascii.trace, validate/ascii.parv and drives in $HEADSTACK_DATA"
        );
        return;
    };
    let mut group = c.benchmark_group("18 drives");
    group.sample_size(10);
    group.throughput(Throughput::Elements(whole.run(None).requests));
    group.bench_function("ascii.trace", |b| b.iter(|| whole.run(None)));
    group.finish();
}

criterion_group!(benches, ascii);
criterion_main!(benches);

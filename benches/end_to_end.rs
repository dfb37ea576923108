//! From a Parquet trace to a summary: decoding, fitting to the system, the drive, statistics.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_system::record::Discard;
use headstack_system::{Input, RunOptions, Summary, System, WorkloadSpec, run};
use headstack_trace::shape::shape_file;
use headstack_trace::{OpenOptions, OutputFormat, Shaping, Target, convert};
use std::path::Path;
use std::sync::Arc;

const REQUESTS: u64 = 100_000;

fn write(system: &System, path: &Path) {
    let (_, mut spec) = WorkloadSpec::load("light-million", &[]).expect("the library has the workload");
    spec.requests = Some(REQUESTS);
    let generator = spec.generate(&system.devices(), None, None).expect("it fits the drive");
    let mut open = generator.open.expect("its requests come when they come");
    convert(&mut open, system.sector_bytes(), path, OutputFormat::Parquet).expect("a writable folder");
}

fn simulate(system: &Arc<System>, path: &Path) -> Summary {
    let devices = system.devices();
    let target = |device: &headstack_system::workload::DeviceShape| Target {
        sector_bytes: device.sector_bytes,
        sectors: device.sectors,
    };
    let targets = devices.iter().map(target).collect();
    let source =
        shape_file(path, &OpenOptions::default(), Shaping::default(), targets).expect("a readable trace");
    let input = Input::Source(Box::new(source));
    run(system, input, &RunOptions::default(), &mut Discard, &mut |_| {}).expect("a sound trace")
}

fn end_to_end(c: &mut Criterion) {
    let path = std::env::temp_dir().join(format!("headstack-benches-{}.parquet", std::process::id()));
    let mut group = c.benchmark_group("parquet to summary");
    group.throughput(Throughput::Elements(REQUESTS));
    for name in ["hp-97560", "cheetah-9lp"] {
        let system = Arc::new(System::load(name, &[]).expect("the library has the drive"));
        write(&system, &path);
        assert_eq!(simulate(&system, &path).requests, REQUESTS);
        group.bench_function(name, |b| b.iter(|| simulate(&system, &path)));
    }
    group.finish();
    std::fs::remove_file(&path).expect("removable");
}

criterion_group!(benches, end_to_end);
criterion_main!(benches);

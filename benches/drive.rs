//! One drive, command by command: what a request costs before the system around it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::{drive, random_4k};
use headstack_drive::command::{Command, Outcome};
use headstack_units::{Angle, Lba, Nanos, Op, RequestFlags};
use std::hint::black_box;

const REQUESTS: u64 = 10_000;

/// Layout and rotation, the innermost steps.
fn steps(c: &mut Criterion) {
    let plain = drive("hp-97560");
    let layout = &plain.model().layout;
    let requests = random_4k(&plain, REQUESTS);
    let mut group = c.benchmark_group("step");
    group.throughput(Throughput::Elements(REQUESTS));
    group.bench_function("locate", |b| {
        b.iter(|| {
            requests.iter().fold(0, |sum: u64, (_, command)| {
                sum.wrapping_add(layout.locate(black_box(command.lba.0)).start.0)
            })
        });
    });
    for name in ["hp-97560", "cheetah-9lp"] {
        // Without defects; with 594 slipped sectors.
        let fresh = drive(name);
        let requests = random_4k(&fresh, REQUESTS);
        let layout = &fresh.model().layout;
        group.bench_function(format!("extent {name}"), |b| {
            b.iter(|| {
                requests
                    .iter()
                    .fold(0, |sum, (_, command)| sum + layout.extent(black_box(command.lba.0), 8).sectors)
            });
        });
    }
    let epoch = headstack_drive::mechanics::Epoch::new(Nanos::ZERO, Angle::ZERO, 14_992_503.7);
    group.bench_function("next sector", |b| {
        b.iter(|| {
            requests.iter().fold(0_u64, |sum, (at, command)| {
                sum.wrapping_add(epoch.next(*at, Angle(black_box(command.lba.0 << 40))).0)
            })
        });
    });
    group.finish();
}

/// First come, first served, with time between the requests.
fn fcfs(c: &mut Criterion) {
    let mut group = c.benchmark_group("fcfs random 4 KiB");
    group.throughput(Throughput::Elements(REQUESTS));
    for name in ["hp-97560", "hp-c2247a", "cheetah-9lp", "nearline-18tb"] {
        let fresh = drive(name);
        let requests = random_4k(&fresh, REQUESTS);
        let bus = fresh.model().bus();
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut drive = fresh.clone();
                let (mut background, mut outcome) = (Vec::new(), Outcome::default());
                for &(at, command) in &requests {
                    let at = at.max(outcome.finish);
                    drive.serve_into(at, command, &bus, &mut background, &mut outcome);
                    background.clear();
                }
                outcome.finish
            });
        });
    }
    group.finish();
}

/// Reads one behind the other, served by read-ahead.
fn sequential(c: &mut Criterion) {
    let fresh = drive("hp-97560");
    let bus = fresh.model().bus();
    let mut group = c.benchmark_group("cached sequential");
    group.throughput(Throughput::Elements(REQUESTS));
    group.bench_function("hp-97560", |b| {
        b.iter(|| {
            let mut drive = fresh.clone();
            let (mut background, mut at) = (Vec::new(), Nanos::ZERO);
            for id in 0..REQUESTS {
                let flags = RequestFlags::default();
                let command = Command { id, op: Op::Read, lba: Lba(id * 8), sectors: 8, flags };
                at = drive.serve(at, command, &bus, &mut background).finish;
            }
            at
        });
    });
    group.finish();
}

criterion_group!(benches, steps, fcfs, sequential);
criterion_main!(benches);

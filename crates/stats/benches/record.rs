//! What recording one value costs: `cargo bench -p headstack-stats`.
#![allow(clippy::print_stdout)] // a benchmark prints

use core::hint::black_box;
use std::time::Instant;

use headstack_stats::{BatchMeans, Moments, Quantiles, Timeline};
use headstack_units::Nanos;

const COUNT: u64 = 9_000_000;
const ROUNDS: u32 = 5;

/// The k-th value of a fixed stream: a service time between 1 and 18 ms, or an address.
fn scramble(k: u64) -> u64 {
    let z = k.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

fn service_time(k: u64) -> Nanos {
    Nanos(1_000_000 + (scramble(k) >> 40))
}

/// Prints the best of a few rounds over [`COUNT`] values, in ns per value.
fn time<R>(name: &str, new: impl Fn() -> R, mut record: impl FnMut(&mut R, u64)) {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut recorder = new();
        let start = Instant::now();
        for k in 0..COUNT {
            record(&mut recorder, k);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / COUNT as f64);
        black_box(recorder);
    }
    println!("{name:<28}{best:6.2} ns");
}

fn main() {
    time("the stream itself", || 0, |sum, k| *sum ^= black_box(service_time(k)).0);
    time("moments", Moments::new, |r, k| r.record(service_time(k)));
    time("batch means", BatchMeans::new, |r, k| r.record(k, service_time(k)));
    time("quantiles, exact", Quantiles::new, |r, k| r.record(service_time(k)));
    time("quantiles, hdr", || Quantiles::with_limit(0), |r, k| r.record(service_time(k)));
    time("timeline over time", Timeline::new, |r, k| r.record(k * 10_000_000, service_time(k)));
    time("timeline over addresses", Timeline::new, |r, k| r.record(scramble(!k) >> 28, service_time(k)));
    time(
        "all four",
        || (Moments::new(), BatchMeans::new(), Quantiles::new(), Timeline::new()),
        |(moments, batches, quantiles, timeline), k| {
            let value = service_time(k);
            moments.record(value);
            batches.record(k, value);
            quantiles.record(value);
            timeline.record(k * 10_000_000, value);
        },
    );
    let mut quantiles: Quantiles = (0..COUNT).map(service_time).collect();
    let start = Instant::now();
    black_box(quantiles.summary());
    println!("summary of {COUNT} values {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
}

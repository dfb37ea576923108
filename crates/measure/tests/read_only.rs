//! Every drive of the library, simulated, measured without writing to it, and held against what it was made of.

#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod common;

use headstack_measure::device::{self, Noise, OpenOptions};
use headstack_measure::record::{ProbeName, Record};
use headstack_measure::{Options, measure};
use headstack_system::library;
use std::collections::BTreeMap;

/// One of each kind: no cache, one segment, several, whole tracks, and tracks along surfaces.
const ONE_OF_EACH: [&str; 5] = ["mock-disk", "hp-97560", "cheetah-9lp", "dec-rz26-fitted", "nearline-18tb"];

fn reading() -> OpenOptions {
    OpenOptions { read_only: true, seed: 1, ..OpenOptions::default() }
}

#[test]
fn a_drive_of_each_kind_is_recovered_by_reads() {
    common::check(ONE_OF_EACH, &reading(), |_| true);
}

#[test]
#[ignore = "slow: a minute or two"]
fn every_drive_is_recovered_by_reads() {
    common::check(common::drives_in_turn(), &reading(), |_| true);
}

/// A look at everything: what noise does to which drive.
#[test]
#[ignore = "a report, not a test"]
fn report_misses_through_noise() {
    let noise = Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 };
    common::check(
        library::drives().iter().map(|entry| entry.name),
        &OpenOptions { noise, ..reading() },
        |_| true,
    );
}

/// What each probe was expected to take, and took, on the device's clock, in s.
fn durations(name: &str) -> BTreeMap<&'static str, (f64, f64)> {
    let mut device = device::open(&format!("sim:{name}"), &reading()).unwrap();
    let mut expected: BTreeMap<&str, f64> = BTreeMap::new();
    let done = measure(device.as_mut(), &Options::default(), &mut |progress| {
        expected.insert(progress.probe, progress.expected_s);
        true
    });
    let record = done.unwrap().record;
    expected
        .into_iter()
        .filter_map(|(probe, s)| Some((probe, (s, took_s(&record, ProbeName::named(probe)?)?))))
        .collect()
}

fn took_s(record: &Record, probe: ProbeName) -> Option<f64> {
    let first = record.of(probe).next()?.start;
    record.of(probe).last().map(|last| (last.end - first).as_s())
}

#[test]
fn probes_take_about_as_long_as_they_say() {
    for name in ["mock-disk", "cheetah-9lp", "atlas-10k", "nearline-18tb"] {
        let durations = durations(name);
        assert!(durations.len() >= 12, "{name}: {} probes", durations.len());
        let (expected, took) =
            durations.values().fold((0.0, 0.0), |sum, (expected, took)| (sum.0 + expected, sum.1 + took));
        assert!(
            (0.4..2.5).contains(&(took / expected)),
            "{name}: {expected:.0} s expected, took {took:.0} s"
        );
        for (probe, (expected, took)) in durations {
            // What takes seconds may be off by some.
            let (least, most) = (expected / 5.0 - 10.0, expected * 5.0 + 10.0);
            assert!(
                (least..most).contains(&took),
                "{name} {probe}: {expected:.0} s expected, took {took:.0} s"
            );
        }
    }
}

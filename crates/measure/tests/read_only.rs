//! Every drive of the library, simulated, measured without writing to it, and held against what it was made of.

#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod common;

use headstack_measure::device::{self, Noise, OpenOptions};
use headstack_measure::extract::extract;
use headstack_measure::record::{ProbeName, Record};
use headstack_measure::{Options, measure};
use std::collections::BTreeMap;

/// One of each kind: no cache, one segment, several, whole tracks, many zones, and tracks along surfaces.
const ONE_OF_EACH: [&str; 6] =
    ["mock-disk", "hp-97560", "cheetah-9lp", "dec-rz26-fitted", "atlas-10k", "nearline-18tb"];

fn reading() -> OpenOptions {
    OpenOptions { read_only: true, seed: 1, ..OpenOptions::default() }
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
    common::check(common::drives(), &OpenOptions { noise, ..reading() }, |_| true);
}

fn took_s(record: &Record, probe: ProbeName) -> Option<f64> {
    let first = record.of(probe).next()?.start;
    record.of(probe).last().map(|last| (last.end - first).as_s())
}

/// Probes take about as long as they said, in s.
fn check_times(name: &str, said: &BTreeMap<&'static str, f64>, record: &Record) {
    let time = |(&probe, &said): (&&'static str, &f64)| {
        Some((probe, said, took_s(record, ProbeName::named(probe)?)?))
    };
    let times: Vec<(&str, f64, f64)> = said.iter().filter_map(time).collect();
    assert!(times.len() >= 12, "{name}: {} probes", times.len());
    let (said, took) = times.iter().fold((0.0, 0.0), |sum, time| (sum.0 + time.1, sum.1 + time.2));
    assert!((0.4..2.5).contains(&(took / said)), "{name}: {said:.0} s expected, took {took:.0} s");
    for (probe, said, took) in times {
        // What takes seconds may be off by some.
        let (least, most) = (said / 5.0 - 10.0, said * 5.0 + 10.0);
        assert!((least..most).contains(&took), "{name} {probe}: {said:.0} s expected, took {took:.0} s");
    }
}

#[test]
fn a_drive_of_each_kind_is_recovered_by_reads_in_the_time_that_probes_say() {
    for name in ONE_OF_EACH {
        let mut device = device::open(&format!("sim:{name}"), &reading()).unwrap();
        let mut said: BTreeMap<&'static str, f64> = BTreeMap::new();
        let done = measure(device.as_mut(), &Options::default(), &mut |progress| {
            said.insert(progress.probe, progress.expected_s);
            true
        });
        let done = done.unwrap();
        assert!(done.stopped.is_none(), "{name}: {:?}", done.stopped);
        check_times(name, &said, &done.record);
        let found = extract(&done.record).unwrap();
        let missed = common::misses_of(name, &reading(), &done.record, &found, &|_| true);
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }
}

/// Reads that make a cache forget lie anywhere: they were taken for the borders of pieces. The drive has three regions of 12,255
/// tracks, and the first begins with the fifth track of a cylinder.
#[test]
fn regions_end_where_they_end() {
    let (_, found) = common::measured_by("hp-97560", &reading(), &["angles", "seek-curve", "overhead"]);
    let borders: Vec<u64> = found.pieces.iter().map(|piece| piece.first_lba).collect();
    assert_eq!(borders, [0, 12_255 * 72, 2 * 12_255 * 72]);
    let missed: Vec<String> = common::file_rows(&found)
        .into_iter()
        .filter(|row| !row.holds())
        .map(|row| format!("{}: {} in the file, {:?} told", row.name, row.truth, row.found))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let spec = headstack_measure::rebuild::rebuild(&found, "rebuilt").unwrap();
    assert_eq!(spec.layout.zone.len(), 1, "{:?}", spec.layout.zone);
}

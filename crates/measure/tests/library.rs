//! Every drive of the library, simulated, measured, and held against what it was made of.

#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod common;
mod coverage;

use std::collections::BTreeSet;

use headstack_measure::device::{Noise, OpenOptions};
use headstack_measure::record::ProbeName;

/// Completions that a busy host sees late.
const LATE: Noise = Noise { relative: 0.0, outlier_share: 0.05, outlier_ms: 30.0 };
const NOISY: Noise = Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 };

/// How devices are opened, with this noise.
fn through(noise: Noise) -> OpenOptions {
    // With another seed, another noise: `SEED=7`, for the reports.
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    OpenOptions { noise, seed, ..OpenOptions::default() }
}

#[test]
fn every_drive_is_recovered() {
    common::check(common::drives_in_turn(), &through(Noise::NONE), |_| true);
}

/// Chance leaves a time of some drive in fifty outside its bounds, one seed with another; geometry never.
#[test]
fn drives_are_recovered_through_noise() {
    let wrong = common::missed(common::drives_in_turn(), &through(NOISY), |_| true);
    let drives: BTreeSet<&str> = wrong.iter().filter_map(|row| row.split(' ').next()).collect();
    let is_time = |row: &String| row.contains("_ms: ") || row.contains(" seek.");
    assert!(drives.len() <= 1 && wrong.iter().all(is_time), "\n{}", wrong.join("\n"));
}

/// A look at everything: what noise does to which drive; with `DRIVES=name,name`, to which of these.
#[test]
#[ignore = "a report, not a test"]
fn report_misses_through_noise() {
    let wanted = std::env::var("DRIVES").unwrap_or_default();
    let counts = |name: &&str| wanted.is_empty() || wanted.split(',').any(|word| word == *name);
    common::check(common::drives().filter(counts), &through(NOISY), |_| true);
}

/// A line with what each probe is announced to take on a drive, and takes, in s.
fn times(name: &str) -> String {
    let noise = match std::env::var("NOISE").as_deref() {
        Ok("late") => LATE,
        Ok("noisy") => NOISY,
        _ => Noise::NONE,
    };
    let options = through(noise);
    let (record, _) = common::measured_by(name, &options, &[]);
    let took = |probe: ProbeName| {
        let mut samples = record.of(probe);
        let first = samples.next().map_or(0.0, |sample| sample.start.as_s());
        record.of(probe).last().map_or(0.0, |sample| sample.end.as_s()) - first
    };
    let all = common::announced(name, &options);
    let samples = &record.samples;
    let total_s = (samples[samples.len() - 1].end - samples[0].start).as_s();
    let announced_s: f64 = all.iter().map(|(_, s)| s).sum();
    let parts: Vec<String> =
        all.iter().map(|&(probe, s)| format!("{} {s:.0}/{:.0}", probe.as_str(), took(probe))).collect();
    format!("{name} {announced_s:.0}/{total_s:.0} = {:.2}: {}", announced_s / total_s, parts.join(", "))
}

/// A look at everything: how long each probe was announced to take, and took, in s; with `NOISE=late` or `NOISE=noisy` through that.
#[test]
#[ignore = "a report, not a test"]
fn report_times() {
    let lines: Vec<String> = common::drives_in_turn().map(times).collect();
    panic!("\n{}", lines.join("\n"));
}

/// Late completions and noise cost time: it was announced as without them, 0.2 to 0.6 of what was taken.
#[test]
fn noise_is_seen_before_a_time_is_announced() {
    let announced_s = |noise: Noise| -> f64 {
        common::announced("nearline-18tb", &through(noise)).iter().map(|(_, s)| s).sum()
    };
    let quiet_s = announced_s(Noise::NONE);
    assert!((1.2..1.8).contains(&(announced_s(LATE) / quiet_s)));
    assert!((3.0..6.0).contains(&(announced_s(NOISY) / quiet_s)));
}

/// Rotation, surfaces and zones; what is not told is not wrong.
fn geometry(row: &common::Row) -> bool {
    let name = row.name.as_str();
    let counts = ["rotation_ms", "heads", "zones"].contains(&name) || name.starts_with("zone");
    counts && row.found.is_some()
}

#[test]
fn late_completions_do_not_change_the_geometry() {
    common::check(["hp-97560", "cheetah-9lp", "seagate-st32171w", "nearline-18tb"], &through(LATE), geometry);
}

#[test]
#[ignore = "slow: several minutes"]
fn late_completions_change_the_geometry_of_no_drive() {
    common::check(common::drives_in_turn(), &through(LATE), geometry);
}

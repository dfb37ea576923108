//! Devices on which nothing rotates: whatever their times look like, none may be told to rotate.

#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod synthetic;

use headstack_measure::extract::extract;
use headstack_measure::{Options, measure};
use synthetic::{Behaviour, Synthetic};

/// Ten kinds of device without a rotation.
const STILL: [(&str, Behaviour); 10] = [
    ("constant", |_| 0.03),
    ("constant and slow", |_| 1_000.0 / 120.0),
    ("flash with jitter", |at| 0.025 + at.exponential(0.01)),
    ("flash that collects garbage", |at| {
        let pause = if at.chance(0.02) { 5.0 + 45.0 * at.uniform() } else { 0.0 };
        0.2 * (0.5 * at.normal()).exp() + pause
    }),
    ("cached", |at| if at.chance(0.9) { 0.12 } else { 6.0 + at.exponential(1.0) }),
    ("shared with another client", |at| {
        let wait = if at.chance(0.5) { at.exponential(3.0) } else { 0.0 };
        0.5 + wait
    }),
    ("throttled to 100 accesses a second", |at| {
        (at.since_last_end_ms + 0.2).max(10.0) - at.since_last_end_ms
    }),
    ("served by a timer of 250 Hz", |at| {
        let done = at.now_ms + 0.3;
        (done / 4.0).ceil() * 4.0 - at.now_ms
    }),
    ("behind a network", |at| {
        let lost = if at.chance(0.01) { 200.0 } else { 0.0 };
        (0.5 + 0.1 * at.normal()).max(0.2) + lost
    }),
    ("moved but not rotated", |at| 2.0 + 10.0 * at.distance.sqrt() + at.exponential(0.05)),
];

/// Runs of each kind that found a rotation.
fn false_rotations(runs: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, behaviour) in STILL {
        for seed in 0..runs {
            let writable = seed % 2 == 0;
            let mut device = Synthetic::new(behaviour, seed, writable);
            let only = Options { probes: vec!["rotation".to_owned()], ..Options::default() };
            let record = measure(&mut device, &only, &mut |_| true).unwrap().record;
            let found = extract(&record).unwrap();
            if found.rotating != Some(false) {
                let period = found.value("rotation_ms");
                wrong.push(format!(
                    "{name}, seed {seed}, writable {writable}: {:?} {period:?}",
                    found.rotating
                ));
            }
        }
    }
    wrong
}

#[test]
fn nothing_rotates_where_nothing_does() {
    let wrong = false_rotations(4);
    assert!(wrong.is_empty(), "{} of 40:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "slow: 500 runs"]
fn null_model_nothing_rotates_in_500_runs() {
    let wrong = false_rotations(50);
    assert!(wrong.is_empty(), "{} of 500:\n{}", wrong.len(), wrong.join("\n"));
}

/// 7,200 rpm on a busy host: completions are seen late by a time slice of the scheduler, which is nearly half a revolution.
fn on_a_busy_host(at: &mut synthetic::At<'_>) -> f64 {
    let revolution_ms = 60_000.0 / 7_200.0;
    let angle_ms = at.lba as f64 * 0.618_034 % 1.0 * revolution_ms;
    let ready_ms = at.now_ms + 0.4 + 8.0 * at.distance.sqrt();
    let ahead_ms = (angle_ms - ready_ms).rem_euclid(revolution_ms);
    let slice_ms = if at.chance(0.2) { 4.0 } else { 0.0 };
    ready_ms + ahead_ms - at.now_ms + slice_ms + at.exponential(0.05)
}

#[test]
fn a_busy_host_does_not_halve_the_revolution() {
    for seed in 0..20 {
        let mut device = Synthetic::new(on_a_busy_host, seed, seed % 2 == 0);
        let only = Options { probes: vec!["rotation".to_owned()], ..Options::default() };
        let record = measure(&mut device, &only, &mut |_| true).unwrap().record;
        let found = extract(&record).unwrap().value("rotation_ms");
        assert!(
            found.is_some_and(|ms| (ms * 7_200.0 / 60_000.0 - 1.0).abs() < 1e-3),
            "seed {seed}: 8.333 ms is true, found {found:?}"
        );
    }
}

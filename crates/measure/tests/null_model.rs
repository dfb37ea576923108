//! Devices on which nothing rotates, and that do not stall: whatever their times look like, none may be told to.

#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod synthetic;

use headstack_measure::extract::{Extraction, Warning, extract};
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

/// What is told of a device and is not so: a rotation; stalls, and where one access in a hundred is lost for 200 ms, a period of
/// them.
fn wrong(name: &str, found: &Extraction) -> Vec<String> {
    let mut wrong = Vec::new();
    if found.rotating != Some(false) {
        wrong.push(format!("rotating: {:?}, {:?} ms", found.rotating, found.value("rotation_ms")));
    }
    for warning in &found.warnings {
        if let Warning::Stalls { interval_ms, .. } = warning
            && (interval_ms.is_some() || name != "behind a network")
        {
            wrong.push(warning.to_string());
        }
    }
    wrong
}

/// All that is told of each kind of device and is not so, in so many runs.
fn false_findings(runs: u64) -> Vec<String> {
    let mut all = Vec::new();
    for (name, behaviour) in STILL {
        for seed in 0..runs {
            let writable = seed % 2 == 0;
            let mut device = Synthetic::new(behaviour, seed, writable);
            let probes = ["rotation", "random"].map(str::to_owned).to_vec();
            let only = Options { probes, ..Options::default() };
            let record = measure(&mut device, &only, &mut |_| true).unwrap().record;
            let wrong = wrong(name, &extract(&record).unwrap());
            all.extend(
                wrong.iter().map(|wrong| format!("{name}, seed {seed}, writable {writable}: {wrong}")),
            );
        }
    }
    all
}

#[test]
fn nothing_rotates_or_stalls_where_nothing_does() {
    let wrong = false_findings(2);
    assert!(wrong.is_empty(), "{} in {} runs:\n{}", wrong.len(), 2 * STILL.len(), wrong.join("\n"));
}

#[test]
#[ignore = "slow: 500 runs, or NULL_RUNS of each kind"]
fn null_model_nothing_rotates_or_stalls_in_500_runs() {
    let runs = std::env::var("NULL_RUNS").ok().and_then(|count| count.parse().ok()).unwrap_or(50);
    let wrong = false_findings(runs);
    assert!(wrong.is_empty(), "{} in {} runs:\n{}", wrong.len(), runs * STILL.len() as u64, wrong.join("\n"));
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

/// A quiet drive of so many rpm of which one completion in 200 is seen late by 300 ms on average.
fn rarely_very_late(at: &mut synthetic::At<'_>, rpm: f64) -> f64 {
    let revolution_ms = 60_000.0 / rpm;
    let angle_ms = at.lba as f64 * 0.618_034 % 1.0 * revolution_ms;
    let ready_ms = at.now_ms + 0.4 + 8.0 * at.distance.sqrt();
    let ahead_ms = (angle_ms - ready_ms).rem_euclid(revolution_ms);
    let late_ms = if at.chance(0.005) { at.exponential(300.0) } else { 0.0 };
    ready_ms + ahead_ms - at.now_ms + late_ms
}

#[test]
fn a_few_very_late_completions_do_not_stop_the_disk() {
    let kinds: [(f64, Behaviour); 2] =
        [(4_002.0, |at| rarely_very_late(at, 4_002.0)), (15_000.0, |at| rarely_very_late(at, 15_000.0))];
    let mut wrong = Vec::new();
    for (rpm, behaviour) in kinds {
        for seed in 0..34 {
            let mut device = Synthetic::new(behaviour, seed, seed % 2 == 0);
            let only = Options { probes: vec!["rotation".to_owned()], ..Options::default() };
            let record = measure(&mut device, &only, &mut |_| true).unwrap().record;
            let found = extract(&record).unwrap().value("rotation_ms");
            if !found.is_some_and(|ms| (ms * rpm / 60_000.0 - 1.0).abs() < 1e-5) {
                wrong.push(format!(
                    "{rpm} rpm, seed {seed}: {:.6} ms is true, found {found:?}",
                    60_000.0 / rpm
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of 68:\n{}", wrong.len(), wrong.join("\n"));
}

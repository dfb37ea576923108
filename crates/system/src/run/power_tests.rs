//! What drives drew: bounds, sums, and every way through the system alike.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos};

use super::*;
use crate::record::Keep;

fn go(name: &str, set: &[(&str, &str)], requests: &[Request], options: &RunOptions) -> Summary {
    let set: Vec<(String, String)> = set.iter().map(|&(path, value)| (path.into(), value.into())).collect();
    let system = Arc::new(System::load(name, &set).unwrap_or_else(|error| panic!("{error}")));
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    run(&system, input, options, &mut Keep::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// The `i`-th of addresses all over a drive of so many sectors.
fn anywhere(i: u64, sectors: u64) -> Lba {
    Lba((crate::random::hash(&i.to_le_bytes()) >> 64) as u64 % (sectors - 8) / 8 * 8)
}

fn random(op: Op, count: u64, gap_ms: u64) -> Vec<Request> {
    let at = |i: u64| Nanos(i * gap_ms * 1_000_000);
    (0..count).map(|i| Request::new(at(i), op, anywhere(i, 35_000_000_000), 8)).collect()
}

#[test]
fn states_add_up_and_lie_between_idle_and_the_most_a_state_draws() {
    for (op, gap_ms) in [(Op::Read, 1), (Op::Read, 40), (Op::Write, 1), (Op::Write, 40)] {
        // A seek that never coasts draws a little more per ms than the one that the watts are of.
        let drives = [("nearline-18tb", 5.3, 1.1 * 6.98), ("dual-actuator-18tb", 7.9, 2.0 * 1.1 * 3.66)];
        for (name, idle, above) in drives {
            let most = idle + above;
            let power = go(name, &[], &random(op, 400, gap_ms), &RunOptions::default()).power.unwrap();
            assert!((power.by_state_w.total() - power.average_w).abs() < 1e-9);
            assert!((idle..=most).contains(&power.average_w), "{name}, {op:?}: {power:?}");
            assert!((power.per_request_j.unwrap() * 400.0 - power.energy_j).abs() < 1e-9 * power.energy_j);
            let at_work = power.energy_j - power.by_state_w.idle * power.energy_j / power.average_w;
            assert!((power.at_work_per_request_j.unwrap() * 400.0 - at_work).abs() < 1e-6 * at_work);
        }
    }
}

/// A drive that reads ahead is never more than one arm at work, though each read counts what was read ahead of it. Of a revolution
/// and the skew behind it, 4,576 and 336 sectors, it reads for the former.
#[test]
fn a_sequential_read_draws_what_reading_draws() {
    let requests: Vec<Request> =
        (0..600).map(|i| Request::new(Nanos(i), Op::Read, Lba(i * 2_048), 2_048)).collect();
    let power = go("nearline-18tb", &[], &requests, &RunOptions::default()).power.unwrap();
    let reading = 5.3 + (9.4 - 5.3) * 4_576.0 / (4_576.0 + 336.0);
    assert!((power.average_w - reading).abs() < 0.05 * reading, "{power:?}");
}

/// The figure of the data sheet that the watts of the library's drive were fitted to, one read at a time.
#[test]
fn random_reads_draw_the_published_watts() {
    let alone = [("host.outstanding_per_drive", "1")];
    let power =
        go("nearline-18tb", &alone, &random(Op::Read, 2_000, 1), &RunOptions::default()).power.unwrap();
    assert!((power.average_w - 9.4).abs() < 0.01 * 9.4, "{power:?}");
}

/// The maker's specification: 16.91 W at 30 operations a second, of a sibling that draws 15.54 W idle.
#[test]
fn thirty_operations_a_second_draw_the_published_watts() {
    let requests: Vec<Request> =
        (0..600).map(|i| Request::new(Nanos(i * 33_333_333), Op::Read, anywhere(i, 17_000_000), 8)).collect();
    let watts = go("ibm-ultrastar-xp", &[], &requests, &RunOptions::default()).power.unwrap().average_w;
    assert!((watts - 16.91).abs() < 0.01 * 16.91, "{watts}");
    assert!(((watts - 15.54) / (16.91 - 15.54) - 1.0).abs() < 0.1, "{watts}");
}

/// Section 4.4 of Sankar 2008: four drives that share 125 requests a second draw 61.4 W.
#[test]
fn the_thesis_drive_draws_the_thesis_watts() {
    let requests: Vec<Request> = (0..3_000)
        .map(|i| {
            let op = if i % 5 < 3 { Op::Read } else { Op::Write };
            Request::new(Nanos(i * 32_000_000), op, anywhere(i, 1_465_000_000), 8)
        })
        .collect();
    let watts = go("hc-sd", &[], &requests, &RunOptions::default()).power.unwrap().average_w;
    assert!((4.0 * watts - 61.4).abs() < 0.05 * 61.4, "{watts}");
}

#[test]
fn no_watts_are_made_up() {
    let requests = random(Op::Read, 20, 40);
    let known = |set: &[(&str, &str)]| {
        let summary = go("nearline-18tb", set, &requests, &RunOptions::default());
        (summary.power.is_some(), summary.drives[0].power.is_some())
    };
    assert_eq!(known(&[]), (true, true));
    // Slower disks drag less, which is known of disks that are described.
    assert_eq!(known(&[("rotation_rpm", "5400")]), (true, true));
    let near = [Request::new(Nanos(0), Op::Read, Lba(8), 8)];
    assert!(go("hp-97560", &[], &near, &RunOptions::default()).power.is_none());
}

/// What a drive was sent before it failed is served; it draws nothing from then on.
#[test]
fn a_failed_drive_draws_nothing() {
    let drives = "[\"hc-sd\", \"hc-sd\", \"hc-sd\"]";
    let standby = r#"[{name="standby_z",after_s=1,rpm=0,watts=0.5,enter={time_s=0.2,energy_j=1},recover={time_s=1,energy_j=9}}]"#;
    let joules = |failures: &str, conditions: &str, requests: &[Request], warmup| {
        let level = ("volume.data.level", "raid-5");
        let mut set = vec![level, ("volume.data.drives", drives), ("drive.*.power.condition", conditions)];
        set.extend((!failures.is_empty()).then_some(("volume.data.failures", failures)));
        let options = RunOptions { warmup, ..RunOptions::default() };
        let summary = go("raid5-4x-cheetah-9lp", &set, requests, &options);
        let power = summary.power.unwrap();
        let each: Vec<f64> = summary.drives.iter().map(|drive| drive.power.unwrap().energy_j).collect();
        assert!((power.by_state_w.total() - power.average_w).abs() < 1e-9, "{power:?}");
        assert!((each.iter().sum::<f64>() - power.energy_j).abs() < 1e-6, "{power:?}");
        each
    };
    let at = |s: f64| Request::new(Nanos::from_s(s), Op::Read, Lba(8), 8);
    let none = Warmup::None;
    // Of ten seconds it is there for two; one read on drive 0 takes some watts more.
    let idle = 12.15;
    let lasts = joules("", "[]", &[at(0.0), at(10.0)], none);
    assert!(lasts.iter().all(|joules| *joules > 10.0 * idle), "{lasts:?}");
    let failed = joules("[{drive=1,at_s=2}]", "[]", &[at(0.0), at(10.0)], none);
    assert!((failed[1] - 2.0 * idle).abs() < 1e-6, "{failed:?}");
    assert!((failed[2] - lasts[2]).abs() < 1e-6);
    // It was at rest for a second then, and goes on resting for nobody.
    let rested = joules("[{drive=1,at_s=2}]", standby, &[at(0.0), at(10.0)], none);
    assert!((rested[1] - (idle + 1.0 + 0.8 * 0.5)).abs() < 1e-6, "{rested:?}");
    // What counts begins when it has failed.
    let warm = joules("[{drive=1,at_s=2}]", standby, &[at(0.0), at(5.0), at(10.0)], Warmup::Requests(1));
    assert_eq!(warm[1], 0.0, "{warm:?}");
}

/// Energy follows the counted time: twice the pause, twice the joules.
#[test]
fn an_idle_drive_draws_by_the_clock() {
    let energy = |pause_s: u64| {
        let requests = [0, pause_s].map(|at| Request::new(Nanos(at * 1_000_000_000), Op::Read, Lba(0), 8));
        go("nearline-18tb", &[], &requests, &RunOptions::default()).power.unwrap().energy_j
    };
    assert!((energy(2_000) - energy(1_000) - 5_300.0).abs() < 1e-6);
}

/// A write where something was read ahead: that reading ahead stops for it does not wake the drive.
#[test]
fn a_write_into_what_was_read_ahead_wakes_a_drive_as_any_other_does() {
    let standby = r#"[{name="standby_z",after_s=0.1,rpm=0,watts=0.5,enter={time_s=0.2,energy_j=1},recover={time_s=1,energy_j=9}}]"#;
    for lba in [0, 64, 500, 700_000] {
        let requests = [
            Request::new(Nanos(0), Op::Read, Lba(0), 64),
            Request::new(Nanos::from_s(2.0), Op::Write, Lba(lba), 8),
        ];
        let summary = go("hc-sd", &[("power.condition", standby)], &requests, &RunOptions::default());
        let standby = &summary.drives[0].conditions[0];
        assert_eq!(standby.entered, 1, "{lba}: {standby:?}");
        let slowest = summary.response_ms.max.unwrap_or_default();
        assert!((slowest - 1_000.0).abs() < 20.0, "{lba}: {slowest} ms");
    }
}

/// Under overload one arm at a time draws what one arm draws; arms that work at a time draw each their own, and none is at work
/// for longer than the run.
#[test]
fn arms_that_work_at_a_time_draw_each_their_own() {
    // A short seek is sped up and slowed down for a larger share of its time than one over a third of the stroke.
    const ABOVE: f64 = 1.5 * (22.23 - 12.15);
    let requests: Vec<Request> = (0..400)
        .map(|i| Request::new(Nanos(i * 1_000_000), Op::Read, anywhere(i, 1_400_000_000), 8))
        .collect();
    let run = |design: &str| {
        let set = [("drive.0.arms.count", "4"), ("drive.0.arms.design", design)];
        let summary = go("hc-sd", &set, &requests, &RunOptions::default());
        let power = summary.power.unwrap();
        assert!((power.by_state_w.total() - power.average_w).abs() < 1e-9, "{design}: {power:?}");
        let utilisation = summary.drives[0].utilisation;
        assert!((0.5..=1.0 + 1e-9).contains(&utilisation), "{design}: {utilisation}");
        (power.average_w, summary.simulated_s)
    };
    let [single, moving, channels] = ["single-moving", "multi-moving", "multi-channel"].map(run);
    assert!(
        single.0 <= 12.15 + ABOVE && moving.0 > single.0 && channels.0 > single.0,
        "{single:?} {moving:?} {channels:?}"
    );
    assert!(moving.0 <= 12.15 + 4.0 * ABOVE, "{moving:?}");
    assert!(moving.1 < single.1, "{moving:?} against {single:?}");
}

/// Spun down after a minute: 10 s and 60 J down, 20 s and 300 J up, 1 W between.
const STANDBY: (&str, &str) = (
    "power.condition",
    "[{ name = \"standby_z\", after_s = 60.0, rpm = 0.0, enter = { time_s = 10.0, energy_j = 60.0 }, \
     recover = { time_s = 20.0, energy_j = 300.0 } }]",
);

fn reads(at_s: &[u64]) -> Vec<Request> {
    let read = |(i, &s): (usize, &u64)| {
        let lba = anywhere(i as u64, 35_000_000_000);
        Request::new(Nanos(s * 1_000_000_000), Op::Read, lba, 8)
    };
    at_s.iter().enumerate().map(read).collect()
}

/// Requests at 0, 30, 200, 265 and 600 s. The arm rests from 30 s (spun down from 90 s, woken at 200 s), from 220 s (still spinning when
/// the next comes, at 265 s), and from 265 s (spun down from 325 s, woken at 600 s).
#[test]
fn a_drive_that_spins_down_makes_the_next_request_wait_and_draws_what_that_takes() {
    let requests = reads(&[0, 30, 200, 265, 600]);
    for options in [RunOptions::default(), RunOptions { event_path: true, ..RunOptions::default() }] {
        let [awake, resting] =
            [&[][..], &[STANDBY][..]].map(|set| go("nearline-18tb", set, &requests, &options));
        let waited = resting.phases_ms.other - awake.phases_ms.other;
        assert!((waited - 2.0 * 20_000.0 / 5.0).abs() < 1e-6, "{waited}");
        let condition = &resting.drives[0].conditions[0];
        assert_eq!((condition.name.as_str(), condition.entered), ("standby_z", 2));
        let near =
            |value: f64, expected: f64| assert!((value - expected).abs() < 0.1, "{value} for {expected}");
        near(condition.entering_s, 10.0 + 10.0);
        near(condition.within_s, 100.0 + 265.0);
        near(condition.recovering_s, 20.0 + 20.0);
        let longer_s = resting.simulated_s - awake.simulated_s;
        let resting_s = resting.simulated_s;
        let [awake, resting] = [awake, resting].map(|summary| summary.power.unwrap());
        let spent_j = 365.0 * 1.0 + 2.0 * (60.0 + 300.0);
        near(resting.by_state_w.resting * resting_s, spent_j);
        // Seeks and waits differ a little: the disk is elsewhere when the drive is awake.
        let saved_j = awake.energy_j - resting.energy_j;
        assert!((saved_j - ((425.0 - longer_s) * 5.3 - spent_j)).abs() < 0.5, "{saved_j}");
        assert!((resting.by_state_w.total() - resting.average_w).abs() < 1e-9);
        assert!(awake.by_state_w.resting == 0.0);
    }
}

/// What is counted from the middle of a rest on has the part of it that comes after.
#[test]
fn a_rest_is_cut_where_counting_begins() {
    let requests = reads(&[0, 100, 300]);
    let options = RunOptions { warmup: Warmup::Requests(1), ..RunOptions::default() };
    let counted = go("nearline-18tb", &[STANDBY], &requests, &options);
    let condition = &counted.drives[0].conditions[0];
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.1, "{value} for {expected}");
    // Down from 60 s, and woken at 100 s, where counting begins; then from 180 s to 300 s.
    near(condition.recovering_s, 20.0 + 20.0);
    near(condition.entering_s, 10.0);
    near(condition.within_s, 110.0);
}

/// Counted or not, on one thread or two: long rests lie in between.
#[test]
fn stretches_count_rests_once() {
    let at = |i: u64| i / 40 * 100 + i % 40;
    let requests = reads(&(0..4_000).map(at).collect::<Vec<_>>());
    let set = [STANDBY, ("controller.scheduler", "fcfs"), ("controller.queue_depth", "1")];
    let go = |threads, batch| {
        let options = RunOptions { threads: Some(threads), batch, ..RunOptions::default() };
        go("nearline-18tb", &set, &requests, &options)
    };
    let [one, two] = [go(1, None), go(2, Some(300))];
    assert_eq!(one.drives[0].conditions, two.drives[0].conditions);
    assert_eq!(one.drives[0].conditions[0].entered, 99);
    assert_eq!(one.power, two.power);
}

/// A rung without an arm at work has no rests, and is no drive that contradicts itself.
#[test]
fn every_rung_takes_a_drive_with_conditions() {
    use headstack_drive::spec::LadderStep;
    let set = [(STANDBY.0.to_owned(), STANDBY.1.to_owned())];
    let system = System::load("nearline-18tb", &set).unwrap();
    let spec = &system.config().drives[0].spec;
    for step in LadderStep::ALL {
        let rung = spec.ladder(step, 10.0);
        assert!(rung.check().is_empty(), "{step:?}: {:?}", rung.check());
        assert_eq!(rung.power.unwrap().condition.is_empty(), step == LadderStep::M0);
    }
}

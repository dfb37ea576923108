//! Commands that end without their data because a duration limit has passed.

use crate::common::{FAST_BUS, command, drive, ms, run_events};
use headstack_drive::command::{Command, Ending, Outcome, Phases};
use headstack_units::{Nanos, Op, RequestFlags};
use proptest::prelude::*;

fn limited(id: u64, lba: u64) -> Command {
    Command { flags: RequestFlags::limited_by(1), ..command(id, Op::Read, lba, 1) }
}

/// What becomes of commands on a drive with NCQ and one descriptor.
fn run(descriptor: &str, arrivals: &[(Nanos, Command)]) -> Vec<Outcome> {
    let limits =
        if descriptor.is_empty() { String::new() } else { format!(", duration_limits = [{descriptor}]") };
    let mut drive = drive(&format!(
        "{FAST_BUS}\ncontroller = {{ queue_depth = 32, scheduler = \"ncq\", read_overhead_ms = 0.0{limits} }}"
    ));
    let bus = drive.model().bus();
    let mut done = run_events(&mut drive, &bus, arrivals).0;
    done.sort_by_key(|outcome| outcome.id);
    done
}

/// The first read is under the head at 5 ms, the second waits for it, and its limit is 2 ms: it leaves the queue at 2 ms, and
/// nothing else is as if it had not been there.
#[test]
fn a_command_that_waits_ends_when_its_time_is_up() {
    for (policy, how) in [("abort", Ending::Aborted), ("complete-unavailable", Ending::Unavailable)] {
        let descriptor = format!("{{ inactive_ms = 2.0, inactive_policy = \"{policy}\" }}");
        let others = [(ms(0.0), command(0, Op::Read, 50, 1)), (ms(1.0), command(2, Op::Read, 60, 1))];
        let both = [others[0], (ms(0.5), limited(1, 70)), others[1]];
        let done = run(&descriptor, &both);
        let phases = Phases { queue: ms(2.0), ..Phases::default() };
        let expected = Outcome {
            id: 1,
            submitted: ms(0.5),
            finish: ms(2.5),
            phases,
            ended: Some(how),
            ..Outcome::default()
        };
        assert_eq!(done[1], expected);
        let finish = |outcomes: &[Outcome]| outcomes.iter().map(|outcome| outcome.finish).collect::<Vec<_>>();
        assert_eq!(finish(&[done[0], done[2]]), finish(&run(&descriptor, &others)));
    }
}

/// An ordered command lets none that came after it be chosen, until its time is up at 9.6 ms. The first read ends at 13.0 ms, sixty
/// sectors behind the index; then the others come by, 5 the last of them.
#[test]
fn what_waits_behind_an_ordered_command_enters_when_that_ends() {
    let descriptor = "{ inactive_ms = 2.0, inactive_policy = \"abort\" }";
    let mut barrier = limited(1, 70);
    barrier.flags = barrier.flags.with(RequestFlags::ORDERED);
    let read = |at: f64, id, lba| (ms(at), command(id, Op::Read, lba, 1));
    let first = (ms(0.0), command(0, Op::Read, 3_000, 60));
    let others = [read(7.7, 2, 3_075), read(7.8, 3, 3_078), read(7.9, 4, 3_070)];
    let arrivals = [&[first, read(7.5, 5, 3_085), (ms(7.6), barrier)], &others[..]].concat();
    let mut done = run(descriptor, &arrivals);
    done.retain(|outcome| outcome.ended.is_none());
    done.sort_by_key(|outcome| outcome.finish);
    assert_eq!(done.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), [0, 4, 2, 3, 5]);
}

/// A command that the drive has begun with before its limit is served.
#[test]
fn a_waiting_limit_says_nothing_of_what_has_begun() {
    let descriptor = "{ inactive_ms = 2.0, inactive_policy = \"abort\" }";
    let alone = [(ms(0.0), limited(0, 50))];
    assert_eq!(run(descriptor, &alone), run("", &alone));
}

/// The read takes longer than 10.5 ms (a long seek, and the sector has just passed): the host is told at 10.5 ms, no bus is
/// used for it, and the drive is busy for as long as without the limit.
#[test]
fn a_command_under_way_ends_when_its_time_is_up() {
    let without = |lba: u64| run("", &[(ms(0.0), limited(0, lba))])[0].finish;
    let lba =
        (10_000..39_000).step_by(37).find(|&lba| without(lba) > ms(11.0)).expect("a far read takes longer");
    let arrivals = [(ms(0.0), limited(0, lba)), (ms(0.1), command(1, Op::Read, 20_000, 8))];
    for descriptor in [
        "{ active_ms = 10.5, active_policy = \"abort\" }",
        "{ limit_ms = 10.5, policy = \"abort\" }",
        "{ limit_ms = 10.5, policy = \"abort\", inactive_ms = 1.0, inactive_policy = \"complete-unavailable\" }",
    ] {
        let done = run(descriptor, &arrivals);
        // The drive began with it when it had chosen.
        let begun = if descriptor.contains("active_ms = 10.5,") { done[0].phases.queue } else { Nanos::ZERO };
        assert_eq!(
            (done[0].finish, done[0].ended),
            (begun + ms(10.5), Some(Ending::Aborted)),
            "{descriptor}"
        );
        assert_eq!(done[0].phases.total(), done[0].finish);
        assert_eq!((done[0].bus_transfers, done[0].busy.bus), (0, Nanos::ZERO));
        assert_eq!(done[1], run("", &arrivals)[1], "{descriptor}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each command is answered once; a limited one by its limit; the others have their data. Where no limit ends anything, nor
    /// might have while a choice was put off (for a revolution, at most), the policy makes no difference.
    #[test]
    fn every_command_is_answered_in_time(
        rows in prop::collection::vec((0_u64..6_000_000, 0_u64..39_980, 1_u32..20, any::<bool>(), any::<bool>()), 1..40),
        limit_ms in 10.1_f64..80.0,
        inactive_ms in prop::option::of(0.1_f64..60.0),
    ) {
        let mut now = Nanos::ZERO;
        let arrivals: Vec<(Nanos, Command)> = (0..).zip(&rows).map(|(id, &(gap, lba, sectors, is_limited, is_write))| {
            now += Nanos(gap);
            let op = if is_write { Op::Write } else { Op::Read };
            let flags = RequestFlags::limited_by(u16::from(is_limited));
            (now, Command { flags, ..command(id, op, lba, sectors) })
        }).collect();
        let inactive = inactive_ms.map_or(String::new(), |ms| format!(", inactive_ms = {ms}, inactive_policy = \"abort\""));
        let done = run(&format!("{{ limit_ms = {limit_ms}, policy = \"complete-unavailable\"{inactive} }}"), &arrivals);
        prop_assert_eq!(done.len(), arrivals.len());
        for (outcome, (arrived, command)) in done.iter().zip(&arrivals) {
            prop_assert_eq!((outcome.id, outcome.submitted), (command.id, *arrived));
            prop_assert_eq!(outcome.phases.total(), outcome.finish - outcome.submitted);
            let is_limited = command.flags.duration_limit() == 1;
            // The bus is another's for at most a track's worth of data.
            let slack = ms(0.1);
            prop_assert!(!is_limited || outcome.finish <= *arrived + ms(limit_ms) + slack, "{:?}", outcome);
            prop_assert!(is_limited || outcome.ended.is_none());
        }
        let least = ms(limit_ms.min(inactive_ms.unwrap_or(f64::MAX)));
        let is_near = |(outcome, (_, command)): (&Outcome, &(Nanos, Command))| {
            command.flags.duration_limit() == 1 && outcome.phases.queue + ms(10.0) >= least
        };
        if done.iter().all(|outcome| outcome.ended.is_none()) && !done.iter().zip(&arrivals).any(is_near) {
            let inactive = inactive.replace("abort", "complete-earliest");
            prop_assert_eq!(done, run(&format!("{{ limit_ms = {limit_ms}{inactive} }}"), &arrivals));
        }
    }
}

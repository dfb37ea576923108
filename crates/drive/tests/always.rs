//! What always holds, whatever the drive and the commands.

mod common;

use common::{any_commands, any_options, plain, run_events};
use headstack_drive::command::{Command, Outcome};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, RequestFlags};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::Arc;

fn sound(outcomes: &[Outcome], commands: &[(Nanos, Command)]) -> Result<(), TestCaseError> {
    prop_assert_eq!(outcomes.len(), commands.len());
    let mut seen = vec![false; commands.len()];
    for outcome in outcomes {
        let (at, command) = commands[outcome.id as usize];
        prop_assert!(!std::mem::replace(&mut seen[outcome.id as usize], true), "completed twice");
        prop_assert_eq!(outcome.submitted, at, "phases must reach back to the submission: {:?}", outcome);
        prop_assert_eq!(outcome.submitted + outcome.phases.total(), outcome.finish);
        // No byte is faster than the bus.
        prop_assert!(outcome.phases.total() >= Nanos(u64::from(command.sectors) * 512 * 1000 / 30));
    }
    Ok(())
}

fn timed(rows: &[Row]) -> Vec<(Nanos, Command)> {
    let mut at = Nanos::ZERO;
    rows.iter()
        .enumerate()
        .map(|(id, &(gap, op, lba, sectors, force))| {
            at += Nanos(gap);
            let flags = if force { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
            (at, Command { id: id as u64, op, lba: Lba(lba), sectors, flags })
        })
        .collect()
}

type Row = (u64, headstack_units::Op, u64, u32, bool);

/// The closed form and the event path, on the same commands, one at the drive at a time.
fn twins_agree(options: &str, rows: &[Row]) -> Result<(), TestCaseError> {
    let model = Arc::new(DriveModel::new(&plain(options)).unwrap());
    let bus = model.bus();
    let mut closed = Drive::new(Arc::clone(&model), 7);
    let mut background = Vec::new();
    let mut at = Nanos::ZERO;
    let mut arrivals = Vec::new();
    let mut outcomes = Vec::new();
    for (id, &(gap, op, lba, sectors, force)) in rows.iter().enumerate() {
        at += Nanos(gap);
        let flags = if force { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
        let command = Command { id: id as u64, op, lba: Lba(lba), sectors, flags };
        arrivals.push((at, command));
        let outcome = closed.serve(at, command, &bus, &mut background);
        at = at.max(outcome.finish);
        outcomes.push(outcome);
    }
    sound(&outcomes, &arrivals)?;
    let mut events = Drive::new(model, 7);
    let (done, by_events) = run_events(&mut events, &bus, &arrivals);
    prop_assert_eq!(done, outcomes);
    prop_assert_eq!(by_events, background);
    prop_assert_eq!(events.mechanism_busy(), closed.mechanism_busy());
    Ok(())
}

/// The same over many more drives and longer runs.
#[test]
#[ignore = "slow: 20,000 random drives"]
fn closed_form_equals_event_path_over_many_drives() {
    let mut runner = TestRunner::new(ProptestConfig::with_cases(20_000));
    runner
        .run(&(any_options(), any_commands(120)), |(options, rows)| twins_agree(&options, &rows))
        .unwrap_or_else(|failure| panic!("{failure}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The closed form and the event path are twins when one command is at the drive at a time.
    #[test]
    fn closed_form_equals_event_path(options in any_options(), rows in any_commands(40)) {
        twins_agree(&options, &rows)?;
    }

    /// Commands that pile up: each completes once, not before it came, and its phases add up.
    #[test]
    fn every_command_completes_once(options in any_options(), rows in any_commands(60)) {
        let model = Arc::new(DriveModel::new(&plain(&options)).unwrap());
        let bus = model.bus();
        let commands = timed(&rows);
        let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 3), &bus, &commands);
        sound(&done, &commands)?;
        let (again, _) = run_events(&mut Drive::new(model, 3), &bus, &commands);
        prop_assert_eq!(done, again, "two runs of the same seed differ");
    }

    /// Being called late changes nothing but the lateness (a drive's own timeline).
    #[test]
    fn waking_late_changes_no_outcome_of_a_lone_drive(rows in any_commands(20), late in 0_u64..2_000_000) {
        let model = Arc::new(DriveModel::new(&plain("controller = { queue_depth = 4 }\nbus = { read_mb_per_s = 20.0, write_mb_per_s = 20.0 }\n")).unwrap());
        let bus = model.bus();
        let commands = timed(&rows);
        let on_time = {
            let mut drive = Drive::new(Arc::clone(&model), 1);
            run_events(&mut drive, &bus, &commands).0
        };
        // An extra `advance` at odd instants: what it starts, it starts at the drive's own times.
        let mut drive = Drive::new(model, 1);
        let mut effects = Vec::new();
        drive.advance(Nanos(late), &mut effects);
        prop_assert!(effects.is_empty());
        let (done, _) = run_events(&mut drive, &bus, &commands);
        prop_assert_eq!(done, on_time);
    }
}

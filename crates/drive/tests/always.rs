//! What always holds, whatever the drive and the commands.

#[path = "common/any.rs"]
mod any;
mod common;

use any::{any_commands, any_options};
use common::{plain, run_events, run_events_with_wakes};
use headstack_drive::command::{Command, Outcome};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, RequestFlags};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

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
    let (outcomes, arrivals) = twins(Arc::new(DriveModel::new(&plain(options)).unwrap()), rows)?;
    sound(&outcomes, &arrivals)
}

type Served = (Vec<Outcome>, Vec<(Nanos, Command)>);

/// What both paths make of the commands.
fn twins(model: Arc<DriveModel>, rows: &[Row]) -> Result<Served, TestCaseError> {
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
    let mut events = Drive::new(model, 7);
    let (done, by_events) = run_events(&mut events, &bus, &arrivals);
    prop_assert_eq!(&done, &outcomes);
    prop_assert_eq!(by_events, background);
    prop_assert_eq!(events.mechanism_busy(), closed.mechanism_busy());
    Ok((outcomes, arrivals))
}

/// The models of the library's drives.
static LIBRARY: LazyLock<Vec<Arc<DriveModel>>> = LazyLock::new(|| {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let model = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        Arc::new(DriveModel::new(&DriveSpec::from_toml(&path.to_string_lossy(), &text).unwrap()).unwrap())
    };
    paths.iter().map(model).collect()
});

/// The same commands all over a drive of `capacity` sectors: what was near stays near.
fn spread(rows: &[Row], capacity: u64) -> Vec<Row> {
    let gap = capacity.saturating_sub(40_000) / 41;
    let one = |&(at, op, lba, sectors, force): &Row| {
        let lba = (lba + lba / 1000 * gap).min(capacity - u64::from(sectors));
        (at, op, lba, sectors, force)
    };
    rows.iter().map(one).collect()
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

    /// The same with the drives of the library.
    #[test]
    fn closed_form_equals_event_path_on_library_drives(number: prop::sample::Index, rows in any_commands(40)) {
        let model = number.get(&LIBRARY[..]);
        twins(Arc::clone(model), &spread(&rows, model.layout.capacity()))?;
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

    /// Being woken without need changes nothing: a drive keeps its own timeline.
    #[test]
    fn needless_wakes_change_nothing(
        options in any_options(), rows in any_commands(30), every in 100_000_u64..5_000_000,
    ) {
        let model = Arc::new(DriveModel::new(&plain(&options)).unwrap());
        let bus = model.bus();
        let commands = timed(&rows);
        let run = |wakes: &[Nanos]| {
            run_events_with_wakes(&mut Drive::new(Arc::clone(&model), 1), &bus, &commands, wakes)
        };
        let wakes: Vec<Nanos> = (0..400).map(|i| Nanos(i * every)).collect();
        prop_assert_eq!(run(&wakes), run(&[]));
    }
}

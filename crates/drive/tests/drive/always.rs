//! What always holds, whatever the drive and the commands.

use crate::any::{any_commands, any_options, many_drives};
use crate::common::{plain, run_events, run_events_with_wakes};
use headstack_drive::command::{Background, Busy, Command, Outcome};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
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

type Row = (u64, Op, u64, u32, bool);

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
    // One for all: nothing of a command before may be left in it.
    let mut outcome = Outcome::default();
    for (id, &(gap, op, lba, sectors, force)) in rows.iter().enumerate() {
        at += Nanos(gap);
        let flags = if force { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
        let command = Command { id: id as u64, op, lba: Lba(lba), sectors, flags };
        arrivals.push((at, command));
        closed.serve_into(at, command, &bus, &mut background, &mut outcome);
        at = at.max(outcome.finish);
        outcomes.push(outcome);
    }
    let mut events = Drive::new(model, 7);
    let (done, by_events) = run_events(&mut events, &bus, &arrivals);
    prop_assert_eq!(&done, &outcomes);
    prop_assert_eq!(&by_events, &background);
    prop_assert_eq!(events.mechanism_busy(), closed.mechanism_busy());
    work_takes_its_time(&outcomes, &background, closed.mechanism_busy())?;
    Ok((outcomes, arrivals))
}

/// Whatever seeks, turns or transfers is at work as long as that takes.
fn work_takes_its_time(
    outcomes: &[Outcome],
    background: &[Background],
    at_work: Nanos,
) -> Result<(), TestCaseError> {
    let moves = |busy: &Busy| busy.seek + busy.rotation + busy.transfer;
    for row in background {
        prop_assert!(moves(&row.busy) <= row.finish - row.start, "busy longer than at work: {:?}", row);
    }
    let all = outcomes.iter().map(|outcome| &outcome.busy).chain(background.iter().map(|row| &row.busy));
    let all = all.fold(Nanos::ZERO, |sum, busy| sum + moves(busy));
    prop_assert!(all <= at_work, "{} of work in {}: {:?} {:?}", all, at_work, outcomes, background);
    Ok(())
}

/// Drives and commands on which the two paths once differed, or phases did not reach back to the submission.
const RARE: &[(&str, &str, &[Row])] = &[
    (
        "a piece goes before a read that is alone in the queue, once its read-ahead has come to the end of a sector",
        r#"
        cache = { segments = 2, segment_kib = 8.0, read_ahead = "to-track-end", partial_hit = "serve", look_up = "when-received", read_ahead_stop = "after-sector" }
        write_policy.write-back = { size_kib = 12.0, dirty_hit = "delay", idle_before_destage_ms = 0.0 }
        buffer = { bus_transfers = "one", size_kib = 4.0, write_start_ms = 0.2 }
        controller = { read_overhead_ms = 0.3, write_overhead_ms = 0.7, overhead_beside_seek_ms = 0.1, read_completion_ms = 0.05, queue_depth = 1, scheduler = "sptf" }
        bus = { read_mb_per_s = 6.0, write_mb_per_s = 18.0, arbitration_us = 3.0, reconnect_us = 0.0 }"#,
        &[
            (0, Op::Write, 0, 20, false),
            (0, Op::Read, 256, 22, true),
            (0, Op::Write, 0, 13, false),
            (0, Op::Read, 6, 8, true),
        ],
    ),
    (
        "a destage piece waits for the last work of an arm that fails",
        r#"
        arms = { count = 2, design = "multi-moving", angles_revolutions = [0.660022, 0.821649], failures = [{ arm = 0, at_s = 0.4 }] }
        write_policy.write-back = { size_kib = 20.0, dirty_hit = "delay", idle_before_destage_ms = 19.0 }
        buffer = { bus_transfers = "one", size_kib = 35.0, write_start_ms = 1.2, write_on_arrival = true }
        controller = { read_overhead_ms = 0.3, write_overhead_ms = 0.7, overhead_beside_seek_ms = 0.1, read_completion_ms = 0.05, scheduler = "sptf" }
        bus = { read_mb_per_s = 7.0, write_mb_per_s = 13.0, arbitration_us = 3.0, reconnect_us = 0.0 }
        "#,
        &[
            (48_506_148, Op::Write, 7951, 5, false),
            (7_310_418, Op::Read, 12_561, 17, true),
            (0, Op::Write, 21_592, 9, false),
            (17_246_110, Op::Read, 18_434, 133, true),
            (10_371_385, Op::Write, 31_112, 153, true),
            (14_100_001, Op::Write, 26_170, 66, true),
            (29_516_267, Op::Read, 8774, 112, true),
            (59_677_497, Op::Write, 24_611, 13, false),
            (58_762_504, Op::Read, 31_167, 6, true),
            (0, Op::Write, 9363, 23, false),
            (16_934_590, Op::Write, 0, 7, false),
            (8_385_789, Op::Write, 7, 1, false),
        ],
    ),
    (
        "a partial hit waits for read-ahead that sets out late",
        r#"
        physical_sector_bytes = 4096
        cache = { segments = 2, segment_kib = 12.0, read_ahead = "to-track-end", partial_hit = "serve", after_hit = "keep", read_ahead_on_hit = true, hit_during_read_ahead = "own-segment" }
        write_policy.write-back = { size_kib = 27.0, dirty_hit = "delay", idle_before_destage_ms = 3.0 }
        buffer = { bus_transfers = "one", size_kib = 11.0, write_start_ms = 0.2 }
        controller = { read_overhead_ms = 0.3, write_overhead_ms = 0.7, overhead_beside_seek_ms = 0.1, read_completion_ms = 0.05, scheduler = "fcfs" }
        bus = { read_mb_per_s = 2.0, write_mb_per_s = 3.0, arbitration_us = 3.0, reconnect_us = 0.0 }
        "#,
        &[
            (7_654_334, Op::Write, 0, 15, false),
            (0, Op::Write, 15, 10, false),
            (0, Op::Write, 350, 19, false),
            (0, Op::Read, 20_984, 17, true),
            (1_195_001, Op::Read, 21_001, 3, true),
            (0, Op::Read, 21_004, 22, true),
        ],
    ),
    (
        "what lies in the buffer is decoded before read-ahead is on the track of the rest",
        r#"
        cache = { segments = 2, segment_kib = 5.0, read_ahead = "to-cylinder-end", partial_hit = "serve", after_hit = "keep" }
        write_policy.write-through = {}
        buffer = { bus_transfers = "one", size_kib = 12.0, write_start_ms = 0.2 }
        bus = { read_mb_per_s = 4.0, write_mb_per_s = 1.0, arbitration_us = 3.0, reconnect_us = 0.0 }
        [controller]
        read_overhead_ms = 0.3
        write_overhead_ms = 0.7
        overhead_beside_seek_ms = 0.1
        read_completion_ms = 0.05
        scheduler = "fcfs"
        seek_after_ms = 0.6
        cached_part = "hit-overhead"
        by_history = { read_hit_ms = [0.1, 0.9], read_hit_at_rest_ms = 0.5, read_miss_ms = [1.2, 0.3], write_hit_ms = [0.0, 0.4], write_miss_ms = [1.0, 0.6] }
        "#,
        &[(0, Op::Read, 9889, 2, true), (0, Op::Read, 9891, 10, true)],
    ),
    (
        "what is looked up when it comes is turned to when it comes",
        r#"
        cache = { segments = 2, segment_kib = 5.0, read_ahead = "aggressive", partial_hit = "serve", after_hit = "keep", look_up = "when-received" }
        write_policy.write-through = {}
        buffer = { bus_transfers = "one", size_kib = 4.0, write_start_ms = 0.2 }
        controller = { read_overhead_ms = 1.3, write_overhead_ms = 0.7, overhead_beside_seek_ms = 0.1, read_completion_ms = 0.05, scheduler = "ncq" }
        bus = { read_mb_per_s = 3.0, write_mb_per_s = 1.0, arbitration_us = 3.0, reconnect_us = 0.0 }
        "#,
        &[
            (0, Op::Write, 15_586, 1, true),
            (0, Op::Read, 15_587, 4, true),
            (0, Op::Read, 4_704, 1, true),
            (0, Op::Write, 0, 2, true),
        ],
    ),
    (
        "no choice is put off where the wait for the sector is scaled",
        r#"
        fidelity = { seek_scale = 0.5, rotation_scale = 0.5 }
        cache = { segments = 3, segment_kib = 34.0, read_ahead = "to-track-end", partial_hit = "serve", after_hit = "keep", zero_latency = true, whole_track = true, read_ahead_over_requested = true, segmentation = "adaptive", read_ahead_stop = "after-sector" }
        write_policy.write-through = {}
        buffer = { bus_transfers = "one", size_kib = 4.0, write_start_ms = 0.2 }
        bus = { read_mb_per_s = 14.0, write_mb_per_s = 1.0, arbitration_us = 3.0, reconnect_us = 0.0 }
        [controller]
        read_overhead_ms = 0.3
        write_overhead_ms = 0.7
        overhead_beside_seek_ms = 0.1
        read_completion_ms = 0.05
        scheduler = "ncq"
        seek_after_ms = 0.6
        write_after_write_seek_delay_ms = 0.25
        write_after_write_completion_ms = 0.04
        least_write_seek_ms = 0.3
        cached_part = "hit-overhead"
        data_preparation_ms = 0.03
        by_history = { read_hit_ms = [0.1, 0.9], read_hit_at_rest_ms = 0.5, read_miss_ms = [1.2, 0.3], write_hit_ms = [0.0, 0.4], write_miss_ms = [1.0, 0.6], read_seek_after_ms = [0.1, 0.4], write_seek_after_ms = [0.2, 1.9] }
        "#,
        &[
            (0, Op::Write, 18_786, 2, true),
            (0, Op::Read, 18_788, 1, true),
            (0, Op::Read, 26_531, 2, true),
            (0, Op::Write, 0, 2, true),
        ],
    ),
];

#[test]
fn rare_drives_have_one_story() {
    for (what, options, rows) in RARE {
        twins_agree(options, rows).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

/// What read-ahead brings while a choice is put off must not hang on that.
#[test]
fn a_choice_put_off_finds_what_one_at_once_finds() {
    let options = r#"
        cache = { segments = 2, segment_kib = 16.0, read_ahead = "to-cylinder-end", partial_hit = "serve" }
        buffer = { bus_transfers = "bursts", burst_kib = 2.0, size_kib = 40.0 }
        controller = { read_overhead_ms = 0.3, write_overhead_ms = 0.7, queue_depth = 4, scheduler = "ncq" }
        bus = { read_mb_per_s = 20.0, write_mb_per_s = 20.0, arbitration_us = 3.0, reconnect_us = 0.0 }"#;
    for gap in (0..12_000_000_u64).step_by(170_000) {
        for (behind, sectors) in [(0, 4), (3, 8), (12, 30), (90, 20), (9_000, 8)] {
            let first = 9_890;
            // The third comes when the second is complete: not before its choice was due.
            let rows = [
                (0, Op::Read, first, 6, false),
                (gap, Op::Read, first + 6 + behind, sectors, false),
                (0, Op::Read, 2_000, 4, false),
            ];
            twins_agree(options, &rows).unwrap_or_else(|error| panic!("{gap} {behind}: {error}"));
        }
    }
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
    let mut runner = TestRunner::new(many_drives());
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

/// A scheduler looks at the drive before it chooses; to look changes nothing, on a drifting spindle neither.
#[test]
fn a_look_ahead_changes_nothing() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/seagate-st32430w.toml");
    let drift = [("spindle.drift_ppm", "500"), ("spindle.drift_interval_s", "0.02")];
    let drift = drift.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let text = std::fs::read_to_string(path).unwrap();
    let model = Arc::new(DriveModel::new(&DriveSpec::from_toml_with(path, &text, &drift).unwrap()).unwrap());
    let (mut watched, mut alone) = (Drive::new(model.clone(), 7), Drive::new(model.clone(), 7));
    let bus = model.bus();
    let (mut finish, mut lba) = (Nanos::ZERO, 0);
    for id in 0..300 {
        // Runs of reads behind one another, so that read-ahead is under way where the speed changes.
        lba = if id % 5 == 0 { (id * 7_919_113) % 3_000_000 } else { lba + 16 };
        let command = Command { id, lba: Lba(lba), sectors: 16, ..Command::default() };
        let at = finish + Nanos(id % 7 * 9_000_000);
        let _ = watched.estimate(&model, at);
        let seen = watched.serve(at, command, &bus, &mut Vec::new());
        assert_eq!(seen, alone.serve(at, command, &bus, &mut Vec::new()), "{id}");
        finish = seen.finish;
    }
}

//! A drive whose state was guessed, and found to be that of another, goes on as that other does.

use crate::any::{any_commands, any_options};
use crate::common::plain;
use headstack_drive::command::{Background, Command, Outcome};
use headstack_drive::{Drive, DriveModel, Rebase};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::Arc;

type Row = (u64, Op, u64, u32, bool);

/// A drive with the instant from which on it takes commands.
#[derive(Clone)]
struct Served {
    drive: Drive,
    free_at: Nanos,
}

/// What becomes of a command: its outcome, and the background work done meanwhile.
type Told = (Outcome, Vec<Background>);

impl Served {
    fn serve(&mut self, commands: &[(Nanos, Command)]) -> Vec<Told> {
        let bus = self.drive.model().bus();
        let serve = |&(arrival, command): &(Nanos, Command)| {
            let mut background = Vec::new();
            let outcome = self.drive.serve(arrival.max(self.free_at), command, &bus, &mut background);
            self.free_at = outcome.finish;
            (outcome, background)
        };
        commands.iter().map(serve).collect()
    }
}

fn timed(rows: &[Row]) -> Vec<(Nanos, Command)> {
    let mut at = Nanos::ZERO;
    (0_u64..)
        .zip(rows)
        .map(|(id, &(gap, op, lba, sectors, force))| {
            // Idle moments, in which a drive forgets.
            at += Nanos(gap + if id.is_multiple_of(5) { 400_000_000 } else { 0 });
            let flags = if force { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
            (at, Command { id, op, lba: Lba(lba), sectors, flags })
        })
        .collect()
}

/// Where, after the begin of the lead, a guess was the same as the drive first, and whether in another order.
fn check(options: &str, rows: &[Row], lead: usize) -> Option<(usize, bool)> {
    let model = Arc::new(DriveModel::new(&plain(options)).unwrap());
    let commands = timed(rows);
    let mut real = Served { drive: Drive::new(model, 7), free_at: Nanos::ZERO };
    let mut guess = real.clone();
    real.serve(&commands[..lead]);
    for index in lead..commands.len() {
        real.serve(&commands[index..=index]);
        guess.serve(&commands[index..=index]);
        let same = if real.free_at == guess.free_at { guess.drive.same_future(&real.drive) } else { None };
        let Some(labels) = same else { continue };
        let rest = &commands[index + 1..];
        let mut again = guess.clone();
        again.drive.begin_stretch();
        let told = again.serve(rest);
        if labels.is_identity() || !again.drive.order_mattered() {
            let really = real.serve(rest);
            assert_eq!(really, told, "the same at {index} after a lead from {lead}, with {options}");
            // They still are, and each segment is where it is in the other.
            again.drive.relabel(&labels);
            let labels = again.drive.same_future(&real.drive).expect("the same commands from the same state");
            assert!(labels.is_identity(), "relabelled, with {options}");
        }
        return Some((index, !labels.is_identity()));
    }
    None
}

#[test]
fn what_is_found_to_be_the_same_goes_on_in_the_same_way() {
    let mut runner = TestRunner::deterministic();
    let strategy = (any_options(), any_commands(40), 0.1..0.8_f64);
    let (mut found, mut relabelled, mut tried) = (0, 0, 0);
    while tried < 3000 {
        let (options, rows, share) = strategy.new_tree(&mut runner).unwrap().current();
        let lead = (share * rows.len() as f64) as usize;
        if rows.len() < 4 || lead == 0 {
            continue;
        }
        tried += 1;
        if let Some((_, in_another_order)) = check(&options, &rows, lead) {
            found += 1;
            relabelled += u32::from(in_another_order);
        }
    }
    // Otherwise the test would say little.
    assert!(found > 600 && relabelled > 50, "{found} found, {relabelled} in another order, of {tried}");
}

/// Two segments hold the same sector, and the one that a read is served from is the younger then: with the two in another
/// order, it would have been the other.
#[test]
fn where_two_segments_hold_a_sector_their_order_matters() {
    let mut drive =
        crate::common::drive("cache = { segments = 3, segment_kib = 16.0, read_ahead = \"none\" }\n");
    let mut at = Nanos::ZERO;
    let mut read = |drive: &mut Drive, lba| {
        let outcome = crate::common::serve(drive, at, crate::common::command(0, Op::Read, lba, 10));
        at = outcome.finish;
    };
    read(&mut drive, 10);
    read(&mut drive, 5);
    let mut begun = |lba| {
        let mut drive = drive.clone();
        drive.begin_stretch();
        read(&mut drive, lba);
        drive.order_mattered()
    };
    assert!(begun(12), "10 to 20 and 5 to 15");
    assert!(!begun(16), "10 to 20 alone");
    assert!(!begun(6), "5 to 15 alone");
}

#[test]
fn a_drive_goes_on_as_its_copy_does() {
    for options in [
        "",
        "cache = { segments = 2, segment_kib = 32.0, read_ahead = \"to-track-end\" }\n",
        "write_policy.write-back = { size_kib = 64.0, idle_before_destage_ms = 5.0 }\n",
        "write_policy.immediate-reporting = { pending_writes = 2 }\n",
        "arms = { count = 2 }\n",
    ] {
        let mut drive = crate::common::drive(options);
        for (at_ms, op, lba) in [(0.0, Op::Write, 3000), (50.0, Op::Read, 0), (100.0, Op::Write, 8000)] {
            crate::common::serve(&mut drive, crate::common::ms(at_ms), crate::common::command(0, op, lba, 8));
            let labels = drive.same_future(&drive.clone());
            assert!(labels.is_some_and(|labels| labels.is_identity()), "after {at_ms} ms, with {options}");
        }
    }
}

#[test]
fn what_waits_to_be_written_is_part_of_the_future() {
    let holding = |lba| {
        let cache = "write_policy.write-back = { size_kib = 64.0, idle_before_destage_ms = 1000.0 }\n";
        let mut drive = crate::common::drive(cache);
        let mut serve = |at_ms, op, lba| {
            crate::common::serve(&mut drive, crate::common::ms(at_ms), crate::common::command(0, op, lba, 8));
        };
        serve(0.0, Op::Write, lba);
        serve(10.0, Op::Write, 5000);
        serve(50.0, Op::Read, 0);
        drive
    };
    assert!(holding(3000).same_future(&holding(3000)).is_some());
    assert!(holding(3000).same_future(&holding(3010)).is_none());
}

/// Two caches hold the same, and the segments were used in the same order; but one of them was not asked for so long that an
/// adaptive cache is about to give its share to the others.
#[test]
fn how_long_ago_a_segment_was_used_is_part_of_the_future() {
    let cache =
        "cache = { segments = 2, segment_kib = 16.0, segmentation = \"adaptive\", read_ahead = \"none\" }\n";
    let read = |drive: &mut Drive, at_ms: f64, lba: u64| {
        crate::common::serve(drive, crate::common::ms(at_ms), crate::common::command(0, Op::Read, lba, 4))
    };
    let after = |hits: u32| {
        let mut drive = crate::common::drive(cache);
        read(&mut drive, 0.0, 0);
        read(&mut drive, 100.0, 1000);
        for hit in 0..hits {
            read(&mut drive, 200.0 + f64::from(hit), 1000);
        }
        read(&mut drive, 500.0, 1000);
        drive
    };
    let (mut young, mut old) = (after(0), after(8));
    assert!(young.same_future(&after(0)).is_some());
    assert!(young.same_future(&old).is_none());
    let then = [&mut young, &mut old].map(|drive| {
        read(drive, 700.0, 1002);
        read(drive, 800.0, 0).cache
    });
    assert_ne!(then[0], then[1]);
}

/// What is measured of a command moves all that the drive does from then on, and changes nothing else: as if it had been
/// asked so much later.
#[test]
fn after_a_command_that_took_longer_all_is_so_much_later() {
    let mut runner = TestRunner::deterministic();
    let strategy = (any_options(), any_commands(30), 0.1..0.9_f64, 0_u64..40_000_000);
    let mut tried = 0;
    while tried < 600 {
        let (options, rows, share, late) = strategy.new_tree(&mut runner).unwrap().current();
        let lead = (share * rows.len() as f64) as usize;
        // A failure has its own time.
        if lead == 0 || options.contains("failures") {
            continue;
        }
        tried += 1;
        let model = Arc::new(DriveModel::new(&plain(&options)).unwrap());
        let (late, commands) = (Nanos(late), timed(&rows));
        let mut drive = Served { drive: Drive::new(model, 7), free_at: Nanos::ZERO };
        // What has been so since before the command stays: the arm has worked since, at least once.
        let (op, lba, flags) = (Op::Read, Lba(0), RequestFlags::default());
        drive.serve(&[(Nanos::ZERO, Command { id: 0, op, lba, sectors: 1, flags })]);
        drive.serve(&commands[..lead]);
        // What it does by itself meanwhile is done when it is done.
        drive.drive.tell_own_work(drive.free_at, &mut Vec::new()).for_each(drop);
        let mut later = drive.clone();
        later.free_at = drive.free_at + late;
        later.drive.rebase(Rebase {
            begun: Nanos::ZERO,
            model_finish: drive.free_at,
            measured_finish: later.free_at,
        });
        let shifted: Vec<_> = commands[lead..].iter().map(|&(at, command)| (at + late, command)).collect();
        let told = |told: Vec<Told>, by: Nanos| -> Vec<_> {
            let outcome = |it: &Outcome| (it.finish - by, it.phases.seek, it.phases.rotation, it.busy.bus);
            let work = |it: &Background| (it.finish - by, it.busy.seek, it.busy.rotation, it.start - by);
            let all = told.iter().map(|(done, works)| (outcome(done), works.iter().map(work).collect()));
            all.collect::<Vec<(_, Vec<_>)>>()
        };
        let (then, later) =
            (told(drive.serve(&commands[lead..]), Nanos::ZERO), told(later.serve(&shifted), late));
        for ((one, works), (other, later_works)) in then.iter().zip(&later) {
            let about = || format!("{late} later after {lead}, with {options}");
            assert_eq!(works.len(), later_works.len(), "{}", about());
            for (one, other) in works.iter().zip(later_works).chain([(one, other)]) {
                // An angle is rounded to the tick at another instant.
                let near = |one: Nanos, other: Nanos| one.0.abs_diff(other.0) <= 4;
                let all = near(one.0, other.0) && near(one.1, other.1) && near(one.2, other.2);
                assert!(all && near(one.3, other.3), "{one:?}, {other:?}: {}", about());
            }
        }
    }
}

//! The timeline of a command agrees with its outcome.

use crate::any::{any_commands, any_options};
use crate::common::{command, drive, plain};
use headstack_drive::command::Command;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn a_seek_says_how_far_and_a_missed_sector_how_nearly() {
    let mut drive = drive(crate::common::FAST_BUS);
    let bus = drive.model().bus();
    // Sector 99 has just passed when the head looks at 0.05 ms.
    let (_, steps) = drive.explain(Nanos::from_ms(0.05), command(0, Op::Read, 0, 1), &bus);
    let wait = steps.iter().find(|step| step.label == "rotation").unwrap();
    assert!(wait.note.contains("had just passed"), "{}", wait.note);
    let (_, steps) = drive.explain(Nanos::from_ms(50.0), command(1, Op::Read, 4000, 1), &bus);
    let seek = steps.iter().find(|step| step.label == "seek").unwrap();
    assert_eq!((seek.cylinder, seek.end - seek.start), (10, Nanos::from_ms(2.9)));
    assert!(seek.note.contains("10 cylinders"), "{}", seek.note);
}

#[test]
fn overhead_beside_the_data_is_overhead() {
    let extra = "controller = { write_overhead_ms = 5.0, write_data_after_ms = 0.9 }";
    let mut drive = drive(&format!("{extra}\n{}", crate::common::FAST_BUS));
    let bus = drive.model().bus();
    let (_, steps) = drive.explain(Nanos::ZERO, command(0, Op::Write, 0, 4), &bus);
    let overhead = &steps[0];
    assert_eq!((overhead.label, overhead.end), ("overhead", Nanos::from_ms(5.0)));
    assert!(steps.iter().all(|step| step.label != "wait"), "{steps:?}");
}

#[test]
fn what_a_command_waits_for_is_told() {
    let extra = "recalibration = { mode = \"by-drive\", interval_s = 1.0, duration_ms = 500.0 }";
    let mut drive = drive(&format!("{extra}\n{}", crate::common::FAST_BUS));
    let bus = drive.model().bus();
    let (_, steps) = drive.explain(Nanos::from_ms(1200.0), command(0, Op::Read, 0, 1), &bus);
    let (start, end) = (Nanos::from_ms(1200.0), Nanos::from_ms(1500.0));
    assert_eq!((steps[0].label, steps[0].start, steps[0].end), ("wait", start, end));
    assert!(steps[0].note.contains("recalibration"), "{}", steps[0].note);
}

#[test]
fn a_command_behind_another_is_in_the_queue_before_it_is_decoded() {
    let extra = "controller = { read_overhead_ms = 0.7 }";
    let mut drive = drive(&format!("{extra}\n{}", crate::common::FAST_BUS));
    let bus = drive.model().bus();
    let (first, _) = drive.explain(Nanos::ZERO, command(0, Op::Read, 4000, 1), &bus);
    let (second, steps) = drive.explain(Nanos::from_ms(0.1), command(1, Op::Read, 0, 1), &bus);
    let [queue, overhead] = [&steps[0], &steps[1]];
    // The controller is free when the media are through with the first; its data are still on their way.
    assert_eq!((queue.label, queue.start), ("queue", Nanos::from_ms(0.1)));
    assert!(first.finish - queue.end < Nanos::from_ms(0.1), "{queue:?}");
    assert_eq!((overhead.label, overhead.end - overhead.start), ("overhead", Nanos::from_ms(0.7)));
    assert_eq!(second.phases.queue, queue.end - queue.start);
}

#[test]
fn each_track_of_a_transfer_is_a_step() {
    let mut drive = drive(crate::common::FAST_BUS);
    let bus = drive.model().bus();
    let (_, steps) = drive.explain(Nanos::ZERO, command(0, Op::Read, 90, 20), &bus);
    let transfers = steps.iter().filter(|step| step.label == "transfer");
    let told: Vec<&str> = transfers.map(|step| step.note.as_str()).collect();
    assert_eq!(told, ["LBA 90 to 99", "LBA 100 to 109"]);
}

/// The timeline says which of several heads serve, and how far the arm really goes.
#[test]
fn the_heads_that_serve_are_named() {
    let notes = |arms: &str, lba: u64| -> Vec<(&str, String)> {
        let mut drive = drive(&format!("arms = {{ {arms} }}\n{}", crate::common::FAST_BUS));
        let bus = drive.model().bus();
        let (_, steps) = drive.explain(Nanos::ZERO, command(0, Op::Read, lba, 1), &bus);
        steps.into_iter().map(|step| (step.label, step.note)).collect()
    };
    let fixed = "fixed_heads = [{ first_cylinder = 50, last_cylinder = 50 }]";
    for (arms, lba, label, note) in [
        ("count = 2", 60, "rotation", "arm 1: "),
        ("count = 2", 40, "rotation", "arm 0: "),
        ("heads_per_surface = 2", 60, "rotation", "head 1 of arm 0: "),
        ("heads_per_surface = 2", 40, "rotation", "head 0 of arm 0: "),
        (fixed, 20_060, "rotation", "fixed heads 0: "),
        (fixed, 30_000, "seek", "75 cylinders, 0 → 75"),
        ("heads_per_surface = 2, head_placement = \"radial\"", 30_000, "seek", "25 cylinders, 0 → 75"),
        (
            "heads_per_surface = 2, head_placement = \"radial\"",
            20_000,
            "seek",
            "to another head on the arm's radial line, cylinder 0 → 50",
        ),
    ] {
        let told = notes(arms, lba);
        let is_told = told.iter().any(|(what, text)| *what == label && text.starts_with(note));
        assert!(is_told, "{arms}: no {label} `{note}` in {told:?}");
    }
    assert!(notes("count = 1", 60).iter().all(|(_, note)| !note.contains("arm")));
}

proptest! {
    #[test]
    fn telling_changes_nothing_and_stays_within_the_command(
        options in any_options(), rows in any_commands(12),
    ) {
        let model = Arc::new(DriveModel::new(&plain(&options)).unwrap());
        let bus = model.bus();
        let (mut told, mut served) = (Drive::new(Arc::clone(&model), 1), Drive::new(model, 1));
        let mut at = Nanos::ZERO;
        for (id, &(gap, op, lba, sectors, _)) in rows.iter().enumerate() {
            at += Nanos(gap);
            let flags = RequestFlags::default();
            let command = Command { id: id as u64, op, lba: Lba(lba), sectors, flags };
            let (outcome, steps) = told.explain(at, command, &bus);
            prop_assert_eq!(outcome, served.serve(at, command, &bus, &mut Vec::new()));
            for step in &steps {
                prop_assert!(step.start >= outcome.submitted && step.end > step.start, "{:?}", step);
            }
            let last = steps.iter().map(|step| step.end).max().unwrap();
            prop_assert!(last + Nanos(50_000) >= outcome.finish, "{:?} {:?}", outcome, steps);
            at = outcome.finish;
        }
    }
}

//! A drive whose state was guessed, and found to be that of another, goes on as that other does.

#[path = "common/any.rs"]
mod any;
mod common;

use any::{any_commands, any_options};
use common::plain;
use headstack_drive::command::{Background, Command, Outcome};
use headstack_drive::{Drive, DriveModel};
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

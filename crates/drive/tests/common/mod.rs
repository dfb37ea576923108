//! Drives and commands for the tests.
#![allow(dead_code, reason = "each test file uses part of it")]

pub(crate) mod table;

use headstack_drive::command::{Background, BusTiming, Command, Effect, Outcome};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::sync::Arc;
use table::plain_with;

/// A small drive whose every time is easy to compute: 6000 rpm (10 ms a revolution), 100 slots a track (0.1 ms a sector).
/// `extra` are values of its own, in TOML.
pub(crate) fn plain(extra: &str) -> DriveSpec {
    plain_with(toml::from_str(extra).unwrap_or_else(|error| panic!("{error}\n{extra}")))
}

pub(crate) fn plain_text(extra: &str) -> String {
    plain(extra).to_toml()
}

pub(crate) const FAST_BUS: &str = "bus = { read_mb_per_s = 512.0, write_mb_per_s = 512.0 }";

pub(crate) fn drive(extra: &str) -> Drive {
    Drive::new(Arc::new(DriveModel::new(&plain(extra)).expect("sound")), 1)
}

pub(crate) fn command(id: u64, op: Op, lba: u64, sectors: u32) -> Command {
    Command { id, op, lba: Lba(lba), sectors, flags: RequestFlags::default() }
}

pub(crate) fn ms(ms: f64) -> Nanos {
    Nanos::from_ms(ms)
}

pub(crate) fn serve(drive: &mut Drive, at: Nanos, command: Command) -> Outcome {
    let bus = drive.model().bus();
    drive.serve(at, command, &bus, &mut Vec::new())
}

/// A calendar for one drive on a bus of its own, of the simplest kind: a list of events searched for the earliest.
pub(crate) fn run_events(
    drive: &mut Drive,
    bus: &BusTiming,
    arrivals: &[(Nanos, Command)],
) -> (Vec<Outcome>, Vec<Background>) {
    run_events_with_wakes(drive, bus, arrivals, &[])
}

/// The same, with calls of `advance` that nobody asked for.
pub(crate) fn run_events_with_wakes(
    drive: &mut Drive,
    bus: &BusTiming,
    arrivals: &[(Nanos, Command)],
    wakes: &[Nanos],
) -> (Vec<Outcome>, Vec<Background>) {
    #[derive(Clone, Copy)]
    enum Event {
        Arrive(usize),
        Grant(headstack_drive::command::Ticket),
        Wake,
    }
    let mut events: Vec<(Nanos, usize, Event)> =
        arrivals.iter().enumerate().map(|(i, (at, _))| (*at, i, Event::Arrive(i))).collect();
    events.extend(wakes.iter().enumerate().map(|(i, at)| (*at, arrivals.len() + i, Event::Wake)));
    let mut order = events.len();
    let (mut done, mut background) = (Vec::new(), Vec::new());
    let mut bus_free = Nanos::ZERO;
    let mut effects = Vec::new();
    while let Some(index) = (0..events.len()).min_by_key(|&i| (events[i].0, events[i].1)) {
        let (now, _, event) = events.remove(index);
        match event {
            Event::Arrive(i) => drive.submit(now, arrivals[i].1, &mut effects),
            Event::Wake => drive.advance(now, &mut effects),
            Event::Grant(ticket) if now < bus_free => {
                order += 1;
                events.push((bus_free, order, Event::Grant(ticket)));
            }
            Event::Grant(ticket) => drive.bus_granted(now, ticket, bus, &mut effects),
        }
        for effect in effects.drain(..) {
            order += 1;
            match effect {
                // Nobody is granted a bus in the past.
                Effect::NeedBus { ticket, at, .. } => events.push((at.max(now), order, Event::Grant(ticket))),
                Effect::ReleaseBus { at, .. } => bus_free = at,
                Effect::WakeAt(at) => events.push((at, order, Event::Wake)),
                Effect::Done(outcome) => done.push(outcome),
                Effect::Background(work) => background.push(work),
            }
        }
    }
    (done, background)
}

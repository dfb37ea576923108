//! One drive under a closed loop: so many users who ask again as soon as they are answered.
//!
//! ```text
//! cargo run --release -p headstack-drive --example closed_loop -- drives/nearline-18tb.toml random-read 128 1,8,32 \
//!     30000 controller.scheduler=sptf
//! ```
//!
//! Prints, for each queue depth, IOPS, MB/s, and mean, median, p99 and maximum of the response in ms. The first quarter of
//! the requests is left out. `random-read`, `random-write`, `sequential-read` or `sequential-write`; size in KiB; depths;
//! requests; values to replace.
#![allow(clippy::print_stdout)]

use headstack_drive::command::{Command, Effect, Outcome, Ticket};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::sync::Arc;

/// What the users ask for.
#[derive(Clone, Copy)]
struct Load {
    op: Op,
    sequential: bool,
    sectors: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask(u64),
    Grant(Ticket),
    Wake,
}

/// The calendar, the bus, and the users.
struct Loop {
    drive: Drive,
    load: Load,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    sequence: u64,
    bus_free: Nanos,
    state: u64,
    done: Vec<Outcome>,
}

impl Loop {
    fn schedule(&mut self, at: Nanos, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    fn draw(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    fn command(&mut self, id: u64) -> Command {
        let sectors = u64::from(self.load.sectors);
        let places = self.drive.capacity_sectors() / sectors;
        let place =
            if self.load.sequential { id % places } else { ((self.draw() << 31) + self.draw()) % places };
        let Load { op, sectors, .. } = self.load;
        Command { id, op, lba: Lba(place * u64::from(sectors)), sectors, flags: RequestFlags::default() }
    }

    /// Serves `count` requests of `depth` users.
    fn run(&mut self, depth: u64, count: u64) {
        let bus = self.drive.model().bus();
        let (mut asked, mut effects) = (depth, Vec::new());
        (0..depth).for_each(|user| self.schedule(Nanos::ZERO, Event::Ask(user)));
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            match event {
                Event::Ask(id) => {
                    let command = self.command(id);
                    self.drive.submit(now, command, &mut effects);
                }
                Event::Grant(ticket) if now < self.bus_free => {
                    self.schedule(self.bus_free, Event::Grant(ticket));
                }
                Event::Grant(ticket) => self.drive.bus_granted(now, ticket, &bus, &mut effects),
                Event::Wake => self.drive.advance(now, &mut effects),
            }
            for effect in effects.drain(..) {
                match effect {
                    Effect::NeedBus { ticket, at, .. } => self.schedule(at, Event::Grant(ticket)),
                    Effect::ReleaseBus { at, .. } => self.bus_free = at,
                    Effect::WakeAt(at) => self.schedule(at, Event::Wake),
                    Effect::Background(_) => {}
                    Effect::Done(outcome) => {
                        self.done.push(outcome);
                        if asked < count {
                            self.schedule(outcome.finish, Event::Ask(asked));
                            asked += 1;
                        }
                    }
                }
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: closed_loop DRIVE.toml LOAD KIB DEPTH,DEPTH… REQUESTS [PATH=VALUE…]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, load, kib, depths, count, overrides @ ..] = &arguments[..] else { return Err(usage.into()) };
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .filter_map(|pair| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())))
        .collect();
    let spec = DriveSpec::from_toml_with(path, &std::fs::read_to_string(path)?, &overrides)?;
    let model = Arc::new(DriveModel::new(&spec)?);
    let load = Load {
        op: if load.ends_with("write") { Op::Write } else { Op::Read },
        sequential: load.starts_with("sequential"),
        sectors: kib.parse::<u32>()? * 1024 / model.sector_bytes(),
    };
    for depth in depths.split(',') {
        let depth: u64 = depth.parse()?;
        let mut users = Loop {
            drive: Drive::new(Arc::clone(&model), 1),
            load,
            events: BinaryHeap::new(),
            sequence: 0,
            bus_free: Nanos::ZERO,
            state: 1,
            done: Vec::new(),
        };
        users.run(depth, count.parse()?);
        report(depth, load, model.sector_bytes(), users.done);
    }
    Ok(())
}

fn report(depth: u64, load: Load, sector_bytes: u32, mut done: Vec<Outcome>) {
    done.sort_by_key(|outcome| outcome.finish);
    let rows = done.split_off(done.len() / 4);
    let span = (rows[rows.len() - 1].finish - done[done.len() - 1].finish).as_ms() / 1e3;
    let iops = rows.len() as f64 / span;
    let rate = iops * f64::from(load.sectors) * f64::from(sector_bytes) / 1e6;
    let mut times: Vec<f64> = rows.iter().map(|outcome| outcome.phases.total().as_ms()).collect();
    times.sort_by(f64::total_cmp);
    let of = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    println!(
        "depth {depth:3}: {iops:8.1} IOPS {rate:7.1} MB/s, mean {mean:8.2} p50 {:8.2} p99 {:8.2} max {:8.2} ms",
        of(0.5),
        of(0.99),
        of(1.0)
    );
}

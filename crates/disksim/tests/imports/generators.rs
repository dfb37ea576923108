//! What the generators of DiskSim 4.0 asked for, request by request, when they get the completions that it had: of its
//! functional systems that never wait, or whose requests are those of one disk. Where its runs are at hand
//! (`$HEADSTACK_DATA`, `../shared/data`).

use super::original_runs::{data, text};
use headstack_disksim::{SimulationOptions, import_simulation};
use headstack_system::System;
use headstack_system::workload::{Call, ClosedLoop};
use headstack_units::{Nanos, Op};
use std::collections::BTreeSet;
use std::path::Path;

/// Systems, and how many requests each asked for.
const SYSTEMS: [(&str, usize); 6] = [
    ("synthopen", 10_000),
    ("synthclosed", 10_004),
    ("synthmixed", 10_004),
    ("synthsimpledisk", 10_003),
    ("synthcachedev", 10_004),
    ("syntharrays", 10_000),
];

/// Instants are printed in whole ns, and added up from ns here.
const SAME: Nanos = Nanos(1_000);

/// Devices of `syntharrays` that are whole arrays.
const ARRAYS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    at: Nanos,
    device: u32,
    lba: u64,
    sectors: u32,
    op: Op,
}

/// The requests that DiskSim's generators made.
fn arrivals(file: &Path) -> Vec<Asked> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let flags: u32 = fields[4].parse().unwrap();
        Asked {
            at: Nanos::from_ms(fields[0].parse().unwrap()),
            device: fields[1].parse().unwrap(),
            lba: fields[2].parse().unwrap(),
            sectors: fields[3].parse().unwrap(),
            op: if flags & 1 == 1 { Op::Read } else { Op::Write },
        }
    };
    text(file).lines().map(row).collect()
}

/// When DiskSim completed what: instant, device, address; in the order of time.
fn completions(file: &Path) -> Vec<(Nanos, u32, u64)> {
    let row = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap();
        (Nanos::from_ms(next().parse().unwrap()), next().parse().unwrap(), next().parse().unwrap())
    };
    text(file).lines().skip(1).map(row).collect()
}

/// The generators of a simulation file.
fn generators(data: &Path, name: &str) -> ClosedLoop {
    let options = SimulationOptions {
        lenient: true,
        folders: vec![data.join("drives")],
        ..SimulationOptions::default()
    };
    let found = import_simulation(&data.join(format!("validate/{name}.parv")), &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.toml"), found.system_toml()).unwrap();
    for drive in &found.drives {
        std::fs::write(folder.path().join(&drive.name), &drive.toml).unwrap();
    }
    let system = System::load(folder.path().join("run.toml").to_str().unwrap(), &[]).unwrap();
    let workload = found.workload.unwrap();
    workload.generate(&system.devices(), None, None).unwrap().closed.unwrap()
}

/// Generators, and what becomes of their requests.
struct Play {
    generators: ClosedLoop,
    asked: Vec<Asked>,
    /// Requests that are not complete, by number.
    under_way: BTreeSet<usize>,
    /// Who is to be called when; those at one instant in the order in which that was said.
    calls: BTreeSet<(Nanos, usize, u32)>,
    said: usize,
}

impl Play {
    fn call_at(&mut self, user: u32, at: Option<Nanos>) {
        self.said += 1;
        self.calls.extend(at.map(|at| (at, self.said, user)));
    }

    fn call(&mut self, user: u32, now: Nanos) {
        let next = match self.generators.call(user, now) {
            Call::Nothing => None,
            Call::Again(at) => Some(at),
            Call::Issue(request) => {
                let (id, op, lba) = (self.asked.len(), request.op, request.lba.0);
                self.asked.push(Asked { at: now, device: request.device, lba, sectors: request.sectors, op });
                self.under_way.insert(id);
                self.generators.issued(user, id as u64, now)
            }
        };
        self.call_at(user, next);
    }

    fn complete(&mut self, now: Nanos, device: u32, lba: u64) {
        let is_this = |id: &usize| (self.asked[*id].device, self.asked[*id].lba) == (device, lba);
        let Some(id) = self.under_way.iter().copied().find(is_this) else { return };
        self.under_way.remove(&id);
        if let Some((user, at)) = self.generators.completed(0, id as u64, now) {
            self.call_at(user, Some(at));
        }
    }
}

/// What generators ask for, each request complete when DiskSim's was.
fn played(generators: ClosedLoop, done: &[(Nanos, u32, u64)]) -> Vec<Asked> {
    let (users, mut done) = (generators.users(), done.iter().peekable());
    let (asked, under_way, calls) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut play = Play { generators, asked, under_way, calls, said: 0 };
    for user in 0..users {
        let at = play.generators.start(user);
        play.call_at(user, at);
    }
    loop {
        let call = play.calls.first().copied();
        let is_first = |&&(at, ..): &&(Nanos, u32, u64)| call.is_none_or(|(next, ..)| at <= next);
        if let Some(&&(at, device, lba)) = done.peek().filter(|next| is_first(next)) {
            done.next();
            play.complete(at, device, lba);
        } else if let Some((at, _, user)) = call {
            play.calls.pop_first();
            play.call(user, at);
        } else {
            return play.asked;
        }
    }
}

#[test]
fn the_generators_ask_for_what_disksims_asked_for() {
    let Some(data) = data() else { return };
    for (name, count) in SYSTEMS {
        let file = |what: &str| data.join(format!("disksim-runs/{name}.{what}.gz"));
        let mut theirs = arrivals(&file("arrivals"));
        // Writes that an array issues when its reads are complete arrive at disks, not at the arrays.
        theirs.retain(|request| name != "syntharrays" || request.device < ARRAYS);
        let ours = played(generators(&data, name), &completions(&file("completions.csv")));
        assert_eq!(theirs.len(), count, "{name}");
        let is_same = |(ours, theirs): &(&Asked, &Asked)| {
            ours.at.0.abs_diff(theirs.at.0) <= SAME.0 && Asked { at: theirs.at, ..**ours } == **theirs
        };
        if let Some((index, (ours, theirs))) =
            ours.iter().zip(&theirs).enumerate().find(|(_, pair)| !is_same(pair))
        {
            panic!("{name}: request {index} is {ours:?}, DiskSim's is {theirs:?}");
        }
        assert_eq!(ours.len(), count, "{name}");
    }
}

//! Work to count the instructions of: each case does something so many times, the same at every call, so that the
//! difference of two lengths is the cost of the difference. Names are those of the timed benchmarks.

use crate::steady::Steady;
use crate::whole::{Fleet, Whole};
use crate::{data, drive, event_traces, random_4k, traces};
use headstack_drive::command::Command;
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// Something to do, a shorter and a longer while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name: group and benchmark.
    pub name: String,
    /// How many times.
    pub lengths: [u64; 2],
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Extent,
    Fcfs,
    Sequential,
    Sptf(u64),
    Read(&'static str),
    Events(&'static str),
    Paired,
    Light(&'static str),
    Fleet(&'static str),
    Eighteen,
}

/// How deep the queues are.
pub const DEPTHS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];

/// The drives of which fleets are run.
pub const FLEET_DRIVES: [&str; 2] = ["cheetah-9lp", "nearline-18tb"];

/// The drives that are run from a Parquet trace to a summary.
pub const LIGHT_DRIVES: [&str; 2] = ["hp-97560", "cheetah-9lp"];

const DRIVE: &str = "cheetah-9lp";

/// All cases.
pub fn cases() -> Vec<Case> {
    let case = |name: &str, lengths, work| Case { name: name.to_owned(), lengths, work };
    let mut cases = vec![
        case("step/extent cheetah-9lp", [10_000, 50_000], Work::Extent),
        case("fcfs random 4 KiB/cheetah-9lp", [5_000, 25_000], Work::Fcfs),
        case("cached sequential/hp-97560", [5_000, 25_000], Work::Sequential),
    ];
    cases
        .extend(DEPTHS.map(|depth| {
            case(&format!("sptf cheetah-9lp/{depth} waiting"), [500, 2_500], Work::Sptf(depth))
        }));
    cases.extend(
        traces::FORMATS.map(|format| case(&format!("reader/{format}"), [10_000, 50_000], Work::Read(format))),
    );
    // Three events for each request.
    let lengths = [9_000, 39_000];
    cases.extend(
        event_traces::FORMATS.map(|format| case(&format!("events/{format}"), lengths, Work::Events(format))),
    );
    cases.push(case("events/blktrace-paired", lengths, Work::Paired));
    cases
        .extend(LIGHT_DRIVES.map(|drive| {
            case(&format!("parquet to summary/{drive}"), [20_000, 120_000], Work::Light(drive))
        }));
    cases.extend(
        FLEET_DRIVES.map(|drive| case(&format!("fleet/{drive}"), [20_000, 60_000], Work::Fleet(drive))),
    );
    if data("validate/ascii.trace").is_some() {
        cases.push(case("18 drives/ascii.trace", [1_000, 6_000], Work::Eighteen));
    }
    cases
}

impl Case {
    /// Makes the files it needs in `folder`.
    ///
    /// # Panics
    /// If they cannot be written.
    pub fn prepare(&self, folder: &Path) {
        for length in self.lengths {
            match self.work {
                Work::Read(format) => {
                    traces::write(&folder.join(format!("{format}-{length}")), format, length);
                }
                Work::Events(format) => {
                    event_traces::write(&event_file(folder, format, length), format, length / 3);
                }
                Work::Paired => {
                    event_traces::write(&event_file(folder, "blktrace", length), "blktrace", length / 3);
                }
                Work::Light(drive) => light(drive, length, folder).write_light(length),
                Work::Fleet(drive) => fleet(drive, length, folder).write(length),
                _ => {}
            }
        }
    }

    /// Does its work so many times.
    ///
    /// # Panics
    /// If the files that [`Case::prepare`] makes are not in `folder`.
    pub fn run(&self, length: u64, folder: &Path) {
        match self.work {
            Work::Extent => extent(length),
            Work::Fcfs => fcfs(length),
            Work::Sequential => sequential(length),
            Work::Sptf(depth) => {
                let mut steady = Steady::new(DRIVE, "sptf", depth);
                for _ in 0..length {
                    black_box(steady.step());
                }
            }
            Work::Read(format) => {
                assert_eq!(traces::count(&folder.join(format!("{format}-{length}"))), length);
            }
            Work::Events(format) => {
                assert_eq!(event_traces::count_events(&event_file(folder, format, length)), length);
            }
            Work::Paired => {
                assert_eq!(traces::count(&event_file(folder, "blktrace", length)), length / 3);
            }
            Work::Light(drive) => assert_eq!(light(drive, length, folder).run(None).requests, length),
            Work::Fleet(drive) => assert_eq!(fleet(drive, length, folder).run(), length),
            Work::Eighteen => {
                let whole = Whole::eighteen_drives().expect("the data are there");
                assert_eq!(whole.run(Some(length)).requests, length);
            }
        }
    }
}

fn event_file(folder: &Path, format: &str, length: u64) -> PathBuf {
    folder.join(format!("events-{format}-{length}"))
}

fn light(drive: &str, length: u64, folder: &Path) -> Whole {
    Whole::light(drive, folder.join(format!("light-{drive}-{length}.parquet")))
}

fn fleet(drive: &str, length: u64, folder: &Path) -> Fleet {
    Fleet::new(drive, folder.join(format!("fleet-{drive}-{length}.parquet")))
}

fn extent(count: u64) {
    let drive = drive(DRIVE);
    let layout = &drive.model().layout;
    // Drawing the addresses is not to be counted: one list, gone through again and again.
    let requests = random_4k(&drive, 10_000);
    for (_, command) in requests.iter().cycle().take(count as usize) {
        black_box(layout.extent(black_box(command.lba.0), 8));
    }
}

fn fcfs(count: u64) {
    let mut drive = drive(DRIVE);
    let bus = drive.model().bus();
    let requests = random_4k(&drive, 25_000);
    let (mut background, mut free) = (Vec::new(), Nanos::ZERO);
    for &(at, command) in requests.iter().take(count as usize) {
        free = drive.serve(at.max(free), command, &bus, &mut background).finish;
        background.clear();
    }
}

fn sequential(count: u64) {
    let mut drive = drive("hp-97560");
    let bus = drive.model().bus();
    let (mut background, mut at) = (Vec::new(), Nanos::ZERO);
    for id in 0..count {
        let command =
            Command { id, op: Op::Read, lba: Lba(id * 8), sectors: 8, flags: RequestFlags::default() };
        at = drive.serve(at, command, &bus, &mut background).finish;
        background.clear();
    }
}

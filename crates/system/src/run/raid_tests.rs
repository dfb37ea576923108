//! Arrays in idle and busy systems: commands counted, revolutions lost, writes of one stripe kept apart.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos};

use super::*;
use crate::record::Keep;

/// One revolution at 4,002 rpm.
const REVOLUTION_MS: f64 = 60_000.0 / 4_002.0;
/// Sectors of the usual stripe unit of 64 KiB.
const UNIT: u64 = 128;

fn system(level: &str, drives: usize, more: &str) -> Arc<System> {
    let text = format!(
        "[volume.v]\nlevel = \"{level}\"\n{more}\ndrives = [{}]\n",
        vec!["\"hp-97560\""; drives].join(", ")
    );
    let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = crate::library::Source { name, origin, directory: None, text };
    // Writes are complete when they are on the media.
    let set = [("drive.*.write_policy".to_owned(), "{ write-through = {} }".to_owned())];
    let config = crate::SystemConfig::from_source(&source, &set).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap_or_else(|error| panic!("{error}")))
}

fn go(system: &Arc<System>, requests: Vec<Request>, replay: Replay) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let options = RunOptions { replay, ..RunOptions::default() };
    let input = Input::Source(Box::new(InMemory::new(requests)));
    let summary =
        run(system, input, &options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn spread(op: Op, sectors: u32, count: u64, gap_ms: u64) -> Vec<Request> {
    (0..count)
        .map(|i| Request::new(Nanos(i * gap_ms * 1_000_000), op, Lba(i * 11_117 + 5), sectors))
        .collect()
}

fn commands(system: &Arc<System>, request: Request) -> u64 {
    go(system, vec![request], Replay::Open).1.drives.iter().map(|drive| drive.commands).sum()
}

#[test]
fn small_writes_cost_what_the_level_says() {
    let write = |sectors| Request::new(Nanos(0), Op::Write, Lba(0), sectors);
    let read = Request::new(Nanos(0), Op::Read, Lba(0), 8);
    for (level, drives, more, small) in [
        ("raid-0", 4, "", 1),
        ("raid-1", 2, "", 2),
        ("raid-10", 4, "", 2),
        ("raid-10", 6, "copies = 3", 3),
        ("raid-4", 5, "", 4),
        ("raid-5", 5, "", 4),
        ("raid-6", 6, "", 6),
        ("raid-5", 5, "small_writes = \"reconstruct-write\"", 3 + 2),
        // The parity of the first stripe is on the last drive.
        ("raid-5", 5, "failed_drives = [4]", 1),
        ("raid-5", 5, "failed_drives = [0]", 3 + 1),
        ("raid-6", 6, "failed_drives = [1, 2]", 3 + 3),
    ] {
        let system = system(level, drives, more);
        assert_eq!(commands(&system, write(8)), small, "{level} {more}");
        if !more.contains("failed") {
            assert_eq!(commands(&system, read), 1, "{level} {more}");
        }
    }
    let whole = |parities: u64| (6 - parities) * UNIT;
    assert_eq!(commands(&system("raid-5", 6, ""), write(whole(1) as u32)), 6);
    assert_eq!(commands(&system("raid-6", 6, ""), write(whole(2) as u32)), 6);
}

/// What has just been read comes round again one revolution later.
#[test]
fn a_small_write_loses_one_revolution() {
    let (array, alone) = (system("raid-5", 5, ""), system("raid-0", 5, ""));
    // The same sectors of the same drives: the first stripes of both begin on drive 0.
    let at = |op, i: u64| Request::new(Nanos(i * 200_000_000), op, Lba(i % 5), 8);
    let mean = |system: &Arc<System>, op| {
        let (kept, _) = go(system, (0..20).map(|i| at(op, i)).collect(), Replay::Open);
        kept.rows.iter().map(|row| row.response().as_ms()).sum::<f64>() / 20.0
    };
    let extra = mean(&array, Op::Write) - mean(&alone, Op::Read);
    // A write is complete when the last sector is on the media, a read when that has crossed the bus.
    assert!(
        (extra - REVOLUTION_MS).abs() < 0.05 * REVOLUTION_MS,
        "{extra} ms, a revolution is {REVOLUTION_MS}"
    );
}

#[test]
fn writes_of_one_stripe_wait_for_each_other() {
    let array = system("raid-5", 5, "");
    let write = |lba| Request::new(Nanos(0), Op::Write, Lba(lba), 8);
    let (kept, _) = go(&array, vec![write(0), write(64), write(40_000)], Replay::Open);
    let finish = |id: u64| kept.rows.iter().find(|row| row.id == id).unwrap().finish;
    let row = |id: u64| *kept.rows.iter().find(|row| row.id == id).unwrap();
    // The second of the same stripe begins when the first is complete; the third concerns another one.
    assert_eq!(row(1).phases.other, finish(0));
    assert_eq!(row(2).phases.other, Nanos::ZERO);
    assert!(finish(1) > finish(0));
    // Unless they may overlap.
    let loose = system("raid-5", 5, "stripe_lock = false");
    let (kept, _) = go(&loose, vec![write(0), write(64)], Replay::Open);
    assert!(kept.rows.iter().all(|row| row.phases.other == Nanos::ZERO));
}

#[test]
fn every_level_serves_every_request_under_load_and_in_replays() {
    for (level, drives, more) in [
        ("raid-0", 3, "stripe_unit_kib = 16"),
        ("raid-1", 3, "read_choice = \"round-robin\"\nfailed_drives = [1]"),
        ("raid-10", 4, "read_choice = \"nearest\"\nfailed_drives = [0]"),
        ("raid-4", 4, "failed_drives = [2]"),
        ("raid-5", 4, "parity_layout = \"right-asymmetric\""),
        ("raid-5", 5, "write_order = \"after-own-reads\""),
        ("raid-6", 5, "write_order = \"after-own-reads\"\nfailed_drives = [2]"),
        ("raid-5", 4, "failed_drives = [1]"),
        ("raid-6", 5, "failed_drives = [0, 3]"),
    ] {
        let system = system(level, drives, more);
        for replay in [Replay::Open, Replay::Closed] {
            // Closer together than they can be served, and longer than a stripe.
            let mut requests = spread(Op::Write, 8, 60, 3);
            requests.extend(spread(Op::Write, 700, 20, 3));
            requests.extend(spread(Op::Read, 300, 60, 3));
            requests.sort_by_key(|request| request.arrival);
            let (kept, summary) = go(&system, requests, replay);
            assert_eq!((kept.rows.len(), summary.in_flight_cut), (140, 0), "{level} {more}");
            assert!(kept.rows.iter().all(|row| row.phases.total() == row.response()));
            let failed = &system.config().volumes[0].options.failed_drives;
            assert!(failed.iter().all(|&drive| summary.drives[drive].commands == 0), "{level} {more}");
        }
    }
}

#[test]
fn capacities_leave_room_for_parity_and_copies() {
    let size = |level, drives, more| system(level, drives, more).devices()[0].sectors;
    let drive = size("single", 1, "");
    let whole = drive / UNIT * UNIT;
    assert_eq!(size("raid-0", 4, ""), 4 * whole);
    assert_eq!(size("raid-1", 4, ""), drive);
    assert_eq!(size("raid-10", 4, ""), 2 * whole);
    assert_eq!(size("raid-5", 4, ""), 3 * whole);
    assert_eq!(size("raid-6", 4, ""), 2 * whole);
}

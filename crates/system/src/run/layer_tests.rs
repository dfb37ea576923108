//! What arrays will ask of the engine: sub-requests at arbitrary places, several phases of a request, timers.

use std::sync::Arc;

use headstack_drive::command::Background;
use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos, RequestFlags};

use super::*;
use crate::layer::testing::{PAUSE, STRIPE_SECTORS};
use crate::record::Keep;

fn system(level: &str, drives: usize, more: &str) -> Arc<System> {
    system_with(level, drives, more, &[])
}

fn system_with(level: &str, drives: usize, more: &str, overrides: &[(&str, &str)]) -> Arc<System> {
    let text = format!(
        "{more}\n[volume.v]\nlevel = \"{level}\"\ndrives = [{}]\n",
        vec!["\"hp-97560\""; drives].join(", ")
    );
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text,
    };
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let config =
        crate::SystemConfig::from_source(&source, &overrides).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap())
}

fn go(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let summary =
        run(system, input, options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn requests(op: Op, sectors: u32, count: u64) -> Vec<Request> {
    (0..count).map(|i| Request::new(Nanos(i * 70_000_000), op, Lba(i * 11_117 + 5), sectors)).collect()
}

#[test]
fn a_stripe_that_wraps_sends_several_commands_to_a_drive() {
    let one = "[host]\noutstanding_per_drive = 1";
    let system = system("test-stripe", 3, one);
    // Five stripe units and a bit over three drives.
    let sectors = 5 * STRIPE_SECTORS as u32 + 2;
    let requests = requests(Op::Read, sectors, 40);
    let (events, summary) = go(&system, &requests, &RunOptions { event_path: true, ..RunOptions::default() });
    let (fast, fast_summary) = go(&system, &requests, &RunOptions::default());
    assert_eq!((events.rows.len(), &events.rows), (40, &fast.rows));
    assert_eq!(summary, fast_summary);
    // Sector 5 of the first unit and one of the sixth: seven of them in all, or six where it begins with a unit.
    let commands: u64 = summary.drives.iter().map(|drive| drive.commands).sum();
    let touched = |request: &Request| {
        (request.lba.0 + u64::from(sectors) - 1) / STRIPE_SECTORS - request.lba.0 / STRIPE_SECTORS + 1
    };
    assert_eq!(commands, requests.iter().map(touched).sum::<u64>());
    let (closed, _) = go(&system, &requests, &RunOptions { replay: Replay::Closed, ..RunOptions::default() });
    assert_eq!(closed.rows.len(), 40);
}

#[test]
fn a_request_of_two_phases_has_the_phases_of_both() {
    let system = system("test-phased", 2, "");
    let requests = requests(Op::Write, 8, 30);
    let single = crate::System::load("hp-97560", &[]).unwrap();
    let (kept, summary) = go(&system, &requests, &RunOptions::default());
    assert_eq!(kept.rows.len(), 30);
    for row in &kept.rows {
        assert_eq!(row.phases.total(), row.response());
        assert_eq!((row.start, row.phases.other), (row.arrival, Nanos::ZERO));
        // A write that comes right after a read of the same sectors waits for most of a revolution, or is reported early; both
        // commands are processed.
        let overheads = &single.model(0).unwrap().spec().controller;
        assert!(row.phases.overhead >= Nanos::from_ms(2.0 * overheads.read_overhead_ms), "{row:?}");
    }
    assert!(summary.drives.iter().all(|drive| drive.commands == 60));
    // One request at a time: the replay does the same.
    let (closed, closed_summary) =
        go(&system, &requests, &RunOptions { replay: Replay::Closed, ..RunOptions::default() });
    let mut issued = requests.clone();
    for row in &closed.rows {
        issued[row.id as usize].arrival = row.arrival;
    }
    let (open, open_summary) = go(&system, &issued, &RunOptions::default());
    assert_eq!(open.rows, closed.rows);
    assert_eq!(open_summary.buses, closed_summary.buses);
}

#[test]
fn a_layer_may_let_a_request_wait() {
    let (paused, single) = (system("test-phased", 2, ""), system("single", 1, ""));
    let requests = requests(Op::Read, 8, 30);
    let (kept, _) = go(&paused, &requests, &RunOptions::default());
    let later: Vec<Request> =
        requests.iter().map(|request| Request { arrival: request.arrival + PAUSE, ..*request }).collect();
    let (expected, _) = go(&single, &later, &RunOptions::default());
    for (row, expected) in kept.rows.iter().zip(&expected.rows) {
        assert_eq!(
            (row.finish, row.start, row.phases.other),
            (expected.finish, expected.start, expected.phases.other + PAUSE)
        );
    }
}

#[test]
fn a_mirror_halves_the_reads_of_each_drive_and_doubles_no_write_s_time() {
    let (mirror, single) = (system("mirror", 2, ""), system("single", 1, ""));
    let reads = requests(Op::Read, 8, 60);
    let both: Vec<Request> = reads
        .iter()
        .flat_map(|request| [*request, Request { lba: Lba(request.lba.0 + 900_000), ..*request }])
        .collect();
    let (mirrored, summary) = go(&mirror, &both, &RunOptions::default());
    let (alone, _) = go(&single, &both, &RunOptions::default());
    assert!(summary.drives.iter().all(|drive| drive.commands == 60), "{:?}", summary.drives);
    let mean = |rows: &[CompletionRow]| rows.iter().map(|row| row.response().as_ms()).sum::<f64>();
    assert!(mean(&mirrored.rows) < 0.8 * mean(&alone.rows));
    // Both copies of a write are made at the same time by equal drives.
    let writes = requests(Op::Write, 8, 60);
    let (mirrored, summary) = go(&mirror, &writes, &RunOptions::default());
    let (alone, _) = go(&single, &writes, &RunOptions::default());
    assert!(summary.drives.iter().all(|drive| drive.commands == 60));
    let times = |rows: &[CompletionRow]| -> Vec<_> { rows.iter().map(|row| (row.id, row.finish)).collect() };
    assert_eq!(times(&mirrored.rows), times(&alone.rows));
}

/// Drives that keep what they are told until they are flushed, and requests that are far apart: writes, of which the last
/// is a flush, with data or alone.
fn flushed(level: &str, alone: bool) -> (Vec<CompletionRow>, Keep) {
    let policy = "{ write-back = { size_kib = 64.0, idle_before_destage_ms = 50000.0 } }";
    let drives = if level == "single" { 1 } else { 2 };
    let system = system_with(level, drives, "", &[("drive.*.write_policy", policy)]);
    let mut requests = requests(Op::Write, 8, 12);
    // A read, after which the drives hold back for a while; all writes but the last lie on the first drive.
    requests[0].op = Op::Read;
    let (half, last) = (system.model(0).unwrap().capacity_sectors(), requests.len() - 1);
    requests[last].lba = Lba(if level == "mirror" { 100 } else { half + 100 });
    requests[last].flags = RequestFlags::FLUSH;
    if alone {
        (requests[last].lba, requests[last].sectors) = (Lba(0), 0);
    }
    let (kept, _) = go(&system, &requests, &RunOptions::default());
    (kept.rows.clone(), kept)
}

#[test]
fn a_flush_of_an_array_waits_for_all_of_its_drives() {
    for (level, alone) in [
        ("concatenation", false),
        ("mirror", false),
        ("single", true),
        ("concatenation", true),
        ("mirror", true),
    ] {
        let (rows, kept) = flushed(level, alone);
        let flush = rows.last().unwrap();
        let drives = if level == "mirror" { 2 } else { 1 };
        let during = |work: &&Background| work.start < flush.finish && work.finish > flush.arrival;
        let before: Vec<_> = kept.background.iter().map(|row| &row.work).filter(during).collect();
        assert_eq!(before.len(), 10 * drives, "{level}: {before:?}");
        let last = before.iter().map(|work| work.finish).max().unwrap();
        // Alone, it takes no time of its own but the drive's overhead of completing a write, which is none here.
        let took = flush.finish - last;
        assert!(flush.phases.other > Nanos::ZERO && (took > Nanos::ZERO) != alone, "{level}: {flush:?}");
        assert_eq!(flush.phases.total(), flush.response());
    }
}

#[test]
fn a_flush_alone_of_any_volume_is_complete_where_nothing_waits() {
    let mut all = requests(Op::Write, 8, 3);
    all[0] = Request { sectors: 0, flags: RequestFlags::FLUSH, ..all[0] };
    for (level, drives) in [("single", 1), ("raid-0", 2), ("mirror", 2), ("raid-5", 3), ("raid-10", 4)] {
        for options in [RunOptions::default(), RunOptions { event_path: true, ..RunOptions::default() }] {
            let (kept, summary) = go(&system(level, drives, ""), &all, &options);
            assert_eq!((kept.rows.len(), summary.requests), (3, 3), "{level}");
            let row = &kept.rows[0];
            // The drive's controller answers; neither arm nor bus is needed.
            assert_eq!(row.id, 0, "{level}");
            assert_eq!(row.phases.overhead, row.response(), "{level}: {row:?}");
        }
    }
}

#[test]
fn volumes_pass_on_what_their_drives_can_do_for_each() {
    let marked = |level: &str, drives: usize, mark| {
        let mut requests = requests(Op::Write, 64, 20);
        for request in &mut requests {
            request.flags = mark;
        }
        let (kept, summary) = go(&system(level, drives, ""), &requests, &RunOptions::default());
        assert_eq!(kept.rows.len(), 20);
        let bytes: u64 = kept.rows.iter().map(|row| row.busy.bus.0).sum();
        (summary.drives.iter().map(|drive| drive.commands).collect::<Vec<_>>(), bytes, kept.rows)
    };
    let (plain, discard, same) = (RequestFlags::default(), RequestFlags::DISCARD, RequestFlags::WRITE_SAME);
    // A mirror discards on both, without a bus; parity would no longer be that of the data.
    let (commands, bus, _) = marked("mirror", 2, discard);
    assert_eq!((commands, bus), (vec![20, 20], 0));
    let (commands, _, rows) = marked("raid-5", 3, discard);
    assert_eq!(commands, [0, 0, 0]);
    assert!(rows.iter().all(|row| row.finish == row.arrival), "{rows:?}");
    // One sector goes to each copy; with parity, all of them as ever.
    assert!(marked("mirror", 2, same).1 * 4 < marked("mirror", 2, plain).1);
    assert_eq!(marked("raid-5", 3, same).0, marked("raid-5", 3, plain).0);
    assert_eq!(marked("raid-5", 3, same).1, marked("raid-5", 3, plain).1);
}

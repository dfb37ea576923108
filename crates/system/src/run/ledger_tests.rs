//! All ways through the system book the same, whole summaries compared, and rows add up to what the ledger says.

use std::sync::Arc;

use headstack_drive::command::Busy;
use headstack_trace::{InMemory, Request, RequestSource};
use headstack_units::{Lba, Nanos, Op};

use super::*;
use crate::library;
use crate::record::Keep;
use crate::summary::UnitWork;
use crate::workload::WorkloadSpec;

const ONE_AT_A_TIME: [(&str, &str); 1] = [("host.outstanding_per_drive", "1")];

fn load(name: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let set: Vec<(String, String)> =
        pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    Arc::new(System::load(name, &set).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn generated(system: &System, count: u64) -> Vec<Request> {
    let (_, spec) = WorkloadSpec::load("unix-like", &[]).unwrap();
    let mut open = spec.generate(&system.devices(), None, Some(count)).unwrap().open.unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        open.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return all;
        }
        all.append(&mut batch);
    }
}

fn go(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let summary =
        run(system, input, options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn sorted(mut kept: Keep) -> Keep {
    kept.rows.sort_by_key(|row| row.id);
    kept.background.sort_by_key(|row| (row.drive, row.work.start, row.work.lba));
    kept
}

/// Where counting begins and ends: nowhere in between, after a number of requests, after a time, and with an end in the
/// middle of the run.
fn windows(requests: &[Request]) -> [RunOptions; 4] {
    let middle = requests[requests.len() / 2].arrival;
    let plain = RunOptions { threads: Some(1), ..RunOptions::default() };
    [
        plain.clone(),
        RunOptions { warmup: Warmup::Requests(requests.len() as u64 / 3), ..plain.clone() },
        RunOptions { until: Some(middle + Nanos(7_000_000)), ..plain.clone() },
        RunOptions {
            warmup: Warmup::Seconds(middle.as_s() / 3.0),
            until: Some(middle + Nanos(1_000_000)),
            ..plain
        },
    ]
}

#[test]
fn every_drive_of_the_library_is_booked_the_same_on_both_paths() {
    for entry in library::drives() {
        let system = load(entry.name, &ONE_AT_A_TIME);
        let requests = generated(&system, 400);
        // Host recalibration needs the event path; both runs are of that then.
        for options in windows(&requests) {
            let (rows, summary) = go(&system, &requests, &options);
            let events = RunOptions { event_path: true, ..options.clone() };
            let (event_rows, event_summary) = go(&system, &requests, &events);
            let about = format!("{}, {:?}, until {:?}", entry.name, options.warmup, options.until);
            assert_eq!(summary, event_summary, "{about}");
            assert_eq!(sorted(rows).rows, sorted(event_rows).rows, "{about}");
        }
    }
}

#[test]
fn the_bus_is_booked_the_same_where_a_limit_that_limits_nothing_takes_another_path() {
    let limited = [ONE_AT_A_TIME[0], ("host.queue_limit", "1000000")];
    for entry in library::drives() {
        let (free, limited) = (load(entry.name, &ONE_AT_A_TIME), load(entry.name, &limited));
        let requests = generated(&free, 200);
        let (_, one) = go(&free, &requests, &RunOptions::default());
        let (_, other) = go(&limited, &requests, &RunOptions::default());
        assert_eq!((&one.buses, &one.drives), (&other.buses, &other.drives), "{}", entry.name);
    }
}

/// Counting begins while data go over the bus, or ends at the instant at which the first request comes.
#[test]
fn data_take_no_longer_than_the_bus_was_held() {
    let system = load("hp-97560", &[ONE_AT_A_TIME[0], ("bus.read_mb_per_s", "1.0"), ("cache.segments", "1")]);
    let read = |arrival, lba, sectors| Request::new(Nanos(arrival), Op::Read, Lba(lba), sectors);
    let large = read(0, 0, 2_000);
    let (alone, _) = go(&system, &[large], &RunOptions::default());
    let requests = [large, read(alone.rows[0].finish.0 - 1_000_000, 600_000, 1)];
    for event_path in [false, true] {
        let plain = RunOptions { event_path, ..RunOptions::default() };
        let warm = RunOptions { warmup: Warmup::Requests(1), ..plain.clone() };
        let bus = &go(&system, &requests, &warm).1.buses[0];
        assert!(bus.data_utilisation > 0.0, "{bus:?}");
        assert!(bus.data_utilisation <= bus.utilisation, "{bus:?}");
        let none = go(&system, &requests, &RunOptions { until: Some(Nanos::ZERO), ..plain }).1;
        assert_eq!((none.requests, none.simulated_s, none.in_flight_cut), (0, 0.0, 1));
        assert_eq!((none.drives[0].utilisation, none.drives[0].queue_mean, none.iops), (0.0, 0.0, 0.0));
        assert_eq!((none.buses[0].utilisation, none.buses[0].data_utilisation), (0.0, 0.0));
    }
}

#[test]
fn rows_add_up_to_the_time_the_bus_was_held() {
    for entry in library::drives() {
        // One that says how much it gathers between its bursts has them, and disconnects.
        let gathers = |system: &Arc<System>| {
            system.model(0).is_some_and(|model| model.spec().buffer.buffer_full_kib.is_some())
        };
        let both: &[&str] = if gathers(&load(entry.name, &[])) { &["true"] } else { &["true", "false"] };
        for &disconnects in both {
            let mut set = vec![ONE_AT_A_TIME[0], ("bus.disconnects", disconnects)];
            if disconnects == "false" {
                // A drive that keeps the bus has one transfer a command.
                set.push(("buffer.bus_transfers", "\"one\""));
            }
            let system = load(entry.name, &set);
            let requests = generated(&system, 200);
            for options in [RunOptions::default(), RunOptions { event_path: true, ..RunOptions::default() }] {
                let (kept, summary) = go(&system, &requests, &options);
                let rows: f64 = kept.rows.iter().map(|row| row.busy.bus.as_s()).sum();
                let held = summary.buses[0].utilisation * summary.simulated_s;
                assert!((rows - held).abs() < 1e-9 * held, "{}: {rows} {held}", entry.name);
                let data = summary.buses[0].data_utilisation;
                assert!(data > 0.0 && data <= summary.buses[0].utilisation, "{}: {data}", entry.name);
                if disconnects == "false" {
                    let service: f64 = kept.rows.iter().map(|row| row.service().as_s()).sum();
                    assert!((service - held).abs() < 1e-9 * held, "{}: {service} {held}", entry.name);
                }
            }
        }
    }
}

/// Whatever the level makes of a request, and on whatever path: its row holds the work of all its commands.
#[test]
fn rows_of_requests_of_several_commands_add_up_to_the_work_of_buses_and_drives() {
    let levels =
        [("raid-0", 3), ("mirror", 2), ("raid-1", 2), ("raid-5", 4), ("raid-6", 5), ("concatenation", 2)];
    for (level, drives) in levels {
        let unit =
            if matches!(level, "mirror" | "raid-1" | "concatenation") { "" } else { "stripe_unit_kib = 16" };
        let names = vec!["\"hp-97560\""; drives].join(", ");
        let text = format!(
            "[host]\noutstanding_per_drive = 1\n[volume.v]\nlevel = \"{level}\"\n{unit}\ndrives = [{names}]\n"
        );
        let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
        let source = crate::library::Source { name, origin, directory: None, text };
        let system = Arc::new(System::new(crate::SystemConfig::from_source(&source, &[]).unwrap()).unwrap());
        // The first go over many units, and over the border of the two drives that are put behind each other.
        let border = system.devices()[0].sectors / 2 - 300;
        let requests: Vec<Request> = (0..60)
            .map(|number| {
                let lba = if number % 5 == 0 { border } else { number * 40_009 % 1_000_000 };
                let (op, sectors) = if number % 3 == 0 { (Op::Write, 8) } else { (Op::Read, 4096) };
                Request::new(Nanos(number * 400_000_000), op, Lba(lba), sectors)
            })
            .collect();
        let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
        let threads = RunOptions { threads: Some(2), batch: Some(7), ..RunOptions::default() };
        let events = RunOptions { event_path: true, ..RunOptions::default() };
        for options in [RunOptions::default(), threads, events, closed] {
            let (kept, summary) = go(&system, &requests, &options);
            let work = kept.rows.iter().fold(Busy::default(), |sum, row| sum + row.busy);
            let commands: u64 = summary.drives.iter().map(|drive| drive.commands).sum();
            assert!(commands > 60, "{level}: {commands} commands");
            let drives = |kind: fn(&UnitWork) -> f64| -> f64 {
                summary.drives.iter().map(|drive| kind(&drive.busy_s)).sum()
            };
            let buses: f64 = summary.buses.iter().map(|bus| bus.utilisation * summary.simulated_s).sum();
            let told = [
                (work.bus, buses),
                (work.seek, drives(|busy| busy.seek)),
                (work.rotation, drives(|busy| busy.rotation)),
                (work.transfer, drives(|busy| busy.transfer)),
            ];
            for (rows, used) in told {
                assert!((rows.as_s() - used).abs() < 1e-9 * used, "{level}, {options:?}: {rows:?} {used}");
            }
        }
    }
}

/// A closed replay keeps one request on its way, as one user does.
#[test]
fn a_closed_replay_is_booked_as_the_same_requests_at_the_same_times_are() {
    for entry in library::drives() {
        let system = load(entry.name, &ONE_AT_A_TIME);
        let requests = generated(&system, 200);
        let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
        let (kept, _) = go(&system, &requests, &closed);
        let mut issued = requests.clone();
        for row in &kept.rows {
            issued[row.id as usize].arrival = row.arrival;
        }
        let middle = kept.rows[100].start + Nanos(1_000_000);
        for (warmup, until) in [
            (Warmup::None, None),
            (Warmup::Requests(50), None),
            (Warmup::None, Some(middle)),
            (Warmup::Requests(50), Some(middle)),
        ] {
            let of = |replay| RunOptions { replay, warmup, until, ..RunOptions::default() };
            let (_, closed) = go(&system, &requests, &of(Replay::Closed));
            let (_, open) = go(&system, &issued, &of(Replay::Open));
            assert_eq!((&closed.buses, &closed.drives), (&open.buses, &open.drives), "{}", entry.name);
            assert_eq!(closed.simulated_s, open.simulated_s, "{}", entry.name);
        }
    }
}

#[test]
fn several_threads_book_as_one_does() {
    let text = r#"
[volume.a]
drives = ["hp-97560"]
[volume.b]
level = "concatenation"
drives = ["mock-disk", "cheetah-9lp"]
[host]
outstanding_per_drive = 1
"#;
    let source = library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let config = crate::SystemConfig::from_source(&source, &[]).unwrap();
    let system = Arc::new(System::new(config).unwrap());
    let mut requests = generated(&system, 600);
    for (number, request) in requests.iter_mut().enumerate() {
        request.device = u32::from(number % 3 > 0);
        if number % 50 == 1 {
            // Over the end of the first drive of the second volume.
            request.lba.0 = system.model(1).unwrap().capacity_sectors() - 1;
            request.sectors = 2;
        }
    }
    for options in windows(&requests) {
        let (one, summary) = go(&system, &requests, &options);
        for threads in [2, 3] {
            let many = RunOptions { threads: Some(threads), batch: Some(37), ..options.clone() };
            let (rows, other) = go(&system, &requests, &many);
            assert_eq!((&summary, &one.rows, &one.background), (&other, &rows.rows, &rows.background));
        }
        let events = RunOptions { event_path: true, ..options };
        let (rows, other) = go(&system, &requests, &events);
        assert_eq!(summary, other);
        assert_eq!(sorted(one), sorted(rows));
    }
}

/// Two drives that hold written data back, and spin down soon: the second is written to twice, and then left alone while the first goes
/// on reading. What it does by itself until the end is booked, its waking up for it, too.
#[test]
fn what_a_drive_does_by_itself_is_booked_until_the_end() {
    let text = r#"
[volume.a]
drives = ["nearline-18tb"]
[volume.b]
drives = ["nearline-18tb"]
[host]
outstanding_per_drive = 1
"#;
    let source = library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let condition = "[{ name = \"idle_b\", after_s = 0.1, watts = 3.0, enter = { time_s = 0.1, energy_j = 0.4 }, \
                     recover = { time_s = 0.2, energy_j = 1.5 } }]";
    let set = [
        ("drive.*.power.condition", condition),
        ("drive.*.write_policy.write-back.idle_before_destage_ms", "500.0"),
    ]
    .map(|(path, value)| (path.to_owned(), value.to_owned()));
    let config = crate::SystemConfig::from_source(&source, &set).unwrap();
    let system = Arc::new(System::new(config).unwrap());
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    let mut requests: Vec<Request> =
        (0..400).map(|i| Request::new(ms(i * 25), Op::Read, Lba(i * 70_000_000), 8)).collect();
    for (at, lba) in [(1_000, 10_000_000_000), (1_001, 30_000_000_000)] {
        requests.push(Request { device: 1, ..Request::new(ms(at), Op::Write, Lba(lba), 64) });
    }
    requests.sort_by_key(|request| request.arrival);
    let plain = RunOptions { threads: Some(1), ..RunOptions::default() };
    let warm = Warmup::Seconds(2.0);
    for options in [
        plain.clone(),
        RunOptions { until: Some(ms(7_000)), ..plain.clone() },
        RunOptions { warmup: warm, ..plain.clone() },
        RunOptions { warmup: warm, until: Some(ms(6_000)), ..plain },
    ] {
        let (_, fast) = go(&system, &requests, &options);
        let (_, events) = go(&system, &requests, &RunOptions { event_path: true, ..options.clone() });
        assert_eq!(fast.drives, events.drives, "{options:?}");
        assert_eq!(fast.power, events.power, "{options:?}");
        let quiet = &fast.drives[1];
        let [rest] = quiet.conditions.as_slice() else { panic!("{quiet:?}") };
        let worked_s = quiet.utilisation * fast.simulated_s;
        let rested_s = rest.entering_s + rest.within_s + rest.recovering_s;
        if options.warmup == Warmup::None {
            // At rest from the beginning, and again after the two pieces, for which it is woken at 1.5 s.
            assert_eq!(rest.entered, 2, "{quiet:?}");
            assert!((rest.recovering_s - 0.2).abs() < 1e-9 && (0.2..0.3).contains(&worked_s), "{quiet:?}");
            assert!((fast.simulated_s - rested_s - worked_s).abs() < 0.31, "{quiet:?}");
        } else {
            // It rests since, and has been for a while.
            assert_eq!((rest.entering_s, rest.recovering_s, worked_s), (0.0, 0.0, 0.0), "{quiet:?}");
            let counted_s = fast.simulated_s - 2.0;
            assert!((rest.within_s - counted_s).abs() < 1e-9, "{quiet:?} {counted_s}");
        }
    }
}

/// A run that is cut while nothing is under way has gone on to there; one that is through before ends with its last completion.
#[test]
fn a_run_lasts_until_it_is_cut_if_more_would_come() {
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    let requests: Vec<Request> =
        [0, 1_000, 9_000].map(|at| Request::new(ms(at), Op::Read, Lba(at * 100), 8)).to_vec();
    for set in [&ONE_AT_A_TIME[..], &[]] {
        let system = load("nearline-18tb", set);
        for (replay, event_path) in [(Replay::Open, false), (Replay::Open, true), (Replay::Closed, false)] {
            let options = RunOptions { replay, event_path, until: Some(ms(5_000)), ..RunOptions::default() };
            let about = format!("{set:?} {replay:?} {event_path}");
            let (kept, cut) = go(&system, &requests, &options);
            let issued_late = replay == Replay::Open;
            assert_eq!(kept.rows.len(), if issued_late { 2 } else { 3 }, "{about}");
            if issued_late {
                assert_eq!((cut.simulated_s, cut.in_flight_cut, cut.iops), (5.0, 0, 2.0 / 5.0), "{about}");
                assert_eq!(cut.drives[0].requests, 2, "{about}");
            }
            let (kept, through) =
                go(&system, &requests, &RunOptions { until: Some(ms(60_000)), ..options.clone() });
            let last = kept.rows.iter().map(|row| row.finish).max().unwrap();
            assert_eq!(through.simulated_s, last.as_s(), "{about}");
        }
        // Think times count for a closed replay of a measured trace, too.
        let measured: Vec<Request> = requests
            .iter()
            .map(|&request| {
                let (start, finish) = (request.arrival, request.arrival + ms(5));
                Request { start, finish, ..request }
            })
            .collect();
        for replay in [Replay::Closed, Replay::Measured] {
            let options = RunOptions { replay, until: Some(ms(5_000)), ..RunOptions::default() };
            let (kept, cut) = go(&system, &measured, &options);
            assert_eq!((kept.rows.len(), cut.simulated_s), (2, 5.0), "{set:?} {replay:?}");
        }
    }
}

/// Commands of one request meet on its bus.
fn raid_5_on_one_bus() -> Arc<System> {
    let raid = "[volume.v]\nlevel = \"raid-5\"\ndrives = [\"hp-97560\", \"hp-97560\", \"hp-97560\"]\nbus = \"b\"\n\
                [bus.b]\nkind = \"SCSI\"\nrate_mb_per_s = 10.0\n";
    let source = library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: raid.to_owned(),
    };
    Arc::new(System::new(crate::SystemConfig::from_source(&source, &[]).unwrap()).unwrap())
}

/// On the measured clock a drive that is slower in the model has only the time that it really took.
#[test]
fn a_measured_replay_books_no_more_than_there_was_time() {
    let array = raid_5_on_one_bus();
    assert!(!serial::applies(&array));
    let alone = load("hp-97560", &[]);
    assert!(serial::applies(&alone));
    for system in [alone, array] {
        let at = |i: u64| Nanos(i * 3_000_000);
        let requests: Vec<Request> = (0..200)
            .map(|i| {
                let op = if i % 3 == 0 { Op::Write } else { Op::Read };
                let lba = Lba(i * 7_919 * 16 % 2_500_000);
                Request { start: at(i), finish: at(i) + Nanos(2_000_000), ..Request::new(at(i), op, lba, 64) }
            })
            .collect();
        let options = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
        let (kept, summary) = go(&system, &requests, &options);
        assert!(kept.rows.iter().any(|row| row.service() > Nanos(20_000_000)), "the model is slower");
        // 200 requests of 2 ms, the last complete at 599 ms.
        let most = 400.0 / 599.0 + 1e-12;
        for drive in &summary.drives {
            assert!(drive.utilisation > 0.01 && drive.utilisation <= most, "{drive:?}");
            assert!(drive.queue_mean <= 1.0, "{drive:?}");
        }
        for bus in &summary.buses {
            assert!(bus.utilisation <= most, "{bus:?}");
        }
    }
}

/// What a drive takes to the media by itself while the model's command takes longer than the real one did is not begun before the
/// measured completion, where the arm has other work.
#[test]
fn a_measured_replay_books_no_instant_twice() {
    let slow_bus = [("bus.read_mb_per_s", "0.25"), ("write_policy.write-back.idle_before_destage_ms", "0")];
    let system = load("maxtor-maxline-plus-ii", &slow_bus);
    let request = |(op, lba, start, finish)| Request {
        start: Nanos(start),
        finish: Nanos(finish),
        ..Request::new(Nanos(start), op, Lba(lba), 8)
    };
    let requests = [
        (Op::Write, 1_000_000, 0, 70_000),
        (Op::Write, 50_000_000, 70_000, 140_000),
        (Op::Read, 1_000_000, 140_000, 8_000_000),
        (Op::Write, 30_000_000, 8_000_000, 8_070_000),
    ];
    let measured = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
    let (kept, summary) = go(&system, &requests.map(request), &measured);
    assert!(summary.drives[0].utilisation <= 1.0, "{:?}", summary.drives[0]);
    let second = kept.background.iter().find(|row| row.work.lba == Lba(50_000_000)).unwrap();
    assert!(second.work.start >= Nanos(70_000), "before its write came: {second:?}");
    // The run is as long as the measured one.
    assert!((summary.simulated_s - 8.07e-3).abs() < 1e-12, "{}", summary.simulated_s);
}

/// What a drive took to the media by itself before counting began is told later, and does not count.
#[test]
fn what_was_destaged_before_counting_began_is_left_out() {
    for pairs in [&[][..], &[("host.queue_limit", "1000000")]] {
        let system = load("nearline-18tb", pairs);
        let write = |i: u64| Request::new(Nanos(i * 1_000_000), Op::Write, Lba(i * 999_999_936), 8);
        let mut requests: Vec<Request> = (0..30).map(write).collect();
        requests.push(Request::new(Nanos::from_s(10.0), Op::Read, Lba(4_096), 8));
        let warm = RunOptions { warmup: Warmup::Seconds(9.9), ..RunOptions::default() };
        for (options, destages) in [(RunOptions::default(), true), (warm, false)] {
            let (kept, summary) = go(&system, &requests, &options);
            assert!(kept.background.len() >= 30);
            let busy = &summary.drives[0].busy_s;
            assert_eq!(busy.background > 0.0, destages, "{busy:?}");
        }
    }
}

/// A command that is in hand where a run is cut takes nothing back of what the drive did by itself before it came.
#[test]
fn what_a_drive_did_by_itself_is_booked_before_a_command_that_is_cut() {
    for pairs in [&[][..], &ONE_AT_A_TIME, &[("host.queue_limit", "1000000")]] {
        let system = load("nearline-18tb", pairs);
        let write = |i: u64| Request::new(Nanos(i * 1_000_000), Op::Write, Lba(i * 999_999_936), 8);
        let mut requests: Vec<Request> = (0..30).map(write).collect();
        let read = Nanos::from_s(10.0);
        requests.push(Request::new(read, Op::Read, Lba(5_000_000), 8));
        let books = |until: Nanos| {
            let options = RunOptions { until: Some(until), ..RunOptions::default() };
            let (kept, summary) = go(&system, &requests, &options);
            let drive = &summary.drives[0];
            (kept.background.len(), drive.busy_s.background, drive.utilisation * summary.simulated_s)
        };
        let (before, within) = (books(read.saturating_sub(Nanos(1))), books(read + Nanos(1_000)));
        assert_eq!((before.0, before.1), (within.0, within.1), "{pairs:?}");
        assert!(before.1 > 0.1 && (before.2 - within.2).abs() < 1e-9, "{before:?}, {within:?}");
    }
}

/// On the measured clock a request belongs to a run that is cut if it was really complete by then, whatever the model says.
#[test]
fn a_measured_replay_is_cut_on_the_measured_clock() {
    for system in [load("hp-97560", &[]), raid_5_on_one_bus()] {
        let request = |i: u64| {
            let start = Nanos(i * 5_000_000);
            let lba = Lba(i * 7_919 * 16 % 2_500_000);
            Request { start, finish: start + Nanos(5_000_000), ..Request::new(start, Op::Read, lba, 8) }
        };
        let requests: Vec<Request> = (0..20).map(request).collect();
        let until = Some(Nanos(52_500_000));
        let options = RunOptions { replay: Replay::Measured, until, ..RunOptions::default() };
        let (kept, summary) = go(&system, &requests, &options);
        assert_eq!((kept.rows.len(), summary.in_flight_cut), (10, 1));
        assert!((summary.simulated_s - 52.5e-3).abs() < 1e-12, "{}", summary.simulated_s);
        let whole = RunOptions { until: None, ..options };
        let (all, _) = go(&system, &requests, &whole);
        assert_eq!(kept.rows[..], all.rows[..10]);
        let worked: f64 = summary.drives.iter().map(|drive| drive.utilisation).sum();
        assert!(worked > 0.1 && worked <= 1.0, "{:?}", summary.drives);
    }
}

/// Measured times that are the model's own move nothing, not by a nanosecond.
#[test]
fn a_replay_on_the_models_own_clock_is_the_same_run() {
    for entry in library::drives() {
        let system = load(entry.name, &[]);
        let requests = generated(&system, 300);
        let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
        let (kept, _) = go(&system, &requests, &closed);
        let mut timed = requests.clone();
        for row in &kept.rows {
            let request = &mut timed[row.id as usize];
            (request.arrival, request.start, request.finish) = (row.arrival, row.start, row.finish);
        }
        let measured = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
        let (again, _) = go(&system, &timed, &measured);
        let finishes = |kept: &Keep| kept.rows.iter().map(|row| row.finish).collect::<Vec<_>>();
        assert_eq!(finishes(&kept), finishes(&again), "{}", entry.name);
    }
}

/// Where a run is cut in the middle of a request, the drive has worked as long as it had, and what it did adds up to that.
#[test]
fn what_is_in_hand_where_a_run_is_cut_counts_as_far_as_it_is_done() {
    let system = load("hp-97560", &[ONE_AT_A_TIME[0], ("cache.segments", "1")]);
    let requests = [Request::new(Nanos(0), Op::Read, Lba(600_000), 2_000)];
    let (kept, whole) = go(&system, &requests, &RunOptions::default());
    let row = kept.rows[0];
    let (begun, finish) = (row.phases.overhead, row.finish);
    let done_s = |busy: &UnitWork| busy.seek + busy.rotation + busy.transfer;
    for replay in [Replay::Open, Replay::Closed] {
        for event_path in [false, true] {
            if replay == Replay::Closed && event_path {
                continue;
            }
            for part in 1..20 {
                let until = Nanos(finish.0 / 20 * part);
                let options = RunOptions { until: Some(until), replay, event_path, ..RunOptions::default() };
                let (_, cut) = go(&system, &requests, &options);
                let about = format!("{replay:?}, {event_path}, {until}");
                assert_eq!((cut.requests, cut.in_flight_cut), (0, 1), "{about}");
                let (drive, bus) = (&cut.drives[0], &cut.buses[0]);
                let worked_s = drive.utilisation * cut.simulated_s;
                // A seek may begin beside the overhead; nothing else keeps the mechanism from work.
                assert!((worked_s - (until - begun).as_s()).abs() < 1e-9, "{about}: {worked_s}");
                assert!((done_s(&drive.busy_s) - worked_s).abs() < 2e-9, "{about}: {:?}", drive.busy_s);
                assert!(bus.data_utilisation <= bus.utilisation, "{about}");
                assert_eq!(bus.data_utilisation > 0.0, bus.utilisation > 0.0, "{about}");
            }
        }
    }
    assert!(done_s(&whole.drives[0].busy_s) > 0.9 * (finish - begun).as_s());
}

/// Cut where counting begins in another run: together they hold all the work there is, in every drive of the library.
#[test]
fn a_run_that_is_cut_and_one_that_counts_from_there_add_up() {
    for entry in library::drives() {
        for pairs in [&ONE_AT_A_TIME[..], &[]] {
            let system = load(entry.name, pairs);
            let requests = generated(&system, 300);
            let (_, whole) = go(&system, &requests, &RunOptions::default());
            for at in [60, 150, 250] {
                let begin = requests[at].arrival;
                let until = Some(begin - Nanos(1));
                let (_, before) = go(&system, &requests, &RunOptions { until, ..RunOptions::default() });
                let warmup = Warmup::Requests(at as u64);
                let (_, after) = go(&system, &requests, &RunOptions { warmup, ..RunOptions::default() });
                let worked = |summary: &Summary, time_s: f64| {
                    let drives = summary.drives.iter().map(|drive| drive.utilisation).sum::<f64>();
                    [drives * time_s, summary.buses[0].utilisation * time_s]
                };
                let all = worked(&whole, whole.simulated_s);
                let [one, two] =
                    [worked(&before, before.simulated_s), worked(&after, after.simulated_s - begin.as_s())];
                for ((all, one), two) in all.iter().zip(one).zip(two) {
                    let lost = (all - one - two).abs();
                    assert!(lost < 1e-8, "{}, {pairs:?}, cut at {at}: {all} s, {one} + {two}", entry.name);
                }
            }
        }
    }
}

/// A read that continues the one before it waits while that one is on the bus, and what it wants is being read ahead: where the run
/// is cut in between, no path takes that for its work. Nor does a recalibration that falls due while reads are served from the buffer
/// come and go with the instant of the cut.
#[test]
fn what_waits_where_a_run_is_cut_has_no_work_on_any_path() {
    let none = ("recalibration.mode", "\"none\"");
    let soon = ("recalibration", "{mode=\"by-drive\", interval_s=0.03, duration_ms=9}");
    for name in ["barracuda-es-750", "cheetah-9lp", "nearline-18tb", "hp-c2247a", "hp-97560"] {
        for recalibration in [none, soon] {
            let system = load(name, &[ONE_AT_A_TIME[0], recalibration]);
            let requests: Vec<Request> =
                (0..30).map(|i| Request::new(Nanos(i), Op::Read, Lba(1_000 + 32 * i), 32)).collect();
            let (kept, _) = go(&system, &requests, &RunOptions::default());
            let mut cuts: Vec<Nanos> = kept
                .rows
                .iter()
                .flat_map(|row| {
                    [0, 1, 1_000, 3_000, 100_000, 400_000, 3_000_000]
                        .map(|before| row.finish.saturating_sub(Nanos(before)))
                })
                .collect();
            cuts.sort_unstable();
            let mut worked_s = 0.0;
            for until in cuts {
                let options = RunOptions { until: Some(until), ..RunOptions::default() };
                let (_, fast) = go(&system, &requests, &options);
                let (_, events) = go(&system, &requests, &RunOptions { event_path: true, ..options });
                assert_eq!(fast, events, "{name}, cut at {until}");
                let worked = fast.drives[0].utilisation * until.as_s();
                assert!(worked > worked_s - 1e-9, "{name}, cut at {until}: {worked} s, {worked_s} before");
                worked_s = worked;
            }
        }
    }
}

//! All ways through the system book the same, whole summaries compared, and rows add up to what the ledger says.

use std::sync::Arc;

use headstack_trace::{InMemory, Request, RequestSource};
use headstack_units::{Lba, Nanos, Op};

use super::*;
use crate::library;
use crate::record::Keep;
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
        let (rows, mut other) = go(&system, &requests, &events);
        // Of several drives the fast path tells request by request, not in order of completion, in which batches are made.
        other.response_ms.mean_ci95 = summary.response_ms.mean_ci95;
        other.service_ms.mean_ci95 = summary.service_ms.mean_ci95;
        assert_eq!(summary, other);
        assert_eq!(sorted(one), sorted(rows));
    }
}

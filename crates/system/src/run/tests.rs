//! What must hold of every run, whatever the system.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use headstack_drive::scheduler::{Needs, SCHEDULERS};
use headstack_trace::{InMemory, Op, Request, RequestFlags, RequestSource, TraceError};
use headstack_units::{Lba, Nanos};
use proptest::prelude::*;

use super::*;
use crate::record::{Discard, Keep};
use crate::spec::SystemConfig;
use crate::workload::WorkloadSpec;

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}

fn lone(drive: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    Arc::new(System::load(drive, &set(pairs)).unwrap_or_else(|error| panic!("{error}")))
}

fn system(text: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let config = SystemConfig::from_source(&source, &set(pairs)).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap())
}

fn source(requests: &[Request]) -> Input {
    Input::Source(Box::new(InMemory::new(requests.to_vec())))
}

fn go(system: &Arc<System>, input: Input, options: &RunOptions) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let summary =
        run(system, input, options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn event_path() -> RunOptions {
    RunOptions { event_path: true, ..RunOptions::default() }
}

/// `(gap in µs, write?, sequential?, where of 2^16, sectors, forced?)`
type Draft = (u64, bool, bool, u16, u32, bool);

fn drafts(most: usize) -> impl Strategy<Value = Vec<Draft>> {
    let gap = prop_oneof![Just(0), 0..3_000_u64, 0..80_000_u64];
    let draft = (gap, any::<bool>(), any::<bool>(), any::<u16>(), 1..40_u32, prop::bool::weighted(0.2));
    prop::collection::vec(draft, 1..most)
}

fn requests(drafts: &[Draft], system: &System) -> Vec<Request> {
    let devices = system.devices();
    let mut arrival = 0;
    let mut ends = vec![0; devices.len()];
    drafts
        .iter()
        .map(|&(gap, is_write, is_sequential, place, sectors, is_forced)| {
            arrival += gap * 1_000;
            let device = usize::from(place) % devices.len();
            let last = devices[device].sectors - u64::from(sectors);
            let anywhere = u64::from(place) * devices[device].sectors / 65_536;
            let lba = if is_sequential { ends[device] } else { anywhere }.min(last);
            ends[device] = lba + u64::from(sectors);
            let op = if is_write { Op::Write } else { Op::Read };
            let mut request = Request::new(Nanos(arrival), op, Lba(lba), sectors);
            request.device = device as u32;
            match (is_forced, sectors % 3) {
                (true, 0) => {
                    let flush = Request { op: Op::Write, lba: Lba(0), sectors: 0, ..request };
                    request = Request { flags: RequestFlags::FLUSH, ..flush };
                }
                (true, _) => request.flags = RequestFlags::FORCE_MEDIA,
                (false, _) => {}
            }
            request
        })
        .collect()
}

fn by_id(mut kept: Keep) -> Keep {
    kept.rows.sort_by_key(|row| row.id);
    kept.background.sort_by_key(|row| (row.drive, row.work.start, row.work.lba));
    kept
}

/// Each request completes once, not before it arrives, and its phases are its response.
fn check_rows(requests: &[Request], rows: &[CompletionRow]) {
    assert_eq!(rows.len(), requests.len());
    assert!(rows.windows(2).all(|pair| pair[0].finish <= pair[1].finish), "rows come in order of completion");
    let mut seen = vec![false; requests.len()];
    for row in rows {
        let request = &requests[row.id as usize];
        assert!(!std::mem::replace(&mut seen[row.id as usize], true), "request {} completes twice", row.id);
        assert_eq!((row.arrival, row.lba, row.op), (request.arrival, request.lba, request.op));
        assert!(row.arrival <= row.start && row.start <= row.finish);
        assert_eq!(row.phases.total(), row.response());
    }
}

const DRIVES: [&str; 4] = ["hp-97560", "hp-c2200a", "dec-rz26", "hp-c2247a"];

const TWO_ON_ONE_BUS: &str = r#"
[bus.b]
read_mb_per_s = 1.0
write_mb_per_s = 1.2
[volume.one]
drives = ["hp-97560"]
bus = "b"
[volume.two]
drives = ["hp-97560"]
bus = "b"
"#;

/// Drives that report writes early, buffer them or do neither, each with a bus to itself.
static SEVERAL: LazyLock<Arc<System>> = LazyLock::new(|| {
    let text = r#"
[volume.a]
drives = ["hp-97560"]
[volume.b]
level = "concatenation"
drives = ["mock-disk", "cheetah-9lp", "hp-c2247a"]
[volume.c]
drives = ["nearline-18tb"]
[host]
outstanding_per_drive = 1
sector_bytes = 512
"#;
    system(text, &[])
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_fast_path_equals_the_event_path(
        drafts in drafts(60),
        drive in 0..DRIVES.len(),
        policy in 0..3,
        warmup in 0..5_u64,
    ) {
        let policy = match policy {
            0 => "write_policy={write-through={}}",
            1 => "write_policy={immediate-reporting={}}",
            _ => "write_policy={write-back={size_kib=64}}",
        };
        let policy = policy.split_once('=').unwrap();
        let system = lone(DRIVES[drive], &[policy, ("host.outstanding_per_drive", "1")]);
        let requests = requests(&drafts, &system);
        prop_assert!(fast::applies(&system));
        let options = RunOptions { warmup: Warmup::Requests(warmup), ..RunOptions::default() };
        let (fast, fast_summary) = go(&system, source(&requests), &options);
        let events = RunOptions { event_path: true, ..options };
        let (event, event_summary) = go(&system, source(&requests), &events);
        check_rows(&requests, &fast.rows);
        check_rows(&requests, &event.rows);
        let (fast, event) = (by_id(fast), by_id(event));
        prop_assert_eq!(fast.rows, event.rows);
        prop_assert_eq!(fast.background, event.background);
        prop_assert_eq!(fast_summary, event_summary);
    }

    #[test]
    fn any_number_of_threads_and_any_batch_size_give_the_same_run(
        drafts in drafts(120),
        threads in 2..6_usize,
        batch in prop_oneof![1..10_usize, Just(5000)],
        warmup in prop_oneof![Just(Warmup::None), (0..80_u64).prop_map(Warmup::Requests)],
        until in prop::option::of(0..2_000_u64),
        beyond in prop::option::of(0..120_usize),
    ) {
        let system = &*SEVERAL;
        prop_assert!(fast::applies(system));
        let mut requests = requests(&drafts, system);
        // Some over the borders of the second volume's drives.
        let border = system.model(1).unwrap().capacity_sectors();
        for request in requests.iter_mut().filter(|request| request.device == 1).step_by(3) {
            request.lba = Lba(border - 5);
        }
        if let Some(bad) = beyond.filter(|bad| *bad < requests.len()) {
            requests[bad].lba = Lba(u64::MAX / 2);
        }
        let one = RunOptions {
            threads: Some(1),
            warmup,
            until: until.map(|ms| Nanos(ms * 1_000_000)),
            ..RunOptions::default()
        };
        let many = RunOptions { threads: Some(threads), batch: Some(batch), ..one.clone() };
        let outcome = |options| {
            let mut kept = Keep::default();
            let result = run(system, source(&requests), options, &mut kept, &mut |_| {});
            result.map(|summary| (kept.rows, kept.background, summary)).map_err(|error| error.to_string())
        };
        prop_assert_eq!(outcome(&one), outcome(&many));
    }

    #[test]
    fn a_request_over_several_drives_goes_the_same_on_both_paths(drafts in drafts(40)) {
        let text = "[volume.v]\nlevel = \"concatenation\"\ndrives = [\"mock-disk\", \"hp-97560\", \"mock-disk\"]\n";
        let system = system(text, &[("drive.*.controller.queue_depth", "1")]);
        let mut requests = requests(&drafts, &system);
        // Across the border of the first two drives.
        let border = system.model(0).unwrap().capacity_sectors();
        for request in requests.iter_mut().step_by(2) {
            request.lba = Lba(border - 5);
        }
        prop_assert!(fast::applies(&system));
        let (fast, _) = go(&system, source(&requests), &RunOptions::default());
        let (event, _) = go(&system, source(&requests), &event_path());
        check_rows(&requests, &event.rows);
        prop_assert_eq!(by_id(fast).rows, by_id(event).rows);
    }

    #[test]
    fn any_system_serves_each_request_once(
        drafts in drafts(80),
        (scheduler, in_drive) in (0..SCHEDULERS.len(), 0..SCHEDULERS.len()),
        modifier in prop::sample::select(vec!["", "+reads-first", "+concatenate(8 KiB)", "+age-limit(100 ms)"]),
        disconnects in any::<bool>(),
        depth in 1..5_u32,
        cpu in 0..2_u32,
        priority in any::<bool>(),
        limit in 1..9_u32,
    ) {
        let text = format!(
            "{TWO_ON_ONE_BUS}[volume.more]\nlevel = \"concatenation\"\n\
             drives = [\"mock-disk\", \"dual-actuator-18tb\"]\nbus = \"b\"\n"
        );
        let host = SCHEDULERS[scheduler];
        // A host cannot see the cache.
        let host = if host.needs == Needs::Cache { "sptf" } else { host.name };
        let arbitration = if priority { "priority" } else { "fifo" };
        let system = system(&text, &[
            ("host.scheduler", &format!("{host}{modifier}")),
            ("drive.*.controller.scheduler", &format!("{}{modifier}", SCHEDULERS[in_drive].name)),
            ("host.cpu_ms_per_request", &cpu.to_string()),
            ("host.queue_limit", &limit.to_string()),
            ("host.sector_bytes", "512"),
            ("bus.b.disconnects", &disconnects.to_string()),
            ("bus.b.arbitration", arbitration),
            ("drive.*.controller.queue_depth", &depth.to_string()),
        ]);
        let requests = requests(&drafts, &system);
        let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
        check_rows(&requests, &kept.rows);
        let bus = &summary.buses[0];
        prop_assert!(bus.utilisation <= 1.0 + 1e-9, "{}", bus.utilisation);
        prop_assert_eq!(summary.requests, requests.len() as u64);
        let (again, summary_again) = go(&system, source(&requests), &RunOptions::default());
        prop_assert_eq!(kept.rows, again.rows);
        prop_assert_eq!(summary, summary_again);
    }

    #[test]
    fn stepping_equals_running(drafts in drafts(40), stride in 1..50_000_000_u64) {
        let system = system(TWO_ON_ONE_BUS, &[("host.scheduler", "c-look")]);
        let requests = requests(&drafts, &system);
        let (kept, _) = go(&system, source(&requests), &event_path());
        let mut stepper = crate::Stepper::new(&system, 0);
        let mut rows = Vec::new();
        for (id, request) in (0..).zip(&requests) {
            rows.extend(stepper.advance(request.arrival));
            prop_assert_eq!(stepper.submit(*request).unwrap(), id);
        }
        let mut now = stepper.now();
        while stepper.in_flight() > 0 {
            now = Nanos(now.0 + stride).max(stepper.next_event().unwrap_or(now));
            rows.extend(stepper.advance(now));
        }
        prop_assert_eq!(rows, kept.rows);
    }
}

/// Delivers batches of a given size.
struct Batches(Vec<Request>, usize);

impl RequestSource for Batches {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        batch.extend(self.0.drain(..self.1.min(self.0.len())));
        Ok(())
    }
}

fn generated(system: &System, name: &str, count: u64) -> Vec<Request> {
    let (_, spec) = WorkloadSpec::load(name, &[]).unwrap();
    let mut open = spec.generate(&system.devices(), None, Some(count)).unwrap().open.unwrap();
    std::iter::from_fn(|| open.next_request()).collect()
}

/// A flush with nothing to write takes no time: it is complete when it has arrived.
#[test]
fn a_request_that_takes_no_time_is_not_in_flight_after_it_arrived() {
    let system =
        lone("hp-97560", &[("write_policy", "{write-through={}}"), ("host.outstanding_per_drive", "1")]);
    let requests = requests(&[(0, false, false, 0, 9, true)], &system);
    assert!(requests[0].flags.contains(RequestFlags::FLUSH));
    let (fast, fast_summary) = go(&system, source(&requests), &RunOptions::default());
    let (_, event_summary) = go(&system, source(&requests), &event_path());
    assert_eq!(fast.rows[0].response(), Nanos::ZERO);
    assert_eq!(fast_summary.in_flight_drained, 0);
    assert_eq!(fast_summary, event_summary);
}

#[test]
fn the_size_of_batches_does_not_matter() {
    for options in [RunOptions::default(), event_path()] {
        let system = lone("hp-97560", &[("host.outstanding_per_drive", "1")]);
        let requests = generated(&system, "unix-like", 3_000);
        let (kept, summary) = go(&system, source(&requests), &options);
        for size in [1, 7, 2_999] {
            let input = Input::Source(Box::new(Batches(requests.clone(), size)));
            let (again, summary_again) = go(&system, input, &options);
            assert_eq!((&again.rows, summary_again.response_ms), (&kept.rows, summary.response_ms.clone()));
        }
    }
}

#[test]
fn two_drives_on_a_bus_contend_and_its_time_is_conserved() {
    let system = system(TWO_ON_ONE_BUS, &[]);
    // Both drives at once, and long transfers over a slow bus.
    let requests: Vec<Request> = (0..200_u64)
        .map(|i| {
            let mut request = Request::new(Nanos(i / 2 * 200_000_000), Op::Read, Lba(i / 2 * 9_000), 64);
            request.device = (i % 2) as u32;
            request
        })
        .collect();
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    check_rows(&requests, &kept.rows);
    let bus = &summary.buses[0];
    assert!(bus.queue_max == 1 && bus.wait_ms.mean > 1.0, "{bus:?}");
    assert_eq!(bus.grants, 200);
    let work: f64 = kept.rows.iter().map(|row| row.busy.bus.as_s()).sum();
    assert!((bus.utilisation * summary.simulated_s - work).abs() < 1e-6, "{} {work}", bus.utilisation);
    // 32 KiB at 1 MB/s.
    assert!(work >= 200.0 * 0.032_768 - 1e-9);
    // Alone, nobody waits.
    let alone: Vec<Request> = requests.iter().filter(|request| request.device == 0).copied().collect();
    let (_, alone) = go(&system, source(&alone), &RunOptions::default());
    assert_eq!(alone.buses[0].wait_ms.max, 0.0);
    assert!(alone.response_ms.mean < summary.response_ms.mean);
}

#[test]
fn a_drive_that_does_not_disconnect_keeps_the_others_waiting() {
    let system = system(TWO_ON_ONE_BUS, &[("bus.b.disconnects", "false")]);
    let mut requests = vec![Request::new(Nanos(0), Op::Read, Lba(1_000_000), 8); 2];
    requests[1].device = 1;
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    assert_eq!(kept.rows[1].start, kept.rows[0].finish);
    assert_eq!(kept.rows[1].phases.queue, kept.rows[0].finish);
    assert!(summary.buses[0].utilisation > 0.99, "{}", summary.buses[0].utilisation);
}

#[test]
fn the_cpu_takes_one_request_at_a_time() {
    let system = lone("hp-97560", &[("host.cpu_ms_per_request", "2")]);
    let requests = vec![Request::new(Nanos(5_000_000), Op::Read, Lba(0), 1); 3];
    let (kept, _) = go(&system, source(&requests), &RunOptions::default());
    check_rows(&requests, &kept.rows);
    for (row, nth) in kept.rows.iter().zip(1..) {
        assert!(row.phases.overhead >= Nanos::from_ms(2.0));
        assert!(row.start >= Nanos::from_ms(5.0 + 2.0 * f64::from(nth)));
    }
    assert_eq!(kept.rows[0].start, Nanos::from_ms(7.0));
    assert_eq!(kept.rows[0].phases.queue, Nanos::ZERO);
}

#[test]
fn c_look_orders_what_waits() {
    let system = lone("hp-97560", &[("host.scheduler", "c-look"), ("host.outstanding_per_drive", "1")]);
    let requests: Vec<Request> = [500_000, 900_000, 100_000, 700_000, 300_000]
        .map(|lba| Request::new(Nanos(0), Op::Read, Lba(lba), 8))
        .to_vec();
    let (kept, _) = go(&system, source(&requests), &RunOptions::default());
    let order: Vec<u64> = kept.rows.iter().map(|row| row.lba.0).collect();
    // The first goes at once; then upwards, then from the bottom.
    assert_eq!(order, [500_000, 700_000, 900_000, 100_000, 300_000]);
}

fn measured(arrival: u64, start: u64, finish: u64, lba: u64) -> Request {
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    Request { start: ms(start), finish: ms(finish), ..Request::new(ms(arrival), Op::Read, Lba(lba), 16) }
}

#[test]
fn a_measured_replay_keeps_to_the_trace() {
    let system = lone("hp-97560", &[]);
    // The second arrives third but starts second; the last overlaps the one before it.
    let requests = [
        measured(0, 10, 30, 1_000_000),
        measured(5, 60, 85, 2_000_000),
        measured(6, 30, 55, 500_000),
        measured(70, 80, 110, 100),
    ];
    let options = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
    let (kept, summary) = go(&system, source(&requests), &options);
    let found: Vec<(u64, f64)> = kept.rows.iter().map(|row| (row.id, row.start.as_ms())).collect();
    assert_eq!(found, [(0, 10.0), (2, 30.0), (1, 60.0), (3, 85.0)]);
    assert_eq!(summary.clamped, 1);
    for row in &kept.rows {
        assert_eq!(row.phases.total(), row.response());
        assert_eq!(row.measured_finish, requests[row.id as usize].finish);
    }
    // A model that is late does not carry its lateness over: a trace much faster than the drive is still served at
    // the measured instants.
    let hurried: Vec<Request> = (0..50).map(|i| measured(i * 3, i * 3, i * 3 + 2, i * 50_000)).collect();
    let (kept, summary) = go(&system, source(&hurried), &options);
    assert_eq!(summary.clamped, 0);
    assert!(kept.rows.iter().zip(&hurried).all(|(row, request)| row.start == request.start));
    assert!(kept.rows.iter().all(|row| row.phases.queue == Nanos::ZERO && row.service().as_ms() < 60.0));
}

#[test]
fn a_closed_replay_keeps_the_think_times() {
    let system = lone("hp-97560", &[]);
    let requests = [measured(0, 10, 30, 0), measured(33, 35, 50, 900_000), measured(48, 50, 60, 5_000)];
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let (kept, _) = go(&system, source(&requests), &options);
    assert_eq!(kept.rows[0].start, Nanos::from_ms(10.0));
    assert_eq!(kept.rows[1].start, kept.rows[0].finish + Nanos::from_ms(5.0));
    assert_eq!(kept.rows[2].start, kept.rows[1].finish);
    assert!(kept.rows.iter().all(|row| row.arrival == row.start));
}

#[test]
fn a_measured_replay_needs_measured_times() {
    let system = lone("hp-97560", &[]);
    let options = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
    let plain = source(&[Request::new(Nanos(0), Op::Read, Lba(0), 1)]);
    let error = run(&system, plain, &options, &mut Discard, &mut |_| {}).unwrap_err();
    assert!(error.hint().unwrap().contains("--replay closed"));
}

#[test]
fn what_cannot_be_served_is_refused_with_the_option_that_helps() {
    let system = lone("hp-97560", &[]);
    let refused = |request: Request| {
        let error =
            run(&system, source(&[request]), &RunOptions::default(), &mut Discard, &mut |_| {}).unwrap_err();
        format!("{error}; {}", error.hint().unwrap())
    };
    let request = Request::new(Nanos(0), Op::Read, Lba(2_647_079), 1);
    assert!(refused(Request { sectors: 2, ..request }).contains("--fit-lba wrap"));
    assert!(refused(Request { lba: Lba(u64::MAX), ..request }).contains("--fit-lba wrap"));
    assert!(refused(Request { sectors: 0, ..request }).contains("no sectors"));
    assert!(refused(Request { device: 3, ..request }).contains("--device 3"));
}

#[test]
fn a_run_without_a_thread_is_refused() {
    let options = RunOptions { threads: Some(0), ..RunOptions::default() };
    let nothing = run(&lone("hp-97560", &[]), source(&[]), &options, &mut Discard, &mut |_| {});
    assert!(nothing.unwrap_err().to_string().contains("a run needs a thread"));
}

#[test]
fn a_stopped_run_returns_what_it_has() {
    for options in [RunOptions::default(), event_path()] {
        let system = lone("hp-97560", &[("host.outstanding_per_drive", "1")]);
        let requests = generated(&system, "light-million", 50_000);
        let stop = Arc::new(AtomicBool::new(false));
        let options = RunOptions { stop: Some(Arc::clone(&stop)), ..options };
        let mut most = 0;
        let summary = run(&system, source(&requests), &options, &mut Discard, &mut |progress| {
            stop.store(true, Ordering::Relaxed);
            most = progress.completed;
        })
        .unwrap();
        assert!(summary.interrupted && summary.requests >= 8_192 && summary.requests < 30_000);
        assert_eq!(most, summary.requests);
    }
}

#[test]
fn warm_up_limits_and_cuts() {
    for options in [RunOptions::default(), event_path()] {
        let system = lone("hp-97560", &[("host.outstanding_per_drive", "1")]);
        let requests = generated(&system, "light-million", 2_000);
        let with = |change: &dyn Fn(&mut RunOptions)| {
            let mut options = options.clone();
            change(&mut options);
            go(&system, source(&requests), &options)
        };
        let (kept, summary) = with(&|options| options.warmup = Warmup::Requests(500));
        assert_eq!((kept.rows.len(), summary.requests, summary.warmup_requests), (2_000, 1_500, 500));
        let (_, seconds) = with(&|options| options.warmup = Warmup::Seconds(10.0));
        let expected = requests.iter().filter(|request| request.arrival >= Nanos::from_s(10.0)).count();
        assert_eq!(seconds.requests, expected as u64);
        let (_, limited) = with(&|options| options.requests = Some(77));
        assert_eq!(limited.requests, 77);
        let until = requests[1_000].arrival;
        let (kept, cut) = with(&|options| options.until = Some(until));
        assert!(kept.rows.iter().all(|row| row.finish <= until));
        assert!(cut.in_flight_cut >= 1 && cut.requests + cut.in_flight_cut == 1_001);
        assert_eq!(cut.simulated_s, until.as_s());
    }
}

#[test]
fn users_think_after_each_completion() {
    let text = r"
seed = 3
requests = 300
[[stream]]
read_fraction = 1.0
size.fixed_kib = 8
think.constant_ms = 7
users = 3
[[stream]]
read_fraction = 0.0
size.fixed_kib = 4
inter_arrival.constant_ms = 50
requests = 20
";
    let system = lone("hp-97560", &[]);
    let spec = WorkloadSpec::from_toml("test", text).unwrap();
    let generator = spec.generate(&system.devices(), None, None).unwrap();
    let (kept, _) = go(&system, Input::Generator(generator), &RunOptions::default());
    let reads: Vec<&CompletionRow> = kept.rows.iter().filter(|row| row.op == Op::Read).collect();
    assert_eq!((reads.len(), kept.rows.len() - reads.len()), (300, 20));
    // Never more users' requests under way than users, and each new one 7 ms after some completion.
    for row in &reads {
        let under_way =
            reads.iter().filter(|other| other.arrival <= row.arrival && other.finish > row.arrival);
        assert!(under_way.count() <= 3);
        let think = Nanos::from_ms(7.0);
        assert!(row.arrival == think || reads.iter().any(|other| other.finish + think == row.arrival));
    }
}

#[test]
fn the_host_recalibrates_when_its_queue_is_empty() {
    let system = lone(
        "hp-97560",
        &[
            ("recalibration.mode", "by-host"),
            ("recalibration.interval_s", "1"),
            ("recalibration.duration_ms", "600"),
            ("host.outstanding_per_drive", "1"),
        ],
    );
    assert!(!fast::applies(&system));
    // Idle when it falls due, then asked in the middle of it.
    let late = Request::new(Nanos::from_ms(1_100.0), Op::Read, Lba(5_000), 1);
    let (kept, _) = go(&system, source(&[late]), &RunOptions::default());
    assert!(kept.rows[0].response().as_ms() > 490.0, "{}", kept.rows[0].response());
    // Busy when it falls due: what waits goes first.
    let requests: Vec<Request> =
        (0..100_u64).map(|i| Request::new(Nanos::from_ms(990.0), Op::Read, Lba(i * 7_919), 8)).collect();
    let (kept, _) = go(&system, source(&requests), &RunOptions::default());
    assert!(kept.rows.iter().all(|row| row.phases.other.as_ms() < 100.0));
}

#[test]
fn summaries_add_up() {
    let system = lone("hp-97560", &[("host.outstanding_per_drive", "1")]);
    let requests = generated(&system, "unix-like", 5_000);
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    let phases = serde_json::to_value(summary.phases_ms).unwrap();
    let sum: f64 = phases.as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum();
    assert!((sum - summary.response_ms.mean.unwrap()).abs() < 1e-6);
    assert_eq!(summary.reads.requests + summary.writes.requests, 5_000);
    let cache = summary.cache;
    assert_eq!(cache.read_hits + cache.read_partial_hits + cache.read_misses, summary.reads.requests);
    let queue: f64 = kept.rows.iter().map(|row| row.response().as_s()).sum::<f64>() / summary.simulated_s;
    assert!((summary.drives[0].queue_mean - queue).abs() < 1e-6);
    assert!(summary.drives[0].utilisation > 0.0 && summary.drives[0].utilisation < 1.0);
    assert_eq!(summary.plots.response_cdf.last().unwrap()[1], 1.0);
    let json = serde_json::to_value(&summary).unwrap();
    for key in
        ["requests", "config_hash", "iops", "cache", "drives", "buses", "lateness_ms", "in_flight_drained"]
    {
        assert!(json.get(key).is_some(), "{key}");
    }
    let other = RunOptions { seed: 5, ..RunOptions::default() };
    assert_ne!(go(&system, source(&requests), &other).1.config_hash, summary.config_hash);
}

const ENDS: &str =
    "[{limit_ms=30.0, policy=\"abort\"}, {inactive_ms=15.0, inactive_policy=\"complete-unavailable\"}]";

/// A third of the requests with the limit `number`, twelve at an instant, over two drives in stripes of 64 sectors.
fn ending(number: u16, level: &str) -> (Vec<Request>, Keep, Summary) {
    let text = format!(
        "[volume.v]\nlevel = \"{level}\"\nstripe_unit_kib = 256\ndrives = [\"nearline-22tb\", \"nearline-22tb\"]\n"
    );
    let text = if level == "raid-0" { text } else { text.replace("stripe_unit_kib = 256\n", "") };
    let system = system(&text, &[("drive.*.controller.duration_limits", ENDS)]);
    let requests: Vec<Request> = (0..600_u64)
        .map(|i| {
            let lba = i * 104_729 * 4096 % 60_000_000_000 / 128 * 128 + 120;
            let flags = RequestFlags::limited_by(if i % 3 == 0 { number } else { 0 });
            Request { flags, ..Request::new(Nanos::from_ms(150.0 * (i / 12) as f64), Op::Read, Lba(lba), 16) }
        })
        .collect();
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    (requests, kept, summary)
}

#[test]
fn requests_that_end_by_a_limit_are_marked_and_counted_apart() {
    for (number, mark, level) in [
        (1, RequestFlags::ABORTED, "concatenation"),
        (2, RequestFlags::UNAVAILABLE, "concatenation"),
        (1, RequestFlags::ABORTED, "raid-0"),
    ] {
        let (requests, kept, summary) = ending(number, level);
        check_rows(&requests, &kept.rows);
        let ended: Vec<_> =
            kept.rows.iter().filter(|row| row.flags.has_any(RequestFlags::WITHOUT_DATA)).collect();
        assert!(ended.len() > 10, "{} of {number}", ended.len());
        assert!(ended.iter().all(|row| row.flags.contains(mark) && row.id.is_multiple_of(3)));
        let without = summary.without_data.unwrap();
        assert_eq!(without.aborted + without.unavailable, ended.len() as u64);
        assert_eq!((without.aborted > 0, without.unavailable > 0), (number == 1, number == 2));
        assert_eq!(summary.requests, (requests.len() - ended.len()) as u64);
        let longest = ended.iter().map(|row| row.response().as_ms()).fold(0.0, f64::max);
        // Across a border of the stripes, a request has what is slow of two drives.
        let limit = if number == 1 { 30.0 } else { 15.0 };
        assert!(level == "raid-0" || longest <= limit, "{longest}");
    }
}

#[test]
fn limits_that_end_commands_are_refused_where_nothing_knows_what_to_do_without_the_data() {
    let ends = ("drive.*.controller.duration_limits", ENDS);
    let mirror = "[volume.v]\nlevel = \"mirror\"\ndrives = [\"nearline-22tb\", \"nearline-22tb\"]\n";
    let source_of = |text: &str| crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let message = SystemConfig::from_source(&source_of(mirror), &set(&[ends])).unwrap_err().to_string();
    assert!(message.contains("end commands without their data"), "{message}");
    let lone = lone("nearline-22tb", &[("controller.duration_limits", ENDS)]);
    let requests = [Request::new(Nanos::ZERO, Op::Read, Lba(0), 8)];
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let refused = run(&lone, source(&requests), &options, &mut Discard, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("duration limits do not end it"), "{refused}");
}

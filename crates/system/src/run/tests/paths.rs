//! The fast path, the event path, several threads and a stepper give the same records.

use super::*;

const DRIVES: [&str; 4] = ["hp-97560", "hp-c2200a", "dec-rz26", "hp-c2247a"];

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

//! Whole runs: what is refused, where they begin and end, and that summaries add up.

use super::*;

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

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

/// Declustered drives with media caches that clean at once, recalibrated by the host, in power conditions after a tenth of a second: what
/// is in motion when counting begins goes on as it would have.
#[test]
fn where_counting_begins_moves_nothing() {
    // (arrival in ns, sector, with priority), 64 KiB each.
    let writes = [
        (1_005_000_000, 164_446_084, false),
        (1_010_000_000, 229_387_343, false),
        (1_015_000_000, 82_840_024, true),
        (1_364_466_322, 196_831_234, true),
        (1_390_675_295, 236_769_100, true),
        (2_370_352_333, 208_541_433, true),
        (3_005_103_705, 167_299_268, true),
        (3_983_162_163, 255_585_139, false),
        (3_988_162_163, 81_831_272, true),
        (4_332_487_033, 179_104_270, false),
        (4_337_487_033, 61_275_836, true),
        (5_348_777_352, 14_564_495, true),
        (6_646_785_715, 30_888_404, false),
        (6_651_785_715, 128_406_692, false),
        (6_656_785_715, 256_574_031, true),
        (7_659_968_945, 262_971_877, true),
        (8_020_412_105, 25_014_594, true),
        (9_003_564_287, 40_444_278, true),
        (9_999_564_287, 134_319_507, true),
        (10_979_012_424, 43_626_707, true),
        (11_955_170_056, 137_991_540, false),
        (11_960_170_056, 70_430_386, true),
        (12_321_406_049, 7_630_646, true),
    ];
    let text = "
[volume.v0]
level = \"declustered\"
drives = [\"scsi-10k-37gb\", \"scsi-10k-37gb\", \"scsi-10k-37gb\", \"scsi-10k-37gb\", \"scsi-10k-37gb\", \"scsi-10k-37gb\"]
[volume.v0.declustered]
group_width = 4
distributed_spares = 1
";
    let cache = "{media-cache={size_kib=16384.0,places=16,cleaned_at_a_time=1,idle_before_cleaning_ms=0.0,runs_compared=3}}";
    let power = "{rated_rpm=10000.0,idle_w=5.3,seek_w=12.28,rotation_w=6.3,read_w=9.4,write_w=9.9,standby_w=1.0,condition=[\
                 {name='idle_b',after_s=0.13,watts=4.0,enter={time_s=0.0,energy_j=0.0},recover={time_s=0.4,energy_j=2.3}},\
                 {name='standby_z',after_s=0.16,rpm=0.0,enter={time_s=0.5,energy_j=2.0},recover={time_s=0.3,energy_j=19.0}}]}";
    let system = system(
        text,
        &[
            ("drive.*.write_policy", cache),
            ("drive.*.buffer.size_kib", "262144.0"),
            ("drive.*.recalibration", "{mode='by-host',interval_s=2.0,duration_ms=20.0}"),
            ("drive.*.power", power),
        ],
    );
    let requests: Vec<Request> = writes
        .iter()
        .map(|&(arrival, lba, priority)| {
            let flags = if priority { RequestFlags::PRIORITY } else { RequestFlags::default() };
            Request { flags, ..Request::new(Nanos(arrival), Op::Write, Lba(lba), 128) }
        })
        .collect();
    let finishes = |warmup| {
        let options = RunOptions { warmup, ..RunOptions::default() };
        let rows = by_id(go(&system, source(&requests), &options).0).rows;
        rows.iter().map(|row| row.finish).collect::<Vec<_>>()
    };
    let all = finishes(Warmup::None);
    for warm in 1..writes.len() {
        assert_eq!(finishes(Warmup::Requests(warm as u64)), all, "{warm} requests of warm-up");
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

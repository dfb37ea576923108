//! Buses, the host's CPU, its scheduler, users and recalibration: what only the event path knows.

use super::*;

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

/// An idle array discards at once.
#[test]
fn a_user_goes_on_from_what_is_complete_as_it_comes() {
    let text = "[volume.data]\nlevel = \"raid-5\"\ndrives = [\"mock-disk\", \"mock-disk\", \"mock-disk\"]\n";
    let system = super::system(text, &[]);
    let workload = "seed = 1\nrequests = 20\n[[stream]]\nvolume = \"data\"\nsize.fixed_kib = 512\ndiscard_fraction = 1.0\n\
                    read_fraction = 0.0\nusers = 1\nthink.constant_ms = 5\n";
    let spec = WorkloadSpec::from_toml("test", workload).unwrap();
    let generator = spec.generate(&system.devices(), None, None).unwrap();
    let (kept, _) = go(&system, Input::Generator(generator), &RunOptions::default());
    let arrivals: Vec<f64> = kept.rows.iter().map(|row| row.arrival.as_ms()).collect();
    assert_eq!(arrivals, (1..=20).map(|turn| 5.0 * f64::from(turn)).collect::<Vec<_>>());
    assert!(kept.rows.iter().all(|row| row.response() == Nanos::ZERO));
}

/// A user who does not think, at an array that takes no time.
#[test]
fn a_run_in_which_time_does_not_go_on_ends() {
    let text = "[volume.data]\nlevel = \"raid-5\"\ndrives = [\"mock-disk\", \"mock-disk\", \"mock-disk\"]\n";
    let system = super::system(text, &[]);
    let workload = "seed = 1\n[[stream]]\nvolume = \"data\"\nsize.fixed_kib = 4\ndiscard_fraction = 1.0\nread_fraction = 0.0\n\
                    users = 1\nend_s = 0.01\nthink.constant_ms = 0\n";
    let spec = WorkloadSpec::from_toml("test", workload).unwrap();
    let generator = spec.generate(&system.devices(), None, None).unwrap();
    let input = Input::Generator(generator);
    let ended = run(&system, input, &RunOptions::default(), &mut Discard, &mut |_| {}).unwrap_err();
    assert!(ended.to_string().contains("time does not go on"), "{ended}");
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

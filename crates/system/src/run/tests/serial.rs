//! Closed and measured replays.

use super::*;

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

fn disk_array(level: &str, drive: &str, count: usize, shared: bool) -> Arc<System> {
    let drives = vec![format!("\"{drive}\""); count].join(", ");
    let (bus, on) = if shared { ("[bus.b]\nrate_mb_per_s = 2.0\n", "bus = \"b\"\n") } else { ("", "") };
    let text = format!("{bus}[volume.data]\nlevel = \"{level}\"\ndrives = [{drives}]\n{on}");
    system(&text, &[])
}

/// Commands of one request meet on the bus they share, and at the drive that several of them are for.
#[test]
fn commands_of_a_replayed_request_wait_for_each_other() {
    let arrays = [
        ("raid-0", "hp-97560", 3, true),
        ("mirror", "hp-97560", 2, true),
        ("raid-5", "dec-rz26", 3, false),
        ("raid-5", "cheetah-9lp", 4, true),
        ("raid-6", "hp-c2490a", 4, false),
        ("single", "dual-actuator-18tb", 1, true),
    ];
    for (level, drive, count, shared) in arrays {
        let system = disk_array(level, drive, count, shared);
        let middle = system.devices()[0].sectors / 2;
        let request = |at: u64| {
            let op = if at.is_multiple_of(3) { Op::Write } else { Op::Read };
            Request::new(Nanos(at), op, Lba(middle - 64 + at * 97 % 64), 100 + at as u32 * 61)
        };
        let requests: Vec<Request> = (0..12).map(request).collect();
        let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
        let (kept, summary) = go(&system, source(&requests), &closed);
        for bus in &summary.buses {
            assert!(bus.utilisation <= 1.0, "{level}: {bus:?}");
        }
        // The same requests at the same times, and measured times that are the model's own.
        let issued = |row: &CompletionRow| Request {
            arrival: row.arrival,
            start: row.arrival,
            finish: row.finish,
            ..requests[row.id as usize]
        };
        let issued: Vec<Request> = kept.rows.iter().map(issued).collect();
        let plain = |request: &Request| Request { start: Nanos::MAX, finish: Nanos::MAX, ..*request };
        let open: Vec<Request> = issued.iter().map(plain).collect();
        let (open, open_summary) = go(&system, source(&open), &RunOptions::default());
        assert_eq!(kept.rows, open.rows, "{level}");
        assert_eq!((&summary.buses, &summary.drives), (&open_summary.buses, &open_summary.drives), "{level}");
        let measured = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
        let (measured, measured_summary) = go(&system, source(&issued), &measured);
        // A spindle that is locked anew may be a nanosecond off.
        for (one, other) in measured.rows.iter().zip(&kept.rows) {
            assert!(one.finish.0.abs_diff(other.finish.0) <= 2, "{level}: {one:?} {other:?}");
        }
        for (one, other) in measured_summary.buses.iter().zip(&summary.buses) {
            assert!((one.utilisation - other.utilisation).abs() < 1e-6, "{level}: {one:?} {other:?}");
        }
    }
}

#[test]
fn a_host_recalibrates_in_a_replay_too() {
    let recalibration = ("drive.*.recalibration", "{mode=\"by-host\", interval_s=1, duration_ms=200}");
    let replayed = |pairs: &[(&str, &str)]| {
        let system = lone("hp-97560", pairs);
        let requests: Vec<Request> =
            (0..6).map(|at| measured(at * 1005, at * 1005, at * 1005 + 10, at * 9000)).collect();
        let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
        go(&system, source(&requests), &closed).0.rows
    };
    let waited = |rows: &[CompletionRow]| rows.iter().map(|row| row.phases.other.as_ms()).sum::<f64>();
    assert_eq!(waited(&replayed(&[])), 0.0);
    assert!(waited(&replayed(&[recalibration])) > 100.0);
}

/// On the measured clock requests of several volumes overlap, each of which has its own drives.
#[test]
fn volumes_of_several_drives_keep_to_the_measured_clock() {
    let text = "[volume.a]\nlevel = \"mirror\"\ndrives = [\"hp-97560\", \"hp-97560\"]\n\
                [volume.b]\nlevel = \"mirror\"\ndrives = [\"hp-97560\", \"hp-97560\"]\n";
    let system = system(text, &[]);
    let request = |at: u64| Request {
        device: (at % 2) as u32,
        op: if at.is_multiple_of(3) { Op::Write } else { Op::Read },
        ..measured(at * 5, at * 5, at * 5 + 9, at * 50_000)
    };
    let requests: Vec<Request> = (0..40).map(request).collect();
    let options = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
    let (kept, summary) = go(&system, source(&requests), &options);
    assert_eq!(summary.clamped, 0);
    assert!(kept.rows.iter().zip(&requests).all(|(row, request)| row.start == request.start));
    assert!(kept.rows.iter().all(|row| row.phases.total() == row.response()));
}

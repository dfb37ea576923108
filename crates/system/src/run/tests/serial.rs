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

//! What the table of expectations cannot say: background records, and a drive whose completions are set from outside. 10 ms a
//! revolution, 0.1 ms a sector.

mod common;

use common::{FAST_BUS, command, drive, ms, serve};
use headstack_drive::command::{CacheResult, Outcome};
use headstack_units::{Nanos, Op};

/// Equal to the microsecond.
fn close(time: Nanos, expected_ms: f64) {
    assert!((time.as_ms() - expected_ms).abs() < 0.001, "{time} instead of {expected_ms} ms");
}

fn service(outcome: &Outcome) -> Nanos {
    outcome.phases.total()
}

#[test]
fn what_is_destaged_is_a_background_record() {
    let extra = format!("{FAST_BUS}\nwrite_policy.write-back = {{ size_kib = 10.0 }}");
    let mut drive = drive(&extra);
    let bus = drive.model().bus();
    let mut background = Vec::new();
    for (id, lba) in [(0, 1000), (1, 30_000)] {
        let outcome = drive.serve(Nanos::ZERO, command(id, Op::Write, lba, 10), &bus, &mut background);
        assert_eq!(outcome.cache, CacheResult::ReportedEarly);
    }
    // Twenty sectors are all it holds: the next write waits until ten are on the media.
    let third = drive.serve(Nanos::ZERO, command(2, Op::Write, 2000, 10), &bus, &mut background);
    assert!(third.phases.other > Nanos::ZERO && background.len() == 1, "{third:?} {background:?}");
    assert_eq!(third.phases.other, background[0].finish - third.submitted - third.phases.queue);
    // Overwriting needs no room.
    let same = drive.serve(third.finish, command(3, Op::Write, 2000, 10), &bus, &mut background);
    assert_eq!(same.phases.other, Nanos::ZERO);
    // In idle time everything goes to the media.
    let read = drive.serve(ms(1000.0), command(4, Op::Read, 2000, 10), &bus, &mut background);
    assert_eq!((read.cache, background.len()), (CacheResult::Miss, 3));
    assert!(background.iter().all(|work| work.finish < ms(100.0)));
}

#[test]
fn a_measured_finish_moves_everything_with_it() {
    let mut own = drive(FAST_BUS);
    let mut rebased = drive(FAST_BUS);
    let first = serve(&mut own, Nanos::ZERO, command(0, Op::Read, 77, 5));
    serve(&mut rebased, Nanos::ZERO, command(0, Op::Read, 77, 5));
    let measured = first.finish + ms(3.7);
    rebased.rebase(first.finish, measured);
    let a = serve(&mut own, first.finish + ms(1.0), command(1, Op::Write, 9000, 7));
    let b = serve(&mut rebased, measured + ms(1.0), command(1, Op::Write, 9000, 7));
    close(service(&a), service(&b).as_ms());
}

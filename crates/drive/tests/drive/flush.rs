//! A flush: what was acknowledged before it came is on the media when it is complete.

use crate::common::{FAST_BUS, command, ms, plain, run_events, serve};
use crate::destage::{buffered, scatter};
use headstack_drive::command::{CacheResult, Command};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op, RequestFlags};
use std::sync::Arc;

#[test]
fn a_flush_is_done_when_all_that_was_acknowledged_is_on_the_media() {
    let mut drive = buffered("size_kib = 1000.0, idle_before_destage_ms = 1000.0");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    for (id, x) in (1..40).zip(scatter(5)) {
        drive.serve(ms(50.0), command(id, Op::Write, x % 39_000, 1), &bus, &mut background);
    }
    assert!(!drive.volatile(ms(60.0)).is_empty());
    let flush = drive.serve(ms(60.0), Command::flush(40), &bus, &mut background);
    let last = background.iter().map(|work| work.finish).max().unwrap();
    assert_eq!((background.len(), flush.finish, flush.phases.other), (39, last, last - ms(60.0)));
    assert!(drive.volatile(flush.finish).is_empty());
    // Nothing is left to do.
    let again = drive.serve(flush.finish, Command::flush(41), &bus, &mut background);
    assert_eq!(again.finish, flush.finish);
}

#[test]
fn a_write_with_a_preflush_waits_for_what_came_before_and_no_more() {
    let mut drive = buffered("size_kib = 1000.0, idle_before_destage_ms = 1000.0");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    drive.serve(ms(50.0), command(1, Op::Write, 30_000, 10), &bus, &mut background);
    let commit = Command { flags: RequestFlags::FLUSH, ..command(2, Op::Write, 100, 1) };
    let outcome = drive.serve(ms(60.0), commit, &bus, &mut background);
    assert_eq!((background.len(), background[0].lba.0), (1, 30_000));
    assert_eq!(outcome.phases.other, background[0].finish - ms(60.0));
    // It is acknowledged from the buffer itself; forced to the media, too, it would be there.
    assert_eq!(drive.volatile(outcome.finish), [(100, 101)]);
    let forced = Command {
        flags: RequestFlags::FLUSH.with(RequestFlags::FORCE_MEDIA),
        ..command(3, Op::Write, 300, 1)
    };
    let outcome = drive.serve(ms(100.0), forced, &bus, &mut background);
    assert_eq!((outcome.cache, drive.volatile(outcome.finish)), (CacheResult::Miss, Vec::new()));
}

#[test]
fn a_flush_waits_for_those_before_it_and_those_behind_wait_for_it() {
    for scheduler in ["fcfs", "ncq", "sptf"] {
        let extra = format!(
            "{FAST_BUS}\ncontroller = {{ queue_depth = 8, scheduler = \"{scheduler}\" }}\n\
             write_policy.immediate-reporting = {{}}"
        );
        let mut drive = Drive::new(Arc::new(DriveModel::new(&plain(&extra)).unwrap()), 1);
        let bus = drive.model().bus();
        let arrivals = [
            (Nanos::ZERO, command(0, Op::Write, 39_000, 1)),
            (Nanos(1), command(1, Op::Read, 10_000, 1)),
            (Nanos(2), Command::flush(2)),
            (Nanos(3), command(3, Op::Read, 39_001, 1)),
        ];
        let (mut done, background) = run_events(&mut drive, &bus, &arrivals);
        done.sort_by_key(|outcome| outcome.id);
        let flush = done[2].finish;
        assert!(flush >= background[0].finish, "{scheduler}: the write it is about is on its way");
        // The media are through with the read before it; its sector may still be on the bus.
        assert!(flush + ms(0.002) >= done[1].finish && done[3].finish > flush, "{scheduler}: {done:?}");
    }
}

/// A write that flushes was taken for one that goes into the cache, and so for cheaper than any read: beside 16 writers a read waited for
/// eleven of them.
#[test]
fn a_write_that_flushes_neither_overtakes_what_waits_nor_is_overtaken() {
    for scheduler in ["sptf", "ncq", "aspctf(0.03)"] {
        let extra = format!(
            "{FAST_BUS}\ncontroller = {{ queue_depth = 8, scheduler = \"{scheduler}\" }}\n\
             write_policy.write-back = {{ size_kib = 100.0, idle_before_destage_ms = 1000.0 }}"
        );
        let mut drive = Drive::new(Arc::new(DriveModel::new(&plain(&extra)).unwrap()), 1);
        let bus = drive.model().bus();
        let flush = Command { flags: RequestFlags::FLUSH, ..command(3, Op::Write, 200, 1) };
        let arrivals = [
            (Nanos::ZERO, command(0, Op::Write, 39_000, 10)),
            (ms(5.0), command(1, Op::Read, 20_000, 1)),
            (ms(5.5), command(2, Op::Read, 39_500, 1)),
            (ms(6.0), flush),
            // The cache has room, and the arm is at work for the reads.
            (ms(6.5), command(4, Op::Write, 30_000, 1)),
        ];
        let (done, background) = run_events(&mut drive, &bus, &arrivals);
        let finish = |id| done.iter().find(|outcome| outcome.id == id).unwrap().finish;
        assert!(finish(1).max(finish(2)) < finish(3) && finish(3) < finish(4), "{scheduler}: {done:?}");
        assert_eq!((background[0].lba.0, background[0].sectors), (39_000, 10));
        assert!(background[0].finish <= finish(3));
        // Itself, and what came after it.
        assert_eq!(drive.volatile(finish(4)), [(200, 201), (30_000, 30_001)]);
    }
}

use super::*;
use crate::Kind;
use headstack_units::{Op, RequestFlags};

pub(super) fn event(time: u64, action: Action, sector: u64, sectors: u32, letters: &str) -> Event {
    Event {
        time: Nanos(time),
        sector,
        bytes: sectors << 9,
        pid: 1,
        device: 7,
        cpu: 0,
        action,
        marks: Marks::of_letters(letters.as_bytes()).unwrap(),
    }
}

fn pair(events: &[Event]) -> (Vec<Io>, PairingCounts) {
    let mut pairing = Pairing::default();
    let mut ios = Vec::new();
    for event in events {
        pairing.push(event);
        pairing.drain(&mut ios);
    }
    pairing.finish(&mut ios);
    assert!(ios.is_sorted_by_key(|io| io.request.arrival));
    (ios, pairing.counts().clone())
}

pub(super) fn times(io: &Io) -> (u64, u64, u64) {
    (io.request.arrival.0, io.request.start.0, io.request.finish.0)
}

use Action::{BackMerge, Complete, FrontMerge, GetRequest, Insert, Issue, Plug, Queue, Requeue, Split};

#[test]
fn another_request_of_the_place_does_not_go_on_with_one_that_was_taken_back() {
    let events = [
        event(1, Queue, 100, 8, "R"),
        event(2, Queue, 100, 16, "R"),
        event(3, Issue, 100, 8, "R"),
        event(4, Issue, 100, 16, "R"),
        event(5, Requeue, 100, 8, "R"),
        event(6, Queue, 100, 24, "R"),
        event(7, Issue, 100, 24, "R"),
        event(8, Issue, 100, 8, "R"),
        event(11, Complete, 100, 16, "R"),
        event(12, Complete, 100, 24, "R"),
        event(13, Complete, 100, 8, "R"),
    ];
    let (ios, counts) = pair(&events);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(1, 8, 13), (2, 4, 11), (6, 7, 12)]);
    assert_eq!((counts.orphans(), counts.requeues), (0, 1));
}

/// A discard by its letter and by the categories of blktrace, which call it a write, too.
#[test]
fn a_discard_has_its_own_completion_beside_a_read_and_a_write_of_its_sectors() {
    let discards = [Marks::of_letters(b"DS").unwrap(), Marks::of_categories(1 << 1 | 1 << 3 | 1 << 13)];
    for (discard, letters) in discards.into_iter().flat_map(|marks| [(marks, "R"), (marks, "W")]) {
        let of_discard = |time, action| Event { marks: discard, ..event(time, action, 100, 8, "D") };
        let (ios, counts) = pair(&[
            event(1, Queue, 100, 8, letters),
            event(5, Issue, 100, 8, letters),
            of_discard(10, Queue),
            of_discard(14, Issue),
            of_discard(1000, Complete),
            event(9000, Complete, 100, 8, letters),
        ]);
        let found: Vec<_> = ios.iter().map(|io| (times(io), io.kind)).collect();
        assert_eq!(found, [((1, 5, 9000), Kind::Data), ((10, 14, 1000), Kind::Discard)], "{letters}");
        assert_eq!((counts.discards, counts.orphans()), (1, 0));
    }
}

#[test]
fn merged_pieces_are_one_request_from_the_earliest_on() {
    let (ios, counts) = pair(&[
        event(10, Queue, 100, 8, "W"),
        event(11, GetRequest, 100, 8, "W"),
        event(12, Insert, 100, 8, "W"),
        event(20, Queue, 108, 8, "WS"),
        event(21, BackMerge, 108, 8, "WS"),
        event(30, Issue, 100, 16, "W"),
        event(90, Complete, 100, 16, "W"),
    ]);
    assert_eq!((ios.len(), times(&ios[0]), ios[0].merges), (1, (10, 30, 90), 1));
    assert_eq!((ios[0].got, ios[0].inserted, ios[0].request.sectors), (Nanos(11), Nanos(12), 16));
    assert_eq!((counts.pairs, counts.merges, counts.orphans()), (1, 1, 0));
    assert_eq!(ios[0].request.op, Op::Write);
}

#[test]
fn what_the_writer_asked_of_the_drive_is_kept() {
    // The block layer sends the flush of a journal's commit ahead, and the data without its mark.
    let (ios, _) = pair(&[
        event(10, Queue, 100, 8, "FWFS"),
        event(20, Issue, 0, 0, "FN"),
        event(30, Complete, 0, 0, "FN"),
        event(40, Issue, 100, 8, "WFS"),
        event(90, Complete, 100, 8, "WFS"),
        event(95, Queue, 200, 8, "W"),
        event(96, Issue, 200, 8, "W"),
        event(99, Complete, 200, 8, "W"),
    ]);
    let flags = |sector: u64| {
        let data = ios.iter().find(|io| io.kind == Kind::Data && io.request.lba.0 == sector);
        data.map(|io| io.request.flags)
    };
    assert_eq!(flags(100), Some(RequestFlags::FLUSH.with(RequestFlags::FORCE_MEDIA)));
    assert_eq!(flags(200), Some(RequestFlags::default()));
}

#[test]
fn a_split_piece_gives_its_arrival_to_both_requests() {
    let (ios, counts) = pair(&[
        event(10, Queue, 100, 16, "R"),
        event(11, Split, 100, 8, "R"),
        event(20, Issue, 100, 8, "R"),
        event(25, Issue, 108, 8, "R"),
        event(50, Complete, 108, 8, "R"),
        event(60, Complete, 100, 8, "R"),
    ]);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(10, 25, 50), (10, 20, 60)]);
    assert_eq!((counts.splits, counts.orphans()), (1, 0));
}

#[test]
fn a_requeued_request_keeps_its_arrival_and_starts_anew() {
    let (ios, counts) = pair(&[
        event(10, Queue, 100, 8, "R"),
        event(20, Issue, 100, 8, "R"),
        event(30, Requeue, 100, 8, "R"),
        event(40, Issue, 100, 8, "R"),
        event(50, Complete, 100, 8, "R"),
    ]);
    assert_eq!((times(&ios[0]), counts.requeues, counts.orphans()), ((10, 40, 50), 1, 0));
}

#[test]
fn a_part_completed_leaves_the_rest_at_the_device() {
    let (ios, counts) = pair(&[
        event(20, Issue, 100, 16, "R"),
        event(30, Complete, 100, 8, "R"),
        event(45, Complete, 108, 8, "R"),
    ]);
    assert_eq!((times(&ios[0]), ios[0].request.sectors), ((20, 20, 45), 16));
    assert_eq!((counts.partial_completions, counts.orphans()), (1, 0));
}

#[test]
fn a_flush_that_nobody_queued_belongs_to_a_write() {
    let (ios, _) = pair(&[
        event(5, Issue, 0, 0, "FN"),
        event(6, Complete, 0, 0, "FN"),
        event(10, Queue, 100, 8, "FWFS"),
        event(20, Issue, 0, 0, "FN"),
        event(30, Complete, 0, 0, "FN"),
        event(40, Issue, 100, 8, "WFS"),
        event(50, Complete, 100, 8, "WFS"),
        event(60, Queue, 0, 0, "FN"),
        event(61, Issue, 0, 0, "FN"),
        event(70, Complete, 0, 0, "FN"),
    ]);
    let asked: Vec<_> =
        ios.iter().map(|io| (io.request.arrival.0, io.request.flags.contains(RequestFlags::FLUSH))).collect();
    // Before anything was queued nobody can tell.
    assert_eq!(asked, [(5, true), (10, true), (20, false), (60, true)]);
    let commands: Vec<_> = ios.iter().filter_map(Io::command).map(|request| request.sectors).collect();
    assert_eq!(commands, [0, 8, 0]);
}

#[test]
fn a_flush_completes_twice_and_is_counted_once() {
    let (ios, counts) = pair(&[
        event(5, Queue, 0, 0, "FWS"),
        event(10, Issue, 0, 0, "FN"),
        event(20, Complete, 0, 0, "FN"),
        event(21, Complete, 0, 0, "WS"),
    ]);
    assert_eq!((ios.len(), ios[0].kind, times(&ios[0])), (1, Kind::Flush, (5, 10, 20)));
    assert_eq!((counts.flushes, counts.double_flush_completions, counts.orphans()), (1, 1, 0));
}

#[test]
fn a_device_without_dispatches_ends_its_pieces() {
    let (ios, counts) = pair(&[event(5, Queue, 8, 8, "WS"), event(9, Complete, 8, 8, "WS")]);
    assert_eq!((times(&ios[0]), counts.orphans()), ((5, u64::MAX, 9), 0));
    assert!(ios[0].sync);
}

#[test]
fn halves_alone_are_counted() {
    let (ios, counts) = pair(&[
        event(1, Queue, 0, 8, "R"),
        event(2, Issue, 100, 8, "R"),
        event(3, Issue, 100, 8, "R"),
        event(4, Complete, 100, 8, "R"),
        event(5, Complete, 300, 8, "R"),
        event(6, Complete, 100, 8, "W"),
    ]);
    // The latest dispatch wins.
    assert_eq!((ios.len(), times(&ios[0])), (1, (3, 3, 4)));
    let found = (counts.orphan_queued, counts.orphan_dispatches, counts.orphan_completions);
    assert_eq!(found, (1, 1, 2));
}

#[test]
fn discards_and_reads_at_the_same_place_stay_apart() {
    let (ios, _) = pair(&[
        event(1, Issue, 100, 8, "D"),
        event(2, Issue, 100, 8, "W"),
        event(3, Complete, 100, 8, "W"),
        event(4, Complete, 100, 8, "D"),
    ]);
    assert_eq!(ios.iter().map(|io| io.kind).collect::<Vec<_>>(), [Kind::Discard, Kind::Data]);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(1, 1, 4), (2, 2, 3)]);
}

#[test]
fn each_thing_is_counted_as_often_as_it_happened() {
    let (ios, counts) = pair(&[
        event(1, Queue, 100, 16, "W"),
        event(1, Queue, 116, 8, "W"),
        event(1, BackMerge, 116, 8, "W"),
        event(1, Queue, 92, 8, "W"),
        event(1, FrontMerge, 92, 8, "W"),
        event(2, Split, 300, 8, "W"),
        event(2, Split, 308, 8, "W"),
        event(3, Issue, 92, 32, "W"),
        event(4, Requeue, 92, 32, "W"),
        event(5, Issue, 92, 32, "W"),
        event(6, Requeue, 92, 32, "W"),
        // What is not at the device cannot be given back.
        event(6, Requeue, 500, 8, "W"),
        event(7, Issue, 92, 32, "W"),
        event(8, Complete, 92, 8, "W"),
        event(9, Complete, 100, 8, "W"),
        event(10, Complete, 108, 16, "W"),
        event(11, Issue, 600, 8, "D"),
        event(12, Issue, 608, 8, "D"),
        event(13, Complete, 600, 8, "D"),
        event(14, Complete, 608, 8, "D"),
        event(15, Complete, 700, 8, "R"),
        event(16, Complete, 700, 8, "R"),
    ]);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(1, 7, 10), (11, 11, 13), (12, 12, 14)]);
    assert_eq!(ios[0].merges, 2);
    let expected = PairingCounts {
        pairs: 3,
        merges: 2,
        splits: 2,
        requeues: 3,
        partial_completions: 2,
        discards: 2,
        orphan_completions: 2,
        ..PairingCounts::default()
    };
    assert_eq!((counts.orphans(), counts), (2, expected));
}

#[test]
fn each_device_is_paired_by_itself() {
    let on = |device, event| Event { device, ..event };
    let (ios, counts) = pair(&[
        on(1, event(1, Queue, 100, 8, "R")),
        on(2, event(2, Queue, 100, 8, "R")),
        on(3, event(3, Queue, 100, 8, "R")),
        // No piece of this device holds that sector, though one of another device would.
        on(4, event(3, GetRequest, 104, 8, "R")),
        on(4, event(3, Insert, 104, 8, "R")),
        on(2, event(5, Issue, 100, 8, "R")),
        on(1, event(6, Issue, 100, 8, "R")),
        on(1, event(8, Complete, 100, 8, "R")),
        on(2, event(9, Complete, 100, 8, "R")),
        on(3, event(10, Complete, 100, 8, "R")),
    ]);
    let found: Vec<_> = ios.iter().map(|io| (io.request.device, times(io))).collect();
    assert_eq!(found, [(1, (1, 6, 8)), (2, (2, 5, 9)), (3, (3, u64::MAX, 10))]);
    assert!(ios.iter().all(|io| io.got == Nanos::MAX && io.inserted == Nanos::MAX));
    assert_eq!((counts.pairs, counts.undispatched, counts.orphans()), (3, 1, 0));
}

#[test]
fn without_a_dispatch_all_is_known_of_the_queueing() {
    let (ios, counts) = pair(&[
        Event { pid: 9, ..event(5, Queue, 100, 8, "DS") },
        event(6, GetRequest, 104, 8, "D"),
        event(7, Insert, 100, 8, "D"),
        // Just behind it: of none that is in sight.
        event(8, GetRequest, 108, 8, "D"),
        event(8, Queue, 108, 8, "D"),
        event(9, Complete, 100, 16, "D"),
        event(10, Queue, 0, 8, "R"),
        event(12, Complete, 0, 8, "R"),
    ]);
    let io = &ios[0];
    assert_eq!((io.request.arrival, io.got, io.inserted), (Nanos(5), Nanos(6), Nanos(7)));
    assert_eq!((io.request.finish, io.kind, io.request.sectors), (Nanos(9), Kind::Discard, 16));
    assert_eq!((io.pid, io.merges, io.sync), (9, 1, true));
    assert_eq!((counts.undispatched, counts.discards, counts.orphans()), (2, 1, 0));
}

#[test]
fn a_stamp_is_of_the_piece_that_holds_its_sector() {
    let (ios, _) = pair(&[
        event(1, Queue, 100, 32, "R"),
        event(2, Queue, 108, 8, "W"),
        // The write ends before it.
        event(3, GetRequest, 120, 8, "R"),
        event(4, Issue, 100, 32, "R"),
        event(5, Issue, 108, 8, "W"),
        event(6, Complete, 100, 32, "R"),
        event(7, Complete, 108, 8, "W"),
    ]);
    assert_eq!(ios.iter().map(|io| io.got).collect::<Vec<_>>(), [Nanos(3), Nanos::MAX]);
}

#[test]
fn what_lies_beside_a_dispatch_goes_on_waiting() {
    let (ios, counts) = pair(&[
        event(1, Queue, 92, 8, "R"),
        event(2, Queue, 100, 8, "R"),
        event(3, Queue, 108, 8, "R"),
        event(4, Queue, 100, 8, "W"),
        event(5, Issue, 100, 8, "R"),
        event(6, Issue, 92, 8, "R"),
        event(7, Issue, 108, 8, "R"),
        event(8, Issue, 100, 8, "W"),
        event(10, Complete, 92, 8, "R"),
        event(11, Complete, 100, 8, "R"),
        event(12, Complete, 108, 8, "R"),
        event(13, Complete, 100, 8, "W"),
    ]);
    let found: Vec<_> = ios.iter().map(times).collect();
    assert_eq!(found, [(1, 6, 10), (2, 5, 11), (3, 7, 12), (4, 8, 13)]);
    assert!(ios.iter().all(|io| io.merges == 0));
    assert_eq!(counts.orphans(), 0);
}

/// As with direct reads and writes of the same sectors by several.
#[test]
fn requests_that_overlap_have_each_its_own_queueing() {
    let (ios, counts) = pair(&[
        event(1, Queue, 104, 8, "R"),
        event(2, Queue, 100, 16, "R"),
        event(3, Queue, 100, 16, "R"),
        event(10, Issue, 100, 16, "R"),
        event(11, Issue, 104, 8, "R"),
        event(12, Issue, 100, 16, "R"),
        event(20, Complete, 104, 8, "R"),
        event(21, Complete, 100, 16, "R"),
        event(22, Complete, 100, 16, "R"),
    ]);
    let found: Vec<_> = ios.iter().map(|io| (io.request.arrival.0, io.request.start.0, io.merges)).collect();
    assert_eq!(found, [(1, 11, 0), (2, 10, 0), (3, 12, 0)]);
    assert_eq!((counts.orphans(), counts.without_queueing), (0, 0));
}

#[test]
fn the_parts_of_a_split_piece_may_be_dispatched_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let parts = order.map(|part: u64| 100 + 8 * part);
        let mut events = vec![
            event(10, Queue, 100, 24, "R"),
            // Another that overlaps, and one that ends where the first begins.
            event(10, Queue, 104, 8, "W"),
            event(10, Queue, 92, 8, "R"),
        ];
        events.extend((20..).zip(parts).map(|(at, sector)| event(at, Issue, sector, 8, "R")));
        events.extend((40..).zip(parts).map(|(at, sector)| event(at, Complete, sector, 8, "R")));
        let (ios, counts) = pair(&events);
        assert!(ios.iter().all(|io| io.request.arrival == Nanos(10)), "{order:?}: {ios:?}");
        // The others wait on.
        assert_eq!((ios.len(), counts.orphans(), counts.orphan_queued), (3, 2, 2), "{order:?}");
        assert!(ios.iter().all(|io| io.merges == 0), "{order:?}");
    }
}

#[test]
fn of_several_dispatches_the_latest_of_the_size_is_completed() {
    let (ios, counts) = pair(&[
        event(1, Issue, 100, 16, "R"),
        event(2, Issue, 100, 8, "R"),
        event(3, Issue, 100, 32, "R"),
        event(4, Issue, 100, 32, "R"),
        event(5, Complete, 100, 8, "R"),
        event(6, Complete, 100, 16, "R"),
        // A part of the latest.
        event(7, Complete, 100, 24, "R"),
        event(8, Complete, 124, 8, "R"),
        event(9, Complete, 100, 32, "R"),
    ]);
    let found: Vec<_> = ios.iter().map(|io| (io.request.start.0, io.request.finish.0)).collect();
    assert_eq!(found, [(1, 6), (2, 5), (3, 9), (4, 8)]);
    assert_eq!((counts.partial_completions, counts.orphans()), (1, 0));
}

#[test]
fn a_dispatch_given_back_twice_is_one_request() {
    let (ios, counts) = pair(&[
        event(1, Issue, 100, 8, "R"),
        event(2, Issue, 100, 8, "R"),
        event(3, Requeue, 100, 8, "R"),
        event(4, Requeue, 100, 8, "R"),
        event(5, Issue, 100, 8, "R"),
        event(9, Complete, 100, 8, "R"),
    ]);
    assert_eq!((ios.len(), times(&ios[0])), (1, (1, 5, 9)));
    assert_eq!((counts.requeues, counts.orphan_dispatches), (2, 1));
}

#[test]
fn each_flush_may_complete_twice_but_no_more() {
    let (ios, counts) = pair(&[
        event(1, Queue, 0, 0, "FWS"),
        // Another one asks: both are answered by one.
        event(3, Queue, 0, 0, "FWS"),
        event(10, Issue, 0, 0, "FN"),
        event(20, Complete, 0, 0, "FN"),
        event(21, Complete, 0, 0, "WS"),
        event(30, Issue, 0, 0, "FN"),
        event(31, Issue, 0, 0, "N"),
        event(40, Complete, 0, 0, "FN"),
        event(41, Complete, 0, 0, "N"),
        event(42, Complete, 0, 0, "WS"),
        event(43, Complete, 0, 0, "WS"),
        event(44, Complete, 0, 0, "WS"),
        event(45, Complete, 0, 0, "WS"),
    ]);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(1, 10, 20), (30, 30, 40), (31, 31, 41)]);
    assert_eq!((counts.pairs, counts.flushes), (3, 2));
    assert_eq!((counts.double_flush_completions, counts.orphan_completions), (3, 2));
}

#[test]
fn an_io_is_given_out_once_nothing_earlier_can_come() {
    let later = 1_000_000_000;
    let open: [&[Event]; 4] = [
        &[event(1, Queue, 0, 8, "R")],
        &[event(1, Issue, 0, 8, "R")],
        &[event(1, Issue, 0, 8, "R"), event(2, Requeue, 0, 8, "R")],
        &[event(1, Queue, 0, 0, "F")],
    ];
    for waits in open.into_iter().chain([&[event(1, Issue, 0, 0, "F")][..], &[]]) {
        let mut pairing = Pairing::default();
        let mut ios = Vec::new();
        let others = [
            event(10, Queue, 100, 8, "R"),
            event(11, Issue, 100, 8, "R"),
            event(12, Complete, 100, 8, "R"),
            // Its I/O may still be preceded by an event stamped a little earlier on another processor.
            event(later - 1_000_000, Issue, 200, 8, "R"),
            event(later, Complete, 200, 8, "R"),
        ];
        waits.iter().chain(&others).for_each(|event| pairing.push(event));
        pairing.drain(&mut ios);
        assert_eq!(ios.len(), usize::from(waits.is_empty()), "{waits:?}");
        pairing.push(&event(2 * later, Plug, 0, 0, "N"));
        pairing.drain(&mut ios);
        assert_eq!(ios.len(), if waits.is_empty() { 2 } else { 0 }, "{waits:?}");
    }
}

#[test]
fn what_is_not_completed_within_a_minute_is_an_orphan() {
    let minute = LOST_AFTER.0;
    // By the rule that goes on as if no events were missing.
    let mut pairing = Pairing::new(PairingRule::Btt);
    let mut pushed = 0;
    let mut push = |pairing: &mut Pairing, event: Event| {
        pairing.push(&event);
        pushed += 1;
        pushed
    };
    // At the device, queued and given back: two of each that wait too long, and one that does not.
    for (sector, at) in [(0, 4), (100, 5), (200, 6)] {
        push(&mut pairing, event(at, Issue, sector, 8, "R"));
        push(&mut pairing, event(at, Issue, 0, 0, "F"));
        push(&mut pairing, event(at, Queue, 1000 + sector, 8, "R"));
        push(&mut pairing, event(at, Issue, 2000 + sector, 8, "R"));
        push(&mut pairing, event(at, Requeue, 2000 + sector, 8, "R"));
    }
    // Two of one place: only the older one is lost.
    push(&mut pairing, event(5, Issue, 3000, 8, "R"));
    push(&mut pairing, event(6, Issue, 3000, 8, "R"));
    push(&mut pairing, event(5, Queue, 4000, 8, "R"));
    push(&mut pairing, event(6, Queue, 4000, 8, "R"));
    push(&mut pairing, Event { device: 1, ..event(5, Queue, 0, 0, "F") });
    push(&mut pairing, Event { device: 2, ..event(6, Queue, 0, 0, "F") });
    while push(&mut pairing, event(6 + minute, Plug, 0, 0, "N")) < SWEEP {
        assert_eq!(pairing.counts().orphans(), 0);
    }
    let counts = pairing.counts().clone();
    assert_eq!((counts.orphan_dispatches, counts.orphan_queued), (2 + 2 + 2 + 1, 2 + 1));
    // Those that are left end as if nothing had been.
    for complete in [event(9 + minute, Complete, 200, 8, "R"), event(9 + minute, Complete, 0, 0, "F")] {
        push(&mut pairing, complete);
    }
    push(&mut pairing, event(9 + minute, Issue, 2200, 8, "R"));
    push(&mut pairing, event(9 + minute, Issue, 1200, 8, "R"));
    push(&mut pairing, event(9 + minute, Issue, 4000, 8, "R"));
    for (device, queued) in [(1, 9 + minute), (2, 6)] {
        push(&mut pairing, Event { device, ..event(9 + minute, Issue, 0, 0, "F") });
        let waits = pairing.flushing[&device][0].io.request.arrival;
        assert_eq!(waits, Nanos(queued), "what asked for the flush of device {device}");
    }
    for sector in [1200, 2200, 3000, 4000] {
        push(&mut pairing, event(10 + minute, Complete, sector, 8, "R"));
    }
    let mut ios = Vec::new();
    pairing.finish(&mut ios);
    assert_eq!(ios.iter().map(|io| io.request.arrival).collect::<Vec<_>>(), [Nanos(6); 6]);
    assert!(ios.iter().all(|io| io.merges == 0));
}

/// A dispatch that is left over, as a driver leaves now and then, is not completed by what comes after it.
#[test]
fn of_the_same_sectors_the_first_goes_first_once_such_are_seen_at_once() {
    let left_over = [
        event(1, Issue, 100, 8, "W"),
        event(3, Issue, 100, 8, "W"),
        event(4, Complete, 100, 8, "W"),
        event(5, Issue, 100, 8, "W"),
        event(6, Complete, 100, 8, "W"),
    ];
    let (ios, counts) = pair(&left_over);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(3, 3, 4), (5, 5, 6)]);
    assert_eq!(counts.orphan_dispatches, 1);
    let at_once = |at: u64| {
        [(0, Issue), (1, Issue), (5, Complete), (9, Complete)]
            .map(|(after, action)| event(at + after, action, 200, 8, "R"))
    };
    let (ios, _) = pair(&[at_once(10), at_once(30)].concat());
    // Of the first two nothing tells; their sum is the same.
    assert_eq!(
        ios.iter().map(times).collect::<Vec<_>>(),
        [(10, 10, 19), (11, 11, 15), (30, 30, 35), (31, 31, 39)]
    );
}

/// The queueing at 1,000,000 lost its dispatch and its completion in a burst, of which nothing else tells.
fn behind_a_lost_dispatch(extent: (u64, u32), then: &[Event]) -> (Vec<(u64, u64, u64)>, PairingCounts) {
    let mut events = Vec::new();
    for k in 0..500 {
        let (at, sector) = (1000 * k, 10_000 + 100 * k);
        events.push(event(at, Queue, sector, 8, "R"));
        events.push(event(at + 10, Issue, sector, 8, "R"));
        events.push(event(at + 910, Complete, sector, 8, "R"));
    }
    events.push(event(1_000_000, Queue, extent.0, extent.1, "R"));
    events.extend_from_slice(then);
    let (ios, counts) = pair(&events);
    (ios[500..].iter().map(times).collect(), counts)
}

#[test]
fn what_waits_far_longer_than_others_does_not_take_the_dispatch_of_a_later_one() {
    let later = [1_002_000, 1_009_000].map(|at| {
        [
            event(at, Queue, 100, 8, "R"),
            event(at + 10, Issue, 100, 8, "R"),
            event(at + 900, Complete, 100, 8, "R"),
        ]
    });
    let (ios, counts) = behind_a_lost_dispatch((100, 8), &later.concat());
    assert_eq!(ios, [(1_002_000, 1_002_010, 1_002_900), (1_009_000, 1_009_010, 1_009_900)]);
    assert_eq!((counts.orphan_queued, counts.doubtful), (1, 0));
    // Both wait: they are dispatched in their order.
    let soon = [event(1_000_005, Queue, 100, 8, "R"), event(1_000_012, Issue, 100, 8, "R")];
    let ends = [event(1_000_015, Issue, 100, 8, "R"), event(1_000_800, Complete, 100, 8, "R")];
    let (ios, _) = behind_a_lost_dispatch((100, 8), &[&soon[..], &ends].concat());
    assert_eq!(ios[0].0, 1_000_005);
}

#[test]
fn what_waits_far_longer_than_others_takes_no_part_in_a_merge_of_later_ones() {
    let merged = [
        event(1_002_000, Queue, 100, 8, "R"),
        event(1_002_001, Queue, 108, 8, "R"),
        event(1_002_002, BackMerge, 108, 8, "R"),
        event(1_002_010, Issue, 100, 16, "R"),
        event(1_002_900, Complete, 100, 16, "R"),
    ];
    for lost in [(100, 16), (108, 8), (100, 8)] {
        let (ios, counts) = behind_a_lost_dispatch(lost, &merged);
        assert_eq!((ios, counts.orphan_queued), (vec![(1_002_000, 1_002_010, 1_002_900)], 1), "{lost:?}");
    }
}

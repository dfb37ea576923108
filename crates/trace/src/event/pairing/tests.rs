use super::*;
use crate::Kind;
use headstack_units::{Op, RequestFlags};

fn event(time: u64, action: Action, sector: u64, sectors: u32, letters: &str) -> Event {
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

fn times(io: &Io) -> (u64, u64, u64) {
    (io.request.arrival.0, io.request.start.0, io.request.finish.0)
}

use Action::{BackMerge, Complete, GetRequest, Insert, Issue, Queue, Requeue, Split};

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

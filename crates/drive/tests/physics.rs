//! Is the physics right? Scenarios whose times follow from the parameters by hand: 10 ms a turn, 0.1 ms a sector, 1 ms a
//! head switch, 2 ms a one-cylinder seek, a bus that takes 1 µs a sector unless said otherwise.

mod common;

use common::{FAST_BUS, command, drive, ms, run_events, serve};
use headstack_drive::command::{CacheResult, Command, Outcome};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op, RequestFlags};
use std::sync::Arc;

/// Equal to the microsecond: the ticks of a turn that is no whole number of ns stay out of the scenarios.
fn close(time: Nanos, expected_ms: f64) {
    assert!((time.as_ms() - expected_ms).abs() < 0.001, "{time} instead of {expected_ms} ms");
}

fn service(outcome: &Outcome) -> Nanos {
    outcome.phases.total()
}

fn forced(id: u64, lba: u64, sectors: u32) -> Command {
    Command { flags: RequestFlags::FORCE_MEDIA, ..command(id, Op::Write, lba, sectors) }
}

#[test]
fn a_sector_under_the_head_is_read_at_once() {
    let outcome = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Read, 0, 1));
    close(service(&outcome), 0.101);
    close(outcome.phases.transfer, 0.1);
    close(outcome.phases.bus, 0.001);
}

#[test]
fn half_a_track_ahead_is_half_a_turn_away() {
    let outcome = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Read, 50, 1));
    close(outcome.phases.rotation, 5.0);
}

#[test]
fn the_skew_hides_the_head_switch() {
    let outcome = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Read, 0, 200));
    close(outcome.phases.transfer, 20.0);
    close(outcome.phases.seek, 1.0);
    close(outcome.phases.rotation, 0.0);
    // Without skew enough a revolution is lost: 1.5 ms to switch, 1.0 ms of skew.
    let text = common::plain_text(FAST_BUS).replace("head_switch_ms = 1.0", "head_switch_ms = 1.5");
    let spec = DriveSpec::from_toml("slow", &text).unwrap();
    let mut slow = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 1);
    let outcome = serve(&mut slow, Nanos::ZERO, command(0, Op::Read, 0, 200));
    close(outcome.phases.seek + outcome.phases.rotation, 11.0);
}

#[test]
fn a_bus_slower_than_the_media_sets_the_pace() {
    // 1 MB/s: 0.512 ms a sector. The first sector is in the buffer after 0.1 ms, then ten leave.
    let bus = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }";
    let outcome = serve(&mut drive(bus), Nanos::ZERO, command(0, Op::Read, 0, 10));
    close(service(&outcome), 0.1 + 10.0 * 0.512);
    close(outcome.phases.bus, 5.12);
    // A fence of ten sectors: all of them are read first.
    let fenced = format!("{bus}\nbuffer = {{ read_fence_kib = 5.0 }}");
    let outcome = serve(&mut drive(&fenced), Nanos::ZERO, command(0, Op::Read, 0, 10));
    close(service(&outcome), 1.0 + 10.0 * 0.512);
}

#[test]
fn late_data_cost_a_write_a_revolution() {
    // All ten sectors must be there (5.12 ms) before the media begin; the first has passed at 0 and comes at 10.
    let extra = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }\nbuffer = { write_fence_kib = 5.0 }";
    let outcome = serve(&mut drive(extra), Nanos::ZERO, command(0, Op::Write, 0, 10));
    close(service(&outcome), 11.0);
    close(outcome.phases.bus, 5.12);
    close(outcome.phases.rotation, 10.0 - 5.12);
    // The data come while the arm moves: 11.8 ms over the full stroke hide them.
    let far = 99 * 400;
    let outcome = serve(&mut drive(extra), Nanos::ZERO, command(0, Op::Write, far, 10));
    close(outcome.phases.seek, 11.8);
    close(outcome.phases.bus, 0.0);
    close(outcome.busy.bus, 5.12);
}

#[test]
fn without_a_buffer_a_late_host_costs_a_revolution() {
    let extra = format!("{FAST_BUS}\nbuffer = {{ size_kib = 0.0 }}");
    let mut slow_host = drive(&extra);
    let mut bus = slow_host.model().bus();
    let (done, _) = run_events(&mut slow_host, &bus, &[(Nanos::ZERO, command(0, Op::Read, 50, 10))]);
    close(service(&done[0]), 5.0 + 1.0);
    // The host's bus takes 5.5 ms to win: the sector that began at 5.0 has gone, and comes again at 15.
    bus.arbitration = ms(5.5);
    let (done, _) = run_events(&mut drive(&extra), &bus, &[(Nanos::ZERO, command(0, Op::Read, 50, 10))]);
    close(service(&done[0]), 15.0 + 1.0);
}

#[test]
fn back_to_back_reads_lose_a_turn_without_read_ahead_and_nothing_with_it() {
    let first = command(0, Op::Read, 0, 10);
    let second = command(1, Op::Read, 10, 10);
    let mut plain = drive(&format!("controller = {{ read_overhead_ms = 0.5 }}\n{FAST_BUS}"));
    let before = serve(&mut plain, Nanos::ZERO, first);
    // Sector 10 passes at 11 ms, after the first read; the second is decoded half a millisecond too late for it.
    let after = serve(&mut plain, before.finish, second);
    assert!(service(&after) > ms(9.0), "{after:?}");
    let cached = format!(
        "controller = {{ read_overhead_ms = 0.5 }}\n{FAST_BUS}\ncache = {{ segments = 2, segment_kib = 32.0, read_ahead = \"aggressive\" }}"
    );
    let mut cached = drive(&cached);
    let before = serve(&mut cached, Nanos::ZERO, first);
    let after = serve(&mut cached, before.finish, second);
    // Half a millisecond to decode, by then five of the ten are there, five more come.
    assert_eq!(after.cache, CacheResult::PartialHit);
    close(service(&after), 1.0);
    let later = serve(&mut cached, after.finish + ms(5.0), command(2, Op::Read, 20, 10));
    assert_eq!(later.cache, CacheResult::Hit);
    close(service(&later), 0.51);
}

#[test]
fn read_ahead_stops_where_its_policy_says() {
    let hits = |policy: &str, lba: u64| {
        let extra = format!(
            "{FAST_BUS}\ncache = {{ segments = 1, segment_kib = 1000.0, read_ahead = \"{policy}\" }}"
        );
        let mut drive = drive(&extra);
        serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 10, 1));
        serve(&mut drive, ms(500.0), command(1, Op::Read, lba, 1)).cache == CacheResult::Hit
    };
    assert!(!hits("none", 11));
    assert!(hits("to-track-end", 99) && !hits("to-track-end", 100));
    assert!(hits("to-cylinder-end", 399) && !hits("to-cylinder-end", 400));
    assert!(hits("until-full", 2009) && !hits("until-full", 2010));
    assert!(hits("aggressive", 2010) && !hits("aggressive", 2011));
    assert!(hits("sequential-aware", 99) && !hits("sequential-aware", 100));
    // On arrival: the head was at sector 0 and read on its way to sector 10.
    assert!(hits("on-arrival", 5) && !hits("on-arrival", 11));
}

#[test]
fn reading_on_arrival_takes_a_turn_at_most() {
    let extra =
        format!("{FAST_BUS}\ncache = {{ segments = 1, segment_kib = 64.0, read_ahead = \"on-arrival\" }}");
    // The head stands in the middle of the track at 5 ms; a whole track takes one turn, not one and a half.
    let outcome = serve(&mut drive(&extra), ms(5.0), command(0, Op::Read, 0, 100));
    let whole = (service(&outcome).as_ms() - 10.0).abs();
    assert!(whole < 0.2, "{outcome:?}");
    let in_order = serve(&mut drive(FAST_BUS), ms(5.0), command(0, Op::Read, 0, 100));
    assert!(service(&in_order) > ms(14.9));
}

#[test]
fn immediate_reporting_takes_the_first_write_and_its_continuations() {
    let mut drive = drive(&format!("{FAST_BUS}\nwrite_policy.immediate-reporting = {{}}"));
    let first = serve(&mut drive, Nanos::ZERO, command(0, Op::Write, 50, 10));
    assert_eq!(first.cache, CacheResult::ReportedEarly);
    close(service(&first), 0.010);
    let continued = serve(&mut drive, first.finish, command(1, Op::Write, 60, 10));
    assert_eq!(continued.cache, CacheResult::ReportedEarly);
    // Elsewhere: it waits until the others are on the media (at 7 ms), and then for its own sector at 18 ms.
    let elsewhere = serve(&mut drive, continued.finish, command(2, Op::Write, 80, 10));
    assert_eq!(elsewhere.cache, CacheResult::Miss);
    close(elsewhere.finish, 9.0);
    let marked = serve(&mut drive, ms(100.0), forced(3, 0, 10));
    assert_eq!(marked.cache, CacheResult::Miss);
    // A read of data on their way is served from the buffer.
    serve(&mut drive, ms(200.0), command(4, Op::Read, 20_000, 1));
    let early = serve(&mut drive, ms(300.0), command(5, Op::Write, 39_000, 4));
    let dirty = serve(&mut drive, early.finish, command(6, Op::Read, 39_001, 2));
    assert_eq!((early.cache, dirty.cache), (CacheResult::ReportedEarly, CacheResult::Hit));
}

#[test]
fn write_back_accepts_what_fits_and_destages_when_idle() {
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
    assert!(third.phases.other > Nanos::ZERO, "{third:?}");
    assert_eq!(third.phases.other, background[0].finish - third.submitted - third.phases.queue);
    // The arm does not wait for its data: it goes for the other ten at once.
    assert_eq!((background.len(), background[1].start), (2, background[0].finish));
    // Overwriting needs no room.
    let same = drive.serve(third.finish, command(3, Op::Write, 2000, 10), &bus, &mut background);
    assert_eq!(same.phases.other, Nanos::ZERO);
    // In idle time everything goes to the media.
    let read = drive.serve(ms(1000.0), command(4, Op::Read, 2000, 10), &bus, &mut background);
    assert_eq!((read.cache, background.len()), (CacheResult::Miss, 3));
    assert!(background.iter().all(|work| work.finish < ms(100.0)));
}

#[test]
fn part_of_a_physical_sector_is_read_first_and_written_a_turn_later() {
    let mut aligned = drive(&format!("physical_sector_bytes = 4096\n{FAST_BUS}"));
    close(service(&serve(&mut aligned, Nanos::ZERO, command(0, Op::Write, 8, 8))), 0.8 + 0.8);
    let mut unaligned = drive(&format!("physical_sector_bytes = 4096\n{FAST_BUS}"));
    let outcome = serve(&mut unaligned, Nanos::ZERO, command(0, Op::Write, 9, 1));
    close(service(&outcome), 0.8 + 0.8 + 10.0);
}

#[test]
fn a_recalibration_is_waited_for() {
    let extra = format!(
        "recalibration = {{ mode = \"by-drive\", interval_s = 1.0, duration_ms = 500.0 }}\n{FAST_BUS}"
    );
    let mut drive = drive(&extra);
    let outcome = serve(&mut drive, ms(1200.0), command(0, Op::Read, 0, 1));
    close(outcome.phases.other, 300.0);
    let before = serve(&mut drive, ms(1900.0), command(1, Op::Read, 0, 1));
    assert_eq!(before.phases.other, Nanos::ZERO);
}

#[test]
fn queued_commands_wait_and_say_so() {
    let mut drive = drive(&format!("controller = {{ queue_depth = 8 }}\n{FAST_BUS}"));
    let bus = drive.model().bus();
    let arrivals: Vec<(Nanos, Command)> =
        (0..4).map(|i| (Nanos::ZERO, command(i, Op::Read, 10 * i, 10))).collect();
    let (done, _) = run_events(&mut drive, &bus, &arrivals);
    // Neighbours in order: each is read right behind the one before.
    for (i, outcome) in done.iter().enumerate() {
        close(outcome.phases.queue, i as f64);
        close(outcome.phases.transfer, 1.0);
    }
    // Head of queue goes before what waits, not before what has begun.
    let mut first = arrivals.clone();
    first.push((Nanos(1), Command { flags: RequestFlags::HEAD_OF_QUEUE, ..command(9, Op::Read, 40, 10) }));
    let (done, _) = run_events(
        &mut common::drive(&format!("controller = {{ queue_depth = 8 }}\n{FAST_BUS}")),
        &bus,
        &first,
    );
    let order: Vec<u64> = done.iter().map(|outcome| outcome.id).collect();
    assert_eq!(order, [0, 9, 1, 2, 3]);
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

#[test]
fn a_long_unaligned_write_reads_its_edges_only() {
    let extra = format!("physical_sector_bytes = 2048\n{FAST_BUS}");
    // Three tracks of one cylinder, from the second sector of the first to the last but one of the third; the heads are 1 ms
    // apart, and so are the tracks (a skew of ten sectors).
    let mut unaligned = drive(&extra);
    let outcome = serve(&mut unaligned, Nanos::ZERO, command(0, Op::Write, 1, 298));
    // Sectors 0 to 3 pass until 0.4. Head 2 is selected at 1.4; the last four of its track, whose angle is 96 + 20 skewed
    // slots, begin at 11.6 of which 1.6 is the angle: they pass from 1.6 to 2.0. Head 0 is back at 3.0, and its first sector
    // comes at 10.0. From there 300 sectors at 0.1 ms and two skews of 1 ms.
    close(service(&outcome), 10.0 + 30.0 + 2.0);
    let mut front = drive(&extra);
    // Only the first is cut: it is read until 0.4, and comes again at 10.0.
    close(service(&serve(&mut front, Nanos::ZERO, command(0, Op::Write, 1, 299))), 10.0 + 30.0 + 2.0);
    let mut back = drive(&extra);
    // Only the last is cut: the arm goes there first.
    close(service(&serve(&mut back, Nanos::ZERO, command(0, Op::Write, 0, 298))), 10.0 + 30.0 + 2.0);
    let mut aligned = drive(&extra);
    close(service(&serve(&mut aligned, Nanos::ZERO, command(0, Op::Write, 4, 296))), 0.4 + 29.6 + 2.0);
}

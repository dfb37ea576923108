//! Buffered writes on their way to the media: which goes next, when, and who waits for it.

use crate::common::{FAST_BUS, command, drive, ms, plain, run_events, serve};
use headstack_drive::command::{Background, CacheResult, Command, Work};
use headstack_drive::mechanics::Mechanics;
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op, RequestFlags};
use proptest::prelude::*;
use std::sync::Arc;

/// 40,000 sectors in 100 cylinders; 10 ms a revolution, 0.1 ms a sector, and a bus that takes next to no time.
pub(crate) fn buffered(keys: &str) -> Drive {
    drive(&format!("{FAST_BUS}\nwrite_policy.write-back = {{ {keys} }}"))
}

/// Numbers that look random, the same ones every time.
pub(crate) fn scatter(seed: u64) -> impl Iterator<Item = u64> {
    (seed..).map(|i| {
        let mut x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    })
}

/// Mean time of a buffered random write of one sector, one after the other, with room for `runs` of them, of which the
/// nearest are compared, and those within so many cylinders.
fn steady_ms(seed: u64, runs: u64, (nearest, within): (u64, Option<u32>)) -> f64 {
    let within =
        within.map_or(String::new(), |cylinders| format!(", compared_within_cylinders = {cylinders}"));
    let mut drive = buffered(&format!(
        "size_kib = {}, runs_compared = {nearest}{within}, age_limit_ms = 60000.0",
        runs as f64 / 2.0
    ));
    let bus = drive.model().bus();
    let (mut now, mut background) = (Nanos::ZERO, Vec::new());
    let (fill, count) = (2 * runs, 3000);
    let mut from = Nanos::ZERO;
    for (id, x) in (0..fill + count).zip(scatter(seed)) {
        if id == fill {
            from = now;
        }
        now = drive.serve(now, command(id, Op::Write, x % 40_000, 1), &bus, &mut background).finish;
    }
    (now - from).as_ms() / count as f64
}

/// The naive twin: among `runs` sectors at random places, of those that are compared, the one whose
/// seek and rotation take least, a new one in its stead. Cylinder and angle are drawn by themselves; nothing of the drive
/// is used but its seek times.
fn naive_ms(spec: &DriveSpec, seed: u64, runs: u64, (nearest, within): (u64, Option<u32>)) -> f64 {
    let mechanics = Mechanics::new(spec);
    let mut random = scatter(1_000_000 + seed);
    let mut draw = |below: u64| random.next().unwrap() % below;
    let mut place = || (draw(100) as u32, draw(4) as u32, draw(100) as f64 * 0.1);
    let mut waiting: Vec<_> = (0..runs).map(|_| place()).collect();
    let (mut now, mut arm, count) = (0.0, (0, 0), 3000);
    for _ in 0..count {
        let ends = |&(cylinder, head, angle): &(u32, u32, f64)| {
            let ready = now + mechanics.reposition(arm, (cylinder, head), Op::Write).as_ms();
            ready + (angle - ready).rem_euclid(10.0) + 0.1
        };
        let mut near: Vec<usize> = (0..waiting.len()).collect();
        near.sort_by_key(|&index| waiting[index].0.abs_diff(arm.0));
        let beyond = within.map_or(0, |cylinders| {
            near.partition_point(|&index| waiting[index].0.abs_diff(arm.0) <= cylinders)
        });
        near.truncate(beyond.max(nearest as usize));
        near.sort_unstable();
        let best = near.into_iter().min_by(|&a, &b| ends(&waiting[a]).total_cmp(&ends(&waiting[b]))).unwrap();
        let (cylinder, head, _) = waiting[best];
        now = ends(&waiting[best]);
        arm = (cylinder, head);
        waiting[best] = place();
    }
    now / f64::from(count)
}

#[test]
fn random_writes_come_as_fast_as_the_best_of_those_buffered() {
    let spec = plain(FAST_BUS);
    for compared in [(4, None), (1000, None), (1, Some(5)), (3, Some(2))] {
        let mut before = f64::MAX;
        for runs in [8, 32, 128] {
            let mean =
                |one: &dyn Fn(u64) -> f64| (0..4).map(|seed| one(100_000 * seed + 1)).sum::<f64>() / 4.0;
            let ours = mean(&|seed| steady_ms(seed, runs, compared));
            let naive = mean(&|seed| naive_ms(&spec, seed, runs, compared));
            let case = format!("{compared:?} of {runs} buffered: {ours} ms");
            assert!((ours / naive - 1.0).abs() < 0.04, "{case}, the twin {naive} ms");
            assert!(ours < before, "{case}, no faster than with less, {before} ms");
            before = ours;
        }
    }
}

#[test]
fn the_next_piece_is_near_the_arm_and_not_near_the_last_command() {
    // The read leaves the arm over cylinder 90; the last command is a write at cylinder 0.
    let mut drive = buffered("size_kib = 1000.0, idle_before_destage_ms = 100.0");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 36_000, 1));
    for (id, lba) in [(1, 36_450), (2, 0)] {
        drive.serve(ms(50.0), command(id, Op::Write, lba, 1), &bus, &mut background);
    }
    drive.drain(&mut background);
    assert_eq!(background.iter().map(|work| work.lba.0).collect::<Vec<_>>(), [36_450, 0]);
}

#[test]
fn a_run_is_streamed_and_overwritten_data_go_once() {
    let mut drive = buffered("size_kib = 4000.0, idle_before_destage_ms = 5.0");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    // A read, so that the drive holds back; then six pieces of a run, in any order, one of them twice.
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    let at = ms(20.0);
    serve(&mut drive, at, command(1, Op::Read, 20_000, 1));
    for (id, piece) in (2..).zip([3, 0, 5, 1, 1, 4, 2]) {
        let outcome = drive.serve(at, command(id, Op::Write, 3000 + piece * 500, 500), &bus, &mut background);
        assert_eq!(outcome.cache, CacheResult::ReportedEarly);
    }
    assert!(background.is_empty(), "{background:?}");
    drive.drain(&mut background);
    let sectors: u32 = background.iter().map(|work| work.sectors).sum();
    assert_eq!((sectors, background[0].lba.0), (3000, 3000));
    for pair in background.windows(2) {
        assert_eq!(
            (pair[1].start, pair[1].lba.0),
            (pair[0].finish, pair[0].lba.0 + u64::from(pair[0].sectors))
        );
    }
    // 30 tracks of 10 ms, and a skew of 1 ms (2 ms at a change of cylinder) between them: no revolution is lost.
    let last = background.last().unwrap();
    let first_sector = background[0].start + background[0].busy.seek + background[0].busy.rotation;
    let took = (last.finish - background[0].start).as_ms();
    assert!(took < 30.0 * 10.0 + 29.0 * 2.0 + 25.0, "{took} ms, {first_sector:?}");
}

/// What a read waits for besides itself: no more than the piece that was under way, or one that goes before it.
fn waits_for_one_piece(other: Nanos, background: &[Background]) {
    let longest = background.iter().map(|work| work.finish - work.start).fold(Nanos::ZERO, Nanos::max);
    assert!(other <= longest, "a read waited for {other:?}, a piece took {longest:?}");
}

#[test]
fn a_read_waits_for_one_piece_however_full_the_buffer_is() {
    for marks in ["high_water_percent = 80.0, low_water_percent = 10.0", "high_water_percent = 100.0"] {
        let mut drive = buffered(&format!("size_kib = 200.0, {marks}"));
        let bus = drive.model().bus();
        let (mut now, mut background) = (Nanos::ZERO, Vec::new());
        for (id, x) in (0..3000).zip(scatter(7)) {
            let op = if id % 100 == 99 { Op::Read } else { Op::Write };
            let outcome = drive.serve(now, command(id, op, x % 39_000, 1), &bus, &mut background);
            now = outcome.finish;
            if op == Op::Read && outcome.cache == CacheResult::Miss {
                waits_for_one_piece(outcome.phases.other, &background);
            }
        }
    }
}

#[test]
fn a_read_over_buffered_sectors_does_not_wait_for_them() {
    let mut drive = buffered("size_kib = 1000.0, idle_before_destage_ms = 1000.0");
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    serve(&mut drive, ms(50.0), command(1, Op::Write, 5000, 400));
    // Half of it is in the buffer: the media give the rest, and what is buffered is laid over it.
    let read = serve(&mut drive, ms(60.0), command(2, Op::Read, 4900, 200));
    assert_eq!((read.cache, read.phases.other), (CacheResult::Miss, Nanos::ZERO));
    // All of it is.
    assert_eq!(serve(&mut drive, ms(100.0), command(3, Op::Read, 5000, 400)).cache, CacheResult::Hit);
}

#[test]
fn the_arm_works_while_the_bus_and_the_buffer_do() {
    // Sequential writes: the media are the slower side, and lose nothing but what the buffer holds at the end.
    let mut drive = buffered("size_kib = 500.0");
    let bus = drive.model().bus();
    let (mut now, mut background) = (Nanos::ZERO, Vec::new());
    for id in 0..300 {
        now = drive.serve(now, command(id, Op::Write, id * 128, 128), &bus, &mut background).finish;
    }
    let write = now.as_ms() / (300.0 * 128.0 - 1000.0);
    let mut reads = drive_with_read_ahead();
    let mut end = Nanos::ZERO;
    for id in 0..300 {
        end = serve(&mut reads, end, command(id, Op::Read, id * 128, 128)).finish;
    }
    let read = end.as_ms() / (300.0 * 128.0);
    assert!(write < read / 0.95, "{write} ms a sector written, {read} ms read");
}

fn drive_with_read_ahead() -> Drive {
    drive(&format!(
        "{FAST_BUS}\ncache = {{ segments = 2, segment_kib = 500.0, read_ahead = \"aggressive\" }}"
    ))
}

#[test]
fn what_waited_too_long_has_its_turn() {
    // Writes at cylinder 0, always some, and one far away.
    let run = |limit_ms: f64| {
        let mut drive = buffered(&format!("size_kib = 10.0, age_limit_ms = {limit_ms}"));
        let bus = drive.model().bus();
        let (mut now, mut background) = (Nanos::ZERO, Vec::new());
        now = drive.serve(now, command(0, Op::Write, 0, 1), &bus, &mut background).finish;
        now = drive.serve(now, command(1, Op::Write, 39_000, 1), &bus, &mut background).finish;
        for (id, x) in (2..2000).zip(scatter(3)) {
            now = drive.serve(now, command(id, Op::Write, x % 400, 1), &bus, &mut background).finish;
        }
        background.iter().find(|work| work.lba.0 == 39_000).map(|work| work.start)
    };
    assert_eq!(run(60_000.0), None, "the far one is never the nearest");
    let start = run(1000.0).expect("it was too old");
    // Sixty-four pieces of at most a revolution and a short seek each.
    assert!((ms(1000.0)..ms(1000.0 + 64.0 * 15.0)).contains(&start), "{start:?}");
}

/// Reads that always want the arm, two or more at a time, from 20 buffered writes on; until `until`.
fn writes_under_reads(scheduler: &str, until: Nanos) -> Vec<Background> {
    let extra = format!(
        "{FAST_BUS}\ncontroller = {{ queue_depth = 32, scheduler = \"{scheduler}\" }}\n\
         write_policy.write-back = {{ size_kib = 100.0, age_limit_ms = 1000.0, idle_before_destage_ms = 10.0 }}"
    );
    let mut drive = drive(&extra);
    let bus = drive.model().bus();
    let writes = (0..20).map(|id| (Nanos(id), command(id, Op::Write, 1000 + 1900 * id, 1)));
    let reads = (20..)
        .zip(scatter(5))
        .map(|(id, x)| (ms(5.0 * (id - 19) as f64), command(id, Op::Read, x % 40_000, 1)))
        .take_while(|&(at, _)| at < until);
    let arrivals: Vec<_> = writes.chain(reads).collect();
    run_events(&mut drive, &bus, &arrivals).1
}

#[test]
fn what_waited_too_long_goes_beside_reads_that_never_leave_the_arm_free() {
    for scheduler in ["fcfs", "sptf", "satf", "aspctf(0.03)", "ncq"] {
        let background = writes_under_reads(scheduler, ms(6000.0));
        let start = |work: &Background| work.start;
        let last = background.iter().map(start).max().unwrap();
        assert_eq!(background.len(), 20, "{scheduler}");
        // One a piece of at most 25 ms, and nine times as long for reads.
        assert!(last < ms(1000.0 + 20.0 * 250.0), "{scheduler}: {last:?}");
        assert!(background.iter().map(start).min() >= Some(ms(1000.0)), "{scheduler}");
    }
}

/// A drive that reads ahead, orders its queue so, and holds writes back.
fn reading_ahead(scheduler: &str, write_back: &str) -> Drive {
    drive(&format!(
        "{FAST_BUS}\ncontroller = {{ queue_depth = 32, scheduler = \"{scheduler}\" }}\n\
         cache = {{ segments = 4, segment_kib = 500.0, read_ahead = \"aggressive\", partial_hit = \"serve\" }}\n\
         write_policy.write-back = {{ {write_back} }}"
    ))
}

/// Of a stream of reads one always waits, so that the arm is free at no instant, and none needs it: read-ahead is there before.
#[test]
fn what_waited_too_long_goes_beside_a_stream_of_reads() {
    for scheduler in ["fcfs", "aspctf(0.03)", "ncq"] {
        let mut drive = reading_ahead(
            scheduler,
            "size_kib = 100.0, age_limit_ms = 1000.0, idle_before_destage_ms = 10.0",
        );
        let bus = drive.model().bus();
        let writes = (0..20).map(|id| (Nanos(id), command(id, Op::Write, 39_050 - 1900 * id, 1)));
        let reads = (20..620)
            .map(|id| (ms(9.0 * (id - 19) as f64), command(id, Op::Read, (id - 20) * 100 % 40_000, 100)));
        let arrivals: Vec<_> = writes.chain(reads).collect();
        let (done, background) = run_events(&mut drive, &bus, &arrivals);
        let start = |work: &Background| work.start;
        let last = background.iter().map(start).max().unwrap();
        assert_eq!(background.len(), 20, "{scheduler}");
        assert!(last < ms(1000.0 + 20.0 * 350.0), "{scheduler}: {last:?}");
        assert!(background.iter().map(start).min() >= Some(ms(1000.0)), "{scheduler}");
        have_a_tenth_of_the_time(scheduler, &background);
        // 600 tracks of 10 ms and a skew of at most 2 ms; for the pieces a tenth of the time, and the way back from each.
        let end = done.iter().map(|outcome| outcome.finish).max().unwrap();
        assert!(end < ms(600.0 * 12.0 + 20.0 * 60.0), "{scheduler}: {end:?}");
    }
}

/// A cache above its high-water mark takes its share between runs of reads, and not before each read of one: back and forth it would cost
/// each of them two long seeks.
#[test]
fn a_run_of_waiting_reads_is_not_broken_off_for_a_full_cache() {
    for scheduler in ["aspctf(0.03)", "ncq"] {
        let mut drive = reading_ahead(
            scheduler,
            "size_kib = 200.0, high_water_percent = 50.0, low_water_percent = 10.0, idle_before_destage_ms = 10.0",
        );
        let bus = drive.model().bus();
        let first = [(Nanos::ZERO, command(0, Op::Read, 500, 1))];
        let writes = (1..40).map(|id| (Nanos(id), command(id, Op::Write, 39_900 - 200 * id, 8)));
        let reads = (40..60).map(|id| (ms(1.0), command(id, Op::Read, 1000 + (id - 40) * 100, 100)));
        let arrivals: Vec<_> = first.into_iter().chain(writes).chain(reads).collect();
        let (done, background) = run_events(&mut drive, &bus, &arrivals);
        let run: Vec<Nanos> = done.iter().filter(|done| done.id >= 40).map(|done| done.finish).collect();
        let (from, to) = (run.iter().min().unwrap(), run.iter().max().unwrap());
        let within = background.iter().filter(|work| (*from..*to).contains(&work.start)).count();
        // `ncq`, which puts choices off, has one piece within.
        let most = usize::from(scheduler == "ncq");
        assert!(run.len() == 20 && within <= most, "{scheduler}: {within} of {background:?}");
    }
}

/// The arm has left a run of reads because a write had no room: it goes on with the run of buffered writes that it has begun.
#[test]
fn the_arm_that_has_left_waiting_reads_writes_more_than_one_piece() {
    let mut drive = reading_ahead(
        "aspctf(0.03)",
        "size_kib = 4000.0, high_water_percent = 50.0, low_water_percent = 10.0, idle_before_destage_ms = 10.0",
    );
    let bus = drive.model().bus();
    let first = [(Nanos::ZERO, command(0, Op::Read, 500, 1))];
    let writes = (1..5).map(|id| (Nanos(id), command(id, Op::Write, 30_000 + 2000 * (id - 1), 2000)));
    let flags = RequestFlags::HEAD_OF_QUEUE;
    let full = [(ms(9.0), Command { flags, ..command(5, Op::Write, 38_000, 1000) })];
    let reads = (6..16).map(|id| (ms(8.0), command(id, Op::Read, 1000 + (id - 6) * 100, 100)));
    let arrivals: Vec<_> = first.into_iter().chain(writes).chain(reads).chain(full).collect();
    let (_, background) = run_events(&mut drive, &bus, &arrivals);
    let in_turn = background.windows(2).take_while(|pair| pair[0].finish == pair[1].start).count() + 1;
    assert_eq!((in_turn, background[0].lba.0), (4, 30_000), "{background:?}");
}

/// Between the beginnings of two pieces lies ten times what the first took.
fn have_a_tenth_of_the_time(case: &str, background: &[Background]) {
    let mut pieces: Vec<_> = background.iter().map(|work| (work.start, work.finish)).collect();
    pieces.sort_unstable();
    assert!(pieces.len() > 10, "{case}: {}", pieces.len());
    for pair in pieces.windows(2) {
        let (took, apart) = (pair[0].1 - pair[0].0, pair[1].0 - pair[0].0);
        assert!(apart >= Nanos(10 * took.0), "{case}: {took:?} of {apart:?}");
    }
}

#[test]
fn what_waited_too_long_leaves_reads_nine_tenths_of_the_arms_time() {
    for scheduler in ["fcfs", "sptf", "ncq"] {
        have_a_tenth_of_the_time(scheduler, &writes_under_reads(scheduler, ms(6000.0)));
    }
    // One at a time, between which the arm is free for an instant; a cache that is never filled.
    let mut drive = buffered("size_kib = 4000.0, age_limit_ms = 1000.0, idle_before_destage_ms = 10.0");
    let bus = drive.model().bus();
    let (mut now, mut background) = (Nanos::ZERO, Vec::new());
    for (id, x) in (0..600).zip(scatter(7)) {
        let op = if id % 2 == 0 { Op::Read } else { Op::Write };
        now = drive.serve(now, command(id, op, x % 39_000, 1), &bus, &mut background).finish;
    }
    have_a_tenth_of_the_time("one at a time", &background);
}

#[test]
fn the_cache_keeps_track_of_so_many_runs() {
    let mut drive = buffered("size_kib = 1000.0, runs = 4");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    let waits: Vec<bool> = [100, 300, 500, 700, 900, 901]
        .into_iter()
        .zip(0..)
        .map(|(lba, id)| {
            let outcome = drive.serve(Nanos(id), command(id, Op::Write, lba * 10, 10), &bus, &mut background);
            outcome.phases.other > Nanos::ZERO
        })
        .collect();
    // The fifth is one too many, the sixth goes on where the fifth ended.
    assert_eq!(waits, [false, false, false, false, true, false]);
}

proptest! {
    /// What was acknowledged and is not on the media is known at every instant: the naive twin keeps a set of sectors.
    #[test]
    fn what_would_be_lost_with_the_power_is_known(
        rows in prop::collection::vec((0_u64..30_000_000, any::<bool>(), 0_u64..300, 1_u32..9), 1..40),
        probe in 0_u64..60_000_000,
    ) {
        let mut drive = buffered("size_kib = 20.0, idle_before_destage_ms = 3.0");
        let bus = drive.model().bus();
        let (mut now, mut background, mut acknowledged) = (Nanos::ZERO, Vec::new(), Vec::new());
        for (id, &(gap, reads, lba, sectors)) in (0..).zip(&rows) {
            now += Nanos(gap);
            let (op, lba) = (if reads { Op::Read } else { Op::Write }, lba * 130);
            let outcome = drive.serve(now, command(id, op, lba, sectors), &bus, &mut background);
            now = outcome.finish;
            if op == Op::Write {
                acknowledged.push((outcome.finish, lba, lba + u64::from(sectors)));
            }
        }
        now += Nanos(probe);
        let volatile = drive.volatile(now);
        drive.drain(&mut background);
        let lost = |sector: u64| {
            let written = acknowledged.iter().rev().find(|(_, start, end)| (*start..*end).contains(&sector))?.0;
            let on_media = background.iter().filter(|work| work.work == Work::Destage).find(|work| {
                work.start + Nanos(1) >= written && (work.lba.0..work.lba.0 + u64::from(work.sectors)).contains(&sector)
            })?;
            Some(on_media.finish > now)
        };
        for sector in acknowledged.iter().flat_map(|(_, start, end)| *start..*end) {
            let held = volatile.iter().any(|(start, end)| (*start..*end).contains(&sector));
            prop_assert_eq!(Some(held), lost(sector), "sector {} at {:?}: {:?}", sector, now, volatile);
        }
    }
}

#[test]
fn a_queue_that_goes_by_position_knows_where_destage_left_the_arm() {
    let extra = format!(
        "{FAST_BUS}\ncontroller = {{ queue_depth = 8, scheduler = \"sptf\", hit_overhead_ms = 40.0 }}\n\
         write_policy.write-back = {{ size_kib = 100.0 }}"
    );
    let mut drive = Drive::new(Arc::new(DriveModel::new(&plain(&extra)).unwrap()), 1);
    let bus = drive.model().bus();
    let arrivals = [
        (Nanos::ZERO, command(0, Op::Read, 20_000, 1)),
        (ms(50.0), command(1, Op::Write, 39_000, 1)),
        // In the buffer: the controller is busy until 90 ms, and the arm goes to the far end.
        (ms(50.1), command(2, Op::Read, 39_000, 1)),
        (ms(60.0), command(3, Op::Read, 20_000, 1)),
        (ms(61.0), command(4, Op::Read, 39_100, 1)),
    ];
    let (done, background) = run_events(&mut drive, &bus, &arrivals);
    assert!(background[0].finish < ms(90.0));
    assert_eq!(done.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), [0, 1, 2, 4, 3]);
}

/// A drive whose cached writes are kept without power, and its bus.
fn keeping(policy: &str) -> (Drive, headstack_drive::command::BusTiming) {
    let drive = drive(&format!("{FAST_BUS}\nbuffer.size_kib = 1000.0\n{policy}"));
    let bus = drive.model().bus();
    (drive, bus)
}

#[test]
fn a_record_is_in_the_log_after_a_move_to_the_nearest_reserved_track_and_at_most_one_sector_more() {
    // Two places: in the middle of each half, on cylinders 25 and 75. The move is the drive's own.
    let (mut drive, bus) = keeping(
        "write_policy.media-cache = { size_kib = 100.0, places = 2, idle_before_cleaning_ms = 50.0 }",
    );
    let mechanics = Mechanics::new(drive.model().spec());
    let mut background = Vec::new();
    let read = serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 36_000, 1));
    let first = drive.serve(read.finish, command(1, Op::Write, 100, 3), &bus, &mut background);
    let place = drive.model().layout.locate(30_000);
    let from = drive.model().layout.locate(36_000);
    let seek = mechanics.reposition((from.cylinder, from.head), (place.cylinder, place.head), Op::Write);
    assert_eq!((first.phases.seek, first.phases.transfer), (seek, ms(0.3)));
    assert!(first.phases.rotation <= ms(0.1), "{:?}", first.phases);
    // The next ones stay there, whatever their addresses.
    let second = drive.serve(first.finish, command(2, Op::Write, 39_000, 1), &bus, &mut background);
    assert!(second.phases.seek + second.phases.rotation <= ms(0.1), "{:?}", second.phases);
    assert!(background.is_empty() && drive.volatile(second.finish).is_empty());
    // There is nothing for a flush to wait for, nor for a write that is forced to the media.
    let flush = drive.serve(second.finish, Command::flush(3), &bus, &mut background);
    assert_eq!((flush.finish, flush.phases.other), (second.finish, Nanos::ZERO));
    let forced = Command { flags: RequestFlags::FORCE_MEDIA, ..command(4, Op::Write, 20_000, 1) };
    let forced = drive.serve(flush.finish, forced, &bus, &mut background);
    assert!(forced.phases.total() < ms(0.3) && forced.cache == CacheResult::ReportedEarly, "{forced:?}");
    // When the drive is idle, each goes to its place.
    drive.volatile(forced.finish + ms(49.0));
    drive.serve(forced.finish + ms(200.0), Command::flush(5), &bus, &mut background);
    let mut places: Vec<u64> = background.iter().map(|work| work.lba.0).collect();
    places.sort_unstable();
    assert_eq!(places, [100, 20_000, 39_000]);
    assert!(background.iter().all(|work| work.start >= forced.finish + ms(50.0)), "{background:?}");
}

#[test]
fn a_full_log_is_cleaned_so_many_at_a_time() {
    let (mut drive, bus) = keeping(
        "write_policy.media-cache = { size_kib = 10.0, cleaned_at_a_time = 8, idle_before_cleaning_ms = 1000.0, largest_write_kib = 2.0 }",
    );
    let (mut now, mut background, mut waits) = (Nanos::ZERO, Vec::new(), Vec::new());
    for (id, x) in (0..60).zip(scatter(9)) {
        let outcome = drive.serve(now, command(id, Op::Write, x % 39_000, 1), &bus, &mut background);
        now = outcome.finish;
        waits.push((id, outcome.phases.other > ms(1.0)));
    }
    let stalled: Vec<u64> = waits.into_iter().filter(|(_, waited)| *waited).map(|(id, _)| id).collect();
    assert_eq!(stalled, [20, 28, 36, 44, 52]);
    // Larger writes go to their place at once.
    let large = drive.serve(now, command(60, Op::Write, 10_000, 5), &bus, &mut background);
    assert_eq!(large.cache, CacheResult::Miss);
}

#[test]
fn a_record_is_made_of_physical_sectors() {
    let (mut drive, bus) =
        keeping("physical_sector_bytes = 4096\nwrite_policy.media-cache = { size_kib = 100.0, places = 1 }");
    let mut background = Vec::new();
    let outcome = drive.serve(ms(1.23), command(0, Op::Write, 1003, 1), &bus, &mut background);
    // The other seven sectors need not be read: it is the record that has whole physical sectors.
    assert_eq!(outcome.phases.transfer, ms(0.8));
    // The arm sets out for cylinder 50 at 1.231 ms and lands at 8.131; the next of them begins at 8.8 ms.
    assert_eq!(outcome.phases.seek, ms(6.9));
    assert!(outcome.phases.rotation.0.abs_diff(669_000) <= 1, "{:?}", outcome.phases);
}

#[test]
fn flash_takes_what_it_says_and_loses_nothing() {
    let (mut drive, bus) = keeping(
        "write_policy.flash-cache = { size_kib = 100.0, write_latency_ms = 0.2, write_mb_per_s = 5.12, idle_before_destage_ms = 1000.0 }",
    );
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    let outcome = drive.serve(ms(30.0), command(1, Op::Write, 100, 2), &bus, &mut background);
    // 0.2 ms, and 1,024 bytes at 5.12 MB/s.
    assert_eq!((outcome.phases.other, outcome.phases.seek), (ms(0.4), Nanos::ZERO));
    assert!(drive.volatile(outcome.finish).is_empty());
    assert_eq!(serve(&mut drive, outcome.finish, command(2, Op::Read, 100, 2)).cache, CacheResult::Hit);
    drive.drain(&mut background);
    assert_eq!(background.last().map(|work| (work.lba.0, work.sectors)), Some((100, 2)));
}

#[test]
fn what_a_cache_holds_must_fit_into_the_buffer() {
    for policy in ["media-cache", "flash-cache"] {
        let text = crate::common::plain_text("buffer.size_kib = 50.0");
        let policies = [("write_policy".to_owned(), format!("{{ {policy} = {{ size_kib = 100.0 }} }}"))];
        let error = DriveSpec::from_toml_with("any", &text, &policies).unwrap_err().to_string();
        let wanted =
            format!("`write_policy.{policy}.size_kib`: 100 KiB are more than the buffer has, 50 KiB");
        assert!(error.contains(&wanted), "{error}");
    }
}

#[test]
fn a_log_must_fit_on_the_drive() {
    let text = crate::common::plain_text("buffer.size_kib = 40000.0");
    let of = |size: &str| {
        let policy = format!("{{ media-cache = {{ size_kib = {size} }} }}");
        DriveSpec::from_toml_with("any", &text, &[("write_policy".to_owned(), policy)])
    };
    // 40,000 sectors.
    assert!(of("20000.0").is_ok());
    let error = of("20001.0").unwrap_err().to_string();
    let wanted =
        "`write_policy.media-cache.size_kib`: 20001 KiB of log are more than the drive has, 20000 KiB";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn what_is_discarded_does_not_go_to_the_media() {
    let mut drive = buffered("size_kib = 1000.0, idle_before_destage_ms = 1000.0");
    let bus = drive.model().bus();
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    drive.serve(ms(50.0), command(1, Op::Write, 5000, 400), &bus, &mut background);
    let discard = Command { flags: RequestFlags::DISCARD, ..command(2, Op::Write, 5100, 10_000) };
    let outcome = drive.serve(ms(60.0), discard, &bus, &mut background);
    assert_eq!((outcome.phases.total(), outcome.bus_transfers), (outcome.phases.overhead, 0));
    assert_eq!(drive.volatile(outcome.finish), [(5000, 5100)]);
    drive.drain(&mut background);
    assert_eq!(background.iter().map(|work| (work.lba.0, work.sectors)).collect::<Vec<_>>(), [(5000, 100)]);
    // What was discarded is not in the buffer either.
    assert_eq!(serve(&mut drive, ms(200.0), command(3, Op::Read, 5200, 1)).cache, CacheResult::Miss);
}

#[test]
fn a_discard_takes_the_overhead_of_a_write() {
    let mut drive = drive("controller = { write_overhead_ms = 0.5, write_completion_ms = 0.2 }");
    let discard = Command { flags: RequestFlags::DISCARD, ..command(0, Op::Write, 100, 10) };
    let outcome = serve(&mut drive, ms(1.0), discard);
    assert_eq!(
        (outcome.finish, outcome.phases.overhead, outcome.phases.total()),
        (ms(1.7), ms(0.7), ms(0.7))
    );
}

#[test]
fn write_same_sends_one_sector_and_writes_all() {
    // The bus takes 1 ms a sector, the media 0.1 ms.
    let slow = "bus = { read_mb_per_s = 0.512, write_mb_per_s = 0.512 }";
    for policy in [
        "",
        "buffer.size_kib = 16.0",
        "write_policy.write-back = { size_kib = 1000.0 }",
        "write_policy.immediate-reporting = {}",
    ] {
        let mut drive = drive(&format!("{slow}\n{policy}"));
        let bus = drive.model().bus();
        let same = Command { flags: RequestFlags::WRITE_SAME, ..command(0, Op::Write, 0, 1000) };
        let outcome = drive.serve(Nanos::ZERO, same, &bus, &mut Vec::new());
        assert_eq!((outcome.cache, outcome.bus_data), (CacheResult::Miss, ms(1.0)), "{policy}");
        // A revolution for the sector to come in and come around, ten tracks, and the skews between them.
        let least = 10.0 * 10.0;
        let took = outcome.finish.as_ms();
        assert!((least..least + 10.0 + 9.0 * 3.0).contains(&took), "{policy}: {took} ms");
        assert!(drive.volatile(outcome.finish).is_empty());
    }
}

/// All 100 sectors are the one that came at 0.001 ms, so the buffer, which holds four, holds them. The head is on the track at
/// 0.101 ms and begins with sector 2.
#[test]
fn write_same_on_arrival_begins_in_the_middle_of_any_track() {
    let overhead = "controller = { write_overhead_ms = 0.101, write_data_after_ms = 0.0 }";
    let mut drive =
        drive(&format!("{FAST_BUS}\nbuffer = {{ size_kib = 2.0, write_on_arrival = true }}\n{overhead}"));
    let same = Command { flags: RequestFlags::WRITE_SAME, ..command(0, Op::Write, 0, 100) };
    let finish = serve(&mut drive, Nanos::ZERO, same).finish;
    assert!((finish.as_ms() - 10.2).abs() < 2e-5, "{finish}");
}

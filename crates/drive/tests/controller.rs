//! What the controller does with overheads by history, segments for writes, fences as shares and seeks that know their
//! direction: scenarios whose times follow by hand from the plain drive (10 ms a turn, 0.1 ms a sector, 2 ms a one-cylinder
//! seek and 0.1 ms more for each further cylinder, 1 µs a sector on the bus).

mod common;

use common::{FAST_BUS, command, drive, ms, serve};
use headstack_drive::command::{CacheResult, Outcome};
use headstack_units::{Nanos, Op};

fn close(time: Nanos, expected_ms: f64) {
    assert!((time.as_ms() - expected_ms).abs() < 0.001, "{time} instead of {expected_ms} ms");
}

fn service(outcome: &Outcome) -> Nanos {
    outcome.phases.total()
}

const HISTORY: &str = "controller.by_history = { read_hit_ms = [0.1, 0.2], read_miss_ms = [1.0, 2.0], \
                       write_hit_ms = [0.3, 0.4], write_miss_ms = [3.0, 4.0] }";

#[test]
fn overheads_follow_the_command_before() {
    let cache = "cache = { segments = 2, segment_kib = 16.0 }";
    let mut drive = drive(&format!("{HISTORY}\n{cache}\n{FAST_BUS}"));
    let overhead = |outcome: Outcome| outcome.phases.overhead;
    // The first command counts as after a read.
    close(overhead(serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 4))), 1.0);
    close(overhead(serve(&mut drive, ms(100.0), command(1, Op::Read, 0, 4))), 0.1);
    close(overhead(serve(&mut drive, ms(200.0), command(2, Op::Write, 8000, 4))), 3.0);
    close(overhead(serve(&mut drive, ms(300.0), command(3, Op::Read, 0, 4))), 0.2);
    close(overhead(serve(&mut drive, ms(400.0), command(4, Op::Write, 12_000, 4))), 3.0);
    close(overhead(serve(&mut drive, ms(500.0), command(5, Op::Write, 16_000, 4))), 4.0);
    // A write that continues the one before, and one on the track where the arm is.
    close(overhead(serve(&mut drive, ms(600.0), command(6, Op::Write, 16_004, 4))), 0.4);
    close(overhead(serve(&mut drive, ms(700.0), command(7, Op::Write, 16_050, 4))), 0.4);
    close(overhead(serve(&mut drive, ms(800.0), command(8, Op::Read, 20_000, 4))), 2.0);
}

#[test]
fn the_arm_moves_beside_the_rest_of_the_overhead() {
    let history = "controller.by_history = { read_hit_ms = [0.0, 0.0], read_miss_ms = [1.5, 1.5], \
                   write_hit_ms = [0.0, 0.0], write_miss_ms = [0.0, 0.0], read_seek_after_ms = [0.5, 0.5] }";
    let mut drive = drive(&format!("{history}\n{FAST_BUS}"));
    // One cylinder on: 2 ms of seek from 0.5 ms on; on track at 2.5 ms.
    let moved = serve(&mut drive, ms(0.0), command(0, Op::Read, 400, 1));
    close(moved.phases.overhead, 0.5);
    close(moved.phases.seek, 2.0);
    // Without a seek all of the overhead is waited for: the next sector but ten has passed at 1.5 ms.
    let begin = moved.finish;
    let stayed = serve(&mut drive, begin, command(1, Op::Read, 411, 1));
    close(stayed.phases.overhead, 1.5);
    close(service(&stayed), 11.101 - 0.001);
}

#[test]
fn a_hit_at_rest_takes_longer_than_one_in_a_stream() {
    let history = "controller.by_history = { read_hit_ms = [0.1, 0.1], read_hit_at_rest_ms = 0.4, \
                   read_miss_ms = [0.0, 0.0], write_hit_ms = [0.0, 0.0], write_miss_ms = [0.0, 0.0] }";
    let cache = "cache = { segments = 2, segment_kib = 32.0, read_ahead = \"until-full\" }";
    let mut drive = drive(&format!("{history}\n{cache}\n{FAST_BUS}"));
    let first = serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 4));
    // 60 more sectors are read ahead, for 6 ms.
    let streaming = serve(&mut drive, first.finish + ms(2.0), command(1, Op::Read, 4, 4));
    assert_eq!(streaming.cache, CacheResult::Hit);
    close(streaming.phases.overhead, 0.1);
    let jumped = serve(&mut drive, first.finish + ms(3.5), command(2, Op::Read, 20, 4));
    close(jumped.phases.overhead, 0.4);
    let at_rest = serve(&mut drive, first.finish + ms(50.0), command(3, Op::Read, 24, 4));
    close(at_rest.phases.overhead, 0.4);
}

#[test]
fn written_data_are_read_from_their_segment() {
    for (kept, hits) in [("dropped", false), ("shared", true), ("own-segment", true)] {
        let cache = format!("cache = {{ segments = 2, segment_kib = 16.0, written_data = \"{kept}\" }}");
        let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
        serve(&mut drive, ms(0.0), command(0, Op::Write, 1000, 8));
        serve(&mut drive, ms(100.0), command(1, Op::Write, 1008, 8));
        let read = serve(&mut drive, ms(200.0), command(2, Op::Read, 1000, 16));
        assert_eq!(read.cache == CacheResult::Hit, hits, "{kept}");
    }
}

#[test]
fn a_segment_of_their_own_keeps_writes_from_read_data() {
    for (kept, hits) in [("shared", false), ("own-segment", true)] {
        let cache = format!("cache = {{ segments = 2, segment_kib = 16.0, written_data = \"{kept}\" }}");
        let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
        serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 8));
        serve(&mut drive, ms(100.0), command(1, Op::Write, 4000, 8));
        serve(&mut drive, ms(200.0), command(2, Op::Write, 9000, 8));
        let again = serve(&mut drive, ms(300.0), command(3, Op::Read, 0, 8));
        assert_eq!(again.cache == CacheResult::Hit, hits, "{kept}");
    }
}

#[test]
fn only_so_many_writes_are_pending() {
    let policy = "write_policy.immediate-reporting = { pending_writes = 1 }";
    let mut drive = drive(&format!("{policy}\n{FAST_BUS}"));
    let first = serve(&mut drive, ms(0.0), command(0, Op::Write, 50, 1));
    assert_eq!(first.cache, CacheResult::ReportedEarly);
    close(service(&first), 0.001);
    // The first is on the media when sector 50 has passed, at 5.1 ms; the second is taken then.
    let second = serve(&mut drive, ms(1.0), command(1, Op::Write, 4000, 1));
    assert_eq!(second.cache, CacheResult::ReportedEarly);
    close(service(&second), 4.1 + 0.001);
    close(second.phases.other, 4.1);
    // A continuation joins the one before at once.
    let third = serve(&mut drive, ms(5.2), command(2, Op::Write, 4001, 1));
    close(service(&third), 0.001);
}

#[test]
fn fences_may_be_shares_of_the_request() {
    // 1 MB/s: 0.512 ms a sector. Half of ten sectors is in the buffer after 0.5 ms.
    let bus = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }";
    let read = format!("{bus}\nbuffer.read_fence_fraction = 0.5");
    let outcome = serve(&mut drive(&read), Nanos::ZERO, command(0, Op::Read, 0, 10));
    close(service(&outcome), 0.5 + 5.12);
    // All of a write first (5.12 ms), then 0.3 ms until the media may start; sector 60 comes at 6 ms.
    let write = format!("{bus}\nbuffer = {{ write_fence_fraction = 1.0, write_start_ms = 0.3 }}");
    let outcome = serve(&mut drive(&write), Nanos::ZERO, command(0, Op::Write, 60, 10));
    close(service(&outcome), 7.0);
    close(outcome.phases.overhead, 0.3);
    close(outcome.phases.rotation, 6.0 - 5.42);
}

#[test]
fn nothing_is_read_ahead_before_a_stream_is_known() {
    let cache = "cache = { segments = 2, segment_kib = 16.0, read_ahead = \"once-sequential\" }";
    let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
    serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 4));
    let second = serve(&mut drive, ms(51.0), command(1, Op::Read, 4, 4));
    assert_eq!(second.cache, CacheResult::Miss);
    let third = serve(&mut drive, ms(101.0), command(2, Op::Read, 8, 4));
    assert_eq!(third.cache, CacheResult::Hit);
}

#[test]
fn read_ahead_may_push_out_what_the_host_has() {
    for (over, again) in [(false, CacheResult::Hit), (true, CacheResult::Miss)] {
        let cache = format!(
            "cache = {{ segments = 1, segment_kib = 16.0, read_ahead = \"until-full\", \
             read_ahead_over_requested = {over} }}"
        );
        let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
        serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 4));
        let ahead = serve(&mut drive, ms(100.0), command(1, Op::Read, 28, 4));
        assert_eq!(ahead.cache, CacheResult::Hit, "32 sectors are held in either case");
        assert_eq!(serve(&mut drive, ms(200.0), command(2, Op::Read, 0, 4)).cache, again);
    }
}

#[test]
fn a_zero_latency_read_keeps_what_came_before_its_first_sector() {
    let cache = "cache = { segments = 1, segment_kib = 64.0, read_ahead = \"to-track-end\", zero_latency = true, \
                 whole_track = true }";
    let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
    // The head lands before sector 20 at 2 ms and waits for sector 60: everything from 20 to the track's end comes in.
    serve(&mut drive, ms(2.0), command(0, Op::Read, 60, 4));
    assert_eq!(serve(&mut drive, ms(100.0), command(1, Op::Read, 25, 4)).cache, CacheResult::Hit);
    assert_eq!(serve(&mut drive, ms(200.0), command(2, Op::Read, 96, 4)).cache, CacheResult::Hit);
    // And then from sector 0 to where it landed, complete at 12 ms.
    assert_eq!(serve(&mut drive, ms(300.0), command(3, Op::Read, 2, 4)).cache, CacheResult::Hit);
    let mut interrupted = common::drive(&format!("{cache}\n{FAST_BUS}"));
    serve(&mut interrupted, ms(2.0), command(0, Op::Read, 60, 4));
    assert_eq!(serve(&mut interrupted, ms(11.0), command(1, Op::Read, 2, 4)).cache, CacheResult::Miss);
}

#[test]
fn inward_seeks_take_longer_and_outward_ones_less() {
    let mut spec = common::plain(FAST_BUS);
    spec.mechanics.inward_seek_extra_ms = 0.5;
    spec.mechanics.write_settle_by_distance_ms = vec![[10.0, 0.0], [20.0, 2.0]];
    let model = std::sync::Arc::new(headstack_drive::DriveModel::new(&spec).unwrap());
    let mut drive = headstack_drive::Drive::new(model, 1);
    let at_cylinder = |cylinder: u64| cylinder * 400;
    let seek = |outcome: Outcome| outcome.phases.seek;
    close(seek(serve(&mut drive, ms(0.0), command(0, Op::Read, at_cylinder(11), 1))), 3.0 + 0.5);
    close(seek(serve(&mut drive, ms(100.0), command(1, Op::Read, at_cylinder(0), 1))), 3.0 - 0.5);
    // A write over 15 cylinders: half-way between the points of its settle.
    close(seek(serve(&mut drive, ms(200.0), command(2, Op::Write, at_cylinder(15), 1))), 3.4 + 0.5 + 1.0);
    close(seek(serve(&mut drive, ms(300.0), command(3, Op::Write, at_cylinder(60), 1))), 6.4 + 0.5 + 2.0);
    // A switch to the next cylinder within a transfer knows no direction: the skew of 2 ms hides it.
    let across = serve(&mut drive, ms(400.0), command(4, Op::Read, at_cylinder(61) - 1, 2));
    close(across.phases.transfer, 0.2);
    assert!(across.phases.total() < ms(25.0), "no revolution is lost at the cylinder's end: {across:?}");
}

#[test]
fn a_write_after_a_write_elsewhere_moves_the_arm_later() {
    let controller = "controller = { seek_after_ms = 0.6, write_after_write_seek_delay_ms = 0.25 }";
    let mut drive = drive(&format!("{controller}\n{FAST_BUS}"));
    let before_seek = |outcome: Outcome| outcome.phases.overhead;
    close(before_seek(serve(&mut drive, ms(0.0), command(0, Op::Write, 4000, 1))), 0.6);
    close(before_seek(serve(&mut drive, ms(100.0), command(1, Op::Write, 8000, 1))), 0.85);
    close(before_seek(serve(&mut drive, ms(200.0), command(2, Op::Read, 4000, 1))), 0.6);
    close(before_seek(serve(&mut drive, ms(300.0), command(3, Op::Write, 8000, 1))), 0.6);
}

#[test]
fn a_completion_says_which_sector_it_waited_for() {
    let slow = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }";
    // The bus is slower than the media: all hangs on the first sector.
    let read = serve(&mut drive(slow), Nanos::ZERO, command(0, Op::Read, 30, 10));
    let passed = read.passed.expect("a read from the media waits for a sector");
    assert_eq!(passed.lba.0, 30);
    close(passed.at, 3.1);
    // The media are slower: the last sector.
    let read = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Read, 30, 10));
    assert_eq!(read.passed.map(|passed| passed.lba.0), Some(39));
    let write = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Write, 30, 10));
    assert_eq!(write.passed.map(|passed| (passed.lba.0, passed.at)), Some((39, write.finish)));
    let early = "write_policy.immediate-reporting = {}";
    let write =
        serve(&mut drive(&format!("{early}\n{FAST_BUS}")), Nanos::ZERO, command(0, Op::Write, 30, 10));
    assert_eq!(write.passed, None);
}

#[test]
fn a_write_may_drop_the_segment_it_touches() {
    for (overlap, front) in [("keep-front", CacheResult::Hit), ("drop-segment", CacheResult::Miss)] {
        let cache = format!("cache = {{ segments = 2, segment_kib = 16.0, write_overlap = \"{overlap}\" }}");
        let mut drive = drive(&format!("{cache}\n{FAST_BUS}"));
        serve(&mut drive, ms(0.0), command(0, Op::Read, 0, 20));
        serve(&mut drive, ms(100.0), command(1, Op::Write, 10, 4));
        assert_eq!(serve(&mut drive, ms(200.0), command(2, Op::Read, 0, 8)).cache, front, "{overlap}");
    }
}

#[test]
fn a_write_may_begin_in_its_middle() {
    // One cylinder on, sector 0 lags half a turn. On track at 2.0 ms, the head is at the beginning of sector 70: 71 to 79
    // are written from 2.1 to 3.0 ms, 60 to 70 when they come, from 11.0 to 12.1 ms.
    for (on_arrival, finish) in [(false, 13.0), (true, 12.1)] {
        let mut drive = drive(&format!("buffer.write_on_arrival = {on_arrival}\n{FAST_BUS}"));
        let write = serve(&mut drive, ms(0.0), command(0, Op::Write, 460, 20));
        close(service(&write), finish);
        close(write.phases.transfer, 2.0);
        let last = write.passed.expect("a write to the media ends with a sector");
        assert_eq!(last.lba.0, if on_arrival { 470 } else { 479 });
    }
    // Data that are not all there yet are written in order: 0.512 ms a sector.
    let slow = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }\nbuffer.write_on_arrival = true";
    let write = serve(&mut drive(slow), ms(0.0), command(0, Op::Write, 460, 20));
    close(service(&write), 13.0);
}

#[test]
fn a_transfer_of_another_command_does_not_free_the_controller() {
    // A read lies in the buffer and waits for the bus; the next is larger than the buffer, and the controller waits with
    // it. When the first gets the bus, the last read must not begin: read-ahead that has not begun yet would serve it.
    let options = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 4.0, arbitration_us = 3.0 }\n\
                   buffer = { size_kib = 23.0, read_fence_at_track_end = true, write_overlaps_seek = false, \
                   read_fence_fraction = 0.5, write_start_ms = 0.2 }\n\
                   cache = { segments = 2, segment_kib = 4.0, read_ahead = \"to-track-end\" }\n\
                   controller = { read_overhead_ms = 0.3, write_overhead_ms = 0.7, overhead_beside_seek_ms = 0.1, \
                   read_completion_ms = 0.05 }";
    let commands = [
        (46_800_002, Op::Read, 3_000, 183),
        (0, Op::Write, 35_893, 2),
        (38_296_022, Op::Write, 0, 2),
        (46_751_076, Op::Write, 0, 2),
        (0, Op::Write, 0, 2),
        (9_032_939, Op::Read, 2_107, 88),
        (34_072_198, Op::Read, 424, 5),
        (54_488_892, Op::Write, 0, 2),
        (0, Op::Read, 4_550, 2),
        (13_272_176, Op::Read, 0, 51),
        (19_886_696, Op::Read, 51, 2),
    ];
    let mut at = Nanos::ZERO;
    let arrivals: Vec<_> = (0..)
        .zip(commands)
        .map(|(id, (gap, op, lba, sectors))| {
            at += Nanos(gap);
            (at, command(id, op, lba, sectors))
        })
        .collect();
    let mut drive = drive(options);
    let bus = drive.model().bus();
    let (outcomes, _) = common::run_events(&mut drive, &bus, &arrivals);
    assert_eq!(outcomes.len(), arrivals.len());
    for outcome in outcomes {
        assert_eq!(outcome.submitted, arrivals[outcome.id as usize].0, "{outcome:?}");
    }
}

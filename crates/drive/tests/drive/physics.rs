//! What the table of expectations cannot say: background records, and a drive whose completions are set from outside. 10 ms a
//! revolution, 0.1 ms a sector.

use crate::common::{FAST_BUS, command, drive, ms, run_events, serve};
use headstack_drive::command::{CacheResult, Command, Outcome, Work};
use headstack_drive::scheduler::{Knowledge, MODIFIERS, Policy, Queue};
use headstack_drive::{Drive, Rebase, Worked};
use headstack_units::{Angle, Lba, Nanos, Op, RequestFlags};

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

/// Of a command that the drive got when the run began.
fn given_first(model_finish: Nanos, measured_finish: Nanos) -> Rebase {
    Rebase { begun: Nanos::ZERO, model_finish, measured_finish }
}

#[test]
fn a_measured_finish_moves_everything_with_it() {
    let mut own = drive(FAST_BUS);
    let mut rebased = drive(FAST_BUS);
    let first = serve(&mut own, Nanos::ZERO, command(0, Op::Read, 77, 5));
    serve(&mut rebased, Nanos::ZERO, command(0, Op::Read, 77, 5));
    let measured = first.finish + ms(3.7);
    rebased.rebase(given_first(first.finish, measured));
    let a = serve(&mut own, first.finish + ms(1.0), command(1, Op::Write, 9000, 7));
    let b = serve(&mut rebased, measured + ms(1.0), command(1, Op::Write, 9000, 7));
    close(service(&a), service(&b).as_ms());
}

/// At 5 ms it has come to sector 50; then the disk turns out to be a tenth of a turn further.
#[test]
fn on_a_disk_found_further_on_more_has_been_read_ahead() {
    let cache = "cache = { segments = 1, segment_kib = 64.0, read_ahead = \"to-track-end\" }";
    let mut drive = drive(&format!("{FAST_BUS}\n{cache}"));
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 10));
    assert_eq!(serve(&mut drive, ms(5.0), command(1, Op::Read, 45, 1)).cache, CacheResult::Hit);
    drive.relock(ms(5.0), Angle::fraction(1, 10));
    assert_eq!(serve(&mut drive, ms(5.0), command(2, Op::Read, 55, 1)).cache, CacheResult::Hit);
}

/// Read-ahead began with sector 10, and was really under way 10.05 ms later: the sector had come just before, at 11 ms.
#[test]
fn read_ahead_found_later_goes_on_with_the_sectors_nearest_to_that() {
    let cache = "cache = { segments = 1, segment_kib = 64.0, read_ahead = \"to-track-end\" }";
    let mut drive = drive(&format!("{FAST_BUS}\n{cache}"));
    let first = serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 10));
    close(first.finish, 1.001);
    drive.rebase_on_clock(given_first(first.finish, first.finish + ms(10.05)));
    let (held, to_come) = (command(1, Op::Read, 55, 1), command(2, Op::Read, 56, 20));
    assert_eq!(serve(&mut drive, ms(16.65), held).cache, CacheResult::Hit);
    close(serve(&mut drive, ms(16.66), to_come).finish, 17.601);
}

/// A read that fails is tried again each time its sector comes around, here four times in the mean.
#[test]
fn a_read_that_fails_often_takes_as_many_revolutions() {
    let errors = "soft_errors = { read_probability = 1.0, write_probability = 0.0, mean_revolutions = 4.0 }";
    let mut drive = drive(&format!("{FAST_BUS}\n{errors}"));
    let more: Vec<f64> = (0..400)
        .map(|second| {
            let read = serve(&mut drive, ms(1000.0 * f64::from(second)), command(0, Op::Read, 10, 1));
            (read.phases.rotation.as_ms() - 1.0) / 10.0
        })
        .collect();
    assert!(more.iter().all(|more| *more > 0.5 && (more - more.round()).abs() < 1e-4), "{more:?}");
    // Three standard errors of a geometric law.
    let mean = more.iter().sum::<f64>() / 400.0;
    assert!((mean - 4.0).abs() < 3.0 * f64::sqrt(12.0 / 400.0), "{mean}");
}

/// Where the head was over the sector before the data were there, a write that failed was written as if it had not.
#[test]
fn a_write_that_waits_for_its_data_is_retried_as_any() {
    let errors = "soft_errors = { read_probability = 0.0, write_probability = 1.0, mean_revolutions = 1.0 }";
    let times = |extra: &str| {
        // A sector takes 1 ms over the bus.
        let mut drive = drive(&format!("bus = {{ read_mb_per_s = 0.512, write_mb_per_s = 0.512 }}\n{extra}"));
        let mut at = Nanos::ZERO;
        let serve_next = |lba: u64| {
            let before = at;
            at = serve(&mut drive, at, command(lba, Op::Write, lba, 1)).finish;
            at - before
        };
        [0, 1, 2, 3].map(serve_next)
    };
    let (failing, sound) = (times(errors), times(""));
    for (failing, sound) in failing.into_iter().zip(sound) {
        close(failing - sound, 10.0);
    }
    // The sector behind the last one comes in a revolution, long after its data.
    close(sound[1], 10.1);
}

/// What was written when the clock said 0.01 ms was really written at 50.01 ms, and is 100 ms old 100 ms later.
#[test]
fn what_waits_to_be_written_ages_from_when_it_was_really_taken() {
    let cache = "size_kib = 10.0, idle_before_destage_ms = 2000.0, age_limit_ms = 100.0";
    let mut drive = drive(&format!("{FAST_BUS}\nwrite_policy.write-back = {{ {cache} }}"));
    let (bus, mut background) = (drive.model().bus(), Vec::new());
    let write = drive.serve(Nanos::ZERO, command(0, Op::Write, 1000, 10), &bus, &mut background);
    close(write.finish, 0.01);
    drive.rebase(given_first(write.finish, ms(50.01)));
    drive.serve(ms(500.0), command(1, Op::Read, 0, 1), &bus, &mut background);
    assert_eq!(background.len(), 1);
    close(background[0].start, 150.01);
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

#[test]
fn a_scheduler_that_may_see_two_commands_holds_the_third_back() {
    let knowledge = Knowledge::Addresses { sectors: 1000, sector_bytes: 512 };
    let mut queue = Queue::new("fcfs".parse().unwrap(), knowledge, Some(2));
    let seen: Vec<u64> = (0..4)
        .map(|id| {
            queue.push(command(id, Op::Read, 8 * id, 8), Nanos(id));
            queue.held_back()
        })
        .collect();
    assert_eq!(seen, [0, 0, 1, 2]);
    assert_eq!(queue.len(), 4);
}

/// Of commands that continue each other, 8 KiB go to the drive in a row: 16 sectors.
#[test]
fn what_continues_the_last_command_goes_with_it_up_to_a_size() {
    let knowledge = Knowledge::Addresses { sectors: 1000, sector_bytes: 512 };
    let mut queue = Queue::new("fcfs+concatenate(8 KiB)".parse().unwrap(), knowledge, None);
    for (id, lba) in [(0, 100), (1, 500), (2, 108), (3, 116)] {
        queue.push(command(id, Op::Read, lba, 8), Nanos(id));
    }
    assert_eq!(queue.pop_follower(), None, "there is nothing to continue");
    assert_eq!(queue.pop(Nanos(9), &[], &[]).map(|taken| taken.waiting.command.id), Some(0));
    assert_eq!(queue.pop_follower().map(|waiting| waiting.command.id), Some(2));
    assert_eq!(queue.pop_follower(), None, "that would be 12 KiB");
    assert_eq!(queue.pop(Nanos(9), &[], &[]).map(|taken| taken.waiting.command.id), Some(1));
}

#[test]
fn flushes_are_not_joined() {
    let knowledge = Knowledge::Addresses { sectors: 1000, sector_bytes: 512 };
    let mut queue = Queue::new("fcfs+concatenate(8 KiB)".parse().unwrap(), knowledge, None);
    let flush = |id| Command { flags: RequestFlags::FLUSH, ..command(id, Op::Write, 0, 0) };
    queue.push(flush(0), Nanos(0));
    queue.push(flush(1), Nanos(1));
    assert_eq!(queue.pop(Nanos(9), &[], &[]).map(|taken| taken.waiting.command.id), Some(0));
    assert_eq!(queue.pop_follower(), None);
    assert_eq!(queue.len(), 1);
}

#[test]
fn first_come_first_served_with_a_modifier_is_another_order() {
    let policy = |text: &str| text.parse::<Policy>().unwrap();
    assert!(policy("fcfs").is_fcfs());
    assert!(!policy("sstf").is_fcfs());
    for (name, parameter, _) in MODIFIERS {
        let value = parameter.as_ref().map_or(String::new(), |parameter| format!("(5{})", parameter.unit));
        assert!(!policy(&format!("fcfs+{name}{value}")).is_fcfs(), "{name}");
    }
}

/// The bus takes a millisecond a sector, from 10 ms on, when the end of the first track has passed.
#[test]
fn a_read_that_waits_for_its_tracks_end_waits_for_the_last_sector_there() {
    let bus = "bus = { read_mb_per_s = 0.512, write_mb_per_s = 0.512 }";
    let fence = "buffer = { size_kib = 64.0, read_fence_kib = 64.0, read_fence_at_track_end = true }";
    let mut drive = drive(&format!("{bus}\n{fence}"));
    let read = serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 50, 100));
    let passed = read.passed.expect("a sector decides when it ends");
    assert_eq!((passed.lba, passed.at), (Lba(99), ms(10.0)));
    close(read.finish, 110.0);
}

/// A share of the read that the buffer never holds was waited for.
#[test]
fn a_read_larger_than_the_buffer_is_sent_when_that_is_full() {
    let bus = "bus = { read_mb_per_s = 0.512, write_mb_per_s = 0.512 }";
    let finish = |fence: &str| {
        let mut drive = drive(&format!("{bus}\nbuffer = {{ size_kib = 4.0, {fence} }}"));
        serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 10, 40)).finish
    };
    assert_eq!(finish("read_fence_fraction = 0.75"), finish("read_fence_kib = 4.0"));
}

#[test]
fn the_data_of_a_write_take_the_bus_wherever_they_go() {
    let slow = "bus = { read_mb_per_s = 512.0, write_mb_per_s = 0.512, arbitration_us = 100.0 }";
    for policy in ["write-through = {}", "immediate-reporting = {}", "write-back = { size_kib = 10.0 }"] {
        let mut drive = drive(&format!("{slow}\nwrite_policy.{policy}"));
        let write = serve(&mut drive, Nanos::ZERO, command(0, Op::Write, 50, 10));
        assert_eq!((write.bus_data, write.busy.bus), (ms(10.0), ms(10.1)), "{policy}");
    }
}

#[test]
fn a_drive_that_served_a_hit_is_at_rest_when_that_is_over() {
    let mut drive = drive(&format!("{FAST_BUS}\ncache = {{ segments = 1, segment_kib = 16.0 }}"));
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 1));
    let hit = serve(&mut drive, ms(100.0), command(1, Op::Read, 0, 1));
    assert_eq!(hit.cache, CacheResult::Hit);
    assert_eq!(drive.drain(&mut Vec::new()), ms(100.0));
}

#[test]
fn the_arms_time_is_told_by_what_it_worked_for() {
    let mut drive = drive(&format!("{FAST_BUS}\nwrite_policy.write-back = {{ size_kib = 10.0 }}"));
    let bus = drive.model().bus();
    let mut background = Vec::new();
    let read = drive.serve(Nanos::ZERO, command(0, Op::Read, 10, 1), &bus, &mut background);
    // From rest over sector 0 to the end of sector 10; the bus adds its sector.
    close(drive.busy_times().of(Work::Command), 1.1);
    drive.serve(read.finish, command(1, Op::Write, 1000, 10), &bus, &mut background);
    drive.serve(ms(1000.0), command(2, Op::Read, 1000, 1), &bus, &mut background);
    let destage = drive.busy_times().of(Work::Destage);
    assert_eq!(destage, background[0].finish - background[0].start);
    let times = Work::ALL.map(|work| drive.busy_times().of(work));
    assert_eq!(times.into_iter().fold(Nanos::ZERO, |sum, time| sum + time), drive.busy_times().total());
}

/// Two writes, and nobody comes: the host's recalibration finds both on the media.
#[test]
fn a_host_recalibrates_behind_what_the_drive_has_done_by_itself() {
    let policy = "write_policy.write-back = { size_kib = 10.0, idle_before_destage_ms = 10.0 }";
    let host = "recalibration = { mode = \"by-host\", interval_s = 2.0, duration_ms = 20.0 }";
    let mut drive = drive(&format!("{FAST_BUS}\n{policy}\n{host}"));
    let bus = drive.model().bus();
    let mut background = Vec::new();
    for (id, lba) in [(0, 1000), (1, 30_000)] {
        drive.serve(Nanos::ZERO, command(id, Op::Write, lba, 10), &bus, &mut background);
    }
    drive.recalibrate(ms(2000.0));
    drive.drain(&mut background);
    assert_eq!(background.len(), 2);
    assert!(background.iter().all(|row| row.finish < ms(100.0)), "{background:?}");
}

/// Sectors 10 to 19 pass from 1.0 to 2.0 ms, and the track goes on for 8 ms.
#[test]
fn a_read_of_what_is_being_read_ahead_works_for_its_own_sectors() {
    let cache = "cache = { segments = 1, segment_kib = 64.0, read_ahead = \"to-track-end\", partial_hit = \"serve\" }";
    let mut drive = drive(&format!("{FAST_BUS}\n{cache}"));
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 10));
    close(drive.busy_times().of(Work::Command), 1.0);
    let read = serve(&mut drive, ms(1.2), command(1, Op::Read, 10, 10));
    assert_eq!(read.cache, CacheResult::PartialHit);
    close(read.busy.transfer, 0.8);
    close(drive.busy_times().of(Work::Command), 1.8);
}

/// The seek is over long before the command is decoded; it was work.
#[test]
fn a_seek_beside_the_overhead_is_time_at_work() {
    for op in [Op::Read, Op::Write] {
        let extra = "controller = { read_overhead_ms = 30.0, write_overhead_ms = 30.0, overhead_beside_seek_ms = 30.0 }";
        let mut drive = drive(&format!("{FAST_BUS}\n{extra}"));
        let outcome = serve(&mut drive, Nanos::ZERO, command(0, op, 30_000, 10));
        let busy = outcome.busy;
        assert!(busy.seek > Nanos::ZERO && outcome.phases.seek == Nanos::ZERO, "{outcome:?}");
        assert_eq!(drive.busy_times().of(Work::Command), busy.seek + busy.rotation + busy.transfer, "{op:?}");
    }
}

/// Sectors 10 and 20 pass until 1.1 and 22.1 ms; the arm is there.
#[test]
fn work_is_counted_from_where_a_stretch_begins() {
    let mut drive = drive(FAST_BUS);
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 10, 1));
    let before = drive.busy_times();
    close(before.total(), 1.1);
    drive.begin_stretch();
    assert_eq!(drive.busy_times().total(), Nanos::ZERO);
    drive.keep_work();
    serve(&mut drive, ms(20.0), command(1, Op::Read, 20, 1));
    close(drive.busy_times().total(), 2.1);
    drive.add_busy_times(&before);
    close(drive.busy_times().of(Work::Command), 3.2);
    let work: Vec<Worked> = drive.take_work().collect();
    assert_eq!(work.len(), 1);
    close(work[0].from, 20.0);
    close(work[0].to, 22.1);
    assert_eq!(work[0].coil, Nanos::ZERO, "its watts are not known");
    assert_eq!(drive.take_work().count(), 0, "it has been told");
}

/// A host that recalibrates does so when the interval has passed, and counts the next one from there.
#[test]
fn a_host_recalibrates_when_it_is_time() {
    let text = |mode: &str| {
        format!("{FAST_BUS}\nrecalibration = {{ mode = \"{mode}\", interval_s = 1.0, duration_ms = 100.0 }}")
    };
    assert!(!drive(&text("by-drive")).wants_recalibration(ms(5_000.0)));
    let mut drive = drive(&text("by-host"));
    let due = |drive: &Drive, at: f64| drive.wants_recalibration(ms(at));
    assert_eq!((due(&drive, 999.9), due(&drive, 1_000.0)), (false, true));
    drive.recalibrate(ms(1_500.0));
    assert_eq!((due(&drive, 2_499.9), due(&drive, 2_500.0)), (false, true));
}

/// A stream of reads that are all served from what is being read ahead never asks for the arm; a recalibration does not wait for that.
#[test]
fn a_recalibration_is_not_put_off_by_reads_from_the_buffer() {
    let cache = "cache = { segments = 2, segment_kib = 500.0, read_ahead = \"aggressive\" }";
    let own = "recalibration = { mode = \"by-drive\", interval_s = 1.0, duration_ms = 500.0 }";
    let mut drive = drive(&format!("{FAST_BUS}\n{cache}\n{own}"));
    let (mut now, mut waits) = (Nanos::ZERO, Vec::new());
    for lba in 0.. {
        let outcome = serve(&mut drive, now, command(lba, Op::Read, lba, 1));
        if outcome.finish - now > ms(50.0) {
            waits.push((now.as_ms(), outcome.finish.as_ms()));
        }
        now = outcome.finish;
        if now > ms(1_900.0) {
            break;
        }
    }
    let [(asked, answered)] = waits.as_slice() else { panic!("{waits:?}") };
    // Due at 1 s, for half a second and the way back to the sector.
    assert!((990.0..1_010.0).contains(asked) && (1_500.0..1_520.0).contains(answered), "{waits:?}");
}

#[test]
fn a_spindle_that_drifts_turns_at_another_speed_each_second() {
    let mut drive = drive(&format!("{FAST_BUS}\nspindle = {{ drift_ppm = 500.0, drift_interval_s = 1.0 }}"));
    let periods: Vec<u64> = (0..20)
        .map(|second| {
            let first = serve(&mut drive, ms(1000.0 * f64::from(second) + 100.0), command(0, Op::Read, 0, 1));
            let again = serve(&mut drive, first.finish, command(1, Op::Read, 0, 1));
            (again.finish - first.finish).0
        })
        .collect();
    // 500 ppm of 10 ms are 5 µs.
    assert!(periods.iter().all(|period| period.abs_diff(10_000_000) <= 5_001), "{periods:?}");
    let different: std::collections::BTreeSet<&u64> = periods.iter().collect();
    assert!(different.len() > 10, "{periods:?}");
}

/// Read-ahead finds the last sector of the track when that passes the head, as a drive does that only waits for it: also
/// where the spindle has changed its speed meanwhile.
#[test]
fn read_ahead_keeps_pace_with_a_spindle_that_drifts() {
    let spindle = "spindle = { drift_ppm = 500.0, drift_interval_s = 0.02 }";
    let ahead = "cache = { segments = 2, segment_kib = 256.0, read_ahead = \"to-track-end\" }";
    for number in 0..40 {
        let found = ["", ahead].map(|cache| {
            let mut drive = drive(&format!("{FAST_BUS}\n{spindle}\n{cache}"));
            let first = serve(&mut drive, ms(37.3 * f64::from(number)), command(0, Op::Read, 0, 1));
            // Fifty sectors later; what has been read ahead by then is in the buffer.
            let first_lba = if cache.is_empty() { 99 } else { 1 };
            let rest = command(1, Op::Read, first_lba, 100 - first_lba as u32);
            serve(&mut drive, first.finish + ms(5.0), rest)
        });
        let [waits, reads_ahead] = found.map(|outcome| outcome.finish);
        assert!(waits.0.abs_diff(reads_ahead.0) <= 1, "{number}: {waits} and {reads_ahead}");
    }
}

/// Of three reads of a track the one that begins just as the drive turns to it costs no rotation, and goes first.
#[test]
fn a_sector_that_comes_at_this_very_moment_is_the_nearest() {
    let mut drive = drive(&format!("{FAST_BUS}\ncontroller = {{ scheduler = \"sptf\", queue_depth = 8 }}"));
    let bus = drive.model().bus();
    let read = |id, lba| (Nanos(id), command(id, Op::Read, lba, 1));
    let (outcomes, _) = run_events(&mut drive, &bus, &[read(0, 0), read(1, 60), read(2, 30), read(3, 1)]);
    assert_eq!(outcomes.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), [0, 3, 2, 1]);
    assert_eq!(outcomes[1].phases.rotation, Nanos::ZERO);
}

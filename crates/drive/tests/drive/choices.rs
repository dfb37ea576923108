//! What schedulers choose in cases worked out by hand.

use crate::common::{command, plain};
use headstack_drive::scheduler::{Knowledge, Queue, Target};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op};
use std::sync::Arc;

/// What a queue takes first at `now` of `reads`, which came in this order at 0 ms. Others have come since, to the last cylinder, so
/// many that the queue keeps all in order. `extra` are values of the drive, which rests over its first sector.
fn first_of_many(extra: &str, policy: &str, now: Nanos, reads: &[u64]) -> u64 {
    let model = Arc::new(DriveModel::new(&plain(extra)).unwrap());
    let mut drive = Drive::new(Arc::clone(&model), 1);
    let mut queue = Queue::new(policy.parse().unwrap(), Knowledge::Layout(Arc::clone(&model)), None);
    for (id, &lba) in (0..).zip(reads) {
        queue.push(command(id, Op::Read, lba, 1), Nanos::ZERO);
    }
    for lba in 39_600..40_000 {
        queue.push(command(lba, Op::Read, lba, 1), now);
    }
    queue.pop(now, &[drive.estimate(&model, now)], &[]).unwrap().waiting.command.lba.0
}

#[test]
fn a_sweep_turns_at_a_command_that_was_alone() {
    let knowledge = || Knowledge::Addresses { sectors: 40_000, sector_bytes: 512 };
    for policy in ["look", "scan", "vscan(1)"] {
        let mut queue = Queue::new(policy.parse().unwrap(), knowledge(), None);
        let mut next = |reads: &[(u64, u64)]| {
            for &(id, lba) in reads {
                queue.push(command(id, Op::Read, lba, 8), Nanos::ZERO);
            }
            queue.pop(Nanos::ZERO, &[], &[]).unwrap().waiting.command.id
        };
        // Up to 20,000, alone; then down to 10,000, alone; so that of two about that the lower is on the way.
        assert_eq!(next(&[(0, 20_000)]), 0, "{policy}");
        assert_eq!(next(&[(1, 10_000)]), 1, "{policy}");
        assert_eq!(next(&[(2, 11_000), (3, 5_000)]), 3, "{policy}");
    }
}

/// The sector on head 0 of a cylinder that comes so many sectors after the index: from one cylinder to the next half a revolution
/// is skewed.
fn after_the_index(cylinder: u64, sectors: u64) -> u64 {
    400 * cylinder + (sectors + 50 * cylinder) % 100
}

#[test]
fn of_many_the_sector_that_comes_at_this_very_moment_goes_first() {
    for sector in [10, 37, 90] {
        let track: Vec<u64> = (5..95).collect();
        for policy in ["sptf", "asptf(1)"] {
            let now = Nanos(sector * 100_000);
            assert_eq!(first_of_many("", policy, now, &track), sector, "{policy}");
        }
    }
}

#[test]
fn of_many_that_come_at_the_same_time_the_oldest_goes_first() {
    // Just as the arm has crossed one cylinder, in 2 ms.
    let (here, there) = (after_the_index(0, 20), after_the_index(1, 20));
    for reads in [[here, there], [there, here]] {
        for policy in ["sptf", "asptf(1)"] {
            assert_eq!(first_of_many("", policy, Nanos::ZERO, &reads), reads[0], "{policy}: {reads:?}");
        }
    }
    // Just now, where the arm takes no time: what is older than both comes later.
    let no_moves = "seek.constant.time_ms = 0.0";
    let (here, there) = (after_the_index(0, 10), after_the_index(1, 10));
    for [first, second] in [[here, there], [there, here]] {
        let reads = [95, first, second];
        assert_eq!(first_of_many(no_moves, "wstf(1000 ms)", Nanos(1_000_000), &reads), first, "{reads:?}");
    }
}

/// A second older than all others, and no wait is as long.
#[test]
fn of_many_the_oldest_is_found_in_any_cylinder() {
    for cylinder in 0..100 {
        let oldest = after_the_index(cylinder, 70);
        assert_eq!(first_of_many("", "asptf(1)", Nanos(1_000_000_000), &[oldest]), oldest);
    }
}

/// At 12.5 ms read-ahead is on cylinder 0 until 13 ms. A read is decoded at 15.5 ms: the arm is on cylinder 1 by then, where sector 60
/// comes at 16 ms; back on cylinder 0, sector 80 would come at 18 ms.
#[test]
fn an_arm_sets_out_from_where_read_ahead_will_have_taken_it() {
    let extra = "cache = { segments = 2, segment_kib = 64.0, read_ahead = \"until-full\" }\n\
                 controller = { read_overhead_ms = 3.0 }";
    let model = Arc::new(DriveModel::new(&plain(extra)).unwrap());
    let mut drive = Drive::new(Arc::clone(&model), 1);
    // Head 3 of cylinder 0: its sector 80 passes from 11 ms on.
    drive.serve(Nanos::ZERO, command(0, Op::Read, 380, 10), &model.bus(), &mut Vec::new());
    let now = Nanos(12_500_000);
    let mut queue = Queue::new("sptf".parse().unwrap(), Knowledge::Layout(Arc::clone(&model)), None);
    let (back, there) = (after_the_index(0, 80), after_the_index(1, 60));
    queue.push(command(1, Op::Read, back, 1), now);
    queue.push(command(2, Op::Read, there, 1), now);
    assert_eq!(queue.pop(now, &[drive.estimate(&model, now)], &[]).unwrap().waiting.command.lba.0, there);
}

/// A sector takes 0.512 ms on the bus: of ten, all there at 5.12 ms, the first may be written nine sectors before that.
#[test]
fn a_write_is_expected_when_its_data_cannot_run_out() {
    let slow = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }";
    let model = Arc::new(DriveModel::new(&plain(slow)).unwrap());
    for (lba, start_ms) in [(42, 14.2), (43, 4.3), (50, 5.0)] {
        let mut drive = Drive::new(Arc::clone(&model), 1);
        let write = command(0, Op::Write, lba, 10);
        let start = drive.estimate(&model, Nanos::ZERO).start(Op::Write, &Target::of(&model, &write), 10);
        assert!((start.as_ms() - start_ms).abs() < 2e-5, "{lba}: {start}");
        let outcome = drive.serve(Nanos::ZERO, write, &model.bus(), &mut Vec::new());
        assert!((outcome.finish.as_ms() - 1.0 - start_ms).abs() < 2e-5, "{lba}: {outcome:?}");
    }
}

//! What the table of expectations cannot say of the controller: which sector a completion waited for, and commands that
//! overlap. 10 ms a revolution, 0.1 ms a sector, 1 µs a sector on the bus.

use crate::common::{FAST_BUS, command, drive, ms, serve};
use headstack_drive::command::Effect;
use headstack_units::{Nanos, Op};

#[test]
fn a_completion_says_which_sector_it_waited_for() {
    let slow = "bus = { read_mb_per_s = 1.0, write_mb_per_s = 1.0 }";
    // The bus is slower than the media: all hangs on the first sector.
    let read = serve(&mut drive(slow), Nanos::ZERO, command(0, Op::Read, 30, 10));
    let passed = read.passed.expect("a read from the media waits for a sector");
    assert_eq!(passed.lba.0, 30);
    assert_eq!(passed.at, ms(3.1));
    // The media are slower: the last sector.
    let read = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Read, 30, 10));
    assert_eq!(read.passed.map(|passed| passed.lba.0), Some(39));
    let write = serve(&mut drive(FAST_BUS), Nanos::ZERO, command(0, Op::Write, 30, 10));
    assert_eq!(write.passed.map(|passed| (passed.lba.0, passed.at)), Some((39, write.finish)));
    // Begun in its middle, on track at 2.0 ms: the sector before the one it began with comes last.
    let on_arrival = format!("buffer.write_on_arrival = true\n{FAST_BUS}");
    let write = serve(&mut drive(&on_arrival), Nanos::ZERO, command(0, Op::Write, 460, 20));
    assert_eq!(write.passed.map(|passed| passed.lba.0), Some(470));
    let early = "write_policy.immediate-reporting = {}";
    let write =
        serve(&mut drive(&format!("{early}\n{FAST_BUS}")), Nanos::ZERO, command(0, Op::Write, 30, 10));
    assert_eq!(write.passed, None);
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
    let (outcomes, _) = crate::common::run_events(&mut drive, &bus, &arrivals);
    assert_eq!(outcomes.len(), arrivals.len());
    for outcome in outcomes {
        assert_eq!(outcome.submitted, arrivals[outcome.id as usize].0, "{outcome:?}");
    }
}

/// A host that is asked for more than is left would send what is none of the write's.
#[test]
fn the_bus_is_asked_for_no_more_than_is_left_of_a_write() {
    let mut drive = drive(&format!("{FAST_BUS}\nbuffer = {{ bus_transfers = \"bursts\", burst_kib = 2.0 }}"));
    let bus = drive.model().bus();
    let mut effects = Vec::new();
    drive.submit(Nanos::ZERO, command(0, Op::Write, 50, 10), &mut effects);
    let mut asked = Vec::new();
    while let Some(effect) = effects.pop() {
        if let Effect::NeedBus { ticket, at, bytes, .. } = effect {
            asked.push(bytes / 512);
            drive.bus_granted(at, ticket, &bus, &mut effects);
        }
    }
    // How much is sent at a time is known when the bus is.
    assert_eq!(asked, [10, 4, 2]);
}

//! Reads that have to come from the media, whatever the buffer holds.

use crate::common::{FAST_BUS, command, drive, ms, run_events, serve};
use headstack_drive::command::{CacheResult, Command};
use headstack_units::{Nanos, Op, RequestFlags};

fn forced(id: u64, lba: u64, sectors: u32) -> Command {
    Command { flags: RequestFlags::FORCE_MEDIA, ..command(id, Op::Read, lba, sectors) }
}

const READ_AHEAD: &str = "cache = { segments = 4, segment_kib = 64.0, read_ahead = \"until-full\" }";

#[test]
fn a_forced_read_comes_from_the_media_though_the_buffer_has_it() {
    for (cache, scheduler) in [(READ_AHEAD, "fcfs"), (READ_AHEAD, "spctf"), ("", "sptf")] {
        let extra =
            format!("{FAST_BUS}\nbuffer.size_kib = 256.0\ncontroller.scheduler = \"{scheduler}\"\n{cache}");
        let mut drive = drive(&extra);
        serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 1000, 10));
        let plain = serve(&mut drive, ms(100.0), command(1, Op::Read, 1000, 10));
        assert_eq!(plain.cache == CacheResult::Hit, !cache.is_empty());
        let read = serve(&mut drive, ms(200.0), forced(2, 1000, 10));
        assert_eq!(read.cache, CacheResult::Miss);
        // The ten sectors pass under the head, at 0.1 ms each.
        assert!(read.phases.transfer.0.abs_diff(1_000_000) <= 1, "{cache} {scheduler}: {read:?}");
        // What it has read is there for those who do not mind.
        let again = serve(&mut drive, ms(300.0), command(3, Op::Read, 1000, 10));
        assert_eq!(again.cache == CacheResult::Hit, !cache.is_empty());
    }
}

#[test]
fn a_forced_read_waits_for_the_buffered_writes_of_its_sectors_and_for_no_other() {
    let mut drive = drive(&format!(
        "{FAST_BUS}\nbuffer.size_kib = 1000.0\n\
         write_policy.write-back = {{ size_kib = 1000.0, idle_before_destage_ms = 1000.0 }}"
    ));
    let bus = drive.model().bus();
    let mut background = Vec::new();
    serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 20_000, 1));
    for (id, lba) in [(1, 39_000), (2, 100), (3, 300)] {
        drive.serve(ms(50.0), command(id, Op::Write, lba, 10), &bus, &mut background);
    }
    let read = drive.serve(ms(60.0), forced(4, 95, 10), &bus, &mut background);
    let [written] = background[..] else { panic!("{background:?}") };
    // Of the write from 100 on, what is read is written.
    assert_eq!((written.lba.0, written.sectors), (100, 5));
    assert_eq!(read.phases.other, written.finish - ms(60.0));
    assert_eq!(read.cache, CacheResult::Miss);
    assert!(read.phases.transfer.0.abs_diff(1_000_000) <= 1, "{read:?}");
    assert_eq!(drive.volatile(read.finish), [(105, 110), (300, 310), (39_000, 39_010)]);
    // A plain read of what is buffered waits for nothing.
    let hit = drive.serve(read.finish, command(5, Op::Read, 300, 10), &bus, &mut background);
    assert_eq!((hit.cache, hit.phases.other), (CacheResult::Hit, Nanos::ZERO));
}

#[test]
fn a_forced_read_waits_for_a_write_that_was_reported_early() {
    let extra = format!(
        "{FAST_BUS}\nbuffer.size_kib = 256.0\ncontroller = {{ queue_depth = 4, scheduler = \"fcfs\" }}\n\
         write_policy.immediate-reporting = {{}}"
    );
    let read = |second: Command| {
        let mut drive = drive(&extra);
        let bus = drive.model().bus();
        let arrivals = [(Nanos::ZERO, command(0, Op::Write, 39_000, 10)), (ms(1.0), second)];
        let (done, background) = run_events(&mut drive, &bus, &arrivals);
        let outcome = *done.iter().find(|outcome| outcome.id == 1).unwrap();
        (outcome, background[0].finish)
    };
    let (plain, written) = read(command(1, Op::Read, 39_000, 10));
    assert!(plain.cache == CacheResult::Hit && plain.finish < written);
    let (forced, written) = read(forced(1, 39_000, 10));
    assert_eq!(forced.cache, CacheResult::Miss);
    // The sectors have just gone by: a revolution of 10 ms, but for their own 1 ms and what decoding takes.
    assert!(forced.finish > written + ms(9.0), "{forced:?} {written:?}");
}

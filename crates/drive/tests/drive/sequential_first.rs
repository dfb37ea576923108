//! Firmware that prefers sequential reads, even where one random read waits.

use crate::common::{FAST_BUS, command, drive, ms, run_events};
use crate::users::{Load, serve};
use headstack_drive::DriveModel;
use headstack_drive::spec::DriveSpec;
use headstack_units::{Nanos, Op};
use std::path::PathBuf;
use std::sync::Arc;

const SCRUB: Load =
    Load { op: Op::Read, sequential: true, together: false, offset: 0, sectors: 2048, limited_percent: 0 };
const READER: Load =
    Load { op: Op::Read, sequential: false, together: false, offset: 0, sectors: 8, limited_percent: 0 };

/// MiB a second of the scrub (it is user 0), and the responses of the other reader in ms.
fn scrub(scheduler: &str, loads: &[Load]) -> (f64, Vec<f64>) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../drives/nearline-18tb.toml");
    let set = [("controller.scheduler".to_owned(), scheduler.to_owned())];
    let spec = DriveSpec::from_toml_with("nearline-18tb", &std::fs::read_to_string(file).unwrap(), &set);
    let model = Arc::new(DriveModel::new(&spec.unwrap()).unwrap());
    let answers = serve(&model, loads, 8000);
    let end = answers.iter().map(|answer| answer.outcome.finish).max().unwrap();
    let scrubbed = answers.iter().filter(|answer| answer.user == 0).count();
    let others = answers.iter().filter(|answer| answer.user == 1);
    let waits = others.map(|answer| (answer.outcome.finish - answer.outcome.submitted).as_ms());
    (scrubbed as f64 / end.as_ms() * 1000.0, waits.collect())
}

/// Published histograms of single reads during a scrub have a second mode at 4 s.
#[test]
fn single_reads_starve_for_as_long_as_the_drive_lets_them_while_a_scrub_goes_on() {
    let (alone, _) = scrub("asptf(0.03)", &[SCRUB]);
    let (fair, reads) = scrub("asptf(0.03)", &[SCRUB, READER]);
    assert!(reads.iter().all(|&wait| wait < 50.0) && fair < 0.5 * alone, "{fair} of {alone} MiB/s");
    for limit in [1000.0, 4000.0] {
        let (preferred, reads) =
            scrub(&format!("asptf(0.03)+sequential-first({limit} ms)"), &[SCRUB, READER]);
        assert!(preferred > 0.97 * alone, "{preferred} of {alone} MiB/s");
        // The first comes before there is a stream, the last is served when the scrub has ended; one read of the scrub may
        // be under way when time is up.
        let starved = &reads[1..reads.len() - 1];
        assert!(starved.len() >= 5, "{starved:?}");
        for wait in starved {
            assert!((limit..limit + 50.0).contains(wait), "{wait} ms, limit {limit} ms");
        }
    }
}

/// 10 ms a revolution: the drive that has let a read wait for a stream waits so long for the next of it, and no longer.
#[test]
fn a_stream_that_pauses_for_a_revolution_has_lost_its_turn() {
    let run = |third: f64, scheduler: &str| {
        let mut drive =
            drive(&format!("{FAST_BUS}\ncontroller = {{ queue_depth = 32, scheduler = \"{scheduler}\" }}"));
        let bus = drive.model().bus();
        let stream = |id, lba| command(id, Op::Read, lba, 10);
        // The second read of the stream is under way when the other comes.
        let arrivals = [
            (0.0, stream(0, 0)),
            (15.0, stream(1, 10)),
            (15.1, command(2, Op::Read, 30_000, 1)),
            (third, stream(3, 20)),
        ];
        let (done, _) = run_events(&mut drive, &bus, &arrivals.map(|(at, command)| (ms(at), command)));
        let finish = |id| done.iter().find(|outcome| outcome.id == id).unwrap().finish;
        (finish(1), finish(2), finish(3))
    };
    let preferred = "fcfs+sequential-first(1000 ms)";
    let (second, _, _) = run(100.0, "fcfs");
    let soon = (second + ms(9.0)).as_ms();
    let (_, random, third) = run(soon, preferred);
    assert!(third < random, "the stream goes on within a revolution: {third:?}, {random:?}");
    let late = (second + ms(11.0)).as_ms();
    let (_, random, third) = run(late, preferred);
    assert!(random < third && random > second + ms(10.0), "it came too late: {third:?}, {random:?}");
    let (_, random, third) = run(soon, "fcfs");
    assert!(random < third, "nobody asked for it: {third:?}, {random:?}");
}

#[test]
fn nothing_waits_that_did_not_wait_already() {
    let times = |scheduler: &str| {
        let mut drive = drive(&format!("{FAST_BUS}\ncontroller = {{ scheduler = \"{scheduler}\" }}"));
        let bus = drive.model().bus();
        let arrivals = [(0, 0, 10), (1, 10, 10), (2, 30_000, 1), (3, 20, 10)];
        let arrivals =
            arrivals.map(|(id, lba, sectors)| (ms(50.0 * id as f64), command(id, Op::Read, lba, sectors)));
        run_events(&mut drive, &bus, &arrivals).0.iter().map(|outcome| outcome.finish).collect::<Vec<Nanos>>()
    };
    assert_eq!(times("fcfs"), times("fcfs+sequential-first(1000 ms)"));
}

//! Writes whose data come while the one that they continue goes to the media.

use crate::common::{FAST_BUS, command, drive, run_events};
use headstack_drive::command::{Command, Outcome};
use headstack_units::{Nanos, Op, RequestFlags};
use proptest::prelude::*;

const SCHEDULERS: [&str; 6] = ["fcfs", "c-look", "batch-fcfs(3 commands)", "sptf", "aspctf(0.03)", "ncq"];

/// 50 sectors are 5 ms of the media and 0.05 ms of the bus.
fn served(scheduler: &str, buffer: &str, commands: &[(Nanos, Command)]) -> Vec<Outcome> {
    let controller = format!(
        "controller = {{ queue_depth = 16, scheduler = \"{scheduler}\", write_overhead_ms = 0.3, read_overhead_ms = 0.3 }}"
    );
    let mut drive = drive(&format!("{FAST_BUS}\n{controller}\nbuffer = {{ {buffer} }}"));
    let bus = drive.model().bus();
    run_events(&mut drive, &bus, commands).0
}

fn finish(done: &[Outcome], id: u64) -> f64 {
    done.iter().find(|outcome| outcome.id == id).unwrap().finish.as_ms()
}

fn stream() -> Vec<(Nanos, Command)> {
    (0..10).map(|id| (Nanos::ZERO, command(id, Op::Write, id * 50, 50))).collect()
}

/// From the end of the first to the end of the last the media write 450 sectors, over three changes of track (1 ms) and one of
/// cylinder (2 ms).
const MEDIA_MS: f64 = 450.0 * 0.1 + 3.0 + 2.0;

#[test]
fn queued_writes_that_go_on_lose_no_revolution() {
    for scheduler in SCHEDULERS {
        let done = served(scheduler, "size_kib = 64.0, takes_next_write = true", &stream());
        let took = finish(&done, 9) - finish(&done, 0);
        assert!((took - MEDIA_MS).abs() < 1e-4, "{scheduler}: {took} ms");
        assert!(done.iter().all(|outcome| outcome.phases.other == Nanos::ZERO), "{scheduler}: {done:?}");
    }
    // Otherwise each begins a revolution after the end of the one before.
    let done = served("fcfs", "size_kib = 64.0", &stream());
    let took = finish(&done, 9) - finish(&done, 0);
    assert!((took - MEDIA_MS - 9.0 * 10.0).abs() < 1e-4, "{took} ms");
}

#[test]
fn a_write_does_not_come_before_there_is_room() {
    // 120 sectors: two writes fit, a third comes when the first is on the media, 5 ms before the second is.
    let two = served("fcfs", "size_kib = 60.0, takes_next_write = true", &stream());
    let took = finish(&two, 9) - finish(&two, 0);
    assert!((took - MEDIA_MS).abs() < 1e-4, "{took} ms");
    // 80 sectors: the second comes when the first is on the media, and so the revolution is lost.
    let one = served("fcfs", "size_kib = 40.0, takes_next_write = true", &stream());
    let took = finish(&one, 9) - finish(&one, 0);
    assert!((took - MEDIA_MS - 9.0 * 10.0).abs() < 1e-4, "{took} ms");
}

#[test]
fn a_command_before_it_in_the_order_goes_before_it() {
    let read = (Nanos::ZERO, command(7, Op::Read, 20_000, 1));
    let commands =
        [(Nanos::ZERO, command(0, Op::Write, 0, 50)), read, (Nanos::ZERO, command(1, Op::Write, 50, 50))];
    let done = served("fcfs", "size_kib = 64.0, takes_next_write = true", &commands);
    assert!(finish(&done, 7) < finish(&done, 1), "{done:?}");
    // A barrier is one here, too.
    let mut ordered = stream();
    ordered[1].1.flags = RequestFlags::ORDERED;
    let done = served("fcfs", "size_kib = 64.0, takes_next_write = true", &ordered);
    let took = finish(&done, 1) - finish(&done, 0);
    assert!((took - 15.0).abs() < 1e-4, "{took} ms");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Where no write goes on where another ends, all is as without.
    #[test]
    fn scattered_commands_know_nothing_of_it(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        rows in prop::collection::vec((0_u64..12_000_000, any::<bool>(), 1_u32..9), 1..40),
    ) {
        let mut now = Nanos::ZERO;
        let arrivals: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, &(gap, reads, sectors))| {
                now += Nanos(gap);
                let op = if reads { Op::Read } else { Op::Write };
                (now, command(id, op, id * 7_919 % 3_989 * 10, sectors))
            })
            .collect();
        let with = served(scheduler, "size_kib = 64.0, takes_next_write = true", &arrivals);
        prop_assert_eq!(with, served(scheduler, "size_kib = 64.0", &arrivals));
    }

    /// Whatever goes on, and whenever it comes: everything is served once, and what is on its way fits the buffer.
    #[test]
    fn streams_and_others_are_served_once(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        kib in 10_u32..60,
        rows in prop::collection::vec((0_u64..8_000_000, 0_usize..3, any::<bool>(), 1_u32..30), 1..40),
    ) {
        let (mut now, mut next) = (Nanos::ZERO, [0, 10_000, 20_000]);
        let arrivals: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, &(gap, stream, reads, sectors))| {
                now += Nanos(gap);
                let lba = next[stream];
                next[stream] += u64::from(sectors);
                (now, command(id, if reads { Op::Read } else { Op::Write }, lba, sectors))
            })
            .collect();
        let done = served(scheduler, &format!("size_kib = {kib}.0, takes_next_write = true"), &arrivals);
        let mut ids: Vec<u64> = done.iter().map(|outcome| outcome.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..arrivals.len() as u64).collect::<Vec<_>>());
        for outcome in &done {
            prop_assert_eq!(outcome.finish - outcome.phases.total(), arrivals[outcome.id as usize].0);
        }
    }
}

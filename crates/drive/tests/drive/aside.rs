//! Writes that the cache takes while the arm works for another command.

use crate::common::{FAST_BUS, command, ms, plain, run_events};
use headstack_drive::command::{Command, Outcome, Work};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op};
use proptest::prelude::*;
use std::sync::Arc;

const POSITIONAL: [&str; 4] = ["sptf", "asptf(0.03)", "spctf", "ncq"];

fn model(scheduler: &str, cache: &str) -> Arc<DriveModel> {
    let controller = format!(
        "controller = {{ queue_depth = 64, scheduler = \"{scheduler}\", read_overhead_ms = 0.05, write_overhead_ms = 0.05 }}"
    );
    let text = format!("{FAST_BUS}\n{controller}\nwrite_policy.write-back = {{ {cache} }}");
    Arc::new(DriveModel::new(&plain(&text)).unwrap())
}

fn response(outcome: &Outcome) -> Nanos {
    outcome.finish - outcome.submitted
}

/// Fifty reads keep the arm at work for 0.3 s and more, and every 5 ms there is a write.
#[test]
fn beside_reads_a_cached_write_takes_the_controller_and_the_bus_only() {
    let reads = (0..50).map(|id| (Nanos::ZERO, command(id, Op::Read, id * 7_919 % 39_000, 1)));
    let writes = (0..40).map(|i| (ms(1.0 + 5.0 * i as f64), command(50 + i, Op::Write, 500 + i * 977, 1)));
    let (reads, writes): (Vec<_>, Vec<_>) = (reads.collect(), writes.collect());
    for scheduler in POSITIONAL {
        let model = model(scheduler, "size_kib = 64.0, idle_before_destage_ms = 1000.0");
        let serve = |commands: &[(Nanos, Command)]| {
            run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), commands).0
        };
        let mut all = [&reads[..], &writes].concat();
        all.sort_by_key(|&(at, _)| at);
        let (alone, mixed) = (serve(&reads), serve(&all));
        assert_eq!(mixed.len(), 90);
        let of = |op: Op| mixed.iter().filter(move |outcome| (outcome.id < 50) == (op == Op::Read));
        let longest = of(Op::Write).map(response).max().unwrap();
        // A read and another write may be decoded first, and a sector may be on the bus.
        assert!(longest <= ms(3.0 * 0.05 + 0.003), "{scheduler}: a write took {longest}");
        // The reads lose no more than the controller's time for the writes, and the revolution that this may cost now and then.
        let end = |outcomes: &[Outcome]| {
            outcomes.iter().filter(|outcome| outcome.id < 50).map(|outcome| outcome.finish).max().unwrap()
        };
        let (alone, mixed) = (end(&alone), end(&mixed));
        assert!(mixed.as_ms() < 1.1 * alone.as_ms(), "{scheduler}: the reads took {mixed}, alone {alone}");
    }
}

/// Where the arm is makes no difference to a write into the cache, though it waits for room there.
#[test]
fn writes_go_into_a_full_cache_in_the_order_in_which_they_came() {
    for scheduler in POSITIONAL {
        let model = model(scheduler, "size_kib = 10.0, idle_before_destage_ms = 5.0");
        let all = (0..60).map(|id| (Nanos::ZERO, command(id, Op::Write, id * 7_919 % 3_989 * 10, 4)));
        let all: Vec<_> = all.collect();
        let (mut done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &all);
        done.sort_by_key(|outcome| outcome.finish);
        let order: Vec<u64> = done.iter().map(|outcome| outcome.id).collect();
        assert_eq!(order, (0..60).collect::<Vec<_>>(), "{scheduler}");
    }
}

/// A cache of two tracks, from which a stream goes to the media as it comes: 200 writes of 4 ms of the media each, and up to 2 ms
/// of skew each 10 ms.
#[test]
fn a_queued_stream_goes_through_the_cache_at_the_rate_of_the_media() {
    for scheduler in POSITIONAL {
        let model = model(scheduler, "size_kib = 100.0, idle_before_destage_ms = 5.0");
        for first in [0, 3] {
            let stream = (0..200).map(|id| (Nanos::ZERO, command(id, Op::Write, first + id * 40, 40)));
            let stream: Vec<_> = stream.collect();
            let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &stream);
            let last = done.iter().map(|outcome| outcome.finish).max().unwrap().as_ms();
            assert!(last < 1.2 * 200.0 * 4.0 + 30.0, "{scheduler}, from {first}: {last} ms");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever passes whatever: the cache holds no more than it can.
    #[test]
    fn the_cache_holds_no_more_than_it_can(
        scheduler in prop::sample::select(POSITIONAL.to_vec()),
        idle in 0_u32..20,
        rows in prop::collection::vec((0_u64..8_000_000, any::<bool>(), 1_u32..10), 1..60),
    ) {
        let model = model(scheduler, &format!("size_kib = 10.0, idle_before_destage_ms = {idle}.0"));
        let mut now = Nanos::ZERO;
        let arrivals: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, &(gap, reads, sectors))| {
                now += Nanos(gap);
                // No two share a sector.
                let op = if reads { Op::Read } else { Op::Write };
                (now, command(id, op, id * 7_919 % 3_989 * 10, sectors))
            })
            .collect();
        let (done, background) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &arrivals);
        prop_assert_eq!(done.len(), arrivals.len());
        let sectors = |outcome: &Outcome| arrivals[outcome.id as usize].1.sectors;
        let is_write = |outcome: &&Outcome| arrivals[outcome.id as usize].1.op == Op::Write;
        for at in done.iter().filter(is_write).map(|outcome| outcome.finish) {
            let came: u32 = done.iter().filter(is_write).filter(|other| other.finish <= at).map(sectors).sum();
            let went: u32 = background
                .iter()
                .filter(|work| work.work == Work::Destage && work.finish <= at)
                .map(|work| work.sectors)
                .sum();
            prop_assert!(came - went <= 20, "{} sectors at {}", came - went, at);
        }
    }
}

/// A write of 1 MiB has the bus for 2.048 ms, while the sectors of a read come off the media from 9.0 ms on, 0.1 ms each. The read wants
/// the bus when the first is in the buffer. Where the bus is free too late for the last byte to leave when it otherwise would, the path
/// goes by the bus: the wait for what others send is `queue`, also while the media go on. Where it is free in time the media decide, and
/// the wait is in no phase.
#[test]
fn a_read_waits_in_the_queue_for_a_bus_on_which_a_write_comes() {
    let model = model("sptf", "size_kib = 2048.0, idle_before_destage_ms = 1000.0");
    let (written_ms, overhead_ms, sent_ms) = (2.048, 0.05, 0.001);
    for (sectors, write_at_ms, by_bus) in [(1, 8.0, true), (8, 8.0, true), (8, 7.2, false)] {
        let read = (ms(0.0), command(0, Op::Read, 90, sectors));
        let write = (ms(write_at_ms), command(1, Op::Write, 20_000, 2048));
        let run = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &[read, write]);
        let read = run.0.iter().find(|outcome| outcome.id == 0).unwrap();
        let bus_free_ms = write_at_ms + overhead_ms + written_ms;
        let (came, sent) = (f64::from(sectors) * 0.1, f64::from(sectors) * sent_ms);
        let expected = if by_bus { [bus_free_ms - 9.1, 0.1, sent] } else { [0.0, came, sent_ms] };
        let phases = &read.phases;
        for (phase, expected) in [phases.queue, phases.transfer, phases.bus].iter().zip(expected) {
            assert!(
                (phase.as_ms() - expected).abs() < 1e-4,
                "{sectors} at {write_at_ms}: {expected} in {phases:?}"
            );
        }
        assert_eq!(phases.total(), read.finish - ms(0.0), "{sectors} at {write_at_ms}: {phases:?}");
    }
}

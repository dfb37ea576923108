//! The order of a drive with native command queueing.

use crate::common::{FAST_BUS, command, ms, plain, plain_text, run_events};
use crate::users::{Load, Summary, serve};
use headstack_drive::command::{Command, Outcome};
use headstack_drive::scheduler::{Knowledge, Queue, Target};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op, RequestFlags};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn model(keys: &str) -> Arc<DriveModel> {
    Arc::new(DriveModel::new(&plain(&format!("{FAST_BUS}\n{keys}"))).unwrap())
}

const NCQ: &str = "controller = { queue_depth = 32, scheduler = \"ncq\", read_overhead_ms = 0.0 }";

/// What a command's finish is on a copy of the drive that serves `commands` one after the other from `now` on.
fn finish(drive: &Drive, now: Nanos, commands: &[Command]) -> Nanos {
    let mut copy = drive.clone();
    let bus = drive.model().bus();
    commands.iter().fold(now, |_, &command| copy.serve(now, command, &bus, &mut Vec::new()).finish)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The naive twin tries everything out on copies of the drive: the base is the best of the older ones, fewer than half, aged by passes;
    /// what goes before it does not delay it, and if nothing does, everything would.
    #[test]
    fn what_goes_first_delays_nothing(
        overhead in 0_u32..4,
        weight in prop::sample::select(vec![0.0, 0.5, 1.3, 20.0]),
        rows in prop::collection::vec((0_u64..20_000_000, 0_u64..39_980, 1_u32..20), 1..20),
        wait in 0_u64..15_000_000,
    ) {
        let text = plain_text(&format!(
            "{FAST_BUS}\ncontroller = {{ queue_depth = 32, read_overhead_ms = 0.{overhead} }}"
        ));
        let model = Arc::new(DriveModel::new(&DriveSpec::from_toml("any", &text).unwrap()).unwrap());
        let mut drive = Drive::new(Arc::clone(&model), 1);
        let mut queue = Queue::new(format!("ncq({weight})").parse().unwrap(), Knowledge::Layout(Arc::clone(&model)), None);
        let (mut now, mut waiting) = (Nanos::ZERO, Vec::new());
        for (id, &(gap, lba, sectors)) in (0..).zip(&rows) {
            now += Nanos(gap);
            let command = command(id, Op::Read, lba, sectors);
            queue.push(command, now);
            waiting.push((now, command));
        }
        now += Nanos(wait);
        let mut kept: Option<u64> = None;
        while !waiting.is_empty() {
            let estimate = drive.estimate(&model, now);
            let cost = |&(arrived, command): &(Nanos, Command)| {
                let start = estimate.start(Op::Read, &Target::of(&model, &command), command.sectors);
                let weight = i128::from((weight * 65_536.0_f64).round() as i64);
                (i128::from(start.0) * 65_536 * waiting.len() as i128 + weight * i128::from(arrived.0), command.id)
            };
            let older = &waiting[..((waiting.len() - 1) / 2).max(1)];
            let best = older.iter().min_by_key(|row| cost(row)).unwrap().1;
            let base = waiting.iter().map(|row| row.1).find(|row| Some(row.id) == kept).unwrap_or(best);
            let taken = queue.pop(now, &[estimate], &[]).unwrap().waiting.command;
            let direct = finish(&drive, now, &[base]);
            if taken == base {
                for (_, other) in waiting.iter().filter(|(_, other)| *other != base) {
                    let delayed = finish(&drive, now, &[*other, base]) > direct;
                    prop_assert!(delayed, "{:?} would have fitted before {:?}", other, base);
                }
                kept = None;
            } else {
                prop_assert_eq!(finish(&drive, now, &[taken, base]), direct, "{:?} delays {:?}", taken, base);
                kept = Some(base.id);
            }
            waiting.retain(|(_, command)| *command != taken);
            let bus = model.bus();
            drive.serve(now, taken, &bus, &mut Vec::new());
            now = now.max(drive.controller_free_at().unwrap());
        }
    }
}

#[test]
fn the_choice_is_put_off_while_the_disk_turns() {
    // One track, 10 ms a revolution: sector 90 comes at 9 ms, sector 50 at 5 ms.
    let arrivals = [
        (Nanos::ZERO, command(0, Op::Read, 0, 1)),
        (ms(0.05), command(1, Op::Read, 90, 1)),
        (ms(3.0), command(2, Op::Read, 50, 1)),
    ];
    let ends = |scheduler: &str| {
        let model = model(&NCQ.replace("ncq", scheduler));
        let bus = model.bus();
        let (mut done, _) = run_events(&mut Drive::new(model, 1), &bus, &arrivals);
        done.sort_by_key(|outcome| outcome.id);
        [1, 2].map(|id: usize| (done[id].finish.as_ms() * 10.0).round() / 10.0)
    };
    // First come: sector 50 waits for its next turn. With the choice put off it is taken on the way.
    assert_eq!(ends("fcfs"), [9.1, 15.1]);
    assert_eq!(ends("ncq"), [9.1, 5.1]);
}

#[test]
fn nothing_is_put_off_that_the_buffer_is_being_filled_with() {
    let keys = format!("{NCQ}\ncache = {{ segments = 2, segment_kib = 20.0, read_ahead = \"aggressive\" }}");
    let model = model(&keys);
    let bus = model.bus();
    // The second read asks for what read-ahead is just bringing.
    let arrivals = [(Nanos::ZERO, command(0, Op::Read, 0, 10)), (ms(1.3), command(1, Op::Read, 12, 8))];
    let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &bus, &arrivals);
    let mut closed = Drive::new(model, 1);
    let outcomes = arrivals.map(|(at, command)| closed.serve(at, command, &bus, &mut Vec::new()));
    assert_eq!(done, outcomes);
    // Its last sector passes at 2.0 ms.
    assert!((ms(2.0)..ms(2.1)).contains(&done[1].finish), "{:?}", done[1]);
}

#[test]
fn reads_come_through_a_stream_of_buffered_writes() {
    let model = model(&format!("{NCQ}\nwrite_policy.write-back = {{ size_kib = 16.0 }}"));
    let load =
        |op: Op| Load { op, sequential: false, together: false, offset: 0, sectors: 1, limited_percent: 0 };
    let mut loads = vec![load(Op::Write); 16];
    loads.push(load(Op::Read));
    let done = serve(&model, &loads, 6000);
    let reads: Vec<f64> = Summary::of_those(&done, |answer| answer.user == 16).responses;
    let most = reads.iter().copied().fold(0.0, f64::max);
    // Seventeen wait, each pass takes at most a destage piece and a read; nobody is passed over more often than the queue
    // is long, times the weight.
    assert!(reads.len() > 100 && most < 2.0 * 17.0 * 25.0, "{} reads, the longest {most} ms", reads.len());
}

/// Columns of a maker's own curve of a 22 TB drive: 128 KiB random reads.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn published(columns: &[usize]) -> Option<Vec<Vec<f64>>> {
    let data = std::env::var_os("HEADSTACK_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(data.join("published/cdl-22tb-randread-128k.csv")) else {
        eprintln!("skipped: published/cdl-22tb-randread-128k.csv is not in HEADSTACK_DATA or ../shared/data");
        return None;
    };
    let row = |line: &str| -> Option<Vec<f64>> {
        let cells: Vec<&str> = line.split(',').collect();
        columns.iter().map(|&column| cells.get(column)?.parse().ok()).collect()
    };
    let rows: Vec<Vec<f64>> = text.lines().filter_map(row).collect();
    assert_eq!(rows.len(), 7);
    Some(rows)
}

/// The library's drive of the published one's class: its seeks are scaled to the curve's first point (nobody waits there).
fn published_drive(more: &[(&str, &str)]) -> Arc<DriveModel> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/nearline-22tb.toml");
    let overrides: Vec<(String, String)> =
        more.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let spec = DriveSpec::from_toml_with(path, &std::fs::read_to_string(path).unwrap(), &overrides).unwrap();
    Arc::new(DriveModel::new(&spec).unwrap())
}

#[test]
#[ignore = "slow: seven depths of 60,000 requests"]
fn the_published_curve_comes_out() {
    let Some(rows) = published(&[0, 1, 2]) else { return };
    let model = published_drive(&[]);
    assert_eq!(model.policy().to_string(), "ncq(1.3)");
    let load = Load {
        op: Op::Read,
        sequential: false,
        together: false,
        offset: 0,
        sectors: 256,
        limited_percent: 0,
    };
    for row in rows {
        let [depth, iops, p99] = row[..] else { unreachable!("three columns") };
        let ours = Summary::of(&serve(&model, &vec![load; depth as usize], 60_000));
        let (rate, tail) = (ours.iops / iops - 1.0, ours.quantile(0.99) / p99 - 1.0);
        assert!(rate.abs() < 0.03, "depth {depth}: {} IOPS, published {iops}", ours.iops);
        assert!(tail.abs() < 0.10, "depth {depth}: p99 {} ms, published {p99}", ours.quantile(0.99));
    }
}

#[test]
#[ignore = "slow: seven depths of 60,000 requests"]
fn commands_with_a_limit_go_ahead_and_the_published_classes_come_out() {
    let Some(rows) = published(&[0, 3, 6, 7]) else { return };
    let model = published_drive(&[("controller.duration_limit_ms", "50.0")]);
    let load = Load {
        op: Op::Read,
        sequential: false,
        together: false,
        offset: 0,
        sectors: 256,
        limited_percent: 20,
    };
    let (mut met, mut all) = (0, Vec::new());
    for row in rows {
        let answers = serve(&model, &vec![load; row[0] as usize], 60_000);
        let p99 =
            |limited: bool| Summary::of_those(&answers, |answer| answer.is_limited == limited).quantile(0.99);
        let ours = [Summary::of(&answers).iops, p99(false), p99(true)];
        for ((ours, published), tolerance) in ours.iter().zip(&row[1..]).zip([0.05, 0.10, 0.10]) {
            let off = ours / published - 1.0;
            met += usize::from(off.abs() < tolerance);
            all.push(format!("depth {}: {ours:.1}, published {published}: {:+.1} %", row[0], off * 100.0));
        }
    }
    // Of 21; the total at depth 8 is 6 % high.
    assert!(met >= 20, "{met} met: {all:#?}");
}

#[test]
fn a_limit_bounds_the_wait_where_the_drive_has_one() {
    let model = model(NCQ);
    let load = |limited_percent: u64| Load {
        op: Op::Read,
        sequential: false,
        together: false,
        offset: 0,
        sectors: 8,
        limited_percent,
    };
    let marked = serve(&model, &[load(100); 8], 3000);
    assert!(marked.iter().all(|answer| answer.is_limited));
    let ordered: Vec<u64> = marked.iter().map(|answer| answer.outcome.id).collect();
    let limited = Arc::new(
        DriveModel::new(&plain(&format!(
            "{FAST_BUS}\n{}",
            NCQ.replace(" }", ", duration_limit_ms = 50.0 }")
        )))
        .unwrap(),
    );
    // Where all are limited alike, the oldest gain most.
    let longest = |answers: &[crate::users::Answer]| Summary::of(answers).quantile(1.0);
    let strict = serve(&limited, &[load(100); 8], 3000);
    assert!(longest(&strict) < longest(&marked), "{} {}", longest(&strict), longest(&marked));
    assert_ne!(ordered, strict.iter().map(|answer| answer.outcome.id).collect::<Vec<_>>());
}

/// Cached writes need no arm: they go before reads, but only for a revolution between two of them.
#[test]
fn reads_do_not_starve_behind_cached_writes() {
    let model = published_drive(&[]);
    let load =
        |op| Load { op, sequential: false, together: false, offset: 0, sectors: 8, limited_percent: 0 };
    let mut loads = vec![load(Op::Write); 8];
    loads.extend(vec![load(Op::Read); 8]);
    let answers = serve(&model, &loads, 24_000);
    // The last of eight waits for seven others, each of which lets writes go first for a revolution.
    let (revolution, service) = (60_000.0 / 7200.0, 25.0);
    let reads: Vec<f64> = answers
        .iter()
        .filter(|answer| answer.user >= 8)
        .map(|answer| (answer.outcome.finish - answer.outcome.submitted).as_ms())
        .collect();
    let longest = reads.iter().copied().fold(0.0, f64::max);
    assert!(
        reads.len() > 100 && longest < 8.0 * (revolution + service),
        "{} reads, {longest} ms",
        reads.len()
    );
}

/// While the choice of a read is put off, and while the arm moves for one, writes go into the cache at once: the controller is
/// busy with each for less than a tenth of a millisecond. The reads are through at most a revolution each later than without the
/// writes: for so long these go first.
#[test]
fn a_write_does_not_wait_for_the_choice_of_a_read() {
    let model = published_drive(&[]);
    let reads = [1, 29, 17, 5, 23, 11].into_iter().zip(0_u64..);
    let reads: Vec<(Nanos, Command)> =
        reads.map(|(place, id)| (ms(id as f64), command(id, Op::Read, place * 1_000_000_000, 8))).collect();
    let writes = (0..150_u64).map(|turn| {
        let lba = 35_000_000_000 + turn * 1_000_000;
        (ms(2.1 + 0.37 * turn as f64), command(100 + turn, Op::Write, lba, 8))
    });
    let both: Vec<(Nanos, Command)> = reads.iter().copied().chain(writes).collect();
    let run = |arrivals: &[(Nanos, Command)]| {
        let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), arrivals);
        let (reads, writes): (Vec<Outcome>, Vec<Outcome>) = done.into_iter().partition(|done| done.id < 100);
        let slowest = writes.iter().map(|write| write.finish - write.submitted).max();
        (reads.iter().map(|read| read.finish).max().unwrap(), slowest)
    };
    let ((alone, _), (together, slowest)) = (run(&reads), run(&both));
    let a_revolution_each = Nanos(6 * 60_000_000_000 / 7200);
    assert!(slowest.unwrap() < ms(0.2), "{slowest:?}");
    assert!(together < alone + a_revolution_each, "{alone:?} alone, {together:?} beside writes");
}

/// One writer asks for a MiB at a time, which takes milliseconds, one for 4 KiB: what has no time while the choice of a read is put off
/// lets none go before it that has.
#[test]
fn writes_of_two_sizes_hold_no_reads_up() {
    let model = published_drive(&[]);
    let load =
        |op, sectors| Load { op, sequential: false, together: false, offset: 0, sectors, limited_percent: 0 };
    let loads = [load(Op::Write, 2048), load(Op::Write, 8), load(Op::Read, 8)];
    let answers = serve(&model, &loads, 3_000);
    let reads = answers.iter().filter(|answer| answer.user == 2);
    let responses: Vec<f64> =
        reads.map(|read| (read.outcome.finish - read.outcome.submitted).as_ms()).collect();
    let longest = responses.iter().copied().fold(0.0, f64::max);
    // 200 ms here, 296 over two minutes of such a load; starved they wait for seconds.
    assert!(responses.len() > 150 && longest < 300.0, "{} reads, {longest} ms", responses.len());
}

/// Sixteen streams of writes that never think fill the cache faster than the media empty it. Those that go into it while the choice of the
/// read is put off are there at once; their successors find no room, and would have the arm before the read, again and again.
#[test]
fn a_read_that_lets_writes_go_has_the_arm_before_those_that_find_no_room() {
    let model = published_drive(&[("write_policy.write-back.size_kib", "65536")]);
    let read =
        Load { op: Op::Read, sequential: false, together: false, offset: 0, sectors: 8, limited_percent: 0 };
    let write = |stream: u64| Load {
        op: Op::Write,
        sequential: true,
        offset: stream * 2_000_000_000,
        sectors: 128,
        ..read
    };
    let loads: Vec<Load> = (1..=16).map(write).chain([read]).collect();
    let answers = serve(&model, &loads, 20_000);
    let [reads, writes] =
        [true, false].map(|is_read| Summary::of_those(&answers, |answer| (answer.user == 16) == is_read));
    let mean = |of: &Summary| of.responses.iter().sum::<f64>() / of.responses.len() as f64;
    // A revolution in which writes go first, with two pieces of the cache, and the read itself.
    assert!(mean(&reads) < 36.0 && reads.quantile(1.0) < 150.0, "reads: {} ms", mean(&reads));
    assert!(mean(&writes) < 25.0 && writes.quantile(1.0) < 200.0, "writes: {} ms", mean(&writes));
}

/// While writes go first the read wants the arm all the same: what they bring does not begin to go to the media before it.
#[test]
fn what_goes_before_a_read_is_not_written_before_it() {
    let model = published_drive(&[]);
    for place in 1..40_u64 {
        let commands = [
            (ms(0.0), command(0, Op::Read, 20_000_000_000, 8)),
            (ms(30.0), command(1, Op::Read, 20_000_000_000 + place * 17_142_624, 8)),
            (ms(30.05), command(2, Op::Write, 30_000_000_000, 2048)),
            (ms(30.1), command(3, Op::Write, 30_000_040_000, 8)),
        ];
        let (done, background) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &commands);
        let read = done.iter().find(|done| done.id == 1).unwrap();
        let early = background.iter().filter(|work| work.start < read.finish).count();
        assert_eq!(early, 0, "place {place}: {read:?}");
        assert!(read.finish - read.submitted < ms(30.0), "place {place}: {read:?}");
    }
}

/// The cache is above its high-water mark, so that pieces go whenever the arm is free: it is not while it is kept for a read, whatever
/// comes meanwhile.
#[test]
fn no_piece_goes_while_the_arm_is_kept_for_a_read() {
    let model = published_drive(&[
        ("write_policy.write-back.size_kib", "256"),
        ("write_policy.write-back.high_water_percent", "2"),
        ("write_policy.write-back.low_water_percent", "0"),
    ]);
    let dirty =
        (0..40_u64).map(|id| (ms(0.1 * id as f64), command(id, Op::Write, 900_000_000 * (id + 1), 8)));
    let dirty: Vec<(Nanos, Command)> = dirty.collect();
    let read_alone = |place: u64| (ms(6.0), command(100, Op::Read, 20_000_000_000 + place * 17_142_624, 8));
    let finish = |commands: &[(Nanos, Command)]| {
        let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), commands);
        done.iter().find(|done| done.id == 100).unwrap().finish
    };
    for place in 0..40_u64 {
        let mut commands = dirty.clone();
        commands.push(read_alone(place));
        let alone = finish(&commands);
        // Writes that overwrite what is in the cache, a millisecond apart, up to when the read is begun.
        commands.extend(
            (0..30_u64)
                .map(|turn| (ms(6.5 + turn as f64), command(200 + turn, Op::Write, 900_000_000 * 40, 8))),
        );
        let beside = finish(&commands);
        let a_revolution = Nanos(60_000_000_000 / 7200);
        assert!(
            beside < alone + a_revolution + ms(0.5),
            "place {place}: {alone:?} alone, {beside:?} beside writes"
        );
    }
}

/// A command with a limit of 50 ms has half a millisecond ahead of others for each that it has waited. The sector of the other
/// comes at 5 ms, its own at 8 ms, over 50 cylinders: it goes first once it has waited for 6 ms.
#[test]
fn what_a_limited_command_has_ahead_grows_with_the_share_of_its_limit() {
    let model = model(&NCQ.replace(" }", ", duration_limit_ms = 50.0 }"));
    let drive = Drive::new(Arc::clone(&model), 1);
    for (waited_ms, first) in [(5.0, 0), (6.5, 1), (49.0, 1)] {
        let now = ms(100.0);
        let mut queue = Queue::new("ncq(0)".parse().unwrap(), Knowledge::Layout(Arc::clone(&model)), None);
        queue.push(command(0, Op::Read, 50, 1), now - ms(waited_ms));
        queue.push(
            Command { flags: RequestFlags::LIMITED, ..command(1, Op::Read, 20_080, 1) },
            now - ms(waited_ms),
        );
        let taken = queue.pop(now, &[drive.clone().estimate(&model, now)], &[]).unwrap();
        assert_eq!(taken.waiting.command.id, first, "{waited_ms} ms");
    }
}

/// The drive turns to them a tick after sector 0 began, which is on time, and ends with it a tick after sector 1, the base, begins.
#[test]
fn a_sector_missed_by_a_tick_is_still_on_the_way() {
    let model = model(NCQ);
    let mut drive = Drive::new(Arc::clone(&model), 1);
    for (now, first) in [(1, 0), (2, 1)] {
        let now = Nanos(now);
        let mut queue = Queue::new("ncq".parse().unwrap(), Knowledge::Layout(Arc::clone(&model)), None);
        queue.push(command(0, Op::Read, 1, 1), now);
        queue.push(command(1, Op::Read, 0, 1), now);
        let taken = queue.pop(now, &[drive.estimate(&model, now)], &[]).unwrap();
        assert_eq!(taken.waiting.command.lba.0, first, "{now}");
    }
}

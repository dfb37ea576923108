//! Systems of any kind, on every path that serves them: the same rows, the same background work, the same summary.

use std::fmt::Write;

use headstack_drive::command::Busy;
use headstack_drive::spec::{RecalibrationMode, TransferModel};

use super::*;
use crate::library;
use crate::summary::UnitWork;

/// What a drive may be told, one choice of each line; what a drive refuses is left out.
const CHOICES: [(&str, &[&str]); 25] = [
    (
        "drive.*.write_policy",
        &[
            "{write-through={}}",
            "{immediate-reporting={}}",
            "{immediate-reporting={pending_writes=3, dirty_hit=\"overwrite\"}}",
            "{write-back={size_kib=64}}",
            "{write-back={size_kib=64, dirty_hit=\"delay\", idle_before_destage_ms=20, high_water_percent=60}}",
        ],
    ),
    ("drive.*.fidelity.transfer", &["linear"]),
    ("drive.*.fidelity.rotation", &["uniform"]),
    ("drive.*.fidelity.switch", &["fixed", "free"]),
    ("drive.*.fidelity.constant_ms", &["7.5"]),
    ("drive.*.fidelity.seek_scale", &["0.5", "0"]),
    ("drive.*.fidelity.rotation_scale", &["0.25", "0"]),
    ("drive.*.cache.segments", &["1", "4"]),
    ("drive.*.cache.segmentation", &["adaptive"]),
    ("drive.*.cache.read_ahead", &["none", "until-full", "aggressive", "on-arrival", "once-sequential"]),
    ("drive.*.cache.partial_hit", &["bypass"]),
    ("drive.*.cache.after_hit", &["discard"]),
    ("drive.*.cache.zero_latency", &["true"]),
    ("drive.*.buffer.size_kib", &["0", "16"]),
    ("drive.*.buffer.read_fence_kib", &["4"]),
    ("drive.*.buffer.bus_transfers", &["one", "bursts"]),
    ("drive.*.buffer.burst_kib", &["2", "8"]),
    ("drive.*.buffer.takes_next_write", &["true"]),
    ("drive.*.spindle.drift_ppm", &["120"]),
    (
        "drive.*.recalibration",
        &[
            "{mode=\"by-drive\", interval_s=2, duration_ms=30}",
            "{mode=\"by-drive\", interval_s=0.05, duration_ms=20}",
        ],
    ),
    ("drive.*.soft_errors", &["{read_probability=0.05, write_probability=0.1, mean_revolutions=1.5}"]),
    ("drive.*.physical_sector_bytes", &["4096"]),
    (
        "drive.*.power.condition",
        &[
            "[{name=\"idle_b\", after_s=0.1, watts=3.0, enter={time_s=0.01, energy_j=0.1}, recover={time_s=0.03, energy_j=0.2}}]",
        ],
    ),
    ("bus.*.disconnects", &["false"]),
    ("bus.*.arbitration_us", &["40"]),
];

/// A system with those of the choices that it takes.
fn build(text: &str, picks: &[(usize, usize)]) -> Option<Arc<System>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut system = load(text, &pairs)?;
    for &(choice, value) in picks {
        let (path, values) = CHOICES[choice % CHOICES.len()];
        pairs.push((path.to_owned(), values[value % values.len()].to_owned()));
        match load(text, &pairs) {
            Some(next) => system = next,
            None => drop(pairs.pop()),
        }
    }
    Some(Arc::new(system))
}

fn load(text: &str, pairs: &[(String, String)]) -> Option<System> {
    let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = library::Source { name, origin, directory: None, text: text.to_owned() };
    SystemConfig::from_source(&source, pairs).ok().and_then(|config| System::new(config).ok())
}

/// What every drive refuses is never drawn.
#[test]
fn every_choice_is_one_that_some_drive_takes() {
    for (path, values) in CHOICES {
        for value in values {
            let takes = |drive: &str| {
                let text = format!("[volume.v]\ndrives = [\"{drive}\"]\n");
                load(&text, &[(path.to_owned(), (*value).to_owned())]).is_some()
            };
            assert!(drive_names().into_iter().any(takes), "{path}={value}");
        }
    }
}

/// `(gap in µs, write?, where, sectors, flags)`.
type Draft = (u64, bool, (u8, u16), u32, u8);

fn drafts(most: usize) -> impl Strategy<Value = Vec<Draft>> {
    let gap = prop_oneof![3 => Just(0), 3 => 0..3_000_u64, 3 => 0..80_000_u64, 1 => 0..2_000_000_u64];
    let place = prop_oneof![2 => Just((0, 0)), 1 => Just((1, 0)), 2 => any::<u16>().prop_map(|at| (2, at))];
    let sectors = prop_oneof![4 => 1..40_u32, 1 => 40..600_u32];
    prop::collection::vec((gap, prop::bool::weighted(0.4), place, sectors, 0..20_u8), 1..most)
}

fn requests(drafts: &[Draft], system: &System) -> Vec<Request> {
    let devices = system.devices();
    let (mut arrival, mut last) = (0, vec![(0, 0); devices.len()]);
    let request = |(number, &(gap, is_write, (how, at), sectors, flags)): (usize, &Draft)| {
        arrival += gap * 1000;
        let device = (number * 7 + usize::from(flags)) % devices.len();
        let capacity = devices[device].sectors;
        let lba = match how {
            0 => last[device].1,
            1 => last[device].0,
            _ => u64::from(at) * 8 % (capacity / 3),
        };
        let lba = lba.min(capacity - u64::from(sectors));
        last[device] = (lba, lba + u64::from(sectors));
        let op = if is_write { Op::Write } else { Op::Read };
        let request =
            Request { device: device as u32, ..Request::new(Nanos(arrival), op, Lba(lba), sectors) };
        match flags {
            0 => Request { flags: RequestFlags::FLUSH, op: Op::Write, lba: Lba(0), sectors: 0, ..request },
            1 => Request { flags: RequestFlags::FORCE_MEDIA, ..request },
            2 => Request { flags: RequestFlags::FLUSH, op: Op::Write, ..request },
            _ => request,
        }
    };
    drafts.iter().enumerate().map(request).collect()
}

type Told = Result<(Keep, Summary), String>;

fn told(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> Told {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let mut summary =
        run(system, input, options, &mut kept, &mut |_| {}).map_err(|error| error.to_string())?;
    summary.parallel = None;
    Ok((kept, summary))
}

/// In the order of the requests: paths tell in order of completion, or request by request.
fn in_order((mut kept, summary): (Keep, Summary)) -> (Keep, Summary) {
    kept.rows.sort_by_key(|row| row.id);
    kept.background.sort_by_key(|row| (row.drive, row.work.start, row.work.lba));
    (kept, summary)
}

fn window(window: u8, requests: &[Request], plain: &RunOptions) -> RunOptions {
    let middle = requests[requests.len() / 2].arrival;
    let third = requests.len() as u64 / 3;
    let later = |by: u64| Some(middle + Nanos(by * 1_000_000));
    match window {
        0..4 => plain.clone(),
        4 => RunOptions { warmup: Warmup::Requests(third), ..plain.clone() },
        5 => RunOptions { until: later(7), ..plain.clone() },
        6 => RunOptions { warmup: Warmup::Requests(third), until: later(20), ..plain.clone() },
        7 => RunOptions { warmup: Warmup::Seconds(middle.as_s() / 2.0), until: later(1), ..plain.clone() },
        _ => RunOptions { warmup: Warmup::Seconds(middle.as_s() + 0.01), ..plain.clone() },
    }
}

/// What holds of every run that has no beginning left out and no end cut off.
fn check_sums(system: &System, requests: &[Request], kept: &Keep, summary: &Summary) {
    assert_eq!(kept.rows.len(), requests.len());
    for row in &kept.rows {
        assert_eq!(row.phases.total(), row.response(), "{row:?}");
        assert!(row.arrival <= row.start && row.start <= row.finish, "{row:?}");
    }
    let work = kept.rows.iter().fold(Busy::default(), |sum, row| sum + row.busy);
    let held: f64 = summary.buses.iter().map(|bus| bus.utilisation * summary.simulated_s).sum();
    assert!((work.bus.as_s() - held).abs() <= 1e-9 * held + 1e-12, "rows {work:?}, buses held for {held} s");
    let of_drives = |kind: fn(&UnitWork) -> f64| summary.drives.iter().map(|drive| kind(&drive.busy_s)).sum();
    let told: [f64; 3] =
        [of_drives(|busy| busy.seek), of_drives(|busy| busy.rotation), of_drives(|busy| busy.transfer)];
    for (rows, told) in [work.seek, work.rotation, work.transfer].iter().zip(told) {
        assert!((rows.as_s() - told).abs() < 1e-9, "rows {work:?}, drives {told:?}");
    }
    let commands: u64 = summary.drives.iter().map(|drive| drive.commands).sum();
    if commands == requests.len() as u64 {
        for (bus, used) in summary.buses.iter().enumerate() {
            let on_bus = |row: &&CompletionRow| system.config().drives[row.drive as usize].bus == bus;
            let rows: f64 = kept.rows.iter().filter(on_bus).map(|row| row.busy.bus.as_s()).sum();
            let held = used.utilisation * summary.simulated_s;
            assert!((rows - held).abs() <= 1e-9 * held + 1e-12, "bus {bus}: rows {rows}, held {held}");
            assert!(
                used.utilisation <= 1.0 + 1e-12 && used.data_utilisation <= used.utilisation + 1e-12,
                "{used:?}"
            );
        }
        for (number, drive) in summary.drives.iter().enumerate() {
            let rows = kept.rows.iter().filter(|row| row.drive as usize == number);
            let busy = rows.fold([0; 3], |sum, row| {
                let busy = row.busy;
                [sum[0] + busy.seek.0, sum[1] + busy.rotation.0, sum[2] + busy.transfer.0]
            });
            let told = [drive.busy_s.seek, drive.busy_s.rotation, drive.busy_s.transfer];
            for (sum, told) in busy.iter().zip(told) {
                assert!((*sum as f64 * 1e-9 - told).abs() < 1e-9, "drive {number}: rows {busy:?}, {told:?}");
            }
        }
    }
    for (number, drive) in summary.drives.iter().enumerate() {
        assert!(drive.utilisation <= 1.0 + 1e-12, "drive {number}: {drive:?}");
        let work = drive.busy_s;
        let sum = work.seek + work.rotation + work.transfer + work.background;
        let spec = &system.config().drives[number].spec;
        // Of no kind are a constant time, recalibration, waking up, and what a linear transfer waits for a slower bus.
        let fidelity = &spec.fidelity;
        let has_kinds = fidelity.transfer != TransferModel::Linear
            && fidelity.constant_ms.is_none()
            && spec.power.as_ref().is_none_or(|power| power.condition.is_empty())
            && spec.recalibration.mode == RecalibrationMode::default();
        if spec.actuators == 1 && spec.arms.is_one() && has_kinds {
            // Work that goes on after the last completion is not of the run's time; what was read ahead counts for the read, too.
            let used = drive.utilisation * summary.simulated_s;
            let after: f64 = kept
                .background
                .iter()
                .filter(|row| row.drive as usize == number)
                .map(|row| row.work.finish.as_s() - summary.simulated_s)
                .filter(|after| *after > 0.0)
                .sum();
            assert!(used <= sum + 1e-6, "drive {number}: {work:?} {used}");
            if spec.cache.is_none() {
                assert!(sum - after <= used + 1e-6, "drive {number}: {work:?} {used} {after}");
            }
        }
    }
}

/// A run that is cut and one that counts from there: drives and buses work in one of them or in the other, and so they rest.
fn check_parts(system: &Arc<System>, requests: &[Request], whole: &Summary, options: &RunOptions) {
    let begin = requests[requests.len() / 2].arrival;
    let first = requests.partition_point(|request| request.arrival < begin);
    // What a drive that puts its choice off turns to hangs on what comes after the cut.
    let puts_off =
        system.config().drives.iter().any(|drive| drive.spec.controller.scheduler.starts_with("ncq"));
    if first == 0 || puts_off {
        return;
    }
    let part = |options: RunOptions| go(system, source(requests), &options).1;
    let cut = part(RunOptions { until: Some(begin - Nanos(1)), ..options.clone() });
    let rest = part(RunOptions { warmup: Warmup::Requests(first as u64), ..options.clone() });
    let times = |summary: &Summary, from: Nanos| -> Vec<f64> {
        let counted_s = summary.simulated_s - from.as_s();
        let worked = summary.drives.iter().map(|drive| drive.utilisation * counted_s);
        let held = summary.buses.iter().map(|bus| bus.utilisation * counted_s);
        let rests = summary.drives.iter().flat_map(|drive| &drive.conditions);
        let rested = rests.flat_map(|rest| [rest.entering_s, rest.within_s, rest.recovering_s]);
        worked.chain(held).chain(rested).collect()
    };
    let all = times(whole, Nanos::ZERO);
    let parts = times(&cut, Nanos::ZERO).into_iter().zip(times(&rest, begin)).map(|(one, two)| one + two);
    for ((all, parts), at) in all.iter().zip(parts).zip(0..) {
        assert!((all - parts).abs() < 1e-7, "time {at}: {all} s, {parts} s in two parts, cut at {begin}");
    }
    for drive in &cut.drives {
        let work = drive.busy_s;
        assert!([work.seek, work.rotation, work.transfer].iter().all(|time| *time >= 0.0), "{work:?}");
        assert!(drive.utilisation <= 1.0 + 1e-12, "{drive:?}");
    }
    for bus in &cut.buses {
        assert!(bus.data_utilisation <= bus.utilisation + 1e-12, "{bus:?}");
    }
}

fn drive_names() -> Vec<&'static str> {
    library::drives().iter().map(|entry| entry.name).collect()
}

fn text(
    volumes: &[(prop::sample::Index, prop::sample::Index, u8)],
    shared: Option<u32>,
    host: &str,
) -> String {
    let names = drive_names();
    let mut text = format!("[host]\nsector_bytes = 4096\n{host}\n");
    if let Some(rate) = shared {
        write!(text, "[bus.b]\nrate_mb_per_s = {rate}\nreconnect_us = 5\n").unwrap();
    }
    for (number, (first, second, level)) in volumes.iter().enumerate() {
        let (first, second) = (first.get(&names), second.get(&names));
        let bus = if shared.is_some() { "bus = \"b\"\n" } else { "" };
        let (level, drives) = match level {
            0 => ("concatenation\"", format!("\"{first}\", \"{second}\"")),
            1 => ("raid-0\"\nstripe_unit_kib = 16", format!("\"{first}\", \"{first}\"")),
            2 => ("mirror\"", format!("\"{first}\", \"{first}\"")),
            3 => ("raid-5\"\nstripe_unit_kib = 16", format!("\"{first}\", \"{first}\", \"{first}\"")),
            _ => ("single\"", format!("\"{first}\"")),
        };
        write!(text, "[volume.v{number}]\nlevel = \"{level}\ndrives = [{drives}]\n{bus}").unwrap();
    }
    text
}

type Volumes = Vec<(prop::sample::Index, prop::sample::Index, u8)>;

fn volumes() -> impl Strategy<Value = Volumes> {
    let volume = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..7_u8);
    prop::collection::vec(volume, 1..4)
}

fn picks() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..CHOICES.len(), 0..8_usize), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_served_in_closed_form_is_told_the_same_by_events_and_by_threads(
        drafts in drafts(80),
        volumes in volumes(),
        picks in picks(),
        around in 0..9_u8,
        threads in 2..4_usize,
        batch in prop_oneof![3..40_usize, Just(5000)],
    ) {
        let text = text(&volumes, None, "outstanding_per_drive = 1");
        let Some(system) = build(&text, &picks) else { return Ok(()) };
        if !fast::applies(&system) {
            return Ok(());
        }
        let requests = requests(&drafts, &system);
        let options = window(around, &requests, &RunOptions { threads: Some(1), ..RunOptions::default() });
        let fast = told(&system, &requests, &options);
        let many = RunOptions { threads: Some(threads), batch: Some(batch), ..options.clone() };
        prop_assert_eq!(&fast, &told(&system, &requests, &many));
        let events = told(&system, &requests, &RunOptions { event_path: true, ..options.clone() });
        if let (Ok(one), 0..4) = (&fast, around) {
            check_parts(&system, &requests, &one.1, &options);
            check_sums(&system, &requests, &one.0, &one.1);
        }
        prop_assert_eq!(fast.map(in_order), events.map(in_order));
    }

    #[test]
    fn a_closed_replay_is_the_same_requests_at_the_same_times(
        drafts in drafts(60),
        volumes in volumes(),
        picks in picks(),
        shared in prop::option::weighted(0.3, 1..40_u32),
        around in 0..9_u8,
    ) {
        let text = text(&volumes, shared, "outstanding_per_drive = 1");
        let Some(system) = build(&text, &picks) else { return Ok(()) };
        let requests = requests(&drafts, &system);
        let replay = |options| RunOptions { replay: Replay::Closed, ..options };
        let Ok((kept, _)) = told(&system, &requests, &replay(RunOptions::default())) else { return Ok(()) };
        let mut issued = requests.clone();
        for row in &kept.rows {
            issued[row.id as usize].arrival = row.arrival;
        }
        // What counts is told by the instants at which requests are issued.
        let options = window(around, &issued, &RunOptions { threads: Some(1), ..RunOptions::default() });
        let closed = told(&system, &requests, &replay(options.clone())).map(in_order);
        let open = told(&system, &issued, &options).map(in_order);
        let (closed, open) = (closed.unwrap(), open.unwrap());
        prop_assert_eq!(&closed.0.rows, &open.0.rows);
        prop_assert_eq!(&closed.1.drives, &open.1.drives);
        prop_assert_eq!(&closed.1.buses, &open.1.buses);
        prop_assert_eq!(closed.1.simulated_s, open.1.simulated_s);
        if around < 4 {
            prop_assert_eq!(closed.0.background, open.0.background);
        }
    }

    #[test]
    fn sums_hold_of_any_system(
        drafts in drafts(80),
        volumes in volumes(),
        picks in picks(),
        shared in prop::option::of(1..40_u32),
        (queue, limit, depth, cpu) in (0..8_usize, prop::option::of(1..5_u32), prop::option::of(1..5_u32), 0..3_u32),
        cache in prop::option::weighted(0.2, 4..40_u32),
        around in 0..9_u8,
    ) {
        let scheduler = ["fcfs", "sstf", "look", "c-look", "vscan(0.2)", "fcfs", "sptf", "fcfs"][queue];
        let mut host = format!("scheduler = \"{scheduler}\"\n");
        if let Some(limit) = limit { writeln!(host, "queue_limit = {limit}").unwrap(); }
        if let Some(depth) = depth { writeln!(host, "outstanding_per_drive = {depth}").unwrap(); }
        if cpu == 0 { host += "cpu_ms_per_request = 0.3\n"; }
        if let Some(blocks) = cache { writeln!(host, "buffer_cache = {{ blocks = {blocks}, block_kib = 8 }}").unwrap(); }
        let text = text(&volumes, shared, &host);
        let Some(system) = build(&text, &picks) else { return Ok(()) };
        let requests = requests(&drafts, &system);
        let options = window(around, &requests, &RunOptions::default());
        let one = told(&system, &requests, &options);
        if let (Ok(one), 0..4) = (&one, around) {
            prop_assert_eq!(one.0.rows.len(), requests.len());
            check_parts(&system, &requests, &one.1, &options);
            if cache.is_none() {
                check_sums(&system, &requests, &one.0, &one.1);
            }
        }
        let events = told(&system, &requests, &RunOptions { event_path: true, ..options.clone() });
        prop_assert_eq!(one.map(in_order), events.map(in_order));
    }
}

/// Both halves of a request take equally long on two equal drives; which of them is told of must not hang on the path.
#[test]
fn of_parts_that_end_together_that_on_the_later_drive_counts() {
    let text = "[host]\noutstanding_per_drive = 1\n[volume.v]\nlevel = \"raid-0\"\nstripe_unit_kib = 16\n\
                drives = [\"dec-ra81\", \"dec-ra81\"]\n";
    let system = system(text, &[]);
    let write = |lba, sectors| Request::new(Nanos(0), Op::Write, Lba(lba), sectors);
    // The first keeps the one drive longer than the other: both wait for the same sector in the end.
    let requests = [write(0, 40), write(0, 64), write(32, 64)];
    let (fast, fast_summary) = go(&system, source(&requests), &RunOptions::default());
    let (events, event_summary) = go(&system, source(&requests), &event_path());
    assert_eq!((fast.rows[1].finish, fast.rows[1].drive), (events.rows[1].finish, 1));
    assert_eq!(by_id(fast), by_id(events));
    assert_eq!(fast_summary, event_summary);
    let closed = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let (closed, _) = go(&system, source(&requests[2..]), &closed);
    assert_eq!(closed.rows[0].drive, 1);
}

/// A command of which nothing hangs on the rotation waits for no sector that would let the choice be put off.
#[test]
fn a_constant_time_begins_at_once() {
    let system = lone(
        "nearline-22tb",
        &[
            ("fidelity.constant_ms", "7.5"),
            ("host.outstanding_per_drive", "1"),
            ("controller.scheduler", "ncq"),
        ],
    );
    let requests = [Request::new(Nanos(0), Op::Read, Lba(0), 8)];
    let (_, fast) = go(&system, source(&requests), &RunOptions::default());
    let (_, events) = go(&system, source(&requests), &event_path());
    assert_eq!((events.drives[0].queue_mean, events.simulated_s), (1.0, 0.0075));
    assert_eq!(fast, events);
}

#[test]
fn the_seek_of_a_read_without_a_buffer_is_work() {
    let system = lone("mock-disk", &[("buffer.size_kib", "0"), ("host.outstanding_per_drive", "1")]);
    let requests = [Request::new(Nanos(0), Op::Read, Lba(2304), 8)];
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    let busy = kept.rows[0].busy;
    assert!(busy.seek > Nanos::ZERO);
    let used = summary.drives[0].utilisation * summary.simulated_s;
    assert!((used - (busy.seek + busy.rotation + busy.transfer).as_s()).abs() < 1e-9, "{used} {busy:?}");
}

/// A flush goes to all drives before its data go to one: the second command may come after the run has ended.
#[test]
fn a_command_that_follows_after_the_end_is_in_no_account() {
    let text = "[volume.v]\nlevel = \"concatenation\"\ndrives = [\"hp-97560\", \"hp-97560\"]\n";
    let set =
        [("drive.*.write_policy", "{write-back={size_kib=64}}"), ("drive.*.controller.queue_depth", "1")];
    let system = system(text, &set);
    let write = Request::new(Nanos(0), Op::Write, Lba(500_000), 8);
    let requests = [write, Request { flags: RequestFlags::FLUSH, lba: Lba(9_000), ..write }];
    let replay = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let (kept, _) = go(&system, source(&requests), &replay);
    let issued = [requests[0], Request { arrival: kept.rows[1].arrival, ..requests[1] }];
    // While what was written before goes to the media.
    let until = Some(kept.rows[1].arrival + Nanos(3_000_000));
    let (_, closed) = go(&system, source(&requests), &RunOptions { until, ..replay });
    let (_, open) = go(&system, source(&issued), &RunOptions { until, ..RunOptions::default() });
    assert_eq!((closed.in_flight_cut, &closed.drives, &closed.buses), (1, &open.drives, &open.buses));
}

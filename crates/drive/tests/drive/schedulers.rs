//! Every scheduler against its naive twin, which looks at everything that waits.

use crate::any::{any_options, many_drives};
use crate::common::plain;
use headstack_drive::command::Command;
use headstack_drive::scheduler::{Estimate, Knowledge, Policy, Queue, Taken, Target};
use headstack_drive::spec::{DriveSpec, HeadPlacement};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fmt::Write as _;
use std::sync::Arc;

/// A command that waits in the naive queue, which is a list in order of arrival.
#[derive(Clone, Copy, Debug)]
struct Row {
    command: Command,
    arrived: Nanos,
}

impl Row {
    fn end(&self) -> u64 {
        self.command.lba.0 + u64::from(self.command.sectors)
    }
}

/// What a naive scheduler remembers.
struct Naive<'a> {
    model: &'a DriveModel,
    /// Coordinates are cylinders, not addresses.
    by_cylinder: bool,
    rows: Vec<Row>,
    last_start: u64,
    last_end: u64,
    last_op: Op,
    last_flags: RequestFlags,
    joined: u64,
    /// Of reads (or all), of writes.
    is_downward: bool,
    /// Ends of arrival of the present batch: how many of the oldest rows belong to it.
    batch: usize,
}

impl Naive<'_> {
    fn coordinate(&self, lba: u64) -> u64 {
        if !self.by_cylinder {
            return lba;
        }
        // Heads on a radial line have a band each: the line is that of the arm's positions.
        u64::from(self.model.layout.locate(lba).cylinder % positions(self.model))
    }

    fn at(&self, row: &Row) -> u64 {
        if self.by_cylinder { u64::from(target(self.model, row).cylinder) } else { row.command.lba.0 }
    }

    fn start(&self) -> u64 {
        self.coordinate(self.last_start)
    }

    fn end(&self) -> u64 {
        if self.by_cylinder { self.coordinate(self.last_end.saturating_sub(1)) } else { self.last_end }
    }

    /// Index of the command that the bare scheduler chooses among `rows`, and the arm.
    fn choose(
        &mut self,
        name: &str,
        value: f64,
        rows: &[usize],
        now: Nanos,
        sight: &Sight<'_>,
    ) -> (usize, usize) {
        let nearest = |this: &Self, from: u64, penalty: u64| {
            let cost = |&i: &usize| {
                let at = this.at(&this.rows[i]);
                let behind = if this.is_downward { at > from } else { at < from };
                (at.abs_diff(from) + if behind { penalty } else { 0 }, i)
            };
            rows.iter().copied().min_by_key(cost).unwrap()
        };
        let sweep = |this: &Self, from: u64| {
            let cost = |&i: &usize| {
                let at = this.at(&this.rows[i]);
                let behind = if this.is_downward { at > from } else { at < from };
                (behind, at.abs_diff(from), i)
            };
            rows.iter().copied().min_by_key(cost).unwrap()
        };
        let upward = |this: &Self, from: u64, rows: &[usize]| {
            let cost = |&i: &usize| {
                let at = this.at(&this.rows[i]);
                (at < from, at, i)
            };
            rows.iter().copied().min_by_key(cost).unwrap()
        };
        let index = match name {
            "fcfs" => rows[0],
            "sstf" => nearest(self, self.end(), 0),
            "vscan" => {
                let stroke = if self.by_cylinder {
                    u64::from(positions(self.model))
                } else {
                    self.model.layout.capacity()
                };
                nearest(self, self.end(), (value * stroke as f64) as u64)
            }
            "scan" => sweep(self, self.end()),
            "look" => sweep(self, self.start()),
            "c-scan" => upward(self, self.end(), rows),
            "c-look" => upward(self, self.start(), rows),
            "batch-fcfs" => {
                if self.batch == 0 {
                    self.batch = rows.len().min(value as usize);
                }
                let index = upward(self, self.end(), &rows[..self.batch]);
                self.batch -= 1;
                index
            }
            _ => return self.positional(name, value, rows, now, sight),
        };
        (index, 0)
    }

    fn positional(
        &self,
        name: &str,
        value: f64,
        rows: &[usize],
        now: Nanos,
        sight: &Sight<'_>,
    ) -> (usize, usize) {
        let group = |cylinder: u64| cylinder / value.max(1.0) as u64;
        let present = group(self.end());
        let of_row = |&i: &usize| {
            let group = group(self.at(&self.rows[i]));
            (group < present, group)
        };
        let next = rows.iter().map(of_row).min();
        let mut best: Option<(f64, usize, usize)> = None;
        for &i in rows {
            let row = &self.rows[i];
            let place = target(self.model, row);
            if name == "gsptf" && Some(of_row(&i)) != next {
                continue;
            }
            let is_hit = row.command.op == Op::Read
                && sight.buffered.iter().any(|&(s, e)| s <= row.command.lba.0 && row.end() <= e);
            for (arm, estimate) in sight.arms.iter().enumerate() {
                let mut start = estimate.start(row.command.op, &place, row.command.sectors);
                if is_hit && matches!(name, "spctf" | "aspctf") {
                    start = now;
                }
                let waited = now.saturating_sub(row.arrived);
                let (start_ns, waited_ns) = (start.0 as f64, waited.0 as f64);
                let cost = match name {
                    "satf" => start_ns + estimate.transfer(&place, row.command.sectors).0 as f64,
                    "asptf" | "aspctf" => {
                        start_ns - (value * 4_294_967_296.0).round() / 4_294_967_296.0 * waited_ns
                    }
                    "wstf" => start.saturating_sub(now).0 as f64 * (value * 1e6 - waited_ns).max(0.0),
                    _ => start_ns,
                };
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, i, arm));
                }
            }
        }
        best.map(|(_, index, arm)| (index, arm)).unwrap()
    }

    /// What the whole policy takes.
    fn pop(&mut self, case: &Case, now: Nanos, sight: &Sight<'_>) -> (Row, usize) {
        let (mut index, mut arm) = (None, 0);
        if let Some(limit) = case.age_limit_ms
            && now.saturating_sub(self.rows[0].arrived) > Nanos::from_ms(limit)
        {
            index = Some(0);
        }
        if index.is_none() && case.concatenate_kib > 0.0 {
            index = self
                .rows
                .iter()
                .position(|row| row.command.op == self.last_op && row.command.lba.0 == self.last_end);
            index = index.filter(|&i| {
                let Command { sectors, flags, .. } = self.rows[i].command;
                let is_small = (self.joined + u64::from(sectors)) as f64 / 2.0 <= case.concatenate_kib;
                is_small && flags == self.last_flags
            });
        }
        if index.is_none() {
            let mut rows: Vec<usize> = (0..self.rows.len()).collect();
            let first = |row: &Row| row.command.flags.contains(RequestFlags::PRIORITY);
            if case.priority_first && self.rows.iter().any(first) {
                rows.retain(|&i| first(&self.rows[i]));
            }
            let is_read = |&i: &usize| self.rows[i].command.op == Op::Read;
            if case.reads_first && rows.iter().any(is_read) {
                rows.retain(is_read);
            }
            let (chosen, of) = self.choose(case.name, case.value, &rows, now, sight);
            (index, arm) = (Some(chosen), of);
            let read = self.rows[chosen];
            if case.reads_first && read.command.op == Op::Read {
                let older = self.rows[..chosen].iter().position(|row| {
                    row.command.op == Op::Write
                        && row.command.lba.0 < read.end()
                        && read.command.lba.0 < row.end()
                });
                if let Some(older) = older {
                    (index, arm) = (Some(older), 0);
                }
            }
        }
        let row = self.rows.remove(index.unwrap());
        let from = if matches!(case.name, "look") { self.start() } else { self.end() };
        let at = self.at(&row);
        if at != from {
            self.is_downward = at < from;
        }
        let follows = row.command.op == self.last_op && row.command.lba.0 == self.last_end;
        self.joined = u64::from(row.command.sectors) + if follows { self.joined } else { 0 };
        (self.last_start, self.last_end, self.last_op) = (row.command.lba.0, row.end(), row.command.op);
        self.last_flags = row.command.flags;
        (row, arm)
    }
}

fn target(model: &DriveModel, row: &Row) -> Target {
    Target::of(model, &row.command)
}

/// What the drive shows.
struct Sight<'a> {
    arms: Vec<Estimate<'a>>,
    buffered: Vec<(u64, u64)>,
}

/// A policy in its parts.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    value: f64,
    unit: &'static str,
    age_limit_ms: Option<f64>,
    priority_first: bool,
    reads_first: bool,
    concatenate_kib: f64,
}

impl Case {
    fn policy(&self) -> Policy {
        let mut text = self.name.to_owned();
        if self.value >= 0.0 {
            write!(text, "({}{})", self.value, self.unit).unwrap();
        }
        if let Some(limit) = self.age_limit_ms {
            write!(text, "+age-limit({limit} ms)").unwrap();
        }
        if self.priority_first {
            text += "+priority-first";
        }
        if self.reads_first {
            text += "+reads-first";
        }
        if self.concatenate_kib > 0.0 {
            write!(text, "+concatenate({} KiB)", self.concatenate_kib).unwrap();
        }
        text.parse().unwrap()
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let scheduler = prop_oneof![
        prop::sample::select(vec!["fcfs", "sstf", "scan", "look", "c-scan", "c-look", "satf"])
            .prop_map(|name| (name, -1.0, "")),
        prop::sample::select(vec!["sptf", "spctf"]).prop_map(|name| (name, -1.0, "")),
        prop::sample::select(vec![0.0, 0.1, 0.2, 1.0]).prop_map(|value| ("vscan", value, "")),
        (1_u32..6).prop_map(|size| ("batch-fcfs", f64::from(size), "commands")),
        (
            prop::sample::select(vec!["asptf", "aspctf"]),
            prop::sample::select(vec![0.0, 0.015_625, 0.25, 1.0, 30.0])
        )
            .prop_map(|(name, value)| (name, value, "")),
        prop::sample::select(vec![20.0, 200.0, 2000.0]).prop_map(|value| ("wstf", value, "ms")),
        (1_u32..60).prop_map(|size| ("gsptf", f64::from(size), "cylinders")),
    ];
    let modifiers = (
        prop::option::of(prop::sample::select(vec![0.0, 30.0, 300.0])),
        (prop::bool::weighted(0.3), prop::bool::weighted(0.3)),
        prop::sample::select(vec![0.0, 0.0, 8.0]),
    );
    (scheduler, modifiers).prop_map(|((name, value, unit), (age_limit_ms, firsts, concatenate_kib))| {
        // The age bound, where there is one, is the rarer case.
        let (reads_first, priority_first) = if name == "batch-fcfs" { (false, false) } else { firsts };
        let (age_limit_ms, concatenate_kib) =
            if name == "batch-fcfs" { (None, 0.0) } else { (age_limit_ms, concatenate_kib) };
        Case { name, value, unit, age_limit_ms, priority_first, reads_first, concatenate_kib }
    })
}

/// The plain drive with other zones, skews, seeks and settles.
fn any_drive() -> impl Strategy<Value = DriveSpec> {
    let zones = prop::collection::vec((3_u32..60, 7_u32..130, 0_u32..7, 0_u32..7), 1..4);
    let seek = prop_oneof![
        Just("[seek.linear]\nsingle_cylinder_ms = 2.0\nfull_stroke_ms = 11.8".to_owned()),
        Just("[seek.constant]\ntime_ms = 4.0".to_owned()),
        Just(
            "[seek.two-piece]\nboundary_cylinders = 20\nshort_ms = [0.5, 0.7]\nlong_ms = [3.0, 0.01]"
                .to_owned()
        ),
        // A measured curve goes up and down.
        prop::collection::vec(0.3_f64..9.0, 3..12).prop_map(|times| {
            let points: Vec<String> =
                times.iter().enumerate().map(|(i, ms)| format!("[{}, {ms:.3}]", 1 + 7 * i)).collect();
            format!("[seek.table]\npoints = [{}]", points.join(", "))
        }),
    ];
    let mechanics = (0.0_f64..3.0, -0.3_f64..0.5, -0.3_f64..2.0, -0.2_f64..0.2, any::<bool>());
    (any_options(), zones, seek, mechanics, 1_u32..6, 3000_u32..16_000).prop_map(
        |(options, zones, seek, (head, read, write, inward, after), heads, rpm)| {
            let mut layout = format!("[layout]\nheads = {heads}\n");
            let mut first = 0;
            for (cylinders, sectors, track_skew, cylinder_skew) in zones {
                write!(
                    layout,
                    "[[layout.zone]]\nfirst_cylinder = {first}\nlast_cylinder = {}\nsectors_per_track = {sectors}\n\
                     track_skew_sectors = {track_skew}\ncylinder_skew_sectors = {cylinder_skew}\n",
                    first + cylinders - 1
                )
                .unwrap();
                first += cylinders;
            }
            let mechanics = format!(
                "[mechanics]\nhead_switch_ms = {head}\nread_settle_ms = {read}\nwrite_settle_ms = {write}\n\
                 inward_seek_extra_ms = {inward}\nsettle_after_head_switch = {after}\n"
            );
            plain(&format!("rotation_rpm = {rpm}.0\n{options}{layout}{seek}\n{mechanics}"))
        },
    )
}

/// One step: something comes (where, in 2^-32 of the drive; sectors; read), or something is taken.
#[derive(Clone, Debug)]
enum Step {
    Push { place: u32, sectors: u32, read: bool, follows: bool, priority: bool },
    Pop { wait_us: u32, hits: u32 },
}

fn any_push() -> impl Strategy<Value = Step> {
    (any::<u32>(), 1_u32..12, any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.4)).prop_map(
        |(place, sectors, read, follows, priority)| Step::Push { place, sectors, read, follows, priority },
    )
}

fn any_pop() -> impl Strategy<Value = Step> {
    (0_u32..40_000, any::<u32>()).prop_map(|(wait_us, hits)| Step::Pop { wait_us, hits })
}

fn any_steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop_oneof![3 => any_push(), 2 => any_pop()], 1..count)
}

/// A queue that becomes long, and short again: the schedulers keep a long one otherwise than a short one.
fn any_deep_steps() -> impl Strategy<Value = Vec<Step>> {
    let fill = prop::collection::vec(any_push(), 240..330);
    let drain = prop::collection::vec(prop_oneof![1 => any_push(), 3 => any_pop()], 300..500);
    (fill, drain).prop_map(|(fill, drain)| fill.into_iter().chain(drain).collect())
}

/// Where the arm can be: cylinders, or those of a head's band.
fn positions(model: &DriveModel) -> u32 {
    let (arms, cylinders) = (&model.spec().arms, model.layout.cylinders());
    if arms.head_placement == HeadPlacement::Radial {
        cylinders.div_ceil(arms.heads_per_surface)
    } else {
        cylinders
    }
}

fn twins_agree(
    spec: &DriveSpec,
    case: &Case,
    by_cylinder: bool,
    arms: usize,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let Ok(model) = DriveModel::new(spec) else { return Ok(()) };
    let model = Arc::new(model);
    let capacity = model.layout.capacity();
    let policy = case.policy();
    let needs_layout = policy.needs() > headstack_drive::scheduler::Needs::Addresses;
    let knowledge = match (needs_layout, by_cylinder) {
        (true, _) => Knowledge::Layout(Arc::clone(&model)),
        (false, true) => Knowledge::Cylinders(Arc::clone(&model)),
        (false, false) => Knowledge::Addresses { sectors: capacity, sector_bytes: 512 },
    };
    let mut queue = Queue::new(policy, knowledge, None);
    let mut naive = Naive {
        model: &model,
        by_cylinder: by_cylinder || needs_layout,
        rows: Vec::new(),
        last_start: 0,
        last_end: 0,
        last_op: Op::Read,
        last_flags: RequestFlags::default(),
        joined: 0,
        is_downward: false,
        batch: 0,
    };
    let bus = model.bus();
    // Several drives stand for the arms of one: each has its own place and rotation.
    let mut drives: Vec<Drive> = (0..arms).map(|i| Drive::new(Arc::clone(&model), i as u64)).collect();
    let (mut now, mut next) = (Nanos::ZERO, 0);
    for (id, step) in steps.iter().enumerate() {
        match *step {
            Step::Push { place, sectors, read, follows, priority } => {
                let sectors = u64::from(sectors).min(capacity) as u32;
                let free = capacity - u64::from(sectors);
                let lba = if follows { next } else { (u64::from(place) * (free + 1)) >> 32 }.min(free);
                next = lba + u64::from(sectors);
                let op = if read { Op::Read } else { Op::Write };
                let marks = [RequestFlags::default(), RequestFlags::PRIORITY];
                let flags = marks[usize::from(priority && case.priority_first)];
                let command = Command { id: id as u64, op, lba: Lba(lba), sectors, flags };
                queue.push(command, now);
                naive.rows.push(Row { command, arrived: now });
            }
            Step::Pop { wait_us, hits } => {
                if naive.rows.is_empty() {
                    prop_assert!(queue.pop(now, &[], &[]).is_none());
                    continue;
                }
                now += Nanos(u64::from(wait_us) * 1000);
                let from = (u64::from(hits) * capacity) >> 32;
                let buffered = vec![(from, (from + 300).min(capacity))];
                // All heads of one drive, or those of each that were used last.
                let estimates = match drives.as_mut_slice() {
                    [drive] => drive.estimates(&model, now),
                    drives => drives.iter_mut().map(|drive| drive.estimate(&model, now)).collect(),
                };
                let sight = Sight { arms: estimates, buffered };
                let taken = queue.pop(now, &sight.arms, &sight.buffered);
                let (row, arm) = naive.pop(case, now, &sight);
                let Some(Taken { waiting, arm: found, .. }) = taken else { panic!("nothing was taken") };
                prop_assert_eq!((waiting.command.id, waiting.arrived), (row.command.id, row.arrived));
                prop_assert_eq!(found, arm);
                let drive = if arms == 1 { 0 } else { arm };
                let outcome = drives[drive].serve(now, row.command, &bus, &mut Vec::new());
                if arms == 1 {
                    now = now.max(outcome.finish);
                }
            }
        }
        prop_assert_eq!(queue.len(), naive.rows.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_scheduler_equals_its_naive_twin(
        spec in any_drive(), case in any_case(), by_cylinder in any::<bool>(), steps in any_steps(120),
    ) {
        twins_agree(&spec, &case, by_cylinder, 1, &steps)?;
    }

    #[test]
    fn several_arms_share_the_best(
        spec in any_drive(), case in any_case(), arms in 2_usize..4, steps in any_steps(60),
    ) {
        twins_agree(&spec, &case, true, arms, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_long_queue_is_searched_as_well(
        spec in any_drive(), case in any_case(), arms in 1_usize..3, steps in any_deep_steps(),
    ) {
        twins_agree(&spec, &case, true, arms, &steps)?;
    }
}

/// The same over many more drives and deeper queues.
#[test]
#[ignore = "slow: 20,000 random drives"]
fn every_scheduler_equals_its_naive_twin_over_many_drives() {
    let mut runner = TestRunner::new(many_drives());
    let strategy = (any_drive(), any_case(), any::<bool>(), 1_usize..3, any_steps(400));
    runner
        .run(&strategy, |(spec, case, by_cylinder, arms, steps)| {
            twins_agree(&spec, &case, by_cylinder, arms, &steps)
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

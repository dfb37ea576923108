//! Failures during a run, and rebuilding what failed drives held.
//!
//! A rebuild goes through the stripes step by step, with a window of steps in flight: read as many members as tell the lost one,
//! write it where it belongs. A step and writes of the same stripes wait for each other. What was sent to a drive before it failed
//! is still served. Drives are rebuilt one after the other, in the order of their failures.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use headstack_units::{Nanos, Op, RequestFlags};

use super::intake::Intake;
use super::locks::{Locks, overlap};
use super::{Array, Home, Rebuilt, Reconstruction, Replacement, State};
use crate::layer::stripes::Span;
use crate::layer::{Effect, Members, Piece, Target, UnitMap};
use crate::spec::{DriveFailure, RebuildOrder, RebuildPriority, RebuildSpec};

/// The timers of the rate limit, and of writes that a drive takes later; smaller tags are failures.
const PACE: u32 = u32::MAX;
const INTAKE: u32 = u32::MAX - 1;
/// How many instants of a rebuild's progress are noted.
pub(crate) const MARKS: u64 = 20;

/// How the rebuild of a drive went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The failed drive: its position in the volume.
    pub(crate) drive: usize,
    /// The spare drive that took its place; none where the room is distributed, or where there was no spare.
    pub(crate) onto: Option<usize>,
    pub(crate) failed: Nanos,
    pub(crate) began: Option<Nanos>,
    pub(crate) finished: Option<Nanos>,
    /// Sectors that the drive held.
    pub(crate) held: u64,
    /// Sectors written so far.
    pub(crate) sectors: u64,
    /// What of it was rebuilt before the run.
    pub(crate) before: u64,
    /// What it held of the steps that are through, in sectors.
    through: u64,
    /// The share of what it held that is through, in parts of a million.
    pub(crate) progress_ppm: u64,
    /// When each twentieth of that was through.
    pub(crate) marks: Vec<Nanos>,
}

impl Record {
    /// Of what the drive held, `sectors` more are through at `now`.
    fn pass(&mut self, now: Nanos, sectors: u64) {
        self.through = (self.through + sectors).min(self.held);
        if self.held > 0 {
            self.progress_ppm = (u128::from(self.through) * 1_000_000 / u128::from(self.held)) as u64;
            while (self.marks.len() as u64) < MARKS
                && (self.marks.len() as u64 + 1) * self.held <= self.through * MARKS
            {
                self.marks.push(now);
            }
        }
    }

    /// All steps are through at `now`.
    fn end(&mut self, now: Nanos) {
        self.finished = Some(now);
        self.progress_ppm = 1_000_000;
        self.marks.resize(MARKS as usize, now);
    }
}

/// Data that no drives tell any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) at: Nanos,
    /// The drives that were missing.
    pub(crate) drives: Vec<usize>,
    /// Sectors of the volume, the first of them and the last.
    pub(crate) sectors: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// A step on its way.
#[derive(Clone, Debug)]
struct Step {
    /// Its place in the order.
    turn: u64,
    stripes: Range<u64>,
    reading: u32,
    writing: u32,
    writes: Vec<Span>,
    /// What the failed drive held of them, in sectors.
    held: u64,
}

/// The rebuild at hand.
#[derive(Clone, Debug)]
struct Active {
    drive: usize,
    /// The next step, in the order of the rebuild.
    next: u64,
    /// The next step waits for writes of its stripes.
    held: Option<Range<u64>>,
    /// By the tags of their commands.
    in_flight: BTreeMap<usize, Step>,
    next_tag: usize,
    /// The rate limit lets the next step begin then.
    not_before: Nanos,
    is_timer_set: bool,
}

/// Failures to come, spares, and the rebuild at hand.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    spec: RebuildSpec,
    failures: Vec<DriveFailure>,
    /// Drives that have failed before the run.
    failed_before: Vec<usize>,
    to_come: usize,
    homes: VecDeque<Home>,
    /// Failed drives for which nothing has been done yet.
    waiting: VecDeque<usize>,
    active: Option<Active>,
    records: Vec<Record>,
    loss: Option<Loss>,
    /// Stripes of a step.
    step: u64,
    /// By the rate limit, in ns.
    ns_per_sector: f64,
    intake: Intake,
}

impl Repair {
    pub(super) fn new(members: &Members, array: &Array) -> Self {
        let options = &members.options;
        let count = members.drives.len();
        let spare_drives = (count..count + members.spares.len()).map(Home::Drive);
        let distributed = (0..array.geometry.distributed_spares()).map(Home::Distributed);
        let bytes = f64::from(members.sector_bytes);
        let step = options.rebuild.step_kib() * 1024.0 / (bytes * members.stripe_unit as f64);
        Self {
            spec: options.rebuild,
            failures: options.failures.clone(),
            failed_before: options.failed_drives.clone(),
            to_come: options.failures.len(),
            homes: distributed.chain(spare_drives).collect(),
            waiting: VecDeque::new(),
            active: None,
            records: Vec::new(),
            loss: None,
            step: (step.round() as u64).clamp(1, array.stripes.max(1)),
            ns_per_sector: options.rebuild.rate_mb_per_s.map_or(0.0, |rate| bytes * 1e3 / rate),
            intake: members.intake.clone(),
        }
    }

    /// Whether drives may fail, or be rebuilt.
    pub(crate) fn is_possible(&self) -> bool {
        self.to_come > 0 || !(self.failed_before.is_empty() || self.homes.is_empty())
    }

    /// Whether something is going on, or will.
    pub(crate) fn is_working(&self) -> bool {
        self.loss.is_none() && (self.active.is_some() || self.to_come > 0)
    }

    /// The rebuild at hand: a position among the records.
    pub(crate) fn rebuilding(&self) -> Option<usize> {
        let active = self.active.as_ref()?;
        self.records.iter().position(|record| record.drive == active.drive)
    }

    /// The drives that have failed, by their positions, and when.
    pub(crate) fn failed(&self) -> impl Iterator<Item = (usize, Nanos)> + '_ {
        let before = self.failed_before.iter().map(|&drive| (drive, Nanos::ZERO));
        before.chain(self.records.iter().map(|record| (record.drive, record.failed)))
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    pub(crate) fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Whether a step has, or is about to have, one of the stripes.
    pub(super) fn holds(&self, stripes: &Range<u64>) -> bool {
        self.active.as_ref().is_some_and(|active| {
            let steps = active.in_flight.values().map(|step| &step.stripes);
            steps.chain(&active.held).any(|held| overlap(held, stripes))
        })
    }

    pub(super) fn start(&mut self, array: &mut Array, effects: &mut Vec<Effect>) {
        if !self.is_possible() {
            return;
        }
        for drive in self.failed_before.clone() {
            self.records.push(Record { drive, held: array.held(drive), ..Record::default() });
            self.waiting.push_back(drive);
        }
        self.begin(Nanos::ZERO, array);
        let timer =
            |(tag, failure): (u32, &DriveFailure)| Effect::TimerAt { at: Nanos::from_s(failure.at_s), tag };
        effects.extend((0..).zip(&self.failures).map(timer));
    }

    pub(super) fn timer(&mut self, now: Nanos, tag: u32, array: &mut Array, effects: &mut Vec<Effect>) {
        match tag {
            PACE => {
                if let Some(active) = &mut self.active {
                    active.is_timer_set = false;
                }
            }
            INTAKE => effects.extend(self.intake.due(now)),
            failure => {
                self.to_come -= 1;
                self.fail(now, self.failures[failure as usize].drive, array);
            }
        }
    }

    fn fail(&mut self, now: Nanos, drive: usize, array: &mut Array) {
        array.states[drive] = State::Failed;
        self.records.push(Record { drive, failed: now, held: array.held(drive), ..Record::default() });
        self.waiting.push_back(drive);
        if let Some((sectors, [first, last])) = array.lost() {
            let drives = array.missing().collect();
            self.loss.get_or_insert(Loss { at: now, drives, sectors, first, last });
        }
        self.begin(now, array);
    }

    /// Begins to rebuild the next failed drive, if there is room for it.
    fn begin(&mut self, now: Nanos, array: &mut Array) {
        if self.active.is_some() || self.waiting.is_empty() {
            return;
        }
        let Some(home) = self.homes.pop_front() else { return };
        let Some(drive) = self.waiting.pop_front() else { return };
        let (step, steps) = (self.step, array.stripes.div_ceil(self.step));
        let is_descending = self.spec.order == RebuildOrder::Descending;
        let (before, through) = self.done_before(drive, steps, array);
        let rebuilt = Rebuilt { step, steps, is_descending, before, ..Rebuilt::default() };
        array.states[drive] = State::Replaced(Replacement { home, rebuilt });
        if let Some(record) = self.record(drive) {
            record.began = Some(now);
            record.onto = if let Home::Drive(drive) = home { Some(drive) } else { None };
            record.before = through;
            record.pass(now, through);
        }
        self.active = Some(Active {
            drive,
            next: before,
            held: None,
            in_flight: BTreeMap::new(),
            next_tag: 0,
            not_before: now,
            is_timer_set: false,
        });
    }

    /// How many of a drive's steps were through before the run, and what it held of them: of the first that had failed then, as much as
    /// its description says.
    fn done_before(&self, drive: usize, steps: u64, array: &Array) -> (u64, u64) {
        if self.failed_before.first() != Some(&drive) {
            return (0, 0);
        }
        let held = array.held(drive);
        let below = |steps: u64| array.held_before(drive, (steps * self.step).min(array.stripes));
        let of_steps = |count: u64| match self.spec.order {
            RebuildOrder::Ascending => below(count),
            RebuildOrder::Descending => held - below(steps - count),
        };
        let wanted = (held as f64 * self.spec.done_percent / 100.0) as u64;
        let (mut low, mut high) = (0, steps);
        while low < high {
            let middle = low.midpoint(high);
            if of_steps(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        (low, of_steps(low))
    }

    fn record(&mut self, drive: usize) -> Option<&mut Record> {
        self.records.iter_mut().find(|record| record.drive == drive)
    }

    /// Begins as many steps as may be in flight.
    pub(super) fn go_on(
        &mut self,
        now: Nanos,
        array: &mut Array,
        locks: &Locks,
        drives: &[UnitMap],
        effects: &mut Vec<Effect>,
    ) {
        let steps = array.stripes.div_ceil(self.step);
        while let Some(active) = &mut self.active {
            active.held = None;
            if active.next == steps {
                if !active.in_flight.is_empty() {
                    return;
                }
                self.end(now, array);
                continue;
            }
            if active.in_flight.len() >= self.spec.window as usize {
                return;
            }
            if now < active.not_before {
                if !std::mem::replace(&mut active.is_timer_set, true) {
                    effects.push(Effect::TimerAt { at: active.not_before, tag: PACE });
                }
                return;
            }
            let turn = active.next;
            let stripes = array.stripes_of_step(active.drive, turn);
            let Reconstruction { reads, writes, held } =
                array.reconstruct(stripes.clone(), active.drive, self.spec.reads);
            if writes.is_empty() {
                // Nothing of the failed drive is in these stripes, or no room for it.
                active.next += 1;
                let drive = active.drive;
                self.passed(now, (drive, turn), (0, held), array);
                continue;
            }
            if locks.is_held(&stripes) {
                active.held = Some(stripes);
                return;
            }
            active.next += 1;
            let sectors: u64 = writes.iter().map(|span| span.to - span.from).sum();
            active.not_before =
                active.not_before.max(now) + Nanos((sectors as f64 * self.ns_per_sector) as u64);
            let tag = active.next_tag;
            active.next_tag += 1;
            let reading = self.send(now, Op::Read, tag, &reads, drives, effects);
            let step = Step { turn, stripes, reading, writing: 0, writes, held };
            if let Some(active) = &mut self.active {
                active.in_flight.insert(tag, step);
            }
        }
    }

    /// Sends the commands of a step, each when its drive takes it; how many they are.
    fn send(
        &mut self,
        now: Nanos,
        op: Op,
        tag: usize,
        spans: &[Span],
        drives: &[UnitMap],
        effects: &mut Vec<Effect>,
    ) -> u32 {
        let background = self.spec.priority == RebuildPriority::Below;
        let flags = RequestFlags::default();
        let mut count = 0;
        for &Span { drive, from, to } in spans {
            drives[drive].map(headstack_units::Lba(from), (to - from) as u32, |range| {
                let piece = Piece { op, lba: range.lba, sectors: range.sectors, flags, background };
                let send = Effect::Send { call: None, tag, to: Target::Unit(range.unit), piece };
                count += 1;
                match self.intake.takes(now, range.unit, &piece) {
                    at if at > now => {
                        self.intake.keep(at, send);
                        effects.push(Effect::TimerAt { at, tag: INTAKE });
                    }
                    _ => effects.push(send),
                }
            });
        }
        count
    }

    /// A command of a step is complete.
    pub(super) fn completed(
        &mut self,
        now: Nanos,
        tag: usize,
        array: &mut Array,
        drives: &[UnitMap],
        effects: &mut Vec<Effect>,
    ) {
        let Some(step) = self.active.as_mut().and_then(|active| active.in_flight.get_mut(&tag)) else {
            return;
        };
        if step.reading > 0 {
            step.reading -= 1;
            if step.reading == 0 {
                let writes = step.writes.clone();
                let writing = self.send(now, Op::Write, tag, &writes, drives, effects);
                if let Some(step) = self.active.as_mut().and_then(|active| active.in_flight.get_mut(&tag)) {
                    step.writing = writing;
                }
            }
            return;
        }
        step.writing -= 1;
        if step.writing > 0 {
            return;
        }
        let Some(active) = &mut self.active else { return };
        let drive = active.drive;
        if let Some(Step { turn, writes, held, .. }) = active.in_flight.remove(&tag) {
            let sectors = writes.iter().map(|span| span.to - span.from).sum();
            self.passed(now, (drive, turn), (sectors, held), array);
        }
    }

    /// A step is complete: so much of what the drive held is written, and so much through.
    fn passed(
        &mut self,
        now: Nanos,
        (drive, turn): (usize, u64),
        (written, held): (u64, u64),
        array: &mut Array,
    ) {
        let State::Replaced(Replacement { rebuilt, .. }) = &mut array.states[drive] else { return };
        rebuilt.complete(turn);
        if let Some(record) = self.record(drive) {
            record.sectors += written;
            record.pass(now, held);
        }
    }

    /// The rebuild at hand is over; the next failed drive's turn has come.
    fn end(&mut self, now: Nanos, array: &mut Array) {
        if let Some(Active { drive, .. }) = self.active.take()
            && let Some(record) = self.record(drive)
        {
            record.end(now);
        }
        self.begin(now, array);
    }
}

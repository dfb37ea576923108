//! The ledger: what was used of buses and units.
//!
//! Every way through the system books here, so that no two of them can count differently. Figures are of the time from the last
//! restart (where warm-up ends) to the end asked for:
//! - what lasts (the bus held, waiting for it, commands in the queue) is split at both instants;
//! - what happens at an instant (a grant, an arrival) counts if that instant lies in between; of things at the restart's own
//!   instant those count that the first counted request brings about;
//! - work by kind, and data over the bus, count with the completion of their command; background work where it is announced by the end
//!   (when the drive's next command comes, or is complete) and ends after the restart;
//! - how long a mechanism worked is told with a completion, too, but only what lies between the two instants counts; the coil's
//!   share of it counts if the work began in between;
//! - how long a drive was in its power conditions is told with the work that woke it, and split at both instants, too;
//! - of commands that are in hand where a run is cut, and of background work, what was done by then counts: of work by kind in the order
//!   in which it mostly comes, of data over the bus the share of the time in which they held it.

mod in_hand;
mod rests;
mod spans;

use headstack_drive::command::{Background, BusTiming, Busy, Outcome};
use headstack_drive::power::{Active, Rest, RestTimes};
use headstack_drive::{Drive, DriveModel, Rebase, Worked};
use headstack_units::{Nanos, Op};
pub(crate) use in_hand::BusInHand;
use in_hand::{begun_by, work_by};
use rests::Rests;
use spans::Spans;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::gauge::Gauge;

/// How a bus was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusUse {
    /// Time somebody had it.
    pub(crate) held_ns: u128,
    /// Time that the data of completed commands take at the bus's own rate.
    pub(crate) data_ns: u128,
    /// Number waiting × time.
    pub(crate) queue_area_ns: u128,
    /// Most that waited at a time.
    pub(crate) queue_max: u64,
    /// How often it was granted.
    pub(crate) grants: u64,
    /// Sum of the times from asking to grant.
    pub(crate) waited_ns: u128,
    /// The longest such time.
    pub(crate) longest_wait: Nanos,
}

/// The account of a bus.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusBook {
    held: Gauge,
    waiting: Gauge,
    data: u128,
    grants: u64,
    waited: u128,
    longest_wait: Nanos,
    horizon: Horizon,
}

impl BusBook {
    /// Somebody wants the bus, and must wait.
    pub(crate) fn wait(&mut self, now: Nanos) {
        self.waiting.rise(self.horizon.cap(now));
    }

    /// Somebody gets the bus who did not have to wait.
    pub(crate) fn grant(&mut self, now: Nanos) {
        self.grants += 1;
        self.held.rise(self.horizon.cap(now));
    }

    /// Somebody gets the bus who waits since `since`.
    pub(crate) fn grant_after(&mut self, since: Nanos, now: Nanos) {
        self.waiting.fall(self.horizon.cap(now));
        let waited = now.saturating_sub(since);
        self.waited += u128::from(waited.0);
        self.longest_wait = self.longest_wait.max(waited);
        self.grant(now);
    }

    /// The bus is free again.
    pub(crate) fn release(&mut self, now: Nanos) {
        self.held.fall(self.horizon.cap(now));
    }

    /// Goes on as `later` tells, an account of one who had the bus to himself, opened when this ended.
    pub(crate) fn follow(&mut self, later: &Self) {
        let Self { held, waiting, data, grants, waited, longest_wait, horizon: _ } = later;
        self.held.follow(held);
        self.waiting.follow(waiting);
        self.data += data;
        self.grants += grants;
        self.waited += waited;
        self.longest_wait = self.longest_wait.max(*longest_wait);
    }

    /// The present request of a measured replay was complete at `measured`, whatever the model says.
    pub(crate) fn expect(&mut self, measured: Nanos) {
        self.horizon = Horizon(measured);
    }

    /// A command is complete.
    #[inline]
    pub(crate) fn complete(&mut self, outcome: &Outcome) {
        self.data += u128::from(outcome.bus_data.0);
    }

    /// The run is cut while commands are in hand.
    pub(crate) fn cut(&mut self, in_hand: BusInHand) {
        self.data += in_hand.data();
    }

    pub(crate) fn restart(&mut self, now: Nanos) {
        let Self { mut held, mut waiting, .. } = *self;
        held.restart(now);
        waiting.restart(now);
        *self = Self { held, waiting, ..Self::default() };
    }

    /// What was used up to `end`.
    pub(crate) fn used(&self, end: Nanos) -> BusUse {
        let held_ns = self.held.area_until(end);
        BusUse {
            held_ns,
            // Of a command under way at the restart they count whole, though the bus was held for some of them before.
            data_ns: self.data.min(held_ns),
            queue_area_ns: self.waiting.area_until(end),
            queue_max: self.waiting.max(),
            grants: self.grants,
            waited_ns: self.waited,
            longest_wait: self.longest_wait,
        }
    }
}

/// Completes an outcome by what only the system knows: on a bus whose drives do not disconnect, a command holds the bus from
/// hand-over to completion.
#[inline]
pub(crate) fn note_hold(bus: &BusTiming, outcome: &mut Outcome) {
    if !bus.disconnects {
        outcome.busy.bus = outcome.finish - outcome.submitted;
        outcome.bus_transfers = 1;
    }
}

/// Completes the outcome of a command that had the bus whenever it wanted it, and books the command but for its coming and
/// going, where the instants do not matter.
#[expect(
    clippy::inline_always,
    reason = "every command comes here, and handing it on costs a third of what is done"
)]
#[inline(always)]
pub(crate) fn book_alone(
    (unit, bus): (&mut UnitBook, &mut BusBook),
    timing: &BusTiming,
    op: Op,
    outcome: &mut Outcome,
    works: &[Background],
    spans: impl Iterator<Item = Worked>,
) {
    note_hold(timing, outcome);
    bus.held.add(bus.horizon.within(outcome.submitted, outcome.busy.bus));
    bus.grants += u64::from(outcome.bus_transfers);
    bus.complete(outcome);
    unit.work(op, outcome, spans);
    for work in works {
        unit.work_in_background(work);
    }
}

/// Work of a mechanism, in ns by kind; no more than there is time, so that 64 bits hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) seek: u64,
    pub(crate) rotation: u64,
    /// Media transfers: reads, writes.
    transfers: [u64; 2],
}

impl Work {
    #[inline]
    fn add(&mut self, op: Op, busy: &Busy) {
        self.seek += busy.seek.0;
        self.rotation += busy.rotation.0;
        self.transfers[op as usize] += busy.transfer.0;
    }

    fn take_away(&mut self, op: Op, busy: &Busy) {
        self.seek -= busy.seek.0;
        self.rotation -= busy.rotation.0;
        self.transfers[op as usize] -= busy.transfer.0;
    }

    fn add_all(&mut self, other: &Self) {
        let Self { seek, rotation, transfers } = other;
        self.seek += seek;
        self.rotation += rotation;
        self.transfers.iter_mut().zip(transfers).for_each(|(sum, transfer)| *sum += transfer);
    }

    pub(crate) fn transfer(&self) -> u64 {
        self.transfers.iter().sum()
    }

    pub(crate) fn total(&self) -> u64 {
        self.seek + self.rotation + self.transfer()
    }
}

/// How a unit was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitUse {
    /// Commands that reached its queue.
    pub(crate) commands: u64,
    /// Time the mechanism worked.
    pub(crate) mechanism: Nanos,
    /// Time the coil did, in ns.
    pub(crate) coil: u64,
    /// What it did for commands, and in the background.
    pub(crate) work: Work,
    pub(crate) background: Work,
    /// Commands in the queue or at the drive × time.
    pub(crate) load_area: u128,
    /// Most of them at a time.
    pub(crate) load_max: u64,
    /// Commands that had to wait outside the scheduler, which saw as many as it may.
    pub(crate) held_back: u64,
    /// How long the drive was in its power conditions.
    pub(crate) rests: RestTimes,
    /// How long it had failed, at the end.
    pub(crate) off: Nanos,
}

impl UnitUse {
    /// What the arm did, for commands and in the background together. The gross work of a command may hold reading ahead
    /// that the one before has counted, too: together the states take no longer than the mechanism worked, waking up left out.
    pub(crate) fn active(&self) -> Active {
        let gross = u128::from(self.work.total() + self.background.total()).max(1);
        let waking: u64 = self.rests.0.iter().map(|times| times.recovering.0).sum();
        let worked = gross.min(self.mechanism.0.saturating_sub(waking).into());
        let sum = |of: fn(&Work) -> u64| {
            (u128::from(of(&self.work) + of(&self.background)) * worked / gross) as u64
        };
        Active {
            seek: sum(|work| work.seek),
            rotation: sum(|work| work.rotation),
            read: sum(|work| work.transfers[Op::Read as usize]),
            write: sum(|work| work.transfers[Op::Write as usize]),
            coil: self.coil,
        }
    }
}

/// A total that grows, counted from a restart.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    now: u64,
    before: u64,
}

impl Total {
    fn restart(&mut self) {
        self.before = self.now;
    }

    fn counted(self) -> u64 {
        self.now.saturating_sub(self.before)
    }
}

/// When the present request of a measured replay was really complete, or never. The next finds drive and bus as if this one had taken
/// that long: no more of it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Horizon(Nanos);

impl Default for Horizon {
    fn default() -> Self {
        Self(Nanos::MAX)
    }
}

impl Horizon {
    /// An instant, or the end of what counts.
    #[inline]
    fn cap(self, now: Nanos) -> Nanos {
        now.min(self.0)
    }

    /// A time that began at `from` at the earliest; when it did is not known.
    #[inline]
    fn within(self, from: Nanos, time: Nanos) -> Nanos {
        time.min(self.0.saturating_sub(from))
    }
}

/// Background work: from when to when, and what it takes.
#[derive(Clone, Copy, Debug)]
struct Announced {
    start: Nanos,
    finish: Nanos,
    busy: Busy,
}

/// The account of a unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitBook {
    load: Gauge,
    commands: u64,
    mechanism: Spans,
    held_back: Total,
    horizon: Horizon,
    rests: Rests,
    work: Work,
    background: Work,
    /// Background work that was told of and is perhaps not done.
    announced: VecDeque<Announced>,
}

impl UnitBook {
    /// An account opened while so many commands are in the queue, of a mechanism that has not worked yet.
    pub(crate) fn opened(load: u64) -> Self {
        Self { load: Gauge::at(load), ..Self::default() }
    }

    /// Goes on as `later` tells, an account opened when this ended.
    pub(crate) fn follow(&mut self, later: &Self) {
        // What was announced matters up to a restart, and stretches come after it.
        let Self { load, commands, mechanism, held_back, horizon: _, rests, work, background, announced: _ } =
            later;
        self.load.follow(load);
        self.commands += commands;
        self.mechanism.follow(mechanism);
        self.rests.follow(rests);
        self.held_back.now += held_back.now;
        self.work.add_all(work);
        self.background.add_all(background);
    }

    /// A command reaches the unit's queue.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Nanos) {
        self.commands += 1;
        self.load.rise(self.horizon.cap(now));
    }

    /// The scheduler has had to leave so many commands outside, ever.
    pub(crate) fn note_held_back(&mut self, total: u64) {
        self.held_back.now = total;
    }

    /// A request's command is complete.
    #[inline]
    pub(crate) fn leave(&mut self, now: Nanos) {
        self.load.fall(self.horizon.cap(now));
    }

    /// The present request of a measured replay was complete at `measured`, whatever the model says.
    pub(crate) fn expect(&mut self, measured: Nanos) {
        self.horizon = Horizon(measured);
        self.mechanism.horizon = self.horizon;
    }

    /// The drive goes on at another instant than the one at which the model completed the last command.
    pub(crate) fn rebase(&mut self, model: &DriveModel, to: Rebase) {
        self.horizon = Horizon::default();
        self.mechanism.rebase(to);
        self.rests.rebase(model, to.measured_finish);
    }

    /// A command comes at `now`, a run ends, or a measured replay goes on at another instant: a drive that has no commands in hand tells
    /// what it did by itself since it was called last. (What it does beside commands it tells when they are complete.)
    pub(crate) fn tell_own_work(&mut self, drive: &mut Drive, now: Nanos, works: &mut Vec<Background>) {
        let known = works.len();
        drive.tell_own_work(now, works).for_each(|span| self.mechanism.add(span, now));
        self.rest(drive, now);
        for work in &works[known..] {
            self.work_in_background(work);
        }
    }

    /// A command of the drive is complete; its mechanism worked, or will work, as `spans` say.
    #[expect(
        clippy::inline_always,
        reason = "every command comes here, and handing it on costs a third of what is done"
    )]
    #[inline(always)]
    pub(crate) fn work(&mut self, op: Op, outcome: &Outcome, spans: impl Iterator<Item = Worked>) {
        self.work.add(op, &outcome.busy);
        self.mechanism.settle(outcome.finish);
        // Roughly in the order in which it will be done: what is left behind the first of them costs nothing but room.
        while self.announced.front().is_some_and(|work| work.finish <= outcome.finish) {
            self.announced.pop_front();
        }
        // Not by a closure, which would be called.
        for span in spans {
            self.mechanism.add(span, outcome.finish);
        }
    }

    /// The rests of a drive that came to an end with work that is told of at `now`.
    #[expect(clippy::inline_always, reason = "every command asks, and few drives have rested")]
    #[inline(always)]
    pub(crate) fn rest(&mut self, drive: &mut Drive, now: Nanos) {
        if drive.has_rested() {
            self.note_rests(drive, now);
        }
    }

    #[cold]
    fn note_rests(&mut self, drive: &mut Drive, now: Nanos) {
        let model = Arc::clone(drive.model());
        drive.take_rests().for_each(|rest| self.note_rest(&model, rest, now));
    }

    pub(crate) fn note_rest(&mut self, model: &DriveModel, rest: Rest, now: Nanos) {
        self.rests.add(model, rest, self.horizon.cap(now));
    }

    /// A command is in hand where the run is cut, at `end`: it will be complete as `outcome` tells, its mechanism works as `spans` say,
    /// and came back for it from `rests`.
    pub(crate) fn cut_command(
        &mut self,
        (op, outcome): (Op, &Outcome),
        spans: impl IntoIterator<Item = Worked>,
        rests: impl IntoIterator<Item = Rest>,
        (model, end): (&DriveModel, Nanos),
    ) {
        self.work.add(op, &work_by(outcome, end));
        self.work_by(spans, end);
        for rest in rests.into_iter().filter(|rest| rest.since < end) {
            self.note_rest(model, rest, end);
        }
    }

    /// The mechanism works as `spans` say, in a run that ends at `end`.
    fn work_by(&mut self, spans: impl IntoIterator<Item = Worked>, end: Nanos) {
        spans.into_iter().filter(|span| span.from < end).for_each(|span| self.mechanism.add(span, end));
    }

    /// The run ends at `end`, and is cut if something would still happen. Of commands in hand it has been told already; the drive tells
    /// what it did by itself.
    pub(crate) fn close(
        &mut self,
        drive: &mut Drive,
        (end, is_cut): (Nanos, bool),
        works: &mut Vec<Background>,
    ) {
        self.work_of_its_own(drive, end, works);
        drive.recalibrate_until(end);
        self.work_by(drive.take_work(), end);
        let rests: Vec<Rest> = drive.take_rests().filter(|rest| rest.since < end).collect();
        let model = drive.model();
        self.rests.cut(model, end);
        for rest in rests {
            self.rests.close(model, rest, end);
        }
        self.rests.last(model, drive.rests_since(), end);
        if is_cut {
            self.cut_background(end);
        }
    }

    /// A drive that has no commands in hand tells what it did by itself, in a run that ends at `end`.
    pub(crate) fn work_of_its_own(&mut self, drive: &mut Drive, end: Nanos, works: &mut Vec<Background>) {
        let known = works.len();
        // Beside the last command there may have been other work, which the drive tells when it is through with that.
        let now = end.max(drive.completed());
        self.work_by(drive.tell_own_work(now, works), end);
        if now > end {
            let mut number = 0;
            works.retain(|work| {
                number += 1;
                number <= known || work.start < end
            });
        }
        works[known..].iter().for_each(|work| self.work_in_background(work));
    }

    /// A drive came back from rests for a command that is not of a run, which ends at `end`; what it worked for that is not of it, either.
    pub(crate) fn rest_until(&mut self, drive: &mut Drive, end: Nanos) {
        drive.take_work().for_each(drop);
        let rests: Vec<Rest> = drive.take_rests().filter(|rest| rest.since < end).collect();
        for rest in rests {
            self.note_rest(drive.model(), rest, end);
        }
    }

    /// Of background work no more counts than was done by `end`.
    fn cut_background(&mut self, end: Nanos) {
        for Announced { start, finish, busy } in self.announced.drain(..) {
            if finish > end {
                self.background.take_away(Op::Write, &busy);
                self.background.add(Op::Write, &begun_by(&busy, start, end));
            }
        }
    }

    /// Work that no command waits for: data on their way to the media. It may be told of long after it is done, when counting has begun.
    pub(crate) fn work_in_background(&mut self, work: &Background) {
        if work.finish > self.mechanism.since {
            self.background.add(Op::Write, &work.busy);
            let Background { start, finish, busy, .. } = *work;
            self.announced.push_back(Announced { start, finish, busy });
        }
    }

    #[cold]
    fn forget_announced(&mut self, now: Nanos) {
        self.announced.retain(|work| work.finish > now);
    }

    /// Commands in the queue or at the drive.
    pub(crate) fn load(&self) -> u64 {
        self.load.value()
    }

    /// Since when it counts.
    pub(crate) fn since(&self) -> Nanos {
        self.mechanism.since
    }

    pub(crate) fn restart(&mut self, now: Nanos) {
        self.load.restart(now);
        self.mechanism.restart(now);
        self.held_back.restart();
        self.rests.restart(now);
        self.forget_announced(now);
        let Self { load, mechanism, held_back, rests, announced, .. } = std::mem::take(self);
        let mut background = Work::default();
        for work in &announced {
            background.add(Op::Write, &work.busy);
        }
        *self = Self { load, mechanism, held_back, rests, background, announced, ..Self::default() };
    }

    /// What was used up to `end`.
    pub(crate) fn used(&self, end: Nanos) -> UnitUse {
        UnitUse {
            commands: self.commands,
            mechanism: Nanos(self.mechanism.until(end)),
            coil: self.mechanism.coil_until(end),
            work: self.work,
            background: self.background,
            load_area: self.load.area_until(end),
            load_max: self.load.max(),
            held_back: self.held_back.counted(),
            rests: self.rests.times(),
            off: Nanos::ZERO,
        }
    }
}

/// The accounts of a system's units and buses.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) units: Vec<UnitBook>,
    pub(crate) buses: Vec<BusBook>,
}

/// How units and buses were used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) units: Vec<UnitUse>,
    pub(crate) buses: Vec<BusUse>,
}

impl Ledger {
    /// Nothing booked.
    pub(crate) fn new(units: usize, buses: usize) -> Self {
        Self { units: vec![UnitBook::default(); units], buses: vec![BusBook::default(); buses] }
    }

    /// Counts from `now` on.
    pub(crate) fn restart(&mut self, now: Nanos) {
        self.units.iter_mut().for_each(|book| book.restart(now));
        self.buses.iter_mut().for_each(|book| book.restart(now));
    }

    /// What was used up to `end`.
    pub(crate) fn used(&self, end: Nanos) -> Usage {
        Usage {
            units: self.units.iter().map(|book| book.used(end)).collect(),
            buses: self.buses.iter().map(|book| book.used(end)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;

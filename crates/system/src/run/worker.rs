//! One drive on the fast path, and its queue, of which only the instants matter.

use std::collections::VecDeque;

use headstack_drive::command::{Background, BusTiming, Command, Outcome};
use headstack_drive::power::Rest;
use headstack_drive::{Drive, Relabelling, Worked};
use headstack_units::{Nanos, Op};

use super::leaving::Leaving;
use crate::engine::{BusBook, BusInHand, Observer, UnitBook, book_alone};

/// A drive and its queue.
#[derive(Clone)]
pub(super) struct Worker {
    drive: Drive,
    timing: BusTiming,
    /// Nothing later is booked.
    until: Nanos,
    /// Where counting begins or ends in the middle of a run, all must be booked at its own instant: commands are served a
    /// little slower then, in a way that tells the instants.
    is_observing: bool,
    observer: Observer,
    /// When the last command is complete.
    free_at: Nanos,
    /// When commands leave that are booked but for that, in order.
    leaving: Leaving,
    /// What will be booked of observed commands when its instant has passed, in order.
    ahead: VecDeque<(Nanos, Entry)>,
    /// Observed commands not known to be complete, in order.
    observed: VecDeque<Observed>,
    /// Their background work, as it will be announced.
    observed_works: VecDeque<Background>,
    pub(super) unit: UnitBook,
    pub(super) bus: BusBook,
    shard: Shard,
}

/// How an observed command went, and from when to when the mechanism worked for it, and it held the bus.
#[derive(Clone)]
struct Observed {
    op: Op,
    outcome: Outcome,
    worked: Vec<Worked>,
    rests: Vec<Rest>,
    holds: Vec<(Nanos, Nanos)>,
}

/// What will be booked of an observed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The command is complete.
    Complete,
    Grant,
    Release,
    /// Its background work is announced.
    Background,
}

/// Commands served away from the others, and how they went.
#[derive(Clone, Default)]
struct Shard {
    commands: Vec<(Nanos, Command)>,
    /// With each outcome, where its background work ends in `works`.
    outcomes: Vec<(Outcome, usize)>,
    works: Vec<Background>,
    collected: usize,
}

impl Worker {
    /// A worker that books what happens up to `until`, each thing at its instant if it `observes`.
    pub(super) fn new(drive: Drive, timing: BusTiming, until: Nanos, is_observing: bool) -> Self {
        Self {
            drive,
            timing,
            until,
            is_observing,
            observer: Observer::default(),
            free_at: Nanos::ZERO,
            leaving: Leaving::default(),
            ahead: VecDeque::new(),
            observed: VecDeque::new(),
            observed_works: VecDeque::new(),
            unit: UnitBook::default(),
            bus: BusBook::default(),
            shard: Shard::default(),
        }
    }

    pub(super) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// When the last command is complete.
    pub(super) fn free_at(&self) -> Nanos {
        self.free_at
    }

    /// When commands are complete that are booked but for that, in order; of observed ones that is not told here.
    pub(super) fn to_come(&self) -> &[Nanos] {
        self.leaving.to_come()
    }

    /// Books what has happened by `now`.
    #[expect(
        clippy::inline_always,
        reason = "every command comes here, and handing it on costs a third of what is done"
    )]
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Nanos) {
        while let Some(at) = self.leaving.next_by(now) {
            self.unit.leave(at);
        }
        if !self.ahead.is_empty() {
            self.pass_observed(now);
        }
    }

    #[inline(never)]
    fn pass_observed(&mut self, now: Nanos) {
        while let Some(&(at, entry)) = self.ahead.front()
            && at <= now
        {
            self.ahead.pop_front();
            match entry {
                Entry::Complete => self.complete(at),
                Entry::Grant => self.bus.grant(at),
                Entry::Release => self.bus.release(at),
                Entry::Background => self.announce(),
            }
        }
    }

    fn announce(&mut self) {
        if let Some(work) = self.observed_works.pop_front() {
            self.unit.work_in_background(&work);
        }
    }

    fn complete(&mut self, at: Nanos) {
        self.unit.leave(at);
        if let Some(Observed { op, outcome, worked, rests, holds: _ }) = self.observed.pop_front() {
            self.unit.work(op, &outcome, worked.into_iter());
            for rest in rests {
                self.unit.note_rest(self.drive.model(), rest, outcome.finish);
            }
            self.bus.complete(&outcome);
        }
    }

    /// Serves a command that arrives at `arrival`, not before the one before it.
    #[expect(
        clippy::inline_always,
        reason = "every command comes here, and handing it on costs a third of what is done"
    )]
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        arrival: Nanos,
        command: Command,
        background: &mut Vec<Background>,
        outcome: &mut Outcome,
    ) {
        self.pass(arrival);
        let at = arrival.max(self.free_at);
        self.unit.arrive(arrival);
        if self.is_observing {
            if at > self.until {
                // It is under way when the run ends, and nothing is done of it.
                outcome.finish = Nanos::MAX;
                return;
            }
            self.observe(at, command, background, outcome);
        } else {
            let known = background.len();
            self.drive.serve_into(at, command, &self.timing, background, outcome);
            let books = (&mut self.unit, &mut self.bus);
            let spans = self.drive.take_work();
            book_alone(books, &self.timing, command.op, outcome, &background[known..], spans);
            self.unit.rest(&mut self.drive, outcome.finish);
            self.leaving.push(outcome.finish);
        }
        self.free_at = outcome.finish;
    }

    #[inline(never)]
    fn observe(
        &mut self,
        at: Nanos,
        command: Command,
        background: &mut Vec<Background>,
        outcome: &mut Outcome,
    ) {
        if self.drive.may_have_acted(at) {
            self.unit.tell_own_work(&mut self.drive, at, background);
        }
        *outcome = self.observer.serve(&mut self.drive, at, command, &self.timing);
        let Observer { holds, works, .. } = &self.observer;
        let ends = holds.iter().flat_map(|&(from, to)| [(from, Entry::Grant), (to, Entry::Release)]);
        let announced = works.iter().map(|(announced, _)| (*announced, Entry::Background));
        let mut entries: Vec<_> = ends.chain(announced).collect();
        entries.sort_by_key(|&(at, _)| at);
        self.ahead.extend(entries);
        self.ahead.push_back((outcome.finish, Entry::Complete));
        let worked = self.drive.take_work().collect();
        let rests = self.drive.take_rests().collect();
        let holds = holds.clone();
        self.observed.push_back(Observed { op: command.op, outcome: *outcome, worked, rests, holds });
        // What is announced when the run is over, and begins after it, is not of this run.
        let in_time =
            works.iter().filter(|(announced, work)| *announced <= self.until || work.start < self.until);
        background.extend(in_time.map(|(_, work)| work));
        self.observed_works.extend(works.iter().map(|(_, work)| *work));
    }

    /// Takes a command for [`Worker::serve_shard`].
    pub(super) fn take(&mut self, arrival: Nanos, command: Command) {
        self.shard.commands.push((arrival, command));
    }

    /// Serves the commands it took since the last time.
    pub(super) fn serve_shard(&mut self) {
        let mut shard = std::mem::take(&mut self.shard);
        shard.outcomes.clear();
        shard.works.clear();
        shard.collected = 0;
        for (arrival, command) in shard.commands.drain(..) {
            let mut outcome = Outcome::default();
            self.serve(arrival, command, &mut shard.works, &mut outcome);
            shard.outcomes.push((outcome, shard.works.len()));
        }
        self.shard = shard;
    }

    /// How the next of the commands of its shard went, with the background work done meanwhile.
    pub(super) fn collect(&mut self) -> (Outcome, &[Background]) {
        let at = self.shard.collected;
        self.shard.collected += 1;
        let begin = at.checked_sub(1).map_or(0, |before| self.shard.outcomes[before].1);
        let (outcome, end) = self.shard.outcomes[at];
        (outcome, &self.shard.works[begin..end])
    }

    /// Counting begins at `now`, but for what is on its way.
    pub(super) fn restart(&mut self, now: Nanos, is_observing: bool) {
        self.pass(now);
        self.unit.restart(now);
        self.bus.restart(now);
        self.is_observing = is_observing;
    }

    /// The run ends at `end`, and is cut if something would still happen: books what has happened by then, the drive's own work, too.
    pub(super) fn close(&mut self, end: Nanos, is_cut: bool, works: &mut Vec<Background>) {
        self.pass(end);
        let mut in_hand = BusInHand::default();
        for observed in self.observed.drain(..) {
            let Observed { op, outcome, worked, rests, holds } = observed;
            self.unit.cut_command((op, &outcome), worked, rests, (self.drive.model(), end));
            in_hand.add(&outcome);
            for hold in holds {
                in_hand.hold(hold, end);
            }
        }
        self.bus.cut(in_hand);
        if is_cut {
            // It may have begun, though nothing was told of it.
            self.observed_works.drain(..).for_each(|work| self.unit.work_in_background(&work));
        }
        self.unit.close(&mut self.drive, (end, is_cut), works);
    }

    /// Whether all that was told is booked, but for commands to leave.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_observing && self.ahead.is_empty() && self.observed.is_empty()
    }

    /// Books of a stretch are opened; what happened before is in others.
    pub(super) fn begin_stretch(&mut self) {
        self.drive.begin_stretch();
        self.unit = UnitBook::opened(self.leaving.to_come().len() as u64);
        self.bus = BusBook::default();
    }

    /// Whether everything to come is the same with `other`; and which segments of the one drive's cache are which of the other's.
    pub(super) fn same_future(&self, other: &Self) -> Option<Relabelling> {
        let is_same = self.is_plain()
            && other.is_plain()
            && self.free_at == other.free_at
            && self.leaving.to_come() == other.leaving.to_come();
        if is_same { self.drive.same_future(&other.drive) } else { None }
    }

    /// Goes on as `later` did, which served a stretch that began when this one was in the state it is in. `labels` tell which
    /// segments of the later drive's cache are which of this one's.
    pub(super) fn follow(&mut self, later: &Self, labels: &Relabelling) {
        let Self { drive, free_at, leaving, unit, bus, .. } = later;
        let worked = self.drive.busy_times();
        self.drive.clone_from(drive);
        self.drive.add_busy_times(&worked);
        self.drive.relabel(labels);
        self.free_at = *free_at;
        self.leaving.clone_from(leaving);
        self.unit.follow(unit);
        self.bus.follow(bus);
    }

    /// What is buffered goes to the media.
    pub(super) fn drain(&mut self, works: &mut Vec<Background>) {
        self.drive.drain(works);
    }
}

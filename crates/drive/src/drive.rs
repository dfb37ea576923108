//! The drive: its queue and its parts. Commands in, effects out.
//!
//! The controller turns to one command at a time. The command is *dispatched*: a [`Transfer`] is made of it, which then
//! steps whenever it is granted the bus. The closed form [`Drive::serve`] grants at once; on the event path the calendar
//! lies between. Both drive the same transfers.

mod ahead;
mod aside;
mod choice;
mod ends;
mod rebase;

use crate::command::{Background, BusTiming, Command, Effect, Outcome, Ticket};
use crate::endings::{End, Endings};
use crate::mechanism::{BusyTimes, Span, Worked};
use crate::model::DriveModel;
use crate::power::Rest;
use crate::scheduler::{Knowledge, Queue};
use crate::spec::RecalibrationMode;
use crate::transfer::{
    AnyTransfer, AtOnce, Keep, Parts, Step, Transfer, Turn, destage_until, dispatch, drain,
};
use ahead::Ahead;
use aside::Aside;
use headstack_units::{Nanos, Op, RequestFlags};
use std::sync::Arc;

/// When the controller can turn to the next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controller {
    /// From this instant on.
    FreeAt(Nanos),
    /// When the command it has begun, which asks for the bus by this ticket, has got it.
    Waiting(Ticket),
}

/// How late the drive was called, over all calls of `advance` and `bus_granted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Calls that came late.
    pub count: u64,
    /// The latest.
    pub max: Nanos,
}

/// A transfer that waits for the bus.
#[derive(Clone, Debug)]
struct Pending {
    ticket: Ticket,
    /// Of the command.
    id: u64,
    op: Op,
    transfer: AnyTransfer,
    /// When the command ends if it is not complete by then.
    end: Option<End>,
}

/// One actuator of a drive, in motion. Addresses are its own, counted from 0.
#[derive(Clone, Debug)]
pub struct Drive {
    model: Arc<DriveModel>,
    parts: Parts,
    controller: Controller,
    aside: Aside,
    ahead: Ahead,
    /// The wake asked for last.
    wake_at: Option<Nanos>,
    /// The scheduler has put its choice off until then.
    decides_at: Nanos,
    queue: Queue,
    /// Room for what a scheduler that knows the cache is told.
    buffered: Vec<(u64, u64)>,
    pending: Vec<Pending>,
    /// Work on commands that have ended: it goes on without the bus.
    unseen: Vec<Pending>,
    endings: Endings,
    next_ticket: u64,
    lateness: Lateness,
    /// When the last command was complete, of those that were announced.
    completed: Nanos,
}

impl Drive {
    /// A drive at rest over its first sector. `seed` drives the spindle's drift and the uniform rotational delay, where
    /// the description asks for them.
    pub fn new(model: Arc<DriveModel>, seed: u64) -> Self {
        Self {
            parts: Parts::new(&model, seed),
            controller: Controller::FreeAt(Nanos::ZERO),
            aside: Aside::default(),
            ahead: Ahead::default(),
            wake_at: None,
            decides_at: Nanos::ZERO,
            queue: Queue::new(model.policy(), Knowledge::Layout(Arc::clone(&model)), None)
                .with_writes(model.takes_aside),
            buffered: Vec::new(),
            pending: Vec::new(),
            unseen: Vec::new(),
            endings: Endings::default(),
            next_ticket: 0,
            lateness: Lateness::default(),
            completed: Nanos::ZERO,
            model,
        }
    }

    /// The description and its tables.
    pub fn model(&self) -> &Arc<DriveModel> {
        &self.model
    }

    /// Logical sectors of this actuator.
    pub fn capacity_sectors(&self) -> u64 {
        self.model.layout.capacity()
    }

    /// Commands submitted and not yet announced as done.
    pub fn outstanding(&self) -> u32 {
        (self.queue.len() + self.pending.len()) as u32
    }

    /// Whether it may have done something by itself: it takes data to the media when it likes, and has had no commands in hand since
    /// before `now`. Of a drive that is called, and not served in closed form.
    #[inline]
    pub fn may_have_acted(&self, now: Nanos) -> bool {
        self.model.write_back.is_some() && self.outstanding() == 0 && self.completed < now
    }

    /// When the last command was complete, or will be, of those of which that is known.
    pub fn completed(&self) -> Nanos {
        self.completed
    }

    /// Whether the drive's queue has room for another command.
    pub fn can_accept(&self) -> bool {
        self.outstanding() < self.model.queue_depth()
    }

    /// How late the drive was called.
    pub fn lateness(&self) -> Lateness {
        self.lateness
    }

    /// Time the mechanism spent on commands, destage, recalibration and waking up (read-ahead not counted).
    pub fn mechanism_busy(&self) -> Nanos {
        self.parts.mechanism.busy().total()
    }

    /// Keeps from when to when the mechanism works and rests, for [`Drive::take_work`] and [`Drive::take_rests`].
    pub fn keep_work(&mut self) {
        self.parts_mut().mechanism.keep_spans();
    }

    /// Remembers what the mechanism does, so that [`Drive::timeline`] can tell all that a command waited for.
    pub fn keep_diary(&mut self) {
        self.parts_mut().mechanism.keep_diary();
    }

    /// From when to when the mechanism worked, or is known to work, since this was asked last; nothing before
    /// [`Drive::keep_work`].
    #[inline]
    pub fn take_work(&mut self) -> impl Iterator<Item = Worked> + '_ {
        let curve = self.model.spec().power.is_some().then_some(&self.model.mechanics.curve);
        let reach = &self.model.reach;
        let coil =
            move |(from, to)| curve.map_or(Nanos::ZERO, |curve| curve.coil_time(reach.distance(from, to)));
        let spans = self.parts.mechanism.take_spans();
        spans.map(move |Span { from, to, moved }| Worked { from, to, coil: coil(moved) })
    }

    /// The same by kind of work.
    pub fn busy_times(&self) -> BusyTimes {
        *self.parts.mechanism.busy()
    }

    /// Follows what the drive does by itself up to `now`, which is not before anything it was told: no other buffered write sets out
    /// for the media before then.
    pub fn settle(&mut self, now: Nanos) {
        destage_until(&self.model, &mut self.parts, now);
    }

    /// As [`Drive::settle`], for a drive that has no commands in hand: hands over the background work not told of before, and tells from
    /// when to when the mechanism works for it.
    pub fn tell_own_work(
        &mut self,
        now: Nanos,
        background: &mut Vec<Background>,
    ) -> impl Iterator<Item = Worked> + '_ {
        self.settle(now);
        self.parts.log.hand_over(background);
        self.take_work()
    }

    /// A run ends: recalibrations that have fallen due by `now`, when the arm was free, are told, too. Otherwise they wait for the next
    /// command.
    pub fn recalibrate_until(&mut self, now: Nanos) {
        self.parts.recalibrate_until(&self.model, now);
    }

    /// The rests in power conditions that came to an end since this was asked last; none before [`Drive::keep_work`].
    pub fn take_rests(&mut self) -> impl Iterator<Item = Rest> + '_ {
        self.parts.mechanism.take_rests()
    }

    /// Whether there are some.
    #[inline]
    pub fn has_rested(&self) -> bool {
        self.parts.mechanism.has_rested()
    }

    /// Since when all its arms rest, or from when on.
    pub fn rests_since(&self) -> Nanos {
        self.parts.mechanism.all_free()
    }

    /// When the controller can turn to another command, as far as it is known.
    pub fn controller_free_at(&self) -> Option<Nanos> {
        match self.controller {
            Controller::FreeAt(at) => Some(at),
            Controller::Waiting(_) => None,
        }
    }

    /// A command arrives.
    ///
    /// # Panics
    /// If the command reaches beyond the last sector or has no sectors: the sender checks.
    pub fn submit(&mut self, now: Nanos, command: Command, effects: &mut Vec<Effect>) {
        self.admit(&command);
        // What the drive turned to before `now` it chose without knowing of this one.
        self.pump(now, effects);
        if command.flags.contains(RequestFlags::HEAD_OF_QUEUE) {
            self.queue.push_front(command, now);
        } else {
            self.queue.push(command, now);
        }
        let ends_commands = self.model.ends_commands();
        let end = if ends_commands { self.endings.wait(&self.model, &command, now) } else { None };
        self.pump(now, effects);
        effects.extend(end.map(Effect::WakeAt));
    }

    #[inline]
    fn admit(&self, command: &Command) {
        assert!(
            command.sectors > 0 || command.flags.contains(RequestFlags::FLUSH),
            "a command must have sectors"
        );
        assert!(
            command
                .lba
                .0
                .checked_add(u64::from(command.sectors))
                .is_some_and(|end| end <= self.capacity_sectors()),
            "command {} reaches beyond the drive's {} sectors",
            command.id,
            self.capacity_sectors()
        );
    }

    /// The bus is granted to a transfer the drive asked for.
    ///
    /// # Panics
    /// If the ticket is not one the drive is waiting for.
    pub fn bus_granted(&mut self, now: Nanos, ticket: Ticket, bus: &BusTiming, effects: &mut Vec<Effect>) {
        let index = self
            .pending
            .iter()
            .position(|pending| pending.ticket == ticket)
            .expect("the bus is granted to a transfer that asked for it");
        let Pending { id, op, mut transfer, end, .. } = self.pending.swap_remove(index);
        let needed = transfer.need().map_or(now, |need| need.at);
        let mut outcome = Outcome::default();
        let step = self.step((ticket, id), &mut transfer, (needed, now.max(needed), bus), &mut outcome);
        match step {
            Step::Again { bus_free } => {
                effects.push(Effect::ReleaseBus { ticket, at: bus_free });
                // The command keeps its place: the controller may be waiting for it.
                self.need_bus(Pending { ticket, id, op, transfer, end }, effects);
                self.announce(effects);
            }
            Step::Done { bus_free, controller_free } => {
                effects.push(Effect::ReleaseBus { ticket, at: bus_free });
                self.done(outcome, end, now, effects);
                if let AnyTransfer::Write(write) = &transfer
                    && self.model.takes_next_write
                {
                    self.ahead.goes_on(write.command(), bus_free, controller_free);
                }
                self.parts.shelf.keep(transfer);
                self.announce(effects);
                self.freed_by(ticket, controller_free);
                self.pump(now, effects);
            }
        }
    }

    /// Time has come to `now`: a command that waited for the controller may begin.
    pub fn advance(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        if let Controller::FreeAt(free) = self.controller
            && !self.queue.is_empty()
            && let at = free.max(self.decides_at)
            && at < now
        {
            self.lateness.count += 1;
            self.lateness.max = self.lateness.max.max(now - at);
        }
        if !self.unseen.is_empty() {
            self.go_on_unseen(now, effects);
        }
        self.pump(now, effects);
    }

    /// Dispatches waiting commands for which the controller is free.
    fn pump(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        if self.endings.next().is_some_and(|end| end <= now) {
            self.end_waiting(now, effects);
        }
        while !self.queue.is_empty() {
            if self.model.takes_next_write && self.take_next_write(now, effects) {
                continue;
            }
            let Controller::FreeAt(free) = self.controller else {
                return self.take_writes_aside(now, effects);
            };
            if free > now {
                self.take_writes_aside(now, effects);
                if !self.queue.is_empty() {
                    self.wake(free, effects);
                }
                return;
            }
            if self.aside.is_under_way() {
                return;
            }
            // The drive's own timeline: it turned to the command when it could, not when it was called. What it turned to
            // before the newest came it chose without knowing of that.
            let at = free.max(self.queue.newest_arrival());
            let busy_until = if self.pending.is_empty() { self.completed } else { Nanos::MAX };
            let at = self.queue.waits_for_stream(at, busy_until, self.model.revolution());
            let chosen = if at > now { Some(Err(at)) } else { self.choose(at, now) };
            let next = match chosen {
                None => return,
                Some(Ok(next)) => next,
                Some(Err(until)) => {
                    self.decides_at = until;
                    return self.wake(until, effects);
                }
            };
            let turn = Turn { command: next.command, submitted: next.arrived, at, flush: Nanos::ZERO };
            self.turn_to(&turn, effects);
        }
    }

    /// The controller turns to a command that has left the queue.
    #[inline]
    fn turn_to(&mut self, turn: &Turn, effects: &mut Vec<Effect>) {
        if self.model.ends_commands() {
            self.endings.begin(&self.model, &turn.command, turn.submitted);
        }
        self.ahead.begin();
        let decoded = self.model.takes_aside.then(|| self.decoded(turn));
        self.parts.turn_to(turn.command.id, turn.at);
        let transfer = dispatch(&self.model, &mut self.parts, turn, Keep);
        self.parts.see(&self.model);
        if let Some(decoded) = decoded {
            self.aside.begin(turn, &transfer, decoded);
        }
        self.start(turn, transfer, effects);
    }

    /// A transfer that needed the bus from an instant on has it from another one on.
    fn step(
        &mut self,
        (ticket, id): (Ticket, u64),
        transfer: &mut AnyTransfer,
        (needed, from, bus): (Nanos, Nanos, &BusTiming),
        outcome: &mut Outcome,
    ) -> Step {
        if self.aside.controller == Controller::Waiting(ticket) {
            transfer.comes_beside(matches!(self.controller, Controller::Waiting(_)));
        }
        self.parts.log.turn_to(id);
        self.parts.log.tell(|narrative| narrative.waits_for_bus.push((needed, from)));
        let step = transfer.granted(from, bus, &self.model, &mut self.parts, outcome);
        self.parts.see(&self.model);
        step
    }

    /// Wants to be called at `at`; once is enough, however many commands come in the meantime.
    fn wake(&mut self, at: Nanos, effects: &mut Vec<Effect>) {
        if self.wake_at != Some(at) {
            self.wake_at = Some(at);
            effects.push(Effect::WakeAt(at));
        }
    }

    /// A transfer was dispatched: it waits for the bus, if it needs it.
    fn start(&mut self, turn: &Turn, mut transfer: AnyTransfer, effects: &mut Vec<Effect>) {
        match transfer.controller_free() {
            Some(free) => self.set_free(free),
            None => self.controller = Controller::Waiting(self.ticket()),
        }
        if transfer.need().is_some() {
            return self.wait_for_bus(turn, transfer, effects);
        }
        let end = self.end_running(turn);
        let (bus, mut outcome) = (self.model.bus(), Outcome::default());
        transfer.granted(Nanos::ZERO, &bus, &self.model, &mut self.parts, &mut outcome);
        self.parts.shelf.keep(transfer);
        self.done(outcome, end, turn.at, effects);
        self.announce(effects);
    }

    /// By which the next transfer asks for the bus.
    fn ticket(&self) -> Ticket {
        Ticket(self.next_ticket)
    }

    fn need_bus(&mut self, pending: Pending, effects: &mut Vec<Effect>) {
        let Pending { ticket, op, ref transfer, .. } = pending;
        if let Some(need) = transfer.need() {
            let bytes = need.sectors * u64::from(self.model.sector_bytes());
            let available_by = need.available_by;
            effects.push(Effect::NeedBus { ticket, at: need.at, direction: op, bytes, available_by });
        }
        self.pending.push(pending);
    }

    fn announce(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.parts.log.take().map(Effect::Background));
    }

    /// A transfer is done, after which the controller can turn to the next command at `at`, if it was waiting for it.
    fn freed_by(&mut self, ticket: Ticket, at: Nanos) {
        // Another command's transfer may come first: it frees nothing.
        if self.controller == Controller::Waiting(ticket) {
            self.set_free(at);
        } else if self.aside.controller == Controller::Waiting(ticket) {
            self.aside.controller = Controller::FreeAt(at);
        }
        if let (Controller::FreeAt(free), Controller::FreeAt(aside)) =
            (&mut self.controller, self.aside.controller)
        {
            *free = aside.max(*free);
        }
    }

    #[inline]
    fn set_free(&mut self, at: Nanos) {
        self.controller = Controller::FreeAt(at);
        self.parts.history.free_since(at);
    }

    /// Serves one command in closed form: the drive holds no other, and the bus is free whenever it is wanted. Equal to
    /// the event path with such a bus.
    ///
    /// # Panics
    /// If other commands are outstanding, or the command reaches beyond the last sector.
    #[inline]
    pub fn serve(
        &mut self,
        at: Nanos,
        command: Command,
        bus: &BusTiming,
        background: &mut Vec<Background>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        self.serve_into(at, command, bus, background, &mut outcome);
        outcome
    }

    /// As [`Drive::serve`], for a caller that serves many commands and says where it wants the outcome: handing it from one
    /// to the next costs as much as some commands do. It may be that of a command served before: all of it is told anew.
    ///
    /// # Panics
    /// As [`Drive::serve`].
    pub fn serve_into(
        &mut self,
        at: Nanos,
        command: Command,
        bus: &BusTiming,
        background: &mut Vec<Background>,
        outcome: &mut Outcome,
    ) {
        self.admit(&command);
        assert!(self.outstanding() == 0, "the closed form serves a drive that holds no other command");
        let Controller::FreeAt(free) = self.controller else {
            unreachable!("no command is waiting for the bus")
        };
        let turn = Turn { command, submitted: at, at: at.max(free), flush: Nanos::ZERO };
        let at_once = AtOnce { model: &self.model, bus, outcome };
        let controller_free = dispatch(&self.model, &mut self.parts, &turn, at_once);
        self.set_free(controller_free);
        self.parts.log.hand_over(background);
    }

    /// What is buffered goes to the media; returns when the mechanism is at rest.
    pub fn drain(&mut self, background: &mut Vec<Background>) -> Nanos {
        drain(&self.model, &mut self.parts);
        self.parts.log.hand_over(background);
        self.parts.mechanism.all_free().max(self.parts.history.idle_since())
    }

    /// What was acknowledged and would be lost with the power at `now`, not before anything the drive was told: ranges of
    /// addresses, first and one after the last.
    pub fn volatile(&mut self, now: Nanos) -> Vec<(u64, u64)> {
        self.settle(now);
        if !self.model.loses_cached_writes() {
            return Vec::new();
        }
        self.parts.buffer.volatile(now).collect()
    }

    /// Recalibrates at `now` or as soon as the mechanism is free (the host decided). What it would have done by itself by then it has done.
    pub fn recalibrate(&mut self, now: Nanos) {
        self.settle(now);
        let recalibration = &self.model.spec().recalibration;
        let Parts { mechanism, buffer, .. } = &mut self.parts;
        let media = mechanism.media(&self.model, now);
        mechanism.recalibrate(&media, buffer, recalibration, now);
    }

    /// Whether a recalibration that the host schedules has fallen due.
    pub fn wants_recalibration(&self, now: Nanos) -> bool {
        self.model.spec().recalibration.mode == RecalibrationMode::ByHost
            && self.parts.mechanism.recalibration_is_due(now)
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Listens to the next command: what its transfer tells can be had afterwards.
    pub(crate) fn parts_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }
}

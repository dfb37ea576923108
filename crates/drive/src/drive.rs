//! The drive: commands in, effects out.
//!
//! The controller turns to one command at a time. A command is *begun* (decoded, looked up, the arm sent on its way; all
//! that can be known without the bus) and *ended* when the bus is granted. The closed form [`Drive::serve`] does both
//! at once with a bus that is free; the event path has the calendar between them.

use crate::cache::Cache;
use crate::command::{Background, BusTiming, Command, Effect, Outcome, Phases, Ticket};
use crate::dirty::Dirty;
use crate::end::Ended;
use crate::mechanics::Spindle;
use crate::mechanism::Mechanism;
use crate::media::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::plan::{Begun, Plan};
use crate::scheduler::{Needs, Queue, Waiting};
use crate::spec::WritePolicy;
use headstack_units::{Angle, Nanos, Op, RequestFlags};
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

/// A write reported complete whose data are on their way to the media.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Underway {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// On the media.
    pub(crate) at: Nanos,
}

/// What the drive remembers of the commands before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    /// Where the last write ended, if a write came last or before reads.
    pub(crate) write_end: Option<u64>,
    /// Whether the last command was a write.
    pub(crate) last_was_write: bool,
    /// Where the last read ended.
    pub(crate) read_end: Option<u64>,
    /// Whether the present read continues the one before.
    pub(crate) sequential: bool,
}

/// One actuator of a drive, in motion. Addresses are its own, counted from 0.
#[derive(Clone, Debug)]
pub struct Drive {
    pub(crate) model: Arc<DriveModel>,
    pub(crate) spindle: Spindle,
    pub(crate) mechanism: Mechanism,
    pub(crate) cache: Cache,
    /// Write-back: what is buffered.
    pub(crate) dirty: Dirty,
    /// Write-back: going down to the low-water mark.
    pub(crate) draining: bool,
    /// Immediate reporting: what is on its way.
    pub(crate) underway: Vec<Underway>,
    pub(crate) history: History,
    /// Where the mechanism last worked.
    pub(crate) last_lba: u64,
    /// No command since.
    pub(crate) idle_since: Nanos,
    pub(crate) background: Vec<Background>,
    /// Room for the media work of a command, used again.
    pub(crate) spare_passes: Vec<Vec<Pass>>,
    /// Draws of the uniform rotational delay.
    pub(crate) draws: u64,
    pub(crate) seed: u64,
    controller: Controller,
    /// The wake asked for last.
    wake_at: Option<Nanos>,
    queue: Queue,
    /// Room for what a scheduler that knows the cache is told.
    buffered: Vec<(u64, u64)>,
    plans: Vec<(Ticket, Plan)>,
    next_ticket: u64,
    lateness: Lateness,
    /// What the last command's mechanism did, for those who want the story.
    pub(crate) story: Option<crate::explain::Story>,
}

impl Drive {
    /// A drive at rest over its first sector. `seed` drives the spindle's drift and the uniform rotational delay, where
    /// the description asks for them.
    pub fn new(model: Arc<DriveModel>, seed: u64) -> Self {
        let spec = model.spec();
        let first = model.layout.extent(0, 1);
        Self {
            spindle: Spindle::new(spec.rotation_rpm, &spec.spindle, seed),
            mechanism: Mechanism::new(Arm::over(&first), &spec.recalibration),
            cache: Cache::new(model.cache(), model.sizes.segment),
            dirty: Dirty::default(),
            draining: false,
            underway: Vec::new(),
            history: History::default(),
            last_lba: 0,
            idle_since: Nanos::ZERO,
            background: Vec::new(),
            spare_passes: Vec::new(),
            draws: 0,
            seed,
            controller: Controller::FreeAt(Nanos::ZERO),
            wake_at: None,
            queue: model.new_queue(),
            buffered: Vec::new(),
            plans: Vec::new(),
            next_ticket: 0,
            lateness: Lateness::default(),
            story: None,
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
        (self.queue.len() + self.plans.len()) as u32
    }

    /// Whether the drive's queue has room for another command.
    pub fn can_accept(&self) -> bool {
        self.outstanding() < self.model.queue_depth()
    }

    /// How late the drive was called.
    pub fn lateness(&self) -> Lateness {
        self.lateness
    }

    /// Time the mechanism spent on commands, destage and recalibration (read-ahead not counted).
    pub fn mechanism_busy(&self) -> Nanos {
        self.mechanism.busy
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
        self.pump(now, effects);
    }

    fn admit(&self, command: &Command) {
        assert!(command.sectors > 0, "a command must have sectors");
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
            .plans
            .iter()
            .position(|(waiting, _)| *waiting == ticket)
            .expect("the bus is granted to a transfer that asked for it");
        let (_, plan) = self.plans.remove(index);
        let granted = now.max(plan.bus_at());
        let ended = self.end(plan, granted, bus);
        effects.push(Effect::ReleaseBus { ticket, at: ended.bus_free });
        self.announce(&ended, effects);
        // Another command's transfer may come first: it frees nothing.
        if self.controller == Controller::Waiting(ticket) {
            self.controller = Controller::FreeAt(ended.controller_free);
            self.idle_since = ended.controller_free;
        }
        self.pump(now, effects);
    }

    /// Time has come to `now`: a command that waited for the controller may begin.
    pub fn advance(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        if let Controller::FreeAt(at) = self.controller
            && !self.queue.is_empty()
            && at < now
        {
            self.lateness.count += 1;
            self.lateness.max = self.lateness.max.max(now - at);
        }
        self.pump(now, effects);
    }

    /// Begins waiting commands for which the controller is free.
    fn pump(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        while !self.queue.is_empty() {
            let Controller::FreeAt(free) = self.controller else { return };
            if free > now {
                // Once is enough, however many commands come in the meantime.
                if self.wake_at != Some(free) {
                    self.wake_at = Some(free);
                    effects.push(Effect::WakeAt(free));
                }
                return;
            }
            let Some(next) = self.choose(free) else { return };
            // The drive's own timeline: it turned to the command when it could, not when it was called.
            let begun = self.begin(next.command, next.arrived, next.arrived.max(free));
            self.start_plan(begun, effects);
        }
    }

    /// Takes the next command out of the queue; the controller is free since `free`.
    fn choose(&mut self, free: Nanos) -> Option<Waiting> {
        let at = free.max(self.queue.newest_arrival());
        let needs = self.queue.policy().needs();
        if needs == Needs::Addresses {
            return self.queue.pop(at, &[], &[]).map(|taken| taken.waiting);
        }
        let mut buffered = std::mem::take(&mut self.buffered);
        if needs == Needs::Cache {
            self.buffered(at, &mut buffered);
        }
        let model = Arc::clone(&self.model);
        let reach = self.reach(&model, at);
        let next = self.queue.pop(at, &[reach], &buffered).map(|taken| taken.waiting);
        self.buffered = buffered;
        next
    }

    fn start_plan(&mut self, begun: Begun, effects: &mut Vec<Effect>) {
        let ticket = Ticket(self.next_ticket);
        self.controller = begun.controller_free.map_or(Controller::Waiting(ticket), Controller::FreeAt);
        if let Some(free) = begun.controller_free {
            self.idle_since = free;
        }
        match begun.plan {
            Plan::Constant(outcome) => {
                self.announce(
                    &Ended { outcome, bus_free: outcome.finish, controller_free: outcome.finish },
                    effects,
                );
            }
            plan => {
                self.next_ticket += 1;
                effects.push(Effect::NeedBus {
                    ticket,
                    at: plan.bus_at(),
                    direction: plan.command().op,
                    available_by: plan.available_by(),
                });
                self.plans.push((ticket, plan));
            }
        }
    }

    fn announce(&mut self, ended: &Ended, effects: &mut Vec<Effect>) {
        effects.push(Effect::Done(ended.outcome));
        effects.extend(self.background.drain(..).map(Effect::Background));
    }

    /// Serves one command in closed form: the drive holds no other, and the bus is free whenever it is wanted. Equal to
    /// the event path with such a bus.
    ///
    /// # Panics
    /// If other commands are outstanding, or the command reaches beyond the last sector.
    pub fn serve(
        &mut self,
        at: Nanos,
        command: Command,
        bus: &BusTiming,
        background: &mut Vec<Background>,
    ) -> Outcome {
        let model = Arc::clone(&self.model);
        let mut outcome = Outcome::default();
        self.serve_by(&model, at, command, bus, background, &mut outcome);
        outcome
    }

    /// As [`Drive::serve`], for a caller that serves many commands, has the drive's model at hand, and says where it wants
    /// the outcome: counting the references to the model anew for every command, and handing the outcome from one to the
    /// next, costs as much as some commands do.
    ///
    /// # Panics
    /// As [`Drive::serve`], and if the model is another drive's.
    #[inline]
    pub fn serve_by(
        &mut self,
        model: &Arc<DriveModel>,
        at: Nanos,
        command: Command,
        bus: &BusTiming,
        background: &mut Vec<Background>,
        outcome: &mut Outcome,
    ) {
        assert!(Arc::ptr_eq(model, &self.model), "the model is the drive's own");
        self.admit(&command);
        assert!(self.outstanding() == 0, "the closed form serves a drive that holds no other command");
        let Controller::FreeAt(free) = self.controller else {
            unreachable!("no command is waiting for the bus")
        };
        let turned = at.max(free);
        let controller_free = match self.serve_plain(model, &command, at, turned, bus, outcome) {
            Some(free) => free,
            None => self.serve_any(model, command, at, turned, bus, outcome),
        };
        self.controller = Controller::FreeAt(controller_free);
        self.idle_since = controller_free;
        if !self.background.is_empty() {
            background.append(&mut self.background);
        }
    }

    /// Serves a command by way of a plan, as the event path does; returns when the controller is free.
    #[inline(never)]
    fn serve_any(
        &mut self,
        model: &DriveModel,
        command: Command,
        submitted: Nanos,
        at: Nanos,
        bus: &BusTiming,
        outcome: &mut Outcome,
    ) -> Nanos {
        let mut begun = self.begin_by(model, command, submitted, at);
        let granted = begun.plan.bus_at();
        let ended = self.end_by(model, &mut begun.plan, granted, bus);
        *outcome = ended.outcome;
        begun.controller_free.unwrap_or(ended.controller_free)
    }

    /// The disk as it turns at `now`.
    pub(crate) fn media<'a>(model: &'a DriveModel, spindle: &mut Spindle, now: Nanos) -> Media<'a> {
        Media { model, epoch: spindle.epoch_at(now) }
    }

    /// What is buffered goes to the media; returns when the mechanism is at rest.
    pub fn drain(&mut self, background: &mut Vec<Background>) -> Nanos {
        while !self.dirty.is_empty() {
            self.destage_one(self.mechanism.free_at.max(self.idle_since));
        }
        background.append(&mut self.background);
        self.mechanism.free_at.max(self.idle_since)
    }

    /// Recalibrates at `now` or as soon as the mechanism is free (the host decided).
    pub fn recalibrate(&mut self, now: Nanos) {
        let model = Arc::clone(&self.model);
        let media = Self::media(&model, &mut self.spindle, now);
        self.mechanism.recalibrate(&media, &mut self.cache, &model.spec().recalibration, now);
    }

    /// Whether a recalibration that the host schedules has fallen due.
    pub fn wants_recalibration(&self, now: Nanos) -> bool {
        self.model.spec().recalibration.mode == crate::spec::RecalibrationMode::ByHost
            && self.mechanism.recalibration_is_due(now)
    }

    /// Shifts the spindle's phase from `now` on.
    pub fn relock(&mut self, now: Nanos, shift: Angle) {
        if let Some(stream) = &mut self.mechanism.stream {
            stream.unsettle();
        }
        self.spindle.relock(now, shift);
    }

    /// Measured replay: the last command, which the model finished at `model_finish`, really finished at
    /// `measured_finish`; arm, cache, spindle and work in progress are as after it, at that time. The model's own lateness
    /// is forgotten.
    pub fn rebase(&mut self, model_finish: Nanos, measured_finish: Nanos) {
        let moved = |at: Nanos| moved(at, model_finish, measured_finish);
        self.move_work(moved);
        if let Some(stream) = &mut self.mechanism.stream {
            stream.rebase(moved);
        }
        let epoch = self.spindle.epoch_at(measured_finish);
        self.spindle.relock(measured_finish, epoch.angle(model_finish) - epoch.angle(measured_finish));
    }

    /// As [`Drive::rebase`], but the spindle turns on as it did (phase-locked replay): read-ahead goes on when its
    /// sectors come around.
    pub fn rebase_on_clock(&mut self, model_finish: Nanos, measured_finish: Nanos) {
        let moved = |at: Nanos| moved(at, model_finish, measured_finish);
        self.move_work(moved);
        let model = Arc::clone(&self.model);
        let media = Self::media(&model, &mut self.spindle, measured_finish);
        if let Some(stream) = &mut self.mechanism.stream {
            stream.rebase(moved);
            stream.catch_sectors(&media);
        }
    }

    fn move_work(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.wake_at = None;
        if let Controller::FreeAt(at) = &mut self.controller {
            *at = moved(*at);
        }
        self.idle_since = moved(self.idle_since);
        self.mechanism.free_at = moved(self.mechanism.free_at);
        for write in &mut self.underway {
            write.at = moved(write.at);
        }
    }

    /// Whether a write is reported when its data are in the buffer (S0: the first write since a read, or a sequential
    /// extension of the last write, unless marked otherwise).
    pub(crate) fn reports_early(&self, command: &Command) -> bool {
        let WritePolicy::ImmediateReporting { pending_writes, .. } = self.model.spec().write_policy else {
            return false;
        };
        command.op == Op::Write
            && !command.flags.contains(RequestFlags::FORCE_MEDIA)
            && u64::from(command.sectors) <= self.model.sizes.buffer
            && (pending_writes.is_some()
                || !self.history.last_was_write
                || self.history.write_end == Some(command.lba.0))
    }

    /// Index into the overheads by history: 0 after a read, 1 after a write.
    pub(crate) fn after_what(&self) -> usize {
        usize::from(self.history.last_was_write)
    }

    /// Phases from submission to the controller's turning to a command.
    pub(crate) fn queued(submitted: Nanos, at: Nanos) -> Phases {
        Phases { queue: at - submitted, ..Phases::default() }
    }
}

/// An instant, when what the model finished at `model` really finished at `measured`.
fn moved(at: Nanos, model: Nanos, measured: Nanos) -> Nanos {
    if measured >= model { at + (measured - model) } else { at.saturating_sub(model - measured) }
}

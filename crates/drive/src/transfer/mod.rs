//! Transfers: one state machine per command.
//!
//! A transfer is *dispatched* when the controller turns to its command: the command is decoded and looked up, the arm set
//! out, and all that can be known without the bus is. Then it steps each time it is granted the bus, until it is done:
//!
//! ```text
//! dispatch ─► need the bus ─► granted ─┬─► done
//!                 ▲                    │
//!                 └── in bursts: again ┘
//! ```
//!
//! Who grants the bus is not its concern: a calendar does, or, in closed form, a bus that is free whenever it is wanted.
//! The code is the same.
//!
//! A transfer that is done goes on the [`Shelf`], and the next command of its kind fills it in anew where it lies: to
//! build one and hand it on would cost more than most commands do.

mod approach;
mod buffered;
mod constant;
mod destage;
mod discard;
mod flush;
mod history;
mod keep;
mod linear;
mod log;
mod path;
mod read;
mod rewrite;
mod shelf;
mod under_way;
mod write;

pub(crate) use buffered::{Buffered, take_aside};
pub(crate) use constant::Constant;
pub(crate) use destage::{destage_until, drain, share_before_choice};
pub(crate) use history::History;
pub(crate) use log::{Log, Narrative};
pub(crate) use read::{Plan, Read};
pub(crate) use shelf::Shelf;
pub(crate) use under_way::UnderWay;
pub(crate) use write::Write;

use crate::buffer::Buffer;
use crate::command::{BusTiming, Command, Outcome};
use crate::mechanism::{GivesWay, Mechanism, Media, Pass};
use crate::model::{DriveModel, WriteBack};
use crate::spec::WritePolicy;
use headstack_units::{Nanos, Op, RequestFlags};
use path::Beginning;

/// What transfers work with. Each part changes its own state only.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) mechanism: Mechanism,
    pub(crate) buffer: Buffer,
    pub(crate) history: History,
    pub(crate) log: Log,
    pub(crate) shelf: Shelf,
    pub(crate) under_way: UnderWay,
}

impl Parts {
    /// Recalibrations of the drive's own that have fallen due by `at`, when the arm was free, are done.
    pub(crate) fn recalibrate_until(&mut self, model: &DriveModel, at: Nanos) {
        if self.mechanism.recalibration_is_due(at) {
            let media = self.mechanism.present_media(model);
            self.mechanism.catch_up(&media, &mut self.buffer, at);
        }
    }

    /// At rest.
    pub(crate) fn new(model: &DriveModel, seed: u64) -> Self {
        Self {
            mechanism: Mechanism::new(model, seed),
            buffer: Buffer::new(model),
            history: History::default(),
            log: Log::default(),
            shelf: Shelf::default(),
            under_way: UnderWay::default(),
        }
    }

    /// What is told from here on is about this command, to which the controller turns at `at`.
    #[inline]
    pub(crate) fn turn_to(&mut self, id: u64, at: Nanos) {
        if self.log.has_listeners() {
            self.log.turn_to(id);
            let track = self.mechanism.arm().track();
            self.log.tell(|narrative| (narrative.turned, narrative.at) = (Some(at), track));
        }
    }

    /// How the command at work sees the disk, for one who listens.
    #[inline]
    pub(crate) fn see(&mut self, model: &DriveModel) {
        let Self { mechanism, log, .. } = self;
        log.tell(|narrative| {
            narrative.see(|at| (mechanism.media_ahead(model, at).epoch, mechanism.heads_at_work()));
        });
    }

    /// When the controller can turn to the next command: when the media work of this one is `done`, or, where several arms are
    /// at work at a time, when it is `decoded` and an arm is free.
    #[inline]
    pub(crate) fn controller_free(
        &mut self,
        model: &DriveModel,
        turn: (&Command, Nanos),
        done: Nanos,
    ) -> Nanos {
        if !model.arms_overlap {
            return done;
        }
        // A copy: what is lent out lies in memory, and would also where it is not lent.
        let (command, decoded) = (*turn.0, turn.1);
        self.under_way.add(&command, done);
        self.mechanism.leave_channel(done);
        if command.is_ordered() { done } else { self.mechanism.next_free().max(decoded) }
    }

    /// Whether a command continues a write that is still on its way to the media.
    #[inline]
    pub(crate) fn appends(&self, turn: &Turn) -> bool {
        turn.command.op == Op::Write
            && self.history.continues_write(turn.command.lba.0)
            && self.buffer.early.until(turn.at).is_some()
            && !self.buffer.early.has_again()
    }

    /// Read-ahead is stopped at `at`; returns how long that takes.
    #[inline]
    pub(crate) fn stop_read_ahead(&mut self, media: &Media<'_>, at: Nanos) -> Nanos {
        let Some(release) = self.buffer.give_way(media, at) else { return Nanos::ZERO };
        self.mechanism.rest(media, release, at);
        release.at - at
    }

    /// A drifting spindle changes speed between commands: read-ahead under way goes on at the new one.
    #[expect(clippy::inline_always, reason = "mostly there is nothing to do")]
    #[inline(always)]
    pub(crate) fn change_speed(&mut self, model: &DriveModel, at: Nanos) {
        if self.buffer.has_prefetch() && self.mechanism.changes_speed_by(at) {
            let old = self.mechanism.present_media(model);
            let new = self.mechanism.media(model, at).epoch;
            if new != old.epoch {
                self.buffer.change_speed(&old, &new, at);
            }
        }
    }
}

/// A command as the drive turns to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) command: Command,
    /// When the drive got it.
    pub(crate) submitted: Nanos,
    /// When the controller turns to it.
    pub(crate) at: Nanos,
    /// How long of the time before that it waited for a flush.
    pub(crate) flush: Nanos,
}

impl Turn {
    /// From submission until the controller has spent `overhead` on it.
    #[inline]
    pub(crate) fn decoded_after(&self, overhead: Nanos) -> Beginning {
        Beginning { queue: self.at - self.flush - self.submitted, overhead, other: self.flush }
    }

    /// Its addresses: the first, and one after the last.
    #[inline]
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.command.lba.0, self.command.lba.0 + u64::from(self.command.sectors))
    }
}

/// The bus is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// From when on.
    pub(crate) at: Nanos,
    /// What is to move in this transfer, at most.
    pub(crate) sectors: u64,
    /// A grant after this costs a revolution, where that is known beforehand.
    pub(crate) available_by: Option<Nanos>,
}

/// What a transfer does after a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The bus is free again at an instant, and will be needed again.
    Again { bus_free: Nanos },
    /// The bus is free again, and the outcome is told: the command is complete, or will be at an instant that is known. The
    /// controller can turn to the next command.
    Done { bus_free: Nanos, controller_free: Nanos },
}

/// A transfer, stepped by grants of the bus.
pub(crate) trait Transfer {
    /// The bus as it is needed next; `None` where it is not needed at all.
    fn need(&self) -> Option<Need>;

    /// When the controller can turn to the next command, if that does not depend on the bus.
    fn controller_free(&self) -> Option<Nanos>;

    /// The bus is granted at `granted`, not before it was needed. `outcome` is told when the step is the last.
    fn granted(
        &mut self,
        granted: Nanos,
        bus: &BusTiming,
        model: &DriveModel,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Step;
}

/// Who drives a transfer: the calendar, which keeps it until the bus is granted, or a bus that is free whenever it is wanted.
pub(crate) trait Driver {
    type Output;

    /// A read of which all is known but when the bus is granted, and its passes over the media, if any.
    fn settled(self, media: &Media<'_>, plan: &Plan, passes: &[Pass], parts: &mut Parts) -> Self::Output;

    /// Any transfer.
    fn drive(self, transfer: AnyTransfer, parts: &mut Parts) -> Self::Output;
}

/// Keeps a transfer until the calendar grants it the bus.
pub(crate) struct Keep;

impl Driver for Keep {
    type Output = AnyTransfer;

    fn settled(self, media: &Media<'_>, plan: &Plan, passes: &[Pass], parts: &mut Parts) -> AnyTransfer {
        AnyTransfer::Read(Read::new(media, plan, passes, parts))
    }

    fn drive(self, transfer: AnyTransfer, _parts: &mut Parts) -> AnyTransfer {
        transfer
    }
}

/// A bus that is free whenever it is wanted.
pub(crate) struct AtOnce<'a> {
    pub(crate) model: &'a DriveModel,
    pub(crate) bus: &'a BusTiming,
    pub(crate) outcome: &'a mut Outcome,
}

impl Driver for AtOnce<'_> {
    /// When the controller is free.
    type Output = Nanos;

    #[expect(clippy::inline_always, reason = "what is known of the passes where it is called makes it short")]
    #[inline(always)]
    fn settled(self, media: &Media<'_>, plan: &Plan, passes: &[Pass], parts: &mut Parts) -> Nanos {
        if self.model.bursts.apply_on(self.bus, Op::Read) {
            // Copies: what is lent out must lie in memory, and would also where it is not lent.
            let plan = *plan;
            return match *passes {
                [pass] => self.in_bursts(media, &plan, &[pass], parts),
                _ => self.in_bursts(media, &plan, passes, parts),
            };
        }
        plan.send_at_once(media, passes, self.bus, parts, self.outcome)
    }

    #[inline]
    fn drive(self, mut transfer: AnyTransfer, parts: &mut Parts) -> Nanos {
        let free = transfer.run(self.bus, self.model, parts, self.outcome);
        parts.shelf.keep(transfer);
        free
    }
}

impl AtOnce<'_> {
    /// As [`Driver::settled`], where the bus is let go of in between.
    #[inline(never)]
    fn in_bursts(self, media: &Media<'_>, plan: &Plan, passes: &[Pass], parts: &mut Parts) -> Nanos {
        let read = Read::new(media, plan, passes, parts);
        self.drive(AnyTransfer::Read(read), parts)
    }
}

/// A transfer of any kind.
#[derive(Clone, Debug)]
pub(crate) enum AnyTransfer {
    Constant(Box<Constant>),
    Read(Box<Read>),
    Write(Box<Write>),
    Buffered(Box<Buffered>),
}

macro_rules! each {
    ($transfer:expr, $inner:ident => $call:expr) => {
        match $transfer {
            AnyTransfer::Constant($inner) => $call,
            AnyTransfer::Read($inner) => $call,
            AnyTransfer::Write($inner) => $call,
            AnyTransfer::Buffered($inner) => $call,
        }
    };
}

impl Transfer for AnyTransfer {
    fn need(&self) -> Option<Need> {
        each!(self, transfer => transfer.need())
    }

    fn controller_free(&self) -> Option<Nanos> {
        each!(self, transfer => transfer.controller_free())
    }

    fn granted(
        &mut self,
        granted: Nanos,
        bus: &BusTiming,
        model: &DriveModel,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Step {
        each!(self, transfer => transfer.granted(granted, bus, model, parts, outcome))
    }
}

impl AnyTransfer {
    /// Data on the bus while the arm is, or is not, at work for another command.
    pub(crate) fn comes_beside(&mut self, is_beside: bool) {
        if let Self::Buffered(buffered) = self {
            buffered.comes_beside(is_beside);
        }
    }

    /// Steps to the end on a bus that is free whenever it is wanted; returns when the controller is free.
    #[inline]
    pub(crate) fn run(
        &mut self,
        bus: &BusTiming,
        model: &DriveModel,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Nanos {
        each!(self, transfer => run(&mut **transfer, bus, model, parts, outcome))
    }
}

/// As [`AnyTransfer::run`], each kind by itself: together they would keep each other's values in memory.
#[inline(never)]
fn run(
    transfer: &mut impl Transfer,
    bus: &BusTiming,
    model: &DriveModel,
    parts: &mut Parts,
    outcome: &mut Outcome,
) -> Nanos {
    match step_at_once(transfer, bus, model, parts, outcome) {
        Some(free) => free,
        None => run_on(transfer, bus, model, parts, outcome),
    }
}

/// The rest of a transfer that takes the bus more than once.
#[inline(never)]
fn run_on(
    transfer: &mut impl Transfer,
    bus: &BusTiming,
    model: &DriveModel,
    parts: &mut Parts,
    outcome: &mut Outcome,
) -> Nanos {
    loop {
        if let Some(free) = step_at_once(transfer, bus, model, parts, outcome) {
            return free;
        }
    }
}

/// The bus is granted when it is needed; returns when the controller is free if the step is the last.
#[inline]
fn step_at_once(
    transfer: &mut impl Transfer,
    bus: &BusTiming,
    model: &DriveModel,
    parts: &mut Parts,
    outcome: &mut Outcome,
) -> Option<Nanos> {
    let granted = transfer.need().map_or(Nanos::ZERO, |need| need.at);
    match transfer.granted(granted, bus, model, parts, outcome) {
        Step::Done { controller_free, .. } => Some(transfer.controller_free().unwrap_or(controller_free)),
        Step::Again { .. } => None,
    }
}

/// Dispatches a command and hands its transfer to `driver`.
#[inline]
pub(crate) fn dispatch<D: Driver>(
    model: &DriveModel,
    parts: &mut Parts,
    turn: &Turn,
    driver: D,
) -> D::Output {
    let Command { sectors, flags, .. } = turn.command;
    let before = RequestFlags::FLUSH.with(RequestFlags::FORCE_MEDIA);
    if model.goes_straight && sectors > 0 && !flags.has_any(before) {
        return attend(model, parts, turn, driver);
    }
    dispatch_prepared(model, parts, turn, driver)
}

/// As [`dispatch`], where something comes before the command, or there is nothing but that.
#[inline(never)]
fn dispatch_prepared<D: Driver>(model: &DriveModel, parts: &mut Parts, turn: &Turn, driver: D) -> D::Output {
    let mut turn = *turn;
    if !model.goes_straight {
        if let Some(ms) = model.spec().fidelity.constant_ms {
            let mut constant = parts.shelf.constant();
            constant.dispatch(parts, &turn, Nanos::from_ms(ms));
            return driver.drive(AnyTransfer::Constant(constant), parts);
        }
        turn = prepare(model, parts, &turn);
    }
    if turn.command.flags.contains(RequestFlags::FLUSH) {
        turn = after_flush(model, parts, &turn);
    }
    if turn.command.sectors == 0 {
        let mut constant = parts.shelf.constant();
        flush::flush_alone(&mut constant, model, &turn);
        return driver.drive(AnyTransfer::Constant(constant), parts);
    }
    if turn.command.is_forced_read() {
        return attend_past_buffer(model, parts, &turn, driver);
    }
    attend(model, parts, &turn, driver)
}

/// The controller attends to a read that has to come from the media: what is acknowledged of its sectors goes there first.
#[cold]
fn attend_past_buffer<D: Driver>(model: &DriveModel, parts: &mut Parts, turn: &Turn, driver: D) -> D::Output {
    let (start, end) = turn.range();
    let at = parts.buffer.early.over(start, end, turn.at);
    let at = destage::write_out(model, parts, (start, end), at);
    parts.log.tell(|narrative| narrative.put_off = at);
    let turn = Turn { at, flush: turn.flush + (at - turn.at), ..*turn };
    let media = begin(model, parts, &turn);
    read::dispatch_past_buffer(&media, parts, &turn, driver)
}

/// The controller attends to a command that nothing comes before any more.
#[expect(
    clippy::inline_always,
    reason = "every command comes here, and handing it on costs a fifth of what is done"
)]
#[inline(always)]
fn attend<D: Driver>(model: &DriveModel, parts: &mut Parts, turn: &Turn, driver: D) -> D::Output {
    let media = begin(model, parts, turn);
    match turn.command.op {
        Op::Read => read::dispatch(&media, parts, turn, driver),
        Op::Write if turn.command.flags.contains(RequestFlags::DISCARD) => {
            let mut constant = parts.shelf.constant();
            write::make_way(&media, parts, turn);
            parts.history.note_arm(false);
            discard::discard(&mut constant, model, parts, turn);
            driver.drive(AnyTransfer::Constant(constant), parts)
        }
        Op::Write => {
            let transfer = write_for(&media, parts, turn);
            parts.history.note(&turn.command);
            driver.drive(transfer, parts)
        }
    }
}

/// The controller begins with a command, on media as they turn then.
#[expect(clippy::inline_always, reason = "every command comes here")]
#[inline(always)]
fn begin<'a>(model: &'a DriveModel, parts: &mut Parts, turn: &Turn) -> Media<'a> {
    parts.change_speed(model, turn.at);
    let media = parts.mechanism.media(model, turn.at);
    parts.buffer.begin_command();
    if parts.buffer.early.has_again() {
        rewrite::write_again(&media, parts);
    }
    parts.history.turn_to(turn.command.lba.0);
    media
}

/// The command as the controller turns to it when what comes before it is done.
fn prepare(model: &DriveModel, parts: &mut Parts, turn: &Turn) -> Turn {
    let turn = if model.arms_overlap { under_way::turn_later(parts, turn) } else { *turn };
    destage_until(model, parts, turn.at);
    // Also before a command that finds its data in the buffer: what has fallen due does not wait until somebody needs the arm.
    parts.recalibrate_until(model, turn.at);
    turn
}

/// A write, into the write-back cache or to the media.
#[inline]
fn write_for(media: &Media<'_>, parts: &mut Parts, turn: &Turn) -> AnyTransfer {
    write::make_way(media, parts, turn);
    parts.history.note_arm(false);
    if let Some(write_back) = buffered(media.model, &turn.command) {
        let mut buffered = parts.shelf.buffered();
        buffered.dispatch(media.model, write_back, parts, turn);
        return AnyTransfer::Buffered(buffered);
    }
    // What goes to the media now replaces what waited to.
    if !parts.buffer.dirty.is_empty() {
        parts.buffer.forget(media.model, turn.range());
    }
    let mut write = parts.shelf.write();
    if media.model.is_plain {
        write.dispatch::<true>(media, parts, turn);
    } else {
        write.dispatch::<false>(media, parts, turn);
    }
    AnyTransfer::Write(write)
}

/// The command as the controller turns to it when what was acknowledged before is on the media.
#[cold]
fn after_flush(model: &DriveModel, parts: &mut Parts, turn: &Turn) -> Turn {
    let at = flush::flush(model, parts, turn.at);
    parts.log.tell(|narrative| narrative.put_off = at);
    Turn { at, flush: turn.flush + (at - turn.at), ..*turn }
}

/// The write-back cache, where a write goes into it.
#[inline]
fn buffered<'a>(model: &'a DriveModel, command: &Command) -> Option<&'a WriteBack> {
    model.write_back.as_ref().filter(|cache| cache.admits(command.sectors, command.flags))
}

/// Whether a command, if it is a write, is complete when its data are on the media.
pub(crate) fn goes_to_media(model: &DriveModel, command: &Command) -> bool {
    let past = RequestFlags::DISCARD.with(RequestFlags::WRITE_SAME);
    !command.flags.has_any(past)
        && buffered(model, command).is_none()
        && !matches!(model.spec().write_policy, WritePolicy::ImmediateReporting { .. })
}

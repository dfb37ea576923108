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

mod approach;
mod buffered;
mod constant;
mod destage;
mod flush;
mod history;
mod linear;
mod log;
mod path;
mod read;
mod write;

pub(crate) use buffered::Buffered;
pub(crate) use constant::Constant;
pub(crate) use destage::{destage_until, drain};
pub(crate) use history::History;
pub(crate) use log::{Log, Narrative};
pub(crate) use read::Read;
pub(crate) use write::Write;

use crate::buffer::Buffer;
use crate::command::{BusTiming, Command, Outcome, Phases};
use crate::mechanism::{Mechanism, Media};
use crate::model::{DriveModel, WriteBack};
use headstack_units::{Nanos, Op, RequestFlags};
use path::queued;

/// What transfers work with. Each part changes its own state only.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) mechanism: Mechanism,
    pub(crate) buffer: Buffer,
    pub(crate) history: History,
    pub(crate) log: Log,
}

impl Parts {
    /// At rest.
    pub(crate) fn new(model: &DriveModel, seed: u64) -> Self {
        Self {
            mechanism: Mechanism::new(model, seed),
            buffer: Buffer::new(model),
            history: History::default(),
            log: Log::default(),
        }
    }

    /// A drifting spindle changes speed between commands: read-ahead under way goes on at the new one.
    #[inline]
    pub(crate) fn change_speed(&mut self, model: &DriveModel, at: Nanos) {
        if self.buffer.has_prefetch() && self.mechanism.changes_speed_by(at) {
            let old = Media { model, epoch: self.mechanism.present_epoch() };
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
    /// The phases from submission to the controller's turning to it.
    #[inline]
    pub(crate) fn phases(&self) -> Phases {
        Phases { other: self.flush, ..queued(self.submitted, self.at - self.flush) }
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

/// Whoever drives transfers of any kind.
pub(crate) trait Driver {
    type Output;

    fn drive(self, transfer: impl Transfer + Into<AnyTransfer>, parts: &mut Parts) -> Self::Output;
}

/// A transfer of any kind, for those who keep several.
#[derive(Clone, Debug)]
pub(crate) enum AnyTransfer {
    Constant(Constant),
    Read(Box<Read>),
    Write(Box<Write>),
    Buffered(Buffered),
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

/// Dispatches a command and hands its transfer to `driver`.
#[inline]
pub(crate) fn dispatch<D: Driver>(
    model: &DriveModel,
    parts: &mut Parts,
    turn: &Turn,
    driver: D,
) -> D::Output {
    if let Some(ms) = model.spec().fidelity.constant_ms {
        let constant = Constant::dispatch(parts, turn, Nanos::from_ms(ms));
        return driver.drive(constant, parts);
    }
    if model.write_back.is_some() {
        destage_until(model, parts, turn.at);
    }
    let flushed = turn.command.flags.contains(RequestFlags::FLUSH).then(|| after_flush(model, parts, turn));
    let turn = flushed.as_ref().unwrap_or(turn);
    if turn.command.sectors == 0 {
        return driver.drive(flush::flush_alone(model, turn), parts);
    }
    parts.change_speed(model, turn.at);
    let media = parts.mechanism.media(model, turn.at);
    parts.history.turn_to(turn.command.lba.0);
    match turn.command.op {
        Op::Read => {
            let read = Read::dispatch(&media, parts, turn);
            parts.history.note(&turn.command);
            if model.write_back.is_some() {
                parts.history.note_arm(!read.is_hit() || parts.buffer.reads_ahead_at(turn.at));
            }
            driver.drive(read, parts)
        }
        Op::Write => {
            write::make_way(&media, parts, turn);
            parts.history.note_arm(false);
            if let Some(write_back) = buffered(model, &turn.command) {
                let buffered = Buffered::dispatch(model, write_back, parts, turn);
                parts.history.note(&turn.command);
                return driver.drive(buffered, parts);
            }
            // What goes to the media now replaces what waited to.
            if !parts.buffer.dirty.is_empty() {
                parts.buffer.forget(model, turn.range());
            }
            let write = Write::dispatch(&media, parts, turn);
            parts.history.note(&turn.command);
            driver.drive(write, parts)
        }
    }
}

/// The command as the controller turns to it when what was acknowledged before is on the media.
#[cold]
fn after_flush(model: &DriveModel, parts: &mut Parts, turn: &Turn) -> Turn {
    let at = flush::flush(model, parts, turn.at);
    Turn { at, flush: at - turn.at, ..*turn }
}

/// The write-back cache, where a write goes into it.
#[inline]
fn buffered<'a>(model: &'a DriveModel, command: &Command) -> Option<&'a WriteBack> {
    let forced = command.flags.contains(RequestFlags::FORCE_MEDIA);
    model.write_back.as_ref().filter(|cache| !forced && u64::from(command.sectors) <= cache.room)
}

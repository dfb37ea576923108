//! Writes that the cache takes while the arm works for another command.
//!
//! A drive that orders its queue by where the disk is does not let a write wait for a read that it has nothing to do with: its
//! data come over the bus while the arm is under way, and the write is complete. One at a time.

use super::{Controller, Drive};
use crate::command::{Command, Effect};
use crate::model::DriveModel;
use crate::scheduler::{Waiting, overhead};
use crate::transfer::{AnyTransfer, Parts, Turn, take_aside};
use headstack_units::{Nanos, Op, RequestFlags};

/// What goes on beside the command that has the arm.
#[derive(Clone, Debug)]
pub(super) struct Aside {
    /// When it can turn to the next write.
    pub(super) controller: Controller,
    /// The command that has the arm, if writes may pass it.
    passed: Option<Passed>,
    /// The wake asked for last.
    wake_at: Option<Nanos>,
}

/// A command that writes may pass.
#[derive(Clone, Copy, Debug)]
struct Passed {
    /// Its addresses: the first, and one after the last.
    range: (u64, u64),
    /// When it has been decoded: the controller is free for others.
    decoded: Nanos,
}

impl Default for Aside {
    fn default() -> Self {
        Self { controller: Controller::FreeAt(Nanos::ZERO), passed: None, wake_at: None }
    }
}

impl Aside {
    /// The controller has begun a command, which it decodes first.
    pub(super) fn begin(&mut self, turn: &Turn, transfer: &AnyTransfer, decoded: Nanos) {
        let has_arm = matches!(transfer, AnyTransfer::Read(_) | AnyTransfer::Write(_));
        let is_passed = has_arm && !turn.command.is_ordered();
        self.passed = is_passed.then(|| Passed { range: turn.range(), decoded });
    }

    /// Whether a write is on its way: the controller turns to no other command before it is there.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.controller, Controller::Waiting(_))
    }

    /// The work in hand happens at another time.
    pub(super) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.wake_at = None;
        self.passed = None;
        if let Controller::FreeAt(at) = &mut self.controller {
            *at = moved(*at);
        }
    }
}

/// Whether a write may pass the command at `passed` once the cache has room for it. What the read cache holds, or is about to,
/// is not written over meanwhile.
fn may_pass(
    model: &DriveModel,
    parts: &Parts,
    passed: (u64, u64),
    Waiting { command, .. }: &Waiting,
) -> bool {
    let &Command { op, sectors, flags, .. } = command;
    let range = range_of(command);
    let is_apart = |(from, to): (u64, u64)| range.1 <= from || to <= range.0;
    op == Op::Write
        && !command.is_ordered()
        && !flags.contains(RequestFlags::DISCARD)
        && is_apart(passed)
        && model.write_back.as_ref().is_some_and(|cache| cache.admits(sectors, flags))
        && !parts.buffer.holds_any_of(range)
        && parts.buffer.coming().is_none_or(is_apart)
}

/// When the cache has room for a write, from `at` on, if nothing else goes to the media than what is on its way there.
fn room_from(model: &DriveModel, parts: &Parts, command: &Command, mut at: Nanos) -> Option<Nanos> {
    let cache = model.write_back.as_ref()?;
    while !parts.buffer.takes(cache, range_of(command), at) {
        at = parts.buffer.destaging.next_after(at)?;
    }
    Some(at)
}

fn range_of(command: &Command) -> (u64, u64) {
    (command.lba.0, command.lba.0 + u64::from(command.sectors))
}

impl Drive {
    /// The controller has a command for which the arm works at `now`: the write that the cache takes soonest begins.
    pub(super) fn take_writes_aside(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        let Some(passed) = self.aside.passed else { return };
        let Controller::FreeAt(free) = self.aside.controller else { return };
        let free = free.max(passed.decoded);
        let Self { model, parts, queue, .. } = self;
        let begins = |waiting: &Waiting| {
            may_pass(model, parts, passed.range, waiting)
                .then(|| room_from(model, parts, &waiting.command, free.max(waiting.arrived)))?
        };
        let Some((at, slot)) = queue.first_write(free, begins) else { return };
        if at > now {
            if self.aside.wake_at != Some(at) {
                self.aside.wake_at = Some(at);
                effects.push(Effect::WakeAt(at));
            }
            return;
        }
        let Waiting { command, arrived, .. } = queue.take_unchosen(slot);
        if model.ends_commands() {
            self.endings.begin(model, &command, arrived);
        }
        let turn = Turn { command, submitted: arrived, at, flush: Nanos::ZERO };
        parts.turn_to(command.id, at);
        let transfer = take_aside(model, parts, &turn);
        self.aside.controller = Controller::Waiting(self.ticket());
        self.wait_for_bus(&turn, transfer, effects);
    }

    /// When a command that the controller turns to has been decoded.
    pub(super) fn decoded(&self, turn: &Turn) -> Nanos {
        turn.at + overhead(&self.model, turn.command.op, self.parts.history.after())
    }
}

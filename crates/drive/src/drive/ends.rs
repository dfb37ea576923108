//! Commands that end before they are complete: their time is up while they wait, or while they are served. The work on those goes on
//! without the bus, and nobody hears how it ends.

use super::{Drive, Pending};
use crate::command::{Effect, Outcome};
use crate::endings::{End, cut, ended};
use crate::transfer::{AnyTransfer, Step, Transfer, Turn};
use headstack_units::Nanos;

impl Drive {
    /// Waiting commands whose time is up leave the queue.
    #[cold]
    pub(super) fn end_waiting(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        while let Some((_, id, how)) = self.endings.due(now) {
            let waiting = self.queue.withdraw(id).expect("what has a time to end by waits");
            effects.push(Effect::Done(ended(id, waiting.arrived, None, now, how)));
        }
    }

    /// The work on commands that have ended goes on to `now`.
    #[cold]
    pub(super) fn go_on_unseen(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        let (bus, mut outcome) = (self.model.bus(), Outcome::default());
        let needed = |pending: &Pending| pending.transfer.need().map_or(Nanos::ZERO, |need| need.at);
        while let Some(next) = (0..self.unseen.len()).min_by_key(|&index| needed(&self.unseen[index]))
            && let at = needed(&self.unseen[next])
            && at <= now
        {
            let Pending { ticket, id, op, mut transfer, end } = self.unseen.swap_remove(next);
            match self.step((ticket, id), &mut transfer, (at, at, &bus), &mut outcome) {
                Step::Again { .. } => {
                    let again = Pending { ticket, id, op, transfer, end };
                    effects.push(Effect::WakeAt(needed(&again)));
                    self.unseen.push(again);
                }
                Step::Done { controller_free, .. } => {
                    self.parts.shelf.keep(transfer);
                    self.freed_by(ticket, controller_free);
                }
            }
            self.announce(effects);
        }
    }

    /// When a command that the controller turns to ends if it is not complete by then.
    pub(super) fn end_running(&self, turn: &Turn) -> Option<End> {
        let &Turn { command, submitted, at, .. } = turn;
        let limits = &self.model.limits;
        let end = if limits.end_commands { limits.end_running(command.flags, at - submitted) } else { None };
        end.map(|(age, how)| (submitted + age, how))
    }

    /// A transfer asks for the bus, unless its command ends before.
    pub(super) fn wait_for_bus(&mut self, turn: &Turn, transfer: AnyTransfer, effects: &mut Vec<Effect>) {
        let &Turn { command, submitted, at, .. } = turn;
        let end = self.end_running(turn);
        let needed = transfer.need().map_or(at, |need| need.at);
        let pending = Pending { ticket: self.ticket(), id: command.id, op: command.op, transfer, end };
        self.next_ticket += 1;
        match end {
            Some((end, how)) if needed > end => {
                let finish = end.max(at);
                effects.push(Effect::Done(ended(command.id, submitted, Some(at), finish, how)));
                effects.push(Effect::WakeAt(needed));
                self.unseen.push(pending);
            }
            _ => self.need_bus(pending, effects),
        }
    }

    /// A command is complete, or has ended before, as far as is known at `now`.
    pub(super) fn done(&mut self, outcome: Outcome, end: Option<End>, now: Nanos, effects: &mut Vec<Effect>) {
        self.completed = self.completed.max(outcome.finish);
        let outcome = match end {
            Some((end, how)) if outcome.finish > end.max(now) => cut(&outcome, end.max(now), how),
            _ => outcome,
        };
        effects.push(Effect::Done(outcome));
    }
}

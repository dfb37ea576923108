//! A command that takes a constant time, whatever it asks for (the rung M0).

use super::{AnyTransfer, Need, Parts, Step, Transfer, Turn};
use crate::command::{BusTiming, Outcome, Phases};
use crate::model::DriveModel;
use headstack_units::Nanos;

/// The outcome is fixed from the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant(Outcome);

impl Constant {
    /// A command whose outcome is known.
    pub(super) fn known(outcome: Outcome) -> Self {
        Self(outcome)
    }

    pub(super) fn dispatch(parts: &mut Parts, turn: &Turn, time: Nanos) -> Self {
        let &Turn { command, submitted, at, .. } = turn;
        let finish = at + time;
        let phases = Phases { other: turn.flush + time, ..turn.phases() };
        parts.mechanism.book(time);
        Self(Outcome { id: command.id, submitted, finish, phases, ..Outcome::default() })
    }
}

impl From<Constant> for AnyTransfer {
    fn from(transfer: Constant) -> Self {
        Self::Constant(transfer)
    }
}

impl Transfer for Constant {
    fn need(&self) -> Option<Need> {
        None
    }

    fn controller_free(&self) -> Option<Nanos> {
        Some(self.0.finish)
    }

    fn granted(
        &mut self,
        _granted: Nanos,
        _bus: &BusTiming,
        _model: &DriveModel,
        _parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Step {
        *outcome = self.0;
        Step::Done { bus_free: self.0.finish, controller_free: self.0.finish }
    }
}

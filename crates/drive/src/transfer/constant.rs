//! A command that takes a constant time, whatever it asks for (the rung M0).

use super::path::Beginning;
use super::{Need, Parts, Step, Transfer, Turn};
use crate::command::{BusTiming, Outcome};
use crate::model::DriveModel;
use headstack_units::Nanos;

/// The outcome is fixed from the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Constant(Outcome);

impl Constant {
    /// A command whose outcome is known.
    pub(super) fn know(&mut self, outcome: Outcome) {
        self.0 = outcome;
    }

    pub(super) fn dispatch(&mut self, parts: &mut Parts, turn: &Turn, time: Nanos) {
        let &Turn { command, submitted, at, .. } = turn;
        let finish = at + time;
        let phases = Beginning { other: turn.flush + time, ..turn.decoded_after(Nanos::ZERO) }.phases();
        parts.mechanism.book(at, finish);
        self.0 = Outcome { id: command.id, submitted, finish, phases, ..Outcome::default() };
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

//! A flush of the drive's cache: all that was acknowledged goes to the media.

use super::constant::Constant;
use super::destage::drain;
use super::{Parts, Turn};
use crate::command::{Outcome, Phases};
use crate::model::DriveModel;
use headstack_units::Nanos;

/// When all is on the media that was acknowledged before the controller turned to a command at `at`.
pub(super) fn flush(model: &DriveModel, parts: &mut Parts, at: Nanos) -> Nanos {
    if !model.loses_cached_writes() {
        return at;
    }
    drain(model, parts);
    let buffer = &parts.buffer;
    let writes = buffer.destaging.last().into_iter().chain(buffer.early.last());
    writes.chain(parts.under_way.last()).fold(at, Nanos::max)
}

/// A flush without data: it has waited for destage by the time it is dispatched, and needs no bus.
pub(super) fn flush_alone(constant: &mut Constant, model: &DriveModel, turn: &Turn) {
    let phases = turn.decoded_after(Nanos::ZERO).phases();
    let completion = model.overhead.write_completion;
    let overhead = phases.overhead + completion;
    let finish = turn.at + completion;
    let outcome = Outcome {
        id: turn.command.id,
        submitted: turn.submitted,
        finish,
        phases: Phases { overhead, ..phases },
        ..Outcome::default()
    };
    constant.know(outcome);
}

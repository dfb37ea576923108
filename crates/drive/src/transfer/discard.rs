//! The host needs some sectors no longer: what is buffered of them is forgotten, and nothing goes to the media.

use super::constant::Constant;
use super::write::write_overhead;
use super::{Parts, Turn};
use crate::command::{Outcome, Phases};
use crate::model::DriveModel;
use headstack_units::Nanos;

/// A discard: it needs neither bus nor arm. Data on their way to the media already get there.
pub(super) fn discard(constant: &mut Constant, model: &DriveModel, parts: &mut Parts, turn: &Turn) {
    if !parts.buffer.dirty.is_empty() {
        parts.buffer.forget(model, turn.range());
    }
    let phases = turn.decoded_after(Nanos::ZERO).phases();
    let work = write_overhead(model, parts, turn.command.lba.0) + model.overhead.write_completion;
    constant.know(Outcome {
        id: turn.command.id,
        submitted: turn.submitted,
        finish: turn.at + work,
        phases: Phases { overhead: phases.overhead + work, ..phases },
        ..Outcome::default()
    });
}

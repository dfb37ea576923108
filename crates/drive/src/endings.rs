//! Commands that end without their data because a duration limit has passed.
//!
//! One that waits leaves the queue at that instant. One that the drive has begun with is answered then, too; what was begun
//! goes on, without the bus, as a drive gives up neither a seek nor a pass half-way here.

use crate::command::{Command, Ending, Outcome, Phases};
use crate::model::DriveModel;
use headstack_units::Nanos;
use std::collections::BTreeMap;

/// When a command ends if it is not complete by then, and how.
pub(crate) type End = (Nanos, Ending);

/// The waiting commands that end when their time is up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endings(BTreeMap<(Nanos, u64), Ending>);

impl Endings {
    /// A command waits from `arrived` on. When it ends if the drive has not begun with it, if it does.
    pub(crate) fn wait(&mut self, model: &DriveModel, command: &Command, arrived: Nanos) -> Option<Nanos> {
        let (age, how) = model.limits.end_waiting(command.flags)?;
        let at = arrived + age;
        self.0.insert((at, command.id), how);
        Some(at)
    }

    /// The drive begins with a command that waited.
    pub(crate) fn begin(&mut self, model: &DriveModel, command: &Command, arrived: Nanos) {
        if let Some((age, _)) = model.limits.end_waiting(command.flags) {
            self.0.remove(&(arrived + age, command.id));
        }
    }

    /// When the next of them ends.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.first_key_value().map(|(&(at, _), _)| at)
    }

    /// The next command whose time is up by `now`: when it was, its id, and how it ends.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<(Nanos, u64, Ending)> {
        let entry = self.0.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((at, id), how) = entry.remove_entry();
        Some((at, id, how))
    }
}

/// How a command went that ended at `finish` before the host had its data; the drive turned to it at `begun`, if it did.
pub(crate) fn ended(id: u64, submitted: Nanos, begun: Option<Nanos>, finish: Nanos, how: Ending) -> Outcome {
    let queue = begun.unwrap_or(finish) - submitted;
    let phases = Phases { queue, other: finish - submitted - queue, ..Phases::default() };
    Outcome { id, submitted, finish, phases, ended: Some(how), ..Outcome::default() }
}

/// An outcome known before the host is told, which is told at `finish` that the command ended.
pub(crate) fn cut(outcome: &Outcome, finish: Nanos, how: Ending) -> Outcome {
    let phases = outcome.phases.up_to(finish - outcome.submitted);
    Outcome { finish, phases, passed: None, ended: Some(how), ..*outcome }
}

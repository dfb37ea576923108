//! Positioning estimates: what a scheduler may know of a drive at an instant of decision.

use crate::drive::Drive;
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Release};
use crate::model::DriveModel;
use crate::scheduler::{Reach, Way};
use crate::transfer::Parts;
use headstack_units::{Nanos, Op};

impl Parts {
    /// As the drive itself knows it, if it turns to the next command at `at`. Recalibrations to come are left out.
    pub(crate) fn reach<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Reach<'a> {
        let media = self.mechanism.media(model, at);
        let after = self.history.after();
        let ways = [Op::Read, Op::Write].map(|op| {
            let decoded = at + overhead(model, op, after);
            // Whether a write continues the one before is not asked: one that does is served sooner than this.
            let (from, not_before) = model.arm_start(op, after, false, at, decoded);
            let from = from.max(self.mechanism.free_at());
            let free = Release { at: from, arm: self.mechanism.arm() };
            let Release { at: from, arm } = self.buffer.release_at(&media, from).unwrap_or(free);
            Way { from, not_before, arm }
        });
        let takes_writes =
            model.write_back.as_ref().is_some_and(|write_back| self.buffer.has_room(write_back, at));
        Reach::new(model, media.epoch, ways, data_from(model, at, after)).taking_writes(takes_writes)
    }
}

impl Drive {
    /// As the drive itself knows it, if it turns to the next command at `at`. Recalibrations to come are left out.
    pub fn reach<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Reach<'a> {
        self.parts_mut().reach(model, at)
    }

    /// As the host can know it, which has the drive's description, sees the disk's angle, and gives the drive a command
    /// at `at`: the arm is where the last command ended (`last`: its last sector and direction), and nothing is under way.
    pub fn reach_of_host<'a>(
        &mut self,
        model: &'a DriveModel,
        at: Nanos,
        last: Option<(u64, Op)>,
    ) -> Reach<'a> {
        let media = self.parts_mut().mechanism.media(model, at);
        let (lba, op) = last.unwrap_or((0, Op::Read));
        from_rest(model, media.epoch, at, op, Arm::over(&model.layout.extent(lba, 1)))
    }
}

/// The mechanism at rest, for a command that the controller turns to at `at` after one in direction `last`.
pub(crate) fn from_rest(model: &DriveModel, epoch: Epoch, at: Nanos, last: Op, arm: Arm) -> Reach<'_> {
    let after = usize::from(last == Op::Write);
    let ways = [Op::Read, Op::Write].map(|op| {
        let decoded = at + overhead(model, op, after);
        let (from, not_before) = model.arm_start(op, after, false, at, decoded);
        Way { from, not_before, arm }
    });
    Reach::new(model, epoch, ways, data_from(model, at, after))
}

fn overhead(model: &DriveModel, op: Op, after: usize) -> Nanos {
    match op {
        Op::Read => model.overhead.read[after],
        Op::Write => model.overhead.write[after],
    }
}

/// When the data of a write are asked for.
fn data_from(model: &DriveModel, at: Nanos, after: usize) -> Nanos {
    at + model.overhead.write_data.unwrap_or(model.overhead.write[after])
}

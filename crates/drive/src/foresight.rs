//! What somebody outside a drive can know of how soon it gets to a sector.

use crate::drive::Drive;
use crate::mechanism::Arm;
use crate::model::DriveModel;
use crate::scheduler::{Estimate, from_rest};
use headstack_units::{Nanos, Op};

impl Drive {
    /// As the drive itself knows it, if it turns to the next command at `at`; of several arms, the one used last.
    /// Recalibrations to come are left out.
    pub fn estimate<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Estimate<'a> {
        self.parts_mut().estimate(model, at)
    }

    /// As [`Drive::estimate`], for each arm that can go to work, by number.
    pub fn estimates<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Vec<Estimate<'a>> {
        self.parts_mut().estimates(model, at)
    }

    /// As the host can know it, which has the drive's description, sees the disk's angle, and gives the drive a command
    /// at `at`: the arm is where the last command ended (`last`: its last sector and direction), and nothing is under way; of several
    /// arms, it knows of the one used last.
    pub fn estimate_of_host<'a>(
        &mut self,
        model: &'a DriveModel,
        at: Nanos,
        last: Option<(u64, Op)>,
    ) -> Estimate<'a> {
        let media = self.parts_mut().mechanism.media_ahead(model, at);
        let (lba, op) = last.unwrap_or((0, Op::Read));
        from_rest(model, media.epoch, at, op, Arm::over(&model.layout.extent(lba, 1)))
    }
}

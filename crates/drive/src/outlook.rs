//! What a scheduler may know of a drive at an instant of decision.

use crate::drive::Drive;
use crate::media::{Arm, Media};
use crate::model::DriveModel;
use crate::scheduler::{Reach, Way};
use crate::spec::WritePolicy;
use headstack_units::{Nanos, Op};

impl Drive {
    /// As the drive itself knows it, if it turns to the next command at `at`. Recalibrations to come are left out.
    pub fn reach<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Reach<'a> {
        let media = Self::media(model, &mut self.spindle, at);
        let after = self.after_what();
        let ways = [Op::Read, Op::Write].map(|op| {
            let decoded = at + overhead(model, op, after);
            // Whether a write continues the one before is not asked: one that does is served sooner than this.
            let (from, not_before) = model.arm_start(op, after, false, at, decoded);
            let from = from.max(self.mechanism.free_at);
            let (from, arm) = match self.mechanism.stream {
                None => (from, self.mechanism.arm),
                Some(mut stream) => {
                    stream.advance(&media, from);
                    let release = stream.release(from);
                    (release.at, release.arm)
                }
            };
            Way { from, not_before, arm }
        });
        Reach::new(model, media.epoch, ways, data_from(model, at, after))
    }

    /// As the host can know it, which has the drive's description, sees the disk's angle, and gives the drive a command
    /// at `at`: the arm is where the last command ended (`last`: its last sector and direction), and nothing is under way.
    pub fn reach_of_host<'a>(
        &mut self,
        model: &'a DriveModel,
        at: Nanos,
        last: Option<(u64, Op)>,
    ) -> Reach<'a> {
        let media = Self::media(model, &mut self.spindle, at);
        let (lba, op) = last.unwrap_or((0, Op::Read));
        let arm = Arm::over(&model.layout.extent(lba, 1));
        let after = usize::from(op == Op::Write);
        let ways = [Op::Read, Op::Write].map(|op| {
            let decoded = at + overhead(model, op, after);
            let (from, not_before) = model.arm_start(op, after, false, at, decoded);
            Way { from, not_before, arm }
        });
        Reach::new(model, media.epoch, ways, data_from(model, at, after))
    }

    /// The ranges of addresses that a read would find in the buffer at `at`: first, and one after the last.
    pub(crate) fn buffered(&mut self, at: Nanos, ranges: &mut Vec<(u64, u64)>) {
        ranges.clear();
        let model = std::sync::Arc::clone(&self.model);
        let media: Media<'_> = Self::media(&model, &mut self.spindle, at);
        match self.mechanism.stream {
            None => ranges.extend(self.cache.held()),
            Some(mut stream) => {
                // To look must not change what is: read-ahead is brought to the instant in copies.
                let mut cache = self.cache.clone();
                stream.settle(&media, &mut cache, at);
                ranges.extend(cache.held());
            }
        }
        let underway = self.underway.iter().filter(|write| write.at > at);
        ranges.extend(underway.map(|write| (write.start, write.end)));
        if matches!(model.spec().write_policy, WritePolicy::WriteBack { .. }) {
            ranges.extend(self.dirty.runs());
        }
    }
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

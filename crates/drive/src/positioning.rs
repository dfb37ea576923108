//! Positioning estimates: what a scheduler may know of a drive at an instant of decision.

use crate::layout::Extent;
use crate::mechanism::{Arm, Media, Other, Release};
use crate::model::DriveModel;
use crate::scheduler::{Estimate, SeekPath, Target, data_from, overhead, soonest};
use crate::transfer::Parts;
use headstack_units::{Nanos, Op};

impl Parts {
    /// As the drive itself knows it, if it turns to the next command at `at`. Recalibrations to come are left out.
    pub(crate) fn estimate<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Estimate<'a> {
        self.estimate_of(model, at, |parts, media, from| {
            let from = from.map(|from| from.max(parts.mechanism.free_at()));
            let free = from.map(|at| Release { at, arm: parts.mechanism.arm() });
            parts.buffer.releases_at(media, from).unwrap_or(free)
        })
    }

    /// The same for an arm that can set out for a read and for a write as `releases` says.
    fn estimate_of<'a>(
        &mut self,
        model: &'a DriveModel,
        at: Nanos,
        releases: impl Fn(&Self, &Media<'_>, [Nanos; 2]) -> [Release; 2],
    ) -> Estimate<'a> {
        let media = self.mechanism.media_ahead(model, at);
        let after = self.history.after();
        let starts = [Op::Read, Op::Write].map(|op| {
            let decoded = at + overhead(model, op, after);
            // Whether a write continues the one before is not asked: one that does is served sooner than this.
            model.arm_start(op, after, false, at, decoded)
        });
        let releases = releases(self, &media, starts.map(|(from, _)| from));
        let seek_path = |index| {
            let (Release { at: from, arm }, (_, not_before)) = (releases[index], starts[index]);
            SeekPath { from, not_before, arm }
        };
        let seek_paths = [0, 1].map(seek_path);
        let room = model.write_back.as_ref().map_or(0, |write_back| self.buffer.room(write_back, at));
        Estimate::new(model, media.epoch, seek_paths, data_from(model, at, after)).with_room(room)
    }

    /// As [`Parts::estimate`], for each arm that can go to work, by number.
    pub(crate) fn estimates<'a>(&mut self, model: &'a DriveModel, at: Nanos) -> Vec<Estimate<'a>> {
        self.mechanism.retire_arms(at);
        let at_work = self.estimate(model, at);
        let others: Vec<Other> = self.mechanism.idle_arms(at).collect();
        let estimate = |other: &Other| match at_work.rests(other) {
            // One that rests while another works sets out when it likes; otherwise when that one could.
            Some(arm) if model.arms_overlap => {
                let free = |from: Nanos| Release { at: from.max(other.free_at), arm };
                self.estimate_of(model, at, |_, _, from| from.map(free)).of_heads(other)
            }
            _ => at_work.of_arm(other),
        };
        others.iter().map(estimate).collect()
    }

    /// Puts the arm to work that gets to `target` soonest, for a command that the controller turns to at `at` and whose
    /// arm may set out at `from`.
    #[cold]
    pub(crate) fn take_arm(
        &mut self,
        media: &Media<'_>,
        (target, op, sectors): (&Extent, Op, u32),
        at: Nanos,
        from: Nanos,
    ) {
        let first = Target::of_extent(media.model, target, op);
        let estimates = self.estimates(media.model, at);
        let best = soonest(&estimates, op, &first, sectors);
        let arm = self.mechanism.idle_arms(at).nth(best).map(|arm| arm.index);
        let arm = arm.expect("one of several arms can go to work");
        self.mechanism.put_to_work(media, &mut self.buffer, from, (arm, Arm::over(target)));
    }
}

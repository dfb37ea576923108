//! The disk while one command is served: what a move costs, and when sectors pass.

use super::pass::{Arm, Pass};
use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::model::DriveModel;
use headstack_units::{Angle, Nanos, Op};

/// The disk as one command sees it: the model, and the rotation while the command is served.
#[derive(Clone, Copy)]
pub(crate) struct Media<'a> {
    pub(crate) model: &'a DriveModel,
    pub(crate) epoch: Epoch,
    /// The heads at work, if they stand still.
    pub(crate) still: Option<Still>,
}

/// Heads at work that stand still, and the arm that takes over beyond their cylinders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Still {
    /// The first and the last cylinder under them.
    pub(super) over: (u32, u32),
    /// By how much later a sector passes that arm.
    pub(super) later: Angle,
}

impl Still {
    fn is_over(self, cylinder: u32) -> bool {
        (self.over.0..=self.over.1).contains(&cylinder)
    }
}

impl Media<'_> {
    /// A run of sectors on one track, as the heads at work see it.
    #[expect(clippy::inline_always, reason = "handing an extent out costs a third of what it does")]
    #[inline(always)]
    pub(crate) fn extent(&self, lba: u64, limit: u64) -> Extent {
        let mut extent = self.model.layout.extent(lba, limit);
        if let Some(still) = self.still
            && !still.is_over(extent.cylinder)
        {
            extent.start += still.later;
        }
        extent
    }

    /// Whether heads that stand still are over both tracks: one of them is selected in no time.
    #[inline]
    fn stays(&self, from: u32, to: u32) -> bool {
        self.still.is_some_and(|still| still.is_over(from) && still.is_over(to))
    }

    /// Which slot of a pass's extent is the first that comes whole after the head has landed inside it, where there is
    /// one but the first.
    pub(crate) fn landed_inside(&self, pass: &Pass) -> Option<u32> {
        let missed = self.epoch.angle(pass.ready) - pass.extent.start;
        let late = (missed.0 / pass.extent.slot_width.0.max(1)) as u32 + 1;
        // What takes more than a revolution to come is retried, whole.
        if (pass.start.saturating_sub(pass.ready)).0 as f64 > self.epoch.period() {
            return None;
        }
        (missed.0 != 0 && late < pass.extent.sectors && pass.start > pass.ready).then_some(late)
    }

    /// The time to change to `to` in the middle of a transfer.
    #[inline]
    pub(crate) fn switch(&self, from: Arm, to: Arm, op: Op) -> Nanos {
        if self.stays(from.cylinder, to.cylinder) {
            return Nanos::ZERO;
        }
        self.model.switch(from.track(), to.track(), op)
    }

    /// The next pass of a transfer that goes on at `lba`, at most `limit` sectors, the mechanism being free at `begin`.
    #[expect(
        clippy::inline_always,
        reason = "handing an extent in and a pass out costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn next_pass(&self, begin: Nanos, arm: Arm, lba: u64, limit: u64, op: Op) -> Pass {
        let extent = self.extent(lba, limit);
        let ready = begin + self.switch(arm, Arm::over(&extent), op);
        self.pass_from(extent, 0, extent.sectors, begin, ready, ready)
    }

    /// A pass over part of an extent, starting at the first opportunity at or after `not_before`.
    #[expect(
        clippy::inline_always,
        reason = "handing an extent in and a pass out costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn pass_from(
        &self,
        extent: Extent,
        offset: u32,
        sectors: u32,
        begin: Nanos,
        ready: Nanos,
        not_before: Nanos,
    ) -> Pass {
        let from = extent.slot_start(offset);
        let (start, end) = self.epoch.pass(not_before, from, extent.span(sectors));
        Pass { extent, offset, sectors, begin, ready, start, end }
    }

    /// The first pass of a transfer: the arm takes `seek` to come from wherever it is, and is on track no sooner than
    /// `not_before`.
    #[expect(
        clippy::inline_always,
        reason = "handing an extent in and a pass out costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn first_pass(&self, begin: Nanos, not_before: Nanos, seek: Nanos, extent: Extent) -> Pass {
        let ready = (begin + seek).max(not_before);
        self.pass_from(extent, 0, extent.sectors, begin, ready, ready)
    }

    /// When a pass begins and ends that succeeds so many revolutions later, at least one.
    #[cold]
    pub(crate) fn retried(&self, pass: Pass, revolutions: u32) -> (Nanos, Nanos) {
        let half_short = Nanos(((f64::from(revolutions) - 0.5) * self.epoch.period()) as u64);
        let from = pass.extent.slot_start(pass.offset);
        self.epoch.pass(pass.start + half_short, from, pass.extent.span(pass.sectors))
    }

    /// How many revolutions later than it could a pass begins, as it is retried.
    pub(crate) fn retries_of(&self, pass: &Pass) -> u32 {
        // Times are rounded to nanoseconds.
        ((pass.start.saturating_sub(pass.ready).0 + 2) as f64 / self.epoch.period()) as u32
    }

    /// What moving the arm to an extent takes.
    #[expect(clippy::inline_always, reason = "it chooses one of few ways, and they are short")]
    #[inline(always)]
    pub(crate) fn seek(&self, arm: Arm, to: &Extent, op: Op) -> Nanos {
        if self.stays(arm.cylinder, to.cylinder) {
            return Nanos::ZERO;
        }
        self.model.reposition(arm.track(), (to.cylinder, to.head), op)
    }
}

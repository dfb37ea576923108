//! Sectors passing under a head: the media side of every transfer.

use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::model::DriveModel;
use crate::spec::SwitchModel;
use headstack_units::{Nanos, Op};

/// Arm and selected head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arm {
    pub(crate) cylinder: u32,
    pub(crate) head: u32,
}

impl Arm {
    pub(crate) fn track(self) -> (u32, u32) {
        (self.cylinder, self.head)
    }

    pub(crate) fn over(extent: &Extent) -> Self {
        Self { cylinder: extent.cylinder, head: extent.head }
    }
}

/// One extent passing under its head: the arm moves from `begin` to `ready`, waits until `start`, transfers until `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) extent: Extent,
    /// Slots of the extent that this pass leaves out at its beginning (already transferred by another pass).
    pub(crate) offset: u32,
    /// Sectors transferred.
    pub(crate) sectors: u32,
    /// The mechanism turned to it.
    pub(crate) begin: Nanos,
    /// The arm is on track.
    pub(crate) ready: Nanos,
    /// The first sector begins.
    pub(crate) start: Nanos,
    /// The last sector has passed.
    pub(crate) end: Nanos,
}

impl Pass {
    /// The first address transferred.
    pub(crate) fn lba(&self) -> u64 {
        self.extent.lba + u64::from(self.offset)
    }

    /// When the `count`-th sector of the pass (1 for the first) has passed.
    #[inline]
    pub(crate) fn sector_end(&self, epoch: &Epoch, count: u32) -> Nanos {
        if count >= self.sectors {
            return self.end;
        }
        epoch.end_of(self.start, self.extent.slot_start(self.offset), self.extent.span(count))
    }

    /// How many of its sectors have passed at `now`.
    #[inline]
    pub(crate) fn passed(&self, epoch: &Epoch, now: Nanos) -> u32 {
        if now >= self.end {
            return self.sectors;
        }
        if now <= self.start {
            return 0;
        }
        let turned = epoch.angle(now) - self.extent.slot_start(self.offset);
        let mut count = ((turned.0 / self.extent.slot_width.0.max(1)) as u32).min(self.sectors);
        // The quotient is exact but for the last tick; the ends of sectors decide.
        while count > 0 && self.sector_end(epoch, count) > now {
            count -= 1;
        }
        while count < self.sectors && self.sector_end(epoch, count + 1) <= now {
            count += 1;
        }
        count
    }
}

/// The disk as one command sees it: the model, and the rotation while the command is served.
#[derive(Clone, Copy)]
pub(crate) struct Media<'a> {
    pub(crate) model: &'a DriveModel,
    pub(crate) epoch: Epoch,
}

impl Media<'_> {
    /// Which slot of a pass's extent is the first that comes whole after the head has landed inside it, where there is
    /// one but the first.
    pub(crate) fn landed_inside(&self, pass: &Pass) -> Option<u32> {
        let missed = self.epoch.angle(pass.ready) - pass.extent.start;
        let late = (missed.0 / pass.extent.slot_width.0.max(1)) as u32 + 1;
        (missed.0 != 0 && late < pass.extent.sectors && pass.start > pass.ready).then_some(late)
    }

    /// The time to change to `to` in the middle of a transfer.
    #[inline]
    pub(crate) fn switch(&self, from: Arm, to: Arm, op: Op) -> Nanos {
        if from == to {
            return Nanos::ZERO;
        }
        match self.model.spec().fidelity.switch {
            SwitchModel::Skewed => self.model.mechanics.switch(from.track(), to.track(), op),
            SwitchModel::Fixed => Nanos::from_ms(self.model.spec().mechanics.head_switch_ms),
            SwitchModel::Free => Nanos::ZERO,
        }
    }

    /// The next pass of a transfer that goes on at `lba`, at most `limit` sectors, the mechanism being free at `begin`.
    #[inline]
    pub(crate) fn next_pass(&self, begin: Nanos, arm: Arm, lba: u64, limit: u64, op: Op) -> Pass {
        let extent = self.model.layout.extent(lba, limit);
        let ready = begin + self.switch(arm, Arm::over(&extent), op);
        self.pass_from(extent, 0, extent.sectors, begin, ready, ready)
    }

    /// A pass over part of an extent, starting at the first opportunity at or after `not_before`.
    #[inline]
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
    #[inline]
    pub(crate) fn first_pass(&self, begin: Nanos, not_before: Nanos, seek: Nanos, extent: Extent) -> Pass {
        let ready = (begin + seek).max(not_before);
        self.pass_from(extent, 0, extent.sectors, begin, ready, ready)
    }

    /// What moving the arm to an extent takes.
    #[inline]
    pub(crate) fn seek(&self, arm: Arm, to: &Extent, op: Op) -> Nanos {
        self.model.reposition(arm.track(), (to.cylinder, to.head), op)
    }
}

//! One pass: the arm moves to a track, waits for a sector, and a run of sectors goes by under the head.

use crate::layout::Extent;
use crate::mechanics::Epoch;
use headstack_units::Nanos;

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

    /// One after the last address transferred.
    pub(crate) fn end_lba(&self) -> u64 {
        self.lba() + u64::from(self.sectors)
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

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

    pub(crate) fn on((cylinder, head): (u32, u32)) -> Self {
        Self { cylinder, head }
    }

    pub(crate) fn over(extent: &Extent) -> Self {
        Self { cylinder: extent.cylinder, head: extent.head }
    }
}

/// One extent passing under its head: the arm moves from `begin` to `ready`, waits until `start`, transfers until `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// It ends with its `count`-th sector.
    pub(crate) fn end_with(&mut self, count: u32, epoch: &Epoch) {
        (self.end, self.sectors) = (self.sector_end(epoch, count), count.min(self.sectors));
    }

    /// How many of its sectors have passed at `now`.
    #[expect(clippy::inline_always, reason = "who asks knows half of it already")]
    #[inline(always)]
    pub(crate) fn passed(&self, epoch: &Epoch, now: Nanos) -> u32 {
        if now >= self.end {
            return self.sectors;
        }
        if now <= self.start {
            return 0;
        }
        // A sector has passed at the first tick at or after its end angle: when the angle at the tick is that far.
        let turned = epoch.angle(now) - self.extent.slot_start(self.offset);
        if turned <= self.extent.span(self.sectors) {
            return ((turned.0 / self.extent.slot_width.0.max(1)) as u32).min(self.sectors);
        }
        // Up to a tick before the first sector, which counts as on time, or a transfer that takes more than a turn.
        self.passed_by_ends(epoch, now)
    }

    /// As [`Pass::passed`], by the ends of sectors alone.
    fn passed_by_ends(&self, epoch: &Epoch, now: Nanos) -> u32 {
        let (mut passed, mut to_come) = (0, self.sectors);
        while passed < to_come {
            let count = (passed + to_come).div_ceil(2);
            if self.sector_end(epoch, count) <= now { passed = count } else { to_come = count - 1 }
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::Angle;
    use proptest::prelude::*;

    /// Fifty sectors of 0.1 ms that began to pass at 0, and a disk that is found elsewhere at 2 ms.
    #[test]
    fn on_a_disk_that_was_shifted_sectors_have_passed_as_far_as_it_is() {
        let extent = Extent { sectors: 50, slot_width: Angle::fraction(1, 100), ..Extent::default() };
        let pass = Pass { extent, sectors: 50, end: Nanos(5_000_000), ..Pass::default() };
        let passed = |turns| {
            let now = Nanos(2_000_000);
            pass.passed(&Epoch::new(now, Angle::from_turns(turns), 1e7), now)
        };
        assert_eq!(passed(0.205), 20);
        assert_eq!(passed(0.905), 0, "the first comes ten sectors later");
        assert_eq!(passed(0.605), 49, "all are through but the last, whose end is settled");
    }

    proptest! {
        #[test]
        fn sectors_are_counted_as_their_ends_say(
            slots in 1_u32..2_000,
            offset in 0_u32..500,
            sectors in 1_u32..2_000,
            origin: u64,
            angle0: u64,
            period in 2_000_000_u64..20_000_000,
            from in 0_u64..1 << 40,
            share in 0.0..1.1_f64,
        ) {
            let epoch = Epoch::new(Nanos(1_000), Angle(angle0), period as f64 * 1.000_123);
            let sectors = sectors.min(slots);
            let extent = Extent {
                sectors: slots,
                start: Angle(origin),
                slot_width: Angle(u64::MAX / u64::from(slots)),
                ..Extent::default()
            };
            let begin = Nanos(from);
            let (start, end) = epoch.pass(begin, extent.slot_start(offset), extent.span(sectors));
            let pass = Pass { extent, offset, sectors, begin, ready: begin, start, end };
            let within = start + Nanos(((end - start).0 as f64 * share) as u64);
            for now in [within, start, end, Nanos(within.0 + 1)] {
                let naive = (1..=sectors).take_while(|&count| pass.sector_end(&epoch, count) <= now).count();
                prop_assert_eq!(pass.passed(&epoch, now), naive as u32);
            }
            // At the ends of sectors, and a tick before and after.
            for count in [1, sectors.div_ceil(2), sectors] {
                let ends = pass.sector_end(&epoch, count);
                for now in [Nanos(ends.0 - 1), ends, Nanos(ends.0 + 1)] {
                    let naive = (1..=sectors).take_while(|&count| pass.sector_end(&epoch, count) <= now).count();
                    prop_assert_eq!(pass.passed(&epoch, now), naive as u32);
                }
            }
        }
    }
}

//! A read that leaves in bursts: the bus is let go of between them.

use super::plan::LastByte;
use super::{MediaWork, Read};
use crate::command::{BusTiming, Phases, SectorPassed};
use crate::mechanism::Media;
use headstack_units::{Lba, Nanos, Op};

impl Read {
    /// A burst of what is in the buffer, on a bus that is there from `begin` on: how many sectors of the command have left
    /// after it, and when.
    fn send_burst(&self, media: &Media<'_>, begin: Nanos, bus: &BusTiming) -> (u64, Nanos) {
        let plan = &self.plan;
        let bytes = u64::from(media.model.sector_bytes());
        let left = |upto: u64| begin + bus.transfer(Op::Read, (upto - self.sent) * bytes);
        let most = plan.sectors().min(self.sent + media.model.bursts.burst);
        let mut upto = most;
        for pass in &self.passes {
            let Some((first, last)) = plan.share(pass) else { continue };
            let (first, last) = (first.max(self.sent + 1), last.min(most - 1));
            let late = |index: u64| plan.arrival(media, pass, index) > left(index);
            if first > last {
                continue;
            }
            if late(first) {
                upto = upto.min(first);
            } else if late(last) {
                // The media are slower than the bus: from one sector of the pass on all are late.
                let (mut early, mut found) = (first, last);
                while found - early > 1 {
                    let middle = early.midpoint(found);
                    if late(middle) { found = middle } else { early = middle }
                }
                upto = upto.min(found);
            }
        }
        (upto, left(upto))
    }

    /// Sends a burst; returns when the bus is free. If sectors are left, the next need is set.
    pub(super) fn step_burst(
        &mut self,
        media: &Media<'_>,
        granted: Nanos,
        setup: Nanos,
        bus: &BusTiming,
    ) -> (LastByte, Phases) {
        let begin = granted + setup;
        let bursts = &media.model.bursts;
        let passed = self
            .plan
            .fence
            .filter(|_| granted == self.plan.need_at)
            .map(|fence| SectorPassed { lba: Lba(fence.lba), at: self.plan.need_at });
        let (sent, finish) = match &mut self.media_work {
            MediaWork::Stalling(stall) => {
                let finish = stall.send(media, begin, bus, true, bursts.burst);
                (stall.sent(), finish)
            }
            _ => self.send_burst(media, begin, bus),
        };
        self.sent = sent;
        let phases = self.plan.path_by_bus(&self.passes, self.need_lead, granted, finish);
        if sent < self.plan.sectors() {
            self.plan_next(media, phases, finish);
        }
        (LastByte { finish, binding: None, passed }, phases)
    }

    /// The bus is needed again when enough has come, and not before `finish`, up to which `phases` lead.
    fn plan_next(&mut self, media: &Media<'_>, phases: Phases, finish: Nanos) {
        let total = self.plan.sectors();
        let gathered = media.model.sizes.gathered_of(total).unwrap_or(media.model.bursts.gathered);
        let wanted = total.min(self.sent + gathered);
        let (arrived, fence) = if let MediaWork::Stalling(stall) = &mut self.media_work {
            let arrived = stall.fill(media, wanted);
            self.passes = stall.passes(media);
            (arrived, None)
        } else {
            self.plan.gathered(media, &self.passes, wanted)
        };
        if arrived >= finish {
            (self.plan.need_at, self.plan.fence, self.need_lead) = (arrived, fence, None);
            self.need_lead = Some(self.plan.media_path(&self.passes, arrived));
        } else {
            (self.plan.need_at, self.plan.fence, self.need_lead) = (finish, None, Some(phases));
        }
    }
}

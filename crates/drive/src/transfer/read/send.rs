//! The bus's side of a read: when its last byte has left, and what that hung on.

use super::{MediaWork, Read};
use crate::command::{BusTiming, Phases, SectorPassed};
use crate::mechanism::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::transfer::path::path;
use headstack_units::{Lba, Nanos, Op};

/// The way of a read's last byte: when it has left, and what it waited for.
pub(super) struct LastByte {
    pub(super) finish: Nanos,
    /// When the sector came off the media on which that hangs; `None` where it hangs on the grant of the bus.
    binding: Option<Nanos>,
    pub(super) passed: Option<SectorPassed>,
}

impl LastByte {
    /// Sector `lba` is in the buffer at `arrived`, and the bus takes `rest` from it on to the last.
    #[inline]
    fn wait_for(&mut self, lba: u64, arrived: Nanos, rest: Nanos, decoded: Nanos) {
        let candidate = arrived + rest;
        // Ties: media before bus, and the largest index.
        if candidate >= self.finish {
            self.finish = candidate;
            self.binding = Some(arrived);
            self.passed = (arrived > decoded).then_some(SectorPassed { lba: Lba(lba), at: arrived });
        }
    }
}

/// The sector that decided when the bus was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence {
    /// Its address.
    lba: u64,
    /// Its number, counted from the command's first, where it is not one at the end of a track that counted instead.
    index: Option<u64>,
}

impl Read {
    /// First and last sector of a pass that belong to the command and were not in the buffer, counted from the command's
    /// first; `None` where the pass has none.
    #[inline]
    fn share(&self, pass: &Pass) -> Option<(u64, u64)> {
        let lba = self.command.lba.0;
        let first = (lba + self.cached).max(pass.lba());
        let end = (lba + self.sectors()).min(pass.end_lba());
        (first < end).then(|| (first - lba, end - 1 - lba))
    }

    /// When sector `index` of the command has come off the media in this pass.
    #[inline]
    fn arrival(&self, media: &Media<'_>, pass: &Pass, index: u64) -> Nanos {
        let within = self.command.lba.0 + index - pass.lba();
        pass.sector_end(&media.epoch, within as u32 + 1)
    }

    /// When the first `count` sectors are all in the buffer, and which came last.
    #[inline]
    fn gathered(&self, media: &Media<'_>, count: u64) -> (Nanos, Option<Fence>) {
        let (mut reached, mut fence) = (self.decoded, None);
        for pass in &self.passes {
            if let Some((first, last)) = self.share(pass)
                && first < count
            {
                let index = last.min(count - 1);
                let arrived = self.arrival(media, pass, index);
                if arrived > reached {
                    reached = arrived;
                    fence = Some(Fence { lba: self.command.lba.0 + index, index: Some(index) });
                }
            }
        }
        (reached, fence)
    }

    /// Sets when the bus is wanted first: the fence is in the buffer, or the first track where that counts, or everything.
    #[inline]
    pub(super) fn set_fence(&mut self, media: &Media<'_>) {
        let fence = media.model.sizes.read_fence_of(self.sectors());
        if fence <= self.cached {
            self.need_at = self.decoded;
            return;
        }
        (self.need_at, self.fence) = self.gathered(media, fence);
        if media.model.spec().buffer.read_fence_at_track_end
            && let Some(first) = self.passes.first()
        {
            let on_track = self
                .passes
                .iter()
                .take_while(|pass| Arm::over(&pass.extent) == Arm::over(&first.extent))
                .map(|pass| pass.end)
                .max();
            let track_end = on_track.unwrap_or(self.need_at).max(self.decoded);
            if track_end < self.need_at {
                self.need_at = track_end;
                self.fence = Some(Fence { lba: first.end_lba() - 1, index: None });
            }
        }
    }

    /// Phases of the media's path up to `until`: what the mechanism did in each stretch of it.
    #[inline]
    pub(super) fn media_path(&self, until: Nanos) -> Phases {
        path(&self.passes, self.media_base, until, self.media_lead)
    }

    /// The path of a transfer whose end was limited by the grant of the bus.
    #[inline]
    fn path_by_bus(&self, granted: Nanos, finish: Nanos) -> Phases {
        let mut phases = match &self.need_lead {
            Some(lead) => **lead,
            None if self.need_at > self.decoded => self.media_path(self.need_at),
            None => self.lead,
        };
        phases.queue += granted - self.need_at;
        phases.bus += finish - granted;
        phases
    }

    /// What a transfer costs before its first byte.
    #[inline]
    pub(super) fn setup(&self, model: &DriveModel, bus: &BusTiming) -> Nanos {
        let mechanical = self.cached < self.sectors() || self.transfers > 0;
        let reconnect = mechanical && bus.disconnects;
        bus.arbitration + model.overhead.preparation + if reconnect { bus.reconnect } else { Nanos::ZERO }
    }

    /// All that is left goes in one transfer, which keeps the bus to the last byte: when that has left, and the phases.
    #[inline]
    pub(super) fn send_all(
        &self,
        media: &Media<'_>,
        granted: Nanos,
        setup: Nanos,
        bus: &BusTiming,
    ) -> (LastByte, Phases) {
        let bytes = u64::from(media.model.sector_bytes());
        // Without a buffer a sector has left as soon as it has come.
        let unbuffered = matches!(self.media_work, MediaWork::Unbuffered { .. });
        let rest = |from: u64| {
            if unbuffered { Nanos::ZERO } else { bus.transfer(Op::Read, (self.sectors() - from) * bytes) }
        };
        // The path by the grant: its latest input is the fence, or nothing but the decoding.
        let passed = self
            .fence
            .filter(|_| granted == self.need_at)
            .map(|fence| SectorPassed { lba: Lba(fence.lba), at: self.need_at });
        let mut last = LastByte { finish: granted + setup + rest(0), binding: None, passed };
        let known = self.fence.and_then(|fence| fence.index);
        for pass in &self.passes {
            let Some((first, end)) = self.share(pass) else { continue };
            for index in [first, end] {
                // The fence's has been worked out before.
                let arrived = if known == Some(index) {
                    self.need_at
                } else {
                    self.arrival(media, pass, index).max(self.decoded)
                };
                last.wait_for(self.command.lba.0 + index, arrived, rest(index), self.decoded);
            }
        }
        let phases = match last.binding {
            Some(arrived) => {
                let mut phases = self.media_path(arrived);
                phases.bus += last.finish - arrived;
                phases
            }
            None => self.path_by_bus(granted, last.finish),
        };
        (last, phases)
    }

    /// A burst of what is in the buffer, on a bus that is there from `begin` on: how many sectors of the command have left
    /// after it, and when.
    fn send_burst(&self, media: &Media<'_>, begin: Nanos, bus: &BusTiming) -> (u64, Nanos) {
        let bytes = u64::from(media.model.sector_bytes());
        let left = |upto: u64| begin + bus.transfer(Op::Read, (upto - self.sent) * bytes);
        let most = self.sectors().min(self.sent + media.model.bursts.burst);
        let mut upto = most;
        for pass in &self.passes {
            let Some((first, last)) = self.share(pass) else { continue };
            let (first, last) = (first.max(self.sent + 1), last.min(most - 1));
            let late = |index: u64| self.arrival(media, pass, index) > left(index);
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
            .fence
            .filter(|_| granted == self.need_at)
            .map(|fence| SectorPassed { lba: Lba(fence.lba), at: self.need_at });
        let (sent, finish) = match &mut self.media_work {
            MediaWork::Stalling(stall) => {
                let finish = stall.send(media, begin, bus, true, bursts.burst);
                (stall.sent(), finish)
            }
            _ => self.send_burst(media, begin, bus),
        };
        self.sent = sent;
        let phases = self.path_by_bus(granted, finish);
        if sent < self.sectors() {
            self.plan_next(media, phases, finish);
        }
        (LastByte { finish, binding: None, passed }, phases)
    }

    /// The bus is needed again when enough has come, and not before `finish`, up to which `phases` lead.
    fn plan_next(&mut self, media: &Media<'_>, phases: Phases, finish: Nanos) {
        let wanted = self.sectors().min(self.sent + media.model.bursts.gathered);
        let (arrived, fence) = if let MediaWork::Stalling(stall) = &mut self.media_work {
            let arrived = stall.fill(media, wanted);
            self.passes = stall.passes(media);
            (arrived, None)
        } else {
            self.gathered(media, wanted)
        };
        if arrived >= finish {
            (self.need_at, self.fence, self.need_lead) = (arrived, fence, None);
            self.need_lead = Some(Box::new(self.media_path(arrived)));
        } else {
            (self.need_at, self.fence, self.need_lead) = (finish, None, Some(Box::new(phases)));
        }
    }
}

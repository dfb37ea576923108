//! What is known of a read when the controller has turned to it, and what follows from that when the bus is granted.
//!
//! A plan is plain values; the passes over the media are lent to it. Most reads need nothing else: they are in the
//! buffer, or one pass brings them there.

use super::Decoded;
use super::room::Sent;
use crate::buffer::Fill;
use crate::command::{BusTiming, Busy, CacheResult, Command, Outcome, Phases, SectorPassed, Work};
use crate::layout::Extent;
use crate::mechanism::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::transfer::approach::Approach;
use crate::transfer::path::{Beginning, busy_of, path};
use crate::transfer::{Parts, Turn};
use headstack_units::{Lba, Nanos, Op};

/// A read, planned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    pub(super) command: Command,
    /// Sectors at the front that lie in the buffer already.
    pub(super) cached: u64,
    /// The drive has let go of the bus before it sends anything, whatever the mechanism did.
    left_bus: bool,
    /// When the command is decoded, and the phases from submission to there: the path that needs no mechanism.
    pub(super) decoded: Nanos,
    lead: Beginning,
    /// Where the media's path begins, and the phases from submission to there.
    pub(super) media_base: Nanos,
    /// The mechanism is at work for it from here on.
    pub(super) claimed: Nanos,
    pub(super) media_lead: Phases,
    /// Gross arm movement that the passes do not show (under the overhead).
    pub(super) hidden_seek: Nanos,
    pub(super) cache: CacheResult,
    pub(super) sequential: bool,
    /// When the bus is wanted, and the sector that waited for.
    pub(super) need_at: Nanos,
    pub(super) fence: Option<Fence>,
    /// When the controller can turn to the next command, where that does not depend on the bus.
    pub(super) controller_free: Option<Nanos>,
}

/// What the buffer keeps of a read's last track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Where the arm is.
    pub(super) arm: Arm,
    /// The segment that held the first sectors.
    pub(super) segment: Option<usize>,
    /// The address from which the first track was read into the buffer.
    pub(super) landed: u64,
    /// What follows behind the read on its last track, where that is known.
    pub(super) tail: Option<Extent>,
}

/// The way of a read's last byte: when it has left, and what it waited for.
pub(super) struct LastByte {
    pub(super) finish: Nanos,
    /// When the sector came off the media on which that hangs; `None` where it hangs on the grant of the bus.
    pub(super) binding: Option<Nanos>,
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
    pub(super) lba: u64,
    /// Its number, counted from the command's first, where it is not one at the end of a track that counted instead.
    pub(super) index: Option<u64>,
}

impl Plan {
    /// The read is decoded, and nothing else is known of it.
    #[inline]
    pub(super) fn new(parts: &Parts, turn: &Turn, decoded: &Decoded) -> Self {
        Self {
            command: turn.command,
            cached: 0,
            left_bus: decoded.left_bus,
            decoded: decoded.done,
            lead: decoded.lead,
            media_base: decoded.done,
            claimed: decoded.done,
            media_lead: decoded.lead.phases(),
            hidden_seek: Nanos::ZERO,
            cache: CacheResult::Miss,
            sequential: parts.history.is_sequential(),
            need_at: decoded.done,
            fence: None,
            controller_free: None,
        }
    }

    /// The arm is on its way for all but the `cached` sectors at the front.
    #[inline]
    pub(super) fn set_out(&mut self, approach: &Approach, cached: u64) {
        self.cached = cached;
        if cached > 0 {
            self.cache = CacheResult::PartialHit;
        }
        (self.media_base, self.media_lead) = (approach.base, approach.media_lead.phases());
        // A seek beside the overhead is work, too.
        (self.claimed, self.hidden_seek) = (approach.base - approach.hidden_seek, approach.hidden_seek);
    }

    #[inline]
    pub(super) fn sectors(&self) -> u64 {
        u64::from(self.command.sectors)
    }

    /// The media work ends at `done`: the mechanism is free, the sectors are kept, read-ahead begins.
    #[expect(clippy::inline_always, reason = "most reads come here, and know most of what it asks")]
    #[inline(always)]
    pub(super) fn leave_media(&self, media: &Media<'_>, parts: &mut Parts, done: Nanos, left: &Left) {
        let &Left { arm, segment, landed, tail } = left;
        parts.mechanism.release(Work::Command, self.claimed, done, arm);
        let lba = self.command.lba.0;
        let end = lba + self.sectors();
        let fill = Fill { lba, end, landed, segment, done, arm, tail, sequential: self.sequential };
        parts.buffer.fill(media, &fill);
    }

    /// First and last sector of a pass that belong to the command and were not in the buffer, counted from the command's
    /// first; `None` where the pass has none.
    #[inline]
    pub(super) fn share(&self, pass: &Pass) -> Option<(u64, u64)> {
        let lba = self.command.lba.0;
        let first = (lba + self.cached).max(pass.lba());
        let end = (lba + self.sectors()).min(pass.end_lba());
        (first < end).then(|| (first - lba, end - 1 - lba))
    }

    /// When sector `index` of the command has come off the media in this pass.
    #[inline]
    pub(super) fn arrival(&self, media: &Media<'_>, pass: &Pass, index: u64) -> Nanos {
        let within = self.command.lba.0 + index - pass.lba();
        pass.sector_end(&media.epoch, within as u32 + 1)
    }

    /// When the first `count` sectors are all in the buffer, and which came last.
    #[inline]
    pub(super) fn gathered(&self, media: &Media<'_>, passes: &[Pass], count: u64) -> (Nanos, Option<Fence>) {
        let (mut reached, mut fence) = (self.decoded, None);
        for pass in passes {
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
    #[expect(clippy::inline_always, reason = "with one pass known, most of it goes away")]
    #[inline(always)]
    pub(super) fn set_fence(&mut self, media: &Media<'_>, passes: &[Pass]) {
        let fence = media.model.sizes.read_fence_of(self.sectors());
        // What waits for the overhead of a hit only is sent without delay.
        if fence <= self.cached || (self.cached > 0 && media.model.rules.cached_part_as_hit) {
            self.need_at = self.decoded;
            return;
        }
        (self.need_at, self.fence) = self.gathered(media, passes, fence);
        if media.model.spec().buffer.read_fence_at_track_end
            && let Some(first) = passes.first()
        {
            let on_track = passes
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
    pub(super) fn media_path(&self, passes: &[Pass], until: Nanos) -> Phases {
        path(passes, self.media_base, until, self.media_lead)
    }

    /// The path of a transfer whose end was limited by the grant of the bus; `lead`: the phases up to when it was wanted,
    /// where it was the second or a later one.
    #[inline]
    pub(super) fn path_by_bus(
        &self,
        passes: &[Pass],
        lead: Option<Phases>,
        granted: Nanos,
        finish: Nanos,
    ) -> Phases {
        let mut phases = match lead {
            Some(lead) => lead,
            None if self.need_at > self.decoded => self.media_path(passes, self.need_at),
            None => self.lead.phases(),
        };
        phases.queue += granted - self.need_at;
        phases.bus += finish - granted;
        phases
    }

    /// What a transfer costs before its first byte.
    #[inline]
    pub(super) fn setup(&self, model: &DriveModel, bus: &BusTiming, first: bool) -> Nanos {
        // The cached part of a read that is sent at once goes before the drive lets go of the bus.
        let at_once = self.cached > 0 && model.rules.cached_part_as_hit;
        let mechanical = (self.cached < self.sectors() && !at_once) || self.left_bus || !first;
        let reconnect = mechanical && bus.disconnects;
        bus.arbitration + model.overhead.preparation + if reconnect { bus.reconnect } else { Nanos::ZERO }
    }

    /// All goes in one transfer, which keeps the bus to the last byte: when that has left, and the phases.
    #[expect(clippy::inline_always, reason = "with one pass known, most of it goes away")]
    #[inline(always)]
    pub(super) fn send_all(
        &self,
        media: &Media<'_>,
        passes: &[Pass],
        unbuffered: bool,
        (granted, setup): (Nanos, Nanos),
        bus: &BusTiming,
    ) -> (LastByte, Phases) {
        let bytes = u64::from(media.model.sector_bytes());
        // Without a buffer a sector has left as soon as it has come.
        let rest = |from: u64| {
            if unbuffered { Nanos::ZERO } else { bus.transfer(Op::Read, (self.sectors() - from) * bytes) }
        };
        // The path by the grant: its latest input is the fence, or nothing but the decoding.
        let passed = self
            .fence
            .filter(|_| granted == self.need_at)
            .map(|fence| SectorPassed { lba: Lba(fence.lba), at: self.need_at });
        let mut last = LastByte { finish: granted + setup + rest(0), binding: None, passed };
        match *passes {
            // One that is handed over by value need not lie in memory.
            [pass] => self.wait_for_pass(media, pass, &rest, &mut last),
            _ => passes.iter().for_each(|pass| self.wait_for_pass(media, *pass, &rest, &mut last)),
        }
        let phases = match last.binding {
            Some(arrived) => {
                let mut phases = self.media_path(passes, arrived);
                phases.bus += last.finish - arrived;
                phases
            }
            None => self.path_by_bus(passes, None, granted, last.finish),
        };
        (last, phases)
    }

    /// The last byte of a command waits for what comes in a pass; the bus takes `rest` from a sector on to the last.
    #[expect(
        clippy::inline_always,
        reason = "most reads have one pass, and much of it is known where it was made"
    )]
    #[inline(always)]
    fn wait_for_pass(
        &self,
        media: &Media<'_>,
        pass: Pass,
        rest: &impl Fn(u64) -> Nanos,
        last: &mut LastByte,
    ) {
        let Some((first, end)) = self.share(&pass) else { return };
        // Where the bus takes less for a sector than the media, by more than all roundings, it waits for the last of a pass
        // longer than for the first.
        let sector = rest(self.sectors() - 1) + Nanos(3);
        let mut index = if media.epoch.time_of(pass.extent.slot_width) > sector { end } else { first };
        let known = self.fence.and_then(|fence| fence.index);
        loop {
            // The fence's has been worked out before.
            let arrived = if known == Some(index) {
                self.need_at
            } else {
                self.arrival(media, &pass, index).max(self.decoded)
            };
            last.wait_for(self.command.lba.0 + index, arrived, rest(index), self.decoded);
            if index == end {
                return;
            }
            index = end;
        }
    }

    /// The last byte has left at `finish`, after `transfers` transfers. `busy`: the gross work of mechanism and bus.
    #[expect(clippy::inline_always, reason = "with one pass known, most of it goes away")]
    #[inline(always)]
    pub(super) fn complete(
        &self,
        model: &DriveModel,
        bus: &BusTiming,
        (finish, phases): (Nanos, Phases),
        (busy, transfers): (Busy, u32),
        outcome: &mut Outcome,
    ) {
        let completion = model.overhead.read_completion;
        let finish = finish + completion;
        outcome.id = self.command.id;
        outcome.finish = finish;
        outcome.phases = phases;
        outcome.phases.overhead += completion;
        outcome.submitted = finish - outcome.phases.total();
        outcome.busy = busy;
        outcome.busy.seek += self.hidden_seek;
        outcome.bus_data = bus.transfer(Op::Read, self.sectors() * u64::from(model.sector_bytes()));
        outcome.bus_transfers = transfers;
        outcome.cache = self.cache;
    }

    /// The bus takes all of it in one transfer, the media work being settled; returns when the bus and the controller
    /// are free.
    #[expect(clippy::inline_always, reason = "with one pass known, most of it goes away")]
    #[inline(always)]
    pub(super) fn send(
        &self,
        media: &Media<'_>,
        passes: &[Pass],
        (granted, bus): (Nanos, &BusTiming),
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> (Nanos, Nanos) {
        let model = media.model;
        let setup = self.setup(model, bus, true);
        let (last, phases) = self.send_all(media, passes, false, (granted, setup), bus);
        outcome.passed = last.passed;
        if model.rules.keeps_unsent {
            let sent = Sent { begin: granted + setup, from: 0, to: self.sectors() };
            // Copies: what is lent out must lie in memory, and would also where it is not lent.
            let plan = *self;
            match *passes {
                [pass] => plan.keep_unsent(media, &[pass], parts, sent, bus),
                _ => plan.keep_unsent(media, passes, parts, sent, bus),
            }
        }
        parts.log.tell(|narrative| narrative.transfers.push((granted, last.finish)));
        let busy = Busy { bus: last.finish - granted, ..busy_of(passes, self.claimed) };
        self.complete(model, bus, (last.finish, phases), (busy, 1), outcome);
        (last.finish, self.controller_free.unwrap_or(last.finish))
    }

    /// As [`Plan::send`], the bus being free when it is wanted; returns when the controller is free.
    #[expect(clippy::inline_always, reason = "with one pass known, most of it goes away")]
    #[inline(always)]
    pub(crate) fn send_at_once(
        &self,
        media: &Media<'_>,
        passes: &[Pass],
        bus: &BusTiming,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Nanos {
        self.send(media, passes, (self.need_at, bus), parts, outcome).1
    }

    /// Tells a listener of the media work, without what read-ahead does behind the command's last sector.
    #[inline]
    pub(super) fn tell_passes(&self, media: &Media<'_>, parts: &mut Parts, passes: &[Pass]) {
        if parts.log.is_heard() {
            let end = self.command.lba.0 + self.sectors();
            match *passes {
                // A copy, as in [`Plan::send`].
                [pass] => tell_all(media, parts, &[pass], end),
                _ => tell_all(media, parts, passes, end),
            }
        }
    }
}

/// Tells a listener of the media work up to address `end`.
#[cold]
fn tell_all(media: &Media<'_>, parts: &mut Parts, passes: &[Pass], end: u64) {
    parts.log.tell(|narrative| {
        narrative.passes = passes.to_vec();
        for pass in &mut narrative.passes {
            let beyond = pass.end_lba().saturating_sub(end) as u32;
            if (1..pass.sectors).contains(&beyond) {
                pass.end = pass.sector_end(&media.epoch, pass.sectors - beyond);
                pass.sectors -= beyond;
            }
        }
    });
}

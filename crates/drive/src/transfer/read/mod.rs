//! A read: sectors come off the media (or lie in the buffer already) and leave over the bus; producer and consumer
//! around the buffer.

mod passes;
mod send;
mod stall;

pub(crate) use passes::passes_in_order;

use super::approach::Approach;
use super::destage::give_buffer_its_share;
use super::linear::Linear;
use super::path::{busy_of, path};
use super::{AnyTransfer, Need, Parts, Step, Transfer, Turn};
use crate::buffer::{Fill, Lookup, Passes};
use crate::command::{BusTiming, CacheResult, Command, Outcome, Phases, Work};
use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::spec::{ReadAhead, TransferModel};
use headstack_units::{Nanos, Op};
use passes::{passes_along, passes_on_arrival};
use send::Fence;
use stall::Stall;

/// What of a read's media work is settled before the bus is granted.
#[derive(Clone, Debug)]
enum MediaWork {
    /// All of it: the buffer holds the whole read.
    Settled,
    /// Only the beginning: the read is larger than the buffer.
    Stalling(Box<Stall>),
    /// Only the position: there is no buffer, and the sectors pass when the bus is there.
    Unbuffered { first: Box<Pass> },
    /// Only the position: the transfer is linear in length.
    Linear(Box<Linear>),
}

/// A read on its way.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    command: Command,
    /// Sectors at the front that lie in the buffer already.
    cached: u64,
    /// Media work, in the order of time.
    passes: Passes,
    media_work: MediaWork,
    /// When the command is decoded, and the phases from submission to there: the path that needs no mechanism.
    decoded: Nanos,
    lead: Phases,
    /// Where the media's path begins, and the phases from submission to there.
    media_base: Nanos,
    media_lead: Phases,
    /// The rotation it was planned with.
    epoch: Epoch,
    /// Gross arm movement that the passes do not show (under the overhead).
    hidden_seek: Nanos,
    cache: CacheResult,
    sequential: bool,
    controller_free: Option<Nanos>,
    /// When the bus is wanted, the sector that waited for, and, from the second transfer on, the phases up to there.
    need_at: Nanos,
    fence: Option<Fence>,
    need_lead: Option<Box<Phases>>,
    /// Sectors that have left, how long the bus was held, and how often.
    sent: u64,
    held: Nanos,
    transfers: u32,
}

/// A read that the controller has turned to.
struct Decoded {
    lead: Phases,
    at: Nanos,
    /// When it is decoded.
    done: Nanos,
}

impl Read {
    /// The controller turns to a read.
    #[inline]
    pub(super) fn dispatch(media: &Media<'_>, parts: &mut Parts, turn: &Turn) -> Self {
        let overhead = &media.model.overhead;
        let range = turn.range();
        let after = parts.history.after();
        let lead = |overhead: Nanos| Phases { overhead, ..turn.phases() };
        let miss =
            Decoded { lead: lead(overhead.read[after]), at: turn.at, done: turn.at + overhead.read[after] };
        if !parts.buffer.may_know(range.0, range.1) {
            parts.buffer.miss(media, miss.done);
            return Self::from_media(media, parts, turn, &miss, 0, None);
        }
        let streaming = parts.history.is_sequential() && parts.buffer.reads_ahead_at(turn.at);
        let hit = if after == 0 && !streaming { overhead.hit_at_rest } else { overhead.hit[after] };
        if parts.buffer.is_hit(media, range, turn.at + hit.min(overhead.read[after])) {
            return Self::from_buffer(media, parts, turn, lead(hit), turn.at + hit);
        }
        // What was not there when a hit would have been noticed may have come in while the command was decoded.
        match parts.buffer.look_up(media, range, miss.done) {
            Lookup::Hit => Self::from_buffer(media, parts, turn, miss.lead, miss.done),
            Lookup::InFlight { cached } => Self::in_flight(media, parts, turn, &miss, cached),
            Lookup::Partial { cached, segment } => {
                Self::from_media(media, parts, turn, &miss, cached, Some(segment))
            }
            Lookup::Miss => Self::from_media(media, parts, turn, &miss, 0, None),
        }
    }

    /// A read that is decoded, and of which nothing else is known.
    #[inline]
    fn new(media: &Media<'_>, parts: &Parts, command: Command, lead: Phases, decoded: Nanos) -> Self {
        Self {
            command,
            cached: 0,
            passes: Passes::new(),
            media_work: MediaWork::Settled,
            decoded,
            lead,
            media_base: decoded,
            media_lead: lead,
            epoch: media.epoch,
            hidden_seek: Nanos::ZERO,
            cache: CacheResult::Miss,
            sequential: parts.history.is_sequential(),
            controller_free: None,
            need_at: decoded,
            fence: None,
            need_lead: None,
            sent: 0,
            held: Nanos::ZERO,
            transfers: 0,
        }
    }

    /// Everything is in the buffer: the command needs only the bus.
    fn from_buffer(media: &Media<'_>, parts: &mut Parts, turn: &Turn, lead: Phases, decoded: Nanos) -> Self {
        let mut read = Self::new(media, parts, turn.command, lead, decoded);
        parts.buffer.hit(media, turn.range(), decoded, parts.mechanism.free_at(), read.sequential);
        read.cached = read.sectors();
        read.cache = CacheResult::Hit;
        read.controller_free = Some(decoded);
        read.tell(parts);
        read
    }

    /// The media are reading just these sectors ahead: wait for them to come.
    fn in_flight(media: &Media<'_>, parts: &mut Parts, turn: &Turn, decoded: &Decoded, cached: u64) -> Self {
        let (_, end) = turn.range();
        let mut read = Self::new(media, parts, turn.command, decoded.lead, decoded.done);
        read.cached = cached;
        read.cache = CacheResult::PartialHit;
        read.passes = parts.buffer.read_in_flight(media, end, read.sequential);
        read.set_fence(media);
        // The command's own sectors are no longer read-ahead: nothing stops them.
        let last = read.passes.last().expect("at least one pass");
        let done = last.sector_end(&media.epoch, (end - last.lba()) as u32);
        parts.mechanism.take_over(read.decoded, done);
        read.controller_free = Some(done.max(read.decoded));
        read.tell(parts);
        read
    }

    /// Some or all sectors come from the media.
    #[inline]
    fn from_media(
        media: &Media<'_>,
        parts: &mut Parts,
        turn: &Turn,
        &Decoded { lead, at, done: decoded }: &Decoded,
        cached: u64,
        segment: Option<usize>,
    ) -> Self {
        let model = media.model;
        let (lba, end) = turn.range();
        if !parts.buffer.dirty.is_empty() {
            give_buffer_its_share(model, parts, decoded);
        }
        // All that follows on the track is wanted: read-ahead may go on along it.
        let run = model.layout.extent(lba + cached, u64::MAX);
        let target = run.first(end - lba - cached);
        let approach = Approach::new(parts, media, (&target, Op::Read), lead, at, decoded);
        let drawn = approach.rotate(parts, media, at, target);
        let media = drawn.as_ref().unwrap_or(media);
        let first = approach.first_pass(media, target);
        let mut read = Self::new(media, parts, turn.command, lead, decoded);
        read.cached = cached;
        if cached > 0 {
            read.cache = CacheResult::PartialHit;
        }
        (read.media_base, read.media_lead) = (approach.base, approach.media_lead);
        read.hidden_seek = approach.hidden_seek;
        if model.spec().fidelity.transfer == TransferModel::Linear {
            let linear = Linear::new(media, &approach, first, end, Op::Read);
            read.need_at = linear.position.start;
            read.passes.push(first);
            read.media_work = MediaWork::Linear(Box::new(linear));
        } else if model.sizes.buffer == 0 {
            read.need_at = first.ready;
            read.media_work = MediaWork::Unbuffered { first: Box::new(first) };
        } else {
            let (landed, tail) = read.plan_media(media, first, run, end);
            read.set_fence(media);
            if end - lba <= model.sizes.buffer {
                let done = read.media_end();
                read.leave_media(media, parts, done, segment, landed, tail);
                read.controller_free = Some(done);
            } else {
                let stall = Stall::new(first, lba, end - lba, cached, model.sizes.buffer);
                read.media_work = MediaWork::Stalling(Box::new(stall));
            }
        }
        approach.tell(parts);
        read.tell_passes(parts);
        read
    }

    /// The passes of a read that the buffer holds; the address from which its first track was read, and what follows
    /// behind it on its last track, where that is known.
    #[inline]
    fn plan_media(&mut self, media: &Media<'_>, first: Pass, run: Extent, end: u64) -> (u64, Option<Extent>) {
        let on_arrival = media
            .model
            .cache()
            .is_some_and(|cache| cache.zero_latency || cache.read_ahead == ReadAhead::OnArrival);
        if on_arrival {
            return (passes_on_arrival(media, first, end, &mut self.passes), None);
        }
        (self.command.lba.0, passes_along(media, first, run, end, &mut self.passes))
    }

    /// The media work ends at `done`: the mechanism is free, the sectors are kept, read-ahead begins.
    #[inline]
    fn leave_media(
        &self,
        media: &Media<'_>,
        parts: &mut Parts,
        done: Nanos,
        segment: Option<usize>,
        landed: u64,
        tail: Option<Extent>,
    ) {
        let last = self.passes.iter().max_by_key(|pass| pass.end).expect("a read has media work");
        let arm = match &self.media_work {
            MediaWork::Linear(linear) => Arm::over(&linear.last),
            _ => Arm::over(&last.extent),
        };
        parts.mechanism.release(Work::Command, self.media_base, done, arm);
        let lba = self.command.lba.0;
        let fill = Fill {
            lba,
            end: lba + self.sectors(),
            landed,
            segment,
            done,
            arm,
            tail,
            sequential: self.sequential,
        };
        parts.buffer.fill(media, &fill);
    }

    /// Whether all of it is in the buffer.
    #[inline]
    pub(super) fn is_hit(&self) -> bool {
        self.cache == CacheResult::Hit
    }

    #[inline]
    fn sectors(&self) -> u64 {
        u64::from(self.command.sectors)
    }

    /// The end of the media work.
    #[inline]
    fn media_end(&self) -> Nanos {
        self.passes.iter().map(|pass| pass.end).max().unwrap_or(self.decoded)
    }

    /// The media work that depends on the grant is worked out.
    fn settle_media(&mut self, media: &Media<'_>, granted: Nanos, setup: Nanos, bus: &BusTiming) {
        match &mut self.media_work {
            MediaWork::Settled | MediaWork::Linear(_) => {}
            MediaWork::Unbuffered { first } => {
                let first = **first;
                // The sectors pass when the bus is there, which is held to the last.
                let connected = granted + setup;
                let mut lead = path(&[first], self.media_base, first.ready, self.media_lead);
                lead.queue += granted - self.need_at;
                lead.bus += setup;
                self.hidden_seek += first.ready - first.begin;
                let pass = media.pass_from(first.extent, 0, first.sectors, connected, connected, connected);
                let end = self.command.lba.0 + self.sectors();
                passes_in_order(media, pass, end, Op::Read, &mut self.passes);
                (self.media_base, self.media_lead) = (connected, lead);
            }
            MediaWork::Stalling(stall) => {
                stall.send(media, granted + setup, bus, false, u64::MAX);
                self.passes = stall.passes(media);
            }
        }
    }

    /// The last byte has left at `finish`; returns when the controller is free.
    #[inline]
    fn complete(
        &mut self,
        model: &DriveModel,
        bus: &BusTiming,
        parts: &mut Parts,
        (finish, mut phases): (Nanos, Phases),
        outcome: &mut Outcome,
    ) -> Nanos {
        let media = Media { model, epoch: self.epoch };
        let mut controller_free = self.controller_free.unwrap_or_default();
        if !matches!(self.media_work, MediaWork::Settled) {
            let done = match self.media_work {
                MediaWork::Linear(_) => finish,
                _ => self.media_end(),
            };
            let landed = self.command.lba.0;
            self.leave_media(&media, parts, done, None, landed, None);
            self.tell_passes(parts);
            controller_free = done.max(parts.mechanism.free_at());
        }
        let completion = model.overhead.read_completion;
        phases.overhead += completion;
        let mut busy = match &self.media_work {
            MediaWork::Linear(linear) => linear.busy(),
            _ => busy_of(&self.passes, self.decoded),
        };
        busy.seek += self.hidden_seek;
        busy.bus = self.held;
        let finish = finish + completion;
        outcome.id = self.command.id;
        outcome.submitted = finish - phases.total();
        outcome.finish = finish;
        outcome.phases = phases;
        outcome.busy = busy;
        outcome.bus_data = bus.transfer(Op::Read, self.sectors() * u64::from(model.sector_bytes()));
        outcome.bus_transfers = self.transfers;
        outcome.cache = self.cache;
        controller_free
    }

    /// Tells a listener of a command for which the arm does not set out.
    fn tell(&self, parts: &mut Parts) {
        parts.log.tell(|narrative| {
            narrative.decoded = self.decoded;
            narrative.media_base = self.media_base;
        });
        self.tell_passes(parts);
    }

    /// Tells a listener of the media work, without what read-ahead does behind the command's last sector.
    #[inline]
    fn tell_passes(&self, parts: &mut Parts) {
        parts.log.tell(|narrative| {
            let end = self.command.lba.0 + self.sectors();
            narrative.passes = self.passes.to_vec();
            for pass in &mut narrative.passes {
                let beyond = pass.end_lba().saturating_sub(end) as u32;
                if (1..pass.sectors).contains(&beyond) {
                    pass.end = pass.sector_end(&self.epoch, pass.sectors - beyond);
                    pass.sectors -= beyond;
                }
            }
        });
    }
}

impl From<Read> for AnyTransfer {
    fn from(transfer: Read) -> Self {
        Self::Read(Box::new(transfer))
    }
}

impl Transfer for Read {
    #[inline]
    fn need(&self) -> Option<Need> {
        let available_by = match &self.media_work {
            MediaWork::Unbuffered { first } => Some(first.start),
            _ => None,
        };
        Some(Need { at: self.need_at, sectors: self.sectors() - self.sent, available_by })
    }

    #[inline]
    fn controller_free(&self) -> Option<Nanos> {
        self.controller_free
    }

    #[inline]
    fn granted(
        &mut self,
        granted: Nanos,
        bus: &BusTiming,
        model: &DriveModel,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Step {
        let media = Media { model, epoch: self.epoch };
        let setup = self.setup(model, bus);
        self.transfers += 1;
        let one = matches!(self.media_work, MediaWork::Unbuffered { .. } | MediaWork::Linear(_))
            || !model.bursts.apply_on(bus, Op::Read);
        let (finish, phases) = if let MediaWork::Linear(linear) = &self.media_work {
            let bytes = self.sectors() * u64::from(model.sector_bytes());
            let end = linear.end(granted, bus, bus.transfer(Op::Read, bytes));
            outcome.passed = None;
            (end.transferred, end.phases)
        } else if one {
            self.settle_media(&media, granted, setup, bus);
            let (last, phases) = self.send_all(&media, granted, setup, bus);
            outcome.passed = last.passed;
            (last.finish, phases)
        } else {
            let (last, phases) = self.step_burst(&media, granted, setup, bus);
            outcome.passed = last.passed;
            (last.finish, phases)
        };
        self.held += finish - granted;
        parts.log.tell(|narrative| narrative.transfers.push((granted, finish)));
        if !one && self.sent < self.sectors() {
            return Step::Again { bus_free: finish };
        }
        if let MediaWork::Stalling(stall) = &self.media_work {
            self.passes = stall.passes(&media);
        }
        let controller_free = self.complete(model, bus, parts, (finish, phases), outcome);
        Step::Done { bus_free: finish, controller_free }
    }
}

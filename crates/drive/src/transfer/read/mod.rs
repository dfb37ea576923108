//! A read: sectors come off the media (or lie in the buffer already) and leave over the bus; producer and consumer
//! around the buffer.

mod bursts;
mod passes;
mod plan;
mod received;
mod room;
mod stall;

pub(crate) use passes::passes_in_order;
pub(crate) use plan::Plan;

use super::approach::Approach;
use super::destage::{give_age_its_share, give_buffer_its_share};
use super::linear::Linear;
use super::path::{Beginning, busy_of, path};
use super::{AnyTransfer, Driver, Need, Parts, Step, Transfer, Turn};
use crate::buffer::{Lookup, Passes};
use crate::command::{BusTiming, Busy, CacheResult, Outcome, Phases};
use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Pass, Release, Still};
use crate::model::DriveModel;
use crate::spec::{ReadAhead, TransferModel};
use headstack_units::{Nanos, Op};
use passes::{passes_along, passes_on_arrival};
use plan::Left;
use room::Sent;
use stall::Stall;

/// What of a read's media work is settled before the bus is granted.
#[derive(Clone, Debug, Default)]
enum MediaWork {
    /// All of it: the buffer holds the whole read.
    #[default]
    Settled,
    /// Only the beginning: the read is larger than the buffer.
    Stalling(Box<Stall>),
    /// Only the position: there is no buffer, and the sectors pass when the bus is there.
    Unbuffered { first: Box<Pass> },
    /// Only the position: the transfer is linear in length.
    Linear(Box<Linear>),
}

/// A read on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    plan: Plan,
    /// The rotation it was planned with.
    epoch: Epoch,
    /// The heads that read, if they stand still.
    still: Option<Still>,
    /// Media work, in the order of time.
    passes: Passes,
    media_work: MediaWork,
    /// From the second transfer on, the phases up to when the bus is wanted.
    need_lead: Option<Phases>,
    /// Sectors that have left, how long the bus was held, and how often.
    sent: u64,
    held: Nanos,
    transfers: u32,
}

/// A read that the controller has turned to.
#[derive(Clone)]
struct Decoded {
    lead: Beginning,
    at: Nanos,
    /// When it is decoded.
    done: Nanos,
    /// How long the arm is held beyond that.
    held: Nanos,
    /// The drive has let go of the bus in the meantime.
    left_bus: bool,
}

/// The controller turns to a read.
#[expect(
    clippy::inline_always,
    reason = "every read comes here, and most of it is handed on to where it goes"
)]
#[inline(always)]
pub(super) fn dispatch<D: Driver>(media: &Media<'_>, parts: &mut Parts, turn: &Turn, driver: D) -> D::Output {
    let overhead = &media.model.overhead;
    let range = turn.range();
    let after = parts.history.after();
    let miss = Decoded::new(turn, overhead.read[after]);
    if media.model.rules.waits_for_early_writes
        && let Some(until) = parts.buffer.early.until(turn.at)
    {
        return received::after_early_writes(media, parts, turn, &miss, until, driver);
    }
    if media.model.rules.looks_up_received {
        return received::dispatch(media, parts, turn, &miss, driver);
    }
    if !parts.buffer.may_know(range.0, range.1) {
        parts.buffer.miss(media, miss.done);
        return from_media(media, parts, turn, &miss, &Cached::NONE, driver);
    }
    let hit = hit_overhead(media, parts, turn);
    if parts.buffer.is_hit(media, range, turn.at + hit.min(overhead.read[after])) {
        return from_buffer(media, parts, turn, &Decoded::new(turn, hit), driver);
    }
    if !parts.buffer.dirty.is_empty() {
        give_age_its_share(media.model, parts, miss.done);
    }
    // What was not there when a hit would have been noticed may have come in while the command was decoded.
    match parts.buffer.look_up(media, range, miss.done) {
        Lookup::Hit => from_buffer(media, parts, turn, &miss, driver),
        Lookup::InFlight { cached } => {
            let part = cached_part(media.model, turn, &miss, cached, hit);
            from_read_ahead(media, parts, turn, &part, cached, driver)
        }
        Lookup::Partial { cached, segment } => {
            let part = cached_part(media.model, turn, &miss, cached, hit);
            let cached = Cached { sectors: cached, segment: Some(segment), part: Some(part) };
            from_media(media, parts, turn, &miss, &cached, driver)
        }
        Lookup::Miss => from_media(media, parts, turn, &miss, &Cached::NONE, driver),
    }
}

/// The controller turns to a read that the buffer does not serve, whatever it holds.
pub(super) fn dispatch_past_buffer<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    driver: D,
) -> D::Output {
    let decoded = Decoded::new(turn, media.model.overhead.read[parts.history.after()]);
    parts.buffer.miss(media, decoded.done);
    from_media(media, parts, turn, &decoded, &Cached::NONE, driver)
}

impl Decoded {
    /// The controller takes `overhead` for it.
    #[inline]
    fn new(turn: &Turn, overhead: Nanos) -> Self {
        let lead = turn.decoded_after(overhead);
        Self { lead, at: turn.at, done: turn.at + overhead, held: Nanos::ZERO, left_bus: false }
    }
}

/// What of a read lies in a segment already.
struct Cached {
    sectors: u64,
    segment: Option<usize>,
    /// What they wait for before they go over the bus.
    part: Option<Decoded>,
}

impl Cached {
    const NONE: Self = Self { sectors: 0, segment: None, part: None };
}

/// What a hit takes.
#[inline]
fn hit_overhead(media: &Media<'_>, parts: &mut Parts, turn: &Turn) -> Nanos {
    let (overhead, after) = (&media.model.overhead, parts.history.after());
    if after == 0 && overhead.hit_at_rest != overhead.hit[0] && !goes_on_with_stream(media, parts, turn) {
        overhead.hit_at_rest
    } else {
        overhead.hit[after]
    }
}

/// Whether the drive is ready for the read, which continues the one before.
fn goes_on_with_stream(media: &Media<'_>, parts: &mut Parts, turn: &Turn) -> bool {
    if !parts.history.is_sequential() {
        return false;
    }
    if let Some(wait) = media.model.overhead.stream_wait {
        return parts.history.waits_for_stream(turn.at, wait);
    }
    // Read-ahead is known as far as somebody has asked: it may have gone on to other tracks since, and to its end.
    parts.buffer.settle(media, turn.at);
    parts.buffer.reads_ahead_at(turn.at)
}

/// When the `cached` sectors of a read can go, of which the media bring the rest; a hit would take `hit`.
#[inline]
fn cached_part(model: &DriveModel, turn: &Turn, miss: &Decoded, cached: u64, hit: Nanos) -> Decoded {
    if model.rules.cached_part_as_hit && cached > 0 { Decoded::new(turn, hit) } else { miss.clone() }
}

/// The media are just reading on behind the first `cached` sectors.
fn from_read_ahead<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    decoded: &Decoded,
    cached: u64,
    driver: D,
) -> D::Output {
    let read = Read::in_flight(media, parts, turn, decoded, cached);
    note(media.model, parts, turn, false);
    driver.drive(AnyTransfer::Read(read), parts)
}

/// The commands after it see the read.
#[inline]
fn note(model: &DriveModel, parts: &mut Parts, turn: &Turn, is_hit: bool) {
    if let Some(wait) = model.overhead.stream_wait {
        parts.history.note_stream(is_hit, turn.at, wait);
    }
    parts.history.note(&turn.command);
    if model.write_back.is_some() {
        parts.history.note_arm(!is_hit || parts.buffer.reads_ahead_at(turn.at));
    }
}

/// Everything is in the buffer: the command needs only the bus.
#[inline]
fn from_buffer<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    decoded: &Decoded,
    driver: D,
) -> D::Output {
    let mut plan = Plan::new(parts, turn, decoded);
    let noticed = if media.model.rules.looks_up_received { turn.at } else { plan.decoded };
    let rest = Release { at: parts.mechanism.free_at(), arm: parts.mechanism.arm() };
    if let Some(release) = parts.buffer.hit(media, turn.range(), noticed, rest, plan.sequential) {
        parts.mechanism.rest(media, release, noticed);
    }
    plan.cached = plan.sectors();
    plan.cache = CacheResult::Hit;
    plan.controller_free = Some(plan.decoded);
    parts.log.tell(|narrative| {
        narrative.decoded = plan.decoded;
        narrative.media_base = plan.media_base;
    });
    note(media.model, parts, turn, true);
    driver.settled(media, &plan, &[], parts)
}

/// Some or all sectors come from the media; the first `cached` lie in a segment.
#[inline]
fn from_media<D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    decoded: &Decoded,
    cached: &Cached,
    driver: D,
) -> D::Output {
    if media.model.is_plain {
        from_media_as::<true, D>(media, parts, turn, decoded, cached, driver)
    } else {
        from_media_as::<false, D>(media, parts, turn, decoded, cached, driver)
    }
}

/// As [`from_media`]; `PLAIN` where the model is, as with most drives.
fn from_media_as<const PLAIN: bool, D: Driver>(
    media: &Media<'_>,
    parts: &mut Parts,
    turn: &Turn,
    decoded: &Decoded,
    cached: &Cached,
    driver: D,
) -> D::Output {
    let model = media.model;
    let (lba, end) = turn.range();
    let &Cached { sectors: cached, segment, ref part } = cached;
    if !parts.buffer.dirty.is_empty() {
        give_buffer_its_share(model, parts, (lba, end), decoded.done);
    }
    // All that follows on the track is wanted: read-ahead may go on along it.
    let run = model.layout.extent(lba + cached, u64::MAX);
    let target = run.first(end - lba - cached);
    let approach = Approach::new::<PLAIN>(
        parts,
        media,
        (&target, Op::Read, turn.command.sectors),
        decoded.lead,
        (decoded.at, decoded.held),
        decoded.done,
    );
    let drawn = approach.rotate::<PLAIN>(parts, media, decoded.at, (target, Op::Read), Nanos::ZERO);
    let media = drawn.as_ref().unwrap_or(media);
    let mut first = approach.first_pass(media, target);
    if drawn.is_some() && model.arms_overlap {
        first = parts.mechanism.through_channel(media, decoded.at, first, first.end_lba() == end);
    }
    approach.tell(parts);
    let mut plan = Plan::new(parts, turn, part.as_ref().unwrap_or(decoded));
    plan.set_out(&approach, cached);
    if first.end_lba() < end || end - lba > model.sizes.in_order {
        let read = Read::over_media(media, parts, (plan, first, run), segment, approach);
        note(model, parts, turn, false);
        return driver.drive(AnyTransfer::Read(read), parts);
    }
    let passes = [first];
    plan.set_fence(media, &passes);
    let tail = (run.sectors > first.sectors).then(|| run.behind(first.sectors));
    let left = Left { arm: Arm::over(&first.extent), segment, landed: lba, tail };
    plan.leave_media(media, parts, first.end, &left);
    plan.controller_free = Some(parts.controller_free(model, (&plan.command, plan.decoded), first.end));
    plan.tell_passes(media, parts, &passes);
    note(model, parts, turn, false);
    driver.settled(media, &plan, &passes, parts)
}

impl Read {
    /// A read for a plan, its media work settled.
    #[inline]
    pub(super) fn new(media: &Media<'_>, plan: &Plan, passes: &[Pass], parts: &mut Parts) -> Box<Self> {
        let mut read = parts.shelf.read();
        (read.epoch, read.still) = (media.epoch, media.still);
        read.plan = *plan;
        read.passes.clear();
        match *passes {
            // One that is handed over by value need not lie in memory before.
            [pass] => read.passes.push(pass),
            _ => read.passes.extend_from_slice(passes),
        }
        read.media_work = MediaWork::Settled;
        read.need_lead = None;
        (read.sent, read.held, read.transfers) = (0, Nanos::ZERO, 0);
        read
    }

    /// The disk as it was planned with.
    fn media<'a>(&self, model: &'a DriveModel) -> Media<'a> {
        Media { model, epoch: self.epoch, still: self.still }
    }

    /// The media are reading just these sectors ahead: wait for them to come.
    fn in_flight(
        media: &Media<'_>,
        parts: &mut Parts,
        turn: &Turn,
        decoded: &Decoded,
        cached: u64,
    ) -> Box<Self> {
        let (_, end) = turn.range();
        let plan = Plan::new(parts, turn, decoded);
        let mut read = Self::new(media, &plan, &[], parts);
        let Self { plan, passes, .. } = &mut *read;
        plan.cached = cached;
        plan.cache = CacheResult::PartialHit;
        parts.buffer.read_in_flight(media, end, plan.sequential, passes);
        // The command's own sectors are no longer read-ahead: nothing stops them. What lies behind them still is.
        let last = passes.last_mut().expect("at least one pass");
        last.end_with((end - last.lba()) as u32, &media.epoch);
        let done = last.end;
        if let Some(first) = passes.first()
            && first.begin > plan.decoded
        {
            // The mechanism was at something else when it was decoded: it set out to read on only then.
            plan.media_lead.other += first.begin - plan.decoded;
            (plan.media_base, plan.claimed) = (first.begin, first.begin);
        }
        plan.set_fence(media, passes);
        parts.mechanism.take_over(plan.claimed, done);
        plan.controller_free = Some(done.max(plan.decoded));
        parts.log.tell(|narrative| {
            narrative.decoded = plan.decoded;
            narrative.media_base = plan.media_base;
        });
        plan.tell_passes(media, parts, passes);
        read
    }

    /// A read that takes more than one pass, or whose media work hangs on the bus.
    fn over_media(
        media: &Media<'_>,
        parts: &mut Parts,
        (plan, first, run): (Plan, Pass, Extent),
        segment: Option<usize>,
        approach: Approach,
    ) -> Box<Self> {
        let model = media.model;
        let mut read = Self::new(media, &plan, &[], parts);
        let (lba, sectors) = (plan.command.lba.0, plan.sectors());
        if model.spec().fidelity.transfer == TransferModel::Linear {
            let linear = Linear::new(media, &approach, first, lba + sectors, Op::Read);
            read.plan.need_at = linear.position.start;
            read.passes.push(first);
            read.media_work = MediaWork::Linear(Box::new(linear));
        } else if model.sizes.buffer == 0 {
            read.plan.need_at = first.ready;
            read.media_work = MediaWork::Unbuffered { first: Box::new(first) };
        } else {
            let (landed, tail) = read.plan_media(media, first, run, lba + sectors);
            read.plan.set_fence(media, &read.passes);
            if sectors <= model.sizes.buffer {
                let last = read.passes.last().expect("a read has media work");
                let (done, arm) = (last.end, Arm::over(&last.extent));
                read.plan.leave_media(media, parts, done, &Left { arm, segment, landed, tail });
                let turn = (&read.plan.command, read.plan.decoded);
                read.plan.controller_free = Some(parts.controller_free(model, turn, done));
            } else {
                let stall = Stall::new(first, lba, sectors, plan.cached, model.sizes.buffer);
                read.media_work = MediaWork::Stalling(Box::new(stall));
            }
        }
        read.plan.tell_passes(media, parts, &read.passes);
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
        (self.plan.command.lba.0, passes_along(media, first, run, end, &mut self.passes))
    }

    /// The media work that depends on the grant is worked out.
    fn settle_media(&mut self, media: &Media<'_>, granted: Nanos, setup: Nanos, bus: &BusTiming) {
        match &mut self.media_work {
            MediaWork::Settled | MediaWork::Linear(_) => {}
            MediaWork::Unbuffered { first } => {
                let first = **first;
                // The sectors pass when the bus is there, which is held to the last.
                let connected = granted + setup;
                let mut lead = path(&[first], self.plan.media_base, first.ready, self.plan.media_lead);
                lead.queue += granted - self.plan.need_at;
                lead.bus += setup;
                self.plan.hidden_seek += first.ready - first.begin;
                let pass = media.pass_from(first.extent, 0, first.sectors, connected, connected, connected);
                let end = self.plan.command.lba.0 + self.plan.sectors();
                passes_in_order(media, pass, end, Op::Read, &mut self.passes);
                (self.plan.media_base, self.plan.media_lead) = (connected, lead);
                self.plan.claimed = connected;
            }
            MediaWork::Stalling(stall) => {
                stall.send(media, granted + setup, bus, false, u64::MAX);
                self.passes = stall.passes(media);
                // The fence's sector came when it was to come, or later.
                if let Some(fence) = &mut self.plan.fence {
                    fence.index = None;
                }
            }
        }
    }

    /// The last byte has left at `finish`; returns when the controller is free.
    fn complete(
        &mut self,
        model: &DriveModel,
        bus: &BusTiming,
        parts: &mut Parts,
        (finish, phases): (Nanos, Phases),
        outcome: &mut Outcome,
    ) -> Nanos {
        let mut controller_free = self.plan.controller_free.unwrap_or_default();
        if !matches!(self.media_work, MediaWork::Settled) {
            let media = self.media(model);
            let last = self.passes.last().expect("a read has media work");
            if let MediaWork::Unbuffered { first } = &self.media_work {
                // The wait for the bus between its seek and its transfer is no work.
                parts.mechanism.book(first.ready - self.plan.hidden_seek, first.ready);
            }
            let (done, arm) = match &self.media_work {
                MediaWork::Linear(linear) => (finish, Arm::over(&linear.last)),
                _ => (last.end, Arm::over(&last.extent)),
            };
            let left = Left { arm, segment: None, landed: self.plan.command.lba.0, tail: None };
            self.plan.leave_media(&media, parts, done, &left);
            self.plan.tell_passes(&media, parts, &self.passes);
            let turn = (&self.plan.command, self.plan.decoded);
            controller_free = parts.controller_free(model, turn, done.max(parts.mechanism.free_at()));
        }
        let busy = match &self.media_work {
            MediaWork::Linear(linear) => linear.busy(),
            _ => busy_of(&self.passes, self.plan.claimed),
        };
        let work = (Busy { bus: self.held, ..busy }, self.transfers);
        self.plan.complete(model, bus, (finish, phases), work, outcome);
        controller_free
    }
}

impl Transfer for Read {
    #[inline]
    fn need(&self) -> Option<Need> {
        let available_by = match &self.media_work {
            MediaWork::Unbuffered { first } => Some(first.start),
            _ => None,
        };
        Some(Need { at: self.plan.need_at, sectors: self.plan.sectors() - self.sent, available_by })
    }

    #[inline]
    fn controller_free(&self) -> Option<Nanos> {
        self.plan.controller_free
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
        let media = self.media(model);
        let bursts = model.bursts.apply_on(bus, Op::Read);
        if !bursts && matches!(self.media_work, MediaWork::Settled) {
            let (bus_free, controller_free) =
                self.plan.send(&media, &self.passes, (granted, bus), parts, outcome);
            return Step::Done { bus_free, controller_free };
        }
        let setup = self.plan.setup(model, bus, self.transfers == 0);
        self.transfers += 1;
        let sent_before = self.sent;
        let one = !bursts || matches!(self.media_work, MediaWork::Unbuffered { .. } | MediaWork::Linear(_));
        let (finish, phases) = if let MediaWork::Linear(linear) = &self.media_work {
            let bytes = self.plan.sectors() * u64::from(model.sector_bytes());
            let end = linear.end(granted, bus, bus.transfer(Op::Read, bytes));
            outcome.passed = None;
            (end.transferred, end.phases)
        } else if one {
            self.settle_media(&media, granted, setup, bus);
            let unbuffered = matches!(self.media_work, MediaWork::Unbuffered { .. });
            let (last, phases) = self.plan.send_all(&media, &self.passes, unbuffered, (granted, setup), bus);
            outcome.passed = last.passed;
            (last.finish, phases)
        } else {
            let (last, phases) = self.step_burst(&media, granted, setup, bus);
            outcome.passed = last.passed;
            (last.finish, phases)
        };
        if model.rules.keeps_unsent {
            let to = if one { self.plan.sectors() } else { self.sent };
            let sent = Sent { begin: granted + setup, from: sent_before, to };
            self.plan.keep_unsent(&media, &self.passes, parts, sent, bus);
        }
        self.held += finish - granted;
        parts.log.tell(|narrative| narrative.transfers.push((granted, finish)));
        if !one && self.sent < self.plan.sectors() {
            return Step::Again { bus_free: finish };
        }
        if let MediaWork::Stalling(stall) = &self.media_work {
            self.passes = stall.passes(&media);
        }
        let controller_free = self.complete(model, bus, parts, (finish, phases), outcome);
        Step::Done { bus_free: finish, controller_free }
    }
}

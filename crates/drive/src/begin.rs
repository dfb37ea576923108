//! Turning to a command: decode, look it up, send the arm on its way.

use crate::command::{CacheResult, Command, Outcome, Phases};
use crate::drive::Drive;
use crate::layout::Extent;
use crate::mechanism::Claim;
use crate::media::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::plan::{Begun, LinearPlan, Plan, ReadMode};
use crate::read::{ReadPlan, passes_in_order, passes_on_arrival};
use crate::spec::{PartialHit, ReadAhead, RotationModel, TransferModel, WritePolicy};
use headstack_units::{Angle, Nanos, Op, RequestFlags};
use std::sync::Arc;

/// A command on its way to the mechanism.
pub(crate) struct Approach {
    /// Decoded.
    pub(crate) decoded: Nanos,
    /// The mechanism's path begins, and the phases from submission to there.
    pub(crate) base: Nanos,
    pub(crate) media_lead: Phases,
    /// The arm counts as on track no sooner than this.
    pub(crate) not_before: Nanos,
    pub(crate) arm: Arm,
    /// What moving it takes.
    pub(crate) seek: Nanos,
    /// Arm movement hidden under the overhead.
    pub(crate) hidden_seek: Nanos,
}

/// What the buffer knows of a read.
enum Lookup {
    /// All of it is there.
    Hit,
    /// The first sectors are there, and the media are just reading on.
    InFlight {
        cached: u64,
    },
    /// The first sectors are there.
    Partial {
        cached: u64,
        segment: usize,
    },
    Miss,
}

impl Drive {
    /// Begins `command` (submitted at `submitted`) at `at`.
    pub(crate) fn begin(&mut self, command: Command, submitted: Nanos, at: Nanos) -> Begun {
        let model = Arc::clone(&self.model);
        self.begin_by(&model, command, submitted, at)
    }

    /// As [`Drive::begin`], the model being at hand.
    #[inline]
    pub(crate) fn begin_by(
        &mut self,
        model: &DriveModel,
        command: Command,
        submitted: Nanos,
        at: Nanos,
    ) -> Begun {
        let fidelity = &model.spec().fidelity;
        if let Some(ms) = fidelity.constant_ms {
            return self.begin_constant(command, submitted, at, Nanos::from_ms(ms));
        }
        self.run_background(at);
        self.change_speed(model, at);
        let media = Self::media(model, &mut self.spindle, at);
        if fidelity.transfer == TransferModel::Linear {
            return self.begin_linear(media, command, submitted, at);
        }
        self.history.sequential = self.history.read_end == Some(command.lba.0);
        let begun = match command.op {
            Op::Read => self.begin_read(media, command, submitted, at),
            Op::Write => self.begin_write(media, command, submitted, at),
        };
        self.note(&command);
        begun
    }

    /// The command has been begun: those after it see it in the drive's history.
    #[inline]
    pub(crate) fn note(&mut self, command: &Command) {
        let end = command.lba.0 + u64::from(command.sectors);
        match command.op {
            Op::Read => self.history.read_end = Some(end),
            Op::Write => self.history.write_end = Some(end),
        }
        self.history.last_was_write = command.op == Op::Write;
        self.last_lba = end;
    }

    /// A drifting spindle changes speed between commands: read-ahead under way goes on at the new one.
    #[inline]
    fn change_speed(&mut self, model: &DriveModel, at: Nanos) {
        if self.mechanism.stream.is_some() && self.spindle.changes_by(at) {
            self.change_speed_of_stream(model, at);
        }
    }

    #[cold]
    fn change_speed_of_stream(&mut self, model: &DriveModel, at: Nanos) {
        let old = Media { model, epoch: self.spindle.present_epoch() };
        let epoch = self.spindle.epoch_at(at);
        if epoch != old.epoch {
            self.mechanism.settle_stream(&old, &mut self.cache, at);
            if let Some(stream) = &mut self.mechanism.stream {
                stream.continue_at(&epoch);
            }
        }
    }

    fn begin_constant(&mut self, command: Command, submitted: Nanos, at: Nanos, time: Nanos) -> Begun {
        let finish = at + time;
        let phases = Phases { other: time, ..Self::queued(submitted, at) };
        self.mechanism.busy += time;
        let outcome = Outcome { id: command.id, submitted, finish, phases, ..Outcome::default() };
        Begun { plan: Plan::Constant(outcome), controller_free: Some(finish) }
    }

    /// The mechanism for a command whose media work begins with `target`, decoded at `decoded`, of whose overhead
    /// `at`..`decoded` the arm need not wait for the last part.
    #[inline]
    pub(crate) fn approach(
        &mut self,
        media: &Media<'_>,
        (target, op): (&Extent, Op),
        lead: Phases,
        at: Nanos,
        decoded: Nanos,
    ) -> Approach {
        let (seek_from, arm_decoded, lead) =
            self.seek_start(media.model, (target.lba, op), lead, at, decoded);
        let claim = self.mechanism.claim(media, &mut self.cache, seek_from);
        let seek = media.seek(claim.arm, target, op);
        // What lies in the buffer does not wait for an arm that starts late.
        Approach { decoded, ..Self::lay_path(&claim, seek, lead, arm_decoded) }
    }

    /// When the arm may start for a command, and when it counts as decoded for the mechanism: an arm that starts later
    /// than that holds everything up.
    fn seek_start(
        &self,
        model: &DriveModel,
        (lba, op): (u64, Op),
        lead: Phases,
        at: Nanos,
        decoded: Nanos,
    ) -> (Nanos, Nanos, Phases) {
        let continues = self.history.write_end == Some(lba);
        let (from, not_before) = model.arm_start(op, self.after_what(), continues, at, decoded);
        (from, not_before, Phases { overhead: lead.overhead + (not_before - decoded), ..lead })
    }

    /// Where the critical path to the first sector runs: through the overhead, through the wait for the mechanism, or
    /// through the seek that began beside the overhead.
    fn lay_path(claim: &Claim, seek: Nanos, lead: Phases, decoded: Nanos) -> Approach {
        let mut media_lead = lead;
        let (base, hidden_seek) = if claim.at >= decoded {
            media_lead.other += claim.at - decoded;
            (claim.at, Nanos::ZERO)
        } else if claim.at + seek >= decoded {
            let saved = decoded - claim.at;
            media_lead.overhead = media_lead.overhead - saved;
            (claim.at, Nanos::ZERO)
        } else {
            (decoded, seek)
        };
        Approach { decoded, base, media_lead, not_before: decoded, arm: claim.arm, seek, hidden_seek }
    }

    /// The first pass of a transfer, over `extent`, after an approach to it.
    #[inline]
    pub(crate) fn first_pass(media: &Media<'_>, way: &Approach, extent: Extent) -> Pass {
        if way.hidden_seek > Nanos::ZERO {
            // The arm is there before the command is decoded: no seek shows on the path.
            return media.pass_from(extent, 0, extent.sectors, way.base, way.base, way.base);
        }
        media.first_pass(way.base, way.not_before, way.seek, extent)
    }

    /// Whether the rotational delay is drawn.
    #[inline]
    fn draws_rotation(&self) -> bool {
        self.model.spec().fidelity.rotation != RotationModel::Tracked
    }

    /// Draws the rotational delay: the spindle's phase is set so that it comes out.
    #[cold]
    fn draw_rotation<'a>(
        &mut self,
        media: Media<'a>,
        at: Nanos,
        way: &Approach,
        target: Extent,
    ) -> Media<'a> {
        let pass = Self::first_pass(&media, way, target);
        self.draws += 1;
        let wanted = pass.extent.start - Angle(crate::mechanics::hash(self.seed, self.draws));
        let shift = wanted - media.epoch.angle(pass.ready);
        self.spindle.relock(at, shift);
        Media { model: media.model, epoch: self.spindle.epoch_at(at) }
    }

    fn begin_linear(&mut self, media: Media<'_>, command: Command, submitted: Nanos, at: Nanos) -> Begun {
        let model = media.model;
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let after = self.after_what();
        let overhead =
            if command.op == Op::Read { model.overhead.read[after] } else { model.overhead.write[after] };
        let lead = Phases { overhead, ..Self::queued(submitted, at) };
        let target = model.layout.extent(lba, sectors);
        let way = self.approach(&media, (&target, command.op), lead, at, at + overhead);
        let media = if self.draws_rotation() { self.draw_rotation(media, at, &way, target) } else { media };
        let position = Self::first_pass(&media, &way, target);
        let mut phases = way.media_lead;
        phases.seek += position.ready - position.begin;
        phases.rotation += position.start - position.ready;
        let (mut turns, mut switches, mut arm) = (0.0, Nanos::ZERO, Arm::over(&position.extent));
        let mut next = lba;
        while next < lba + sectors {
            let extent = model.layout.extent(next, lba + sectors - next);
            switches += media.switch(arm, Arm::over(&extent), command.op);
            arm = Arm::over(&extent);
            turns += f64::from(extent.sectors) * extent.slot_width.as_turns();
            next += u64::from(extent.sectors);
        }
        let media_time = Nanos((turns * media.epoch.period()).ceil() as u64);
        self.tell(&way, &[position], position.start);
        let plan =
            LinearPlan { command, bus_at: position.start, lead: phases, position, switches, media_time, arm };
        Begun { plan: Plan::Linear(plan), controller_free: None }
    }

    fn begin_read(&mut self, media: Media<'_>, command: Command, submitted: Nanos, at: Nanos) -> Begun {
        let model = media.model;
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let lead = |overhead: Nanos| Phases { overhead, ..Self::queued(submitted, at) };
        let after = self.after_what();
        let streaming = self.history.sequential
            && self.mechanism.stream.as_ref().is_some_and(|stream| !stream.finished(at));
        let at_rest = after == 0 && !streaming;
        let hit = if at_rest { model.overhead.hit_at_rest } else { model.overhead.hit[after] };
        let miss = model.overhead.read[after];
        if self.is_hit(&media, lba, sectors, at + hit.min(miss)) {
            return self.begin_hit(&media, command, lead(hit), at + hit);
        }
        // What was not there when a hit would have been noticed may have come in while the command was decoded.
        let (decoded, lead) = (at + miss, lead(miss));
        match self.look_up(&media, lba, sectors, decoded) {
            Lookup::Hit => self.begin_hit(&media, command, lead, decoded),
            Lookup::InFlight { cached } => self.begin_in_flight(&media, command, lead, decoded, cached),
            Lookup::Partial { cached, segment } => {
                self.begin_from_media(media, command, (lead, at, decoded), cached, Some(segment))
            }
            Lookup::Miss => self.begin_from_media(media, command, (lead, at, decoded), 0, None),
        }
    }

    /// Writes that are on the media by `now` are no longer under way.
    #[inline]
    pub(crate) fn forget_written(&mut self, now: Nanos) {
        if !self.underway.is_empty() {
            self.underway.retain(|write| write.at > now);
        }
    }

    /// Whether written data that are not on the media yet hold all of `lba..end`.
    #[inline]
    fn is_unwritten(&self, lba: u64, end: u64) -> bool {
        self.dirty.covers(lba, end) || self.underway.iter().any(|w| w.start <= lba && end <= w.end)
    }

    /// Whether [`Drive::look_up`] finds a hit, where another look-up at `now` or later follows if it does not: read-ahead
    /// that is nowhere near is left alone.
    #[inline]
    fn is_hit(&mut self, media: &Media<'_>, lba: u64, sectors: u64, now: Nanos) -> bool {
        let end = lba + sectors;
        self.forget_written(now);
        if self.is_unwritten(lba, end) {
            return true;
        }
        if let Some(stream) = &self.mechanism.stream
            && stream.may_hold(lba, self.cache.get(stream.segment).start)
        {
            self.mechanism.settle_stream(media, &mut self.cache, now);
        }
        if sectors > media.model.sizes.bypass {
            return false;
        }
        let hit = self.cache.find(lba).is_some_and(|segment| end <= self.cache.get(segment).end);
        if hit {
            self.mechanism.settle_stream(media, &mut self.cache, now);
        }
        hit
    }

    #[inline]
    fn look_up(&mut self, media: &Media<'_>, lba: u64, sectors: u64, now: Nanos) -> Lookup {
        let end = lba + sectors;
        self.forget_written(now);
        if self.is_unwritten(lba, end) {
            return Lookup::Hit;
        }
        self.mechanism.settle_stream(media, &mut self.cache, now);
        if sectors > media.model.sizes.bypass {
            return Lookup::Miss;
        }
        let Some(segment) = self.cache.find(lba) else { return Lookup::Miss };
        let held = self.cache.get(segment);
        if end <= held.end {
            return Lookup::Hit;
        }
        let cached = held.end - lba;
        let serves = media.model.cache().is_some_and(|cache| cache.partial_hit == PartialHit::Serve);
        let reading = self
            .mechanism
            .stream
            .as_ref()
            .is_some_and(|stream| stream.segment == segment && !stream.is_at_stop(now));
        let too_long = sectors > media.model.sizes.buffer;
        match (serves, reading && !too_long, cached) {
            (true, true, _) => Lookup::InFlight { cached },
            (true, false, 1..) => Lookup::Partial { cached, segment },
            _ => Lookup::Miss,
        }
    }

    /// Everything is in the buffer: the command needs only the bus.
    fn begin_hit(&mut self, media: &Media<'_>, command: Command, lead: Phases, decoded: Nanos) -> Begun {
        let end = command.lba.0 + u64::from(command.sectors);
        if let Some(segment) = self.cache.find(command.lba.0)
            && end <= self.cache.get(segment).end
        {
            self.cache.touch(segment, end);
            self.read_on(media, segment, end, decoded);
        }
        let plan = ReadPlan {
            command,
            cached: u64::from(command.sectors),
            passes: Vec::new(),
            decoded,
            lead,
            media_base: decoded,
            media_lead: lead,
            epoch: media.epoch,
            bus_at: decoded,
            fence_sector: None,
            fence_arrival: None,
            hidden_seek: Nanos::ZERO,
            cache: CacheResult::Hit,
        };
        self.tell_plan(&plan);
        Begun { plan: Plan::Read(plan, ReadMode::Settled), controller_free: Some(decoded) }
    }

    /// The media are reading just these sectors ahead: wait for them to come.
    fn begin_in_flight(
        &mut self,
        media: &Media<'_>,
        command: Command,
        lead: Phases,
        decoded: Nanos,
        cached: u64,
    ) -> Begun {
        let end = command.lba.0 + u64::from(command.sectors);
        let mut stream = self.mechanism.stream.expect("read-ahead is under way");
        let limit = self.read_ahead_stop(media.model, end, self.cache.get(stream.segment).start).max(end);
        stream = stream.on_to(stream.stop.max(limit).min(media.model.layout.capacity()));
        self.mechanism.stream = Some(stream);
        self.cache.touch(stream.segment, end);
        let mut passes = self.spare_passes.pop().unwrap_or_default();
        passes.push(stream.pass);
        let mut ahead = stream;
        while ahead.pass.lba() + u64::from(ahead.pass.sectors) < end {
            ahead.pass = ahead.following(media);
            passes.push(ahead.pass);
        }
        let mut plan = ReadPlan {
            command,
            cached,
            passes,
            decoded,
            lead,
            media_base: decoded,
            media_lead: lead,
            epoch: media.epoch,
            bus_at: decoded,
            fence_sector: None,
            fence_arrival: None,
            hidden_seek: Nanos::ZERO,
            cache: CacheResult::PartialHit,
        };
        plan.set_fence(media);
        // The request's own sectors are no longer read-ahead: nothing stops them.
        let last = plan.passes.last().expect("at least one pass");
        let done = last.sector_end(&media.epoch, (end - last.lba()) as u32);
        self.mechanism.busy += done.saturating_sub(decoded);
        self.mechanism.free_at = self.mechanism.free_at.max(done);
        self.tell_plan(&plan);
        let controller_free = Some(done.max(decoded));
        Begun { plan: Plan::Read(plan, ReadMode::Settled), controller_free }
    }

    /// Some or all sectors come from the media.
    fn begin_from_media(
        &mut self,
        media: Media<'_>,
        command: Command,
        (lead, at, decoded): (Phases, Nanos, Nanos),
        cached: u64,
        segment: Option<usize>,
    ) -> Begun {
        let model = media.model;
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let from = lba + cached;
        self.make_way_for_read(lba, lba + sectors, decoded);
        let target = model.layout.extent(from, lba + sectors - from);
        let way = self.approach(&media, (&target, Op::Read), lead, at, decoded);
        let media = if self.draws_rotation() { self.draw_rotation(media, at, &way, target) } else { media };
        let first = Self::first_pass(&media, &way, target);
        let mut plan = ReadPlan {
            command,
            cached,
            passes: self.spare_passes.pop().unwrap_or_default(),
            decoded: way.decoded,
            lead,
            media_base: way.base,
            media_lead: way.media_lead,
            epoch: media.epoch,
            bus_at: way.decoded,
            fence_sector: None,
            fence_arrival: None,
            hidden_seek: way.hidden_seek,
            cache: if cached > 0 { CacheResult::PartialHit } else { CacheResult::Miss },
        };
        if model.sizes.buffer == 0 {
            plan.bus_at = first.ready;
            return Begun { plan: Plan::Read(plan, ReadMode::Unbuffered { first }), controller_free: None };
        }
        let on_arrival =
            model.cache().is_some_and(|cache| cache.zero_latency || cache.read_ahead == ReadAhead::OnArrival);
        let landed = if on_arrival {
            passes_on_arrival(&media, first, lba + sectors, &mut plan.passes)
        } else {
            passes_in_order(&media, first, lba + sectors, Op::Read, &mut plan.passes);
            lba
        };
        plan.set_fence(&media);
        self.tell_plan(&plan);
        if sectors > model.sizes.buffer {
            plan.passes.clear();
            return Begun { plan: Plan::Read(plan, ReadMode::Stalling { first }), controller_free: None };
        }
        let end = plan.media_end();
        self.leave_media(&media, &plan, end, segment, landed);
        Begun { plan: Plan::Read(plan, ReadMode::Settled), controller_free: Some(end) }
    }

    /// Buffered writes that a read from the media needs out of the way go first.
    #[inline]
    fn make_way_for_read(&mut self, lba: u64, end: u64, now: Nanos) {
        if let WritePolicy::WriteBack { high_water_percent, low_water_percent, size_kib, .. } =
            self.model.spec().write_policy
        {
            let size = size_kib * 1024.0 / f64::from(self.model.sector_bytes());
            let fill = |dirty: u64| dirty as f64 * 100.0 / size;
            while let Some(run) = self.dirty.first_overlap(lba, end) {
                self.destage(run, now);
            }
            self.draining |= fill(self.dirty.sectors()) > high_water_percent;
            while self.draining && !self.dirty.is_empty() {
                if fill(self.dirty.sectors()) <= low_water_percent {
                    self.draining = false;
                } else {
                    self.destage_one(now);
                }
            }
        }
    }

    /// Whether the write must be on the media before it is complete, whatever the policy.
    pub(crate) fn must_reach_media(command: &Command) -> bool {
        command.flags.contains(RequestFlags::FORCE_MEDIA)
    }
}

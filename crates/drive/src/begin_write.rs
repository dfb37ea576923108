//! Turning to a write: into the write-back cache, or to the media, reported early or not.

use crate::command::{Command, Phases};
use crate::drive::{Drive, Underway};
use crate::media::{Arm, Media};
use crate::model::DriveModel;
use crate::plan::{Begun, Plan};
use crate::read::{passes_in_order, path};
use crate::spec::{DirtyHit, WritePolicy};
use crate::write::WritePlan;
use headstack_units::{Nanos, Op};

/// The whole physical sectors around a range of logical ones.
pub(crate) fn physical_range(media: &Media<'_>, lba: u64, end: u64) -> (u64, u64) {
    let physical = media.model.sizes.physical;
    let capacity = media.model.layout.capacity();
    (lba - lba % physical, end.next_multiple_of(physical).min(capacity))
}

impl Drive {
    pub(crate) fn begin_write(
        &mut self,
        media: Media<'_>,
        command: Command,
        submitted: Nanos,
        at: Nanos,
    ) -> Begun {
        let model = media.model;
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let overhead = self.write_overhead(model, lba);
        let decoded = at + overhead;
        let lead = Phases { overhead, ..Self::queued(submitted, at) };
        if self.cache.invalidate(lba, lba + sectors) {
            self.drop_stream_into_invalid(lba, lba + sectors, at, &media);
        }
        if let WritePolicy::WriteBack { size_kib, dirty_hit, .. } = model.spec().write_policy {
            let room = (size_kib * 1024.0 / f64::from(model.sector_bytes())) as u64;
            if sectors <= room && !Self::must_reach_media(&command) {
                return self.begin_buffered(command, lead, decoded, room, dirty_hit);
            }
            // What goes to the media now replaces what waited to.
            self.dirty.remove(lba, lba + sectors);
        }
        let before_data = model.overhead.write_data.unwrap_or(overhead);
        let data_from = at + before_data;
        let data_lead = Phases { overhead: before_data, ..lead };
        let (bus_free_at, early) = self.admission(&command, data_from);
        let target = model.layout.extent(lba, sectors);
        let way = self.approach(&media, (&target, Op::Write), lead, at, decoded);
        // Read-ahead has come to its end by now: the segment may be another's.
        self.cache.keep_written(lba, lba + sectors);
        let mut plan = WritePlan {
            command,
            decoded: decoded + way.media_lead.overhead.saturating_sub(overhead),
            bus_at: bus_free_at,
            bus_lead: Phases { other: lead.other + (bus_free_at - data_from), ..data_lead },
            media_base: way.base,
            media_lead: way.media_lead,
            arm: way.arm,
            seek: way.seek,
            target,
            not_before: way.not_before,
            hidden_seek: way.hidden_seek,
            media_lba: lba,
            media_sectors: sectors,
            early,
            epoch: media.epoch,
            after_mechanics: false,
        };
        if way.hidden_seek > Nanos::ZERO {
            plan.arm = Arm::over(&target);
        }
        Self::read_physical_sectors(&media, &mut plan);
        if !model.spec().buffer.write_overlaps_seek || model.sizes.buffer == 0 {
            let first = plan.first_pass(&media);
            if first.ready > plan.bus_at {
                plan.bus_at = first.ready;
                plan.bus_lead = path(&[first], plan.media_base, first.ready, plan.media_lead);
                plan.after_mechanics = true;
            }
        }
        Begun { plan: Plan::Write(plan), controller_free: None }
    }

    /// What preparing a write takes.
    #[inline]
    pub(crate) fn write_overhead(&self, model: &DriveModel, lba: u64) -> Nanos {
        // Asked only where it makes a difference: it takes a look at the layout.
        let differ = model.overhead.append != model.overhead.write;
        let kinds =
            if differ && self.is_write_hit(lba) { &model.overhead.append } else { &model.overhead.write };
        kinds[self.after_what()]
    }

    /// A write needs less preparation where the drive is already: behind the write before it, or on the track of the
    /// command before it.
    fn is_write_hit(&self, lba: u64) -> bool {
        self.history.write_end == Some(lba)
            || self.model.layout.share_track(self.last_lba.saturating_sub(1), lba)
    }

    /// When the buffer can take the data, and whether the write is reported early.
    pub(crate) fn admission(&mut self, command: &Command, wanted: Nanos) -> (Nanos, bool) {
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let end = lba + sectors;
        self.forget_written(wanted);
        let early = self.reports_early(command);
        let mut from = wanted;
        if let WritePolicy::ImmediateReporting { dirty_hit, pending_writes } = self.model.spec().write_policy
        {
            if dirty_hit == DirtyHit::Delay {
                let hits = self.underway.iter().filter(|write| write.start < end && lba < write.end);
                from = hits.map(|write| write.at).fold(from, Nanos::max);
            }
            if let Some(most) = pending_writes
                && early
                && self.history.write_end != Some(lba)
            {
                // One of those before must reach the media first.
                let too_many = (self.underway.len() + 1).saturating_sub(most.max(1) as usize);
                from = self.underway.iter().take(too_many).map(|write| write.at).fold(from, Nanos::max);
            }
        }
        // Room: the writes under way give theirs back in order.
        let mut held: u64 = self.underway.iter().map(|write| write.end - write.start).sum();
        for write in &self.underway {
            if held + sectors <= self.model.sizes.buffer.max(sectors) {
                break;
            }
            held -= write.end - write.start;
            from = from.max(write.at);
        }
        (from, early)
    }

    /// A write that covers part of a physical sector reads it first, and writes it when it comes around again.
    fn read_physical_sectors(media: &Media<'_>, plan: &mut WritePlan) {
        let (lba, end) = (plan.media_lba, plan.media_lba + plan.media_sectors);
        let (start, stop) = physical_range(media, lba, end);
        if (start, stop) == (lba, end) {
            return;
        }
        plan.media_lba = start;
        plan.media_sectors = stop - start;
        plan.aim(media);
        let first = plan.first_pass(media);
        let mut passes = Vec::new();
        passes_in_order(media, first, stop, Op::Read, &mut passes);
        let last = passes.last().expect("a read has media work");
        plan.media_lead = path(&passes, plan.media_base, last.end, plan.media_lead);
        plan.media_base = last.end;
        plan.not_before = last.end;
        plan.arm = Arm::over(&last.extent);
        plan.aim(media);
        plan.hidden_seek = Nanos::ZERO;
    }

    /// Into the write-back cache, when there is room.
    fn begin_buffered(
        &mut self,
        command: Command,
        lead: Phases,
        decoded: Nanos,
        room: u64,
        dirty_hit: DirtyHit,
    ) -> Begun {
        let (lba, end) = (command.lba.0, command.lba.0 + u64::from(command.sectors));
        let mut from = decoded;
        if dirty_hit == DirtyHit::Delay {
            while let Some(run) = self.dirty.first_overlap(lba, end) {
                from = from.max(self.destage(run, decoded));
            }
        }
        while self.dirty.sectors() + self.dirty.growth(lba, end) > room {
            from = from.max(self.destage_one(decoded));
        }
        let lead = Phases { other: lead.other + (from - decoded), ..lead };
        Begun { plan: Plan::Buffered { command, bus_at: from, lead }, controller_free: None }
    }

    /// Read-ahead into a segment that lost its end is pointless.
    fn drop_stream_into_invalid(&mut self, start: u64, end: u64, now: Nanos, media: &Media<'_>) {
        let Some(stream) = &mut self.mechanism.stream else { return };
        stream.advance(media, now);
        let (from, to) = (stream.end(media, now), stream.stop);
        if (start < to && from < end) || self.cache.get(stream.segment).end != from {
            let release = stream.release(now);
            self.mechanism.arm = release.arm;
            self.mechanism.free_at = self.mechanism.free_at.max(release.at);
            self.mechanism.stream = None;
        }
    }

    /// A write reported early is on its way to the media until `at`.
    pub(crate) fn remember_underway(&mut self, command: &Command, at: Nanos) {
        let start = command.lba.0;
        self.underway.push(Underway { start, end: start + u64::from(command.sectors), at });
    }
}

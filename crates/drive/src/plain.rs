//! The plain command: one extent, nothing of it in the buffer, and nothing that asks for more than the way to it.
//!
//! Under a random load nearly all commands are such, and most of what the general path looks out for cannot happen to
//! them. Here they go through without a plan. The steps are those of the general path, which the event path always
//! takes: the tests that hold the two equal hold this equal, too.

use crate::command::{BusTiming, CacheResult, Command, Outcome, Phases, SectorPassed};
use crate::drive::Drive;
use crate::model::{DriveModel, Sizes};
use crate::read::{LastByte, busy_of, path};
use crate::spec::{DriveSpec, ReadAhead, RotationModel, TransferModel, WritePolicy};
use crate::write::{ByBus, Supply, Walk};
use headstack_units::{Lba, Nanos, Op};
use std::slice::from_ref;

/// Up to how many sectors a command of a drive can be a plain one; 0 where none can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) read: u64,
    pub(crate) write: u64,
}

impl Plain {
    pub(crate) fn new(spec: &DriveSpec, sizes: &Sizes) -> Self {
        let whole_model = spec.fidelity.constant_ms.is_none()
            && spec.fidelity.rotation == RotationModel::Tracked
            && spec.fidelity.transfer == TransferModel::Overlapped;
        let on_arrival = spec
            .cache
            .as_ref()
            .is_some_and(|cache| cache.zero_latency || cache.read_ahead == ReadAhead::OnArrival);
        let read = whole_model && !on_arrival && !spec.buffer.read_fence_at_track_end;
        let write = whole_model
            && !matches!(spec.write_policy, WritePolicy::WriteBack { .. })
            && spec.buffer.write_overlaps_seek
            && !spec.buffer.write_on_arrival
            && sizes.physical == 1;
        Self {
            read: if read { sizes.buffer.min(sizes.bypass) } else { 0 },
            write: if write { sizes.buffer } else { 0 },
        }
    }
}

impl Drive {
    /// Serves a command to which the controller turns at `at`, and tells when it is free again, if the command is a
    /// plain one; otherwise nothing has happened but what would have until then.
    #[inline]
    pub(crate) fn serve_plain(
        &mut self,
        model: &DriveModel,
        command: &Command,
        submitted: Nanos,
        at: Nanos,
        bus: &BusTiming,
        outcome: &mut Outcome,
    ) -> Option<Nanos> {
        self.run_background(at);
        if self.story.is_some() || !self.dirty.is_empty() || self.spindle.changes_by(at) {
            return None;
        }
        match command.op {
            Op::Read => self.read_plain(model, command, submitted, at, bus, outcome),
            Op::Write => self.write_plain(model, command, submitted, at, bus, outcome),
        }
    }

    fn read_plain(
        &mut self,
        model: &DriveModel,
        command: &Command,
        submitted: Nanos,
        at: Nanos,
        bus: &BusTiming,
        outcome: &mut Outcome,
    ) -> Option<Nanos> {
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let end = lba + sectors;
        if sectors > model.plain.read || self.may_know(lba, end) {
            return None;
        }
        // The run to the end of the track is wanted: read-ahead goes on along it.
        let run = model.layout.extent(lba, u64::MAX);
        if u64::from(run.sectors) < sectors {
            return None;
        }
        let target = run.first(sectors);
        self.history.sequential = self.history.read_end == Some(lba);
        let media = Self::media(model, &mut self.spindle, at);
        let overhead = model.overhead.read[self.after_what()];
        let decoded = at + overhead;
        self.forget_written(decoded);
        self.mechanism.settle_stream(&media, &mut self.cache, decoded);
        let lead = Phases { overhead, ..Self::queued(submitted, at) };
        let way = self.approach(&media, (&target, Op::Read), lead, at, decoded);
        let pass = Self::first_pass(&media, &way, target);
        self.leave_track(&media, run, command.sectors, (way.base, pass.end));
        self.note(command);

        let rest = |index: u64| bus.transfer(Op::Read, (sectors - index) * u64::from(model.sector_bytes()));
        let fence = model.sizes.read_fence_of(sectors) - 1;
        // The arm is on track no sooner than the command is decoded, so that every sector comes later.
        let granted = pass.sector_end(&media.epoch, fence as u32 + 1);
        let reconnect = if bus.disconnects { bus.reconnect } else { Nanos::ZERO };
        let on_bus = bus.arbitration + model.overhead.preparation + reconnect + rest(0);
        let passed = Some(SectorPassed { lba: Lba(lba + fence), at: granted });
        let mut last = LastByte { finish: granted + on_bus, binding: None, passed };
        for index in [0, sectors - 1] {
            let arrived =
                if index == fence { granted } else { pass.sector_end(&media.epoch, index as u32 + 1) };
            last.wait_for(lba + index, arrived, rest(index), decoded);
        }
        let by_media = last.binding.unwrap_or(granted);
        let mut phases = path(from_ref(&pass), way.base, by_media, way.media_lead);
        phases.bus += last.finish - by_media;
        phases.overhead += model.overhead.read_completion;
        let mut busy = busy_of(from_ref(&pass), decoded);
        busy.seek += way.hidden_seek;
        busy.bus = last.finish - granted;
        let finish = last.finish + model.overhead.read_completion;
        debug_assert_eq!(finish - phases.total(), submitted, "phases of command {}", command.id);
        let cache = CacheResult::Miss;
        *outcome = Outcome {
            id: command.id,
            submitted,
            finish,
            phases,
            busy,
            bus_data: rest(0),
            bus_transfers: 1,
            cache,
            passed: last.passed,
        };
        Some(pass.end)
    }

    fn write_plain(
        &mut self,
        model: &DriveModel,
        command: &Command,
        submitted: Nanos,
        at: Nanos,
        bus: &BusTiming,
        outcome: &mut Outcome,
    ) -> Option<Nanos> {
        let (lba, sectors) = (command.lba.0, u64::from(command.sectors));
        let end = lba + sectors;
        if sectors > model.plain.write || self.cache.overlaps(lba, end) {
            return None;
        }
        let target = model.layout.extent(lba, sectors);
        if u64::from(target.sectors) < sectors {
            return None;
        }
        self.history.sequential = self.history.read_end == Some(lba);
        let media = Self::media(model, &mut self.spindle, at);
        let overhead = self.write_overhead(model, lba);
        let before_data = model.overhead.write_data.unwrap_or(overhead);
        let queued = Self::queued(submitted, at);
        let (granted, early) = self.admission(command, at + before_data);
        let lead = Phases { overhead, ..queued };
        let way = self.approach(&media, (&target, Op::Write), lead, at, at + overhead);
        // Read-ahead has come to its end by now: the segment may be another's.
        self.cache.keep_written(lba, end);
        self.note(command);

        let setup = bus.arbitration + model.overhead.preparation;
        let mut supply = Supply::new(model, granted + setup, bus, 0, sectors);
        let waited = granted - (at + before_data);
        let by_bus = ByBus { phases: Phases { overhead: before_data, other: waited, ..queued }, granted };
        let first = Self::first_pass(&media, &way, target);
        let mut walk = Walk::new(way.media_lead, by_bus, first, false);
        walk.write_extent(&media, &mut supply, first, 0, sectors);
        let written = walk.end(&supply, sectors, way.hidden_seek);
        Some(self.complete_write(model, command, (way.base, early), &written, outcome))
    }

    /// Whether something of a read may be in the buffer, or come there by itself.
    #[inline]
    fn may_know(&self, lba: u64, end: u64) -> bool {
        self.underway.iter().any(|write| write.start <= lba && end <= write.end)
            || self.cache.may_hold(lba)
            || self
                .mechanism
                .stream
                .as_ref()
                .is_some_and(|stream| stream.may_hold(lba, self.cache.get(stream.segment).start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::RequestFlags;
    use std::sync::Arc;

    /// Without this the comparison with the event path would say nothing.
    #[test]
    fn most_commands_of_a_random_load_are_plain() {
        let text = include_str!("../../../drives/cheetah-9lp.toml");
        let spec = DriveSpec::from_toml("cheetah-9lp", text).unwrap();
        let model = Arc::new(DriveModel::new(&spec).unwrap());
        let (bus, mut drive) = (model.bus(), Drive::new(Arc::clone(&model), 1));
        let mut plain = [0; 2];
        for id in 0..1000_u64 {
            let place = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (drive.capacity_sectors() / 8);
            let op = if id % 2 == 0 { Op::Read } else { Op::Write };
            let flags = RequestFlags::default();
            let command = Command { id, op, lba: Lba(place * 8), sectors: 8, flags };
            let at = Nanos(id * 20_000_000);
            plain[id as usize % 2] += u32::from(
                drive.clone().serve_plain(&model, &command, at, at, &bus, &mut Outcome::default()).is_some(),
            );
            drive.serve(at, command, &bus, &mut Vec::new());
        }
        assert!(plain.iter().all(|&count| count > 450), "{plain:?} of 500 each");
    }
}

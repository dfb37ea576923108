//! The bus is granted: everything else about the command follows.

use crate::command::{Background, BusTiming, Busy, CacheResult, Command, Outcome, Phases, SectorPassed};
use crate::drive::Drive;
use crate::media::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::plan::{LinearPlan, Plan, ReadMode};
use crate::read::{ReadEnd, ReadPlan, path};
use crate::stall::end_with_stalls;
use crate::write::{WriteEnd, WritePlan};
use headstack_units::{Lba, Nanos, Op};
use std::sync::Arc;

/// A command that has come to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The bus is free again.
    pub(crate) bus_free: Nanos,
    /// The controller can turn to the next command.
    pub(crate) controller_free: Nanos,
}

impl Drive {
    /// Ends `plan`, the bus being granted at `granted`.
    pub(crate) fn end(&mut self, mut plan: Plan, granted: Nanos, bus: &BusTiming) -> Ended {
        let model = Arc::clone(&self.model);
        self.end_by(&model, &mut plan, granted, bus)
    }

    /// As [`Drive::end`], the model being at hand.
    #[inline]
    pub(crate) fn end_by(
        &mut self,
        model: &DriveModel,
        plan: &mut Plan,
        granted: Nanos,
        bus: &BusTiming,
    ) -> Ended {
        match plan {
            &mut Plan::Constant(outcome) => {
                Ended { outcome, bus_free: outcome.finish, controller_free: outcome.finish }
            }
            Plan::Read(plan, mode) => self.end_read(model, plan, *mode, granted, bus),
            Plan::Write(plan) => self.end_write(model, plan, granted, bus),
            Plan::Buffered { command, bus_at, lead } => {
                self.end_buffered(command, *bus_at, *lead, granted, bus)
            }
            Plan::Linear(plan) => self.end_linear(plan, granted, bus),
        }
    }

    #[inline]
    fn end_read(
        &mut self,
        model: &DriveModel,
        plan: &mut ReadPlan,
        mode: ReadMode,
        granted: Nanos,
        bus: &BusTiming,
    ) -> Ended {
        let media = Media { model, epoch: plan.epoch };
        let ReadEnd { finish, phases, mut busy, passed } = match mode {
            ReadMode::Settled => plan.end(&media, granted, bus),
            ReadMode::Stalling { first } => end_with_stalls(plan, &media, first, granted, bus),
            ReadMode::Unbuffered { first } => plan.end_unbuffered(&media, first, granted, bus),
        };
        let mut controller_free = plan.media_end();
        if !matches!(mode, ReadMode::Settled) {
            self.tell_plan(plan);
            let lba = plan.command.lba.0;
            self.leave_media(&media, plan, controller_free, None, lba);
            controller_free = controller_free.max(self.mechanism.free_at);
        }
        let bus_free = finish.saturating_sub(model.overhead.read_completion);
        busy.bus = bus_free - granted;
        let bytes = u64::from(plan.command.sectors) * u64::from(model.sector_bytes());
        let outcome = Outcome {
            id: plan.command.id,
            submitted: finish - phases.total(),
            finish,
            phases,
            busy,
            bus_data: bus.transfer(Op::Read, bytes),
            bus_transfers: 1,
            cache: plan.cache,
            passed,
        };
        self.put_by(std::mem::take(&mut plan.passes));
        Ended { outcome, bus_free, controller_free }
    }

    /// Keeps the room that a command's media work took for another command.
    #[inline]
    fn put_by(&mut self, mut passes: Vec<Pass>) {
        if passes.capacity() > 0 {
            passes.clear();
            self.spare_passes.push(passes);
        }
    }

    #[inline]
    fn end_write(&mut self, model: &DriveModel, plan: &WritePlan, granted: Nanos, bus: &BusTiming) -> Ended {
        let media = Media { model, epoch: plan.epoch };
        let end = plan.end(&media, granted, bus, self.story.is_some());
        if let Some(passes) = &end.passes {
            self.tell_write(plan, passes, end.received);
        }
        let mut outcome = Outcome::default();
        let controller_free =
            self.complete_write(model, &plan.command, (plan.media_base, plan.early), &end, &mut outcome);
        Ended { outcome, bus_free: end.received, controller_free }
    }

    /// The mechanism, claimed at `claimed` for a write, has done its work; returns when the controller is free.
    #[inline]
    pub(crate) fn complete_write(
        &mut self,
        model: &DriveModel,
        command: &Command,
        (claimed, early): (Nanos, bool),
        end: &WriteEnd,
        outcome: &mut Outcome,
    ) -> Nanos {
        self.mechanism.release(claimed, end.written, Arm::over(&end.last.extent));
        let completion = model.overhead.write_completion;
        let (finish, mut phases, cache) = if early {
            (end.received, end.received_phases, CacheResult::ReportedEarly)
        } else {
            (end.written, end.written_phases, CacheResult::Miss)
        };
        phases.overhead += completion;
        let finish = finish + completion;
        let mut busy = end.busy;
        let mut controller_free = end.written;
        if early {
            self.remember_underway(command, end.written);
            self.background.push(Background {
                lba: command.lba,
                sectors: command.sectors,
                start: claimed,
                finish: end.written,
                busy: Busy { bus: Nanos::ZERO, ..end.busy },
            });
            busy = Busy { bus: end.busy.bus, ..Busy::default() };
            controller_free = end.received;
        }
        let submitted = finish - phases.total();
        let passed = (!early).then(|| {
            let lba = Lba(end.last.lba() + u64::from(end.last.sectors) - 1);
            SectorPassed { lba, at: end.written }
        });
        *outcome = Outcome {
            id: command.id,
            submitted,
            finish,
            phases,
            busy,
            bus_data: end.on_bus,
            bus_transfers: 1,
            cache,
            passed,
        };
        controller_free
    }

    fn end_buffered(
        &mut self,
        command: &Command,
        bus_at: Nanos,
        lead: Phases,
        granted: Nanos,
        bus: &BusTiming,
    ) -> Ended {
        let bytes = u64::from(command.sectors) * u64::from(self.model.sector_bytes());
        let occupied = bus.arbitration + self.model.overhead.preparation + bus.transfer(Op::Write, bytes);
        let received = granted + occupied;
        self.dirty.insert(command.lba.0, command.lba.0 + u64::from(command.sectors));
        let completion = self.model.overhead.write_completion;
        let mut phases = lead;
        phases.queue += granted - bus_at;
        phases.bus += occupied;
        phases.overhead += completion;
        let finish = received + completion;
        let outcome = Outcome {
            id: command.id,
            submitted: finish - phases.total(),
            finish,
            phases,
            busy: Busy { bus: occupied, ..Busy::default() },
            bus_data: bus.transfer(Op::Write, bytes),
            bus_transfers: 1,
            cache: CacheResult::ReportedEarly,
            passed: None,
        };
        Ended { outcome, bus_free: received, controller_free: received }
    }

    fn end_linear(&mut self, plan: &LinearPlan, granted: Nanos, bus: &BusTiming) -> Ended {
        let command = &plan.command;
        let bytes = u64::from(command.sectors) * u64::from(self.model.sector_bytes());
        let on_bus = bus.transfer(command.op, bytes);
        // A transfer linear in length knows no disconnects.
        let setup = bus.arbitration;
        let completion = match command.op {
            Op::Read => self.model.overhead.read_completion,
            Op::Write => self.model.overhead.write_completion,
        };
        let mut phases = plan.lead;
        phases.queue += granted - plan.bus_at;
        phases.bus += setup;
        phases.seek += plan.switches;
        phases.overhead += completion;
        if on_bus >= plan.media_time {
            phases.bus += on_bus;
        } else {
            phases.transfer += plan.media_time;
        }
        let transferred = granted + setup + plan.switches + on_bus.max(plan.media_time);
        self.mechanism.release(plan.position.begin, transferred, plan.arm);
        let finish = transferred + completion;
        let busy = Busy {
            seek: (plan.position.ready - plan.position.begin) + plan.switches,
            rotation: plan.position.start - plan.position.ready,
            transfer: plan.media_time,
            bus: transferred - granted,
        };
        let submitted = finish - phases.total();
        let outcome = Outcome {
            id: command.id,
            submitted,
            finish,
            phases,
            busy,
            bus_data: on_bus,
            bus_transfers: 1,
            cache: CacheResult::Miss,
            passed: None,
        };
        Ended { outcome, bus_free: transferred, controller_free: transferred }
    }
}

impl ReadPlan {
    /// Without a buffer each sector goes over the bus as it passes: the first pass begins when the bus is there, and the
    /// bus is held to the last.
    fn end_unbuffered(
        &mut self,
        media: &crate::media::Media<'_>,
        first: crate::media::Pass,
        granted: Nanos,
        bus: &BusTiming,
    ) -> ReadEnd {
        let setup = bus.arbitration
            + media.model.overhead.preparation
            + if bus.disconnects { bus.reconnect } else { Nanos::ZERO };
        let connected = granted + setup;
        let mut lead = path(&[first], self.media_base, first.ready, self.media_lead);
        lead.queue += granted - self.bus_at;
        lead.bus += setup;
        let pass = media.pass_from(first.extent, 0, first.sectors, connected, connected, connected);
        let end = self.command.lba.0 + u64::from(self.command.sectors);
        crate::read::passes_in_order(media, pass, end, Op::Read, &mut self.passes);
        let finish = self.media_end();
        let mut phases = path(&self.passes, connected, finish, lead);
        let completion = media.model.overhead.read_completion;
        phases.overhead += completion;
        let mut busy = self.busy(finish - granted);
        busy.seek += first.ready - first.begin;
        let last = Lba(end - 1);
        ReadEnd {
            finish: finish + completion,
            phases,
            busy,
            passed: Some(SectorPassed { lba: last, at: finish }),
        }
    }
}

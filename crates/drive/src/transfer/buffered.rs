//! A write into the write-back cache: it is complete when its data are in the buffer.

use super::destage::{destage_until, make_room};
use super::keep::keep;
use super::path::Beginning;
use super::write::write_overhead;
use super::{AnyTransfer, Need, Parts, Step, Transfer, Turn};
use crate::command::{BusTiming, Busy, CacheResult, Command, Outcome, Phases};
use crate::model::{DriveModel, Store, WriteBack};
use headstack_units::{Nanos, Op};

/// The cache takes a write while the arm works for another command.
pub(crate) fn take_aside(model: &DriveModel, parts: &mut Parts, turn: &Turn) -> AnyTransfer {
    let mut buffered = parts.shelf.buffered();
    buffered.dispatch_aside(model, parts, turn);
    AnyTransfer::Buffered(buffered)
}

/// A write that goes no further than the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffered {
    command: Command,
    need_at: Nanos,
    /// Phases from submission to `need_at`.
    lead: Phases,
    /// Sectors received so far, time the bus was held, and how often.
    received: u64,
    held: Nanos,
    transfers: u32,
    bursts: bool,
    burst: u64,
    /// The arm is at work for another command while these data come.
    is_beside: bool,
}

impl Buffered {
    /// Where there is no room, what is buffered goes to the media first.
    pub(super) fn dispatch(
        &mut self,
        model: &DriveModel,
        write_back: &WriteBack,
        parts: &mut Parts,
        turn: &Turn,
    ) {
        let overhead = write_overhead(model, parts, turn.command.lba.0);
        let decoded = turn.at + overhead;
        let from = make_room(model, write_back, parts, turn.range(), decoded);
        parts.history.note_arm(matches!(write_back.store, Store::Log(_)));
        let lead =
            Beginning { other: turn.flush + (from - decoded), ..turn.decoded_after(overhead) }.phases();
        self.begin(model, turn.command, from, lead);
        parts.log.tell(|narrative| {
            narrative.decoded = decoded;
            narrative.media_base = decoded;
            narrative.room = from;
        });
    }

    /// There is room, and the arm works for another command.
    fn dispatch_aside(&mut self, model: &DriveModel, parts: &mut Parts, turn: &Turn) {
        let overhead = write_overhead(model, parts, turn.command.lba.0);
        let decoded = turn.at + overhead;
        self.begin(model, turn.command, decoded, turn.decoded_after(overhead).phases());
        parts.log.tell(|narrative| (narrative.decoded, narrative.media_base) = (decoded, decoded));
        parts.history.note_aside(&turn.command);
    }

    fn begin(&mut self, model: &DriveModel, command: Command, need_at: Nanos, lead: Phases) {
        let burst = model.bursts.burst;
        *self = Self { command, need_at, lead, burst, ..Self::default() };
    }

    /// Whether the arm is at work for another command.
    pub(super) fn comes_beside(&mut self, is_beside: bool) {
        self.is_beside = is_beside;
    }

    fn sectors(&self) -> u64 {
        u64::from(self.command.sectors)
    }
}

impl Transfer for Buffered {
    fn need(&self) -> Option<Need> {
        let left = self.sectors() - self.received;
        let sectors = if self.bursts { left.min(self.burst) } else { left };
        Some(Need { at: self.need_at, sectors, available_by: None })
    }

    fn controller_free(&self) -> Option<Nanos> {
        None
    }

    fn granted(
        &mut self,
        granted: Nanos,
        bus: &BusTiming,
        model: &DriveModel,
        parts: &mut Parts,
        outcome: &mut Outcome,
    ) -> Step {
        self.bursts = model.bursts.apply_on(bus, Op::Write);
        let left = self.sectors() - self.received;
        let sectors = if self.bursts { left.min(self.burst) } else { left };
        let bytes = u64::from(model.sector_bytes());
        let occupied =
            bus.arbitration + model.overhead.preparation + bus.transfer(Op::Write, sectors * bytes);
        let received = granted + occupied;
        self.received += sectors;
        self.lead.queue += granted - self.need_at;
        self.lead.bus += occupied;
        self.held += occupied;
        self.transfers += 1;
        parts.log.tell(|narrative| narrative.transfers.push((granted, received)));
        if self.received < self.sectors() {
            self.need_at = received;
            return Step::Again { bus_free: received };
        }
        let lba = self.command.lba.0;
        // What began before these data came began without them.
        if self.is_beside {
            parts.buffer.destaged_to(received);
        } else {
            destage_until(model, parts, received);
        }
        let store = model.write_back.as_ref().map_or(&Store::Buffer, |cache| &cache.store);
        let kept = keep(model, store, parts, self.sectors(), received);
        parts.buffer.take(model, (lba, lba + self.sectors()), kept.at);
        let completion = model.overhead.write_completion;
        let phases = Phases {
            overhead: self.lead.overhead + completion,
            seek: kept.phases.seek,
            rotation: kept.phases.rotation,
            transfer: kept.phases.transfer,
            other: self.lead.other + kept.phases.other,
            ..self.lead
        };
        let finish = kept.at + completion;
        *outcome = Outcome {
            id: self.command.id,
            submitted: finish - phases.total(),
            finish,
            phases,
            busy: Busy { bus: self.held, ..kept.busy },
            bus_data: bus.transfer(Op::Write, self.sectors() * bytes),
            bus_transfers: self.transfers,
            cache: CacheResult::ReportedEarly,
            ended: None,
            passed: None,
        };
        Step::Done { bus_free: received, controller_free: kept.at }
    }
}

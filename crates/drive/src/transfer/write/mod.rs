//! A write that goes to the media: data come over the bus into the buffer while the arm moves, and go to the media from
//! there; data that come late cost a revolution. Where the drive reports early, the command is complete when its data
//! are in the buffer, and the rest is background work.

mod edges;
mod supply;
mod walk;

pub(super) use edges::Edges;

use super::approach::Approach;
use super::linear::Linear;
use super::path::{busy_of, path};
use super::{AnyTransfer, Need, Parts, Step, Transfer, Turn};
use crate::command::{
    Background, BusTiming, Busy, CacheResult, Command, Outcome, Phases, SectorPassed, Work as Kind,
};
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::spec::{TransferModel, WritePolicy};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use smallvec::SmallVec;
use supply::Supply;
use walk::{ByBus, Walk, Work};

/// A write on its way to the media.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    command: Command,
    /// The bus is wanted from here on, and the phases from submission to there.
    need_at: Nanos,
    need_lead: Phases,
    /// The mechanism turns to it here, and the phases from submission to there.
    media_base: Nanos,
    media_lead: Phases,
    /// When the mechanism was claimed: the work counts from here on.
    claimed: Nanos,
    /// The first pass over the media as far as the arm is concerned.
    first: Pass,
    /// What goes to the media: the command's sectors, or the whole physical sectors around them.
    work: Work,
    /// Reported complete when the data are in the buffer.
    early: bool,
    /// The rotation it was planned with.
    epoch: Epoch,
    /// The bus is wanted only after mechanical work.
    after_mechanics: bool,
    linear: Option<Box<Linear>>,
    /// Gross work so far: of the mechanism before it writes, and of the bus.
    busy: Busy,
    /// What has come over the bus, by which path, and how often.
    supply: Option<Box<Supply>>,
    by_bus: SmallVec<[(u64, ByBus); 1]>,
    transfers: u32,
    /// Sectors of the next bus transfer.
    planned: u64,
    bursts: bool,
}

/// How the media work and the data ended.
struct WriteEnd {
    received: Nanos,
    received_phases: Phases,
    written: Nanos,
    written_phases: Phases,
    /// Of the mechanism.
    busy: Busy,
    last: Pass,
    on_bus: Nanos,
}

/// The sectors of a write leave the read cache.
#[inline]
pub(super) fn make_way(media: &Media<'_>, parts: &mut Parts, turn: &Turn) {
    if let Some(release) = parts.buffer.overwrite(media, turn.range(), turn.at) {
        parts.mechanism.rest(release);
    }
}

/// What preparing a write takes: less where the drive is already, behind the write before it or on the track of the
/// command before it.
#[inline]
pub(super) fn write_overhead(model: &DriveModel, parts: &Parts, lba: u64) -> Nanos {
    // Asked only where it makes a difference: it takes a look at the layout.
    let differ = model.overhead.append != model.overhead.write;
    let history = &parts.history;
    let is_there = || {
        history.continues_write(lba) || model.layout.share_track(history.last_lba().saturating_sub(1), lba)
    };
    let kinds = if differ && is_there() { &model.overhead.append } else { &model.overhead.write };
    kinds[history.after()]
}

/// Whether a write is reported when its data are in the buffer (Ruemmler & Wilkes: the first write since a read, or a
/// sequential extension of the last write, unless marked otherwise).
#[inline]
fn reports_early(model: &DriveModel, parts: &Parts, command: &Command) -> bool {
    let WritePolicy::ImmediateReporting { pending_writes, .. } = model.spec().write_policy else {
        return false;
    };
    !command.flags.contains(RequestFlags::FORCE_MEDIA)
        && u64::from(command.sectors) <= model.sizes.buffer
        && (pending_writes.is_some()
            || parts.history.after() == 0
            || parts.history.continues_write(command.lba.0))
}

impl Write {
    /// The controller turns to a write that goes to the media.
    #[inline]
    pub(super) fn dispatch(media: &Media<'_>, parts: &mut Parts, turn: &Turn) -> Self {
        let model = media.model;
        let (lba, end) = turn.range();
        let &Turn { command, at, .. } = turn;
        let overhead = write_overhead(model, parts, lba);
        let lead = Phases { overhead, ..turn.phases() };
        let before_data = model.overhead.write_data.unwrap_or(overhead);
        let data_from = at + before_data;
        let early = reports_early(model, parts, &command);
        let counts = early && !parts.history.continues_write(lba);
        let need_at = parts.buffer.early.admit(model, (lba, end), counts, data_from);
        let target = model.layout.extent(lba, end - lba);
        let approach = Approach::new(parts, media, (&target, Op::Write), lead, at, at + overhead);
        // Read-ahead has come to its end by now: the segment may be another's.
        parts.buffer.keep_written(lba, end);
        let drawn = approach.rotate(parts, media, at, target);
        let media = drawn.as_ref().unwrap_or(media);
        let mut write = Self {
            command,
            need_at,
            need_lead: Phases { overhead: before_data, other: turn.flush + (need_at - data_from), ..lead },
            media_base: approach.base,
            media_lead: approach.media_lead,
            claimed: approach.base,
            first: approach.first_pass(media, target),
            work: Work { lba, sectors: end - lba },
            early,
            epoch: media.epoch,
            after_mechanics: false,
            busy: Busy { seek: approach.hidden_seek, ..Busy::default() },
            linear: None,
            supply: None,
            by_bus: SmallVec::new(),
            planned: end - lba,
            transfers: 0,
            bursts: false,
        };
        approach.tell(parts);
        if model.spec().fidelity.transfer == TransferModel::Linear {
            let linear = Linear::new(media, &approach, write.first, end, Op::Write);
            if !early {
                (write.need_at, write.need_lead) = (linear.position.start, linear.lead);
            }
            write.linear = Some(Box::new(linear));
            return write;
        }
        if model.sizes.physical != 1 {
            write.read_physical_sectors(media, parts, &approach);
        }
        if !model.spec().buffer.write_overlaps_seek || model.sizes.buffer == 0 {
            let ready = write.first.ready;
            if ready > write.need_at {
                write.need_at = ready;
                write.need_lead = path(&[write.first], write.media_base, ready, write.media_lead);
                write.after_mechanics = true;
            }
        }
        write
    }

    /// A write that covers part of a physical sector reads it first, and writes it when it comes around again.
    fn read_physical_sectors(&mut self, media: &Media<'_>, parts: &mut Parts, approach: &Approach) {
        let edges = Edges::of(media, self.work.lba, self.work.lba + self.work.sectors);
        let Some((from, to)) = edges.reads().next() else { return };
        let target = media.model.layout.extent(from, to - from);
        let seek = media.seek(approach.arm, &target, Op::Write);
        let passes = edges.passes(media, Approach { seek, ..*approach }.first_pass(media, target));
        let last = *passes.last().expect("a read has media work");
        self.media_lead = path(&passes, self.media_base, last.end, self.media_lead);
        self.media_base = last.end;
        self.busy += busy_of(&passes, Nanos::ZERO);
        let (start, stop, _) = edges.write();
        self.work = Work { lba: start, sectors: stop - start };
        let target = media.model.layout.extent(start, stop - start);
        let seek = media.seek(Arm::over(&last.extent), &target, Op::Write);
        self.first = media.first_pass(last.end, last.end, seek, target);
        parts.log.tell(|narrative| {
            narrative.reads_first = true;
            narrative.passes = passes.to_vec();
        });
    }

    /// What the bus takes before the first byte.
    #[inline]
    fn setup(&self, model: &DriveModel, bus: &BusTiming) -> Nanos {
        let reconnects = bus.disconnects && (self.after_mechanics || self.transfers > 0);
        bus.arbitration + model.overhead.preparation + if reconnects { bus.reconnect } else { Nanos::ZERO }
    }

    /// The path over the bus, granted now.
    #[inline]
    fn granted_path(&self, granted: Nanos) -> ByBus {
        let phases = Phases { queue: self.need_lead.queue + (granted - self.need_at), ..self.need_lead };
        ByBus { phases, granted }
    }

    /// The media work, as far as the data that have come allow, and how many sectors of it are done.
    #[inline]
    fn walk<'a>(
        &'a self,
        media: &Media<'_>,
        supply: &mut Supply,
        prepare: impl FnOnce(Walk<'a>) -> Walk<'a>,
        tells: bool,
    ) -> Walk<'a> {
        let mut walk = prepare(Walk::new(self.media_lead, &self.by_bus, self.first, tells));
        supply.rewind();
        walk.run(media, supply, self.first, self.work);
        walk
    }

    /// A burst has come by `received`: when the bus is needed for the next, of how many sectors, and by which path.
    fn plan_next(&mut self, media: &Media<'_>, supply: &mut Supply, received: Nanos) {
        let bursts = &media.model.bursts;
        let left = supply.count() - supply.come();
        let by_bus = self.by_bus.last().map(|(_, by_bus)| *by_bus);
        self.need_at = received;
        self.need_lead = by_bus.map_or(self.need_lead, |by_bus| by_bus.until(received));
        let free = supply.room().saturating_sub(supply.come());
        if free > 0 {
            self.planned = left.min(bursts.burst).min(free);
            return;
        }
        // The buffer has been full: there is room where the media have taken data out.
        self.planned = left.min(bursts.burst).min(bursts.room).min(supply.room());
        let walk = self.walk(media, supply, Walk::with_marks, false);
        let taken = supply.come() + self.planned - supply.room();
        if let Some(at) = supply.room_for(taken)
            && at >= received
        {
            let phases = walk.phases_at(at);
            (self.need_at, self.need_lead) = (at, phases);
        }
    }

    /// All data have come or are coming: how the write ends.
    #[inline]
    fn end(&self, media: &Media<'_>, supply: &mut Supply, parts: &mut Parts) -> WriteEnd {
        let walk = self.walk(media, supply, |walk| walk, parts.log.is_heard());
        if let Some(passes) = &walk.passes {
            parts.log.tell(|narrative| narrative.passes.extend_from_slice(passes));
        }
        let received = supply.arrival(self.work.sectors - 1);
        let by_bus = self.by_bus.last().expect("the bus was granted").1;
        WriteEnd {
            received,
            received_phases: by_bus.until(received),
            written: walk.last.end,
            written_phases: walk.phases,
            busy: walk.busy,
            last: walk.last,
            on_bus: supply.on_bus(),
        }
    }

    /// The command is complete when its data are on the media, or, reported early, in the buffer; returns when the
    /// controller is free.
    #[inline]
    fn complete(
        &self,
        model: &DriveModel,
        parts: &mut Parts,
        end: &WriteEnd,
        outcome: &mut Outcome,
    ) -> Nanos {
        let command = &self.command;
        let kind = if self.early { Kind::EarlyWrite } else { Kind::Command };
        parts.mechanism.release(kind, self.claimed, end.written, Arm::over(&end.last.extent));
        let (finish, mut phases, cache) = if self.early {
            (end.received, end.received_phases, CacheResult::ReportedEarly)
        } else {
            (end.written, end.written_phases, CacheResult::Miss)
        };
        let completion = model.overhead.write_completion;
        phases.overhead += completion;
        let finish = finish + completion;
        let mut busy = self.busy + end.busy;
        let mut controller_free = end.written;
        if self.early {
            let lba = command.lba.0;
            parts.buffer.early.add(lba, lba + u64::from(command.sectors), end.written);
            parts.log.add(Background {
                work: Kind::EarlyWrite,
                lba: command.lba,
                sectors: command.sectors,
                start: self.claimed,
                finish: end.written,
                busy: Busy { bus: Nanos::ZERO, ..busy },
            });
            busy = Busy { bus: busy.bus, ..Busy::default() };
            controller_free = end.received;
        }
        let passed = (!self.early && self.linear.is_none()).then(|| {
            let lba = Lba(end.last.end_lba() - 1);
            SectorPassed { lba, at: end.written }
        });
        *outcome = Outcome {
            id: command.id,
            submitted: finish - phases.total(),
            finish,
            phases,
            busy,
            bus_data: end.on_bus,
            bus_transfers: self.transfers,
            cache,
            passed,
        };
        controller_free
    }

    /// As [`Write::end`] where the transfer is linear in length. Data of a write that is reported early go into the buffer
    /// before.
    fn end_linear(&self, linear: &Linear, granted: Nanos, bus: &BusTiming, on_bus: Nanos) -> WriteEnd {
        let end = linear.end(granted.max(linear.position.start), bus, on_bus);
        let last = Pass { extent: linear.last, ..linear.position };
        if self.early {
            let received = granted + bus.arbitration + on_bus;
            let written = linear.media_end().max(received);
            return WriteEnd {
                received,
                received_phases: self.granted_path(granted).until(received),
                written,
                written_phases: Phases::default(),
                busy: linear.busy(),
                last,
                on_bus,
            };
        }
        WriteEnd {
            received: end.transferred,
            received_phases: end.phases,
            written: end.transferred,
            written_phases: end.phases,
            busy: linear.busy(),
            last,
            on_bus,
        }
    }
}

impl From<Write> for AnyTransfer {
    fn from(transfer: Write) -> Self {
        Self::Write(Box::new(transfer))
    }
}

impl Transfer for Write {
    #[inline]
    fn need(&self) -> Option<Need> {
        Some(Need { at: self.need_at, sectors: self.planned, available_by: None })
    }

    #[inline]
    fn controller_free(&self) -> Option<Nanos> {
        None
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
        let bytes = u64::from(model.sector_bytes());
        let sectors = u64::from(self.command.sectors);
        let end = if let Some(linear) = &self.linear {
            self.end_linear(linear, granted, bus, bus.transfer(Op::Write, sectors * bytes))
        } else {
            let lead_in = self.command.lba.0 - self.work.lba;
            let mut supply = match self.supply.take() {
                Some(supply) => *supply,
                None => Supply::new(model.sector_bytes(), model.sizes.buffer, bus, lead_in, sectors),
            };
            if self.transfers == 0 {
                self.bursts = model.bursts.apply_on(bus, Op::Write);
                let most = model.bursts.burst.min(model.sizes.buffer.max(1));
                self.planned = if self.bursts { sectors.min(most) } else { sectors };
            }
            supply.add(self.planned, granted + self.setup(model, bus), self.bursts);
            self.by_bus.push((supply.come(), self.granted_path(granted)));
            if supply.come() < sectors {
                let received = supply.arrival(supply.come() - 1 + lead_in);
                self.transfers += 1;
                self.busy.bus += received - granted;
                parts.log.tell(|narrative| narrative.transfers.push((granted, received)));
                self.plan_next(&media, &mut supply, received);
                self.supply = Some(Box::new(supply));
                return Step::Again { bus_free: received };
            }
            self.end(&media, &mut supply, parts)
        };
        self.transfers += 1;
        self.busy.bus += end.received - granted;
        parts.log.tell(|narrative| narrative.transfers.push((granted, end.received)));
        let controller_free = self.complete(model, parts, &end, outcome);
        Step::Done { bus_free: end.received, controller_free }
    }
}

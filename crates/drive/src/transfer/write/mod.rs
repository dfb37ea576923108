//! A write that goes to the media: data come over the bus into the buffer while the arm moves, and go to the media from
//! there; data that come late cost a revolution. Where the drive reports early, the command is complete when its data
//! are in the buffer, and the rest is background work.

mod edges;
mod supply;
mod walk;

pub(super) use edges::Edges;

use super::approach::Approach;
use super::linear::Linear;
use super::path::{Beginning, busy_of, path};
use super::{Need, Parts, Step, Transfer, Turn};
use crate::command::{
    Background, BusTiming, Busy, CacheResult, Command, Outcome, Phases, SectorPassed, Work as Kind,
};
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Pass, Still};
use crate::model::DriveModel;
use crate::spec::{TransferModel, WritePolicy};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use supply::Supply;
use walk::{ByBus, Sure, Walk, Work};

/// Debug builds check a walk that is taken up for writes of so many sectors.
const CHECKED: u64 = 4096;

/// A write on its way to the media.
#[derive(Clone, Debug, Default)]
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
    /// It continues a write on its way to the media: if its data come in time they go there with that, and once more.
    written_again: bool,
    /// It follows a write elsewhere, so that its seek begins later.
    is_delayed: bool,
    /// The rotation it was planned with.
    epoch: Epoch,
    /// The heads that write, if they stand still.
    still: Option<Still>,
    /// The bus is wanted only after mechanical work.
    after_mechanics: bool,
    linear: Option<Box<Linear>>,
    /// Gross work so far: of the mechanism before it writes, and of the bus.
    busy: Busy,
    /// What has come over the bus, by which path, and how often.
    supply: Supply,
    by_bus: Vec<(u64, ByBus)>,
    transfers: u32,
    /// Sectors of the next bus transfer.
    planned: u64,
    bursts: bool,
    /// In bursts: how far the media work is known, so that each need not follow it from the beginning.
    sure: Option<Box<Sure>>,
}

/// How the media work and the data ended.
struct WriteEnd {
    received: Nanos,
    written: Nanos,
    /// Phases up to the one that completes the command.
    phases: Phases,
    /// Of the mechanism.
    busy: Busy,
    /// Where the arm is, and one after the last address written.
    arm: Arm,
    end_lba: u64,
    /// Data came too late for a sector.
    waited: bool,
}

/// The sectors of a write leave the read cache.
#[inline]
pub(super) fn make_way(media: &Media<'_>, parts: &mut Parts, turn: &Turn) {
    if let Some(release) = parts.buffer.overwrite(media, turn.range(), turn.at) {
        parts.mechanism.rest(media, release, turn.at);
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
    !command.flags.has_any(RequestFlags::FORCE_MEDIA.with(RequestFlags::WRITE_SAME))
        && u64::from(command.sectors) <= model.sizes.buffer
        && (pending_writes.is_some()
            || parts.history.after() == 0
            || parts.history.continues_write(command.lba.0))
}

/// When the media can begin to write, for the data's part: over the bus the drive came with, granted as soon as it is asked for. They
/// may come from `need_at` on, and where they do not come beside the seek, from `ready` on.
fn first_data(model: &DriveModel, (need_at, ready): (Nanos, Nanos), sectors: u64) -> Nanos {
    let beside_seek = model.spec().buffer.write_overlaps_seek && model.sizes.buffer != 0;
    let from = if beside_seek { need_at } else { need_at.max(ready) };
    let first = model.sizes.write_fence_of(sectors).unwrap_or(1).min(sectors);
    let bus = model.bus();
    let on_bus = bus.transfer(Op::Write, first * u64::from(model.sector_bytes()));
    from + bus.arbitration + on_bus + model.overhead.write_start
}

impl Write {
    /// The controller turns to a write that goes to the media. `PLAIN` where the model is, as with most drives.
    pub(super) fn dispatch<const PLAIN: bool>(&mut self, media: &Media<'_>, parts: &mut Parts, turn: &Turn) {
        let model = media.model;
        let (lba, end) = turn.range();
        let &Turn { command, at, .. } = turn;
        let overhead = write_overhead(model, parts, lba);
        let lead = turn.decoded_after(overhead);
        let before_data = model.overhead.write_data.unwrap_or(overhead);
        let data_from = at + before_data;
        let early = reports_early(model, parts, &command);
        let appends = parts.appends(turn);
        let waits = model.rules.waits_for_early_writes && !appends;
        let counts = early && (waits || !parts.history.continues_write(lba));
        let need_at = parts.buffer.early.admit(model, (lba, end), counts, data_from);
        let target = model.layout.extent(lba, end - lba);
        let looks_up = model.rules.looks_up_received;
        let held = if looks_up { parts.stop_read_ahead(media, at) } else { Nanos::ZERO };
        let goal = (&target, Op::Write, command.sectors);
        let approach = Approach::new::<PLAIN>(parts, media, goal, lead, (at, held), at + overhead);
        // Read-ahead has come to its end by now: the segment may be another's.
        parts.buffer.keep_written(lba, end, appends);
        let (mut goal, mut first_op, mut data_at) = (target, Op::Write, Nanos::ZERO);
        if !PLAIN && model.scales_rotation() {
            let media = parts.mechanism.under_heads(media);
            let edges = Edges::of(&media, lba, end);
            goal = edges.first(&media);
            if edges.reads().next().is_none() {
                let ready = approach.first_pass(&media, target).ready;
                data_at = first_data(model, (need_at, ready), end - lba);
            } else {
                first_op = Op::Read;
            }
        }
        let drawn = approach.rotate::<PLAIN>(parts, media, at, (goal, first_op), data_at);
        let media = drawn.as_ref().unwrap_or(media);
        self.command = command;
        self.need_at = need_at;
        let waited = turn.flush + (need_at - data_from);
        self.need_lead = Beginning { overhead: before_data, other: waited, ..lead }.phases();
        self.first = approach.first_pass(media, target);
        if !PLAIN && model.arms_overlap {
            let ends = self.first.end_lba() == end && model.sizes.physical == 1;
            self.first = parts.mechanism.through_channel(media, at, self.first, ends);
        }
        self.work = Work { lba, sectors: end - lba };
        self.early = early;
        self.written_again = early && appends && model.rules.appends_twice && approach.goes_on;
        self.is_delayed = parts.history.after() == 1 && !parts.history.continues_write(lba);
        self.begin(media, &approach);
        self.after_mechanics = early && model.rules.waits_for_early_writes && need_at > data_from;
        approach.tell(parts);
        if model.spec().fidelity.transfer == TransferModel::Linear {
            let linear = Linear::new(media, &approach, self.first, end, Op::Write);
            if !early {
                (self.need_at, self.need_lead) = (linear.position.start, linear.lead);
            }
            self.linear = Some(Box::new(linear));
            return;
        }
        if model.sizes.physical != 1 {
            self.read_physical_sectors(media, parts, &approach);
        }
        if !model.spec().buffer.write_overlaps_seek || model.sizes.buffer == 0 {
            let ready = self.first.ready;
            if ready > self.need_at {
                self.need_at = ready;
                self.need_lead = path(&[self.first], self.media_base, ready, self.media_lead);
                self.after_mechanics = true;
            }
        }
    }

    /// The arm sets out. What a write held that was here before is gone.
    #[inline]
    fn begin(&mut self, media: &Media<'_>, approach: &Approach) {
        self.set_out(approach);
        (self.epoch, self.still) = (media.epoch, media.still);
        self.after_mechanics = false;
        self.linear = None;
        self.by_bus.clear();
        self.planned = self.work.sectors.min(self.command.sectors_on_bus());
        self.transfers = 0;
        self.bursts = false;
        self.sure = None;
    }

    /// Where the media work begins.
    #[inline]
    fn set_out(&mut self, approach: &Approach) {
        self.media_base = approach.base;
        self.media_lead = approach.media_lead.phases();
        // A seek beside the overhead is work, too.
        self.claimed = approach.base - approach.hidden_seek;
        self.busy = Busy { seek: approach.hidden_seek, ..Busy::default() };
    }

    /// A write that covers part of a physical sector reads it first, and writes it when it comes around again.
    fn read_physical_sectors(&mut self, media: &Media<'_>, parts: &mut Parts, approach: &Approach) {
        let edges = Edges::of(media, self.work.lba, self.work.lba + self.work.sectors);
        let Some((from, to)) = edges.reads().next() else { return };
        let target = media.extent(from, to - from);
        // What is read needs no settling for a write.
        let approach = &approach.by_way_of(media.seek(approach.arm, &target, Op::Read));
        self.set_out(approach);
        approach.tell(parts);
        let mut first = approach.first_pass(media, target);
        if media.model.arms_overlap {
            first = parts.mechanism.through_channel(media, approach.base, first, false);
        }
        let passes = edges.passes(media, first);
        let last = *passes.last().expect("a read has media work");
        self.media_lead = path(&passes, self.media_base, last.end, self.media_lead);
        self.media_base = last.end;
        self.busy += busy_of(&passes, Nanos::ZERO);
        let (start, stop, _) = edges.write();
        self.work = Work { lba: start, sectors: stop - start };
        let target = media.extent(start, stop - start);
        let seek = media.seek(Arm::over(&last.extent), &target, Op::Write);
        self.first = media.first_pass(last.end, last.end, seek, target);
        parts.log.tell(|narrative| {
            narrative.reads_first = true;
            narrative.passes.clone_from(&passes);
        });
    }

    /// What the host asked for.
    pub(crate) fn command(&self) -> &Command {
        &self.command
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

    /// A burst has come by `received`: when the bus is needed for the next, of how many sectors, and by which path.
    fn plan_next(&mut self, media: &Media<'_>, received: Nanos) {
        let bursts = &media.model.bursts;
        let supply = &mut self.supply;
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
        // The media work, as far as the data that have come allow.
        let mut walk = Walk::new(self.media_lead, &self.by_bus);
        let sure = self.sure.get_or_insert_with(|| Box::new(Sure::before(self.first, self.media_lead)));
        walk.run_on(media, supply, sure, self.work);
        // The naive twin, in debug builds: from the beginning, it comes to the same.
        debug_assert!(
            supply.come() > CHECKED || {
                let mut anew = Walk::new(self.media_lead, &self.by_bus);
                anew.run(media, &mut supply.clone(), &self.first, self.work);
                (anew.end, anew.phases, anew.busy, anew.waited)
                    == (walk.end, walk.phases, walk.busy, walk.waited)
            },
            "a walk that was taken up differs from one from the beginning"
        );
        let taken = supply.come() + self.planned - supply.room();
        if let Some(at) = supply.room_for(taken)
            && at >= received
        {
            let phases = walk.phases_at(at);
            (self.need_at, self.need_lead) = (at, phases);
        }
        sure.take_marks(walk.marks.take());
    }

    /// All data have come or are coming: how the write ends.
    #[inline]
    fn end(&mut self, media: &Media<'_>, parts: &mut Parts) -> WriteEnd {
        let mut walk = Walk::new(self.media_lead, &self.by_bus);
        if parts.log.is_heard() {
            walk.passes = Some(Vec::new());
        }
        walk.run(media, &mut self.supply, &self.first, self.work);
        if let Some(passes) = &walk.passes {
            parts.log.tell(|narrative| narrative.passes.extend_from_slice(passes));
        }
        let arrived = self.supply.arrival(self.work.sectors - 1);
        // Without a buffer the last byte leaves the bus with its sector.
        let received = if media.model.sizes.buffer == 0 { walk.end } else { arrived };
        WriteEnd {
            received,
            written: walk.end,
            phases: if self.early {
                self.by_bus.last().expect("the bus was granted").1.until(received)
            } else {
                walk.phases
            },
            busy: walk.busy,
            arm: walk.arm,
            end_lba: walk.end_lba,
            waited: walk.waited,
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
        on_bus: Nanos,
        outcome: &mut Outcome,
    ) -> Nanos {
        let command = &self.command;
        let kind = if self.early { Kind::EarlyWrite } else { Kind::Command };
        parts.mechanism.release(kind, self.claimed, end.written, end.arm);
        let overhead = &model.overhead;
        let completion =
            if self.is_delayed { overhead.delayed_write_completion } else { overhead.write_completion };
        let finish = completion + if self.early { end.received } else { end.written };
        let busy = self.busy + end.busy;
        outcome.id = command.id;
        outcome.finish = finish;
        outcome.phases = end.phases;
        outcome.phases.overhead += completion;
        outcome.submitted = finish - outcome.phases.total();
        outcome.bus_data = on_bus;
        outcome.bus_transfers = self.transfers;
        if !self.early {
            outcome.busy = busy;
            outcome.cache = CacheResult::Miss;
            let passed = SectorPassed { lba: Lba(end.end_lba - 1), at: end.written };
            outcome.passed = self.linear.is_none().then_some(passed);
            return parts.controller_free(model, (command, end.received), end.written);
        }
        outcome.busy = Busy { bus: busy.bus, ..Busy::default() };
        outcome.cache = CacheResult::ReportedEarly;
        outcome.passed = None;
        let lba = command.lba.0;
        let after = lba + u64::from(command.sectors);
        parts.buffer.early.add(lba, after, end.written);
        if self.written_again && !end.waited {
            parts.buffer.early.add_again(lba, after);
        }
        parts.log.add(Background {
            work: Kind::EarlyWrite,
            lba: command.lba,
            sectors: command.sectors,
            start: self.claimed,
            finish: end.written,
            busy: Busy { bus: Nanos::ZERO, ..busy },
        });
        if model.arms_overlap {
            parts.under_way.add(command, end.written);
            parts.mechanism.leave_channel(end.written);
        }
        end.received
    }

    /// As [`Write::end`] where the transfer is linear in length. Data of a write that is reported early go into the buffer
    /// before.
    fn end_linear(&self, linear: &Linear, granted: Nanos, bus: &BusTiming, on_bus: Nanos) -> WriteEnd {
        let (received, written, phases) = if self.early {
            let received = granted + bus.arbitration + on_bus;
            (received, linear.media_end().max(received), self.granted_path(granted).until(received))
        } else {
            let end = linear.end(granted.max(linear.position.start), bus, on_bus);
            (end.transferred, end.transferred, end.phases)
        };
        let arm = Arm::over(&linear.last);
        WriteEnd {
            received,
            written,
            phases,
            busy: linear.busy(),
            arm,
            end_lba: linear.position.end_lba(),
            waited: false,
        }
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
        let media = Media { model, epoch: self.epoch, still: self.still };
        let bytes = u64::from(model.sector_bytes());
        let sectors = self.command.sectors_on_bus();
        let on_bus = bus.transfer(Op::Write, sectors * bytes);
        let end = if let Some(linear) = &self.linear {
            self.end_linear(linear, granted, bus, on_bus)
        } else {
            if self.transfers == 0 {
                let lead_in = self.command.lba.0 - self.work.lba;
                self.supply.begin(model.sector_bytes(), model.sizes.buffer, bus, lead_in, sectors);
                self.bursts = model.bursts.apply_on(bus, Op::Write);
                let most = model.bursts.burst.min(model.sizes.buffer.max(1));
                self.planned = if self.bursts { sectors.min(most) } else { sectors };
            }
            self.supply.add(self.planned, granted + self.setup(model, bus), self.bursts);
            let come = self.supply.come();
            self.by_bus.push((come, self.granted_path(granted)));
            if come < sectors {
                let received = self.supply.arrival(come - 1 + self.supply.lead_in());
                self.transfers += 1;
                self.busy.bus += received - granted;
                parts.log.tell(|narrative| narrative.transfers.push((granted, received)));
                self.plan_next(&media, received);
                return Step::Again { bus_free: received };
            }
            self.end(&media, parts)
        };
        self.transfers += 1;
        self.busy.bus += end.received - granted;
        parts.log.tell(|narrative| narrative.transfers.push((granted, end.received)));
        let controller_free = self.complete(model, parts, &end, on_bus, outcome);
        Step::Done { bus_free: end.received, controller_free }
    }
}

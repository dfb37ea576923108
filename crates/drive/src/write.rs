//! A write once the controller has turned to it: data come over the bus into the buffer while the arm moves, and go to
//! the media from there; data that come late cost a revolution.

use crate::command::{BusTiming, Busy, Command, Phases};
use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::media::{Arm, Media, Pass};
use crate::model::DriveModel;
use crate::read::add_busy;
use headstack_units::{Nanos, Op};

/// Everything about a write that is known before the bus is granted.
#[derive(Clone, Debug)]
pub(crate) struct WritePlan {
    pub(crate) command: Command,
    /// When the command is decoded, as far as the arm is concerned.
    pub(crate) decoded: Nanos,
    /// The bus is wanted from here on, and the phases from submission to there.
    pub(crate) bus_at: Nanos,
    pub(crate) bus_lead: Phases,
    /// The mechanism turns to it here, and the phases from submission to there.
    pub(crate) media_base: Nanos,
    pub(crate) media_lead: Phases,
    /// The arm before the write, and the instant before which it is not counted as on track.
    pub(crate) arm: Arm,
    pub(crate) not_before: Nanos,
    /// The first extent of what goes to the media, and what moving the arm there takes.
    pub(crate) target: Extent,
    pub(crate) seek: Nanos,
    /// Arm movement hidden under the overhead.
    pub(crate) hidden_seek: Nanos,
    /// What goes to the media: the command's sectors, or the whole physical sectors around them.
    pub(crate) media_lba: u64,
    pub(crate) media_sectors: u64,
    /// Reported complete when the data are in the buffer.
    pub(crate) early: bool,
    /// The rotation the plan was made with.
    pub(crate) epoch: Epoch,
    /// The bus is wanted only after mechanical work.
    pub(crate) after_mechanics: bool,
}

/// How a write ends.
#[derive(Clone, Debug)]
pub(crate) struct WriteEnd {
    /// All data are in the buffer; the bus is free.
    pub(crate) received: Nanos,
    /// Phases from submission to `received`.
    pub(crate) received_phases: Phases,
    /// All data are on the media.
    pub(crate) written: Nanos,
    /// Phases from submission to `written`.
    pub(crate) written_phases: Phases,
    pub(crate) busy: Busy,
    /// What the data take at the bus's rate.
    pub(crate) on_bus: Nanos,
    /// The last of the media work.
    pub(crate) last: Pass,
    /// All of it, in order, where somebody wants to look at it.
    pub(crate) passes: Option<Vec<Pass>>,
}

/// When the data of each sector are in the buffer.
pub(crate) struct Supply {
    begin: Nanos,
    sector_bytes: u64,
    bus: BusTiming,
    /// Sectors of the media's first physical sector that come from the media themselves, and sectors that come at all.
    lead_in: u64,
    count: u64,
    /// Sectors the buffer holds.
    room: u64,
    /// Arrivals of the sectors that had to wait for room: of sector `room`, and so on; only in writes larger than the
    /// buffer.
    waited: Vec<Nanos>,
}

impl Supply {
    /// Data that come from `begin` on for `count` sectors, the first `lead_in` sectors of the media work not counted.
    #[inline]
    pub(crate) fn new(model: &DriveModel, begin: Nanos, bus: &BusTiming, lead_in: u64, count: u64) -> Self {
        Self {
            begin,
            sector_bytes: u64::from(model.sector_bytes()),
            bus: *bus,
            lead_in,
            count,
            room: model.sizes.buffer.max(1),
            waited: Vec::new(),
        }
    }

    /// Sector `index` (0 for the first) is in the buffer; [`Nanos::MAX`] while there is no room for it.
    fn arrival(&self, index: u64) -> Nanos {
        let index = index.saturating_sub(self.lead_in).min(self.count - 1);
        match index.checked_sub(self.room) {
            None => self.begin + self.bus.transfer(Op::Write, (index + 1) * self.sector_bytes),
            Some(waited) => self.waited.get(waited as usize).copied().unwrap_or(Nanos::MAX),
        }
    }

    /// The next sector in order is on the media: there is room for another, which follows the one before it.
    fn make_room(&mut self, at: Nanos) {
        let before = self.arrival(self.lead_in + self.room + self.waited.len() as u64 - 1);
        self.waited.push(before.max(at) + self.bus.transfer(Op::Write, self.sector_bytes));
    }

    fn bounded(&self, total: u64) -> bool {
        total > self.room
    }
}

impl WritePlan {
    /// Finds the way to what goes to the media, which is not what it was.
    pub(crate) fn aim(&mut self, media: &Media<'_>) {
        self.target = media.model.layout.extent(self.media_lba, self.media_sectors);
        self.seek = media.seek(self.arm, &self.target, Op::Write);
    }

    /// The first pass over the media, as far as the arm is concerned.
    #[inline]
    pub(crate) fn first_pass(&self, media: &Media<'_>) -> Pass {
        if self.hidden_seek > Nanos::ZERO {
            let (extent, base) = (self.target, self.media_base);
            return media.pass_from(extent, 0, extent.sectors, base, base, base);
        }
        media.first_pass(self.media_base, self.not_before, self.seek, self.target)
    }

    /// The end of the write when the bus is granted at `granted`. All of its media work is kept where `tells`.
    pub(crate) fn end(&self, media: &Media<'_>, granted: Nanos, bus: &BusTiming, tells: bool) -> WriteEnd {
        let reconnects = self.after_mechanics && bus.disconnects;
        let setup = bus.arbitration
            + media.model.overhead.preparation
            + if reconnects { bus.reconnect } else { Nanos::ZERO };
        let lead_in = self.command.lba.0 - self.media_lba;
        let sectors = u64::from(self.command.sectors);
        let mut supply = Supply::new(media.model, granted + setup, bus, lead_in, sectors);
        let mut bus_phases = self.bus_lead;
        bus_phases.queue += granted - self.bus_at;
        let mut pass = self.first_pass(media);
        let mut walk = Walk::new(self.media_lead, ByBus { phases: bus_phases, granted }, pass, tells);
        let mut index = 0;
        loop {
            index = match landing(media, &supply, &pass, (index, self.media_sectors)) {
                Some(late) => walk.write_around(media, pass, late, index),
                None => walk.write_extent(media, &mut supply, pass, index, self.media_sectors),
            };
            if index == self.media_sectors {
                break;
            }
            let next = self.media_lba + index;
            let left = self.media_sectors - index;
            pass = media.next_pass(walk.last.end, Arm::over(&walk.last.extent), next, left, Op::Write);
        }
        walk.end(&supply, self.media_sectors, self.hidden_seek)
    }
}

/// The mechanism's way through a write, with the phases of its critical path.
pub(crate) struct Walk {
    phases: Phases,
    by_bus: ByBus,
    busy: Busy,
    last: Pass,
    passes: Option<Vec<Pass>>,
}

/// The path that comes over the bus: the phases up to its grant, and when that was.
#[derive(Clone, Copy)]
pub(crate) struct ByBus {
    pub(crate) phases: Phases,
    pub(crate) granted: Nanos,
}

impl ByBus {
    #[inline]
    fn until(&self, at: Nanos) -> Phases {
        Phases { bus: self.phases.bus + at.saturating_sub(self.granted), ..self.phases }
    }
}

impl Walk {
    /// Before the first pass. `lead`: the phases from submission to the mechanism's turning to it.
    #[inline]
    pub(crate) fn new(lead: Phases, by_bus: ByBus, first: Pass, tells: bool) -> Self {
        Self { phases: lead, by_bus, busy: Busy::default(), last: first, passes: tells.then(Vec::new) }
    }

    /// Some of the media work is done.
    #[inline]
    fn note(&mut self, pass: Pass) {
        add_busy(&mut self.busy, &pass, Nanos::ZERO);
        self.last = pass;
        if let Some(passes) = &mut self.passes {
            passes.push(pass);
        }
    }

    /// After the last pass of `total` sectors.
    #[inline]
    pub(crate) fn end(self, supply: &Supply, total: u64, hidden_seek: Nanos) -> WriteEnd {
        let received = supply.arrival(total - 1);
        let mut busy = self.busy;
        busy.seek += hidden_seek;
        let on_bus = supply.bus.transfer(Op::Write, supply.count * supply.sector_bytes);
        busy.bus = received - self.by_bus.granted;
        WriteEnd {
            received,
            received_phases: self.by_bus.until(received),
            written: self.last.end,
            written_phases: self.phases,
            busy,
            on_bus,
            last: self.last,
            passes: self.passes,
        }
    }

    /// Writes an extent from slot `late` on, and its beginning when that comes around; returns the index behind its last
    /// sector.
    fn write_around(&mut self, media: &Media<'_>, pass: Pass, late: u32, index: u64) -> u64 {
        let (extent, ready) = (pass.extent, pass.ready);
        let tail = media.pass_from(extent, late, extent.sectors - late, pass.begin, ready, ready);
        let head = media.pass_from(extent, 0, late, tail.end, tail.end, tail.end);
        self.phases.seek += ready - pass.begin;
        for (part, from) in [(tail, ready), (head, tail.end)] {
            self.phases.rotation += part.start - from;
            self.phases.transfer += part.end - part.start;
            self.note(part);
        }
        index + u64::from(extent.sectors)
    }

    /// Writes one extent, in several revolutions where data come late; returns the index behind its last sector.
    #[inline]
    pub(crate) fn write_extent(
        &mut self,
        media: &Media<'_>,
        supply: &mut Supply,
        planned: Pass,
        index: u64,
        total: u64,
    ) -> u64 {
        let mut pass = planned;
        let mut index = index;
        // The fence holds where the media start writing: at the beginning, and again when data ran out.
        let mut starts = index == 0;
        loop {
            let setup = if index == 0 { media.model.overhead.write_start } else { Nanos::ZERO };
            let needed = data_needed(media, supply, &pass, (index, total), starts) + setup;
            self.phases.seek += pass.ready - pass.begin;
            if needed > pass.ready {
                // The latest input are the data: the path comes over the bus.
                self.phases = self.by_bus.until(needed - setup);
                self.phases.overhead += setup;
                pass =
                    media.pass_from(pass.extent, pass.offset, pass.sectors, pass.begin, pass.ready, needed);
            }
            let ready = pass.ready.max(needed);
            let written = sectors_in_time(media, supply, &pass, index, total);
            let rest = pass.sectors - written;
            pass.end = pass.sector_end(&media.epoch, written);
            pass.sectors = written;
            self.phases.rotation += pass.start - ready;
            self.phases.transfer += pass.end - pass.start;
            self.note(pass);
            index += u64::from(written);
            if rest == 0 {
                return index;
            }
            starts = true;
            let (end, offset) = (pass.end, pass.offset + written);
            pass = media.pass_from(pass.extent, offset, rest, end, end, end);
        }
    }
}

/// Where in the extent the head lands, if the drive writes from there on: all of its data must be there by then.
fn landing(media: &Media<'_>, supply: &Supply, pass: &Pass, (index, total): (u64, u64)) -> Option<u32> {
    let last = index + u64::from(pass.sectors) - 1;
    let setup = if index == 0 { media.model.overhead.write_start } else { Nanos::ZERO };
    let whole = pass.offset == 0 && pass.sectors == pass.extent.sectors;
    let wanted = media.model.spec().buffer.write_on_arrival && whole && !supply.bounded(total);
    (wanted && supply.arrival(last).saturating_add(setup) <= pass.ready)
        .then(|| media.landed_inside(pass))
        .flatten()
}

/// The earliest instant at which the data allow the pass to begin.
fn data_needed(
    media: &Media<'_>,
    supply: &Supply,
    pass: &Pass,
    (index, total): (u64, u64),
    starts: bool,
) -> Nanos {
    let last = index + u64::from(pass.sectors) - 1;
    // No more than the buffer holds can be waited for.
    let held = |count: u64| supply.arrival((index + count - 1).min(index + supply.room - 1).min(total - 1));
    if let Some(fence) = media.model.sizes.write_fence_of(total) {
        return held(if starts { fence } else { 1 });
    }
    // Without a fence: as soon as the bus stays ahead of the media to the end of the track.
    let reach = last.min(index + supply.room - 1);
    let lead = pass.extent.span((reach - index) as u32 + 1).0 - pass.extent.slot_width.0;
    let media_ns = (lead as f64 / 18_446_744_073_709_551_616.0 * media.epoch.period()) as u64;
    supply.arrival(index).max(supply.arrival(reach).saturating_sub(Nanos(media_ns)))
}

/// How many sectors of the pass find their data in the buffer when they come under the head; at least one.
fn sectors_in_time(media: &Media<'_>, supply: &mut Supply, pass: &Pass, index: u64, total: u64) -> u32 {
    let bounded = supply.bounded(total);
    if !bounded && supply.arrival(index + u64::from(pass.sectors) - 1) <= pass.start {
        return pass.sectors;
    }
    let one_tick = Nanos(1);
    for count in 1..=pass.sectors {
        let ends = pass.sector_end(&media.epoch, count);
        if bounded {
            supply.make_room(ends);
        }
        if count < pass.sectors && supply.arrival(index + u64::from(count)) > ends + one_tick {
            return count;
        }
    }
    pass.sectors
}

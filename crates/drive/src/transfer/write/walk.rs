//! The mechanism's way through a write, with the phases of its critical path; data that come late cost a revolution.

use super::supply::Supply;
use crate::command::{Busy, Phases};
use crate::mechanism::{Arm, Media, Pass};
use crate::transfer::path::add_busy;
use headstack_units::{Nanos, Op};

/// What goes to the media: `sectors` from `lba` on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) lba: u64,
    pub(super) sectors: u64,
}

/// The path that comes over the bus: the phases up to its last grant, and when that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByBus {
    pub(super) phases: Phases,
    pub(super) granted: Nanos,
}

impl ByBus {
    #[inline]
    pub(super) fn until(&self, at: Nanos) -> Phases {
        Phases { bus: self.phases.bus + at.saturating_sub(self.granted), ..self.phases }
    }
}

/// The mechanism, so far.
pub(super) struct Walk<'a> {
    /// The bus's path to each burst, with the last sector of that burst.
    by_bus: &'a [(u64, ByBus)],
    pub(super) phases: Phases,
    pub(super) busy: Busy,
    /// Where the last pass ended: the arm, when, and one after the last address.
    pub(super) arm: Arm,
    pub(super) end: Nanos,
    pub(super) end_lba: u64,
    /// Data came too late for a sector.
    pub(super) waited: bool,
    /// All of the media work, in order, where somebody wants to look at it.
    pub(super) passes: Option<Vec<Pass>>,
    /// Where each pass's transfer began, and the phases up to there, where somebody wants to know.
    pub(super) marks: Option<Vec<(Nanos, Phases)>>,
}

/// Where a walk was, with the pass that comes next, when nothing that it had asked for was unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Sure {
    pass: Pass,
    index: u64,
    phases: Phases,
    busy: Busy,
    arm: Arm,
    end: Nanos,
    end_lba: u64,
    waited: bool,
    /// Sectors known to be on the media.
    written: usize,
    marks: Vec<(Nanos, Phases)>,
    marks_kept: usize,
}

impl Sure {
    /// Before the first pass. `lead`: the phases from submission to the mechanism's turning to it.
    pub(super) fn before(pass: Pass, lead: Phases) -> Self {
        Self { pass, phases: lead, ..Self::default() }
    }

    fn keep(&mut self, walk: &Walk<'_>, supply: &Supply, pass: Pass, index: u64) {
        let &Walk { phases, busy, arm, end, end_lba, waited, .. } = walk;
        let marks_kept = walk.marks.as_ref().map_or(0, Vec::len);
        let (written, marks) = (supply.written(), std::mem::take(&mut self.marks));
        *self = Self { pass, index, phases, busy, arm, end, end_lba, waited, written, marks, marks_kept };
    }

    /// Takes the marks back from a walk that ran on from here.
    pub(super) fn take_marks(&mut self, marks: Option<Vec<(Nanos, Phases)>>) {
        self.marks = marks.unwrap_or_default();
        self.marks.truncate(self.marks_kept);
    }
}

impl<'a> Walk<'a> {
    /// Before the first pass. `lead`: the phases from submission to the mechanism's turning to it.
    #[inline]
    pub(super) fn new(lead: Phases, by_bus: &'a [(u64, ByBus)]) -> Self {
        Self {
            phases: lead,
            by_bus,
            busy: Busy::default(),
            arm: Arm::default(),
            end: Nanos::ZERO,
            end_lba: 0,
            waited: false,
            passes: None,
            marks: None,
        }
    }

    /// The phases along the mechanism's path up to `at`, an instant at which a sector had just been written.
    pub(super) fn phases_at(&self, at: Nanos) -> Phases {
        let marks = self.marks.as_deref().unwrap_or_default();
        let mark = marks.iter().rev().find(|(start, _)| *start <= at);
        mark.map_or(self.phases, |&(start, phases)| Phases {
            transfer: phases.transfer + (at - start),
            ..phases
        })
    }

    /// Walks from `first` through all of the work, or as far as it is known which data will come in time; returns how many
    /// sectors are on the media.
    #[inline]
    pub(super) fn run(&mut self, media: &Media<'_>, supply: &mut Supply, first: &Pass, work: Work) -> u64 {
        supply.rewind_to(0);
        let index = self.step(media, supply, first, 0, work);
        // Mostly that is all.
        if index == work.sectors || index < u64::from(first.sectors) {
            return index;
        }
        self.run_from(media, supply, index, work)
    }

    /// As [`Walk::run`], behind the first pass.
    #[inline(never)]
    fn run_from(&mut self, media: &Media<'_>, supply: &mut Supply, mut index: u64, work: Work) -> u64 {
        loop {
            let pass = self.next_pass(media, index, work);
            let before = index;
            index = self.step(media, supply, &pass, index, work);
            if index == work.sectors || index - before < u64::from(pass.sectors) {
                return index;
            }
        }
    }

    /// As [`Walk::run`], from where an earlier walk was `sure`, with its marks, before more data came; keeps how far this one is.
    pub(super) fn run_on(&mut self, media: &Media<'_>, supply: &mut Supply, sure: &mut Sure, work: Work) {
        supply.rewind_to(sure.written);
        (self.phases, self.busy, self.arm) = (sure.phases, sure.busy, sure.arm);
        (self.end, self.end_lba, self.waited) = (sure.end, sure.end_lba, sure.waited);
        self.marks = Some(std::mem::take(&mut sure.marks));
        let (mut pass, mut index) = (sure.pass, sure.index);
        loop {
            let before = index;
            let is_sure = supply.arrival(index + u64::from(pass.sectors) - 1) < Nanos::MAX;
            index = self.step(media, supply, &pass, index, work);
            if index == work.sectors || index - before < u64::from(pass.sectors) {
                return;
            }
            pass = self.next_pass(media, index, work);
            if is_sure {
                sure.keep(self, supply, pass, index);
            }
        }
    }

    /// Writes the extent of a pass; returns the index behind its last sector, or behind the last of which it is known when it is
    /// written.
    #[expect(clippy::inline_always, reason = "mostly there is but one, and it is short")]
    #[inline(always)]
    fn step(&mut self, media: &Media<'_>, supply: &mut Supply, pass: &Pass, index: u64, work: Work) -> u64 {
        let setup = if index == 0 { media.model.overhead.write_start } else { Nanos::ZERO };
        match landing(media, supply, pass, (index, work.sectors), setup) {
            Some(late) => self.write_around(media, *pass, late, index),
            None if supply.has_all_by(work.sectors, pass.ready.saturating_sub(setup)) => {
                // Mostly: there is nothing to wait for, and nothing can come late.
                self.phases.seek += pass.ready - pass.begin;
                self.phases.rotation += pass.start - pass.ready;
                self.note(pass);
                index + u64::from(pass.sectors)
            }
            None => self.write_as_data_come(media, supply, *pass, (index, work.sectors), setup),
        }
    }

    #[inline]
    fn next_pass(&self, media: &Media<'_>, index: u64, work: Work) -> Pass {
        media.next_pass(self.end, self.arm, work.lba + index, work.sectors - index, Op::Write)
    }

    /// The phases of the path that brought sector `index` over the bus at `at`.
    #[inline]
    fn path_by_bus(&self, supply: &Supply, index: u64, at: Nanos) -> Phases {
        let own = supply.own_index(index);
        let burst = self.by_bus.partition_point(|(end, _)| *end <= own);
        let by_bus = self.by_bus.get(burst).or(self.by_bus.last());
        by_bus.map_or(self.phases, |(_, by_bus)| by_bus.until(at))
    }

    /// Sectors pass under the head.
    #[inline]
    fn note(&mut self, pass: &Pass) {
        if let Some(marks) = &mut self.marks {
            marks.push((pass.start, self.phases));
        }
        self.phases.transfer += pass.end - pass.start;
        add_busy(&mut self.busy, pass, Nanos::ZERO);
        (self.arm, self.end, self.end_lba) = (Arm::over(&pass.extent), pass.end, pass.end_lba());
        if let Some(passes) = &mut self.passes {
            passes.push(*pass);
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
            self.note(&part);
        }
        index + u64::from(extent.sectors)
    }

    /// Writes one extent of which not all data are there when the arm is, in several revolutions where they come late; returns
    /// the index behind its last sector, or behind the last of which it is known when it is written. The media take `setup` to
    /// begin once the first are there.
    #[inline(never)]
    fn write_as_data_come(
        &mut self,
        media: &Media<'_>,
        supply: &mut Supply,
        mut pass: Pass,
        (mut index, total): (u64, u64),
        mut setup: Nanos,
    ) -> u64 {
        // The fence holds where the media start writing: at the beginning, and again when data ran out.
        let mut starts = index == 0;
        loop {
            let (needed, by) = data_needed(media, supply, &pass, (index, total), starts);
            if needed == Nanos::MAX {
                return index;
            }
            let needed = needed + setup;
            self.phases.seek += pass.ready - pass.begin;
            if needed > pass.ready {
                // The latest input are the data: the path comes over the bus.
                self.phases = self.path_by_bus(supply, by, needed - setup);
                self.phases.overhead += setup;
                let (planned, retries) = (pass.start, media.retries_of(&pass));
                pass =
                    media.pass_from(pass.extent, pass.offset, pass.sectors, pass.begin, pass.ready, needed);
                // It fails as often once its data are there.
                if retries > 0 {
                    (pass.start, pass.end) = media.retried(pass, retries);
                }
                self.waited |= pass.start != planned;
            }
            let ready = pass.ready.max(needed);
            let written = sectors_in_time(media, supply, &pass, index, total);
            let rest = pass.sectors - written;
            pass.end = pass.sector_end(&media.epoch, written);
            pass.sectors = written;
            self.phases.rotation += pass.start - ready;
            self.note(&pass);
            index += u64::from(written);
            if rest == 0 {
                return index;
            }
            (starts, setup) = (true, Nanos::ZERO);
            self.waited = true;
            let (end, offset) = (pass.end, pass.offset + written);
            pass = media.pass_from(pass.extent, offset, rest, end, end, end);
        }
    }
}

/// Where in the extent the head lands, if the drive writes from there on: all of its data must be there by then.
#[expect(clippy::inline_always, reason = "mostly drives do not, and nothing is to be done")]
#[inline(always)]
fn landing(
    media: &Media<'_>,
    supply: &Supply,
    pass: &Pass,
    (index, total): (u64, u64),
    setup: Nanos,
) -> Option<u32> {
    if !media.model.spec().buffer.write_on_arrival {
        return None;
    }
    let last = index + u64::from(pass.sectors) - 1;
    let whole = pass.offset == 0 && pass.sectors == pass.extent.sectors;
    let wanted = whole && !supply.is_bounded(total);
    (wanted && supply.arrival(last).saturating_add(setup) <= pass.ready)
        .then(|| media.landed_inside(pass))
        .flatten()
}

/// The earliest instant at which the data allow the pass to begin, and the sector on which that hangs.
fn data_needed(
    media: &Media<'_>,
    supply: &Supply,
    pass: &Pass,
    (index, total): (u64, u64),
    starts: bool,
) -> (Nanos, u64) {
    let last = index + u64::from(pass.sectors) - 1;
    // No more than can be counted on is waited for.
    if let Some(fence) = media.model.sizes.write_fence_of(total) {
        let count = if starts { fence } else { 1 };
        let by = (index + count - 1).min(supply.counted_on(index)).min(total - 1);
        return (supply.arrival(by), by);
    }
    // Without a fence: as soon as the bus stays ahead of the media to the end of the track.
    let reach = last.min(supply.counted_on(index));
    let lead = pass.extent.span((reach - index) as u32 + 1).0 - pass.extent.slot_width.0;
    let media_ns = (lead as f64 / 18_446_744_073_709_551_616.0 * media.epoch.period()) as u64;
    let (first, all) = (supply.arrival(index), supply.arrival(reach));
    if all == Nanos::MAX {
        return (Nanos::MAX, reach);
    }
    (first.max(all.saturating_sub(Nanos(media_ns))), index)
}

/// How many sectors of the pass find their data in the buffer when they come under the head; at least one.
fn sectors_in_time(media: &Media<'_>, supply: &mut Supply, pass: &Pass, index: u64, total: u64) -> u32 {
    let bounded = supply.is_bounded(total);
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

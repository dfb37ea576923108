//! A read larger than the buffer: when the buffer is full the media wait, and the next sector comes around a revolution
//! later. Worked out sector by sector; only such reads need it.

use crate::command::BusTiming;
use crate::media::{Arm, Media, Pass};
use crate::read::{ReadEnd, ReadPlan};
use headstack_units::{Nanos, Op};

/// Replans the media work of `plan` (which began with `first`) for a bus granted at `granted`, and ends it.
pub(crate) fn end_with_stalls(
    plan: &mut ReadPlan,
    media: &Media<'_>,
    first: Pass,
    granted: Nanos,
    bus: &BusTiming,
) -> ReadEnd {
    let buffer = media.model.sizes.buffer;
    let total = u64::from(plan.command.sectors);
    let setup = plan.bus_setup(media.model, bus);
    // When each sector has left; sectors in the buffer from the start leave first.
    let mut left: Vec<Nanos> = Vec::with_capacity(total as usize);
    let sector_bytes = u64::from(media.model.sector_bytes());
    let mut burst = Burst { begin: granted + setup, sectors: 0 };
    for _ in 0..plan.cached {
        left.push(burst.send(Nanos::ZERO, bus, sector_bytes));
    }
    let mut limited_by_media = None;
    let mut passes = Vec::new();
    let mut pass = first;
    let mut index = plan.cached;
    loop {
        let room_at = |index: u64, left: &[Nanos]| {
            index.checked_sub(buffer).map_or(Nanos::ZERO, |oldest| left[oldest as usize])
        };
        // A pass ends early at the first sector for which there is no room.
        let mut taken = 0;
        while taken < pass.sectors {
            let begins = if taken == 0 { pass.start } else { pass.sector_end(&media.epoch, taken) };
            // As with sectors: missed by one tick is on time.
            if room_at(index, &left) > begins + Nanos(1) {
                break;
            }
            taken += 1;
            let arrived = pass.sector_end(&media.epoch, taken);
            if arrived > burst.end(bus, sector_bytes) {
                limited_by_media = Some(arrived);
            }
            left.push(burst.send(arrived, bus, sector_bytes));
            index += 1;
        }
        let mut part = pass;
        part.end = if taken == 0 { pass.ready } else { pass.sector_end(&media.epoch, taken) };
        part.sectors = taken;
        let rest = pass.sectors - taken;
        if taken > 0 {
            passes.push(part);
        }
        if rest > 0 {
            let from = part.end;
            let wait = from.max(room_at(index, &left));
            let begin = if taken == 0 { pass.begin } else { from };
            pass = media.pass_from(
                pass.extent,
                pass.offset + taken,
                rest,
                begin,
                if taken == 0 { pass.ready } else { from },
                wait,
            );
        } else if index < total {
            let next = plan.command.lba.0 + index;
            pass = media.next_pass(part.end, Arm::over(&pass.extent), next, total - index, Op::Read);
        } else {
            break;
        }
    }
    plan.passes = passes;
    let finish = burst.end(bus, sector_bytes);
    let mut phases = match limited_by_media {
        Some(arrived) => {
            let mut phases = plan.media_path(arrived);
            phases.bus += finish - arrived;
            phases
        }
        None => plan.path_by_bus(granted, finish),
    };
    let completion = media.model.overhead.read_completion;
    phases.overhead += completion;
    let busy = plan.busy(setup + bus.transfer(Op::Read, total * sector_bytes));
    // Which of many sectors the completion hangs on is not followed through the stalls.
    ReadEnd { finish: finish + completion, phases, busy, passed: None }
}

/// Sectors leaving back to back; times follow from the burst's beginning, so that roundings do not add up.
struct Burst {
    begin: Nanos,
    sectors: u64,
}

impl Burst {
    fn end(&self, bus: &BusTiming, sector_bytes: u64) -> Nanos {
        self.begin + bus.transfer(Op::Read, self.sectors * sector_bytes)
    }

    /// Another sector, which is in the buffer from `arrived` on, leaves; returns when it has.
    fn send(&mut self, arrived: Nanos, bus: &BusTiming, sector_bytes: u64) -> Nanos {
        if arrived > self.end(bus, sector_bytes) {
            *self = Self { begin: arrived, sectors: 0 };
        }
        self.sectors += 1;
        self.end(bus, sector_bytes)
    }
}

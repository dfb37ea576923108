//! `rotation`: comes back to one sector after random pauses. Completions lie whole turns apart, whatever the overhead.
//!
//! A device that must not be written is read in many places by turns, so that none is still in the cache when it is read
//! again.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::Mode;
use crate::reading::rotation::{self, LONGEST_NS};
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;
use std::collections::VecDeque;

pub(super) static ROTATION: Probe = Probe {
    name: ProbeName::Rotation,
    about: "comes back to one sector after random pauses: the time of a revolution",
    needs: &[],
    writes: Writing::WhereAllowed,
    on_formula: true,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(1_100.0, 750.0),
    run,
};

/// Reads between two of one place at least, in each stage.
const OTHERS: [usize; 3] = [40, 320, 2560];
/// Sectors elsewhere that are looked at once.
const ELSEWHERE: i64 = 20;

/// Writes: series 0, at once, to see the turn; series 1, over a long time, to see it exactly. Reads: stage by stage, in series 0,
/// 2 and 4; behind writes, from series 2 on.
fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    if !session.mode.is_write() {
        return in_stages(session, 0);
    }
    at_one_sector(session)?;
    if rotation::spindle(session.record).is_none() && session.device.info().kind != "mock" {
        try_reads(session)?;
    }
    Ok(())
}

/// A cache on the media takes writes wherever the head is: where they show no rotation, reads may. The device then counts as one that
/// is only read.
fn try_reads(session: &mut Session<'_>) -> Result<(), MeasureError> {
    session.mode = Mode::Read;
    session.record.head.device.writable = false;
    in_stages(session, 1)?;
    session.record.head.device.writable = rotation::spindle(session.record).is_none();
    Ok(())
}

/// Reads, from a stage's number on.
fn in_stages(session: &mut Session<'_>, first: u32) -> Result<(), MeasureError> {
    for (stage, &others) in (first..).zip(&OTHERS) {
        let places = 2 * others as u64;
        let stride = session.sectors() / session.unit() / (places + 1);
        // Places that lie together would be read ahead for each other.
        if stage > first && stride < 16 {
            break;
        }
        by_turns(session, 2 * stage, others)?;
        if rotation::spindle(session.record).is_some() {
            break;
        }
    }
    Ok(())
}

fn at_one_sector(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let unit = session.unit();
    // Away from the start, which hosts and drives like to treat in their own way.
    let lba = (session.sectors() / 64).next_multiple_of(unit);
    for (series, count, longest_ms) in [(0, 100, LONGEST_NS / 1e6), (1, 200, 60.0)] {
        for step in 0..count {
            pause(session, longest_ms)?;
            let access = session.one(session.mode, lba);
            session.take((series, step), Role::Measure, access)?;
        }
        if series == 0 {
            elsewhere(session)?;
        }
    }
    Ok(())
}

/// Sectors here and there: where something rotates, each has an angle of its own.
fn elsewhere(session: &mut Session<'_>) -> Result<(), MeasureError> {
    for step in 0..ELSEWHERE {
        pause(session, LONGEST_NS / 1e6)?;
        let lba = session.below(session.sectors() / session.unit()) * session.unit();
        session.take((0, step), Role::Angle, session.one(session.mode, lba))?;
    }
    Ok(())
}

/// Does nothing for a random time. It is the pauses that let completions of a device that does not rotate lie anyhow: without
/// them, accesses that all take the same lie as far apart as those to a sector that comes around.
fn pause(session: &mut Session<'_>, longest_ms: f64) -> Result<(), MeasureError> {
    let pause_ms = longest_ms * session.below(1 << 20) as f64 / f64::from(1 << 20);
    session.device.wait_until(session.device.now() + Nanos::from_ms(pause_ms))
}

/// Reads places in an order by chance, none again before `others` more were read: the number of turns between two visits
/// varies, so that no multiple of a turn or a fraction of many of them passes for one.
fn by_turns(session: &mut Session<'_>, series: u32, others: usize) -> Result<(), MeasureError> {
    let unit = session.unit();
    let count = 2 * others as u64;
    let stride = session.sectors() / unit / (count + 1);
    // Not at even distances: those might all be whole tracks, and all places at one angle.
    let mut places: VecDeque<u64> =
        (1..=count).rev().map(|place| (place * stride + session.below(stride / 4)) * unit).collect();
    let visits = places.len() + (3 * others).max(400);
    // All pauses between two visits together are as even as one of the longest revolution.
    let longest_ms = LONGEST_NS / 1e6 / 4.0 * (OTHERS[0] as f64 / others as f64).sqrt();
    for step in 0..visits {
        // All of them once, then those that were not read for long.
        let next = if step < 2 * others { 0 } else { session.below(others as u64) as usize };
        let lba = places.remove(next).unwrap_or(0);
        places.push_back(lba);
        pause(session, longest_ms)?;
        session.take((series, step as i64), Role::Measure, session.one(session.mode, lba))?;
    }
    Ok(())
}

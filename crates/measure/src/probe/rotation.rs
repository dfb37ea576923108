//! `rotation`: comes back to one sector after random pauses. Completions lie whole turns apart, whatever the overhead.
//!
//! A device that must not be written is read in many places by turns, so that none is still in the cache when it is read
//! again.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::reading::rotation;
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;
use std::collections::VecDeque;

pub(super) static ROTATION: Probe = Probe {
    name: ProbeName::Rotation,
    about: "comes back to one sector after random pauses: the time of a turn",
    needs: &[],
    writes: Writing::WhereAllowed,
    on_formula: true,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(750.0, 750.0),
    run,
};

/// Reads between two of one place at least, in each stage.
const OTHERS: [usize; 3] = [40, 320, 2560];

/// Writes: series 0, at once, to see the turn; series 1, over a long time, to see it exactly. Reads: stage by stage, in series 0,
/// 2 and 4.
fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    if session.mode.is_write() {
        return at_one_sector(session);
    }
    for (stage, &others) in OTHERS.iter().enumerate() {
        let places = 2 * others as u64;
        let stride = session.sectors() / session.unit() / (places + 1);
        // Places that lie together would be read ahead for each other.
        if stage > 0 && stride < 16 {
            break;
        }
        by_turns(session, 2 * stage as u32, others)?;
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
    for (series, count, longest_ms) in [(0, 100, 20.0), (1, 200, 60.0)] {
        for step in 0..count {
            let pause = longest_ms * session.below(1 << 20) as f64 / f64::from(1 << 20);
            let now = session.device.now();
            session.device.wait_until(now + Nanos::from_ms(pause))?;
            let access = session.one(session.mode, lba);
            session.take((series, step), Role::Measure, access)?;
        }
    }
    Ok(())
}

/// Reads places in an order by chance, none again before `others` more were read: the number of turns between two visits
/// varies, so that no multiple of a turn or a fraction of many of them passes for one.
fn by_turns(session: &mut Session<'_>, series: u32, others: usize) -> Result<(), MeasureError> {
    let unit = session.unit();
    let count = 2 * others as u64;
    let stride = session.sectors() / unit / (count + 1);
    let mut places: VecDeque<u64> = (1..=count).rev().map(|place| place * stride * unit).collect();
    let visits = places.len() + (3 * others).max(400);
    for step in 0..visits {
        // All of them once, then those that were not read for long.
        let next = if step < 2 * others { 0 } else { session.below(others as u64) as usize };
        let lba = places.remove(next).unwrap_or(0);
        places.push_back(lba);
        session.take((series, step as i64), Role::Measure, session.one(session.mode, lba))?;
    }
    Ok(())
}

//! `cache`: what the drive still knows, and what it reads without being asked.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::memory::HitTimes;
use crate::reading::ahead::{Ahead, Reach, pace_ms, reach};
use crate::reading::{hits, segment};
use crate::record::series::cache::{
    AGAIN, AGAIN_AFTER_WRITE, AHEAD, AHEAD_SEQUENTIAL, BEFORE, NEXT, PACE, SEGMENTS, SEQUENTIAL, SIZES,
    WHOLE, WHOLE_END,
};
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;

pub(super) static CACHE: Probe = Probe {
    name: ProbeName::Cache,
    about: "read-ahead, segments and their size",
    needs: &[ProbeName::Rotation],
    writes: Writing::Never,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(11_000.0, 10_500.0),
    run,
};

const REPETITIONS: i64 = 32;
const VOTES: u64 = 10;

/// Blocks that show how fast the media are read, and the bytes of each.
const BLOCKS: u64 = 16;
const BLOCK_BYTES: u64 = 64 << 10;
/// It is waited this much longer than blocks one behind the other would take for so many sectors, …
const LONGER: f64 = 1.25;
/// … but no longer than this: what is farther ahead would take too long to ask for.
const LONGEST_PAUSE: Nanos = Nanos(3_000_000_000);
/// So many distances in a row without a hit end a series: what is farther ahead was not read either.
const EMPTY: usize = 2;
/// Between the last distance that hits and the first that does not so many votes halve.
const HALVING_VOTES: u64 = 4;

/// Bytes of sequential reads, and of reads here and there; so many runs of so many, no longer than this share of the device.
const SIZES_BYTES: [u64; 4] = [4 << 10, 8 << 10, 32 << 10, 64 << 10];
const RUNS: u64 = 2;
const RUN: u64 = 48;
const MOST_RUN_SHARE: u64 = 8;
const OF_A_SIZE: usize = 24;

/// Reads that fill a segment, each larger than the one before by one part in so many; no larger than this, and no more than one part in
/// so many of the device.
const LARGER: u64 = 16;
const MOST_WHOLE_BYTES: u64 = 4 << 20;
const MOST_WHOLE_SHARE: u64 = 8;
/// Whether the end of such a read is kept is asked so often.
const ENDS: usize = 4;

/// Each series reads in places of its own, so that nothing it meets was cached for another.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let unit = session.unit();
    let turn = context.known.spindle.map_or(Nanos::from_ms(10.0), |s| Nanos(s.period_ns as u64));
    let after_writes: &[u32] =
        if session.device.info().writable { &[AGAIN, AGAIN_AFTER_WRITE] } else { &[AGAIN] };
    for &series in after_writes {
        for step in 0..REPETITIONS {
            let lba = fresh(session);
            read(session, (series, step), Role::Position, lba)?;
            if series == AGAIN_AFTER_WRITE {
                let elsewhere = fresh(session);
                session.take((series, step), Role::Position, session.one(session.mode, elsewhere))?;
            }
            let pause = Nanos(session.below(2 * turn.0));
            let now = session.device.now();
            session.device.wait_until(now + pause)?;
            read(session, (series, step), Role::Measure, lba)?;
        }
    }
    if hits::hits(session.record, AGAIN).is_empty() {
        next(session, turn)?;
    }
    ahead(session, turn)?;
    for step in 0..VOTES as i64 {
        let lba = fresh(session).max(unit);
        read(session, (BEFORE, step), Role::Position, lba)?;
        let now = session.device.now();
        session.device.wait_until(now + Nanos(turn.0 * 3))?;
        read(session, (BEFORE, step), Role::Measure, lba - unit)?;
    }
    let counts = (1..=16).chain([20, 24, 28, 32, 48, 64, 65, 96, 128, 129, 192, 256]);
    for count in counts {
        for _ in 0..3 {
            let first = fresh(session);
            read(session, (SEGMENTS, count), Role::Position, first)?;
            for _ in 1..count {
                let lba = fresh(session);
                read(session, (SEGMENTS, count), Role::Position, lba)?;
            }
            read(session, (SEGMENTS, count), Role::Measure, first)?;
        }
    }
    whole(session)?;
    several(session)
}

/// Larger and larger reads up to the end of the device, and of each the first unit again: it is gone once all of the read does not fit
/// into a segment. None of those was read before.
fn whole(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let times = hits::hit_times(session.record);
    let (unit, all) = (session.unit(), session.sectors());
    let most = (MOST_WHOLE_BYTES / u64::from(session.device.info().sector_bytes)).min(all / MOST_WHOLE_SHARE);
    let mut sectors = unit;
    while !times.is_empty() && sectors <= most {
        let first = (all - sectors) / unit * unit;
        read_many(session, (WHOLE, sectors as i64), Role::Position, (first, sectors))?;
        read(session, (WHOLE, sectors as i64), Role::Measure, first)?;
        if segment::gone(session.record, &times) == segment::GONE {
            return ends(session, sectors);
        }
        sectors = (sectors + sectors / LARGER).next_multiple_of(unit).max(sectors + unit);
    }
    Ok(())
}

/// Of reads that large the last unit again: a drive that does not keep them at all has none of it.
fn ends(session: &mut Session<'_>, sectors: u64) -> Result<(), MeasureError> {
    let unit = session.unit();
    for _ in 0..ENDS {
        let first = fresh(session).min(session.sectors() - sectors) / unit * unit;
        read_many(session, (WHOLE_END, sectors as i64), Role::Position, (first, sectors))?;
        read(session, (WHOLE_END, sectors as i64), Role::Measure, first + sectors - unit)?;
    }
    Ok(())
}

/// The sector behind one just read: what was read ahead may have taken the place of that one.
fn next(session: &mut Session<'_>, turn: Nanos) -> Result<(), MeasureError> {
    let unit = session.unit();
    for step in 0..REPETITIONS {
        let lba = fresh(session);
        read(session, (NEXT, step), Role::Position, lba)?;
        let pause = Nanos(session.below(2 * turn.0));
        let now = session.device.now();
        session.device.wait_until(now + pause)?;
        read(session, (NEXT, step), Role::Measure, lba + unit)?;
    }
    Ok(())
}

/// Reads of several sizes, one right behind the other, and here and there: what a rebuilt drive is held against.
fn several(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let (unit, bytes) = (session.unit(), u64::from(session.device.info().sector_bytes));
    let mut sizes: Vec<u64> =
        SIZES_BYTES.map(|size| (size / bytes).next_multiple_of(unit).max(unit)).to_vec();
    sizes.dedup();
    for sectors in sizes {
        let run = RUN.min(session.sectors() / MOST_RUN_SHARE / sectors);
        let many = |lba: u64| Access { mode: Mode::Read, lba, sectors: sectors as u32 };
        for _ in 0..RUNS {
            let first = fresh(session).min(session.sectors() - run * sectors) / unit * unit;
            for place in 0..run {
                let role = if place == 0 { Role::Position } else { Role::Measure };
                session.take((SEQUENTIAL, sectors as i64), role, many(first + place * sectors))?;
            }
        }
        for _ in 0..OF_A_SIZE.min(run as usize) {
            let lba = fresh(session).min(session.sectors() - sectors) / unit * unit;
            session.take((SIZES, sectors as i64), Role::Measure, many(lba))?;
        }
    }
    Ok(())
}

/// Reads ever farther behind another one, when the drive has had the time to read on so far; and then, between the last that hit and
/// the first that did not, where that ends.
fn ahead(session: &mut Session<'_>, turn: Nanos) -> Result<(), MeasureError> {
    pace(session)?;
    let unit = session.unit();
    let far = Far { each_ms: pace_ms(session.record), times: hits::hit_times(session.record), turn };
    let mut distances: Vec<u64> = (0..32).map(|power| 1.5_f64.powi(power) as u64 * unit).collect();
    distances.dedup();
    distances.retain(|&ahead| ahead * 4 <= session.sectors());
    for series in [AHEAD, AHEAD_SEQUENTIAL] {
        let (mut seen, mut empty) = (Vec::new(), 0);
        for &ahead in &distances {
            seen.push(far.ask(session, (series, ahead), VOTES)?);
            empty = if seen[seen.len() - 1].share > 0.0 { 0 } else { empty + 1 };
            if empty == EMPTY {
                break;
            }
        }
        if let Some(Reach { at_least, at_most: Some(at_most) }) = reach(&seen, far.each_ms) {
            far.halve(session, series, (at_least / unit, at_most / unit))?;
        }
    }
    Ok(())
}

/// How far ahead the drive reads is asked.
struct Far {
    each_ms: Option<f64>,
    times: HitTimes,
    turn: Nanos,
}

impl Far {
    /// Reads so far behind another one.
    fn ask(
        &self,
        session: &mut Session<'_>,
        (series, ahead): (u32, u64),
        votes: u64,
    ) -> Result<Ahead, MeasureError> {
        let unit = session.unit();
        // All of a slow drive's segment takes far longer than some revolutions.
        let read_on = Nanos::from_ms(LONGER * self.each_ms.unwrap_or(0.0) * (ahead + 3 * unit) as f64);
        let turn = self.turn.0;
        let pause = Nanos(turn * 6 + 20_000_000).max(Nanos(turn * 2) + read_on).min(LONGEST_PAUSE);
        let key = (series, ahead as i64);
        for _ in 0..votes {
            let lba = fresh(session).min(session.sectors() - ahead - 4 * unit) / unit * unit;
            read(session, key, Role::Position, lba)?;
            if series == AHEAD_SEQUENTIAL {
                read(session, key, Role::Position, lba + unit)?;
            }
            let now = session.device.now();
            session.device.wait_until(now + pause)?;
            let from = if series == AHEAD_SEQUENTIAL { lba + unit } else { lba };
            read(session, key, Role::Measure, from + ahead)?;
        }
        Ok(Ahead::of(session.record, (series, ahead), &self.times))
    }

    /// Between so many units, which hit, and so many, which do not.
    fn halve(
        &self,
        session: &mut Session<'_>,
        series: u32,
        (mut low, mut high): (u64, u64),
    ) -> Result<(), MeasureError> {
        let unit = session.unit();
        while low + 1 < high {
            let middle = u64::midpoint(low, high);
            let hits = self.ask(session, (series, middle * unit), HALVING_VOTES)?.share > 0.5;
            *(if hits { &mut low } else { &mut high }) = middle;
        }
        Ok(())
    }
}

/// Blocks one behind the other at the end of the device, where the media are slowest.
fn pace(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let unit = session.unit();
    let sectors =
        (BLOCK_BYTES / u64::from(session.device.info().sector_bytes)).next_multiple_of(unit).max(unit);
    let blocks = BLOCKS.min(session.sectors() / 2 / sectors);
    for block in 0..blocks {
        let lba = (session.sectors() - blocks * sectors) / unit * unit + block * sectors;
        let access = Access { mode: Mode::Read, lba, sectors: sectors as u32 };
        session.take((PACE, block as i64), Role::Measure, access)?;
    }
    Ok(())
}

/// A place that was probably never read.
fn fresh(session: &mut Session<'_>) -> u64 {
    let unit = session.unit();
    let places = session.sectors() / unit - 1;
    session.below(places) * unit
}

fn read(session: &mut Session<'_>, key: (u32, i64), role: Role, lba: u64) -> Result<(), MeasureError> {
    let access = session.one(Mode::Read, lba);
    session.take(key, role, access).map(|_| ())
}

fn read_many(
    session: &mut Session<'_>,
    key: (u32, i64),
    role: Role,
    (lba, sectors): (u64, u64),
) -> Result<(), MeasureError> {
    let access = Access { mode: Mode::Read, lba, sectors: sectors as u32 };
    session.take(key, role, access).map(|_| ())
}

//! `cache`: what the drive still knows, and what it reads without being asked.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::Mode;
use crate::record::series::cache::{AGAIN, AGAIN_AFTER_WRITE, AHEAD, AHEAD_SEQUENTIAL, BEFORE, SEGMENTS};
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;

pub(super) static CACHE: Probe = Probe {
    name: ProbeName::Cache,
    about: "read-ahead, segments and their size",
    needs: &[ProbeName::Rotation],
    writes: Writing::Never,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(12_800.0, 12_000.0),
    run,
};

const REPETITIONS: i64 = 32;
const VOTES: u64 = 10;

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
    let mut distances: Vec<u64> = (0..32).map(|power| 1.5_f64.powi(power) as u64).collect();
    distances.dedup();
    for series in [AHEAD, AHEAD_SEQUENTIAL] {
        for &distance in &distances {
            let ahead = distance * unit;
            if ahead * 4 > session.sectors() {
                break;
            }
            for _ in 0..VOTES {
                let lba = fresh(session).min(session.sectors() - ahead - 4 * unit) / unit * unit;
                let key = (series, ahead as i64);
                read(session, key, Role::Position, lba)?;
                if series == AHEAD_SEQUENTIAL {
                    read(session, key, Role::Position, lba + unit)?;
                }
                let now = session.device.now();
                session.device.wait_until(now + Nanos(turn.0 * 6 + 20_000_000))?;
                let from = if series == AHEAD_SEQUENTIAL { lba + unit } else { lba };
                read(session, key, Role::Measure, from + ahead)?;
            }
        }
    }
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

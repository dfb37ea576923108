//! `seeker`: writes at the start and at a place farther in, by turns (Talagala et al. 1999, section 4.3). Steps of Skippy's
//! kind let the second write come at every angle, so that its least time has no rotation in it.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::record::{ProbeName, Role};

pub(super) static SEEKER: Probe = Probe {
    name: ProbeName::Seeker,
    about: "writes alternately at the start and elsewhere (Seeker)",
    needs: &[ProbeName::Tracks],
    writes: Writing::Always,
    on_formula: false,
    resumes: true,
    expected_s: |outlook| outlook.revolutions(11_000.0, 11_000.0),
    run,
};

const PLACES: u64 = 96;
const STEPS: u64 = 32;

/// One series for each place; `step` counts its writes.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let unit = session.unit();
    let track = context.known.sectors_per_track.unwrap_or(256.0).max(2.0);
    // The steps go around a track once.
    let stride = ((track / STEPS as f64 / unit as f64).ceil() as u64).max(1) * unit;
    let room = session.sectors().saturating_sub(STEPS * stride + unit);
    for series in 0..PLACES {
        if context.done.contains(&(series as u32)) {
            continue;
        }
        let base = (room * series / (PLACES - 1)) / unit * unit;
        for step in 0..STEPS {
            session.take((series as u32, step as i64), Role::Position, session.one(session.mode, 0))?;
            let access = session.one(session.mode, base + step * stride);
            session.take((series as u32, step as i64), Role::Measure, access)?;
        }
    }
    Ok(())
}

//! `overhead`: reads that the cache answers, of several sizes: the command's overhead, and the bus. Where there is no cache, reads
//! of several sizes from the media: how much later they are complete than their last sector has passed.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::reading::known::Known;
use crate::record::series::overhead::{ALONG_TRACKS, FROM_CACHE, FROM_MEDIA};
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;

pub(super) static OVERHEAD: Probe = Probe {
    name: ProbeName::Overhead,
    about: "reads of several sizes, from the cache if there is one",
    needs: &[ProbeName::Cache],
    writes: Writing::Never,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(200.0, 1_000.0),
    run,
};

const REPETITIONS: u64 = 12;

/// Sizes up to 2⁶ sectors from a cache, up to 2⁴ from the media: longer ones would hardly fit on a track.
const SIZES: u32 = 7;
const SIZES_FROM_MEDIA: u32 = 5;
const SIZES_ALONG: usize = 4;

/// `step` is the size in sectors.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    if context.known.hits.is_empty() {
        return from_media(session);
    }
    from_cache(session)?;
    along_tracks(session, &context.known)
}

/// Reads of several sizes within a track, each of another one from the last to the first, so that nothing was read ahead; and then
/// of the sector before, whose angle tells where they should end.
fn along_tracks(session: &mut Session<'_>, known: &Known) -> Result<(), MeasureError> {
    let unit = session.unit();
    let Some(spindle) = known.spindle else { return Ok(()) };
    for (place, pair) in known.borders.windows(2).rev().enumerate() {
        let on_track = (pair[1].first - pair[0].first) / unit;
        // One in two is of a third of the track.
        let units = if place % 2 == 0 { on_track / 3 } else { 2 << (place / 2 % SIZES_ALONG) };
        if units == 0 || units + 2 > on_track {
            continue;
        }
        let lba = pair[0].first + (1 + session.below(on_track - units - 1)) * unit;
        let pause = session.below(spindle.period_ns as u64);
        session.device.wait_until(session.device.now() + Nanos(pause))?;
        let many = Access { mode: Mode::Read, lba, sectors: (units * unit) as u32 };
        let key = (ALONG_TRACKS, (units * unit) as i64);
        session.take(key, Role::Measure, many)?;
        session.take(key, Role::Angle, session.one(Mode::Read, lba - unit))?;
    }
    Ok(())
}

/// A sector, and then as many as are asked for from that sector on.
fn from_media(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let unit = session.unit();
    for power in 1..SIZES_FROM_MEDIA {
        let sectors = unit << power;
        for _ in 0..REPETITIONS {
            let places = (session.sectors() - sectors) / unit;
            let lba = session.below(places) * unit;
            let key = (FROM_MEDIA, sectors as i64);
            session.take(key, Role::Angle, session.one(Mode::Read, lba))?;
            session.take(key, Role::Measure, Access { mode: Mode::Read, lba, sectors: sectors as u32 })?;
        }
    }
    Ok(())
}

fn from_cache(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let unit = session.unit();
    for power in 0..SIZES {
        let sectors = unit << power;
        for _ in 0..REPETITIONS {
            let places = (session.sectors() - sectors) / unit;
            let lba = session.below(places) * unit;
            let access = Access { mode: Mode::Read, lba, sectors: sectors as u32 };
            let key = (FROM_CACHE, sectors as i64);
            session.take(key, Role::Position, access)?;
            session.take(key, Role::Measure, access)?;
        }
    }
    Ok(())
}

//! `overhead`: reads that the cache answers, of several sizes: the command's overhead, and the bus. Where there is no cache, reads
//! of several sizes from the media: how much later they are complete than their last sector has passed.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::record::series::overhead::{FROM_CACHE, FROM_MEDIA};
use crate::record::{ProbeName, Role};

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

/// `step` is the size in sectors.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    if context.known.hits.is_empty() { from_media(session) } else { from_cache(session) }
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

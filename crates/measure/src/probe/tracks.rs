//! `tracks` and `zone-tracks`: where tracks begin, and at which angle, at the start of the device and in each zone.

use super::description::{Context, Probe, Writing};
use super::no_skews;
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::reading::known::Known;
use crate::record::ProbeName;

pub(super) static TRACKS_AT_START: Probe = Probe {
    name: ProbeName::Tracks,
    about: "sectors per track and skews at the start, by the angle of sectors",
    needs: &[ProbeName::Rotation, ProbeName::WriteCache, ProbeName::Cache],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(450.0, 200.0 + 8.0 * outlook.others) * outlook.angles(),
    run,
};

pub(super) static ZONE_TRACKS: Probe = Probe {
    name: ProbeName::ZoneTracks,
    about: "sectors per track, skews and heads in each zone",
    needs: &[ProbeName::Zones, ProbeName::Surfaces],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        outlook
            .revolutions(outlook.by_size(2_000.0, 5_000.0), outlook.zones * (100.0 + 30.0 * outlook.others))
            * outlook.angles()
    },
    run: run_zones,
};

/// Enough for two cylinders of any drive with up to 24 surfaces.
const TRACKS: usize = 72;

/// Series 0 at the start of the device; should nothing be found there, further ones farther in. `step` numbers the tracks.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    session.spindle()?;
    if !context.known.has_zones() {
        return Ok(());
    }
    for series in 0..8_u64 {
        let unit = session.unit();
        let lba = session.sectors() / 97 * series / unit * unit;
        let mut finder = Finder::new(session, series as u32, context.known.angle_noise);
        let found = finder.tracks(lba, TRACKS, None, 0)?;
        if found.is_some_and(|run| run.firsts.len() > TRACKS / 2) {
            return Ok(());
        }
    }
    no_skews::tracks(session, TRACKS as u64, context.known.angle_noise)
}

/// One series for each zone.
fn run_zones(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    let known = Known::of(session.record);
    if known.no_skews {
        return Ok(());
    }
    let unit = session.unit();
    for (series, zone) in known.zones.iter().enumerate() {
        let series = series as u32;
        let slope = 1.0 / zone.sectors_per_track as f64;
        let length = zone.end_lba.saturating_sub(zone.first_lba);
        match known.order.as_ref().filter(|order| order.by_surface) {
            None => {
                // Two cylinders and what is cut off, away from the borders.
                let count = known.order.as_ref().map_or(TRACKS, |order| 3 * order.heads as usize + 2);
                let room = (count as u64 + 2) * zone.sectors_per_track;
                for place in [3, 5, 7] {
                    // Of a short zone, from its first track on, which begins behind the last of the one before.
                    let lba = (zone.first_lba + length / 11 * place).min(zone.end_lba.saturating_sub(room));
                    let first = zone.first_lba.saturating_sub(zone.sectors_per_track / 4);
                    let lba = lba.max(first) / unit * unit;
                    let mut finder = Finder::new(session, series, known.angle_noise);
                    let run = finder.tracks(lba, count, Some(slope), 0)?;
                    let regular = run.is_some_and(|run| {
                        let usual = run.firsts.windows(2).filter(|p| p[1] - p[0] == zone.sectors_per_track);
                        usual.count() * 4 >= count * 3
                    });
                    if regular {
                        break;
                    }
                }
            }
            Some(order) => {
                // Around the change from the first to the second surface, and from there to the third.
                let surface = order.group_cylinders * zone.sectors_per_track;
                for change in [1, 2] {
                    let lba = zone.first_lba + (change * surface).saturating_sub(4 * zone.sectors_per_track);
                    if lba + 8 * zone.sectors_per_track >= zone.end_lba {
                        continue;
                    }
                    let mut finder = Finder::new(session, series, known.angle_noise);
                    finder.tracks(lba / unit * unit, 7, Some(slope), 100 * change as i64)?;
                }
            }
        }
    }
    Ok(())
}

//! `surfaces`: the order of tracks. Skews of two kinds say how many tracks lie between changes of the rarer kind; the least
//! times between tracks say whether those are of one cylinder or of one surface.

use super::description::{Context, Probe, Writing};
use super::evenly::evenly;
use super::turning;
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::angles::trial::{self, Way};
use crate::reading::density;
use crate::reading::order::{self, Pattern};
use crate::reading::tracks::{self, Border};
use crate::record::ProbeName;
use crate::record::series::surfaces::{NEXT, OVER, TRACKS, WAYS};

pub(super) static SURFACES: Probe = Probe {
    name: ProbeName::Surfaces,
    about: "the order of tracks: by cylinder or along surfaces",
    needs: &[ProbeName::Tracks, ProbeName::Switches],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        outlook.revolutions(outlook.by_size(150.0, 20_000.0), 500.0 + 60.0 * outlook.others)
            * outlook.at_noise([1.3, 5.0, 9.0])
    },
    run,
};

const MOST_TRACKS: usize = 6000;
/// Enough to meet the change of cylinder twice on any drive with up to 24 surfaces.
const NEXT_TRACKS: usize = 50;

fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let borders = &context.known.borders;
    if !borders.is_empty() && !by_skews(session, context)? {
        by_times(session, borders)?;
        let order = order::order(session.record, session.spindle()?);
        let each_a_cylinder = order.is_some_and(|order| order.by_times && order.heads == 1);
        if let Some(zone) = context.known.zones.first().filter(|_| each_a_cylinder) {
            turning::run(session, zone.sectors_per_track, zone.tracks())?;
        }
    }
    Ok(())
}

/// Follows the tracks until the pattern of their skews is known; whether it is.
fn by_skews(session: &mut Session<'_>, context: &Context) -> Result<bool, MeasureError> {
    let first = context.known.borders[0].first;
    let slope = 1.0 / context.known.borders[0].per_turn;
    let mut pattern = order::pattern(&context.known.borders);
    let mut count = context.known.borders.len();
    let mut borders: Vec<Border> = context.known.borders.clone();
    let mut tested = false;
    // One surface, or skews that are all alike: thousands of tracks would be followed for nothing.
    if pattern.is_none() && evenly(session, &context.known, MOST_TRACKS as u64)? {
        return Ok(false);
    }
    loop {
        if let Some(found) = &pattern
            && !tested
        {
            test(session, &borders, found)?;
            tested = true;
        }
        let by_surface = tested && order::by_surface(session.record, session.spindle) == Some(true);
        let complete = pattern.as_ref().is_some_and(|found| !by_surface || found.double_gaps > 1);
        if complete || count >= MOST_TRACKS {
            return Ok(pattern.is_some());
        }
        count *= 2;
        let mut finder = Finder::new(session, TRACKS, context.known.angle_noise).at_once();
        let start = finder.session.unit();
        let run = finder.tracks(first - start, count, Some(slope), 0)?;
        let found = run.map_or(0, |run| run.firsts.len());
        borders = tracks::borders(session.record, ProbeName::Surfaces, TRACKS, session.spindle()?);
        pattern = order::pattern(&borders);
        if found <= count {
            return Ok(pattern.is_some());
        }
    }
}

/// Ways from the first track behind a change of the rarer kind.
fn test(session: &mut Session<'_>, borders: &[Border], pattern: &Pattern) -> Result<(), MeasureError> {
    // Two tracks between changes are taken for those of a cylinder.
    if pattern.spacing < 3 {
        return Ok(());
    }
    for (step, over) in [(0, 1), (1, pattern.spacing - 1)] {
        least_over(session, borders, (pattern.first_rare, over), (WAYS, step))?;
    }
    Ok(())
}

/// Where all skews are alike: the times to the next track may differ where the cylinder changes, and grow with the distance
/// where it changes with every track.
fn by_times(session: &mut Session<'_>, borders: &[Border]) -> Result<(), MeasureError> {
    for from in 0..NEXT_TRACKS {
        least_over(session, borders, (from, 1), (NEXT, from as i64))?;
    }
    least_over(session, borders, (0, 2), (OVER, 2))
}

/// The least time from a track to another that lies `over` tracks behind it.
pub(super) fn least_over(
    session: &mut Session<'_>,
    borders: &[Border],
    (first, over): (usize, usize),
    key: (u32, i64),
) -> Result<(), MeasureError> {
    // Reads go back: what is read ahead of the first must not hold the second.
    let (from, to) = if session.only_reads() { (first + over, first) } else { (first, first + over) };
    let ends = (borders.get(from + 1), borders.get(to + 1));
    let (Some(from), Some(to)) = (borders.get(from), borders.get(to)) else { return Ok(()) };
    let (Some(from_end), Some(end)) = ends else { return Ok(()) };
    let unit = session.unit();
    let target = to.first + (end.first - to.first) / 2 / unit * unit;
    let way = Way {
        from: from.first + unit,
        to: target,
        mode: session.mode,
        slope: density::slope(borders)(target),
        room: target - to.first,
        sure: true,
        start: Some((from.first, from_end.first - from.first)),
        foreseen: None,
    };
    trial::least(session, key, way).map(|_| ())
}

//! `surfaces`: the order of tracks. Skews of two kinds say how many tracks lie between changes of the rarer kind; the least
//! times between tracks say whether those are of one cylinder or of one surface.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::angles::trial::{self, Way};
use crate::reading::order::{self, Pattern};
use crate::reading::tracks::{self, Border};
use crate::record::ProbeName;
use crate::record::series::surfaces::{TRACKS, WAYS};

pub(super) static SURFACES: Probe = Probe {
    name: ProbeName::Surfaces,
    about: "the order of tracks: by cylinder or along surfaces",
    needs: &[ProbeName::Tracks],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(6_000.0, 500.0 + 60.0 * outlook.others) * outlook.angles,
    run,
};

const MOST_TRACKS: usize = 6000;

/// Follows the tracks until the pattern is known.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let Some(first) = context.known.borders.first().map(|border| border.first) else { return Ok(()) };
    let slope = 1.0 / context.known.borders[0].per_turn;
    let mut pattern = order::pattern(&context.known.borders);
    let mut count = context.known.borders.len();
    let mut borders: Vec<Border> = context.known.borders.clone();
    let mut tested = false;
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
            return Ok(());
        }
        count *= 2;
        let mut finder = Finder::new(session, TRACKS, context.known.angle_noise);
        let start = finder.session.unit();
        let run = finder.tracks(first - start, count, Some(slope), 0)?;
        let found = run.map_or(0, |run| run.firsts.len());
        borders = tracks::borders(session.record, ProbeName::Surfaces, TRACKS, session.spindle()?);
        pattern = order::pattern(&borders);
        if found <= count {
            return Ok(());
        }
    }
}

/// Ways from the first track behind a change of the rarer kind.
fn test(session: &mut Session<'_>, borders: &[Border], pattern: &Pattern) -> Result<(), MeasureError> {
    // Two tracks between changes are taken for those of a cylinder.
    if pattern.spacing < 3 {
        return Ok(());
    }
    let start = pattern.first_rare;
    for (step, ahead) in [(0, 1), (1, pattern.spacing - 1)] {
        // Reads go back: what is read ahead of the first must not hold the second.
        let (from, to) = if session.only_reads() { (start + ahead, start) } else { (start, start + ahead) };
        let ends = (borders.get(from + 1), borders.get(to + 1));
        let (Some(from), Some(to)) = (borders.get(from), borders.get(to)) else { continue };
        let (Some(from_end), Some(end)) = ends else { continue };
        let unit = session.unit();
        let target = to.first + (end.first - to.first) / 2 / unit * unit;
        let way = Way {
            from: from.first + unit,
            to: target,
            mode: session.mode,
            slope: 1.0 / from.per_turn,
            room: target - to.first,
            sure: true,
            start: Some((from.first, from_end.first - from.first)),
        };
        trial::least(session, (WAYS, step), way)?;
    }
    Ok(())
}

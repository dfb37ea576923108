//! `zones`: sectors per track over the device, and by halving, where it changes.

use super::description::{Context, Probe, Writing};
use super::{head_zones, no_skews};
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::record::ProbeName;

pub(super) static ZONES: Probe = Probe {
    name: ProbeName::Zones,
    about: "where the number of sectors per track changes",
    needs: &[ProbeName::Tracks],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        outlook.revolutions(outlook.by_size(9_000.0, 30_000.0), 4_000.0 + 3_000.0 * outlook.others)
            * outlook.at_noise([1.4, 3.5, 5.0])
    },
    run,
};

/// Places looked at before halving.
const PLACES: u64 = 96;
/// Tracks measured at each: a slipped sector or the spares at a cylinder's end make one of them shorter.
const TRACKS: usize = 3;

/// One series for each place; `step` numbers its tracks.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    if let Some(sectors) = &context.known.densities {
        return head_zones::run(session, sectors.len(), context.known.angle_noise);
    }
    if context.known.no_skews {
        return no_skews::zones(session, context.known.angle_noise);
    }
    if !context.known.has_zones() {
        return Ok(());
    }
    let mut survey = Survey {
        series: 0,
        noise: context.known.angle_noise,
        unit: session.unit(),
        session,
        hint: context.known.sectors_per_track.map(|sectors| 1.0 / sectors),
        jumps: Vec::new(),
    };
    let end = survey.session.sectors();
    let mut places: Vec<(u64, u64)> = Vec::new();
    for place in 0..=PLACES {
        // The last place must have whole tracks behind it.
        let margin = (place == PLACES).then(|| 6 * places.last().map_or(64, |last| last.1));
        let lba = (end / PLACES * place).min(end - margin.unwrap_or(0));
        places.extend(survey.length(lba, TRACKS)?.map(|length| (lba, length)));
    }
    let mut intervals: Vec<_> = places.windows(2).map(|pair| (pair[0], pair[1])).rev().collect();
    while let Some((a, b)) = intervals.pop() {
        if a.1 == b.1 {
            continue;
        }
        let track = a.1.max(b.1);
        if b.0 - a.0 <= 6 * track {
            // The border itself: all tracks from one side to the other.
            survey.length(a.0.saturating_sub(2 * track), 14)?;
            continue;
        }
        let middle = a.0 + (b.0 - a.0) / 2;
        let Some(length) = survey.length(middle, TRACKS)? else { continue };
        intervals.push(((middle, length), b));
        intervals.push((a, (middle, length)));
    }
    Ok(())
}

struct Survey<'s, 'a> {
    session: &'s mut Session<'a>,
    series: u32,
    noise: f64,
    unit: u64,
    hint: Option<f64>,
    /// By how much angles jumped from track to track at the place before.
    jumps: Vec<f64>,
}

impl Survey<'_, '_> {
    /// Sectors per track behind a sector, or a little farther on where tracks cannot be told apart.
    fn length(&mut self, lba: u64, tracks: usize) -> Result<Option<u64>, MeasureError> {
        for tries in 0..4 {
            let track = self.hint.map_or(64.0, |slope| 1.0 / slope);
            let length = self.length_at(lba + (f64::from(tries) * 1.37 * track) as u64, tracks)?;
            if length.is_some() {
                return Ok(length);
            }
        }
        Ok(None)
    }

    fn length_at(&mut self, lba: u64, tracks: usize) -> Result<Option<u64>, MeasureError> {
        let lba = lba / self.unit * self.unit;
        let mut finder =
            Finder::new(self.session, self.series, self.noise).behind(std::mem::take(&mut self.jumps));
        let run = finder.tracks(lba, tracks, self.hint, 0)?;
        self.jumps = finder.jumps;
        self.series += 1;
        if let Some(run) = &run {
            self.hint = Some(run.slope);
        }
        Ok(run.map(|run| run.most_sectors()).filter(|&sectors| sectors > 0))
    }
}

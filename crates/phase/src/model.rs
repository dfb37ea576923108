//! What is being fitted: a period, and for each zone the angles of its steps and of its first sector.

use crate::geometry::{Geometry, LEVELS, Steps};
use crate::kernel::wrap;
use crate::pairs::{Pair, Sighting};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The file's value, and the observations do not speak against it.
    File,
    /// One value in turns for all zones.
    Global,
    /// This zone's own.
    Zone,
    /// The file's value, because nothing was observed that could tell.
    None,
}

/// Period, angles of the steps, and angles of the zones' first sectors.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) period_ns: f64,
    /// For each zone.
    pub(crate) values: Vec<Steps>,
    pub(crate) sources: Vec<[Source; LEVELS]>,
    /// Where each zone's first sector begins, in turns.
    pub(crate) offsets: Vec<f64>,
    pub(crate) offset_sources: Vec<Source>,
}

impl Model {
    /// As the file says, at the given period.
    pub(crate) fn of_file(geometry: &Geometry, period_ns: f64) -> Self {
        let zones = geometry.zones.len();
        Self {
            period_ns,
            values: (0..zones).map(|zone| geometry.file_values(zone)).collect(),
            sources: vec![[Source::None; LEVELS]; zones],
            offsets: geometry.zones.iter().map(|zone| zone.first_sector).collect(),
            offset_sources: vec![Source::None; zones],
        }
    }

    /// The angle of the end that was seen.
    pub(crate) fn turns(&self, sighting: &Sighting) -> f64 {
        let site = &sighting.site;
        self.offsets[site.zone] + site.turns(&self.values[site.zone])
    }

    /// By how much the disk turned farther between the two than the layout has them apart, in ±½ turn.
    pub(crate) fn error(&self, sightings: &[Sighting], pair: &Pair) -> f64 {
        let apart = self.turns(&sightings[pair.to]) - self.turns(&sightings[pair.from]);
        wrap(pair.ns / self.period_ns - apart)
    }

    /// Mean cosine of the errors: 1 if every pair is as the model says, about 0 if the model says nothing.
    pub(crate) fn coherence<'a>(
        &self,
        sightings: &[Sighting],
        pairs: impl IntoIterator<Item = &'a Pair>,
    ) -> f64 {
        let (mut sum, mut count) = (0.0, 0_u32);
        for pair in pairs {
            sum += (core::f64::consts::TAU * self.error(sightings, pair)).cos();
            count += 1;
        }
        if count == 0 { 0.0 } else { sum / f64::from(count) }
    }
}

//! Where a search begins: at the front of a zone, where the fewest tracks are unknown.

use super::{AGREEING, Skews, Start};
use crate::geometry::Geometry;
use crate::kernel::{NARROW, weight};
use crate::model::Model;
use crate::pairs::{Pair, Sighting};

/// A pair must count so much to be worth having at the front of a zone. By chance it counts 0.06.
const WORTH: f64 = 0.3;

/// Where a search begins: skews, and the front of a zone up to a track.
pub(super) struct Seed {
    model: Model,
    shift: (i32, i32),
    zone: usize,
    end: f64,
    pub(super) score: f64,
    /// Whether the front goes on behind the tracks that the file lists.
    is_listed: bool,
}

impl Seed {
    pub(super) fn new(
        geometry: &Geometry,
        period_ns: f64,
        shift: (i32, i32),
        sightings: &[Sighting],
        pairs: &[Pair],
    ) -> Option<Self> {
        let mut model = Model::of_file(geometry, period_ns);
        for zone in 0..geometry.zones.len() {
            model.values[zone] = geometry.shifted_values(zone, shift);
        }
        let fronts = (0..geometry.zones.len()).map(|zone| front(&model, geometry, zone, sightings, pairs));
        let scores: Vec<(f64, f64)> = fronts.collect();
        let (zone, &(best, end)) = scores.iter().enumerate().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        // The skews are those of all zones; each has a front of its own.
        let score = scores.iter().map(|front| front.0).sum();
        (best > AGREEING).then_some(Self { model, shift, zone, end, score, is_listed: false })
    }

    /// The same front, that goes on behind the tracks that the file lists.
    pub(super) fn behind_listed(self) -> Self {
        Self { is_listed: true, ..self }
    }

    pub(super) fn distance(&self) -> i32 {
        self.shift.0.abs() + self.shift.1.abs()
    }

    pub(super) fn start(self) -> Start {
        let skews = if self.shift == (0, 0) { Skews::File } else { Skews::Shifted };
        Start { model: self.model, skews, zone: self.zone, is_listed: self.is_listed, end: Some(self.end) }
    }
}

/// How far the pairs at the front of a zone agree: what they count in all, and the last track.
fn front(
    model: &Model,
    geometry: &Geometry,
    zone: usize,
    sightings: &[Sighting],
    pairs: &[Pair],
) -> (f64, f64) {
    let track = |end: usize| geometry.track(&sightings[end].site);
    let within = |pair: &&Pair| [pair.from, pair.to].iter().all(|&end| sightings[end].site.zone == zone);
    let mut own: Vec<(f64, f64)> = pairs
        .iter()
        .filter(within)
        .map(|pair| (track(pair.from).max(track(pair.to)), weight(model.error(sightings, pair), NARROW)))
        .collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut best) = (0.0, (0.0, -1.0));
    for (track, counts) in own {
        sum += counts - WORTH;
        if sum > best.0 {
            best = (sum, track);
        }
    }
    best
}

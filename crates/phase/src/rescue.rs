//! Zones that few pairs stay within.
//!
//! A zone that requests rarely stay in has too few pairs of its own to tell its skews, and yet each visit from a zone
//! whose angles are known says where on the circle one of its sectors lies. Two unknowns are left: where the zone
//! begins, and the angle of its outermost step. The mean resultant length finds both at once.

use crate::geometry::{Geometry, dot};
use crate::model::{Model, Source};
use crate::pairs::{Pair, Sighting};
use core::f64::consts::TAU;

/// Sightings without which a zone stays as it is.
const FEW: usize = 10;
/// Natural logarithm of the odds, beyond the number of angles tried, that a found one must have against chance.
const CLEAR: f64 = 8.0;
/// Share of the best zone's coherence that makes a zone trusted.
const TRUSTED: f64 = 0.6;
/// Angles tried for each step that the zone's sightings are apart.
const DENSITY: f64 = 8.0;

/// Visits to a zone: the angle seen less what is known of it, and the outermost steps.
struct Visits {
    turns: Vec<(f64, f64)>,
    /// Different sightings among them.
    sightings: usize,
}

/// Finds the outermost angle of zones that do not agree with those that do. Whether any was found.
pub(crate) fn rescue(
    model: &mut Model,
    geometry: &Geometry,
    (sightings, pairs): (&[Sighting], &[Pair]),
    locked: &[bool],
) -> bool {
    let zones = model.values.len();
    let agreement: Vec<f64> = (0..zones).map(|zone| coherence(model, sightings, pairs, zone)).collect();
    let best = agreement.iter().copied().fold(0.0, f64::max);
    let mut trusted: Vec<bool> = agreement.iter().map(|&of| of > 0.0 && of >= TRUSTED * best).collect();
    let mut found = false;
    loop {
        let visited = (0..zones)
            .filter(|&zone| !trusted[zone] && !locked[zone])
            .map(|zone| (zone, visits(model, geometry, (sightings, pairs), &trusted, zone)))
            .filter(|(_, visits)| visits.sightings >= FEW)
            .max_by_key(|(zone, visits)| (visits.sightings, core::cmp::Reverse(*zone)));
        let Some((zone, visits)) = visited else { return found };
        // Whatever comes of it, the zone has had its turn.
        trusted[zone] = true;
        let level = outermost(geometry, zone);
        let present = resultant(&visits.turns, model.values[zone][level]).0;
        if present >= TRUSTED * best {
            continue;
        }
        if let Some((value, offset)) = search(&visits, present) {
            model.values[zone][level] = value;
            model.sources[zone][level] = Source::Zone;
            model.offsets[zone] = offset;
            found = true;
        }
    }
}

fn outermost(geometry: &Geometry, zone: usize) -> usize {
    if geometry.zones[zone].range_cylinders.is_some() { 2 } else { 1 }
}

/// How well a zone agrees with itself and all others; 0 without enough pairs of its own. (Its own pairs may agree by
/// lying close together, whatever the outermost angle.)
fn coherence(model: &Model, sightings: &[Sighting], pairs: &[Pair], zone: usize) -> f64 {
    let ends = |pair: &Pair| [pair.from, pair.to].map(|end| sightings[end].site.zone == zone);
    let own = pairs.iter().filter(|pair| ends(pair) == [true, true]).count();
    let touching = pairs.iter().filter(|pair| ends(pair).contains(&true));
    if own < FEW { 0.0 } else { model.coherence(sightings, touching) }
}

/// Pairs that lead from a trusted zone to this one or back.
fn visits(
    model: &Model,
    geometry: &Geometry,
    (sightings, pairs): (&[Sighting], &[Pair]),
    trusted: &[bool],
    zone: usize,
) -> Visits {
    let level = outermost(geometry, zone);
    let mut values = model.values[zone];
    values[level] = 0.0;
    let mut visits = Visits { turns: Vec::new(), sightings: 0 };
    let mut seen: Vec<usize> = Vec::new();
    for pair in pairs {
        let (from, to) = (&sightings[pair.from], &sightings[pair.to]);
        let turned = pair.ns / model.period_ns;
        let (there, known, number) = if to.site.zone == zone && trusted[from.site.zone] {
            (&to.site, model.turns(from) + turned, pair.to)
        } else if from.site.zone == zone && trusted[to.site.zone] {
            (&from.site, model.turns(to) - turned, pair.from)
        } else {
            continue;
        };
        let rest = known - there.end_revolutions - dot(&there.steps, &values);
        visits.turns.push((rest, there.steps[level]));
        seen.push(number);
    }
    seen.sort_unstable();
    seen.dedup();
    visits.sightings = seen.len();
    visits
}

/// The angle of the outermost step and of the zone's first sector, if clearly better than at `present`.
fn search(visits: &Visits, present: f64) -> Option<(f64, f64)> {
    let steps = || visits.turns.iter().map(|turn| turn.1);
    let reach = (steps().fold(0.0, f64::max) - steps().fold(f64::INFINITY, f64::min)).max(1.0);
    let tries = (DENSITY * reach).ceil();
    let best = |values: &mut dyn Iterator<Item = f64>| {
        values.map(|value| (resultant(&visits.turns, value).0, value)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (_, coarse) = best(&mut (0..tries as u32).map(|point| f64::from(point) / tries))?;
    let (coherence, value) = best(&mut (-40..=40).map(|point| coarse + f64::from(point) / (40.0 * tries)))?;
    // Visits of one sighting from several others tell the same.
    let odds = visits.sightings as f64 * (coherence * coherence - present * present);
    let (_, offset) = resultant(&visits.turns, value);
    (odds > tries.ln() + CLEAR).then(|| (value.rem_euclid(1.0), offset))
}

/// Mean resultant length and direction (turns, within [0, 1)) of the angles at a value of the step.
fn resultant(turns: &[(f64, f64)], value: f64) -> (f64, f64) {
    let (mut sine, mut cosine) = (0.0, 0.0);
    for &(rest, step) in turns {
        let (s, c) = (TAU * (rest - step * value)).sin_cos();
        sine += s;
        cosine += c;
    }
    (f64::hypot(sine, cosine) / turns.len().max(1) as f64, (sine.atan2(cosine) / TAU).rem_euclid(1.0))
}

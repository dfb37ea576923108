//! Whether a file's geometry is wrong, where, and which single number mends it.
//!
//! A fit has angles to move, no sectors. Where what it leaves is out of step in whole ranges of addresses, or where it finds nothing
//! at all, numbers of the geometry near the first such address are tried; one is named if the angles become clearly likelier.

use crate::alteration::Alteration;
use crate::disagree::{self, Disagreement};
use crate::evidence::{advantage, look_elsewhere};
use crate::fit::{Estimate, PhaseFit, ZoneFit};
use crate::geometry::Geometry;
use crate::model::{Model, Source};
use crate::observation::Observation;
use crate::pairs::{Pair, Sighting, pairs, sightings};
use core::f64::consts::TAU;
use core::ops::RangeInclusive;
use headstack_drive::spec::DriveSpec;

/// What the angles say against a file's geometry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Misfit {
    /// Ranges of addresses that are out of step with what was fitted, ascending; none where nothing was fitted.
    pub ranges: Vec<Disagreement>,
    /// What mends it, if anything that was tried does; each on top of those before it.
    pub mends: Vec<Mend>,
}

/// A change of the file that brings angles into step.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// Dotted path in the file, the value there, and the one instead of it: one or several that belong together.
    pub changes: Vec<(String, u32, u32)>,
    /// The first address that lies elsewhere with it.
    pub from_lba: u64,
    /// Mean cosine of the errors of pairs before and with it, both with everything fitted.
    pub coherence: (f64, f64),
    /// By how many standard errors pairs are ahead with it.
    pub ahead: f64,
}

/// A change is worth a fit of its own if pairs agree by so much better.
const WORTH: f64 = 0.03;
/// The same, less, where the fit has tracks passed over: their own fit will tell.
const DOUBT: f64 = 0.05;
/// So many changes are fitted, of zones that look wrong and of others, the best first.
const FITTED: usize = 4;
/// Changes one on top of another, at most.
const MOST: usize = 3;
/// Where nothing agrees, a change must make pairs agree so much.
const AGREED: f64 = 0.5;
/// Pairs without which nothing is tried.
const FEW: usize = 200;
/// A zone is looked at whose pairs agree so much less than another's, beyond what chance does.
const WORSE: f64 = 0.04;
/// Standard deviation of the cosine of an error, where some are of any angle.
const SPREAD: f64 = 0.6;

/// A drive file with what was fitted to it.
struct State {
    spec: DriveSpec,
    geometry: Geometry,
    fit: PhaseFit,
    model: Model,
    sightings: Vec<Sighting>,
    pairs: Vec<Pair>,
    ranges: Vec<Disagreement>,
}

impl State {
    fn new(spec: DriveSpec, observations: &[Observation], fit: PhaseFit) -> Self {
        let file = Geometry::new(&spec.layout);
        let geometry = fit.placed(&file);
        let sightings = sightings(observations, &geometry);
        let pairs = pairs(&sightings);
        let model = model_of(&fit, &geometry);
        let ranges = if fit.period_found { disagree::find(&model, &sightings) } else { Vec::new() };
        Self { spec, geometry: file, fit, model, sightings, pairs, ranges }
    }

    /// The same with a change, fitted anew.
    fn with(&self, change: Alteration, observations: &[Observation]) -> Option<Self> {
        let spec = change.apply(&self.spec)?;
        let fit = PhaseFit::new(observations, &Geometry::new(&spec.layout), spec.rotation_rpm);
        let state = fit.period_found.then(|| Self::new(spec, observations, fit))?;
        // All that was seen must have its place.
        (state.sightings.len() == self.sightings.len()).then_some(state)
    }

    /// The zones around the first address that is out of step, or that an unlisted track is passed over at; else those around the first
    /// zone that agrees with itself much less than another.
    fn suspects(&self) -> Option<RangeInclusive<usize>> {
        let zone = |lba| self.geometry.site(lba).map(|site| site.zone);
        let range = self.ranges.first().map(|range| range.begins_between);
        let skipped = self.fit.skipped.iter().find(|track| !track.listed).map(|track| track.between);
        let first = [range, skipped].into_iter().flatten().min();
        let (before, last) = if let Some((before, first)) = first {
            (zone(before)?, zone(first)?)
        } else {
            let worse = self.first_worse_zone()?;
            // A zone before it may agree too well to be called worse.
            (worse.saturating_sub(1), worse)
        };
        Some(before.saturating_sub(1)..=last)
    }

    /// The first zone whose pairs agree less than those of another. A zone too many costs a look, no more.
    fn first_worse_zone(&self) -> Option<usize> {
        // What so many pairs, which share observations, are off by.
        let spread = |zone: &ZoneFit| 2.0 * SPREAD / (zone.pairs.max(1) as f64 / 2.0).sqrt();
        let zones = || self.fit.zones.iter();
        let best = zones().map(|zone| zone.coherence_after - spread(zone)).fold(0.0, f64::max);
        zones().find(|zone| zone.coherence_after + spread(zone) < best - WORSE).map(|zone| zone.zone)
    }

    /// Whether the geometry may be wrong: nothing was found, or something is left, or taken for many tracks with defects.
    fn is_suspect(&self) -> bool {
        self.pairs.len() >= FEW && (!self.fit.period_found || self.suspects().is_some())
    }

    /// Tracks passed over that the file does not list: what one number explains as well is no such list.
    fn unlisted(&self) -> usize {
        self.fit.skipped.iter().filter(|track| !track.listed).count()
    }

    /// The first address that another geometry has elsewhere.
    fn first_elsewhere(&self, other: &Self) -> u64 {
        let end = self.sightings.iter().map(|seen| seen.lba).max().unwrap_or(0);
        let (mut same, mut moved) = (0, end);
        while moved - same > 1 {
            let middle = same + (moved - same) / 2;
            if self.geometry.site(middle) == other.geometry.site(middle) {
                same = middle;
            } else {
                moved = middle;
            }
        }
        moved
    }

    /// How well pairs agree with a change, if zones begin where that is best. From the first suspect zone on skews are the fitted
    /// ones or, if that is better, those of all zones or of the file: what was fitted there may stand for what is wrong.
    fn agreement_with(
        &self,
        change: Alteration,
        suspect: usize,
        observations: &[Observation],
    ) -> Option<f64> {
        let spec = change.apply(&self.spec)?;
        let geometry = Geometry::new(&spec.layout);
        let seen = sightings(observations, &geometry);
        if seen.len() != self.sightings.len() {
            return None;
        }
        let pairs = pairs(&seen);
        let agreed = [suspect, usize::MAX].map(|from| agreement(&self.skews(&geometry, from), &seen, &pairs));
        Some(agreed[0].max(agreed[1]))
    }

    /// The skews that were fitted; from zone `from` on those of all zones, where there are any, or of the file.
    fn skews(&self, geometry: &Geometry, from: usize) -> Model {
        let mut model = Model::of_file(geometry, self.model.period_ns);
        let global = |of: fn(&ZoneFit) -> Estimate| {
            let of_all = |skew: &Estimate| skew.source == Source::Global;
            self.fit.zones.iter().map(of).find(of_all).map(|skew| skew.turns)
        };
        let (track, cylinder) = (global(|zone| zone.track_skew), global(|zone| zone.cylinder_skew));
        for (zone, of) in geometry.zones.iter().enumerate() {
            let fitted = &self.fit.zones[zone];
            let range = fitted.range_skew.map_or(of.range_skew, |skew| skew.turns);
            model.values[zone] = if zone < from {
                geometry.values(zone, fitted.track_skew.turns, fitted.cylinder_skew.turns, range)
            } else {
                let (track, cylinder) =
                    (track.unwrap_or(of.track_skew), cylinder.unwrap_or(of.cylinder_skew));
                geometry.values(zone, track, cylinder, of.range_skew)
            };
        }
        model
    }

    /// By how many standard errors pairs are ahead of those of another.
    fn ahead_of(&self, other: &Self) -> f64 {
        let both = self.pairs.iter().zip(&other.pairs);
        advantage(both.map(|(own, others)| {
            let error = self.model.error(&self.sightings, own);
            (own.block(), error, other.model.error(&other.sightings, others))
        }))
    }

    /// The changes with which pairs agree best, if better than as it is; `suspect`: from which zone on skews are in doubt.
    fn most_promising(
        &self,
        changes: &[Alteration],
        suspect: impl Fn(Alteration) -> usize,
        observations: &[Observation],
    ) -> Vec<Alteration> {
        // Many tracks that are passed over explain any angles a little.
        let doubt = if self.unlisted() > 0 { -DOUBT } else { WORTH };
        let least = agreement(&self.model, &self.sightings, &self.pairs) + doubt;
        let scored = changes.iter().filter_map(|&change| {
            let agreed = self.agreement_with(change, suspect(change), observations)?;
            (agreed > least).then_some((agreed, change))
        });
        let mut scored: Vec<(f64, Alteration)> = scored.collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(FITTED).map(|(_, change)| change).collect()
    }

    /// The change that makes the angles clearly likelier, and by how many standard errors.
    fn best_change(&self, observations: &[Observation]) -> Option<(Alteration, Self, f64)> {
        let is_lost = !self.fit.period_found || self.fit.coherence.fitted < AGREED;
        let mut tried = if is_lost { Alteration::of_heads() } else { Vec::new() };
        let mut fitted = tried.clone();
        if let Some(suspects) = self.suspects() {
            let first = *suspects.start();
            let here = Alteration::of_zones(&self.spec, suspects.clone());
            // A sector more on each track is nearly what other skews would be: the zone itself looks right, and of those behind it
            // a later one may be the first to look wrong, or one before it by chance.
            let others = (0..self.fit.zones.len()).filter(|zone| !suspects.contains(zone));
            let elsewhere: Vec<Alteration> = others.flat_map(Alteration::of_sectors).collect();
            fitted.extend(self.most_promising(&here, |_| first, observations));
            fitted.extend(self.most_promising(&elsewhere, Alteration::zone, observations));
            tried.extend(here.into_iter().chain(elsewhere));
        }
        let clear = look_elsewhere(tried.len() as f64);
        let mut best: Option<(Alteration, Self, f64)> = None;
        for change in fitted {
            let Some(state) = self.with(change, observations) else { continue };
            let ahead = state.ahead_of(self);
            let least = if state.unlisted() < self.unlisted() { 0.0 } else { clear };
            let agreed = self.fit.period_found || state.fit.coherence.fitted > AGREED;
            if agreed && ahead > least && best.as_ref().is_none_or(|best| ahead > best.2) {
                let is_all = !state.is_suspect();
                best = Some((change, state, ahead));
                if is_all {
                    break;
                }
            }
        }
        best
    }
}

/// How well pairs agree if the angle between any two zones is what suits them best: 0 to 1.
fn agreement(model: &Model, sightings: &[Sighting], pairs: &[Pair]) -> f64 {
    let zones = model.offsets.len();
    let mut sums = vec![(0.0, 0.0); zones * zones];
    for pair in pairs {
        let (from, to) = (sightings[pair.from].site.zone, sightings[pair.to].site.zone);
        // The other way round the angle between two zones has the other sign.
        let sign = if from <= to { TAU } else { -TAU };
        let (sine, cosine) = (sign * model.error(sightings, pair)).sin_cos();
        let sum = &mut sums[from.min(to) * zones + from.max(to)];
        *sum = (sum.0 + sine, sum.1 + cosine);
    }
    sums.iter().map(|(sine, cosine)| f64::hypot(*sine, *cosine)).sum::<f64>() / pairs.len().max(1) as f64
}

impl Misfit {
    /// What the observations, and what was fitted to them, say against the geometry of a file.
    pub fn new(spec: &DriveSpec, observations: &[Observation], fit: &PhaseFit) -> Self {
        let mut state = State::new(spec.clone(), observations, fit.clone());
        let ranges = state.ranges.clone();
        let mut mends = Vec::new();
        while mends.len() < MOST && state.is_suspect() {
            let Some((change, mended, ahead)) = state.best_change(observations) else { break };
            mends.push(Mend {
                changes: change.changes(&state.spec),
                from_lba: state.first_elsewhere(&mended),
                coherence: (state.fit.coherence.fitted, mended.fit.coherence.fitted),
                ahead,
            });
            state = mended;
        }
        Self { ranges, mends }
    }
}

/// The angles that were fitted; `geometry` with the tracks that are passed over.
fn model_of(fit: &PhaseFit, geometry: &Geometry) -> Model {
    let mut model = Model::of_file(geometry, fit.period_ns);
    for zone in &fit.zones {
        let range = zone.range_skew.map_or(0.0, |skew| skew.turns);
        let values = geometry.values(zone.zone, zone.track_skew.turns, zone.cylinder_skew.turns, range);
        model.values[zone.zone] = values;
        model.offsets[zone.zone] = zone.first_sector.turns;
    }
    model
}

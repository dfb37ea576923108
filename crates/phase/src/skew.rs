//! The angles of the steps from track to track, cylinder to cylinder, and range to range.
//!
//! Each kind of step is judged with the inner ones known, on pairs that no outer step separates. Three hypotheses, the
//! simpler ones preferred unless the evidence is clear: the file's values; one value in turns for all zones (the skew of
//! a real drive is a time, or a number of servo wedges, whatever the sectors of the zone); a value of the zone's own.

use crate::evidence::{advantage, look_elsewhere};
use crate::geometry::{Geometry, LEVELS};
use crate::kernel::WIDE;
use crate::model::{Model, Source};
use crate::pairs::{Pair, Sighting};
use crate::search::{Found, Term, outward, refine, score};

/// Mean scores of the hypotheses, over all zones: 0.13 by chance, 1 at best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hypotheses {
    /// Pairs that could tell.
    pub pairs: usize,
    /// The file's values.
    pub file: f64,
    /// One value for all zones.
    pub global: f64,
    /// The one value for all zones that did best, in turns within [0, 1); `None` where too few pairs tell.
    pub global_turns: Option<f64>,
    /// What was chosen, zone by zone.
    pub chosen: f64,
    /// What most zones with evidence took.
    pub source: Source,
}

/// Pairs without which a zone has no say of its own.
const FEW: usize = 8;
/// Standard errors by which a value at hand must be ahead to be preferred to a simpler one.
const CLEAR: f64 = 3.0;

/// Chooses the angles of one level for every zone that is not `locked` to the file's values.
pub(crate) fn choose(
    model: &mut Model,
    geometry: &Geometry,
    level: usize,
    (sightings, pairs): (&[Sighting], &[Pair]),
    locked: &[bool],
) -> Hypotheses {
    let by_zone = terms_by_zone(model, level, sightings, pairs);
    let file: Vec<f64> = (0..by_zone.len()).map(|zone| file_value(model, geometry, zone, level)).collect();
    let pooled: Vec<Term> =
        by_zone.iter().zip(locked).filter(|(_, locked)| !**locked).flat_map(|(t, _)| t.clone()).collect();
    let global = outward(&pooled);
    let ahead = global.map_or(0.0, |found| {
        let free = by_zone.iter().zip(&file).zip(locked).filter(|(_, locked)| !**locked);
        advantage(free.flat_map(|((terms, &file), _)| both(terms, found.value, file)))
    });
    let global_wins = global.is_some_and(|found| ahead > look_elsewhere(found.reach * 8.0));
    for (zone, terms) in by_zone.iter().enumerate() {
        let simple = if global_wins { global } else { None };
        let (value, source) = if locked[zone] {
            (file[zone], Source::File)
        } else {
            of_zone(terms, file[zone], simple, global)
        };
        model.values[zone][level] = value;
        model.sources[zone][level] = source;
    }
    if global_wins {
        leave_unknown(model, level, &by_zone, &file);
    }
    summary(model, level, &by_zone, &file, global)
}

/// Where most zones turned out to differ from the value for all, zones without a say are better not given it.
fn leave_unknown(model: &mut Model, level: usize, by_zone: &[Vec<Term>], file: &[f64]) {
    let (heard, unheard): (Vec<usize>, Vec<usize>) =
        (0..by_zone.len()).partition(|&zone| by_zone[zone].len() >= FEW);
    let follow = heard.iter().filter(|&&zone| model.sources[zone][level] == Source::Global).count();
    if 2 * follow < heard.len() {
        for zone in unheard {
            if model.sources[zone][level] == Source::Global {
                model.values[zone][level] = file[zone];
                model.sources[zone][level] = Source::None;
            }
        }
    }
}

/// What the file has for this level. Between ranges it adds to the lag from cylinder to cylinder, whatever that is.
fn file_value(model: &Model, geometry: &Geometry, zone: usize, level: usize) -> f64 {
    if level == 2 {
        return geometry.file_range(zone, model.values[zone][1]);
    }
    geometry.file_values(zone)[level]
}

/// Where the file's skew between ranges was kept, lets the angle from range to range follow the one from cylinder to
/// cylinder.
pub(crate) fn keep_ranges(model: &mut Model, geometry: &Geometry) {
    for (zone, (values, sources)) in model.values.iter_mut().zip(&model.sources).enumerate() {
        if matches!(sources[2], Source::File | Source::None) {
            values[2] = geometry.file_range(zone, values[1]);
        }
    }
}

/// A zone's choice between the file's value, the one for all zones (`simple` if it won, `global` in any case), its own.
fn of_zone(terms: &[Term], file: f64, simple: Option<Found>, global: Option<Found>) -> (f64, Source) {
    let (mut value, mut source) = simple.map_or((file, Source::File), |found| (found.value, Source::Global));
    if terms.len() < FEW {
        let source = if simple.is_none() && terms.is_empty() { Source::None } else { source };
        return (value, source);
    }
    let other =
        if simple.is_some() { Some((file, Source::File)) } else { global.map(|g| (g.value, Source::Global)) };
    if let Some((candidate, from)) = other
        && advantage(both(terms, candidate, value)) > CLEAR
    {
        (value, source) = (candidate, from);
    }
    if let Some(own) = outward(terms)
        && advantage(both(terms, own.value, value)) > look_elsewhere(own.reach * 8.0)
    {
        (value, source) = (own.value, Source::Zone);
    }
    (value, source)
}

/// The terms' errors at `value` and at `other`.
fn both(terms: &[Term], value: f64, other: f64) -> impl Iterator<Item = (usize, f64, f64)> {
    let error = |term: &Term, at: f64| term.turns - term.step * at;
    terms.iter().map(move |term| (term.block, error(term, value), error(term, other)))
}

fn summary(
    model: &Model,
    level: usize,
    by_zone: &[Vec<Term>],
    file: &[f64],
    global: Option<Found>,
) -> Hypotheses {
    let pairs: usize = by_zone.iter().map(Vec::len).sum();
    let mean = |value: &dyn Fn(usize) -> f64| {
        let sum: f64 =
            by_zone.iter().enumerate().map(|(zone, t)| score(t, value(zone), WIDE) * t.len() as f64).sum();
        sum / pairs.max(1) as f64
    };
    let votes = |source| -> usize {
        let zones = by_zone.iter().zip(&model.sources).filter(|(_, sources)| sources[level] == source);
        zones.map(|(terms, _)| terms.len()).sum()
    };
    let sources = [Source::File, Source::Global, Source::Zone];
    let most = sources.into_iter().rev().max_by_key(|&source| votes(source)).unwrap_or(Source::None);
    Hypotheses {
        pairs,
        file: mean(&|zone| file[zone]),
        global: global.map_or(0.0, |found| mean(&|_| found.value)),
        global_turns: global.map(|found| found.value),
        chosen: mean(&|zone| model.values[zone][level]),
        source: if pairs == 0 { Source::None } else { most },
    }
}

/// Pairs within a zone that this level's steps separate, and no outer ones.
fn terms_by_zone(model: &Model, level: usize, sightings: &[Sighting], pairs: &[Pair]) -> Vec<Vec<Term>> {
    let mut by_zone = vec![Vec::new(); model.values.len()];
    for pair in pairs {
        let (from, to) = (&sightings[pair.from].site, &sightings[pair.to].site);
        let same_outside = from.steps[level + 1..] == to.steps[level + 1..];
        let step = to.steps[level] - from.steps[level];
        if from.zone == to.zone && same_outside && step != 0.0 {
            let values = &model.values[from.zone];
            let inner: f64 = (0..level).map(|k| (to.steps[k] - from.steps[k]) * values[k]).sum();
            let turns = pair.ns / model.period_ns - (to.end_revolutions - from.end_revolutions) - inner;
            by_zone[from.zone].push(Term { turns, step, block: pair.block() });
        }
    }
    by_zone
}

/// Tries one value for all zones once more where the file's were kept, near `global`, now on all pairs within zones:
/// with all steps about right, pairs that outer steps separate tell about inner ones, too. Whether it was taken.
pub(crate) fn reconsider(
    model: &mut Model,
    level: usize,
    global: f64,
    (sightings, pairs): (&[Sighting], &[Pair]),
    locked: &[bool],
) -> bool {
    let kept =
        |zone: &usize| !locked[*zone] && matches!(model.sources[*zone][level], Source::File | Source::None);
    let zones: Vec<usize> = (0..locked.len()).filter(kept).collect();
    if zones.is_empty() {
        return false;
    }
    let mut trial = model.clone();
    for &zone in &zones {
        trial.values[zone][level] = global;
    }
    let value = refine(&all_terms(&trial, level, &zones, sightings, pairs), global).rem_euclid(1.0);
    for &zone in &zones {
        trial.values[zone][level] = value;
        trial.sources[zone][level] = Source::Global;
    }
    let within = |pair: &&Pair| {
        let (from, to) = (&sightings[pair.from].site, &sightings[pair.to].site);
        from.zone == to.zone && zones.contains(&from.zone)
    };
    let errors = |pair: &Pair| (pair.block(), trial.error(sightings, pair), model.error(sightings, pair));
    let clear = advantage(pairs.iter().filter(within).map(errors)) > CLEAR;
    if clear {
        *model = trial;
    }
    clear
}

/// Makes the fitted angles precise, each in turn, on all pairs within a zone that its steps separate.
pub(crate) fn polish(model: &mut Model, sightings: &[Sighting], pairs: &[Pair]) {
    for _ in 0..4 {
        for level in 0..LEVELS {
            let own: Vec<Vec<usize>> = groups(model, level);
            for zones in own {
                let terms = all_terms(model, level, &zones, sightings, pairs);
                let start = model.values[zones[0]][level];
                let value = refine(&terms, start).rem_euclid(1.0);
                // A refinement that strays was none.
                let better = score(&terms, value, WIDE) >= score(&terms, start, WIDE);
                for zone in zones.into_iter().filter(|_| better) {
                    model.values[zone][level] = value;
                }
            }
        }
    }
}

/// Zones that share a fitted value.
fn groups(model: &Model, level: usize) -> Vec<Vec<usize>> {
    let with = |source| (0..model.values.len()).filter(move |&zone| model.sources[zone][level] == source);
    let mut groups: Vec<Vec<usize>> = with(Source::Zone).map(|zone| vec![zone]).collect();
    let global: Vec<usize> = with(Source::Global).collect();
    if !global.is_empty() {
        groups.push(global);
    }
    groups
}

fn all_terms(
    model: &Model,
    level: usize,
    zones: &[usize],
    sightings: &[Sighting],
    pairs: &[Pair],
) -> Vec<Term> {
    let mut terms = Vec::new();
    for pair in pairs {
        let (from, to) = (&sightings[pair.from].site, &sightings[pair.to].site);
        let step = to.steps[level] - from.steps[level];
        if from.zone == to.zone && step != 0.0 && zones.contains(&from.zone) {
            let turns = model.error(sightings, pair) + step * model.values[from.zone][level];
            terms.push(Term { turns, step, block: pair.block() });
        }
    }
    terms
}

//! Where the zones' first sectors lie, from pairs that run from one zone to another.
//!
//! Every pair of zones with observations close in time gives the angle between their first sectors. The surest of
//! these join the zones to trees; then every zone moves to where its pairs with all others put it, until nothing moves.

use crate::evidence::{above_chance, advantage};
use crate::kernel::{NARROW, WIDE, centre, mode, weight, wrap};
use crate::model::{Model, Source};
use crate::pairs::{Pair, Sighting};
use std::collections::BTreeMap;

/// Pairs without which two zones tell nothing about each other.
const FEW: usize = 4;
/// Standard errors above chance (for pairs of two zones), and ahead of the file's values (for all).
const CLEAR: f64 = 3.5;

/// Two zones, the lower number first, and their pairs.
struct Edge {
    zones: (usize, usize),
    /// Angle from the lower zone's first sector to the other's, once for each pair.
    turns: Vec<f64>,
    /// What they agree on.
    mode: f64,
    /// Pairs times coherence above chance.
    weight: f64,
}

/// Fits the zones' first sectors; the zone seen most keeps the file's angle. Returns the mean scores with the file's
/// angles and with the chosen ones, and the number of pairs between zones.
pub(crate) fn fit(
    model: &mut Model,
    file: &[f64],
    sightings: &[Sighting],
    pairs: &[Pair],
) -> (f64, f64, usize) {
    let between = |pair: &&Pair| sightings[pair.from].site.zone != sightings[pair.to].site.zone;
    let cross: Vec<Pair> = pairs.iter().filter(between).copied().collect();
    model.offsets = file.to_vec();
    let before: Vec<f64> = cross.iter().map(|pair| weight(model.error(sightings, pair), WIDE)).collect();
    let mean = |weights: &[f64]| weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let edges = edges(model, sightings, &cross);
    let joined = join(model, &edges);
    settle(model, &edges, &joined);
    let after: Vec<f64> = cross.iter().map(|pair| weight(model.error(sightings, pair), WIDE)).collect();
    let mut as_file = model.clone();
    as_file.offsets = file.to_vec();
    let errors = |pair: &Pair| (pair.block(), model.error(sightings, pair), as_file.error(sightings, pair));
    if advantage(cross.iter().map(errors)) <= CLEAR {
        model.offsets = file.to_vec();
        for (source, joined) in model.offset_sources.iter_mut().zip(&joined) {
            *source = if joined.is_some() { Source::File } else { Source::None };
        }
        return (mean(&before), mean(&before), cross.len());
    }
    (mean(&before), mean(&after), cross.len())
}

/// The angles between zones, whatever the model's offsets; only clear ones.
fn edges(model: &Model, sightings: &[Sighting], cross: &[Pair]) -> Vec<Edge> {
    let mut by_zones: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for pair in cross {
        let (from, to) = (sightings[pair.from].site.zone, sightings[pair.to].site.zone);
        let apart = model.error(sightings, pair) + model.offsets[to] - model.offsets[from];
        let (key, turns) = if from < to { ((from, to), apart) } else { ((to, from), -apart) };
        by_zones.entry(key).or_default().push(turns);
    }
    let edge = |(zones, turns): ((usize, usize), Vec<f64>)| {
        let (mode, _) = mode(&turns)?;
        let score = turns.iter().map(|turn| weight(turn - mode, WIDE)).sum::<f64>() / turns.len() as f64;
        let clear = turns.len() >= FEW && above_chance(score, turns.len()) > CLEAR;
        let weight = turns.len() as f64 * score * score;
        clear.then_some(Edge { zones, turns, mode, weight })
    };
    by_zones.into_iter().filter_map(edge).collect()
}

/// Joins the zones along the weightiest edges (Kruskal) and sets the offsets accordingly. For each zone that is joined
/// to the reference: the weight of the edge that did it.
fn join(model: &mut Model, edges: &[Edge]) -> Vec<Option<f64>> {
    let zones = model.offsets.len();
    let mut weights = vec![0.0; zones];
    for edge in edges {
        weights[edge.zones.0] += edge.weight;
        weights[edge.zones.1] += edge.weight;
    }
    let reference = (0..zones).max_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(b.cmp(&a)));
    let mut order: Vec<&Edge> = edges.iter().collect();
    order.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.zones.cmp(&b.zones)));
    // Which tree a zone belongs to, and its angle from the tree's root.
    let mut tree: Vec<usize> = (0..zones).collect();
    let mut turns = vec![0.0; zones];
    for edge in order {
        let (a, b) = edge.zones;
        if tree[a] != tree[b] {
            let shift = turns[a] + edge.mode - turns[b];
            let (kept, lost) = (tree[a], tree[b]);
            for (root, turns) in tree.iter_mut().zip(&mut turns).filter(|(root, _)| **root == lost) {
                *root = kept;
                *turns += shift;
            }
        }
    }
    let mut joined = vec![None; zones];
    let Some(reference) = reference else { return joined };
    let base = model.offsets[reference] - turns[reference];
    for zone in 0..zones {
        let alone = tree[zone] != tree[reference] || weights[reference] <= 0.0;
        joined[zone] = (!alone).then_some(weights[zone]);
        model.offset_sources[zone] = if alone { Source::None } else { Source::Zone };
        if !alone && zone != reference {
            model.offsets[zone] = (base + turns[zone]).rem_euclid(1.0);
        }
    }
    if weights[reference] > 0.0 {
        model.offset_sources[reference] = Source::File;
    }
    joined
}

/// Moves every joined zone but the reference to the centre of what its edges say, until nothing moves.
fn settle(model: &mut Model, edges: &[Edge], joined: &[Option<f64>]) {
    for round in 0..40 {
        let mut moved: f64 = 0.0;
        for (zone, joined) in joined.iter().enumerate() {
            if joined.is_none() || model.offset_sources[zone] != Source::Zone {
                continue;
            }
            let mut turns = Vec::new();
            for edge in edges {
                if edge.zones.0 == zone {
                    turns.extend(edge.turns.iter().map(|turn| model.offsets[edge.zones.1] - turn));
                } else if edge.zones.1 == zone {
                    turns.extend(edge.turns.iter().map(|turn| model.offsets[edge.zones.0] + turn));
                }
            }
            let width = if round < 10 { WIDE } else { NARROW };
            let at = centre(&turns, model.offsets[zone], width);
            moved = moved.max(wrap(at - model.offsets[zone]).abs());
            model.offsets[zone] = at.rem_euclid(1.0);
        }
        if moved < 1e-6 && round >= 10 {
            break;
        }
    }
}

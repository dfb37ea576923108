//! The time of one turn.
//!
//! Pairs on one cylinder need no skew but that between its tracks. Over a tenth of a second a period wrong by half a
//! percent is wrong by less than a tenth of a turn, so the search begins there, with the track skew beside it (the
//! file's, or one in turns for all zones), and goes on to longer times; at last, with the layout known, to seconds.
//! Where requests go all over the disk few pairs lie on one cylinder: then the file's layout is tried on all of them.

use crate::evidence::{above_chance, look_elsewhere};
use crate::geometry::Geometry;
use crate::kernel::{NARROW, WIDE, by_chance, weight, wrap};
use crate::model::Model;
use crate::pairs::{FAR_NS, FEW, Pair, Sighting, distant_pairs};

/// How far off the nominal speed may be.
pub(crate) const RANGE: f64 = 0.0075;
/// Times over which the period is made precise, in ns, ascending. Over longer ones it would gain nothing (0.01 turn in
/// 5 s are 15 ppm for one pair, and there are thousands), and jumps of the phase would no longer be rare.
const LONGER_NS: [u64; 2] = [1_500_000_000, 5_000_000_000];

/// A pair on one cylinder: `turns` + `revolutions` · (speed error) − `step` · skew is its error.
#[derive(Clone, Copy)]
struct Term {
    turns: f64,
    revolutions: f64,
    step: f64,
}

/// A speed, as the relative error of the nominal one, and a track skew in turns.
#[derive(Clone, Copy)]
struct Guess {
    speed: f64,
    skew: f64,
}

fn score(terms: &[Term], guess: Guess, width: f64) -> f64 {
    let error = |term: &Term| term.turns + term.revolutions * guess.speed - term.step * guess.skew;
    terms.iter().map(|term| weight(error(term), width)).sum::<f64>() / terms.len().max(1) as f64
}

/// The period in ns; `None` where the pairs do not agree on one.
pub(crate) fn search(
    geometry: &Geometry,
    sightings: &[Sighting],
    pairs: &[Pair],
    nominal_ns: f64,
) -> Option<f64> {
    let period_ns = on_cylinders(geometry, sightings, pairs, nominal_ns)
        .or_else(|| by_layout(&Model::of_file(geometry, nominal_ns), sightings, pairs))?;
    let is_far = pairs.iter().any(|pair| pair.ns > FAR_NS[0] as f64);
    (!is_far || is_alone(&Model::of_file(geometry, period_ns), sightings, pairs)).then_some(period_ns)
}

/// Whether no other speed does nearly as well: over a second at an even pace a turn more or less, 1 % of the speed, fits as well.
fn is_alone(model: &Model, sightings: &[Sighting], pairs: &[Pair]) -> bool {
    let terms = of_layout(model, sightings, pairs);
    let longest = terms.iter().map(|term| term.revolutions).fold(1.0, f64::max);
    let shortest = terms.iter().map(|term| term.revolutions).fold(f64::INFINITY, f64::min).max(1.0);
    let arm = (2.0 * RANGE * longest / 0.03).ceil().min(2000.0) as i32;
    let speeds = (-arm..=arm).map(|point| 2.0 * RANGE * f64::from(point) / f64::from(arm));
    let above = |speed| score(&terms, Guess { speed, skew: 0.0 }, WIDE) - by_chance(WIDE);
    let best = speeds.clone().filter(|speed| speed.abs() * shortest <= 0.3).map(above).fold(0.0, f64::max);
    speeds.filter(|speed| speed.abs() * shortest > 0.3).all(|speed| above(speed) < 0.7 * best)
}

/// From pairs on one cylinder.
fn on_cylinders(geometry: &Geometry, sightings: &[Sighting], pairs: &[Pair], nominal_ns: f64) -> Option<f64> {
    let with_file = terms(geometry, sightings, pairs, nominal_ns, true);
    if with_file.len() < FEW {
        return None;
    }
    let free = terms(geometry, sightings, pairs, nominal_ns, false);
    let guesses = [best(&with_file, 1), best(&free, 64)];
    let scored = guesses.into_iter().zip([&with_file, &free]);
    let (score, guess) =
        scored.map(|(guess, terms)| (score(terms, guess, WIDE), guess)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    // Some 30 speeds and 64 skews can be told apart.
    (above_chance(score, with_file.len()) > look_elsewhere(2000.0)).then(|| nominal_ns / (1.0 + guess.speed))
}

/// From all pairs, if the file has their angles right.
fn by_layout(file: &Model, sightings: &[Sighting], pairs: &[Pair]) -> Option<f64> {
    let terms = of_layout(file, sightings, pairs);
    if terms.len() < FEW {
        return None;
    }
    let guess = best(&terms, 1);
    let score = score(&terms, guess, WIDE);
    (above_chance(score, terms.len()) > look_elsewhere(2000.0)).then(|| file.period_ns / (1.0 + guess.speed))
}

/// All pairs, with the layout known.
fn of_layout(model: &Model, sightings: &[Sighting], pairs: &[Pair]) -> Vec<Term> {
    let term = |pair: &Pair| Term {
        turns: model.error(sightings, pair),
        revolutions: pair.ns / model.period_ns,
        step: 0.0,
    };
    pairs.iter().map(term).collect()
}

fn terms(
    geometry: &Geometry,
    sightings: &[Sighting],
    pairs: &[Pair],
    nominal_ns: f64,
    file: bool,
) -> Vec<Term> {
    let skews: Vec<f64> = (0..geometry.zones.len()).map(|zone| geometry.file_values(zone)[0]).collect();
    let on_one_cylinder = |pair: &Pair| {
        let (from, to) = (&sightings[pair.from].site, &sightings[pair.to].site);
        if from.zone != to.zone || from.steps[1..] != to.steps[1..] {
            return None;
        }
        let step = to.steps[0] - from.steps[0];
        let revolutions = pair.ns / nominal_ns;
        let turns = revolutions - (to.end_revolutions - from.end_revolutions);
        let known = if file { step * skews[from.zone] } else { 0.0 };
        Some(Term { turns: turns - known, revolutions, step: if file { 0.0 } else { step } })
    };
    pairs.iter().filter_map(on_one_cylinder).collect()
}

/// The best guess: a grid over short times and few steps, then the best of it over longer ones.
fn best(terms: &[Term], skews: u32) -> Guess {
    let mut times: Vec<f64> = terms.iter().map(|term| term.revolutions).collect();
    times.sort_by(f64::total_cmp);
    // Up to a dozen turns (0.1 s); more if short times are rare.
    let short = times[(FEW - 1).min(times.len() - 1)].max(12.0);
    let near: Vec<Term> =
        terms.iter().filter(|term| term.revolutions <= short && term.step.abs() <= 3.0).copied().collect();
    let arm = (RANGE * short / 0.03).ceil() as i32;
    let speeds = (-arm..=arm).map(|point| RANGE * f64::from(point) / f64::from(arm));
    let mut guesses: Vec<Guess> = speeds
        .flat_map(|speed| {
            (0..skews).map(move |point| Guess { speed, skew: f64::from(point) / f64::from(skews) })
        })
        .collect();
    let (mut speed_step, mut skew_step) = (RANGE / f64::from(arm), 1.0 / f64::from(skews));
    keep_best(&mut guesses, &near, 40);
    for (longest, farthest) in
        [(2.5 * short, 8.0), (6.0 * short, f64::INFINITY), (f64::INFINITY, f64::INFINITY)]
    {
        let close = |term: &&Term| term.revolutions <= longest && term.step.abs() <= farthest;
        let within: Vec<Term> = terms.iter().filter(close).copied().collect();
        guesses =
            guesses.iter().flat_map(|&guess| neighbours(guess, speed_step, skew_step, skews > 1)).collect();
        keep_best(&mut guesses, &within, 40);
        speed_step /= 3.0;
        skew_step /= 3.0;
    }
    refined(terms, guesses[0])
}

/// The guess and those one third and two thirds of a step away.
fn neighbours(guess: Guess, speed_step: f64, skew_step: f64, both: bool) -> impl Iterator<Item = Guess> {
    let arm = if both { 3 } else { 0 };
    (-3..=3_i32).flat_map(move |i| {
        (-arm..=arm).map(move |j: i32| Guess {
            speed: guess.speed + speed_step * f64::from(i) / 3.0,
            skew: guess.skew + skew_step * f64::from(j) / 3.0,
        })
    })
}

fn keep_best(guesses: &mut Vec<Guess>, terms: &[Term], keep: usize) {
    let mut scored: Vec<(f64, Guess)> =
        guesses.iter().map(|&guess| (score(terms, guess, WIDE), guess)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(keep);
    *guesses = scored.into_iter().map(|(_, guess)| guess).collect();
}

/// Speed and skew in turn, each by weighted least squares.
fn refined(terms: &[Term], mut guess: Guess) -> Guess {
    for round in 0..16 {
        let width = if round < 6 { WIDE } else { NARROW };
        let mut sums = [0.0; 4];
        for term in terms {
            let error = wrap(term.turns + term.revolutions * guess.speed - term.step * guess.skew);
            let weight = weight(error, width).sqrt();
            let slope = if round % 2 == 0 { term.revolutions } else { -term.step };
            sums[0] += weight * error * slope;
            sums[1] += weight * slope * slope;
        }
        if sums[1] > 0.0 {
            let change = sums[0] / sums[1];
            if round % 2 == 0 {
                guess.speed -= change;
            } else {
                guess.skew -= change;
            }
        }
    }
    guess
}

/// The period with the layout known: first over the same pairs, then over longer times as long as the phase holds.
pub(crate) fn sharpen(model: &mut Model, sightings: &[Sighting], pairs: &[Pair]) {
    let Some(base) = sharpened(model, sightings, pairs, pairs_reach(pairs)) else { return };
    let (mut reach, mut shorter) = (pairs_reach(pairs), pairs.to_vec());
    for apart_ns in LONGER_NS {
        let distant = distant_pairs(sightings, apart_ns);
        let mut trial = model.clone();
        let Some(score) = sharpened(&mut trial, sightings, &distant, reach) else { break };
        // A jump that many of the pairs lie across looks like a speed. The shorter times tell the difference.
        let holds = agreement(&trial, sightings, &shorter) >= 0.95 * agreement(model, sightings, &shorter);
        if score < 0.6 * base || !holds {
            break;
        }
        *model = trial;
        (reach, shorter) = (apart_ns as f64, distant);
    }
}

/// What the errors of the pairs count on average.
fn agreement(model: &Model, sightings: &[Sighting], pairs: &[Pair]) -> f64 {
    let counts = pairs.iter().map(|pair| weight(model.error(sightings, pair), NARROW));
    counts.sum::<f64>() / pairs.len().max(1) as f64
}

fn pairs_reach(pairs: &[Pair]) -> f64 {
    let total: f64 = pairs.iter().map(|pair| pair.ns).sum();
    (total / pairs.len().max(1) as f64).max(1.0)
}

/// Searches the period near the present one, which is good over `reach_ns`; takes it if it is clear. Its score.
fn sharpened(model: &mut Model, sightings: &[Sighting], pairs: &[Pair], reach_ns: f64) -> Option<f64> {
    if pairs.len() < FEW {
        return None;
    }
    let nominal = model.period_ns;
    let terms = of_layout(model, sightings, pairs);
    let longest = terms.iter().map(|term| term.revolutions).fold(0.0, f64::max);
    let spacing = 0.04 / longest;
    let arm = ((WIDE / 2.0) / (reach_ns / nominal) / spacing).ceil().min(100.0) as i32;
    let mut guesses: Vec<Guess> =
        (-arm..=arm).map(|point| Guess { speed: spacing * f64::from(point), skew: 0.0 }).collect();
    keep_best(&mut guesses, &terms, 1);
    let guess = refined(&terms, guesses[0]);
    let score = score(&terms, guess, WIDE);
    if above_chance(score, terms.len()) < look_elsewhere(f64::from(2 * arm + 1)) {
        return None;
    }
    model.period_ns = nominal / (1.0 + guess.speed);
    Some(score)
}

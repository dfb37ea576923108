//! Ranges of addresses whose angles do not agree with those of all others.
//!
//! Where a file has a zone boundary, a number of sectors or of heads wrong, every address behind it lies elsewhere, and no skew
//! mends that. The angle of each observation is held against the spindle as those around it in time have it; in the order of
//! addresses, the most likely ranges (Viterbi) are those that are as the file has them, and those of any angle.

use crate::kernel::{NARROW, by_chance, mode, weight, wrap};
use crate::model::Model;
use crate::pairs::Sighting;
use headstack_units::Nanos;

/// A range of addresses whose angles are not as the file and what was fitted have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disagreement {
    /// The last address seen before that is in step with the others, and the first that is not.
    pub begins_between: (u64, u64),
    /// The last address that is out of step, and the next one seen; the same again at the end of what was seen.
    pub ends_between: (u64, u64),
    /// Observations in the range.
    pub observations: usize,
    /// Share of them that agree with those elsewhere: 0.1 by chance.
    pub agreeing: f64,
    /// Natural logarithm of the odds that the angles there have nothing to do with the file's, against half of them being as it has them.
    pub log_odds: f64,
}

/// Observations so close in time see the spindle at the same angle.
const NEAR_NS: u64 = 1_200_000_000;
/// Observations that must agree on the angle of the spindle.
const AGREEING: f64 = 3.0;
/// Share of right observations where the file is right: rather too low, since caches answer in places more requests than a model knows.
const RIGHT: f64 = 0.5;
/// Widths of right errors: of exact times, and of noisier ones.
const WIDTHS: [f64; 4] = [NARROW, 1.5 * NARROW, 2.0 * NARROW, 3.0 * NARROW];
/// Beyond the number of places where it may be: natural logarithm of the odds that a beginning or an end must have.
const CLEAR: f64 = 6.0;
/// How often the spindle is looked at anew, without what is out of step.
const ROUNDS: usize = 3;

/// The ranges that are out of step, in the order of their addresses. `sightings` are placed in the geometry of the model.
pub(crate) fn find(model: &Model, sightings: &[Sighting]) -> Vec<Disagreement> {
    let mut order: Vec<usize> = (0..sightings.len()).collect();
    order.sort_by_key(|&number| (sightings[number].lba, number));
    let mut is_trusted = vec![true; sightings.len()];
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let off = off_spindle(model, sightings, &is_trusted);
        let width = likeliest_width(&off);
        let gains: Vec<f64> =
            order.iter().map(|&number| off[number].map_or(0.0, |off| gain_within(off, width))).collect();
        let wrong = most_likely(&gains);
        found = ranges(&wrong).map(|range| describe(sightings, &order, &off, &gains, range)).collect();
        let mut trusted = vec![true; sightings.len()];
        for (place, &number) in order.iter().enumerate() {
            trusted[number] = !wrong[place];
        }
        if trusted == is_trusted {
            break;
        }
        is_trusted = trusted;
    }
    found
}

/// By how much each sighting is off the spindle as trusted ones around it have it, in turns; `None` where too few of them agree.
fn off_spindle(model: &Model, sightings: &[Sighting], is_trusted: &[bool]) -> Vec<Option<f64>> {
    let turned = |at: Nanos| at.0 as f64 / model.period_ns;
    let rest: Vec<f64> = sightings.iter().map(|seen| wrap(turned(seen.at) - model.turns(seen))).collect();
    let (mut first, mut last) = (0, 0);
    let of = |(number, seen): (usize, &Sighting)| {
        while seen.at.saturating_sub(sightings[first].at).0 > NEAR_NS {
            first += 1;
        }
        while last < rest.len() && sightings[last].at.saturating_sub(seen.at).0 <= NEAR_NS {
            last += 1;
        }
        let others: Vec<f64> = (first..last)
            .filter(|&other| other != number && is_trusted[other])
            .map(|other| rest[other])
            .collect();
        let (at, share) = mode(&others)?;
        (share * others.len() as f64 >= AGREEING - 0.5).then(|| wrap(rest[number] - at))
    };
    sightings.iter().enumerate().map(of).collect()
}

/// Natural logarithm of how much likelier an error is where the file is right than where any angle is.
pub(crate) fn gain(error: f64) -> f64 {
    gain_within(error, NARROW)
}

fn gain_within(error: f64, width: f64) -> f64 {
    (1.0 - RIGHT + RIGHT * weight(error, width) / by_chance(width)).ln()
}

/// The width of errors that is likeliest of all that were seen: noisy times scatter around right angles, too.
fn likeliest_width(off: &[Option<f64>]) -> f64 {
    let all = |width: f64| off.iter().flatten().map(|&off| gain_within(off, width)).sum::<f64>();
    let scored = WIDTHS.map(|width| (all(width), width));
    scored.into_iter().fold((f64::NEG_INFINITY, NARROW), |best, of| if of.0 > best.0 { of } else { best }).1
}

/// Which observations, in the order of their addresses, are most likely in a range of any angle.
fn most_likely(gains: &[f64]) -> Vec<bool> {
    let change = (gains.len().max(1) as f64).ln() + CLEAR;
    let (mut right, mut wrong) = (0.0_f64, -change);
    let mut back = Vec::with_capacity(gains.len());
    for gain in gains {
        let came_wrong = [wrong - change > right, wrong >= right - change];
        let from_right = right;
        right = if came_wrong[0] { wrong - change } else { right } + gain;
        wrong = if came_wrong[1] { wrong } else { from_right - change };
        back.push(came_wrong);
    }
    let mut is_wrong = wrong > right;
    let mut path = vec![false; gains.len()];
    for number in (0..gains.len()).rev() {
        path[number] = is_wrong;
        is_wrong = back[number][usize::from(is_wrong)];
    }
    path
}

/// First and last of each run of true values.
fn ranges(wrong: &[bool]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    let runs = wrong.chunk_by(|a, b| a == b).map(move |run| {
        at += run.len();
        (run[0], (at - run.len(), at - 1))
    });
    runs.filter(|run| run.0).map(|run| run.1)
}

fn describe(
    sightings: &[Sighting],
    order: &[usize],
    off: &[Option<f64>],
    gains: &[f64],
    (first, last): (usize, usize),
) -> Disagreement {
    let lba = |place: usize| sightings[order[place]].lba;
    let told: Vec<f64> = order[first..=last].iter().filter_map(|&number| off[number]).collect();
    let agreeing = told.iter().filter(|off| off.abs() < NARROW).count();
    Disagreement {
        begins_between: (first.checked_sub(1).map_or(0, lba), lba(first)),
        ends_between: (lba(last), lba((last + 1).min(order.len() - 1))),
        observations: last + 1 - first,
        agreeing: agreeing as f64 / told.len().max(1) as f64,
        log_odds: -gains[first..=last].iter().sum::<f64>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_any_angle_is_found_to_within_few_observations() {
        let error = |number: u32| if (300..400).contains(&number) { f64::from(number) * 0.618 } else { 0.01 };
        let gains: Vec<f64> = (0..1000).map(|number| gain(error(number))).collect();
        let found: Vec<(usize, usize)> = ranges(&most_likely(&gains)).collect();
        let [(first, last)] = found[..] else { panic!("{found:?}") };
        assert!(first.abs_diff(300) <= 3 && last.abs_diff(399) <= 3, "{found:?}");
    }

    /// Long times are noisier, and lie together where seeks are long.
    #[test]
    fn a_range_of_noisier_times_is_no_range_of_any_angle() {
        let within = |number: u32| if (300..500).contains(&number) { 0.5 } else { 0.2 };
        let error = |number: u32| Some(((f64::from(number) * 0.618).fract() - 0.5) * within(number));
        let off: Vec<Option<f64>> = (0..1000).map(error).collect();
        let count = |width: f64| {
            let gains: Vec<f64> = off.iter().flatten().map(|&off| gain_within(off, width)).collect();
            ranges(&most_likely(&gains)).count()
        };
        assert_eq!((count(NARROW), count(likeliest_width(&off))), (1, 0));
    }

    #[test]
    fn two_in_five_right_are_no_range() {
        let error = |number: u32| if number % 5 < 3 { f64::from(number) * 0.618 } else { 0.01 };
        let gains: Vec<f64> = (0..1000).map(|number| gain(error(number))).collect();
        assert_eq!(ranges(&most_likely(&gains)).count(), 0);
        assert_eq!(ranges(&most_likely(&[])).count(), 0);
    }
}

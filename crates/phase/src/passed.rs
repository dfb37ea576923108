//! How many tracks were passed over before each of a zone's observations: the most likely course (Viterbi).

use crate::disagree::gain;
use crate::kernel::{NARROW, centre, weight, wrap};

/// What an observation must gain to say that one track more was passed over: two of them do.
const JUMP: f64 = 1.5;
/// Natural logarithm of the odds, beyond the number of places where it may be, that a track has that is surely passed over.
pub(crate) const SURE: f64 = 4.6;
/// Angles tried for the beginning of a zone.
const OFFSETS: usize = 100;
/// More than this is no zone with a few defects.
const MOST: usize = 60;
/// Tracks beyond those listed that may be passed over between two neighbouring observations.
pub(crate) const EXTRA: usize = 4;

/// An observation: its angle where the zone begins at 0, less that from the track's beginning; and its track.
pub(crate) struct Passed {
    pub(crate) turns: f64,
    pub(crate) track: f64,
}

/// How many listed tracks lie before a track that is counted without them.
pub(crate) fn passed_before(listed: &[u64], track: f64) -> usize {
    let counted = listed.iter().enumerate().map(|(earlier, &physical)| physical as f64 - earlier as f64);
    counted.take_while(|&from| from <= track).count()
}

/// Two neighbouring observations: their tracks, counted without those passed over, and how many were before each.
pub(crate) struct Gap {
    pub(crate) tracks: (f64, f64),
    pub(crate) passed: (usize, usize),
}

impl Gap {
    /// The tracks passed over between the two, ascending, and whether each is `listed`: as many of the list as there can be,
    /// and others in the middle.
    pub(crate) fn passed_over(&self, listed: &[u64]) -> Vec<(u64, bool)> {
        let jumps = self.passed.1 - self.passed.0;
        let first = (self.tracks.0 + self.passed.0 as f64 + 1.0) as u64;
        let end = self.tracks.1 as u64 + self.passed.1 as u64;
        let within = listed.iter().copied().filter(|track| (first..end).contains(track));
        let mut found: Vec<(u64, bool)> = within.take(jumps).map(|track| (track, true)).collect();
        let middle = self.tracks.0 + ((self.tracks.1 - self.tracks.0) / 2.0).ceil();
        let middle = middle as u64 + (self.passed.0 + found.len()) as u64;
        for _ in found.len()..jumps {
            let is_free = |track: &u64| found.iter().all(|of| of.0 != *track);
            let Some(free) = (middle..end).chain((first..middle).rev()).find(is_free) else { break };
            found.push((free, false));
        }
        found.sort_unstable();
        found
    }
}

/// The angle of the zone's beginning, and how many tracks, up to `most`, were passed over before each observation. `steps` is
/// the angle of a track; the observations come in the order of their addresses. Those `listed` are likely to be passed over, as
/// others are likely not to be.
pub(crate) fn most_likely(
    seen: &[Passed],
    most: usize,
    listed: &[u64],
    steps: &dyn Fn(f64) -> f64,
) -> (f64, Vec<usize>) {
    Course::new(seen, most, listed, steps).most_likely()
}

/// The same numbers, of a zone that begins at `offset`, but that each track other than those `listed`, and each of those that is
/// not passed over, makes the observations likelier by more than chance does anywhere in the zone.
pub(crate) fn surely(
    seen: &[Passed],
    most: usize,
    listed: &[u64],
    steps: &dyn Fn(f64) -> f64,
    offset: f64,
) -> Vec<usize> {
    let jump = jump_that_is_sure(seen);
    let course = Course { jump, counts_each: gain, ..Course::new(seen, most, listed, steps) };
    course.traced(offset)
}

/// Natural logarithm of the odds of the most likely numbers against any angles, each track costing what [`surely`] asks of it.
pub(crate) fn odds(seen: &[Passed], most: usize, listed: &[u64], steps: &dyn Fn(f64) -> f64) -> f64 {
    let jump = jump_that_is_sure(seen);
    let course = Course { jump, counts_each: gain, ..Course::new(seen, most, listed, steps) };
    let (offset, path) = course.most_likely();
    let gains: f64 = course.rest.iter().zip(&path).map(|(rest, &k)| gain(rest[k] - offset)).sum();
    let others: Vec<i32> = course.others.iter().zip(&path).map(|(others, &k)| others[k]).collect();
    let jumps: u32 = others.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
    let jumps = jumps + others.first().map_or(0, |first| first.unsigned_abs());
    gains - jump_that_is_sure(seen) * f64::from(jumps)
}

fn jump_that_is_sure(seen: &[Passed]) -> f64 {
    (seen.len().max(1) as f64).ln() + SURE
}

/// What an observation counts that is so far off.
fn agrees(error: f64) -> f64 {
    weight(error, NARROW)
}

/// For each observation and number of tracks the number before it.
type Back = Vec<Vec<usize>>;

/// What the observations say of every number of tracks passed over before each.
struct Course {
    is_listed: bool,
    /// What a track must gain that is not as the list has it, and what an observation counts.
    jump: f64,
    counts_each: fn(f64) -> f64,
    rest: Vec<Vec<f64>>,
    others: Vec<Vec<i32>>,
    tracks: Vec<f64>,
}

impl Course {
    fn new(seen: &[Passed], most: usize, listed: &[u64], steps: &dyn Fn(f64) -> f64) -> Self {
        let numbers = 0..=most.min(MOST.max(listed.len() + EXTRA));
        // Angles left for every number of tracks.
        let rest = |seen: &Passed| {
            numbers.clone().map(|k| wrap(seen.turns - steps(seen.track + k as f64))).collect::<Vec<f64>>()
        };
        // How many of them are not as the list has them.
        let others = |seen: &Passed| {
            let before = |k: usize| listed.partition_point(|&track| track as f64 <= seen.track + k as f64);
            numbers.clone().map(|k| k as i32 - before(k) as i32).collect::<Vec<i32>>()
        };
        Self {
            is_listed: !listed.is_empty(),
            jump: JUMP,
            counts_each: agrees,
            rest: seen.iter().map(rest).collect(),
            others: seen.iter().map(others).collect(),
            tracks: seen.iter().map(|seen| seen.track).collect(),
        }
    }

    /// The beginning of the zone, and the best course.
    fn most_likely(&self) -> (f64, Vec<usize>) {
        let offset = self.best_offset();
        let path = self.traced(offset);
        let angles: Vec<f64> = self.rest.iter().zip(&path).map(|(rest, &k)| rest[k]).collect();
        let offset = centre(&angles, offset, NARROW).rem_euclid(1.0);
        (offset, self.traced(offset))
    }

    /// The beginning of the zone at which the best course counts most.
    fn best_offset(&self) -> f64 {
        let offsets: [f64; OFFSETS] = core::array::from_fn(|point| point as f64 / OFFSETS as f64);
        let counts = self.counts(&offsets);
        let best = counts
            .iter()
            .enumerate()
            .fold((f64::NEG_INFINITY, 0), |best, (point, &of)| if of > best.0 { (of, point) } else { best });
        offsets[best.1]
    }

    /// What is counted before the first observation.
    fn begin(&self) -> Vec<f64> {
        let first = self.others.first().map_or(&[0][..], Vec::as_slice);
        first.iter().map(|&others| -self.jump * f64::from(others.abs())).collect()
    }

    /// Whether tracks may lie between an observation and the one before: on one track nothing is passed over.
    fn is_beyond(&self, number: usize) -> bool {
        number > 0 && self.tracks[number] > self.tracks[number - 1]
    }

    /// What the best course counts at each of these beginnings of the zone, all at once: what a step costs is the same.
    fn counts(&self, offsets: &[f64; OFFSETS]) -> [f64; OFFSETS] {
        let mut sums: Vec<[f64; OFFSETS]> = self.begin().into_iter().map(|sum| [sum; OFFSETS]).collect();
        for (number, rest) in self.rest.iter().enumerate() {
            if self.is_beyond(number) {
                if self.is_listed {
                    step_all(self.jump, &mut sums, [&self.others[number - 1], &self.others[number]]);
                } else {
                    step_all_by_one(self.jump, &mut sums);
                }
            }
            for (sums, rest) in sums.iter_mut().zip(rest) {
                for (sum, offset) in sums.iter_mut().zip(offsets) {
                    *sum += (self.counts_each)(rest - offset);
                }
            }
        }
        let mut most = [f64::NEG_INFINITY; OFFSETS];
        for sums in &sums {
            take_larger(&mut most, sums, 0.0);
        }
        most
    }

    /// The best course where the zone begins at `offset`.
    fn traced(&self, offset: f64) -> Vec<usize> {
        let mut sums = self.begin();
        let mut back: Back = Vec::with_capacity(self.rest.len());
        for (number, rest) in self.rest.iter().enumerate() {
            let mut from: Vec<usize> = (0..sums.len()).collect();
            if self.is_beyond(number) {
                if self.is_listed {
                    step(self.jump, &mut sums, &mut from, [&self.others[number - 1], &self.others[number]]);
                } else {
                    step_by_one(self.jump, &mut sums, &mut from);
                }
            }
            for (sum, rest) in sums.iter_mut().zip(rest) {
                *sum += (self.counts_each)(rest - offset);
            }
            back.push(from);
        }
        let (mut at, _) = sums
            .iter()
            .copied()
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, of| if of.1 > best.1 { of } else { best });
        let mut path = vec![0; self.rest.len()];
        for number in (0..self.rest.len()).rev() {
            path[number] = at;
            at = back[number][at];
        }
        path
    }
}

/// `sums` where they are, less the cost, larger.
fn take_larger(most: &mut [f64; OFFSETS], sums: &[f64; OFFSETS], cost: f64) {
    for (most, sum) in most.iter_mut().zip(sums) {
        let sum = sum - cost;
        *most = if sum > *most { sum } else { *most };
    }
}

/// [`step_by_one`] at all offsets.
fn step_all_by_one(jump: f64, sums: &mut [[f64; OFFSETS]]) {
    for k in 1..sums.len() {
        let (before, own) = sums.split_at_mut(k);
        take_larger(&mut own[0], &before[k - 1], jump);
    }
}

/// [`step`] at all offsets.
fn step_all(jump: f64, sums: &mut [[f64; OFFSETS]], [before, after]: [&[i32]; 2]) {
    for k in (0..sums.len()).rev() {
        let mut most = [f64::NEG_INFINITY; OFFSETS];
        for j in (k.saturating_sub(reach(before[k], after[k]))..=k).rev() {
            take_larger(&mut most, &sums[j], jump * f64::from((after[k] - before[j]).abs()));
        }
        sums[k] = most;
    }
}

/// How many tracks more there may be at the next observation.
fn reach(before: i32, after: i32) -> usize {
    (before - after).max(0) as usize + EXTRA
}

/// From one observation to the next, without a list: every track more costs.
fn step_by_one(jump: f64, sums: &mut [f64], from: &mut [usize]) {
    for k in 1..sums.len() {
        if sums[k - 1] - jump > sums[k] {
            sums[k] = sums[k - 1] - jump;
            from[k] = from[k - 1];
        }
    }
}

/// The same with a list: every track more that it does not have, and every one less, costs.
fn step(jump: f64, sums: &mut [f64], from: &mut [usize], [before, after]: [&[i32]; 2]) {
    // Descending, so that what is read is from before the step.
    for k in (0..sums.len()).rev() {
        let reach = reach(before[k], after[k]);
        let cost = |j: usize| jump * f64::from((after[k] - before[j]).abs());
        let (best, of) = (k.saturating_sub(reach)..=k)
            .rev()
            .map(|j| (sums[j] - cost(j), j))
            .fold((f64::NEG_INFINITY, k), |best, of| if of.0 > best.0 { of } else { best });
        (sums[k], from[k]) = (best, of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observations of a zone whose tracks are 0.13 turns apart; every fifth has any angle.
    fn seen(passed: impl Fn(f64) -> f64) -> Vec<Passed> {
        (0..400)
            .map(|number| {
                let track = f64::from(number) * 3.0;
                let wrong = if number % 5 == 0 { f64::from(number) * 0.618 } else { 0.0 };
                Passed { turns: 0.13 * (track + passed(track)) + 0.4 + wrong, track }
            })
            .collect()
    }

    #[test]
    fn tracks_that_were_passed_over_are_counted_where_they_are() {
        let truth =
            |track: f64| f64::from(u8::from(track >= 300.0)) + 2.0 * f64::from(u8::from(track >= 900.0));
        let (offset, path) = most_likely(&seen(truth), 10, &[], &|track| 0.13 * track);
        assert!(wrap(offset - 0.4).abs() < 0.005, "{offset}");
        let wrong = path.iter().enumerate().filter(|&(at, &k)| k as f64 != truth(at as f64 * 3.0)).count();
        assert!(wrong <= 2, "{wrong}");
    }

    #[test]
    fn nothing_is_passed_over_where_nothing_says_so() {
        let (offset, path) = most_likely(&seen(|_| 0.0), 10, &[], &|track| 0.13 * track);
        assert!(wrap(offset - 0.4).abs() < 0.005 && path.iter().all(|&k| k == 0), "{offset} {path:?}");
        assert!(most_likely(&[], 10, &[], &|track| track).1.is_empty());
    }
}

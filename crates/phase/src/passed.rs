//! How many tracks were passed over before each of a zone's observations: the most likely course (Viterbi).

use crate::kernel::{NARROW, centre, weight, wrap};

/// What an observation must gain to say that one track more was passed over: two of them do.
const JUMP: f64 = 1.5;
/// Angles tried for the beginning of a zone.
const OFFSETS: u32 = 100;
/// More than this is no zone with a few defects.
const MOST: usize = 60;
/// Tracks beyond those listed that may be passed over between two neighbouring observations.
const EXTRA: usize = 4;

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
    let states = most.min(MOST.max(listed.len() + EXTRA)) + 1;
    let numbers = 0..states;
    // Angles left for every number of tracks.
    let rest = |seen: &Passed| {
        numbers.clone().map(|k| wrap(seen.turns - steps(seen.track + k as f64))).collect::<Vec<f64>>()
    };
    // How many of them are not as the list has them.
    let others = |seen: &Passed| {
        let before = |k: usize| listed.partition_point(|&track| track as f64 <= seen.track + k as f64);
        numbers.clone().map(|k| k as i32 - before(k) as i32).collect::<Vec<i32>>()
    };
    let course = Course {
        is_listed: !listed.is_empty(),
        rest: seen.iter().map(rest).collect(),
        others: seen.iter().map(others).collect(),
        tracks: seen.iter().map(|seen| seen.track).collect(),
    };
    let grid = (0..OFFSETS).map(|point| f64::from(point) / f64::from(OFFSETS));
    let scored = grid.map(|offset| (course.counts(offset, &mut None), offset));
    let (_, offset) = scored.fold((f64::NEG_INFINITY, 0.0), |best, of| if of.0 > best.0 { of } else { best });
    let path = course.traced(offset);
    let angles: Vec<f64> = course.rest.iter().zip(&path).map(|(rest, &k)| rest[k]).collect();
    let offset = centre(&angles, offset, NARROW).rem_euclid(1.0);
    let path = course.traced(offset);
    (offset, path)
}

/// For each observation and number of tracks the number before it.
type Back = Vec<Vec<usize>>;

/// What the observations say of every number of tracks passed over before each.
struct Course {
    is_listed: bool,
    rest: Vec<Vec<f64>>,
    others: Vec<Vec<i32>>,
    tracks: Vec<f64>,
}

impl Course {
    /// What the best course counts; notes the way back where asked to.
    fn counts(&self, offset: f64, back: &mut Option<(Back, usize)>) -> f64 {
        let first = self.others.first().map_or(&[0][..], Vec::as_slice);
        let mut sums: Vec<f64> = first.iter().map(|&others| -JUMP * f64::from(others.abs())).collect();
        let mut from: Vec<usize> = (0..sums.len()).collect();
        for (number, rest) in self.rest.iter().enumerate() {
            for (k, from) in from.iter_mut().enumerate() {
                *from = k;
            }
            // On one track nothing is passed over.
            if number > 0 && self.tracks[number] > self.tracks[number - 1] {
                if self.is_listed {
                    step(&mut sums, &mut from, [&self.others[number - 1], &self.others[number]]);
                } else {
                    step_by_one(&mut sums, &mut from);
                }
            }
            for (sum, rest) in sums.iter_mut().zip(rest) {
                *sum += weight(rest - offset, NARROW);
            }
            if let Some((back, _)) = back {
                back.push(from.clone());
            }
        }
        let (last, best) = sums
            .iter()
            .copied()
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, of| if of.1 > best.1 { of } else { best });
        if let Some((_, end)) = back {
            *end = last;
        }
        best
    }

    fn traced(&self, offset: f64) -> Vec<usize> {
        let mut back = Some((Vec::with_capacity(self.rest.len()), 0));
        self.counts(offset, &mut back);
        let Some((back, mut at)) = back else { return Vec::new() };
        let mut path = vec![0; self.rest.len()];
        for number in (0..self.rest.len()).rev() {
            path[number] = at;
            at = back[number][at];
        }
        path
    }
}

/// From one observation to the next, without a list: every track more costs.
fn step_by_one(sums: &mut [f64], from: &mut [usize]) {
    for k in 1..sums.len() {
        if sums[k - 1] - JUMP > sums[k] {
            sums[k] = sums[k - 1] - JUMP;
            from[k] = from[k - 1];
        }
    }
}

/// The same with a list: every track more that it does not have, and every one less, costs.
fn step(sums: &mut [f64], from: &mut [usize], [before, after]: [&[i32]; 2]) {
    // Descending, so that what is read is from before the step.
    for k in (0..sums.len()).rev() {
        let reach = (before[k] - after[k]).max(0) as usize + EXTRA;
        let cost = |j: usize| JUMP * f64::from((after[k] - before[j]).abs());
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

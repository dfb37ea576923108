//! How many tracks were passed over before each of a zone's observations: the most likely course (Viterbi).

use crate::kernel::{NARROW, centre, weight, wrap};

/// What an observation must gain to say that one track more was passed over: two of them do.
const JUMP: f64 = 1.5;
/// Angles tried for the beginning of a zone.
const OFFSETS: u32 = 100;
/// More than this is no zone with a few defects.
const MOST: usize = 60;

/// An observation: its angle where the zone begins at 0, less that from the track's beginning; and its track.
pub(crate) struct Passed {
    pub(crate) turns: f64,
    pub(crate) track: f64,
}

/// The angle of the zone's beginning, and how many tracks, up to `most`, were passed over before each observation. `steps` is
/// the angle of a track; the observations come in the order of their addresses.
pub(crate) fn most_likely(seen: &[Passed], most: usize, steps: &dyn Fn(f64) -> f64) -> (f64, Vec<usize>) {
    let states = most.min(MOST) + 1;
    // Angles left for every number of tracks.
    let rest: Vec<Vec<f64>> = seen
        .iter()
        .map(|seen| (0..states).map(|k| wrap(seen.turns - steps(seen.track + k as f64))).collect())
        .collect();
    let tracks: Vec<f64> = seen.iter().map(|seen| seen.track).collect();
    let grid = (0..OFFSETS).map(|point| f64::from(point) / f64::from(OFFSETS));
    let scored = grid.map(|offset| (course(&rest, &tracks, offset, &mut None), offset));
    let (_, offset) = scored.fold((f64::NEG_INFINITY, 0.0), |best, of| if of.0 > best.0 { of } else { best });
    let path = traced(&rest, &tracks, offset);
    let angles: Vec<f64> = rest.iter().zip(&path).map(|(rest, &k)| rest[k]).collect();
    let offset = centre(&angles, offset, NARROW).rem_euclid(1.0);
    let path = traced(&rest, &tracks, offset);
    (offset, path)
}

/// For each observation and number of tracks the number before it.
type Back = Vec<Vec<usize>>;

/// What the best course counts; notes the way back where asked to.
fn course(rest: &[Vec<f64>], tracks: &[f64], offset: f64, back: &mut Option<(Back, usize)>) -> f64 {
    let states = rest.first().map_or(1, Vec::len);
    let mut sums: Vec<f64> = (0..states).map(|k| -JUMP * k as f64).collect();
    let mut from: Vec<usize> = (0..states).collect();
    for (number, rest) in rest.iter().enumerate() {
        for (k, from) in from.iter_mut().enumerate() {
            *from = k;
        }
        // On one track nothing is passed over.
        if number > 0 && tracks[number] > tracks[number - 1] {
            for k in 1..states {
                if sums[k - 1] - JUMP > sums[k] {
                    sums[k] = sums[k - 1] - JUMP;
                    from[k] = from[k - 1];
                }
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

fn traced(rest: &[Vec<f64>], tracks: &[f64], offset: f64) -> Vec<usize> {
    let mut back = Some((Vec::with_capacity(rest.len()), 0));
    course(rest, tracks, offset, &mut back);
    let Some((back, mut at)) = back else { return Vec::new() };
    let mut path = vec![0; rest.len()];
    for number in (0..rest.len()).rev() {
        path[number] = at;
        at = back[number][at];
    }
    path
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
        let (offset, path) = most_likely(&seen(truth), 10, &|track| 0.13 * track);
        assert!(wrap(offset - 0.4).abs() < 0.005, "{offset}");
        let wrong = path.iter().enumerate().filter(|&(at, &k)| k as f64 != truth(at as f64 * 3.0)).count();
        assert!(wrong <= 2, "{wrong}");
    }

    #[test]
    fn nothing_is_passed_over_where_nothing_says_so() {
        let (offset, path) = most_likely(&seen(|_| 0.0), 10, &|track| 0.13 * track);
        assert!(wrap(offset - 0.4).abs() < 0.005 && path.iter().all(|&k| k == 0), "{offset} {path:?}");
        assert!(most_likely(&[], 10, &|track| track).1.is_empty());
    }
}

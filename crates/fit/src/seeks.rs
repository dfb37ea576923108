//! Seek times by distance, from the revolutions that requests lost.
//!
//! A request that comes a moment after its sector waits for another revolution; one that comes long before waits as long as it
//! takes. So an error of the seek time hides, but in requests that wait shorter than the error is long. Each request tells
//! between which times its seek must lie: no longer than the wait it had to spare, and longer than what would have brought
//! it there a revolution sooner. A curve through these is found without replaying the drive for each value that is tried;
//! whether it is any better, a replay of all requests decides.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::rounded;
use crate::values::Values;
use headstack_drive::layout::Layout;
use headstack_units::Op;
use std::ops::Range;
use toml::Value;

/// A curve has a point for so many requests, and at most so many points.
const REQUESTS_A_POINT: usize = 60;
const MOST_POINTS: usize = 24;
/// What is tried for a point, or for several neighbours together, in ms.
const STEPS_MS: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4];
/// How many neighbours are moved together: a curve is smooth unless the times say otherwise.
const TOGETHER: [usize; 5] = [usize::MAX, 5, 3, 2, 1];
const SWEEPS: usize = 4;
/// A point that saves fewer revolutions than this is noise: a request or two by the way could ask for it.
const LEAST_TURNS: f64 = 3.0;
/// Values are looked at in steps of this, in ms, and kept to so many digits.
const GRID_MS: f64 = 0.02;
const DIGITS: usize = 2;

/// A request whose completion waited for a seek and then for its sector.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    cylinders: u32,
    /// How long the head waited for the first sector.
    wait_ms: f64,
    /// By how much the model is slower.
    error_ms: f64,
}

impl Sighting {
    /// How far the model would be off if the seek took so much longer.
    fn off_ms(&self, extra_ms: f64, turn_ms: f64) -> f64 {
        let turns = ((extra_ms - self.wait_ms) / turn_ms).ceil();
        (self.error_ms + turns * turn_ms).abs()
    }
}

/// What a replay tells of seeks.
pub(crate) struct Seeks {
    sightings: Vec<Sighting>,
    turn_ms: f64,
}

impl Seeks {
    /// Replays a drive; of one direction alone if that is asked for. `None` where its values contradict each other.
    pub(crate) fn of(
        evaluator: &Evaluator<'_>,
        values: &Values,
        only: Option<Op>,
    ) -> Result<Option<Self>, FitError> {
        let (Some(times), Some(drive)) = (evaluator.replay(values)?, evaluator.drive(values)) else {
            return Ok(None);
        };
        let layout = Layout::new(&drive.layout);
        let requests = evaluator.requests();
        let mut sightings = Vec::new();
        let mut arm = None;
        for (number, request) in requests.iter().enumerate() {
            let last = request.lba.0 + u64::from(request.sectors.max(1)) - 1;
            if last >= layout.capacity() {
                continue;
            }
            let cylinder = layout.locate(request.lba.0).cylinder;
            let from = arm.replace(layout.locate(last).cylinder);
            let cylinders = from.map_or(0, |from: u32| from.abs_diff(cylinder));
            let (seek, wait) = times.positioning[number];
            let waited = times.on_media[number] && seek.0 > 0 && cylinders > 0;
            if waited && layout.share_track(request.lba.0, last) && only.is_none_or(|op| op == request.op) {
                let measured = evaluator.measured()[number];
                let error_ms = times.model[number].signed_diff(measured) as f64 / 1e6;
                sightings.push(Sighting { cylinders, wait_ms: wait.as_ms(), error_ms });
            }
        }
        sightings.sort_by_key(|sighting| sighting.cylinders);
        Ok(Some(Self { sightings, turn_ms: 60e3 / drive.rotation_rpm }))
    }

    /// Distances between which as many requests lie; none where there are too few.
    fn distances(&self) -> Vec<u32> {
        let count = (self.sightings.len() / REQUESTS_A_POINT).min(MOST_POINTS);
        let Some(last) = self.sightings.len().checked_sub(1).filter(|_| count >= 2) else {
            return Vec::new();
        };
        let mut found: Vec<u32> =
            (0..count).map(|point| self.sightings[last * point / (count - 1)].cylinders).collect();
        found.dedup();
        found
    }

    /// What seeks take longer, in ms, within bounds: distances, and for each the middle of what tells the times as well.
    fn extra_ms(&self, distances: Vec<u32>, bounds: [f64; 2]) -> (Vec<u32>, Vec<f64>) {
        let extra_ms = vec![0.0; distances.len()];
        let mut search = Search { seeks: self, distances, extra_ms, bounds };
        search.settle();
        while search.leave_out() {
            search.settle();
        }
        (0..search.distances.len()).for_each(|point| search.centre(point));
        (search.distances, search.extra_ms)
    }
}

/// A search for a curve.
struct Search<'a> {
    seeks: &'a Seeks,
    distances: Vec<u32>,
    extra_ms: Vec<f64>,
    bounds: [f64; 2],
}

impl Search<'_> {
    /// Sweeps until nothing moves.
    fn settle(&mut self) {
        for _ in 0..SWEEPS {
            let before = self.extra_ms.clone();
            for together in TOGETHER {
                self.sweep(together.min(self.distances.len()));
            }
            if self.extra_ms == before {
                break;
            }
        }
    }

    /// Leaves out the point that is missed least, if it is hardly missed; a curve of no points is none.
    fn leave_out(&mut self) -> bool {
        let all = self.whole_loss();
        let without = |point: usize| {
            let mut fewer = Search {
                seeks: self.seeks,
                distances: self.distances.clone(),
                extra_ms: self.extra_ms.clone(),
                ..*self
            };
            fewer.distances.remove(point);
            fewer.extra_ms.remove(point);
            (fewer.whole_loss(), fewer.distances, fewer.extra_ms)
        };
        let least = (0..self.distances.len()).map(without).min_by(|(a, ..), (b, ..)| a.total_cmp(b));
        match least {
            Some((loss, distances, extra_ms)) if loss - all < LEAST_TURNS * self.seeks.turn_ms => {
                (self.distances, self.extra_ms) = (distances, extra_ms);
                true
            }
            _ => false,
        }
    }

    fn whole_loss(&self) -> f64 {
        self.loss(0..self.distances.len())
    }

    /// Moves neighbours together while that helps.
    fn sweep(&mut self, together: usize) {
        for first in 0..=self.distances.len() - together {
            for size in STEPS_MS {
                for step in [-size, size] {
                    self.try_step(first..first + together, step);
                }
            }
        }
    }

    fn try_step(&mut self, points: Range<usize>, step: f64) {
        let [low, high] = self.bounds;
        let now = self.loss(points.clone());
        let kept = self.extra_ms.clone();
        for extra in &mut self.extra_ms[points.clone()] {
            *extra = (*extra + step).clamp(low, high);
        }
        if self.loss(points) >= now {
            self.extra_ms = kept;
        }
    }

    /// To the middle of the values that are as good; it stays at nothing where that is one of them.
    fn centre(&mut self, point: usize) {
        let [low, high] = self.bounds;
        let (best, least) = (self.extra_ms[point], self.loss(point..point + 1));
        let mut end = |sign: f64| {
            let mut at = best;
            loop {
                let next = at + sign * GRID_MS;
                self.extra_ms[point] = next;
                if !(low..=high).contains(&next) || self.loss(point..point + 1) > least {
                    return at;
                }
                at = next;
            }
        };
        let (from, to) = (end(-1.0), end(1.0));
        let is_nothing = (from..=to).contains(&0.0);
        self.extra_ms[point] = if is_nothing { 0.0 } else { rounded(f64::midpoint(from, to), DIGITS) };
    }

    /// How far the requests are off that some points have to do with.
    fn loss(&self, points: Range<usize>) -> f64 {
        let (distances, seeks) = (&self.distances, &self.seeks.sightings);
        let from = points.start.checked_sub(1).map_or(0, |before| distances[before]);
        let to = distances.get(points.end).copied().unwrap_or(u32::MAX);
        let first = seeks.partition_point(|sighting| sighting.cylinders < from);
        let after = seeks.partition_point(|sighting| sighting.cylinders <= to);
        let off = |seek: &Sighting| seek.off_ms(self.at(seek.cylinders), self.seeks.turn_ms);
        seeks[first..after].iter().map(off).sum()
    }

    fn at(&self, cylinders: u32) -> f64 {
        level_between(&self.distances, &self.extra_ms, cylinders)
    }
}

/// Straight between points, level beyond the ends.
fn level_between(distances: &[u32], values: &[f64], at: u32) -> f64 {
    let above = distances.partition_point(|&distance| distance < at);
    match (above.checked_sub(1), distances.get(above)) {
        (None, _) => values.first().copied().unwrap_or(0.0),
        (Some(below), None) => values[below],
        (Some(below), Some(&next)) => {
            let share = f64::from(at - distances[below]) / f64::from(next - distances[below]);
            values[below] + (values[above] - values[below]) * share
        }
    }
}

/// The drive in which seeks take as long, by distance, as lost revolutions say; `path` is the curve's, `bounds` what its
/// values may be. `None` where there is nothing to tell.
pub(crate) fn proposed(
    evaluator: &Evaluator<'_>,
    start: &Point,
    (path, only): (&str, Option<Op>),
    [low, high]: [f64; 2],
) -> Result<Option<Point>, FitError> {
    let Some(seeks) = Seeks::of(evaluator, &start.values, only)? else { return Ok(None) };
    let distances = seeks.distances();
    if distances.is_empty() {
        return Ok(None);
    }
    let (old_at, old) = points(&start.values, path);
    let before = |at: u32| level_between(&old_at, &old, at);
    let room = [low, high].map(|bound| bound - distances.iter().map(|&at| before(at)).fold(0.0, f64::max));
    let (distances, extra) = seeks.extra_ms(distances, room);
    if extra.iter().all(|&extra| extra == 0.0) {
        return Ok(None);
    }
    let point = |(&at, extra): (&u32, f64)| {
        let ms = (before(at) + extra).clamp(low, high);
        Value::Array(vec![Value::Float(f64::from(at)), Value::Float(rounded(ms, DIGITS))])
    };
    let curve = distances.iter().zip(extra).map(point).collect();
    evaluator.point(&start.values.with(path, Value::Array(curve)))
}

/// The points of a curve in a drive.
fn points(values: &Values, path: &str) -> (Vec<u32>, Vec<f64>) {
    let curve = values.get(path).and_then(Value::as_array).map_or(&[][..], |points| points);
    let pair = |point: &Value| {
        let number = |which: usize| point.get(which).map_or(0.0, crate::values::real);
        (number(0) as u32, number(1))
    };
    curve.iter().map(pair).unzip()
}

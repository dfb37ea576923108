//! Intervals: how far a value may be moved, the others following, before the fit gets worse than chance allows.
//!
//! At a kink or a jump the curvature at the best values says little of what lies beside them. Where throughputs depend on a sum, as
//! that of a delay and of a command's time on the media, a valley leads from the best values to others that fit as well, over bumps: a
//! track more or less in a small file. So each value is walked along its valley, over bumps of that height, and where that shows better
//! values the search goes on from them.

use crate::least_squares::{norm, rest};
use crate::parameter::Parameter;
use crate::search::{ANY_VALUE, Ended, Search, alike, moved, no_more_words};
use headstack_system::SystemError;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The share that a table is right to at best: its throughputs are rounded.
const ROUNDED: f64 = 1e-5;
/// The variance of what is anywhere between nothing and one.
const UNIFORM: f64 = 1.0 / 12.0;
/// Right beside the best values, better ones leave less than this share of the squares. Farther off they must be so many fewer that
/// chance does not do it: else the best of noise would be taken, however absurd.
const BETTER: f64 = 0.95;
/// Steps of a walk, in shares of the way over which the curvature would keep it.
const STEPS_OF_THE_WAY: f64 = 8.0;
/// Each step is longer than the last.
const LONGER: f64 = 1.4;
const FASTER_INSIDE: f64 = 1.4;
const MOST_STEPS: usize = 24;
/// The farthest first step, in scales: from the curvature alone none would be too far.
const FIRST_STEP: f64 = 0.25;
/// Most halvings between the last value inside and the first outside, and the share of what chance allows that is near enough.
const HALVINGS: usize = 6;
const NEAR_ENOUGH: f64 = 0.1;
/// The difference over which slopes give the curvature, in scales.
const SHARE: f64 = 0.1;
/// Steps in which values behind bumps are looked for.
const FINE: usize = 64;
/// The nearest of them, as a share of the farthest.
const NEAREST: f64 = 1e-3;
/// Where bumps are less than what chance allows, and the curvature is right to this share, its end is taken.
const SMOOTH: f64 = 0.25;
/// From so many times the fastest throughput on a rate is as good as endless.
const ENDLESS: f64 = 20.0;

/// What walking along the valleys shows.
pub(crate) enum Profiled {
    /// Values that fit better.
    Better(Vec<f64>),
    /// For each parameter, of those whose valley has no end, what is known; and the most squares that chance allows.
    Open(Vec<Option<Open>>, f64),
    /// 95 % intervals of those that the table tells.
    Intervals(Vec<Option<[f64; 2]>>),
}

/// A valley without an end.
pub(crate) struct Open {
    /// Why the table cannot tell the value.
    pub(crate) why: String,
    /// What the table does not rule out.
    pub(crate) within: [f64; 2],
    /// Whether others do the same: then nothing is known of it at all.
    pub(crate) is_alike: bool,
}

/// The squares within which chance keeps the true values, and the height of the bumps on the way.
struct Limits {
    least: f64,
    inside: f64,
    bumps: f64,
}

/// An end of a valley.
struct End {
    value: f64,
    /// What that comes to in the model.
    actual: f64,
    /// Whether it came to where nothing depends on it any more, or another on the way did.
    is_open: bool,
    are_others_open: bool,
}

/// Along a valley to its end, or to better values.
enum Walk {
    To(End),
    Better(Vec<f64>),
}

/// One way along a valley: a value is moved, and the others follow.
struct Valley<'a> {
    search: &'a Search<'a>,
    limits: &'a Limits,
    place: usize,
    others: &'a [usize],
    /// The value it begins with.
    first: f64,
    /// Scales by which the curvature would keep it.
    beside: f64,
}

/// What the others came to where the value is moved by so many scales.
#[derive(Clone)]
struct Point {
    scales: f64,
    values: Vec<f64>,
    loss: f64,
}

impl Search<'_> {
    pub(crate) fn profiled(&self, ended: &Ended) -> Result<Profiled, SystemError> {
        let told = &ended.told;
        let free: Vec<usize> = (0..told.len()).filter(|&place| told[place].is_none()).collect();
        let limits = self.limits(ended, free.len());
        let slopes = self.both_slopes(&ended.values, &free, SHARE)?.0;
        // Those in doubt first: if one is open, all are.
        let in_doubt = alike(&slopes, &free);
        let mut order = free.clone();
        order.sort_by_key(|place| !in_doubt.contains(place));
        let mut ends: Vec<Option<[End; 2]>> = told.iter().map(|_| None).collect();
        for place in order {
            let others: Vec<usize> = free.iter().copied().filter(|&other| other != place).collect();
            let columns: Vec<&Vec<f64>> = others.iter().map(|&other| &slopes[other]).collect();
            let own = norm(&rest(&slopes[place], &columns));
            let valley = Valley::new(self, &limits, ended, place, &others, own);
            // Highest values first: there rates have no end.
            let signs = if self.parameters[place].is_rate() { [-1.0, 1.0] } else { [1.0, -1.0] };
            let mut both = Vec::new();
            for sign in signs {
                match valley.walk(&ended.values, sign / own) {
                    Walk::Better(values) => return Ok(Profiled::Better(values)),
                    Walk::To(end) => both.insert(0, end),
                }
                if in_doubt.contains(&place) && (both[0].is_open || both[0].are_others_open) {
                    return Ok(Profiled::Open(self.none_of(&in_doubt), limits.inside));
                }
            }
            ends[place] = <[End; 2]>::try_from(both).ok();
        }
        let open = self.open(&ends);
        if open.iter().any(Option::is_some) {
            return Ok(Profiled::Open(open, limits.inside));
        }
        let interval = |ends: &Option<[End; 2]>| ends.as_ref().map(|[low, high]| [low.actual, high.actual]);
        Ok(Profiled::Intervals(ends.iter().map(interval).collect()))
    }

    /// The most squares that chance allows, where a search ended.
    pub(crate) fn most_squares(&self, ended: &Ended) -> f64 {
        self.limits(ended, ended.told.iter().filter(|told| told.is_none()).count()).inside
    }

    fn limits(&self, ended: &Ended, free: usize) -> Limits {
        let rows = self.table.len() as f64;
        let freedom = rows - free as f64;
        let least = self.loss(&ended.values);
        let student = StudentsT::new(0.0, 1.0, freedom).map_or(0.0, |student| student.inverse_cdf(0.975));
        let bumps = self.jumps(&ended.values);
        // Where the table is not met exactly, a track more or less in each file is as likely as not, and in all of them at once.
        let jumps = if self.is_exact(least) { 0.0 } else { UNIFORM * bumps };
        let scatter = least.max(rows * ROUNDED * ROUNDED) / freedom;
        Limits { least, inside: least + (student * student * scatter).max(jumps), bumps }
    }

    /// Whether a value is so extreme that nothing is known of it.
    fn is_open(&self, values: &[f64], place: usize) -> bool {
        let parameter = self.parameters[place];
        let (value, [least, most]) = (self.actual(values, place), parameter.bounds(self.spec));
        let fastest = self.table.iter().map(|row| row.mb_per_s).fold(0.0, f64::max);
        if parameter.is_rate() {
            value <= 1.01 * least || value >= ENDLESS * fastest
        } else {
            value >= 0.99 * most
        }
    }

    /// What is known of open valleys.
    fn open(&self, ends: &[Option<[End; 2]>]) -> Vec<Option<Open>> {
        let what = |(place, ends): (usize, &Option<[End; 2]>)| {
            let [low, high] = ends.as_ref().filter(|[low, high]| low.is_open || high.is_open)?;
            let parameter = self.parameters[place];
            let why = if low.is_open == high.is_open {
                ANY_VALUE.to_owned()
            } else {
                let end = if high.is_open { low } else { high };
                no_more_words(parameter, end.actual, high.is_open)
            };
            let within = [
                if low.is_open { 0.0 } else { low.value },
                if high.is_open { f64::INFINITY } else { high.value },
            ];
            Some(Open { why, within, is_alike: false })
        };
        ends.iter().enumerate().map(what).collect()
    }

    /// Of parameters that do the same none is told; but an inner rate among them keeps its share of the outer one, which may tell the
    /// others.
    fn none_of(&self, alike: &[usize]) -> Vec<Option<Open>> {
        let is_inner = |place: &usize| self.parameters[*place] == Parameter::Inner;
        let inner: Vec<usize> = alike.iter().copied().filter(is_inner).collect();
        let held = if inner.is_empty() { alike } else { &inner };
        let what = |place: usize| {
            let others = alike.iter().filter(|&&other| other != place);
            let names: Vec<String> =
                others.map(|&other| format!("`{}`", self.parameters[other].name())).collect();
            let who = if names.is_empty() { "the others".to_owned() } else { names.join(", ") };
            let why = format!(
                "what it does to the table {who} can do as well: fit it without, or name other sizes"
            );
            held.contains(&place).then_some(Open { why, within: [0.0, f64::INFINITY], is_alike: true })
        };
        (0..self.parameters.len()).map(what).collect()
    }
}

impl<'a> Valley<'a> {
    /// `own`: by how much a scale of the value changes throughputs that the others do not make up for.
    fn new(
        search: &'a Search<'a>,
        limits: &'a Limits,
        ended: &Ended,
        place: usize,
        others: &'a [usize],
        own: f64,
    ) -> Self {
        let first = ended.values[place];
        let beside = ((limits.inside - limits.least).sqrt() / own).min(FIRST_STEP);
        Self { search, limits, place, others, first, beside }
    }

    /// Walks one way, `per_norm` scales for each unit of change by the curvature, until the fit is worse than the limits.
    fn walk(&self, from: &[f64], per_norm: f64) -> Walk {
        let chance = self.limits.inside - self.limits.least;
        let way = |squares: f64| (per_norm * squares.sqrt()).clamp(-FIRST_STEP, FIRST_STEP);
        let start = Point { scales: 0.0, values: from.to_vec(), loss: self.limits.least };
        let first = self.point(&start, way(chance));
        let share = (first.loss - self.limits.least) / chance;
        let is_smooth = self.limits.bumps < chance && (share - 1.0).abs() < SMOOTH;
        let end = if self.is_better(&first) {
            first
        } else if is_smooth {
            Point { scales: first.scales / share.sqrt(), ..first }
        } else {
            let step =
                way((chance + self.limits.bumps) / STEPS_OF_THE_WAY.powi(2)).abs().max(way(chance).abs());
            self.outward(start, first, step.copysign(per_norm))
        };
        if self.is_better(&end) {
            return Walk::Better(end.values);
        }
        let are_others_open = self.others.iter().any(|&other| self.search.is_open(&end.values, other));
        let value = self.value(end.scales);
        let actual = self.search.actual(&moved(&end.values, self.place, value), self.place);
        Walk::To(End { value, actual, is_open: self.is_open(&end), are_others_open })
    }

    fn is_open(&self, point: &Point) -> bool {
        self.search.is_open(&point.values, self.place)
    }

    /// The last point inside, or a better one.
    fn outward(&self, start: Point, first: Point, mut step: f64) -> Point {
        let (mut inside, mut outside, mut here) = (start, None, first);
        let mut lowest: Option<Point> = None;
        for _ in 0..MOST_STEPS {
            if self.is_better(&here) {
                return here;
            }
            let is_lower = lowest.as_ref().is_none_or(|lowest| here.loss < lowest.loss);
            if outside.is_some() && is_lower {
                lowest = Some(here.clone());
            }
            if here.loss <= self.limits.inside {
                (inside, outside) = (here.clone(), None);
                if self.is_open(&here) {
                    return here;
                }
                step *= FASTER_INSIDE;
            } else {
                outside = outside.or(Some(here.scales));
            }
            if here.loss > self.limits.inside + self.limits.bumps || self.is_at_a_bound(here.scales) {
                break;
            }
            here = self.point(&here, here.scales + step);
            step *= LONGER;
        }
        // Behind a bump there may be a way down that the others alone do not find.
        let below = lowest.map(|lowest| self.descended(&lowest));
        if let Some(below) = below.filter(|below| self.is_better(below)) {
            return below;
        }
        let last = here.scales;
        let Some(mut outside) = outside else { return inside };
        let near = NEAR_ENOUGH * (self.limits.inside - self.limits.least);
        for _ in 0..HALVINGS {
            if inside.loss > self.limits.inside - near {
                break;
            }
            let half = self.point(&inside, 0.5 * (inside.scales + outside));
            if self.is_better(&half) {
                return half;
            }
            if half.loss <= self.limits.inside { inside = half } else { outside = half.scales }
        }
        self.beyond(inside, last)
    }

    /// The farthest value on the way that is inside, behind bumps between which the steps found no other: where files end a track
    /// earlier or later is worse, and farther on they end as before.
    fn beyond(&self, inside: Point, last: f64) -> Point {
        if self.limits.bumps < self.limits.inside - self.limits.least {
            return inside;
        }
        let point = |step: usize| {
            let share = NEAREST.powf(1.0 - step as f64 / FINE as f64);
            let scales = inside.scales + (last - inside.scales) * share;
            let values = moved(&inside.values, self.place, self.value(scales));
            Point { scales, loss: self.search.loss(&values), values }
        };
        (1..=FINE).rev().map(point).find(|point| point.loss <= self.limits.inside).unwrap_or(inside.clone())
    }

    /// The others follow from where they are.
    fn point(&self, from: &Point, scales: f64) -> Point {
        let there = moved(&from.values, self.place, self.value(scales));
        let values = self.search.follow(&there, self.others).unwrap_or(there);
        Point { scales, loss: self.search.loss(&values), values }
    }

    /// Where all go down from a point.
    fn descended(&self, from: &Point) -> Point {
        if from.loss > self.limits.inside + self.limits.bumps {
            return from.clone();
        }
        let mut free = self.others.to_vec();
        free.push(self.place);
        let values = self.search.descend(&from.values, &free).unwrap_or_else(|_| from.values.clone());
        Point { scales: from.scales, loss: self.search.loss(&values), values }
    }

    fn parameter(&self) -> Parameter {
        self.search.parameters[self.place]
    }

    fn value(&self, scales: f64) -> f64 {
        self.parameter().within(self.parameter().moved(self.first, scales), self.search.spec)
    }

    fn is_at_a_bound(&self, scales: f64) -> bool {
        self.value(scales) != self.parameter().moved(self.first, scales)
    }

    fn is_better(&self, point: &Point) -> bool {
        let Limits { least, inside, .. } = *self.limits;
        let share = if point.scales.abs() <= self.beside { BETTER } else { least / inside };
        point.loss < share * least && !self.search.is_exact(least)
    }
}

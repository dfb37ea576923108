//! Within what range the fitted part knows each number, the others free to make up for it.
//!
//! A value is out where the drive that has it is clearly worse than the fitted one, request by request, in blocks. Three
//! kinds of drive have it: the fitted one with this value alone changed; the one in which all the other numbers make up
//! for it as well as they can ([`TradeOffs`]); and those on the exchanges that the search itself uses. A value is out
//! only where it is out in all of them, so the interval holds for the numbers together.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::Number;
use crate::plan::exchanges;
use crate::search::{Line, NARROWEST};
use crate::tradeoff::TradeOffs;
use crate::values::Values;
use rayon::prelude::*;

/// First probe, as a share of the smallest search step; how much farther each next one is; how often the end is halved.
const FIRST: f64 = 0.1;
const GROWTH: f64 = 3.0;
const BISECTIONS: usize = 6;
/// The end is known well enough when it is known to this share of the smallest search step.
const FINE: f64 = 0.02;
/// The farthest probe, in largest search steps.
const FARTHEST: f64 = 2.0;

/// One end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The measured times rule out what lies beyond.
    Told(f64),
    /// Physics rules out what lies beyond; the measured times do not.
    Bound(f64),
    /// Nothing that was tried is ruled out.
    Open,
}

impl End {
    /// The value, where there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Told(value) | Self::Bound(value) => Some(value),
            Self::Open => None,
        }
    }
}

/// The values that the fitted part cannot tell from the fitted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: End,
    /// The upper end.
    pub high: End,
}

impl Interval {
    /// Whether the measured times bound the value: closed on both sides, and by them on one side at least.
    pub fn is_identifiable(&self) -> bool {
        let open = [self.low, self.high].contains(&End::Open);
        !open && [self.low, self.high].iter().any(|end| matches!(end, End::Told(_)))
    }
}

/// What is known of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// The others free to make up for it.
    pub joint: Interval,
    /// The others held.
    pub alone: Interval,
}

/// What the fitted part knows of some of the numbers.
///
/// `all` are the numbers that are free: those that were fitted. `wanted` are positions among them.
pub(crate) fn knowledge(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    all: &[Number],
    wanted: &[usize],
) -> Result<Vec<Knowledge>, FitError> {
    let trade_offs = TradeOffs::at(evaluator, fitted, all)?;
    let reaches = exchanges(all)
        .into_par_iter()
        .filter(|line| wanted.iter().any(|&number| share(line, &all[number]).is_some()))
        .map(|line| Reach::of(evaluator, fitted, line))
        .collect::<Result<Vec<_>, _>>()?;
    wanted
        .par_iter()
        .map(|&which| {
            let side = |sign| ends(evaluator, fitted, all, which, sign, &trade_offs, &reaches);
            let ((low, low_alone), (high, high_alone)) = (side(-1.0)?, side(1.0)?);
            Ok(Knowledge {
                joint: Interval { low, high },
                alone: Interval { low: low_alone, high: high_alone },
            })
        })
        .collect()
}

/// The joint end on one side, and the one with the others held.
fn ends(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    all: &[Number],
    which: usize,
    sign: f64,
    trade_offs: &TradeOffs<'_>,
    reaches: &[Reach],
) -> Result<(End, End), FitError> {
    let number = &all[which];
    let best = number.value(&fitted.values);
    let room = number.room(best, sign);
    let end = |edge: Edge| match edge {
        Edge::Worse(step) => End::Told(known_to(number, best, sign * step)),
        Edge::Blocked(step) => End::Bound(number.after(best, sign * step.min(room))),
        Edge::Flat => End::Open,
    };
    let ladder = Ladder::new(number.steps, room);
    let alone = end(ladder.walk(evaluator, fitted, &|step| number.moved(&fitted.values, sign * step))?);
    let along = |step: f64| trade_offs.moved(&fitted.values, which, sign * step);
    let mut joint = farther(sign, alone, end(ladder.walk(evaluator, fitted, &along)?));
    for reach in reaches {
        let Some(share) = share(&reach.line, number) else { continue };
        let edge = reach.edges[usize::from(share * sign > 0.0)];
        joint = farther(
            sign,
            joint,
            match edge {
                Edge::Worse(step) | Edge::Blocked(step) => {
                    let value = known_to(number, best, sign * share.abs() * step);
                    End::Told(value.clamp(number.low, number.high))
                }
                Edge::Flat => End::Open,
            },
        );
    }
    Ok((joint, alone))
}

/// A value at the end of an interval: beyond what the search can tell apart, and to a digit more than is saved.
fn known_to(number: &Number, best: f64, step: f64) -> f64 {
    let blur = (NARROWEST * number.steps[0]).copysign(step);
    crate::parameter::rounded(number.after(best, step + blur), number.digits + 1)
        .clamp(number.low, number.high)
}

/// The end that leaves more room.
fn farther(sign: f64, a: End, b: End) -> End {
    match (a.value(), b.value()) {
        (Some(first), Some(second)) => {
            if sign * (second - first) > 0.0 {
                b
            } else {
                a
            }
        }
        _ => End::Open,
    }
}

/// The share of a number in a line.
fn share(line: &Line, number: &Number) -> Option<f64> {
    let own = line.parts.iter().find(|(part, _)| part.path == number.path && part.element == number.element);
    own.map(|(_, share)| *share)
}

/// How far a line leads to either side.
struct Reach {
    line: Line,
    edges: [Edge; 2],
}

impl Reach {
    fn of(evaluator: &Evaluator<'_>, fitted: &Point, line: Line) -> Result<Self, FitError> {
        let edge = |sign: f64| {
            let room = line
                .parts
                .iter()
                .map(|(number, share)| number.room(number.value(&fitted.values), share * sign) / share.abs());
            let room = room.fold(f64::INFINITY, f64::min);
            let at = |step: f64| line.at(&fitted.values, sign * step);
            Ladder::new(&line.steps, room).walk(evaluator, fitted, &at)
        };
        let edges = [edge(-1.0)?, edge(1.0)?];
        Ok(Self { line, edges })
    }
}

/// Where walking away from the fitted drive ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edge {
    /// At this step it is clearly worse.
    Worse(f64),
    /// Physics ends the way at this step, and it is not clearly worse there.
    Blocked(f64),
    /// Not even the farthest probe is worse.
    Flat,
}

/// Probes from near to far, never past the bounds of physics, but up to them.
struct Ladder {
    steps: Vec<f64>,
    fine: f64,
    ends_at_bound: bool,
}

impl Ladder {
    fn new(search_steps: &[f64], room: f64) -> Self {
        let (first, last) = (search_steps[0], FARTHEST * search_steps[search_steps.len() - 1]);
        let ends_at_bound = room <= last;
        let last = last.min(room).max(0.0);
        let growing = std::iter::successors(Some(FIRST * first), |step| Some(step * GROWTH));
        let mut steps: Vec<f64> = growing.take_while(|&step| step < last).collect();
        if last > 0.0 {
            steps.push(last);
        }
        Self { steps, fine: FINE * first, ends_at_bound }
    }

    fn walk(
        &self,
        evaluator: &Evaluator<'_>,
        fitted: &Point,
        at: &dyn Fn(f64) -> Option<Values>,
    ) -> Result<Edge, FitError> {
        let verdict = |step: f64| -> Result<Option<bool>, FitError> {
            let Some(values) = at(step) else { return Ok(None) };
            let point = evaluator.point(&values)?;
            Ok(point.map(|point| point.improvement(fitted).rules_out()))
        };
        let mut inside = 0.0;
        for &step in &self.steps {
            match verdict(step)? {
                None => return Ok(Edge::Blocked(inside)),
                Some(false) => inside = step,
                Some(true) => return self.narrow(inside, step, &verdict).map(Edge::Worse),
            }
        }
        Ok(if self.ends_at_bound { Edge::Blocked(inside) } else { Edge::Flat })
    }

    fn narrow(
        &self,
        mut inside: f64,
        mut outside: f64,
        verdict: &dyn Fn(f64) -> Result<Option<bool>, FitError>,
    ) -> Result<f64, FitError> {
        for _ in 0..BISECTIONS {
            if outside - inside < self.fine {
                break;
            }
            let middle = 0.5 * (inside + outside);
            if verdict(middle)? == Some(false) { inside = middle } else { outside = middle }
        }
        Ok(outside)
    }
}

//! Within what range the fitted part knows each number, the others free to make up for it.
//!
//! A value is out where the drive that has it is clearly worse than the fitted one, request by request, in blocks. Several
//! kinds of drive have it: the fitted one with this value alone changed; the one in which all the other numbers make up
//! for it as well as they can, or half of that ([`TradeOffs`]); those on the lines of [`look_alikes`]; and, where [`Reach`]
//! says so, those that the search tried anywhere. A value is out only where the best of them is, so the interval holds for the
//! numbers together. One that is worse on the whole than the drive with this value alone changed, and merely more scattered,
//! says nothing for the value.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::Number;
use crate::plan::{late_seeks, look_alikes};
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
/// How much of what would make up for a value the others are tried with.
const ANSWERS: [f64; 2] = [1.0, 0.5];
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
    /// Whether a value lies within.
    pub fn holds(&self, value: f64) -> bool {
        self.low.value().is_none_or(|low| low <= value) && self.high.value().is_none_or(|high| value <= high)
    }

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

/// Which drives may speak for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those in the valley of the fitted one.
    Near,
    /// Those on the lines of [`late_seeks`] and those that the search tried elsewhere, too.
    Far,
}

/// What the fitted part knows of some of the numbers.
///
/// `all` are the numbers that are free: those that were fitted. `wanted` are positions among them.
pub(crate) fn knowledge(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    all: &[Number],
    wanted: &[usize],
    reach: Reach,
) -> Result<Vec<Knowledge>, FitError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let trade_offs = TradeOffs::at(evaluator, fitted, all)?;
    let (mut look_alikes, mut tried) = (look_alikes(all), Vec::new());
    if reach == Reach::Far {
        look_alikes.extend(late_seeks(all));
        tried = evaluator.tried_as_good_as(fitted);
    }
    let walk = |which: usize, sign: f64| {
        let number = &all[which];
        let (trade_offs, look_alikes, tried) = (&trade_offs, &look_alikes[..], &tried[..]);
        Walk { evaluator, fitted, number, which, sign, trade_offs, look_alikes, tried }.ends()
    };
    let known = |&which: &usize| {
        let ((low, low_alone), (high, high_alone)) = (walk(which, -1.0)?, walk(which, 1.0)?);
        Ok(Knowledge { joint: Interval { low, high }, alone: Interval { low: low_alone, high: high_alone } })
    };
    wanted.par_iter().map(known).collect()
}

/// Away from the fitted value of one number, to one side.
struct Walk<'a> {
    evaluator: &'a Evaluator<'a>,
    fitted: &'a Point,
    number: &'a Number,
    which: usize,
    sign: f64,
    trade_offs: &'a TradeOffs<'a>,
    look_alikes: &'a [Line],
    /// Drives that the search tried and that are not out.
    tried: &'a [Point],
}

impl Walk<'_> {
    /// The joint end, and the one with the others held.
    fn ends(&self) -> Result<(End, End), FitError> {
        let best = self.number.value(&self.fitted.values);
        let ladder = self.ladder(best);
        let end = |edge: Edge| self.end(best, edge);
        let alone = ladder.walk(0.0, &|step| Ok(self.alone(step)?.map(|point| self.is_out(&point))))?;
        let Edge::Worse(from) = alone else { return Ok((end(alone), end(alone))) };
        // What is not out alone is not out together.
        let joint = ladder.walk(from - ladder.fine, &|step| self.is_out_jointly(step))?;
        // Halving ends where it ends: the joint end is never the nearer one.
        let (joint, alone) = (end(joint), end(alone));
        let is_nearer =
            joint.value().zip(alone.value()).is_some_and(|(joint, alone)| self.sign * (alone - joint) > 0.0);
        let joint = if is_nearer { alone } else { joint };
        Ok((self.beyond(joint)?.unwrap_or(joint), alone))
    }

    fn ladder(&self, from: f64) -> Ladder {
        Ladder::new(self.number.steps, self.number.room(from, self.sign))
    }

    /// Where a walk from a value ends.
    fn end(&self, from: f64, edge: Edge) -> End {
        match edge {
            Edge::Worse(step) => End::Told(known_to(self.number, from, self.sign * step)),
            Edge::Blocked(step) => {
                let room = self.number.room(from, self.sign);
                End::Bound(self.number.after(from, self.sign * step.min(room)))
            }
            Edge::Flat => End::Open,
        }
    }

    /// An end farther out, where the search tried a drive there that is as good: a walk stops at the first value that is out,
    /// and the valley it is in need not be the only one.
    fn beyond(&self, joint: End) -> Result<Option<End>, FitError> {
        let End::Told(told) = joint else { return Ok(None) };
        // Points of another curve are at other distances.
        if self.number.at_cylinders.is_some() {
            return Ok(None);
        }
        let farther = |other: &Point| self.sign * (self.number.value(&other.values) - told);
        let mut others: Vec<&Point> = self.tried.iter().filter(|other| farther(other) > 0.0).collect();
        others.sort_by(|a, b| farther(b).total_cmp(&farther(a)));
        for other in others {
            if let Some(without) = self.without(other)? {
                return self.on_from(other, &without).map(Some);
            }
        }
        Ok(None)
    }

    /// Another drive with the fitted value of this number; `None` where the other is no better for its own value: with the
    /// fitted one it would be clearly better, or the fitted drive with the other's is better on the whole.
    fn without(&self, other: &Point) -> Result<Option<Point>, FitError> {
        let value = |of: &Point| self.number.value(&of.values);
        let exchanged = |of: &Point, value: f64| self.evaluator.point(&self.number.put(&of.values, value));
        let Some(without) = exchanged(other, value(self.fitted))? else { return Ok(None) };
        let is_scattered = exchanged(self.fitted, value(other))?.is_some_and(|alone| other.ms() > alone.ms());
        Ok((!is_scattered && !other.improvement(&without).rules_out()).then_some(without))
    }

    /// Where the way on from another drive ends: clearly worse than the fitted drive or than the other, with its value or
    /// without.
    fn on_from(&self, other: &Point, without: &Point) -> Result<End, FitError> {
        let from = self.number.value(&other.values);
        let is_out = |point: Point| {
            [self.fitted, other, without].iter().any(|than| point.improvement(than).rules_out())
        };
        let verdict = |step: f64| {
            let Some(values) = self.number.moved(&other.values, self.sign * step) else { return Ok(None) };
            Ok(self.evaluator.point(&values)?.map(is_out))
        };
        Ok(self.end(from, self.ladder(from).walk(0.0, &verdict)?))
    }

    fn is_out(&self, point: &Point) -> bool {
        point.improvement(self.fitted).rules_out()
    }

    /// The drive with this value alone changed.
    fn alone(&self, step: f64) -> Result<Option<Point>, FitError> {
        match self.number.moved(&self.fitted.values, self.sign * step) {
            Some(values) => self.evaluator.point(&values),
            None => Ok(None),
        }
    }

    /// Whether no drive with this value is as good as the fitted one; `None` where there is no such drive.
    fn is_out_jointly(&self, step: f64) -> Result<Option<bool>, FitError> {
        let Some(alone) = self.alone(step)? else { return Ok(None) };
        if !self.is_out(&alone) {
            return Ok(Some(false));
        }
        let answered = ANSWERS.into_iter().filter_map(|share| {
            self.trade_offs.moved(&self.fitted.values, self.which, self.sign * step, share)
        });
        let others = self.look_alikes.iter().filter_map(|line| self.on(line, step));
        for values in answered.chain(others) {
            let Some(point) = self.evaluator.point(&values)? else { continue };
            if point.ms() <= alone.ms() && !self.is_out(&point) {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// The drive with this value on a line that others move along, up to their bounds; `None` where this one does not.
    fn on(&self, line: &Line, step: f64) -> Option<Values> {
        let own = line.parts.iter().find(|(part, _)| part.name() == self.number.name());
        Some(line.up_to_bounds(&self.fitted.values, self.sign * step / own?.1))
    }
}

/// A value at the end of an interval: beyond what the search can tell apart, and to a digit more than is saved.
fn known_to(number: &Number, best: f64, step: f64) -> f64 {
    let blur = (NARROWEST * number.steps[0]).copysign(step);
    crate::parameter::rounded(number.after(best, step + blur), number.digits + 1)
        .clamp(number.low, number.high)
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

    /// Walks on from a step that is known to be inside. The verdict tells whether a step is out, where there is such a
    /// drive.
    fn walk(&self, inside: f64, verdict: &Verdict<'_>) -> Result<Edge, FitError> {
        let start = inside.max(0.0);
        let mut inside = start;
        for &step in self.steps.iter().filter(|&&step| step > start) {
            match verdict(step)? {
                None => return Ok(Edge::Blocked(inside)),
                Some(false) => inside = step,
                Some(true) => return self.narrow(inside, step, verdict).map(Edge::Worse),
            }
        }
        Ok(if self.ends_at_bound { Edge::Blocked(inside) } else { Edge::Flat })
    }

    fn narrow(&self, mut inside: f64, mut outside: f64, verdict: &Verdict<'_>) -> Result<f64, FitError> {
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

/// Whether a step is out; `None` where there is no such drive.
type Verdict<'a> = dyn Fn(f64) -> Result<Option<bool>, FitError> + 'a;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::gauge;
    use crate::search::tests::trace;
    use crate::{Monitor, Objective, ParameterTable};
    use headstack_system::SystemConfig;

    /// The same times with everything moved behind the media work: no drive with this value alone is as good.
    #[test]
    fn a_value_of_another_drive_that_is_as_good_is_not_out() {
        let drive = SystemConfig::load("hp-c2247a", &[]).unwrap().drives.remove(0).spec;
        let (trace, monitor) = (trace(), Monitor::default());
        let evaluator = Evaluator::new(Objective::PerRequest, &drive, &trace, &monitor, None);
        let real = Values::of(&drive).with("mechanics.inward_seek_extra_ms", 0.43.into());
        let fitted = evaluator.point(&real).unwrap().unwrap();
        let numbers = ParameterTable::of(&drive).numbers;
        let shifted = gauge(&numbers).last().unwrap().at(&fitted.values, 0.2).unwrap();
        let completion: Vec<Number> =
            numbers.into_iter().filter(|it| it.path == "controller.read_completion_ms").collect();
        let value = completion[0].value(&shifted);
        let holds = |reach| {
            let known = knowledge(&evaluator, &fitted, &completion, &[0], reach).unwrap();
            known[0].joint.holds(value)
        };
        assert!(!holds(Reach::Far), "nothing with this value was tried");
        evaluator.point(&shifted).unwrap().unwrap();
        assert_eq!([Reach::Near, Reach::Far].map(holds), [false, true]);
    }
}

//! A robust descent: one parameter, or one exchange between parameters, at a time.
//!
//! The objective is piecewise: a request that just misses its sector costs a revolution more. So each line is first
//! probed at several distances, then narrowed, and a change is kept only where the paired losses say that it is more than
//! noise. A general optimiser that follows slopes, or shrinks a simplex, stops at the first of those steps.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::{Choice, Number, Parameter};
use crate::values::Values;
use std::collections::BTreeSet;

/// A change that gains less than this share of the objective is not worth a value in a drive file.
const LEAST_SHARE: f64 = 0.0003;
/// How far a line is narrowed, as a share of its smallest first step: the search knows no value better than that.
pub(crate) const NARROWEST: f64 = 0.05;
/// Steps of few parameters, in the largest of many.
const FARTHER: [f64; 2] = [3.0, 10.0];
/// Standard errors that a change must gain.
const CLEAR: f64 = 2.0;
/// The same for a curve, which has many values to fit noise with.
const CLEAR_CURVE: f64 = 3.0;
/// The settle of writes by distance is a dozen values: together they must gain this share of the objective.
const LEAST_SHARE_OF_CURVE: f64 = 0.02;

/// A direction to search: parameters, each with its share of the step.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) parts: Vec<(Number, f64)>,
    pub(crate) steps: Vec<f64>,
}

impl Line {
    /// The line of one parameter.
    pub(crate) fn single(number: &Number) -> Self {
        Self::new(vec![(number.clone(), 1.0)])
    }

    /// The same with farther steps, too: over what is flat, or worse, near the start.
    pub(crate) fn far(number: &Number) -> Self {
        let mut line = Self::single(number);
        let largest = line.steps.iter().copied().fold(0.0, f64::max);
        line.steps.extend(FARTHER.map(|times| times * largest));
        line
    }

    /// Several parameters; the steps are those of the first.
    pub(crate) fn new(parts: Vec<(Number, f64)>) -> Self {
        let steps = parts.first().map_or_else(Vec::new, |(number, _)| number.steps.to_vec());
        Self { parts, steps }
    }

    /// The drive a step away; `None` outside the bounds.
    pub(crate) fn at(&self, values: &Values, step: f64) -> Option<Values> {
        self.parts
            .iter()
            .try_fold(values.clone(), |values, (number, share)| number.moved(&values, share * step))
    }

    /// The drive a step away, parameters that meet a bound staying there.
    pub(crate) fn up_to_bounds(&self, values: &Values, step: f64) -> Values {
        self.parts.iter().fold(values.clone(), |values, (number, share)| {
            let new = number.after(number.value(&values), share * step);
            number.put(&values, new.clamp(number.low, number.high))
        })
    }
}

/// What was found along a line.
struct Probed<'a> {
    evaluator: &'a Evaluator<'a>,
    line: &'a Line,
    start: &'a Point,
    steps: Vec<f64>,
    best_step: f64,
    best: Point,
}

impl Probed<'_> {
    /// Looks at several places at once; of equal ones the first stays the best.
    fn probe(&mut self, steps: &[f64]) -> Result<(), FitError> {
        let fresh: Vec<f64> = steps.iter().copied().filter(|step| !self.steps.contains(step)).collect();
        let places = fresh.iter().map(|&step| self.line.at(&self.start.values, step)).collect();
        let points = self.evaluator.points(places)?;
        for (step, point) in fresh.into_iter().zip(points) {
            self.steps.push(step);
            if let Some(point) = point
                && point.ms() < self.best.ms()
            {
                (self.best_step, self.best) = (step, point);
            }
        }
        Ok(())
    }

    /// The distance from the best place to the nearest other one.
    fn gap(&self) -> Option<f64> {
        let others = self.steps.iter().filter(|&&step| step != self.best_step);
        others.map(|step| (step - self.best_step).abs()).min_by(f64::total_cmp)
    }
}

/// Searches one line; the start where nothing on it is clearly better. `small` leaves out the long first steps.
pub(crate) fn descend(
    evaluator: &Evaluator<'_>,
    start: &Point,
    line: &Line,
    small: bool,
) -> Result<Point, FitError> {
    let count = line.steps.len();
    let steps = &line.steps[..if small { (1 + count / 2).min(count) } else { count }];
    let Some(&first) = steps.first() else { return Ok(start.clone()) };
    let mut probed = Probed { evaluator, line, start, steps: vec![0.0], best_step: 0.0, best: start.clone() };
    let both: Vec<f64> = steps.iter().flat_map(|&step| [-step, step]).collect();
    probed.probe(&both)?;
    // Narrow from half the distance to the next probe down.
    let mut width = 0.5 * probed.gap().unwrap_or(first);
    while width >= NARROWEST * first {
        let centre = probed.best_step;
        probed.probe(&[centre - width, centre + width])?;
        if probed.best_step == centre {
            width *= 0.5;
        }
    }
    Ok(if is_better(start, &probed.best) { probed.best } else { start.clone() })
}

/// Tries the other values of a choice; the start where none is clearly better.
pub(crate) fn choose(evaluator: &Evaluator<'_>, start: &Point, choice: &Choice) -> Result<Point, FitError> {
    let others = choice.others(&start.values).map(|(_, values)| Some(values)).collect();
    let points = evaluator.points(others)?.into_iter().flatten();
    let best = points.fold(start.clone(), |best, point| if point.ms() < best.ms() { point } else { best });
    Ok(if is_better(start, &best) { best } else { start.clone() })
}

/// Fits the points of a curve, and keeps all of them or none.
///
/// Neighbours are moved together before each is moved alone: a curve is smooth unless the times say otherwise.
pub(crate) fn descend_curve(
    evaluator: &Evaluator<'_>,
    start: &Point,
    points: &[Number],
) -> Result<Point, FitError> {
    let mut point = start.clone();
    for width in [points.len(), 5, 4, 3, 2, 1, 3, 1] {
        for neighbours in points.windows(width.max(1)) {
            let parts = neighbours.iter().map(|number| (number.clone(), 1.0)).collect();
            point = descend(evaluator, &point, &Line::new(parts), false)?;
        }
    }
    Ok(if is_worth_a_curve(start, &point) { point } else { start.clone() })
}

/// Whether a curve gains enough, and clearly.
pub(crate) fn is_worth_a_curve(flat: &Point, curved: &Point) -> bool {
    let enough = flat.ms() - curved.ms() >= LEAST_SHARE_OF_CURVE * flat.ms();
    enough && is_better_by(flat, curved, CLEAR_CURVE)
}

/// Takes back, least first, the changes that the fitted part does not need.
pub(crate) fn prune(
    evaluator: &Evaluator<'_>,
    fitted: Point,
    before: &Values,
    parameters: &[Parameter],
) -> Result<Point, FitError> {
    let mut point = fitted;
    let mut kept = BTreeSet::new();
    loop {
        let changed: Vec<&Parameter> = parameters
            .iter()
            .filter(|it| !kept.contains(&it.name()) && it.is_changed(&point.values, before))
            .collect();
        let without = changed.iter().map(|it| Some(it.restored(&point.values, before))).collect();
        let mut best: Option<Point> = None;
        for (parameter, without) in changed.iter().zip(evaluator.points(without)?) {
            match without {
                Some(without) if !is_better(&without, &point) => {
                    if best.as_ref().is_none_or(|best| without.ms() < best.ms()) {
                        best = Some(without);
                    }
                }
                // Clearly needed now, and more so when others are gone.
                _ => {
                    kept.insert(parameter.name());
                }
            }
        }
        match best {
            Some(best) => point = best,
            None => return Ok(point),
        }
    }
}

/// Whether a drive is better by more than noise, and by enough to be worth it.
pub(crate) fn is_better(before: &Point, after: &Point) -> bool {
    is_better_by(before, after, CLEAR)
}

fn is_better_by(before: &Point, after: &Point, t: f64) -> bool {
    before.ms() - after.ms() >= LEAST_SHARE * before.ms() && before.improvement(after).is_clear(t)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::trace::MeasuredTrace;
    use crate::{Monitor, Objective, ParameterTable};
    use headstack_system::record::Keep;
    use headstack_system::{Input, RunOptions, System, SystemConfig, WorkloadSpec, run};
    use headstack_trace::Request;
    use std::sync::Arc;

    /// The times of a drive whose arm takes longer inwards than its file says.
    pub(crate) fn trace() -> MeasuredTrace {
        let real = [("mechanics.inward_seek_extra_ms".to_owned(), "0.43".to_owned())];
        let system = Arc::new(System::load("hp-c2247a", &real).unwrap());
        let text = "requests = 400\n[[stream]]\nread_fraction = 0.6\nsize.fixed_kib = 4\ninter_arrival.exponential_ms = 40";
        let workload = WorkloadSpec::from_toml("w", text).unwrap();
        let workload = workload.generate(&system.devices(), None, None).unwrap();
        let mut kept = Keep::default();
        let input = Input::Generator(workload);
        run(&system, input, &RunOptions::default(), &mut kept, &mut |_| {}).unwrap();
        let request = |row: &headstack_system::CompletionRow| Request {
            start: row.start,
            finish: row.finish,
            ..Request::new(row.arrival, row.op, row.lba, row.sectors)
        };
        MeasuredTrace::new("w", kept.rows.iter().map(request).collect()).unwrap()
    }

    #[test]
    fn a_line_is_searched_as_well_as_by_looking_everywhere() {
        let drive = SystemConfig::load("hp-c2247a", &[]).unwrap().drives.remove(0).spec;
        let (trace, monitor) = (trace(), Monitor::default());
        let evaluator = Evaluator::new(Objective::PerRequest, &drive, &trace, &monitor, None);
        let start = evaluator.point(&Values::of(&drive)).unwrap().unwrap();
        let numbers = ParameterTable::of(&drive).numbers;
        let number = numbers.iter().find(|it| it.path == "mechanics.inward_seek_extra_ms").unwrap();
        let found = descend(&evaluator, &start, &Line::single(number), false).unwrap();
        let everywhere =
            (-100..=100).map(|step| number.moved(&start.values, f64::from(step) * 0.01)).collect();
        let scanned = evaluator.points(everywhere).unwrap().into_iter().flatten();
        let best = scanned.min_by(|a, b| a.ms().total_cmp(&b.ms())).unwrap();
        assert!(found.ms() <= best.ms() * 1.02, "{} and {} ms", found.ms(), best.ms());
    }
}

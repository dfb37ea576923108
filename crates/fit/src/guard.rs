//! The guard: no score of reads or of writes may get worse on requests that chose nothing.
//!
//! What was changed is fitted once more, to the first two thirds of the fitted part, and scored on its last third: demerit
//! and error per request, of reads and of writes. So is the fit itself, on what it was fitted to. While one of these scores got
//! worse by more than noise, the change that is to blame goes back. What the objective gains on reads is thereby never paid for by writes, and no number makes up for a rule
//! that the model does not have.

use crate::calibrate::Options;
use crate::evaluate::{Evaluator, Point};
use crate::fit::{LEAST_SHARE_OF_A_ROUND, fit_angles, only_drive, with_angles_of};
use crate::journal::Journal;
use crate::objective::{Loss, Objective};
use crate::parameter::Parameter;
use crate::plan::fit_round;
use crate::split::LEAST_TRAIN;
use crate::table::{CURVE, ParameterTable, SEEKS};
use crate::trace::MeasuredTrace;
use crate::values::Values;
use crate::{FitError, Monitor};
use headstack_drive::spec::DriveSpec;
use headstack_units::{Nanos, Op};

/// What share of the fitted part the changes are fitted to again.
const EARLY: (usize, usize) = (2, 3);
/// A score is worse if it grows by this share, and by this many standard errors: eight scores are looked at, of which one
/// grows by a standard error nearly always.
const WORSE_SHARE: f64 = 0.01;
const WORSE_ERRORS: f64 = 2.0;
/// Fewer requests of a direction are no score.
const LEAST_SCORED: usize = 50;
/// What must not get worse.
const SCORES: [Objective; 2] = [Objective::PerRequest, Objective::Demerit];

/// What the guard needs of a fit.
pub(crate) struct Guard<'a> {
    pub(crate) original: &'a DriveSpec,
    pub(crate) train: &'a MeasuredTrace,
    pub(crate) options: &'a Options,
    pub(crate) monitor: &'a Monitor,
    pub(crate) journal: Option<&'a Journal>,
}

impl Guard<'_> {
    /// Paths of the changes that do not hold on the last third of the fitted part.
    pub(crate) fn refuted(
        &self,
        fitted: &Values,
        before: &Values,
        table: &ParameterTable,
    ) -> Result<Vec<String>, FitError> {
        let count = self.train.requests().len();
        let cut = count * EARLY.0 / EARLY.1;
        let mut changed = changed_paths(fitted, before, table);
        if changed.is_empty() || cut < LEAST_TRAIN {
            return Ok(Vec::new());
        }
        let early = self.train.without(&(cut..count));
        let base =
            with_angles_of(self.original, &only_drive(&fit_angles(self.original, &early, self.options)?)?);
        let refitted = self.refitted(&base, &early, fitted, table, &changed)?;
        let whole = Evaluator::new(self.options.objective, &base, self.train, self.monitor, self.journal);
        let plain = whole.times(&[Values::of(&base)])?.remove(0).unwrap_or_default();
        // As fitted, on all of it; and as fitted to the early part, on the rest.
        let mut drives = [fitted.on(&Values::of(&base)), refitted];
        let scored = [0, cut].map(|from| Scored::new(self.train, from, &plain));
        let harm = |drives: &[Values; 2]| -> Result<f64, FitError> {
            let times = whole.times(drives)?;
            let of = |(scored, model): (&Scored, Option<Vec<Nanos>>)| {
                model.map_or(f64::INFINITY, |model| scored.harm(&model))
            };
            Ok(scored.iter().zip(times).map(of).sum())
        };
        let mut refuted = Vec::new();
        while !changed.is_empty() && harm(&drives)? > 0.0 {
            let without = |path: &String| drives.each_ref().map(|values| values.without(path));
            let harms: Vec<f64> =
                changed.iter().map(|path| harm(&without(path))).collect::<Result<_, _>>()?;
            let least = (0..harms.len()).min_by(|&a, &b| harms[a].total_cmp(&harms[b])).unwrap_or(0);
            drives = without(&changed[least]);
            refuted.push(changed.remove(least));
        }
        Ok(refuted)
    }

    /// The same changes, fitted to the early part alone, from the file's own values on.
    fn refitted(
        &self,
        base: &DriveSpec,
        early: &MeasuredTrace,
        fitted: &Values,
        table: &ParameterTable,
        changed: &[String],
    ) -> Result<Values, FitError> {
        let evaluator = Evaluator::new(self.options.objective, base, early, self.monitor, self.journal);
        let is_changed = |path: &str| changed.iter().any(|own| own == path);
        let mut numbers = ParameterTable { choices: Vec::new(), ..table.clone() };
        numbers.numbers.retain(|number| is_changed(&number.path));
        let chosen = table.choices.iter().filter(|choice| is_changed(choice.path));
        let start = chosen
            .fold(Values::of(base), |values, choice| values.with(choice.path, choice.value(fitted).clone()));
        // From the file's values, and from the fitted ones: whichever the early part likes better.
        let as_fitted = fitted.on(&Values::of(base));
        let mut best: Option<Point> = None;
        for values in [start, as_fitted.clone()] {
            let Some(point) = evaluator.point(&values)? else { continue };
            let point = self.descended(&evaluator, point, &numbers)?;
            if best.as_ref().is_none_or(|best| point.ms() < best.ms()) {
                best = Some(point);
            }
        }
        Ok(best.map_or(as_fitted, |best| best.values))
    }

    /// As many rounds as the fit had, at most.
    fn descended(
        &self,
        evaluator: &Evaluator<'_>,
        start: Point,
        numbers: &ParameterTable,
    ) -> Result<Point, FitError> {
        let mut point = start;
        for round in 0..self.options.rounds {
            let begun = point.ms();
            point = fit_round(evaluator, &point, numbers, round > 0)?;
            if begun - point.ms() < LEAST_SHARE_OF_A_ROUND * begun {
                break;
            }
        }
        Ok(point)
    }
}

/// Paths of what a fit has replaced.
fn changed_paths(fitted: &Values, before: &Values, table: &ParameterTable) -> Vec<String> {
    let changed = table.parameters().filter(|it| it.is_changed(fitted, before));
    let mut paths: Vec<String> = changed.map(|it| it.path().to_owned()).collect();
    paths.dedup();
    paths
}

/// A drive with all its values at a path as they were.
pub(crate) fn taken_back(values: &Values, before: &Values, table: &ParameterTable, path: &str) -> Values {
    if [CURVE, SEEKS].contains(&path) {
        return values.without(path);
    }
    let own: Vec<Parameter> = table.parameters().filter(|it| it.path() == path).collect();
    own.iter().fold(values.clone(), |values, parameter| parameter.restored(&values, before))
}

/// Some requests, reads and writes apart, and the scores of the drive as it was.
struct Scored {
    measured: Vec<Nanos>,
    directions: Vec<Vec<usize>>,
    before: Vec<Loss>,
}

impl Scored {
    /// All requests from one on; `plain` are the times of the drive as it was.
    fn new(train: &MeasuredTrace, from: usize, plain: &[Nanos]) -> Self {
        let ops = train.ops();
        let of = |op: Op| (from..ops.len()).filter(|&request| ops[request] == op).collect::<Vec<_>>();
        let directions = [of(Op::Read), of(Op::Write)].into_iter().filter(|own| own.len() >= LEAST_SCORED);
        let mut scored =
            Self { measured: train.service(), directions: directions.collect(), before: Vec::new() };
        scored.before = scored.losses(plain);
        scored
    }

    /// Both scores of each direction.
    fn losses(&self, model: &[Nanos]) -> Vec<Loss> {
        let pick =
            |own: &[usize], times: &[Nanos]| own.iter().map(|&request| times[request]).collect::<Vec<_>>();
        let of = |own: &Vec<usize>| {
            let (measured, model) = (pick(own, &self.measured), pick(own, model));
            // One direction: which it is says nothing to these scores.
            let ops = vec![Op::Read; own.len()];
            SCORES.map(|score| Loss::new(score, &ops, &measured, &model))
        };
        self.directions.iter().flat_map(of).collect()
    }

    /// By how much scores got worse, as shares; 0 where none did by more than noise.
    fn harm(&self, model: &[Nanos]) -> f64 {
        let worse = |(before, after): (&Loss, Loss)| {
            let share = after.ms() / before.ms() - 1.0;
            let is_worse = share > WORSE_SHARE && before.improvement(&after).t < -WORSE_ERRORS;
            if is_worse { share } else { 0.0 }
        };
        self.before.iter().zip(self.losses(model)).map(worse).sum()
    }
}

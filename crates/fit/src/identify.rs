//! Taking back what the fitted part cannot tell: nothing is saved that is not identifiable.
//!
//! A value may gain something and still be anything: an overhead that a handful of requests see, beside a parameter that
//! makes up for it. Such a value goes back to the drive file's, the others settle anew, and what they then are is looked
//! at again.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::evidence::as_good;
use crate::interval::{End, Knowledge, Reach, knowledge};
use crate::parameter::{Number, Parameter};
use crate::search::{Line, descend, is_worth_a_curve, prune};
use crate::table::{CURVE, ParameterTable, SEEKS};
use crate::values::Values;
use std::collections::BTreeSet;

/// Takes back every change that is not identifiable, the least needed first. Of a curve single points are left out, so that its neighbours speak
/// for them; the table follows.
pub(crate) fn keep_what_is_identifiable(
    evaluator: &Evaluator<'_>,
    fitted: Point,
    before: &Values,
    table: &mut ParameterTable,
) -> Result<Point, FitError> {
    let mut point = fitted;
    let mut given_up = BTreeSet::new();
    loop {
        let unknown = unknown(evaluator, &point, before, table)?;
        if unknown.is_empty() {
            let mut thinned = None;
            for path in [SEEKS, CURVE] {
                if let Some(worst) = worst_of_curve(evaluator, &point, before, table, path)? {
                    thinned = Some(thin(evaluator, point.clone(), table, (path, worst))?);
                    break;
                }
            }
            match thinned {
                Some(thinned) => point = thinned,
                None => return Ok(point),
            }
            continue;
        }
        let Some((parameter, restored)) = least_needed(evaluator, &point, before, &unknown)? else {
            return Ok(point);
        };
        given_up.insert(parameter.name());
        point = settle(evaluator, restored, before, table, &given_up)?;
    }
}

/// Changed parameters, but for those of the curve, that the fitted part cannot tell.
fn unknown(
    evaluator: &Evaluator<'_>,
    point: &Point,
    before: &Values,
    table: &ParameterTable,
) -> Result<Vec<Parameter>, FitError> {
    let changed = |number: &Number| number.at_cylinders.is_none() && number.is_changed(&point.values, before);
    let wanted: Vec<usize> =
        (0..table.numbers.len()).filter(|&which| changed(&table.numbers[which])).collect();
    let known = knowledge(evaluator, point, &table.numbers, &wanted, Reach::Near)?;
    let open = wanted.iter().zip(&known).filter(|(_, known)| !known.joint.is_identifiable());
    let mut found: Vec<Parameter> =
        open.map(|(&which, _)| Parameter::Number(table.numbers[which].clone())).collect();
    for choice in &table.choices {
        let parameter = Parameter::Choice(choice.clone());
        // Which of several others it is may be open, as long as it is not the file's own.
        if parameter.is_changed(&point.values, before)
            && as_good(evaluator, point, choice)?.contains(choice.value(before))
        {
            found.push(parameter);
        }
    }
    Ok(found)
}

/// The parameter that is missed least when it goes back: what is not identifiable beside it may be so without it.
fn least_needed<'a>(
    evaluator: &Evaluator<'_>,
    point: &Point,
    before: &Values,
    unknown: &'a [Parameter],
) -> Result<Option<(&'a Parameter, Point)>, FitError> {
    let restored = unknown.iter().map(|parameter| Some(parameter.restored(&point.values, before))).collect();
    let points = evaluator.points(restored)?;
    let found = unknown.iter().zip(points).filter_map(|(parameter, point)| Some((parameter, point?)));
    Ok(found.min_by(|(_, a), (_, b)| a.ms().total_cmp(&b.ms())))
}

/// Lets the numbers that still may move find their place again.
pub(crate) fn settle(
    evaluator: &Evaluator<'_>,
    start: Point,
    before: &Values,
    table: &ParameterTable,
    given_up: &BTreeSet<String>,
) -> Result<Point, FitError> {
    let mut point = start;
    let alone = table.alone();
    let free: Vec<&Number> = alone.iter().filter(|number| !given_up.contains(&number.name())).collect();
    for number in &free {
        point = descend(evaluator, &point, &Line::single(number), true)?;
    }
    let free: Vec<Parameter> = free.into_iter().cloned().map(Parameter::Number).collect();
    prune(evaluator, point, before, &free)
}

/// The position, among the points of a curve that was fitted, of the one that is known least; `None` where all are known.
fn worst_of_curve(
    evaluator: &Evaluator<'_>,
    point: &Point,
    before: &Values,
    table: &ParameterTable,
    path: &str,
) -> Result<Option<usize>, FitError> {
    let curve: Vec<usize> =
        (0..table.numbers.len()).filter(|&which| table.numbers[which].path == path).collect();
    if !curve.iter().any(|&which| table.numbers[which].is_changed(&point.values, before)) {
        return Ok(None);
    }
    let known = knowledge(evaluator, point, &table.numbers, &curve, Reach::Near)?;
    let unknown = known.iter().enumerate().filter(|(_, known)| !known.joint.is_identifiable());
    Ok(unknown.max_by(|(_, a), (_, b)| vagueness(a).total_cmp(&vagueness(b))).map(|(which, _)| which))
}

/// How much room a number has; open ends count most.
fn vagueness(known: &Knowledge) -> f64 {
    let width = |low: End, high: End| match (low.value(), high.value()) {
        (Some(low), Some(high)) => high - low,
        (None, None) => 2e6,
        _ => 1e6,
    };
    width(known.joint.low, known.joint.high) + width(known.alone.low, known.alone.high)
}

/// Leaves a point of the curve out, and fits the others again; no curve at all where too little is gained then.
fn thin(
    evaluator: &Evaluator<'_>,
    point: Point,
    table: &mut ParameterTable,
    (path, which): (&str, usize),
) -> Result<Point, FitError> {
    let Some(flat) = evaluator.point(&point.values.without(path))? else { return Ok(point) };
    let Some(values) = table.thin_curve(path, &point.values, which) else {
        return Ok(flat);
    };
    let Some(mut thinned) = evaluator.point(&values)? else { return Ok(flat) };
    let curve = table.curve(path);
    for number in &curve {
        thinned = descend(evaluator, &thinned, &Line::single(number), false)?;
    }
    if is_worth_a_curve(&flat, &thinned) {
        return Ok(thinned);
    }
    table.restore_curves(&flat.values);
    Ok(flat)
}

//! What the fitted part says about each parameter: what its change gained, and what else would do as well.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::interval::{Knowledge, Reach, knowledge};
use crate::parameter::{Choice, Parameter};
use crate::table::ParameterTable;
use crate::values::{Values, real};
use toml::Value;

/// One parameter after a fit.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which parameter.
    pub parameter: Parameter,
    /// Its value before; `None` where the file has none.
    pub before: Option<Value>,
    /// Its value now; as before where the fit did not change it.
    pub after: Option<Value>,
    /// What the drive goes by where the file has no value; `None` where it has one, or another rule then decides.
    pub by_default: Option<Value>,
    /// What the change gained.
    pub gain: Gain,
    /// What is known of it.
    pub known: Known,
    /// Its value in the drives of each fold, where there were folds.
    pub folds: Vec<Value>,
}

/// What is known of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Of a number: its intervals.
    Number(Knowledge),
    /// Of a choice: the other options that the fitted part cannot tell from the one chosen.
    Choice(Vec<Value>),
}

impl Known {
    /// Whether the fitted part can tell the value.
    pub fn is_identifiable(&self) -> bool {
        match self {
            Self::Number(knowledge) => knowledge.joint.is_identifiable(),
            Self::Choice(as_good) => as_good.is_empty(),
        }
    }
}

impl Row {
    /// Whether the fit changed it.
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }

    /// Whether the old value is ruled out: its drive is clearly worse, and so are those in which the other numbers make up
    /// for it.
    pub fn was_wrong(&self) -> bool {
        let before = self.before.as_ref().or(self.by_default.as_ref());
        let is_possible = match (&self.known, before) {
            (Known::Number(known), Some(before)) => known.joint.holds(real(before)),
            _ => false,
        };
        self.gain.is_clear && !is_possible
    }
}

/// What is lost when one value goes back to what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// Of the objective, in ms.
    pub ms: f64,
    /// The same in percent of the objective without the change.
    pub percent: f64,
    /// In standard errors.
    pub t: f64,
    /// Whether the old value is ruled out, the other values as they are.
    pub is_clear: bool,
}

/// One row a parameter, in the order in which they were fitted.
pub(crate) fn rows(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    before: &Values,
    table: &ParameterTable,
) -> Result<Vec<Row>, FitError> {
    let of_numbers = of_numbers(evaluator, fitted, before, table)?.into_iter().map(Known::Number);
    let of_choices = table.choices.iter().map(|choice| as_good(evaluator, fitted, choice).map(Known::Choice));
    let known: Vec<Known> = of_numbers.map(Ok).chain(of_choices).collect::<Result<_, _>>()?;
    table
        .parameters()
        .zip(known)
        .map(|(parameter, known)| {
            let changed = parameter.is_changed(&fitted.values, before);
            let old = parameter.in_file(before).then(|| parameter.value(before));
            let after = if changed { Some(parameter.value(&fitted.values)) } else { old.clone() };
            let by_default = if old.is_none() { parameter.by_default(before) } else { None };
            let gain = if changed { gain(evaluator, fitted, before, &parameter)? } else { Gain::default() };
            Ok(Row { parameter, before: old, after, by_default, gain, known, folds: Vec::new() })
        })
        .collect()
}

/// What is known of each number, among all drives that were tried. A number that was changed since it is told near the fitted
/// drive keeps the interval it has there, where none is left among all of them: that is for this valley alone.
fn of_numbers(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    before: &Values,
    table: &ParameterTable,
) -> Result<Vec<Knowledge>, FitError> {
    let numbers = &table.numbers;
    let all: Vec<usize> = (0..numbers.len()).collect();
    let mut known = knowledge(evaluator, fitted, numbers, &all, Reach::Far)?;
    let is_lost = |which: &usize| {
        numbers[*which].is_changed(&fitted.values, before) && !known[*which].joint.is_identifiable()
    };
    let lost: Vec<usize> = all.into_iter().filter(is_lost).collect();
    for (&which, near) in lost.iter().zip(knowledge(evaluator, fitted, numbers, &lost, Reach::Near)?) {
        known[which] = near;
    }
    Ok(known)
}

fn gain(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    before: &Values,
    parameter: &Parameter,
) -> Result<Gain, FitError> {
    let Some(without) = evaluator.point(&parameter.restored(&fitted.values, before))? else {
        return Ok(Gain::default());
    };
    let found = without.improvement(fitted);
    let whole = without.ms();
    let percent = if whole > 0.0 { 100.0 * found.gain_ms / whole } else { 0.0 };
    Ok(Gain { ms: found.gain_ms, percent, t: found.t, is_clear: found.rules_out() })
}

/// The other options that the fitted part cannot tell from the one chosen.
pub(crate) fn as_good(
    evaluator: &Evaluator<'_>,
    fitted: &Point,
    choice: &Choice,
) -> Result<Vec<Value>, FitError> {
    let (options, values): (Vec<&Value>, Vec<Option<Values>>) =
        choice.others(&fitted.values).map(|(option, values)| (option, Some(values))).unzip();
    let points = evaluator.points(values)?;
    let is_as_good = |point: &Point| !point.improvement(fitted).rules_out();
    let found = options.into_iter().zip(points).filter(|(_, point)| point.as_ref().is_some_and(is_as_good));
    Ok(found.map(|(option, _)| option.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParameterTable;
    use crate::interval::{End, Interval, Knowledge};
    use headstack_drive::spec::DriveSpec;
    use headstack_system::library;

    /// Clearly worse with all else as it is; but others can make up for it.
    #[test]
    fn an_old_value_within_its_interval_was_not_wrong() {
        let source = library::resolve("drive", "hp-c2247a", &[library::drives()], None).unwrap();
        let spec = DriveSpec::from_toml(&source.origin, &source.text).unwrap();
        let number = ParameterTable::of(&spec).numbers[0].clone();
        let interval = |low, high| Interval { low: End::Told(low), high: End::Told(high) };
        let row = |joint| Row {
            parameter: Parameter::Number(number.clone()),
            before: Some(Value::Float(0.8)),
            after: Some(Value::Float(1.1)),
            by_default: None,
            gain: Gain { is_clear: true, ..Gain::default() },
            known: Known::Number(Knowledge { alone: interval(1.0, 1.2), joint }),
            folds: Vec::new(),
        };
        assert!(!row(interval(0.7, 1.5)).was_wrong());
        assert!(row(interval(0.9, 1.5)).was_wrong());
        // What a drive goes by without a value of its own counts as one; another rule does not.
        let absent = |by_default| Row { before: None, by_default, ..row(interval(0.7, 1.5)) };
        assert!(!absent(Some(Value::Float(0.8))).was_wrong() && absent(None).was_wrong());
    }
}

//! What can be fitted: a number within the bounds of physics, or a choice among a few words.

use crate::values::{Values, real};
use toml::Value;

/// A number of a drive: one key of its file, or one element of a list.
#[derive(Clone, Debug)]
pub struct Number {
    /// Dotted path of the key.
    pub path: String,
    /// Smallest value that physics allows.
    pub low: f64,
    /// Largest value that physics allows.
    pub high: f64,
    /// What a search tries first, in the parameter's unit; shares of the value where [`Number::relative`].
    pub steps: &'static [f64],
    /// Whether steps are shares of the value rather than amounts.
    pub relative: bool,
    /// Which element, where the key holds a list.
    pub element: Option<usize>,
    /// Where the list is one of points: the distance of this one, in cylinders.
    pub at_cylinders: Option<u32>,
    /// Decimal digits that are kept.
    pub digits: usize,
    /// The value that the model uses where the file has none.
    pub(crate) fallback: Fallback,
}

/// The value that the model uses where a file has none.
#[derive(Clone, Debug)]
pub(crate) enum Fallback {
    Constant(f64),
    /// The same as another value (the first element of a list), or this where the file has none either.
    As(&'static str, f64),
    /// The overheads at this path, less what passes beside the seek, unless the drive says when its seeks begin.
    SeekAfter(String),
    /// A level curve of no height at these distances.
    Level(Vec<u32>),
    /// None: the drive then goes by another rule.
    Rule,
}

impl Fallback {
    fn of(&self, values: &Values) -> Value {
        match self {
            Self::Constant(value) => Value::Float(*value),
            Self::Rule => Value::Float(0.0),
            Self::As(path, none) => Value::Float(values.get(path).map_or(*none, first)),
            Self::SeekAfter(path) => seek_after(values, path),
            Self::Level(distances) => {
                let point = |&at: &u32| Value::Array(vec![Value::Float(f64::from(at)), Value::Float(0.0)]);
                Value::Array(distances.iter().map(point).collect())
            }
        }
    }
}

fn first(value: &Value) -> f64 {
    value.as_array().and_then(|list| list.first()).map_or_else(|| real(value), real)
}

/// Without a value of its own, a seek starts when the rest of the drive says.
fn seek_after(values: &Values, overheads: &str) -> Value {
    let after = values.get("controller.seek_after_ms").map(real);
    let beside = values.get("controller.overhead_beside_seek_ms").map_or(0.0, real);
    let begin = |overhead: &Value| Value::Float(after.unwrap_or_else(|| (real(overhead) - beside).max(0.0)));
    match values.get(overheads) {
        Some(Value::Array(list)) => Value::Array(list.iter().map(begin).collect()),
        Some(single) => begin(single),
        None => begin(&Value::Float(0.0)),
    }
}

impl Number {
    /// The dotted path, the element's number included.
    pub fn name(&self) -> String {
        self.element.map_or_else(|| self.path.clone(), |element| format!("{}.{element}", self.path))
    }

    /// What it is in a drive.
    pub fn value(&self, values: &Values) -> f64 {
        let whole = self.whole(values);
        let own = self.element.and_then(|element| whole.get(element)).unwrap_or(&whole);
        match self.at_cylinders {
            Some(_) => own.get(1).map_or(0.0, real),
            None => real(own),
        }
    }

    /// The drive with this value changed by an amount (or a share); `None` where physics forbids it.
    pub fn moved(&self, values: &Values, step: f64) -> Option<Values> {
        let new = self.after(self.value(values), step);
        (self.low <= new && new <= self.high).then(|| self.put(values, new))
    }

    /// A value, a step on.
    pub(crate) fn after(&self, value: f64, step: f64) -> f64 {
        if self.relative { value * (1.0 + step) } else { value + step }
    }

    /// How far a value is from a bound of physics, in steps' unit; `sign` tells which bound.
    pub(crate) fn room(&self, value: f64, sign: f64) -> f64 {
        let room = if sign < 0.0 { value - self.low } else { self.high - value };
        if self.relative { room / value } else { room }
    }

    /// The drive with another value, rounded to the digits that are kept.
    pub(crate) fn put(&self, values: &Values, new: f64) -> Values {
        self.write(values, Value::Float(rounded(new, self.digits)))
    }

    fn write(&self, values: &Values, new: Value) -> Values {
        let Some(element) = self.element else { return values.with(&self.path, new) };
        let mut whole = self.whole(values);
        if let Some(place) = whole.get_mut(element) {
            *place = match self.at_cylinders {
                Some(at) => Value::Array(vec![Value::Float(f64::from(at)), new]),
                None => new,
            };
        }
        values.with(&self.path, whole)
    }

    /// The drive with this value as it was before; a key that then says nothing new is left out of the file again.
    pub(crate) fn restored(&self, values: &Values, before: &Values) -> Values {
        if self.is_without(before) {
            return values.without(&self.path);
        }
        let back = match self.element {
            None => values.with(&self.path, self.whole(before)),
            Some(_) => self.write(values, Value::Float(self.value(before))),
        };
        let plain = back.without(&self.path);
        if numbers(&self.whole(&plain)) == numbers(&self.whole(&back)) { plain } else { back }
    }

    /// Whether a fit has replaced this value, rather than another that it follows by default.
    pub(crate) fn is_changed(&self, values: &Values, before: &Values) -> bool {
        values.is_replaced(&self.path)
            && (self.is_without(before) || self.value(values) != self.value(before))
    }

    /// Whether the drive goes by another rule than this number, so that it has no value to be moved from by a little.
    pub(crate) fn is_without(&self, values: &Values) -> bool {
        matches!(self.fallback, Fallback::Rule) && values.get(&self.path).is_none()
    }

    fn whole(&self, values: &Values) -> Value {
        values.get(&self.path).cloned().unwrap_or_else(|| self.fallback.of(values))
    }
}

/// The numbers in a value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or_else(|| vec![real(value)], |list| list.iter().flat_map(numbers).collect())
}

/// A number with so many decimal digits, correctly rounded.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// A word, a switch or a whole number, chosen among a few.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Dotted path of the key.
    pub path: &'static str,
    /// What it can be.
    pub options: Vec<Value>,
    /// What it is where the file says nothing.
    pub(crate) fallback: Value,
}

impl Choice {
    /// What it is in a drive.
    pub fn value<'a>(&'a self, values: &'a Values) -> &'a Value {
        values.get(self.path).unwrap_or(&self.fallback)
    }

    /// The drives with each of the other options, in their order.
    pub(crate) fn others<'a>(&'a self, values: &'a Values) -> impl Iterator<Item = (&'a Value, Values)> {
        let now = self.value(values);
        let other = self.options.iter().filter(move |option| *option != now);
        other.map(|option| (option, values.with(self.path, option.clone())))
    }
}

/// A number or a choice.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// A number.
    Number(Number),
    /// A choice.
    Choice(Choice),
}

impl Parameter {
    /// The dotted path, of an element of a list with its number.
    pub fn name(&self) -> String {
        match self {
            Self::Number(number) => number.name(),
            Self::Choice(choice) => choice.path.to_owned(),
        }
    }

    /// The dotted path of the key.
    pub fn path(&self) -> &str {
        match self {
            Self::Number(number) => &number.path,
            Self::Choice(choice) => choice.path,
        }
    }

    /// What it is in a drive.
    pub(crate) fn value(&self, values: &Values) -> Value {
        match self {
            Self::Number(number) => Value::Float(number.value(values)),
            Self::Choice(choice) => choice.value(values).clone(),
        }
    }

    /// Whether a drive's file has a value of it.
    pub(crate) fn in_file(&self, values: &Values) -> bool {
        values.get(self.path()).is_some()
    }

    /// What a drive without a value of it goes by; `None` where it then goes by another rule.
    pub(crate) fn by_default(&self, values: &Values) -> Option<Value> {
        match self {
            Self::Number(number) if number.is_without(values) => None,
            _ => Some(self.value(values)),
        }
    }

    pub(crate) fn restored(&self, values: &Values, before: &Values) -> Values {
        match self {
            Self::Number(number) => number.restored(values, before),
            Self::Choice(choice) => values.without(choice.path),
        }
    }

    pub(crate) fn is_changed(&self, values: &Values, before: &Values) -> bool {
        match self {
            Self::Number(number) => number.is_changed(values, before),
            Self::Choice(choice) => {
                values.is_replaced(choice.path) && choice.value(values) != choice.value(before)
            }
        }
    }
}

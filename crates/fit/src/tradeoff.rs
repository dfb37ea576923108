//! Which parameters make up for each other: how far the others go along when one is moved.
//!
//! Two parameters of which only the sum can be seen are each known no better than the other lets them be. An interval
//! for one with the other held would be far too narrow. So the model's times are differentiated by every number at the
//! fitted drive, and for a step of one number the others take the steps that keep the times as they were, as well as a
//! weighted least-squares fit can, and within the bounds of physics.
//!
//! Differences are taken to both sides, and over steps as wide as those of a search: what moves a request over the edge
//! of a missed revolution shows as a share of requests rather than as a slope.

use crate::FitError;
use crate::evaluate::{Evaluator, Point};
use crate::parameter::Number;
use crate::values::Values;
use headstack_units::Nanos;

/// Sweeps over the others until their steps have settled.
const SWEEPS: usize = 200;
/// Steps that move less than this (of the step they answer) have settled.
const SETTLED: f64 = 1e-4;
/// What keeps a number whose effect cannot be told from others' from going far: this share of a mean response.
const RIDGE: f64 = 1e-3;

/// The model's response to every number at the fitted drive. Steps are in units of each number's smallest search step.
pub(crate) struct TradeOffs<'a> {
    numbers: &'a [Number],
    fitted: Vec<f64>,
    /// Weighted products of the responses to each pair of numbers.
    products: Vec<Vec<f64>>,
}

impl<'a> TradeOffs<'a> {
    /// Differentiates the model's times at a fitted drive.
    pub(crate) fn at(
        evaluator: &Evaluator<'_>,
        fitted: &Point,
        numbers: &'a [Number],
    ) -> Result<Self, FitError> {
        let centre = evaluator.times(std::slice::from_ref(&fitted.values))?.remove(0).unwrap_or_default();
        let weights = weights(evaluator.measured(), &centre);
        let side = |number: &Number, sign: f64| {
            let step = (!number.is_without(&fitted.values)).then_some(sign * number.steps[0])?;
            number.moved(&fitted.values, step)
        };
        let sides = |number: &Number| [-1.0, 1.0].map(|sign| side(number, sign));
        let moved: Vec<[Option<Values>; 2]> = numbers.iter().map(sides).collect();
        let tried: Vec<Values> = moved.iter().flatten().flatten().cloned().collect();
        let mut times = evaluator.times(&tried)?.into_iter();
        let mut side = |values: Option<Values>| values.and_then(|_| times.next().flatten());
        let responses: Vec<Vec<f64>> =
            moved.into_iter().map(|[down, up]| response(side(down), &centre, side(up))).collect();
        let product = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).zip(&weights).map(|((a, b), weight)| a * b * weight).sum::<f64>()
        };
        let row = |a: &Vec<f64>| responses.iter().map(|b| product(a, b)).collect();
        let products = responses.iter().map(row).collect();
        let fitted = numbers.iter().map(|number| number.value(&fitted.values)).collect();
        Ok(Self { numbers, fitted, products })
    }

    /// The drive in which one number is so far from where it was fitted (in steps of its own unit, as
    /// [`Number::moved`] takes them), and the others make up for this share of it.
    pub(crate) fn moved(&self, values: &Values, which: usize, step: f64, share: f64) -> Option<Values> {
        let mut moved = self.numbers[which].moved(values, step)?;
        let others = self.answers(which, step / self.numbers[which].steps[0]);
        for ((number, &old), answer) in self.numbers.iter().zip(&self.fitted).zip(others) {
            let new = number.after(old, share * answer * number.steps[0]).clamp(number.low, number.high);
            if answer != 0.0 && new != old {
                moved = number.put(&moved, new);
            }
        }
        Some(moved)
    }

    /// The steps of the others that answer a step of one: least squares within bounds, number by number until they
    /// settle. The one itself stays.
    fn answers(&self, which: usize, step: f64) -> Vec<f64> {
        let count = self.numbers.len();
        let mean = (0..count).map(|other| self.products[other][other]).sum::<f64>() / count as f64;
        let bounds: Vec<[f64; 2]> = (0..count).map(|other| self.bounds(other)).collect();
        let mut answers = vec![0.0; count];
        for _ in 0..SWEEPS {
            let mut most = 0.0_f64;
            for other in (0..count).filter(|&other| other != which) {
                let row = &self.products[other];
                if row[other] <= 0.0 {
                    continue;
                }
                let pull: f64 = row.iter().zip(&answers).map(|(product, answer)| product * answer).sum();
                let pull = pull - row[other] * answers[other] + row[which] * step;
                let new = (-pull / (row[other] + RIDGE * mean)).clamp(bounds[other][0], bounds[other][1]);
                most = most.max((new - answers[other]).abs());
                answers[other] = new;
            }
            if most < SETTLED * step.abs() {
                break;
            }
        }
        answers
    }

    /// How far physics lets a number go from where it was fitted.
    fn bounds(&self, which: usize) -> [f64; 2] {
        let (number, old) = (&self.numbers[which], self.fitted[which]);
        let room = |sign| (number.room(old, sign) / number.steps[0]).max(0.0);
        [-room(-1.0), room(1.0)]
    }
}

/// Weights with which squares of small changes stand for absolute errors: a request that is far off anyway tells little
/// by getting somewhat farther.
fn weights(measured: &[Nanos], model: &[Nanos]) -> Vec<f64> {
    let errors: Vec<f64> = measured.iter().zip(model).map(|(a, b)| a.0.abs_diff(b.0) as f64 / 1e6).collect();
    let mut sorted = errors.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0).max(1e-3);
    errors.into_iter().map(|error| 1.0 / error.max(typical)).collect()
}

/// Change of each time for one step up, in ms: from the two sides, or from the one that physics allows.
fn response(down: Option<Vec<Nanos>>, centre: &[Nanos], up: Option<Vec<Nanos>>) -> Vec<f64> {
    let slope = |from: &[Nanos], to: &[Nanos], steps: f64| -> Vec<f64> {
        from.iter().zip(to).map(|(a, b)| b.signed_diff(*a) as f64 / 1e6 / steps).collect()
    };
    match (down, up) {
        (Some(down), Some(up)) => slope(&down, &up, 2.0),
        (Some(down), None) => slope(&down, centre, 1.0),
        (None, Some(up)) => slope(centre, &up, 1.0),
        (None, None) => vec![0.0; centre.len()],
    }
}

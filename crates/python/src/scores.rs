//! How far a model's times are from measured ones.

use crate::error::Error;
use crate::results::{self, Typed, typed};
use crate::validate::Sample;
use headstack_stats::{Demerit, PerRequest, Score, ScoreInterval, Scores, StatsError, score_intervals};
use headstack_units::{Nanos, Op};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The scores of all requests, of the reads and of the writes.
pub(crate) fn scores(measured: &[Sample], model: &[Nanos]) -> Result<Value, Error> {
    let ops: Vec<Op> = measured.iter().map(|sample| sample.op).collect();
    let times: Vec<Nanos> = measured.iter().map(|sample| sample.measured).collect();
    Ok(scores_value(&Scores::new(&ops, &times, model)?))
}

/// How sure they are.
pub(crate) fn intervals(
    measured: &[Sample],
    model: &[Nanos],
    samples: usize,
    seed: u64,
) -> Result<Value, Error> {
    let ops: Vec<Op> = measured.iter().map(|sample| sample.op).collect();
    let times: Vec<Nanos> = measured.iter().map(|sample| sample.measured).collect();
    let found = score_intervals(&ops, &times, model, samples, seed)?;
    let value = |of: Option<&ScoreInterval>| {
        of.map(|of| json!({ "demerit_ms": of.demerit_ms, "mae_percent": of.mae_percent }))
    };
    Ok(json!({
        "all": value(Some(&found.all)),
        "reads": value(found.reads.as_ref()),
        "writes": value(found.writes.as_ref()),
    }))
}

/// The same for Python.
pub(crate) fn scores_value(scores: &Scores) -> Value {
    let mut value = score_value(Some(&scores.all));
    value["reads"] = score_value(scores.reads.as_ref());
    value["writes"] = score_value(scores.writes.as_ref());
    value
}

fn score_value(score: Option<&Score>) -> Value {
    let Some(score) = score else { return json!({"requests": 0}) };
    let mut value = demerit_value(&score.demerit);
    value["requests"] = json!(score.per_request.requests);
    value["per_request"] = per_request_value(&score.per_request);
    value
}

fn demerit_value(demerit: &Demerit) -> Value {
    json!({
        "measured_mean_ms": demerit.measured_mean_ms,
        "model_mean_ms": demerit.model_mean_ms,
        "demerit_ms": demerit.ms,
        "demerit_percent": demerit.percent,
    })
}

fn per_request_value(errors: &PerRequest) -> Value {
    json!({
        "mae_ms": errors.mae_ms,
        "mae_percent": errors.mae_percent,
        "median_ms": errors.median_ms,
        "p90_ms": errors.p90_ms,
        "rmse_ms": errors.rmse_ms,
        "bias_ms": errors.bias_ms,
        "within_1_ms": errors.within_1_ms,
        "correlation": errors.correlation,
    })
}

pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Some(keys), Value::Object(more)) = (value.as_object_mut(), more) {
        keys.extend(more);
    }
}

/// The demerit of a model (Ruemmler & Wilkes 1994): the root mean square horizontal distance between the distributions of
/// measured and modelled times, in ms and in percent of the measured mean. Both are sequences of times in ms.
#[pyfunction]
pub(crate) fn demerit(
    py: Python<'_>,
    measured: Vec<f64>,
    model: Vec<f64>,
) -> PyResult<Typed<'_, results::DemeritScore>> {
    typed(py, &demerit_value(&headstack_stats::demerit_ms(&measured, &model).map_err(Error::from)?))
}

/// How far the model's time of each request is from its measured one. Both are sequences of times in ms, in the same order.
#[pyfunction]
pub(crate) fn per_request_error(
    py: Python<'_>,
    measured: Vec<f64>,
    model: Vec<f64>,
) -> PyResult<Typed<'_, results::PerRequest>> {
    let nanos = |times: &[f64]| -> Result<Vec<Nanos>, Error> {
        let convert = |(index, &ms): (usize, &f64)| {
            let is_time = (0.0..9e12).contains(&ms);
            if is_time { Ok(Nanos::from_ms(ms)) } else { Err(StatsError::NotATime { index, ms }.into()) }
        };
        times.iter().enumerate().map(convert).collect()
    };
    let errors = headstack_stats::per_request(&nanos(&measured)?, &nanos(&model)?).map_err(Error::from)?;
    typed(py, &per_request_value(&errors))
}

/// The mean of independent values, such as those of runs with different seeds, and half the width of its 95 % interval
/// (Student): `None` for a single value. Raises `InputError` if there is none.
#[pyfunction]
pub(crate) fn mean_interval(values: Vec<f64>) -> Result<(f64, Option<f64>), Error> {
    headstack_stats::mean_interval(&values)
        .ok_or_else(|| Error::input("there is no mean of no values", "give at least one"))
}

/// How many independent values so many neighbours in a stream are worth, given how far each is off their mean.
#[pyfunction]
pub(crate) fn independent_values(off: Vec<f64>) -> f64 {
    headstack_stats::independent(&off)
}

/// The 0.975 quantile of Student's t; `None` for no degree of freedom.
#[pyfunction]
pub(crate) fn student_975(degrees: usize) -> Option<f64> {
    headstack_stats::student_975(degrees)
}

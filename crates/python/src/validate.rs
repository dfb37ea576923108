//! `validate`: a trace with measured times through a model, and how far the model is from them.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::poll::{Poll, Refusal};
use crate::run::{Feed, Requests, observed, replay_named};
use crate::system::System;
use crate::table::Table;
use crate::trace::Trace;
use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use headstack_drive::spec::LadderStep;
use headstack_stats::{Demerit, PerRequest, StatsError};
use headstack_system::{CompletionRow, CompletionSink, Replay, RunOptions, Summary, SystemError};
use headstack_units::{Nanos, Op};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// How a model compares with measured times.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct ValidationResult {
    summary: Value,
    rungs: Vec<String>,
    measured: Vec<Sample>,
    models: Vec<Vec<Nanos>>,
}

#[pymethods]
impl ValidationResult {
    /// The scores.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.summary)
    }

    /// One row a request: number, arrival, operation, address, measured service time, and the model's, or one column for
    /// each rung of the ladder; times in ms.
    fn times(&self) -> PyResult<Table> {
        let real = |value: &dyn Fn(&Sample) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(self.measured.iter().map(value)))
        };
        let whole = |value: &dyn Fn(&Sample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(self.measured.iter().map(value)))
        };
        let ops = self.measured.iter().map(|sample| crate::convert::word(sample.op));
        let mut columns: Vec<(String, ArrayRef)> = vec![
            ("id".to_owned(), whole(&|sample| sample.id)),
            ("arrival_s".to_owned(), real(&|sample| sample.arrival.as_s())),
            ("op".to_owned(), Arc::new(StringArray::from_iter_values(ops))),
            ("lba".to_owned(), whole(&|sample| sample.lba)),
            ("measured_ms".to_owned(), real(&|sample| sample.measured.as_ms())),
        ];
        for (rung, times) in self.rungs.iter().zip(&self.models) {
            let times = times.iter().map(|time| time.as_ms());
            columns.push((format!("{rung}_ms"), Arc::new(Float64Array::from_iter_values(times))));
        }
        let batch = RecordBatch::try_from_iter(columns)
            .map_err(|error| Error::Internal(format!("the table of times: {error}")))?;
        Ok(Table::new(batch.schema(), vec![batch]))
    }
}

/// Runs a trace that has measured times through a model, and scores the model.
///
/// `replay` is "measured" where the trace has start times, unless said otherwise; `ladder` scores the rungs M0 to M4 too.
#[pyfunction]
#[pyo3(signature = (system, trace, *, replay=None, seed=None, limit=None, ladder=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn validate(
    py: Python<'_>,
    system: &Bound<'_, System>,
    trace: Bound<'_, Trace>,
    replay: Option<&str>,
    seed: Option<u64>,
    limit: Option<u64>,
    ladder: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<ValidationResult> {
    let system = system.get();
    let replay = replay.map(replay_named).transpose()?;
    let requests = Requests::Trace(trace);
    let mut options = RunOptions { requests: limit, ..RunOptions::default() };
    let feed = Feed::new(&requests, seed, &mut options);
    let Requests::Trace(trace) = &requests else { unreachable!("made a trace above") };
    let trace = trace.get();
    let (poll, refusal) = Poll::new(progress);
    guarded(py, || {
        options.replay = match replay {
            Some(replay) => replay,
            None if trace.is_measured()? => Replay::Measured,
            None => Replay::Closed,
        };
        let mut scoring = Scoring { feed, options, poll, refusal };
        scoring.result(system, trace, ladder)
    })
}

struct Scoring<'a> {
    feed: Feed<'a>,
    options: RunOptions,
    poll: Poll,
    refusal: Refusal,
}

impl Scoring<'_> {
    fn result(&mut self, system: &System, trace: &Trace, ladder: bool) -> Result<ValidationResult, Error> {
        let begun = Instant::now();
        let (summary, measured, model, unmeasured) = self.times(system)?;
        if measured.is_empty() {
            return Err(Error::input(
                format!("{}: no request has a measured service time", trace.path.display()),
                "a model is scored against measured times: choose a trace that has start and completion of each request",
            ));
        }
        let mut value = json!({
            "requests": measured.len(),
            "replay": self.options.replay,
            "phase_lock": false,
        });
        extend(&mut value, score(&measured, &model, |_| true)?);
        value["reads"] = score(&measured, &model, |sample| sample.op == Op::Read)?;
        value["writes"] = score(&measured, &model, |sample| sample.op == Op::Write)?;
        value["clamped"] = json!(summary.clamped);
        value["unmeasured"] = json!(unmeasured);
        let (mut rungs, mut models) = (vec!["model".to_owned()], vec![model]);
        if ladder {
            let mean_ms = value["measured_mean_ms"].as_f64().unwrap_or_default();
            (rungs, models) = (Vec::new(), Vec::new());
            let mut list = Vec::new();
            for step in LadderStep::ALL {
                let (_, _, model, _) = self.times(&system.rung(step, mean_ms)?)?;
                let mut rung = json!({"step": step.name(), "content": step.content()});
                extend(&mut rung, score(&measured, &model, |_| true)?);
                rung["reads"] = score(&measured, &model, |sample| sample.op == Op::Read)?;
                rung["writes"] = score(&measured, &model, |sample| sample.op == Op::Write)?;
                list.push(rung);
                rungs.push(step.name().to_owned());
                models.push(model);
            }
            value["ladder"] = Value::Array(list);
        }
        value["system"] = json!(summary.system);
        value["workload"] = json!(summary.workload);
        value["seed"] = json!(summary.seed);
        value["config_hash"] = json!(summary.config_hash);
        value["version"] = json!(summary.version);
        value["provenance"] = json!(summary.provenance);
        value["wall_s"] = json!(begun.elapsed().as_secs_f64());
        Ok(ValidationResult { summary: value, rungs, measured, models })
    }

    /// Measured and model service times of a run, in order of the requests' numbers.
    fn times(&mut self, system: &System) -> Result<(Summary, Vec<Sample>, Vec<Nanos>, u64), Error> {
        let input = self.feed.input(system, &self.options, self.poll.quiet())?;
        let mut pairs = Pairs::default();
        let poll = self.poll.sibling();
        let summary = observed(system, input, &mut self.options, &mut pairs, poll)
            .map_err(|error| self.refusal.or(error))?;
        if summary.interrupted {
            return Err(self.refusal.or(Error::Stopped));
        }
        pairs.rows.sort_unstable_by_key(|(sample, _)| sample.id);
        let (measured, model) = pairs.rows.into_iter().unzip();
        Ok((summary, measured, model, pairs.unmeasured))
    }
}

/// A request with its measured service time.
#[derive(Clone, Copy)]
struct Sample {
    id: u64,
    op: Op,
    lba: u64,
    arrival: Nanos,
    measured: Nanos,
}

/// Measured and model times side by side.
#[derive(Default)]
struct Pairs {
    rows: Vec<(Sample, Nanos)>,
    unmeasured: u64,
}

impl CompletionSink for Pairs {
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        for row in rows {
            let (Some(start), Some(finish)) = (row.measured_start.present(), row.measured_finish.present())
            else {
                self.unmeasured += 1;
                continue;
            };
            let measured = finish.saturating_sub(start);
            let sample = Sample { id: row.id, op: row.op, lba: row.lba.0, arrival: row.arrival, measured };
            self.rows.push((sample, row.service()));
        }
        Ok(())
    }
}

/// The scores of the chosen requests; empty where none is chosen.
fn score(measured: &[Sample], model: &[Nanos], chosen: impl Fn(&Sample) -> bool) -> Result<Value, Error> {
    let pairs = measured.iter().zip(model).filter(|(sample, _)| chosen(sample));
    let (measured, model): (Vec<Nanos>, Vec<Nanos>) =
        pairs.map(|(sample, time)| (sample.measured, *time)).unzip();
    if measured.is_empty() {
        return Ok(json!({"requests": 0}));
    }
    let demerit = headstack_stats::demerit(&measured, &model)?;
    let mut value = demerit_value(&demerit);
    value["requests"] = json!(measured.len());
    value["per_request"] = per_request_value(&headstack_stats::per_request(&measured, &model)?);
    Ok(value)
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

fn extend(value: &mut Value, more: Value) {
    if let (Some(keys), Value::Object(more)) = (value.as_object_mut(), more) {
        keys.extend(more);
    }
}

/// The demerit of a model (Ruemmler & Wilkes 1994): the root mean square horizontal distance between the distributions of
/// measured and modelled times, in ms and in percent of the measured mean. Both are sequences of times in ms.
#[pyfunction]
pub(crate) fn demerit(py: Python<'_>, measured: Vec<f64>, model: Vec<f64>) -> PyResult<Bound<'_, PyDict>> {
    dict(py, &demerit_value(&headstack_stats::demerit_ms(&measured, &model).map_err(Error::from)?))
}

/// How far the model's time of each request is from its measured one. Both are sequences of times in ms, in the same order.
#[pyfunction]
pub(crate) fn per_request_error(
    py: Python<'_>,
    measured: Vec<f64>,
    model: Vec<f64>,
) -> PyResult<Bound<'_, PyDict>> {
    let nanos = |times: &[f64]| -> Result<Vec<Nanos>, Error> {
        let convert = |(index, &ms): (usize, &f64)| {
            let is_time = (0.0..9e12).contains(&ms);
            if is_time { Ok(Nanos::from_ms(ms)) } else { Err(StatsError::NotATime { index, ms }.into()) }
        };
        times.iter().enumerate().map(convert).collect()
    };
    let errors = headstack_stats::per_request(&nanos(&measured)?, &nanos(&model)?).map_err(Error::from)?;
    dict(py, &per_request_value(&errors))
}

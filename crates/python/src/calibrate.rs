//! `calibrate`: a drive fitted to measured times, on threads of its own, with an ear for Python.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::phase::PhaseLock;
use crate::poll::{Poll, Refusal};
use crate::scores::scores_value;
use crate::system::System;
use crate::trace::Trace;
use headstack_fit::{
    Angles, BeforeAfter, Calibration, End, Estimate, Interval, Known, MeasuredTrace, Monitor, Objective,
    OfDirection, Options, Parameter, Row, Split,
};
use headstack_stats::{Score, Scores};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long Python waits at most before it gets to run.
const INTERVAL: Duration = Duration::from_millis(50);
/// Standard errors beyond this are told as this: JSON knows no infinity.
const MOST_ERRORS: f64 = 1e6;

/// What a calibration comes to.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct CalibrationResult {
    summary: Value,
    drive: String,
}

#[pymethods]
impl CalibrationResult {
    /// Parameters and scores.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.summary)
    }

    /// The corrected drive, as the text of a drive file.
    #[getter]
    fn drive(&self) -> &str {
        &self.drive
    }
}

/// Fits parameters of a system's one drive to a part of a trace, and scores it on the rest.
///
/// The part is the first `share` of the requests; with `folds`, every block of so many is scored by a drive fitted to the
/// others. With `retries` the corrected drive gets `[soft_errors]`. `resume` is a file that keeps what was tried. `objective`
/// is "balanced_ms", "mae_ms", "rmse_ms" or "demerit_ms". `note` gets sentences, `progress` the number of drives tried.
#[pyfunction]
#[pyo3(signature = (
    system, trace, *, share=0.5, folds=None, objective="mae_ms", parameters=Vec::new(), rounds=3, threads=None,
    retries=false, resume=None, note=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn calibrate(
    py: Python<'_>,
    system: &Bound<'_, System>,
    trace: &Bound<'_, Trace>,
    share: f64,
    folds: Option<usize>,
    objective: &str,
    parameters: Vec<String>,
    rounds: u32,
    threads: Option<usize>,
    retries: bool,
    resume: Option<PathBuf>,
    note: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<CalibrationResult> {
    let (system, trace) = (system.get(), trace.get());
    let options = Options {
        name: system.system.config().name.clone(),
        split: folds.map_or(Split::First(share), Split::KFold),
        objective: objective_named(objective)?,
        // What somebody asks for by name is theirs to weigh.
        guard: parameters.is_empty(),
        parameters,
        rounds,
        threads,
        retries,
        resume,
        ..Options::default()
    };
    let (poll, refusal) = Poll::new(progress);
    guarded(py, || {
        let measured = MeasuredTrace::read(&trace.label().name, &mut trace.shaped(system.targets(), None)?)?;
        let [drive] = system.system.config().drives.as_slice() else {
            return Err(Error::input("a calibration fits one drive", "name a drive file"));
        };
        let monitor = Monitor::default();
        let work = || headstack_fit::calibrate(&drive.spec, &measured, &options, &monitor);
        let found = watched(work, &monitor, poll, &refusal, note.as_ref())?;
        let summary = summary(&found, &options, measured.name());
        Ok(CalibrationResult { summary, drive: found.drive.to_toml() })
    })
}

fn objective_named(word: &str) -> Result<Objective, Error> {
    let found = Objective::ALL.into_iter().find(|objective| objective.name() == word);
    found.ok_or_else(|| {
        let known = Objective::ALL.map(Objective::name).join(", ");
        Error::input(format!("there is no objective `{word}`"), format!("known: {known}"))
    })
}

/// Works on a thread of its own, while this one, on which Python's signals come, listens.
fn watched<T: Send>(
    work: impl FnOnce() -> Result<T, headstack_fit::FitError> + Send,
    monitor: &Monitor,
    mut poll: Poll,
    refusal: &Refusal,
    note: Option<&Py<PyAny>>,
) -> Result<T, Error> {
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || drop(sender.send(work())));
        let result = loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(result) => break result.map_err(|error| refusal.or(error)),
                Err(RecvTimeoutError::Timeout) => {
                    let told = tell(monitor, note);
                    if told.is_err() || !poll.goes_on(monitor.evaluations(), 0.0) {
                        monitor.stop();
                        told?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break Err(Error::Internal("a fit panicked".to_owned()));
                }
            }
        };
        // A panic is told of already.
        drop(worker.join());
        tell(monitor, note)?;
        result
    })
}

/// Hands sentences on to Python.
fn tell(monitor: &Monitor, note: Option<&Py<PyAny>>) -> Result<(), Error> {
    let notes = monitor.take_notes();
    let (Some(note), false) = (note, notes.is_empty()) else { return Ok(()) };
    Python::attach(|py| notes.into_iter().try_for_each(|sentence| note.call1(py, (sentence,)).map(drop)))?;
    Ok(())
}

fn summary(found: &Calibration, options: &Options, trace: &str) -> Value {
    let (train, test) = found.requests;
    let mut split = match options.split {
        Split::First(share) => json!({ "share": share }),
        Split::KFold(folds) => json!({ "folds": folds }),
    };
    split["train_requests"] = json!(train);
    split["test_requests"] = json!(test);
    let phase =
        |angles: &Angles| PhaseLock::of(angles.fitted.clone()).value(angles.fitted_to, &angles.tracking);
    let mut value = json!({
        "system": options.name,
        "workload": trace,
        "objective": found.objective.name(),
        "split": split,
        "parameters": found.rows.iter().map(row_value).collect::<Vec<_>>(),
        "train": both(&found.train, scores_value),
        "test": both(&found.test, scores_value),
        "refuted": found.refuted,
        "retries": retries_value(found),
        "rounds": found.rounds,
        "evaluations": found.evaluations,
        "phase": both(&found.angles, phase),
        "seed": options.seed,
        "version": env!("CARGO_PKG_VERSION"),
    });
    if !found.folds.is_empty() {
        value["folds"] = folds_value(&found.folds);
    }
    value
}

/// The scores of each block, and the mean over the blocks with its 95 % interval.
fn folds_value(folds: &[BeforeAfter<Scores>]) -> Value {
    let over = |which: fn(&BeforeAfter<Scores>) -> &Scores| {
        let of = |score: fn(&Scores) -> Option<&Score>| {
            let scores: Vec<&Score> = folds.iter().filter_map(|fold| score(which(fold))).collect();
            spread(&scores)
        };
        let mut value = of(|scores| Some(&scores.all));
        value["reads"] = of(|scores| scores.reads.as_ref());
        value["writes"] = of(|scores| scores.writes.as_ref());
        value
    };
    json!({
        "scores": folds.iter().map(|fold| both(fold, scores_value)).collect::<Vec<_>>(),
        "mean": { "before": over(|fold| &fold.before), "after": over(|fold| &fold.after) },
    })
}

/// Mean and 95 % interval (Student) over blocks.
fn spread(scores: &[&Score]) -> Value {
    let of = |value: fn(&Score) -> f64| {
        let values: Vec<f64> = scores.iter().map(|score| value(score)).collect();
        let (mean, half) = headstack_stats::mean_interval(&values)?;
        Some(json!({ "mean": mean, "ci95": half.map(|half| [mean - half, mean + half]) }))
    };
    json!({
        "mae_ms": of(|score| score.per_request.mae_ms),
        "mae_percent": of(|score| score.per_request.mae_percent),
        "demerit_ms": of(|score| score.demerit.ms),
        "demerit_percent": of(|score| score.demerit.percent),
    })
}

/// How often the drive retries, by the training requests that are late by two revolutions or more, whole ones.
fn retries_value(found: &Calibration) -> Value {
    let retries = &found.retries;
    let direction = |of: &OfDirection| {
        json!({
            "on_media": of.media, "revolutions": of.revolutions, "late_otherwise": of.late_otherwise,
        })
    };
    let row = |name: &str, it: Estimate| {
        json!({
            "name": format!("soft_errors.{name}"), "value": it.value, "ci95": [it.ci95.0, it.ci95.1],
        })
    };
    let parameters: Vec<Value> = retries
        .found
        .iter()
        .flat_map(|it| {
            let rows = [
                ("read_probability", it.read_probability),
                ("write_probability", it.write_probability),
                ("mean_revolutions", Some(it.mean_revolutions)),
            ];
            rows.into_iter().filter_map(|(name, estimate)| Some(row(name, estimate?)))
        })
        .collect();
    let with = (!found.test_with_retries.is_empty()).then(|| {
        let of = |score: fn(&Score) -> f64| {
            let mut values: Vec<f64> = found.test_with_retries.iter().map(|it| score(&it.all)).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: usize| values[(values.len() - 1) * share / 2];
            json!({ "median": at(1), "range": [at(0), at(2)] })
        };
        json!({
            "seeds": found.test_with_retries.len(),
            "demerit_ms": of(|score| score.demerit.ms),
            "demerit_percent": of(|score| score.demerit.percent),
            "mae_ms": of(|score| score.per_request.mae_ms),
            "mae_percent": of(|score| score.per_request.mae_percent),
        })
    });
    json!({
        "reads": direction(&retries.reads),
        "writes": direction(&retries.writes),
        "late_share": retries.late_share().map(|it| json!({ "value": it.value, "ci95": [it.ci95.0, it.ci95.1] })),
        "parameters": parameters,
        "is_in_drive": found.drive.soft_errors.is_some(),
        "test_with": with,
    })
}

fn both<T>(pair: &BeforeAfter<T>, value: impl Fn(&T) -> Value) -> Value {
    json!({ "before": value(&pair.before), "after": value(&pair.after) })
}

fn row_value(row: &Row) -> Value {
    let mut value = json!({
        "name": row.parameter.name(),
        "path": row.parameter.path(),
        "before": row.before.as_ref().map(plain),
        "after": row.after.as_ref().map(plain),
        "by_default": row.by_default.as_ref().map(plain),
        "wrong": row.was_wrong(),
        "gain_ms": row.gain.ms,
        "gain_percent": row.gain.percent,
        "t": row.gain.t.clamp(-MOST_ERRORS, MOST_ERRORS),
        "ci95": Value::Null,
        "identifiable": row.known.is_identifiable(),
    });
    match &row.known {
        Known::Number(known) => {
            value["ci95"] = interval_value(&known.joint);
            value["ci95_others_held"] = interval_value(&known.alone);
        }
        Known::Choice(as_good) => value["as_good"] = as_good.iter().map(plain).collect(),
    }
    if let Parameter::Number(number) = &row.parameter {
        value["bounds"] = json!([number.low, number.high]);
        if let Some(at) = number.at_cylinders {
            value["at_cylinders"] = json!(at);
        }
    }
    if !row.folds.is_empty() {
        value["after_by_fold"] = row.folds.iter().map(plain).collect();
    }
    value
}

/// Both ends; nothing where neither is known.
fn interval_value(interval: &Interval) -> Value {
    let ends = [interval.low, interval.high];
    if ends == [End::Open; 2] { Value::Null } else { json!(ends.map(End::value)) }
}

fn plain(value: &toml::Value) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

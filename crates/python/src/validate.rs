//! `validate`: a trace with measured times through a model, and how far the model is from them.

use crate::error::{Error, guarded};
use crate::phase;
use crate::poll::{Poll, Refusal};
use crate::range::{PhaseLock, RequestCount, Seed};
use crate::results::{self, Typed, typed};
use crate::run::{Feed, Requests, observed, replay_named};
use crate::scores::{extend, intervals, scores};
use crate::system::System;
use crate::table::Table;
use crate::trace::Trace;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use headstack_drive::command::{CacheResult, Phases};
use headstack_drive::spec::LadderStep;
use headstack_system::{CompletionRow, CompletionSink, Replay, RunOptions, Summary, SystemError};
use headstack_units::{Nanos, Op};
use pyo3::prelude::*;
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
    /// How far the arm had to go for each request, where that is known.
    distances: Option<Vec<u32>>,
    /// The drive as fitted for a phase lock, as a file.
    fitted: Option<String>,
}

#[pymethods]
impl ValidationResult {
    /// The scores.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::ValidationSummary>> {
        typed(py, &self.summary)
    }

    /// One row a request: number, arrival, operation, address and size; measured service time, and the model's, or one
    /// column for each rung of the ladder; what the cache did and the phases in the (first) model; times in ms. Systems of
    /// one drive also have the distance of the seek from the request before, in cylinders.
    fn times(&self) -> PyResult<Table> {
        let real = |value: &dyn Fn(&Sample) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(self.measured.iter().map(value)))
        };
        let word = |value: &dyn Fn(&Sample) -> &'static str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.measured.iter().map(value)))
        };
        let whole = |value: &dyn Fn(&Sample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(self.measured.iter().map(value)))
        };
        let sectors = self.measured.iter().map(|sample| sample.sectors);
        let mut columns: Vec<(String, ArrayRef)> = vec![
            ("id".to_owned(), whole(&|sample| sample.id)),
            ("arrival_s".to_owned(), real(&|sample| sample.arrival.as_s())),
            ("op".to_owned(), word(&|sample| crate::convert::word(sample.op))),
            ("lba".to_owned(), whole(&|sample| sample.lba)),
            ("sectors".to_owned(), Arc::new(UInt32Array::from_iter_values(sectors))),
            ("measured_ms".to_owned(), real(&|sample| sample.measured.as_ms())),
        ];
        for (rung, times) in self.rungs.iter().zip(&self.models) {
            let times = times.iter().map(|time| time.as_ms());
            columns.push((format!("{rung}_ms"), Arc::new(Float64Array::from_iter_values(times))));
        }
        columns.push(("cache".to_owned(), word(&|sample| cache_word(sample.cache))));
        for (index, name) in Phases::NAMES.iter().enumerate() {
            let phase = |sample: &Sample| sample.phases.as_array()[index].as_ms();
            columns.push((format!("{name}_ms"), real(&phase)));
        }
        if let Some(distances) = &self.distances {
            let distances = distances.iter().copied();
            columns.push(("seek_cylinders".to_owned(), Arc::new(UInt32Array::from_iter_values(distances))));
        }
        let batch = RecordBatch::try_from_iter(columns)
            .map_err(|error| Error::Internal(format!("the table of times: {error}")))?;
        Ok(Table::new(batch.schema(), vec![batch]))
    }

    /// 95 % intervals of demerit and error per request, of all requests, of reads and of writes, from blocks of requests drawn
    /// anew so often; of the (first) model.
    #[pyo3(signature = (*, samples=200, seed=1))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        samples: usize,
        seed: u64,
    ) -> PyResult<Typed<'py, results::Intervals>> {
        let model = self.models.first().map_or(&[][..], Vec::as_slice);
        typed(py, &guarded(py, || intervals(&self.measured, model, samples, seed))?)
    }

    /// The drive as fitted to the first part of the trace, as the text of a drive file; `None` without a phase lock, and
    /// for systems that are not one drive.
    #[getter]
    fn fitted_drive(&self) -> Option<&str> {
        self.fitted.as_deref()
    }
}

/// Runs a trace that has measured times through a model, and scores the model.
///
/// `replay` is "measured" where the trace has start times, unless said otherwise; `ladder` scores the rungs of the ladder
/// of models too. `phase_lock` is the share of the trace to which speed, skews and zone offsets are fitted; the rest is
/// scored, with the spindle's phase followed from request to request.
#[pyfunction]
#[pyo3(signature = (
    system, trace, *, replay=None, seed=None, requests=None, ladder=false, phase_lock=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn validate(
    py: Python<'_>,
    system: &Bound<'_, System>,
    trace: Bound<'_, Trace>,
    replay: Option<&str>,
    seed: Option<Seed>,
    requests: Option<RequestCount>,
    ladder: bool,
    phase_lock: Option<PhaseLock>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ValidationResult> {
    let system = system.get();
    let replay = replay.map(replay_named).transpose()?;
    if phase_lock.is_some() && ladder {
        let problem = "the rungs of the ladder are not phase-locked";
        return Err(Error::input(problem, "use `--ladder` and `--phase-lock` one at a time").into());
    }
    let mut options = RunOptions { requests: requests.map(|requests| requests.0), ..RunOptions::default() };
    let source = Requests::Trace(trace);
    let feed = Feed::new(&source, seed.map(|seed| seed.0), &mut options);
    let Requests::Trace(trace) = &source else { unreachable!("made a trace above") };
    let trace = trace.get();
    let (poll, refusal) = Poll::new(progress);
    guarded(py, || {
        options.replay = match replay {
            Some(replay) => replay,
            None if trace.is_measured()? => Replay::Measured,
            None => Replay::Closed,
        };
        let mut scoring = Scoring { feed, options, poll, refusal };
        let runs = scoring.all(system, trace)?;
        match phase_lock {
            None => scoring.result(system, runs, ladder),
            Some(share) => scoring.locked(system, trace, runs, share.0),
        }
    })
}

/// Measured and model times of a run, in order of the requests' numbers.
struct Runs {
    begun: Instant,
    summary: Summary,
    measured: Vec<Sample>,
    model: Vec<Nanos>,
    unmeasured: u64,
}

struct Scoring<'a> {
    feed: Feed<'a>,
    options: RunOptions,
    poll: Poll,
    refusal: Refusal,
}

impl Scoring<'_> {
    /// The whole trace through the system as it is.
    fn all(&mut self, system: &System, trace: &Trace) -> Result<Runs, Error> {
        let begun = Instant::now();
        let (summary, measured, model, unmeasured) = self.times(system)?;
        if measured.is_empty() {
            return Err(Error::input(
                format!("{}: no request has a measured service time", trace.path.display()),
                "a model is scored against measured times: choose a trace that has start and completion of each request",
            ));
        }
        Ok(Runs { begun, summary, measured, model, unmeasured })
    }

    fn result(&mut self, system: &System, runs: Runs, ladder: bool) -> Result<ValidationResult, Error> {
        let Runs { begun, summary, measured, model, unmeasured } = runs;
        let mut value = json!({
            "requests": measured.len(),
            "replay": self.options.replay,
            "phase_lock": false,
        });
        extend(&mut value, scores(&measured, &model)?);
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
                extend(&mut rung, scores(&measured, &model)?);
                list.push(rung);
                rungs.push(step.name().to_owned());
                models.push(model);
            }
            value["ladder"] = Value::Array(list);
        }
        describe(&mut value, &summary, begun);
        let distances = phase::distances(system, &measured);
        Ok(ValidationResult { summary: value, rungs, measured, models, distances, fitted: None })
    }

    /// Fits the first part of the trace, and scores the rest with and without the lock.
    fn locked(
        &mut self,
        system: &System,
        trace: &Trace,
        runs: Runs,
        share: f64,
    ) -> Result<ValidationResult, Error> {
        if self.options.replay != Replay::Measured {
            let problem = "a phase lock needs the measured clock";
            return Err(Error::input(problem, "use `--replay measured` with `--phase-lock`"));
        }
        let first = phase::first_part(runs.measured.len(), share);
        let limit = self.options.requests;
        self.options.requests = Some(runs.measured[first - 1].id + 1);
        let fitted = phase::fit(system, trace, &self.options, &self.poll)?;
        self.options.requests = limit;
        let locked = fitted.system()?;
        self.options.phase_lock = Some(fitted.learn_zones());
        let (summary, mut measured, mut model, _) = self.times(&locked)?;
        self.options.phase_lock = None;
        // What was fitted is not scored.
        measured.drain(..first);
        model.drain(..first);
        let without: Vec<Nanos> = runs.model[first..].to_vec();
        let mut value = json!({
            "requests": measured.len(),
            "replay": self.options.replay,
            "phase_lock": true,
        });
        extend(&mut value, scores(&measured, &model)?);
        value["clamped"] = json!(summary.clamped);
        value["unmeasured"] = json!(runs.unmeasured);
        value["without_phase_lock"] = scores(&measured, &without)?;
        value["phase"] = fitted.value(first, &summary.phase);
        describe(&mut value, &summary, runs.begun);
        let distances = phase::distances(system, &runs.measured).map(|mut all| all.split_off(first));
        let rungs = vec!["model".to_owned(), "without_phase_lock".to_owned()];
        let fitted = fitted.drive_file();
        Ok(ValidationResult {
            summary: value,
            rungs,
            measured,
            models: vec![model, without],
            distances,
            fitted,
        })
    }

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

/// What was run, and when.
fn describe(value: &mut Value, summary: &Summary, begun: Instant) {
    value["system"] = json!(summary.system);
    value["workload"] = json!(summary.workload);
    value["seed"] = json!(summary.seed);
    value["config_hash"] = json!(summary.config_hash);
    value["version"] = json!(summary.version);
    value["provenance"] = json!(summary.provenance);
    value["wall_s"] = json!(begun.elapsed().as_secs_f64());
}

/// A request with its measured service time, and what the model did with it.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) id: u64,
    pub(crate) op: Op,
    pub(crate) lba: u64,
    pub(crate) sectors: u32,
    pub(crate) arrival: Nanos,
    pub(crate) measured: Nanos,
    cache: CacheResult,
    phases: Phases,
}

fn cache_word(result: CacheResult) -> &'static str {
    match result {
        CacheResult::Hit => "hit",
        CacheResult::PartialHit => "partial-hit",
        CacheResult::Miss => "miss",
        CacheResult::ReportedEarly => "reported-early",
    }
}

/// Measured and model times side by side.
#[derive(Default)]
pub(crate) struct Pairs {
    pub(crate) rows: Vec<(Sample, Nanos)>,
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
            let sample = Sample {
                id: row.id,
                op: row.op,
                lba: row.lba.0,
                sectors: row.sectors,
                arrival: row.arrival,
                measured: finish.saturating_sub(start),
                cache: row.cache,
                phases: row.phases,
            };
            self.rows.push((sample, row.service()));
        }
        Ok(())
    }
}

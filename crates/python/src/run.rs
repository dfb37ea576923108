//! `simulate`: requests through a system; completions to a file, into memory, or thinned to a sample.

use crate::convert;
use crate::error::{Error, guarded};
use crate::poll::{Poll, Polled};
use crate::range::{RequestCount, Seed, Threads, UntilS, WarmupRequests, WarmupS};
use crate::results::{self, Typed, typed};
use crate::sinks::{Bytes, Sinks, Streams, Tables, Wanted, table};
use crate::system::{System, Workload};
use crate::table::Table;
use crate::trace::Trace;
use arrow_schema::{Schema, SchemaRef};
use headstack_system::{
    CompletionSink, Input, LATEST, Replay, RunOptions, Summary, SystemError, Warmup, WorkloadLabel, run,
};
use headstack_trace::atomic_file::check_apart;
use headstack_units::Nanos;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Where requests come from.
#[derive(FromPyObject)]
pub(crate) enum Requests<'py> {
    Trace(Bound<'py, Trace>),
    Workload(Bound<'py, Workload>),
}

/// What a run is rebuilt from in another process: the function that does it, its numbers and its tables.
type ReducedRun<'py> = (Bound<'py, PyAny>, (String, Streams<Bytes>));

/// What a run comes to.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct RunResult {
    summary: Value,
    plots: Value,
    tables: Tables,
}

#[pymethods]
impl RunResult {
    /// The key numbers.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::RunSummary>> {
        typed(py, &self.summary)
    }

    /// Curves for a report.
    fn plots<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::Plots>> {
        typed(py, &self.plots)
    }

    /// One row a request; `None` if they were not kept.
    fn completions(&self) -> Option<Table> {
        table(&self.tables.completions)
    }

    /// One row for each request of the driver below a buffer cache; `None` if they were not kept, or there is no cache.
    fn driver_requests(&self) -> Option<Table> {
        table(&self.tables.driver)
    }

    /// One row for each piece of work that no command waited for; `None` if they were not kept.
    fn background(&self) -> Option<Table> {
        table(&self.tables.background)
    }

    /// Every how many-th request is in the sample, and the sample; `None` if there was none taken.
    fn sample(&self) -> Option<(u64, Table)> {
        let (stride, schema, batch) = self.tables.sample.as_ref()?;
        Some((*stride, Table::new(schema.clone(), vec![batch.clone()])))
    }

    /// What `pickle` keeps: the numbers as text, and the tables as they stand in memory.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<ReducedRun<'py>> {
        let told = json!({ "summary": self.summary, "plots": self.plots }).to_string();
        Ok((py.get_type::<Self>().getattr("_restored")?, (told, self.tables.to_streams()?)))
    }

    /// The run that was pickled.
    #[staticmethod]
    fn _restored(told: &str, streams: Streams<PyBackedBytes>) -> PyResult<Self> {
        let mut told: Value = convert::restored(told)?;
        let [summary, plots] = ["summary", "plots"].map(|key| told[key].take());
        Ok(Self { summary, plots, tables: Tables::of_streams(streams)? })
    }
}

/// Runs a workload or a trace on a system.
///
/// `out` is a Parquet file that gets a row per request as the run goes on, `driver_out` one that gets a row per request of
/// the driver below a buffer cache, `background_out` one that gets a row for each piece of work that no command waited for;
/// `keep` keeps the rows in memory; `sample` keeps an even selection of the completions. `progress` is called now and then
/// with the number of requests done and the simulated time in seconds; it stops the run by returning `False`. `threads`
/// serve independent drives, or a single one: all cores' where absent, with the same results.
#[pyfunction]
#[pyo3(signature = (
    system, workload, *, seed=None, replay=None, requests=None, warmup_requests=None, warmup_s=None, until_s=None, out=None,
    driver_out=None, background_out=None, keep=false, sample=false, progress=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    system: &Bound<'_, System>,
    workload: Requests<'_>,
    seed: Option<Seed>,
    replay: Option<&str>,
    requests: Option<RequestCount>,
    warmup_requests: Option<WarmupRequests>,
    warmup_s: Option<WarmupS>,
    until_s: Option<UntilS>,
    out: Option<PathBuf>,
    driver_out: Option<PathBuf>,
    background_out: Option<PathBuf>,
    keep: bool,
    sample: bool,
    progress: Option<Py<PyAny>>,
    threads: Option<Threads>,
) -> PyResult<RunResult> {
    let system = system.get();
    let warmup = match (warmup_requests, warmup_s) {
        (None, None) => Warmup::None,
        (Some(requests), None) => Warmup::Requests(requests.0),
        (None, Some(seconds)) => Warmup::Seconds(seconds.0),
        (Some(_), Some(_)) => {
            return Err(Error::input("a warm-up counts requests or seconds", "give one of the two").into());
        }
    };
    let mut options = RunOptions {
        replay: replay.map_or(Ok(Replay::Open), replay_named)?,
        requests: requests.map(|requests| requests.0),
        warmup,
        until: until_s.map(|until| Nanos::from_s(until.0)),
        threads: threads.map(|threads| threads.0),
        ..RunOptions::default()
    };
    let outputs = [
        ("out", out.as_deref()),
        ("driver_out", driver_out.as_deref()),
        ("background_out", background_out.as_deref()),
    ];
    apart(&workload, &outputs)?;
    let feed = Feed::new(&workload, seed.map(|seed| seed.0), &mut options);
    let (poll, refusal) = Poll::new(progress);
    guarded(py, || {
        let begun = Instant::now();
        let input = feed.input(system, &options, poll.quiet())?;
        let has_cache = system.system.config().host.buffer_cache.is_some();
        if driver_out.is_some() && !has_cache {
            return Err(Error::input(
                "the system's host has no buffer cache: the driver's requests are the completions",
                "leave the driver's file out, or give the system a `[host.buffer_cache]`",
            ));
        }
        let mut sinks = Sinks::new(
            |columns| labelled(system, &options, columns),
            &Wanted { out: out.as_deref(), keep },
            &Wanted { out: driver_out.as_deref(), keep: keep && has_cache },
            &Wanted { out: background_out.as_deref(), keep },
            sample,
        )?;
        let mut summary =
            observed(system, input, &mut options, &mut sinks, poll).map_err(|error| refusal.or(error))?;
        if summary.interrupted {
            return Err(refusal.or(Error::Stopped));
        }
        worth_telling(&summary)?;
        let tables = sinks.finish()?;
        summary.wall_s = begun.elapsed().as_secs_f64();
        let mut summary = serde_json::to_value(&summary).unwrap_or_default();
        let plots = summary.as_object_mut().and_then(|keys| keys.shift_remove("plots")).unwrap_or_default();
        Ok(RunResult { summary, plots, tables })
    })
}

/// Refuses outputs that are each other, or the trace.
fn apart(requests: &Requests<'_>, outputs: &[(&'static str, Option<&Path>)]) -> Result<(), Error> {
    let outputs: Vec<_> = outputs.iter().filter_map(|&(name, path)| Some((name, path?))).collect();
    let inputs: Vec<_> = match requests {
        Requests::Trace(trace) => vec![("the trace", trace.get().path.as_path())],
        Requests::Workload(_) => Vec::new(),
    };
    Ok(check_apart(&outputs, &inputs)?)
}

/// Refuses a run that says nothing: one that outlasted the time there is, or ended in its warm-up.
fn worth_telling(summary: &Summary) -> Result<(), Error> {
    if summary.simulated_s > LATEST.as_s() {
        return Err(Error::input(
            "the run goes on past 100 years of simulated time, which is as long as one can last",
            "choose shorter times between requests, or fewer requests",
        ));
    }
    if summary.requests == 0 && summary.warmup_requests > 0 {
        // Others may have arrived, and be under way.
        let (said, way_out) = if summary.in_flight_cut > 0 {
            (
                "no request that arrived after the warm-up was complete where the run was cut",
                ", or a later end",
            )
        } else {
            ("the warm-up is longer than the load", "")
        };
        return Err(Error::input(
            format!(
                "{said}: all {} that were complete by the end of the run arrived in it",
                summary.warmup_requests
            ),
            format!(
                "the run lasted {:.3} s of simulated time: choose a shorter warm-up{way_out}",
                summary.simulated_s
            ),
        ));
    }
    Ok(())
}

/// A run that Python can stop.
pub(crate) fn observed(
    system: &System,
    input: Input,
    options: &mut RunOptions,
    sink: &mut dyn CompletionSink,
    mut poll: Poll,
) -> Result<Summary, SystemError> {
    let stop = Arc::new(AtomicBool::new(false));
    options.stop = Some(Arc::clone(&stop));
    run(&system.system, input, options, sink, &mut |progress| {
        if !poll.goes_on(progress.completed, progress.simulated.as_s()) {
            stop.store(true, Ordering::Relaxed);
        }
    })
}

/// The word for a replay.
pub(crate) fn replay_named(word: &str) -> Result<Replay, Error> {
    match word {
        "open" => Ok(Replay::Open),
        "closed" => Ok(Replay::Closed),
        "measured" => Ok(Replay::Measured),
        _ => Err(Error::input(format!("there is no replay `{word}`"), "use `open`, `closed` or `measured`")),
    }
}

/// A trace or a workload, without Python.
pub(crate) enum Feed<'a> {
    Trace(&'a Trace),
    Workload(&'a Workload, Option<u64>),
}

impl<'a> Feed<'a> {
    /// Takes the requests out of Python's hands, and notes in `options` what they are.
    pub(crate) fn new(requests: &'a Requests<'_>, seed: Option<u64>, options: &mut RunOptions) -> Self {
        match requests {
            Requests::Trace(trace) => {
                let trace = trace.get();
                options.seed = seed.unwrap_or(1);
                options.workload = trace.label();
                Self::Trace(trace)
            }
            Requests::Workload(workload) => {
                let workload = workload.get();
                options.seed = seed.unwrap_or(workload.spec.seed);
                options.workload = WorkloadLabel {
                    name: workload.name.clone(),
                    configuration: serde_json::to_value(&workload.spec).unwrap_or_default(),
                };
                Self::Workload(workload, seed)
            }
        }
    }

    /// The stream of requests for a system.
    pub(crate) fn input(&self, system: &System, options: &RunOptions, poll: Poll) -> Result<Input, Error> {
        match self {
            Self::Trace(trace) => {
                // A replay of one request after the other compares reads and writes with what was measured.
                let commands = options.replay == Replay::Open;
                let source = trace.with_commands(commands).shaped(system.targets(), options.requests)?;
                Ok(Input::Source(Box::new(Polled::new(source, poll))))
            }
            Self::Workload(workload, seed) => {
                let mut spec = workload.spec.clone();
                spec.requests = options.requests.or(spec.requests);
                Ok(Input::Generator(spec.generate(&system.system.devices(), *seed, None)?))
            }
        }
    }
}

/// The columns of the completions, with what a reader of the file wants to know of the run.
fn labelled(system: &System, options: &RunOptions, columns: &SchemaRef) -> SchemaRef {
    let metadata = [
        ("headstack_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("system", system.system.config().name.clone()),
        ("system_hash", headstack_system::spec::config_hash(system.system.config())),
        ("workload", options.workload.name.clone()),
        ("replay", json!(options.replay).as_str().unwrap_or_default().to_owned()),
        ("seed", options.seed.to_string()),
        ("sector_bytes", system.system.sector_bytes().to_string()),
    ];
    let metadata: BTreeMap<String, String> =
        metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Arc::new(Schema::new(columns.fields().clone()).with_metadata(metadata.into_iter().collect()))
}

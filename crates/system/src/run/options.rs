//! How to run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use headstack_trace::RequestSource;
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SystemError;
use crate::workload::Generator;

/// Which instants requests are issued at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// At their arrivals, as the trace or the generator has them.
    #[default]
    Open,
    /// One after the other: at the simulated completion of the one before, plus the time that the trace shows between
    /// the measured completion of the one before and the measured start (or arrival). Where the trace knows no
    /// completion, at once.
    Closed,
    /// At their measured starts. Each finds the drive as the request before left it, re-based to that request's measured
    /// completion, so that the model's own lateness never carries over.
    Measured,
}

/// What is kept out of the statistics at the beginning of a run (records are written all the same).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Warmup {
    /// Nothing.
    #[default]
    None,
    /// Requests that arrive before this many seconds have passed.
    Seconds(f64),
    /// The first so many requests.
    Requests(u64),
}

/// What a run is fed with, for its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkloadLabel {
    /// Its name: of a library workload, or of a trace file.
    pub name: String,
    /// Everything that shapes it, for the configuration's hash: the workload file, the trace's options.
    pub configuration: serde_json::Value,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Seed of the drives' random streams (drift, uniform rotational delay).
    pub seed: u64,
    /// Which instants requests are issued at.
    pub replay: Replay,
    /// At most this many requests are taken from the source.
    pub requests: Option<u64>,
    /// What is kept out of the statistics.
    pub warmup: Warmup,
    /// The run is cut at this instant; what is in flight then is counted, not completed.
    pub until: Option<Nanos>,
    /// Set it to end the run early.
    pub stop: Option<Arc<AtomicBool>>,
    /// With [`Replay::Measured`]: the spindles stay on the measured clock, and their phases follow the requests already
    /// completed. For each drive the zones whose angles are learnt on the way.
    pub phase_lock: Option<Vec<Vec<u32>>>,
    /// What the run is fed with, for its results.
    pub workload: WorkloadLabel,
    /// How many threads serve independent drives, or a single one, on the path where that is possible: all cores' where it is
    /// left out. The results are the same with any number.
    pub threads: Option<usize>,
    /// At most so many requests are sharded by drive at a time, or are a stretch of a single drive's. The results are the same; for tests.
    pub batch: Option<usize>,
    /// Go through the event path even where the closed form applies. The records are the same; for tests.
    pub event_path: bool,
}

/// Where requests come from.
pub enum Input {
    /// A stream in order of arrival: a trace, or requests in memory.
    Source(Box<dyn RequestSource>),
    /// A generated workload.
    Generator(Generator),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed.
    pub completed: u64,
    /// The instant the simulation has reached.
    pub simulated: Nanos,
}

impl RunOptions {
    /// Whether the options fit each other and the input.
    pub(crate) fn check(&self, input: &Input) -> Result<(), SystemError> {
        let wrong = |problem: &str, hint: &str| {
            Err(SystemError::Options { problem: problem.to_owned(), hint: hint.to_owned() })
        };
        if self.replay != Replay::Open && matches!(input, Input::Generator(_)) {
            return wrong(
                "only traces are replayed: a generated workload has no measured times",
                "leave `--replay` out; a closed loop is made by `think` in the workload file",
            );
        }
        if self.phase_lock.is_some() && self.replay != Replay::Measured {
            return wrong(
                "only a measured replay can be phase-locked",
                "use `--replay measured` with `--phase-lock`",
            );
        }
        if self.threads == Some(0) {
            return wrong("a run needs a thread", "use `--threads 1` or more, or leave it out for all cores");
        }
        if let Warmup::Seconds(seconds) = self.warmup
            && !(seconds >= 0.0 && seconds.is_finite())
        {
            return wrong("a warm-up must not be negative", "give seconds (`--warmup 60s`) or requests");
        }
        Ok(())
    }
}

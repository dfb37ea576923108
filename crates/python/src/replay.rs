//! `LockedReplay`: one trace, replayed many times, for those who look for better parameters.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::range::Limit;
use crate::scores::scores;
use crate::system::System;
use crate::trace::Trace;
use crate::validate::Pairs;
use headstack_system::{Input, Replay, RunOptions, run};
use headstack_trace::{InMemory, Request, RequestSource};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The requests of a trace that has measured times, in memory, to be replayed on one system after another.
///
/// Parameters
/// ----------
/// system
///     The system whose volumes the trace is fitted to.
/// trace
///     The trace.
/// limit
///     At most so many requests.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct LockedReplay {
    requests: Vec<Request>,
}

#[pymethods]
impl LockedReplay {
    #[new]
    #[pyo3(signature = (system, trace, *, limit=None))]
    fn new(
        py: Python<'_>,
        system: &Bound<'_, System>,
        trace: &Bound<'_, Trace>,
        limit: Option<Limit>,
    ) -> PyResult<Self> {
        let (system, trace) = (system.get(), trace.get());
        guarded(py, || {
            let mut source = trace.shaped(system.targets(), limit.map(|limit| limit.0))?;
            let (mut requests, mut batch) = (Vec::new(), Vec::new());
            loop {
                batch.clear();
                source.next_batch(&mut batch)?;
                if batch.is_empty() {
                    return Ok(Self { requests });
                }
                requests.append(&mut batch);
            }
        })
    }

    /// How many requests there are.
    #[getter]
    fn requests(&self) -> usize {
        self.requests.len()
    }

    /// Replays the requests up to number `last` on the measured clock, the spindle's phase followed but nothing fitted,
    /// and scores those from number `first` on.
    #[pyo3(signature = (system, first=0, last=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        system: &Bound<'_, System>,
        first: usize,
        last: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let system = system.get();
        let last = self.last(last);
        let value = guarded(py, || {
            let mut pairs = self.pairs(system, last)?;
            pairs.rows.retain(|(sample, _)| sample.id as usize >= first);
            if pairs.rows.is_empty() {
                let problem = format!("no request from number {first} to {last} has a measured time");
                return Err(Error::input(problem, "score a part of the trace that has measured times"));
            }
            pairs.rows.sort_unstable_by_key(|(sample, _)| sample.id);
            let (measured, model): (Vec<_>, Vec<_>) = pairs.rows.into_iter().unzip();
            scores(&measured, &model)
        })?;
        dict(py, &value)
    }

    /// Replays as `scores` does, and tells by how much the model's time of each request is longer than the measured one, in
    /// ms; `None` for a request that has no measured time.
    #[pyo3(signature = (system, last=None))]
    fn errors_ms(
        &self,
        py: Python<'_>,
        system: &Bound<'_, System>,
        last: Option<usize>,
    ) -> PyResult<Vec<Option<f64>>> {
        let system = system.get();
        let last = self.last(last);
        guarded(py, || {
            let mut errors = vec![None; last];
            for (sample, model) in self.pairs(system, last)?.rows {
                errors[sample.id as usize] = Some(model.as_ms() - sample.measured.as_ms());
            }
            Ok(errors)
        })
    }
}

impl LockedReplay {
    /// The end of the part to replay.
    fn last(&self, last: Option<usize>) -> usize {
        last.unwrap_or(self.requests.len()).min(self.requests.len())
    }

    /// Measured and model times of the requests up to number `last`, in order of completion.
    fn pairs(&self, system: &System, last: usize) -> Result<Pairs, Error> {
        let drives = system.system.config().drives.len();
        let options = RunOptions {
            replay: Replay::Measured,
            phase_lock: Some(vec![Vec::new(); drives]),
            ..RunOptions::default()
        };
        let source = InMemory::new(self.requests[..last].to_vec());
        let mut pairs = Pairs::default();
        run(&system.system, Input::Source(Box::new(source)), &options, &mut pairs, &mut |_| {})?;
        Ok(pairs)
    }
}

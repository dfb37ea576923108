//! Long work listens: to Ctrl-C, and to the caller's progress function.

use crate::error::Error;
use headstack_trace::{Io, IoSource, Notes, Request, RequestSource, TraceError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often Python gets to run during long work.
const INTERVAL: Duration = Duration::from_millis(100);

/// Asks Python, now and then, whether to go on.
pub(crate) struct Poll {
    progress: Option<Arc<Py<PyAny>>>,
    last: Instant,
    refusal: Arc<Mutex<Option<Error>>>,
}

/// Why work ended early, if Python ended it.
#[derive(Clone, Default)]
pub(crate) struct Refusal(Arc<Mutex<Option<Error>>>);

impl Refusal {
    /// The reason, instead of the error that work ended with.
    pub(crate) fn or(&self, error: impl Into<Error>) -> Error {
        let reason = self.0.lock().ok().and_then(|mut reason| reason.take());
        reason.unwrap_or_else(|| error.into())
    }
}

impl Poll {
    /// `progress` takes the number of requests done and the simulated time in seconds; `False` stops.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> (Self, Refusal) {
        let refusal = Refusal::default();
        (Self { progress: progress.map(Arc::new), last: Instant::now(), refusal: refusal.0.clone() }, refusal)
    }

    /// The same for another part of the work.
    pub(crate) fn sibling(&self) -> Self {
        Self { progress: self.progress.clone(), last: Instant::now(), refusal: self.refusal.clone() }
    }

    /// The same without telling of progress.
    pub(crate) fn quiet(&self) -> Self {
        Self { progress: None, ..self.sibling() }
    }

    /// Whether to go on.
    pub(crate) fn goes_on(&mut self, requests: u64, simulated_s: f64) -> bool {
        if self.last.elapsed() < INTERVAL {
            return true;
        }
        self.last = Instant::now();
        // Who said no is not asked again while the work ends.
        if self.refusal.lock().is_ok_and(|refusal| refusal.is_some()) {
            return false;
        }
        match Python::attach(|py| self.ask(py, requests, simulated_s)) {
            Ok(()) => true,
            Err(reason) => {
                if let Ok(mut refusal) = self.refusal.lock() {
                    *refusal = Some(reason);
                }
                false
            }
        }
    }

    fn ask(&self, py: Python<'_>, requests: u64, simulated_s: f64) -> Result<(), Error> {
        py.check_signals()?;
        let Some(progress) = &self.progress else { return Ok(()) };
        let answer = progress.bind(py).call1((requests, simulated_s))?;
        if answer.is_none() || answer.is_truthy()? { Ok(()) } else { Err(Error::Stopped) }
    }
}

/// A stream of requests that ends when Python says so.
pub(crate) struct Polled<S> {
    source: S,
    poll: Poll,
    requests: u64,
}

impl<S> Polled<S> {
    pub(crate) fn new(source: S, poll: Poll) -> Self {
        Self { source, poll, requests: 0 }
    }

    pub(crate) fn inner(&self) -> &S {
        &self.source
    }

    fn go_on(&mut self, at_s: f64) -> Result<(), TraceError> {
        if self.poll.goes_on(self.requests, at_s) {
            Ok(())
        } else {
            Err(TraceError::Unusable { problem: "stopped".to_owned(), hint: None })
        }
    }
}

impl<S: IoSource> IoSource for Polled<S> {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        self.source.next_ios(batch)?;
        self.requests += batch.len() as u64;
        let at = batch.last().map_or(0.0, |io| io.request.arrival.as_s());
        self.go_on(at)
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn sector_bytes(&self) -> u32 {
        self.source.sector_bytes()
    }
}

impl<S: RequestSource> RequestSource for Polled<S> {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.source.next_batch(batch)?;
        self.requests += batch.len() as u64;
        self.go_on(batch.last().map_or(0.0, |request| request.arrival.as_s()))
    }
}

//! The trace a drive is fitted to: requests in memory, each with its measured times.

use crate::FitError;
use headstack_trace::{Request, RequestSource, TraceError};
use headstack_units::{Nanos, Op};
use std::ops::Range;
use std::sync::Arc;

/// Requests with measured times, in memory: they are replayed thousands of times.
#[derive(Clone, Debug)]
pub struct MeasuredTrace {
    name: String,
    requests: Arc<[Request]>,
}

impl MeasuredTrace {
    /// Reads all requests of a source, which come in the drive's own sectors; `name` is for messages and results.
    ///
    /// # Errors
    /// [`FitError::System`] for a source that cannot be read; [`FitError::Input`] unless every request has a measured
    /// start and completion.
    pub fn read(name: &str, source: &mut dyn RequestSource) -> Result<Self, FitError> {
        let (mut requests, mut batch) = (Vec::new(), Vec::new());
        loop {
            source.next_batch(&mut batch).map_err(headstack_system::SystemError::from)?;
            if batch.is_empty() {
                break;
            }
            requests.extend_from_slice(&batch);
        }
        Self::new(name, requests)
    }

    /// From requests in memory.
    ///
    /// # Errors
    /// [`FitError::Input`] unless every request has a measured start and completion.
    pub fn new(name: &str, requests: Vec<Request>) -> Result<Self, FitError> {
        let measured = requests.iter().filter(|request| request.measured_service().is_some()).count();
        let hint = "a drive is fitted to measured times: choose a trace that has start and completion of each request";
        if measured == 0 {
            return Err(FitError::input(format!("{name}: no request has a measured service time"), hint));
        }
        if measured < requests.len() {
            let missing = requests.len() - measured;
            let problem =
                format!("{name}: {missing} of {} requests have no measured service time", requests.len());
            return Err(FitError::input(problem, hint));
        }
        Ok(Self { name: name.to_owned(), requests: requests.into() })
    }

    /// What results call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The requests, in order of arrival.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The measured service time of each request.
    pub fn service(&self) -> Vec<Nanos> {
        self.requests.iter().filter_map(Request::measured_service).collect()
    }

    /// The direction of each request.
    pub fn ops(&self) -> Vec<Op> {
        self.requests.iter().map(|request| request.op).collect()
    }

    /// The trace without some of its requests: nothing about them is left.
    pub(crate) fn without(&self, hidden: &Range<usize>) -> Self {
        let seen = [&self.requests[..hidden.start], &self.requests[hidden.end..]].concat();
        Self { name: self.name.clone(), requests: seen.into() }
    }

    /// The requests as a stream.
    pub(crate) fn source(&self) -> Box<dyn RequestSource> {
        Box::new(Stream { requests: Arc::clone(&self.requests), at: 0 })
    }
}

/// Requests that many replays share.
struct Stream {
    requests: Arc<[Request]>,
    at: usize,
}

impl RequestSource for Stream {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        const MOST: usize = 4096;
        batch.clear();
        let rest = &self.requests[self.at..];
        batch.extend_from_slice(&rest[..rest.len().min(MOST)]);
        self.at += batch.len();
        Ok(())
    }
}

//! Where requests come from, seen from the simulator: a stream of batches in constant memory.

use crate::{Request, TraceError};

/// A stream of requests: a trace file, a shaped trace, a generator, a list in memory.
pub trait RequestSource: Send {
    /// Clears `batch` and fills it with the next requests (a few thousand at most); an empty batch ends the stream.
    ///
    /// # Errors
    /// Whatever keeps the rest of the stream from being read; requests delivered before stay valid.
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError>;
}

/// Requests held in memory.
pub struct InMemory {
    requests: std::vec::IntoIter<Request>,
}

impl InMemory {
    /// A stream over `requests`, in their order.
    pub fn new(requests: Vec<Request>) -> Self {
        Self { requests: requests.into_iter() }
    }
}

impl RequestSource for InMemory {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        batch.extend(self.requests.by_ref().take(4096));
        Ok(())
    }
}

/// The contract of [`RequestSource`] about errors, kept: what came before an error is delivered first, then the error,
/// then nothing more.
#[derive(Default)]
pub(crate) struct Delivery {
    failure: Option<TraceError>,
    ended: bool,
}

impl Delivery {
    /// Clears the batch; whether there is anything left to fill it with.
    pub(crate) fn begin(&mut self, batch: &mut Vec<Request>) -> Result<bool, TraceError> {
        batch.clear();
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(!self.ended),
        }
    }

    /// What to answer when filling the batch came out as `result`.
    pub(crate) fn end(
        &mut self,
        batch: &[Request],
        result: Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        self.ended = result.is_err() || batch.is_empty();
        match result {
            Err(error) if !batch.is_empty() => {
                self.failure = Some(error);
                Ok(())
            }
            result => result,
        }
    }
}

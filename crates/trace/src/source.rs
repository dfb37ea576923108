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

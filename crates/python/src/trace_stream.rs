//! A trace as an Arrow stream.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;
use headstack_trace::{Request, RequestSource, TraceError, TraceReader, record_batch, request_schema};

/// The requests of a trace as record batches.
pub(crate) struct Batches {
    schema: SchemaRef,
    reader: TraceReader,
    requests: Vec<Request>,
}

impl Batches {
    pub(crate) fn new(reader: TraceReader, sector_bytes: u32) -> Self {
        Self { schema: request_schema(sector_bytes), reader, requests: Vec::new() }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |error: TraceError| ArrowError::ExternalError(Box::new(error));
        if let Err(error) = self.reader.next_batch(&mut self.requests) {
            return Some(Err(failed(error)));
        }
        (!self.requests.is_empty()).then(|| record_batch(&self.requests, &self.schema).map_err(failed))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

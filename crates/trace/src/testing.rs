//! Helpers of the unit tests.

use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::{OpenOptions, Request, RequestSource, TraceError, open};

pub(crate) fn bytes_file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

pub(crate) fn text_file(text: &str) -> NamedTempFile {
    bytes_file(text.as_bytes())
}

/// All requests, or the first error.
pub(crate) fn drain(source: &mut dyn RequestSource) -> Result<Vec<Request>, TraceError> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.append(&mut batch);
    }
}

pub(crate) fn read_all(path: &Path, options: &OpenOptions) -> Result<Vec<Request>, TraceError> {
    drain(&mut open(path, options)?)
}

/// All requests of a trace with this text, whose format is named or recognised.
pub(crate) fn read_text(format: Option<&str>, text: &str) -> Result<Vec<Request>, TraceError> {
    let options = OpenOptions { format: format.map(str::to_owned), ..OpenOptions::default() };
    read_all(text_file(text).path(), &options)
}

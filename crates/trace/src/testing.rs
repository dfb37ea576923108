//! Helpers of the unit tests.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::event::open_ios;
use crate::{Io, IoSource as _, OpenOptions, Request, RequestSource, TraceError, open};

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

/// The I/Os of a short trace with this text, and the names of the processes that asked for them.
pub(crate) fn read_text_of_processes(text: &str) -> (Vec<Io>, BTreeMap<u32, String>) {
    let (mut ios, mut batch) =
        (open_ios(text_file(text).path(), &OpenOptions::default()).unwrap(), Vec::new());
    ios.next_ios(&mut batch).unwrap();
    (batch, ios.processes())
}

/// All requests of a trace with this text, whose format is named or recognised.
pub(crate) fn read_text(format: Option<&str>, text: &str) -> Result<Vec<Request>, TraceError> {
    let options = OpenOptions { format: format.map(str::to_owned), ..OpenOptions::default() };
    read_all(text_file(text).path(), &options)
}

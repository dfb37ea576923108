//! Traces out of a pipe: it can be read once, and a trace is read several times.

use crate::error::guarded;
use headstack_trace::TraceError;
use pyo3::prelude::*;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What came out of a pipe, in a file without a name, which is there as long as this.
#[derive(Clone)]
pub(crate) struct Spool(Arc<File>);

impl Spool {
    /// What is in `path`, if that is a pipe; `None` for what can be opened again.
    pub(crate) fn of(py: Python<'_>, path: &Path) -> PyResult<Option<Self>> {
        let is_pipe = fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
        if !is_pipe {
            return Ok(None);
        }
        let copied = guarded(py, || {
            Ok(copy(path).map_err(|error| TraceError::Io {
                action: "read",
                path: path.into(),
                source: error,
            })?)
        })?;
        Ok(Some(Self(Arc::new(copied))))
    }

    /// Where it can be opened.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

fn copy(path: &Path) -> io::Result<File> {
    let (mut pipe, mut file) = (File::open(path)?, tempfile::tempfile()?);
    let mut bytes = vec![0; 1 << 18];
    loop {
        match pipe.read(&mut bytes) {
            Ok(0) => return Ok(file),
            Ok(count) => file.write_all(&bytes[..count])?,
            // A signal ends the wait for a writer that does not write.
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                return Err(io::Error::other("interrupted"));
            }
            Err(error) => return Err(error),
        }
    }
}

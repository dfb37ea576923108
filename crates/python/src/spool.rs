//! Traces out of a pipe or from a URL: they are copied once, for a trace is read several times.

use crate::error::guarded;
use headstack_trace::TraceError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What copies are called that are read: by descriptor, the pipe or URL.
static NAMES: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());

/// A file without a name of its own; messages call it as it was given.
struct Copy(File);

impl Copy {
    fn new(file: File, name: impl Into<String>) -> Self {
        names().insert(file.as_raw_fd(), name.into());
        Self(file)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        names().remove(&self.0.as_raw_fd());
    }
}

fn names() -> MutexGuard<'static, BTreeMap<i32, String>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message in which copies are called as they were given.
pub(crate) fn as_given(mut message: String) -> String {
    // From the largest on: the name of one may begin that of another.
    for (&descriptor, name) in names().iter().rev() {
        let path = of_descriptor(descriptor);
        if let Some(path) = path.to_str()
            && message.contains(path)
        {
            message = message.replace(path, name);
        }
    }
    message
}

/// What came out of a pipe or from a URL, in a file without a name, which is there as long as this.
#[derive(Clone)]
pub(crate) struct Spool {
    file: Arc<Copy>,
    /// Where it came from, if that can be asked again.
    url: Option<String>,
}

impl Spool {
    /// What is in `path`, if that is a pipe or a URL; `None` for what can be opened again.
    pub(crate) fn of(py: Python<'_>, path: &Path) -> PyResult<Option<Self>> {
        if let Some(url) = url_of(path) {
            let file = Arc::new(Copy::new(fetched(py, path, &url)?, url.as_str()));
            return Ok(Some(Self { file, url: Some(url) }));
        }
        let is_pipe = fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
        if !is_pipe {
            return Ok(None);
        }
        let copied = guarded(py, || Ok(copy(path)?))?;
        Ok(Some(Self { file: Arc::new(Copy::new(copied, path.to_string_lossy())), url: None }))
    }

    /// Where it can be opened.
    pub(crate) fn path(&self) -> PathBuf {
        of_descriptor(self.file.0.as_raw_fd())
    }

    /// The URL it came from.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}

fn of_descriptor(descriptor: i32) -> PathBuf {
    format!("/proc/self/fd/{descriptor}").into()
}

/// The URL that a path is, if there is no such file. A path object makes one slash of two: they are put back.
fn url_of(path: &Path) -> Option<String> {
    let (scheme, rest) = path.to_str()?.split_once(":/")?;
    let is_scheme = |scheme: &str| {
        scheme.len() > 1
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.:".contains(letter))
    };
    if !is_scheme(scheme) || path.exists() {
        return None;
    }
    let is_local = matches!(scheme, "file" | "local");
    // `file://name` names a host and no path: Python refuses it.
    let is_host = is_local && rest.starts_with('/') && !rest.starts_with("//");
    let rest = rest.trim_start_matches('/');
    let root = if is_local && !is_host { "/" } else { "" };
    Some(format!("{scheme}://{root}{rest}"))
}

/// What a URL names: Python copies it into a file that has no name.
fn fetched(py: Python<'_>, path: &Path, url: &str) -> PyResult<File> {
    let copy = py.import("headstack.remote")?.call_method1("copied", (url,))?;
    let descriptor: i32 = copy.call_method0("fileno")?.extract()?;
    let opened = guarded(py, || {
        Ok(File::open(of_descriptor(descriptor)).map_err(|error| TraceError::Io {
            action: "read",
            path: path.into(),
            source: error,
        })?)
    });
    copy.call_method0("close")?;
    opened
}

fn copy(path: &Path) -> Result<File, TraceError> {
    let failed = |action, path: &Path| {
        let path = path.into();
        move |source| TraceError::Io { action, path, source }
    };
    let place = std::env::temp_dir();
    let mut pipe = File::open(path).map_err(failed("read", path))?;
    let mut file = tempfile::tempfile().map_err(failed("copy the trace to", &place))?;
    let mut bytes = vec![0; 1 << 18];
    loop {
        match pipe.read(&mut bytes) {
            Ok(0) => return Ok(file),
            Ok(count) => file.write_all(&bytes[..count]).map_err(failed("copy the trace to", &place))?,
            // A signal ends the wait for a writer that does not write.
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                return Err(failed("read", path)(io::Error::other("interrupted")));
            }
            Err(error) => return Err(failed("read", path)(error)),
        }
    }
}

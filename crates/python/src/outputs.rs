//! Output files for what Python writes: the same layer as for what Rust writes.

use crate::error::{Error, guarded};
use headstack_trace::atomic_file;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Writes a text file that is either complete or not there; what is not a regular file (`/dev/null`, a pipe) is written
/// through.
#[pyfunction]
pub(crate) fn write_whole(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    guarded(py, || Ok(atomic_file::write_whole(&path, text.as_bytes())?))
}

/// Writes a file that is either complete or not there, at once, whoever else waits: what took long is not lost to what comes
/// after.
#[pyfunction]
pub(crate) fn write_at_once(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    guarded(py, || Ok(atomic_file::at_once(|| atomic_file::write_whole(&path, content))?))
}

/// The path of an output as the command line takes it: `~` is the home folder, `file://` a local file, and nothing is written to
/// other URLs.
pub(crate) fn to_write(py: Python<'_>, path: &Path) -> PyResult<PathBuf> {
    // As text: a path object makes one slash of two.
    py.import("headstack.files")?.call_method1("to_write", (path.as_os_str(),))?.extract()
}

/// Refuses outputs that are also an input, or one another, by whatever name. Each comes with the word that messages call
/// it.
#[pyfunction]
pub(crate) fn check_apart(
    outputs: Vec<(String, PathBuf)>,
    inputs: Vec<(String, PathBuf)>,
) -> Result<(), Error> {
    Ok(atomic_file::check_apart(&lent(&outputs), &lent(&inputs))?)
}

/// Hidden files beside `path` that a process left which was killed while it wrote `path`.
#[pyfunction]
pub(crate) fn leftovers(path: PathBuf) -> Vec<PathBuf> {
    atomic_file::leftovers(&path)
}

/// While this is entered, files that are complete wait for their names; they appear together when it is left, and none
/// when it is left by an exception.
#[pyclass(unsendable, module = "headstack._core")]
pub(crate) struct Together {
    entered: Option<atomic_file::Together>,
}

#[pymethods]
impl Together {
    #[new]
    fn new() -> Self {
        Self { entered: None }
    }

    fn __enter__(&mut self) {
        self.entered = Some(atomic_file::Together::new());
    }

    fn __exit__(
        &mut self,
        kind: &Bound<'_, PyAny>,
        _problem: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> Result<(), Error> {
        let Some(entered) = self.entered.take() else { return Ok(()) };
        if kind.is_none() { Ok(entered.publish()?) } else { Ok(()) }
    }
}

fn lent(files: &[(String, PathBuf)]) -> Vec<(&str, &Path)> {
    files.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect()
}

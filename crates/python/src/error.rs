//! From Rust errors to the Python tree of `headstack.errors`, and the wall that no panic passes.

use crate::spool::as_given;
use headstack_drive::spec::SpecError;
use headstack_fit::FitError;
use headstack_stats::StatsError;
use headstack_system::SystemError;
use headstack_trace::TraceError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

mod python {
    pyo3::import_exception!(headstack.errors, InputError);
    pyo3::import_exception!(headstack.errors, Interrupted);
    pyo3::import_exception!(headstack.errors, InternalError);
}

/// Every error that can reach the border.
#[derive(Debug)]
pub(crate) enum Error {
    /// The input is unusable: what is wrong, and what to do.
    Input(String, Option<String>),
    /// The caller's progress function asked to stop.
    Stopped,
    /// Something Python raised, passed through.
    Python(PyErr),
    /// A panic.
    Internal(String),
}

impl Error {
    /// Unusable input with a way out.
    pub(crate) fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input(message.into(), Some(hint.into()))
    }
}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Self {
        Self::Input(error.to_string(), None)
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self::Input(error.to_string(), error.hint().map(str::to_owned))
    }
}

impl From<SystemError> for Error {
    fn from(error: SystemError) -> Self {
        Self::Input(error.to_string(), error.hint())
    }
}

impl From<StatsError> for Error {
    fn from(error: StatsError) -> Self {
        Self::Input(error.to_string(), None)
    }
}

impl From<FitError> for Error {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Input { problem, hint } => Self::Input(problem, Some(hint)),
            FitError::Stopped => Self::Stopped,
            FitError::System(error) => error.into(),
            FitError::Stats(error) => error.into(),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(message, hint) => python::InputError::new_err((as_given(message), hint)),
            Error::Stopped => python::Interrupted::new_err(("stopped by the caller", None::<String>)),
            Error::Python(error) => error,
            Error::Internal(message) => python::InternalError::new_err((
                format!("internal error: {message}"),
                Some(
                    "this is a defect of headstack: please report it with the command and its input"
                        .to_owned(),
                ),
            )),
        }
    }
}

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics from printing; [`guarded`] reports them.
pub(crate) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        LAST_PANIC.with(|last| *last.borrow_mut() = Some(format!("{text}{place}")));
    }));
}

/// Runs `work` without the interpreter lock; a panic becomes an [`Error::Internal`]. What a signal ended (a pipe that
/// nobody reads, for one) ends as the signal says.
pub(crate) fn guarded<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    py.detach(|| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let message = LAST_PANIC.with(|last| last.borrow_mut().take());
            Err(Error::Internal(message.unwrap_or_else(|| "panic".to_owned())))
        })
    })
    .map_err(|error| py.check_signals().err().unwrap_or_else(|| error.into()))
}

//! What can be wrong with a trace.

use std::path::PathBuf;

/// Why a trace cannot be read, shaped or written. Every message says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system refused; nothing was read or written.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// "read", "write", "create", …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A record makes no sense; the records before it are sound.
    #[error("{}: {place}: {problem}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// "line 7", "byte 2260 (record 2)", …
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The file or an option as a whole is unusable.
    #[error("{problem}")]
    Unusable {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl TraceError {
    /// The `hint:` line to print below the message, where there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Record { hint, .. } | Self::Unusable { hint, .. } => hint.as_deref(),
            Self::Io { .. } => None,
        }
    }
}

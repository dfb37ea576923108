//! Why a file cannot be imported.

use crate::tree::At;
use std::fmt;

/// Why a file cannot be imported. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", place(.file, *.line))]
#[non_exhaustive]
pub struct ImportError {
    /// The file.
    pub file: String,
    /// The line, counted from 1; 0 where the file as a whole is meant.
    pub line: u32,
    /// What is wrong and what is allowed.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

fn place(file: &str, line: u32) -> String {
    if line == 0 { format!("{file}: ") } else { format!("{file}:{line}: ") }
}

impl ImportError {
    pub(crate) fn at(at: &At, message: impl fmt::Display) -> Self {
        Self { file: at.file.to_string(), line: at.line, message: message.to_string(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

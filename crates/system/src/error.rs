//! What can be wrong with a system, a workload or a run.

use headstack_drive::scheduler::PolicyError;
use headstack_drive::spec::SpecError;
use headstack_trace::TraceError;
use std::path::PathBuf;
use strsim::osa_distance;

/// Why a system cannot be built, a workload not be made, or a run not go on. Each message says what and where;
/// [`SystemError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// A name that is neither in the library nor a file. Nothing was built.
    #[error("there is no {kind} called `{name}`")]
    UnknownName {
        /// What was looked for: "drive", "volume level", …
        kind: &'static str,
        /// The name as given.
        name: String,
        /// Similar names, the most similar first.
        close: Vec<String>,
        /// All names that would do.
        known: Vec<String>,
    },
    /// A file cannot be read. Nothing was built.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not TOML, an unknown key, or a value of the wrong type: the first such place. Nothing was built.
    #[error("{origin}: {message}")]
    Syntax {
        /// The file, or the library name.
        origin: String,
        /// What is wrong, with line and caret.
        message: String,
    },
    /// Values that contradict each other: everything that was found. Nothing was built.
    #[error("{origin}: {}", problems.join("\n  and: "))]
    Contradiction {
        /// The file, or the library name.
        origin: String,
        /// Each problem.
        problems: Vec<String>,
    },
    /// An override (`--set path=value`) does not apply. Nothing was built.
    #[error("cannot set `{path}`: {reason}")]
    Override {
        /// The dotted path.
        path: String,
        /// Why.
        reason: String,
        /// What would do.
        hint: Option<String>,
    },
    /// A scheduler with a value or a modifier that cannot be. Nothing was built.
    #[error("`host.scheduler`: {0}")]
    Scheduler(#[source] PolicyError),
    /// A drive file is unusable. Nothing was built.
    #[error(transparent)]
    Drive(#[from] SpecError),
    /// The request stream cannot be read on; what came before was simulated.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A request that the system cannot serve; what came before was simulated.
    #[error("request {id}: {problem}")]
    Request {
        /// The request, counted from 0.
        id: u64,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// The options of a run contradict each other or the system, and nothing was simulated; or its time does not go on.
    #[error("{problem}")]
    Options {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// Where the completions go to refused them; the run ended there.
    #[error("cannot write the completions: {0}")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl SystemError {
    /// The `hint:` line to print below the message, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownName { kind, close, known, .. } => {
                Some(match (close.as_slice(), known.as_slice()) {
                    ([], []) if *kind == "bus" => "name one in the system file: [bus.NAME]".to_owned(),
                    ([], []) if kind.starts_with("volume") => {
                        "name one in the system file: [volume.NAME]".to_owned()
                    }
                    ([], []) => "none are known: give the path of a `.toml` file".to_owned(),
                    ([], known) => format!("known: {}", known.join(", ")),
                    (close, known) if known.len() <= 20 => {
                        format!("did you mean `{}`? known: {}", close[0], known.join(", "))
                    }
                    (close, _) => format!("did you mean {}?", close.join(" or ")),
                })
            }
            Self::Override { hint, .. } => hint.clone(),
            Self::Scheduler(error) => Some(error.hint.clone()),
            Self::Request { hint, .. } | Self::Options { hint, .. } => Some(hint.clone()),
            Self::Trace(error) => error.hint().map(str::to_owned),
            _ => None,
        }
    }

    /// The same of paths that lie below a table of their own.
    pub(crate) fn below(self, table: &str) -> Self {
        match self {
            Self::Override { path, reason, hint } => {
                let paths: Vec<String> = path.split(", ").map(|path| format!("{table}.{path}")).collect();
                Self::Override { path: paths.join(", "), reason, hint }
            }
            other => other,
        }
    }

    /// A name that is not among `known`.
    pub(crate) fn unknown(kind: &'static str, name: &str, known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort();
        known.dedup();
        let mut close: Vec<(usize, &String)> = known
            .iter()
            .map(|candidate| (osa_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
            .filter(|(distance, candidate)| {
                *distance <= 2 + name.len() / 6
                    || name.len() >= 3 && (candidate.contains(name) || name.contains(candidate.as_str()))
            })
            .collect();
        close.sort();
        let close = close.into_iter().take(3).map(|(_, candidate)| candidate.clone()).collect();
        Self::UnknownName { kind, name: name.to_owned(), close, known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_first() {
        let no_bus = SystemError::unknown("bus", "scsi0", []);
        assert_eq!(no_bus.hint().unwrap(), "name one in the system file: [bus.NAME]");
        let no_volume = SystemError::unknown("volume for a cache", "log", []);
        assert_eq!(no_volume.hint().unwrap(), "name one in the system file: [volume.NAME]");
        let error = SystemError::unknown("scheduler", "stpf", ["satf", "sptf", "sstf"].map(str::to_owned));
        assert!(error.hint().unwrap().starts_with("did you mean `sptf`?"), "letters that changed places");
        let error = SystemError::unknown("drive", "97560", ["hp-97560", "dec-ra81"].map(str::to_owned));
        assert_eq!(error.hint().unwrap(), "did you mean `hp-97560`? known: dec-ra81, hp-97560");
    }
}

//! What became of each parameter, and what is doubtful.

use crate::error::ImportError;
use crate::meaning::Meaning;
use crate::sources::Sources;
use crate::tree::At;

/// A value that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The parameter's name in the file.
    pub parameter: String,
    /// Where it went: a path of the drive file, or what it amounts to.
    pub to: String,
}

/// A value that was not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCarried {
    /// The parameter's name in the file.
    pub parameter: String,
    /// Its value there.
    pub value: String,
    /// Why not.
    pub reason: String,
    /// Whether the drive would behave differently with it; otherwise nothing is lost.
    pub matters: bool,
}

/// Something doubtful; the import went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// File and line.
    pub place: String,
    /// What it is, and what was done.
    pub message: String,
}

/// What became of each parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Taken over.
    pub carried: Vec<Carried>,
    /// Not taken over, with reasons.
    pub not_carried: Vec<NotCarried>,
    /// Doubtful.
    pub warnings: Vec<Warning>,
    /// Files read, in order.
    pub files: Vec<String>,
    pub(crate) lenient: bool,
    pub(crate) meaning: Meaning,
}

impl Report {
    pub(crate) fn carried(&mut self, parameter: impl Into<String>, to: impl Into<String>) {
        self.carried.push(Carried { parameter: parameter.into(), to: to.into() });
    }

    pub(crate) fn not_carried(
        &mut self,
        parameter: impl Into<String>,
        value: impl Into<String>,
        reason: impl Into<String>,
    ) {
        let (parameter, value, reason) = (parameter.into(), value.into(), reason.into());
        self.not_carried.push(NotCarried { parameter, value, reason, matters: true });
    }

    /// What the drive does not depend on.
    pub(crate) fn unused(
        &mut self,
        parameter: impl Into<String>,
        value: impl Into<String>,
        reason: impl Into<String>,
    ) {
        let (parameter, value, reason) = (parameter.into(), value.into(), reason.into());
        self.not_carried.push(NotCarried { parameter, value, reason, matters: false });
    }

    /// Notes the files that have been read.
    pub(crate) fn read(&mut self, sources: &Sources) {
        for path in &sources.read {
            let name = path.display().to_string();
            if !self.files.contains(&name) {
                self.files.push(name);
            }
        }
    }

    /// A report for a part of what is imported.
    pub(crate) fn part(&self) -> Self {
        Self { lenient: self.lenient, meaning: self.meaning, ..Self::default() }
    }

    /// Takes in what a part, called `name`, came to.
    pub(crate) fn merge(&mut self, name: &str, part: Self) {
        let named = |parameter: String| format!("{name}: {parameter}");
        let carried = part.carried.into_iter();
        self.carried.extend(carried.map(|one| Carried { parameter: named(one.parameter), ..one }));
        let left = part.not_carried.into_iter();
        self.not_carried.extend(left.map(|one| NotCarried { parameter: named(one.parameter), ..one }));
        self.warnings.extend(part.warnings);
    }

    pub(crate) fn warn(&mut self, at: &At, message: impl Into<String>) {
        self.warnings.push(Warning { place: at.to_string(), message: message.into() });
    }

    /// An error; with `lenient` a warning that says what was done instead.
    pub(crate) fn refuse(&mut self, problem: ImportError, instead: &str) -> Result<(), ImportError> {
        if !self.lenient {
            let hint = match &problem.hint {
                Some(hint) => format!("{hint}; or `--lenient`: {instead}"),
                None => format!("`--lenient` goes on: {instead}"),
            };
            return Err(problem.hint(hint));
        }
        let at = At { file: problem.file.as_str().into(), line: problem.line };
        self.warn(&at, format!("{}; {instead}", problem.message));
        Ok(())
    }
}

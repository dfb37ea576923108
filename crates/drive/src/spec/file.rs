//! Reading and writing drive files.

use super::{
    DriveSpec, Provenance, ProvenanceKind, SpecProblem, check, kinds, old_names, provenance, set_value,
    to_blame,
};

/// Why a drive file is unusable. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Not TOML, an unknown key, or a value of the wrong type: the first such place.
    #[error("{name}: {message}")]
    Syntax {
        /// The file, or the library name.
        name: String,
        /// What is wrong, with line and caret.
        message: String,
    },
    /// The values contradict physics or each other: everything that was found.
    #[error("{name}: {}\n{}", count(problems), list(problems))]
    Physics {
        /// The file, or the library name.
        name: String,
        /// Each problem.
        problems: Vec<SpecProblem>,
    },
    /// An override (`--set path=value`) does not apply.
    #[error("{name}: cannot set `{path}`: {reason}")]
    Override {
        /// The file, or the library name.
        name: String,
        /// The dotted path.
        path: String,
        /// Why.
        reason: String,
    },
}

fn count(problems: &[SpecProblem]) -> String {
    match problems.len() {
        1 => "1 value of the drive is impossible".to_owned(),
        several => format!("{several} values of the drive are impossible"),
    }
}

fn list(problems: &[SpecProblem]) -> String {
    problems.iter().map(|problem| format!("  - {problem}")).collect::<Vec<_>>().join("\n")
}

impl DriveSpec {
    /// Reads a drive file and checks everything in it.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] for the first syntax, type or unknown-key error, [`SpecError::Physics`] for all
    /// contradictions at once.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, SpecError> {
        Self::from_toml_with(name, text, &[])
    }

    /// Reads a drive file with values replaced: each override is a dotted path (`layout.zone.0.sectors_per_track`,
    /// `*` for every element of a list) and a TOML value, bare words being strings.
    ///
    /// # Errors
    /// As [`DriveSpec::from_toml`], and [`SpecError::Override`] where a path leads nowhere.
    pub fn from_toml_with(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Self, SpecError> {
        let syntax = |message: String| SpecError::Syntax { name: name.to_owned(), message };
        // Straight from the text first: only then does an error know its line.
        let mut spec: Self = toml::from_str(text).map_err(|e| syntax(e.to_string()))?;
        old_names::rename_provenance(&mut spec);
        if !overrides.is_empty() {
            let mut table: toml::Value = toml::from_str(text).map_err(|e| syntax(e.to_string()))?;
            old_names::rename(&mut table);
            let overrides: Vec<(String, String)> = overrides
                .iter()
                .map(|(path, value)| (old_names::path_now(path).into_owned(), value.clone()))
                .collect();
            let unchanged = table.clone();
            for (path, value) in &overrides {
                let refused =
                    |reason| SpecError::Override { name: name.to_owned(), path: path.clone(), reason };
                kinds::one_only(&table, path).map_err(refused)?;
                set_value(&mut table, path, value).map_err(refused)?;
            }
            spec = Self::deserialize_value(table).map_err(|e| SpecError::Override {
                name: name.to_owned(),
                path: to_blame(&unchanged, &overrides, |one| Self::deserialize_value(one).is_err()),
                reason: e,
            })?;
            old_names::rename_provenance(&mut spec);
            for (path, value) in &overrides {
                let source = format!("set to {value} by the user");
                spec.provenance
                    .insert(path.replace(".*", ""), Provenance { kind: ProvenanceKind::Assumed, source });
            }
            spec.forget_defaults(&overrides);
            spec.cover_defaults_beside(&overrides);
        }
        let problems = spec.check();
        if problems.is_empty() {
            Ok(spec)
        } else {
            Err(SpecError::Physics { name: name.to_owned(), problems })
        }
    }

    /// A value set to what it is when the file does not mention it needs no provenance.
    fn forget_defaults(&mut self, overrides: &[(String, String)]) {
        for unused in provenance::gaps(self).1 {
            let set = |path: &str| unused == path || unused.starts_with(&format!("{path}."));
            if overrides.iter().any(|(path, _)| set(&path.replace(".*", ""))) {
                self.provenance.remove(&unused);
            }
        }
    }

    /// Setting one value of a table that the file does not have brings the table's defaults with it.
    fn cover_defaults_beside(&mut self, overrides: &[(String, String)]) {
        for missing in provenance::gaps(self).0 {
            let beside = |path: &str| path.split('.').next() == missing.split('.').next();
            if overrides.iter().any(|(path, _)| beside(path)) {
                let source = "default, beside a value set by the user".to_owned();
                self.provenance.insert(missing, Provenance { kind: ProvenanceKind::Assumed, source });
            }
        }
    }

    fn deserialize_value(value: toml::Value) -> Result<Self, String> {
        value.try_into().map_err(|e: toml::de::Error| e.to_string())
    }

    /// Everything in the values that contradicts physics or itself, and every value without provenance.
    pub fn check(&self) -> Vec<SpecProblem> {
        check::check(self)
    }

    /// The drive file as text.
    ///
    /// # Panics
    /// Never for a specification that came from a drive file: every value in it has a form in TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("every drive value has a form in TOML")
    }

    /// Leaf values and how many of them are of each provenance kind, lists of points or zones counting as one each.
    pub fn provenance_counts(&self) -> Vec<(ProvenanceKind, usize)> {
        provenance::counts(self)
    }

    /// The provenance of the value at a dotted path: the entry of the longest matching prefix.
    pub fn provenance_of(&self, path: &str) -> Option<&Provenance> {
        provenance::lookup(&self.provenance, path)
    }
}

//! Reading and writing drive files.

use super::{DriveSpec, Provenance, ProvenanceKind, SpecProblem, check, provenance};

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
    #[error("{name}: {} of the drive's values cannot be\n{}", problems.len(), list(problems))]
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
        if !overrides.is_empty() {
            let mut table: toml::Value = toml::from_str(text).map_err(|e| syntax(e.to_string()))?;
            for (path, value) in overrides {
                set(&mut table, path, value).map_err(|reason| SpecError::Override {
                    name: name.to_owned(),
                    path: path.clone(),
                    reason,
                })?;
            }
            spec = Self::deserialize_value(table).map_err(|e| SpecError::Override {
                name: name.to_owned(),
                path: overrides.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", "),
                reason: e,
            })?;
            for (path, value) in overrides {
                let source = format!("set to {value} by the user");
                spec.provenance
                    .insert(path.replace(".*", ""), Provenance { kind: ProvenanceKind::Assumed, source });
            }
        }
        let problems = spec.check();
        if problems.is_empty() {
            Ok(spec)
        } else {
            Err(SpecError::Physics { name: name.to_owned(), problems })
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

/// Replaces the value at a dotted path.
pub(crate) fn set(table: &mut toml::Value, path: &str, value: &str) -> Result<(), String> {
    let parsed = parse_value(value);
    let parts: Vec<&str> = path.split('.').collect();
    put(table, &parts, &parsed)
}

/// A TOML value as typed on a command line; what is no TOML value is a string.
fn parse_value(text: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

fn put(node: &mut toml::Value, parts: &[&str], value: &toml::Value) -> Result<(), String> {
    let Some((first, rest)) = parts.split_first() else {
        *node = coerce(node, value);
        return Ok(());
    };
    match node {
        toml::Value::Table(table) => {
            if rest.is_empty() && !table.contains_key(*first) {
                table.insert((*first).to_owned(), value.clone());
                return Ok(());
            }
            let child =
                table.entry((*first).to_owned()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            put(child, rest, value)
        }
        toml::Value::Array(items) if *first == "*" => {
            items.iter_mut().try_for_each(|item| put(item, rest, value))
        }
        toml::Value::Array(items) => {
            let count = items.len();
            let index: usize = first.parse().map_err(|_| {
                format!("`{first}` must be a number from 0 to {} or `*` here", count.saturating_sub(1))
            })?;
            let item = items
                .get_mut(index)
                .ok_or_else(|| format!("there are only {count} entries, counted from 0"))?;
            put(item, rest, value)
        }
        _ => Err(format!("`{first}` lies below a plain value")),
    }
}

/// An integer typed where the file holds a real number becomes one.
fn coerce(old: &toml::Value, new: &toml::Value) -> toml::Value {
    match (old, new) {
        (toml::Value::Float(_), toml::Value::Integer(i)) => toml::Value::Float(*i as f64),
        _ => new.clone(),
    }
}

//! `[provenance]`: where each value comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a value came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProvenanceKind {
    /// Published by the maker or in a paper.
    Spec,
    /// Measured on a device.
    Measured,
    /// Fitted so that the model reproduces measured times.
    Fitted,
    /// Assumed: plausible, unverified.
    Assumed,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// How it came to be known.
    pub kind: ProvenanceKind,
    /// The document, data file or reasoning.
    pub source: String,
}

use super::DriveSpec;
use std::collections::BTreeMap;

/// Keys that describe the file rather than the drive.
const NOT_VALUES: [&str; 3] = ["name", "summary", "provenance"];

/// The dotted paths of all values in the file; a list counts as one value.
fn leaves(spec: &DriveSpec) -> Vec<String> {
    let Ok(toml::Value::Table(table)) = toml::Value::try_from(spec) else { return Vec::new() };
    let mut paths = Vec::new();
    for (key, value) in &table {
        if !NOT_VALUES.contains(&key.as_str()) {
            collect(key, value, &mut paths);
        }
    }
    paths
}

fn collect(path: &str, value: &toml::Value, paths: &mut Vec<String>) {
    match value {
        // A choice without parameters of its own is a value, too.
        toml::Value::Table(table) if !table.is_empty() => {
            for (key, child) in table {
                collect(&format!("{path}.{key}"), child, paths);
            }
        }
        _ => paths.push(path.to_owned()),
    }
}

/// Whether the values under `path` are as they are when the file does not mention them.
fn is_default_choice(path: &str) -> bool {
    path.starts_with("fidelity.")
}

/// The entry of the longest prefix of `path`.
pub(super) fn lookup<'a>(table: &'a BTreeMap<String, Provenance>, path: &str) -> Option<&'a Provenance> {
    let mut prefix = path;
    loop {
        if let Some(entry) = table.get(prefix) {
            return Some(entry);
        }
        prefix = &prefix[..prefix.rfind('.')?];
    }
}

/// Values without an entry, and entries without a value.
pub(super) fn gaps(spec: &DriveSpec) -> (Vec<String>, Vec<String>) {
    let paths = leaves(spec);
    let missing = paths
        .iter()
        .filter(|path| !is_default_choice(path) && lookup(&spec.provenance, path).is_none())
        .cloned()
        .collect();
    let unused =
        spec.provenance.keys().filter(|key| !paths.iter().any(|path| covers(key, path))).cloned().collect();
    (missing, unused)
}

fn covers(key: &str, path: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        // An entry may single out one element of a list, which is a value as a whole here.
        || key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// How many values there are of each kind.
pub(super) fn counts(spec: &DriveSpec) -> Vec<(ProvenanceKind, usize)> {
    let mut counts: BTreeMap<ProvenanceKind, usize> = BTreeMap::new();
    for path in leaves(spec) {
        if let Some(entry) = lookup(&spec.provenance, &path) {
            *counts.entry(entry.kind).or_default() += 1;
        }
    }
    counts.into_iter().collect()
}

//! The corrected drive says of itself what was fitted, to what, and what it was before.

use crate::calibrate::BeforeAfter;
use crate::evidence::Row;
use crate::parameter::Parameter;
use crate::retries::Retries;
use crate::values::Values;
use crate::words::written;
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind};
use headstack_stats::Scores;
use headstack_units::grouped;
use std::collections::BTreeMap;

/// How `DriveSpec` marks keys that are in a file only because one beside them is.
const BESIDE: &str = "default, beside";

/// What a drive was fitted to: the first so many requests of a trace.
pub(crate) struct Told<'a> {
    pub(crate) trace: &'a str,
    pub(crate) requests: usize,
}

/// The table of a drive file that says how often it retries.
pub(crate) const RETRIES: &str = "soft_errors";

/// Where the retries of a fitted drive come from.
pub(crate) fn retries_source(retries: &Retries, told: &Told<'_>) -> Provenance {
    let late = retries.reads.revolutions.len() + retries.writes.revolutions.len();
    let source = format!(
        "fitted to the first {} requests of {}, of which {late} took two revolutions or more, whole ones, longer than the \
         fitted drive",
        grouped(told.requests as u64),
        told.trace
    );
    Provenance { kind: ProvenanceKind::Fitted, source }
}

/// A fitted drive with its name, its summary and the provenance of every value.
pub(crate) fn explained(
    fitted: DriveSpec,
    original: &DriveSpec,
    rows: &[Row],
    told: &Told<'_>,
    train: &BeforeAfter<Scores>,
) -> DriveSpec {
    let changed = sources(rows, told, train);
    let mut drive = fitted;
    let mut entries = BTreeMap::new();
    for (path, entry) in std::mem::take(&mut drive.provenance) {
        if let Some(entry) = kept(&path, entry, original) {
            entries.insert(path, entry);
        }
    }
    // Fitted to what it is where a file says nothing: there is no value that an entry could belong to.
    let values = Values::of(&drive);
    for (path, source) in changed {
        if values.get(&path).is_some() {
            entries.insert(path, Provenance { kind: ProvenanceKind::Fitted, source });
        }
    }
    drive.provenance = entries;
    if !drive.name.ends_with(", fitted") {
        drive.name.push_str(", fitted");
    }
    let fitted_to =
        format!("Fitted to the first {} requests of {}.", grouped(told.requests as u64), told.trace);
    let summary = format!("{} {fitted_to}", drive.summary.trim_end());
    summary.trim().clone_into(&mut drive.summary);
    drive
}

/// What an entry says once the fit's own marks are taken away: values replaced by the fit are told of apart, and keys
/// beside them hold what they held by default.
fn kept(path: &str, entry: Provenance, original: &DriveSpec) -> Option<Provenance> {
    if entry.source.starts_with(BESIDE) {
        return Some(Provenance { kind: ProvenanceKind::Assumed, source: "default".to_owned() });
    }
    let by_override = entry.kind == ProvenanceKind::Assumed && entry.source.ends_with("by the user");
    if by_override { original.provenance.get(path).cloned() } else { Some(entry) }
}

/// How each changed value came about, by path: one sentence a path, whatever the elements of its list.
fn sources(rows: &[Row], told: &Told<'_>, train: &BeforeAfter<Scores>) -> BTreeMap<String, String> {
    let mut by_path: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_changed()) {
        by_path.entry(row.parameter.path()).or_default().push(was(row));
    }
    let mae = |scores: &Scores| scores.all.per_request.mae_ms;
    let (old, new) = (mae(&train.before), mae(&train.after));
    let sentence = |was: Vec<String>| {
        format!(
            "fitted to the first {} requests of {}, where the mean error per request fell from {old:.3} to {new:.3} ms; \
             before: {}",
            grouped(told.requests as u64),
            told.trace,
            was.join(", ")
        )
    };
    by_path.into_iter().map(|(path, was)| (path.to_owned(), sentence(was))).collect()
}

fn was(row: &Row) -> String {
    let at = match &row.parameter {
        Parameter::Number(number) => number.at_cylinders,
        Parameter::Choice(_) => None,
    };
    let at = at.map_or_else(String::new, |at| format!(" at {at} cylinders"));
    let before = match (&row.before, &row.by_default) {
        (Some(before), _) => written(before),
        (None, Some(default)) => format!("not in the file, {} by default", written(default)),
        (None, None) => "not in the file".to_owned(),
    };
    format!("{before}{at} (alone worth {:.4} ms)", row.gain.ms)
}

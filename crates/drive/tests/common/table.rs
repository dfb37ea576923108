//! The table of expectations: scenarios on the plain drive, and the times that follow from its parameters by hand. The
//! model's tests and the probes' tests read it, and the documentation prints it.
#![allow(dead_code, reason = "each test file uses part of it")]

use headstack_drive::command::Command;
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The one table.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../expectations.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("expectations.toml: {error}"))
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The times by which formulas are written, in ms.
    times: BTreeMap<String, f64>,
    /// The drive from which every row starts.
    drive: toml::Table,
    /// What probes extract from it: formula, value, allowed difference.
    pub(crate) probes: BTreeMap<String, (String, f64, f64)>,
    pub(crate) row: Vec<Row>,
}

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) struct Row {
    pub(crate) rule: String,
    pub(crate) name: String,
    #[serde(default)]
    drive: toml::Table,
    commands: Vec<String>,
    /// Of the last command: what, formula, ms.
    pub(crate) expect: Vec<(String, String, f64)>,
    pub(crate) cache: Option<String>,
    pub(crate) order: Option<Vec<u64>>,
    pub(crate) bus_transfers: Option<u32>,
}

/// When a command is issued.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Instant(Nanos),
    AfterTheLast(Nanos),
}

impl At {
    /// The instant, where the command before was complete at `finish`.
    pub(crate) fn after(self, finish: Nanos) -> Nanos {
        match self {
            Self::Instant(at) => at,
            Self::AfterTheLast(gap) => finish + gap,
        }
    }
}

impl Row {
    /// The drive of the row.
    pub(crate) fn spec(&self) -> DriveSpec {
        plain_with(self.drive.clone())
    }

    /// Its commands, numbered from 0.
    pub(crate) fn steps(&self) -> Vec<(At, Command)> {
        (0..).zip(&self.commands).map(|(id, text)| step(id, text)).collect()
    }
}

/// "at read|write lba sectors [mark]".
fn step(id: u64, text: &str) -> (At, Command) {
    let parts: Vec<&str> = text.split(' ').collect();
    let ms = |text: &str| Nanos::from_ms(text.parse().unwrap_or_else(|_| panic!("`{text}` is not a time")));
    let at =
        parts[0].strip_prefix('+').map_or_else(|| At::Instant(ms(parts[0])), |gap| At::AfterTheLast(ms(gap)));
    let op = match parts[1] {
        "read" => Op::Read,
        "write" => Op::Write,
        other => panic!("`{other}` is neither read nor write"),
    };
    let flags = match parts.get(4) {
        None => RequestFlags::default(),
        Some(&"forced") => RequestFlags::FORCE_MEDIA,
        Some(&"head-of-queue") => RequestFlags::HEAD_OF_QUEUE,
        Some(other) => panic!("`{other}` is not a mark"),
    };
    let (lba, sectors) = (Lba(parts[2].parse().unwrap()), parts[3].parse().unwrap());
    (at, Command { id, op, lba, sectors, flags })
}

/// The plain drive with other values.
pub(crate) fn plain_with(changes: toml::Table) -> DriveSpec {
    let mut table = TABLE.drive.clone();
    change(&mut table, changes);
    let mut spec: DriveSpec = toml::Value::Table(table).try_into().unwrap_or_else(|error| panic!("{error}"));
    let assumed = Provenance { kind: ProvenanceKind::Assumed, source: "test".to_owned() };
    for problem in spec.check() {
        let missing = problem.path.strip_prefix("provenance.\"").and_then(|path| path.strip_suffix('"'));
        let path = missing.unwrap_or_else(|| panic!("the test drive is not sound: {problem}"));
        spec.provenance.insert(path.to_owned(), assumed.clone());
    }
    spec
}

/// Values of `changes` take the place of those in `table`; a table of kinds is one value.
fn change(table: &mut toml::Table, changes: toml::Table) {
    for (key, value) in changes {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(values)) if key != "seek" => {
                change(inner, values);
            }
            (_, value) => _ = table.insert(key, value),
        }
    }
}

/// The table's times and rows are as they are written: no row without an expectation, none twice.
pub(crate) fn check_form() {
    let mut names: Vec<&str> = TABLE.row.iter().map(|row| row.name.as_str()).collect();
    assert!(names.len() >= 40 && !TABLE.times.is_empty());
    assert!(TABLE.row.iter().all(|row| !row.expect.is_empty() && !row.rule.is_empty()));
    names.sort_unstable();
    let rows = names.len();
    names.dedup();
    assert_eq!(names.len(), rows, "a name stands twice");
}

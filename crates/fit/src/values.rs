//! The values of a drive file, some of them replaced.

use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Value;

/// The values of a drive file, some of them replaced. Cheap to clone: a search holds on to as many as it likes.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    file: Arc<Value>,
    replaced: BTreeMap<String, Value>,
}

/// Keys that tell of the file rather than of the drive: a replay needs none of them.
const NOT_VALUES: [&str; 3] = ["name", "summary", "provenance"];

impl Values {
    /// The values of a drive, none of them replaced.
    ///
    /// # Panics
    /// Never for a specification that came from a drive file: every value in it has a form in TOML.
    pub fn of(spec: &DriveSpec) -> Self {
        let mut file = Value::try_from(spec).expect("every drive value has a form in TOML");
        if let Value::Table(table) = &mut file {
            table.retain(|key, _| NOT_VALUES.iter().all(|name| *name != key));
        }
        Self { file: Arc::new(file), replaced: BTreeMap::new() }
    }

    /// The value at a dotted path; `None` where there is none.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.replaced.get(path).or_else(|| self.in_file(path))
    }

    fn in_file(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&*self.file, |node, key| node.as_table()?.get(key))
    }

    /// The values of the file, none of them replaced.
    pub(crate) fn file(&self) -> &Value {
        &self.file
    }

    /// Whether the value at a path was replaced.
    pub fn is_replaced(&self, path: &str) -> bool {
        self.replaced.contains_key(path)
    }

    /// The same with one value replaced.
    #[must_use]
    pub fn with(&self, path: &str, value: Value) -> Self {
        let mut changed = self.clone();
        changed.replaced.insert(path.to_owned(), value);
        changed
    }

    /// The same with the file's own value at a path.
    #[must_use]
    pub fn without(&self, path: &str) -> Self {
        let mut changed = self.clone();
        changed.replaced.remove(path);
        changed
    }

    /// The same values replaced in another file.
    #[must_use]
    pub fn on(&self, file: &Self) -> Self {
        Self { file: Arc::clone(&file.file), replaced: self.replaced.clone() }
    }

    /// The replaced values as pairs of a dotted path and TOML text, in order of the paths.
    pub fn overrides(&self) -> Vec<(String, String)> {
        self.replaced.iter().map(|(path, value)| (path.clone(), value.to_string())).collect()
    }

    /// The drive to replay; `None` where a value has no place in a drive file. Its provenance is a stand-in.
    pub(crate) fn drive(&self) -> Option<DriveSpec> {
        let mut table = self.file.as_table()?.clone();
        for (path, value) in &self.replaced {
            put(&mut table, path, value)?;
        }
        let told: Vec<String> = table.keys().cloned().collect();
        table.insert("name".to_owned(), Value::String("candidate".to_owned()));
        let mut spec: DriveSpec = Value::Table(table).try_into().ok()?;
        let entry = Provenance { kind: ProvenanceKind::Assumed, source: "on trial".to_owned() };
        spec.provenance = told.into_iter().map(|key| (key, entry.clone())).collect();
        Some(spec)
    }
}

/// Writes a value at a dotted path below a table; `None` where the path leads through something that is no table.
fn put(table: &mut toml::Table, path: &str, value: &Value) -> Option<()> {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value.clone());
            Some(())
        }
        Some((first, rest)) => {
            let child = table.entry(first).or_insert_with(|| Value::Table(toml::Table::new()));
            put(child.as_table_mut()?, rest, value)
        }
    }
}

/// A TOML number as a real one; 0 for what is no number, which no drive file holds where a number belongs.
pub(crate) fn real(value: &Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_system::SystemConfig;

    fn drive(name: &str) -> DriveSpec {
        SystemConfig::load(name, &[]).unwrap().drives.remove(0).spec
    }

    #[test]
    fn what_is_replaced_goes_into_the_drive_and_what_is_not_stays() {
        let spec = drive("hp-c2247a");
        let values = Values::of(&spec);
        let path = "controller.read_completion_ms";
        let changed = values.with(path, Value::Float(0.75));
        assert_eq!(changed.drive().unwrap().controller.read_completion_ms, 0.75);
        assert_eq!(changed.without(path), values);
        let same = values.drive().unwrap();
        assert_eq!((same.layout, same.controller, same.cache), (spec.layout, spec.controller, spec.cache));
        assert!(changed.with("seek.nonsense", Value::Float(1.0)).drive().is_none());
    }

    #[test]
    fn the_quick_way_to_a_drive_gives_what_a_drive_file_with_overrides_gives() {
        let spec = drive("atlas-iii");
        let values = Values::of(&spec)
            .with("mechanics.read_settle_ms", Value::Float(-0.2))
            .with("cache.segments", Value::Integer(3))
            .with(
                "controller.by_history.read_miss_ms",
                Value::Array(vec![Value::Float(1.0), Value::Float(0.5)]),
            );
        let slow = DriveSpec::from_toml_with("x", &spec.to_toml(), &values.overrides()).unwrap();
        let quick = values.drive().unwrap();
        assert_eq!((quick.layout, quick.seek, quick.bus), (slow.layout, slow.seek, slow.bus));
        assert_eq!(
            (quick.mechanics, quick.controller, quick.cache),
            (slow.mechanics, slow.controller, slow.cache)
        );
    }
}

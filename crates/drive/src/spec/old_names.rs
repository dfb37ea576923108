//! Keys of drive files that had another name: files and overrides with the old one still mean the same.

use super::DriveSpec;
use std::borrow::Cow;

/// Dotted paths before, and now.
const RENAMED: [(&str, &str); 3] = [
    ("spindle.initial_turns", "spindle.initial_angle_revolutions"),
    ("arms.angles_turns", "arms.angles_revolutions"),
    ("arms.head_angles_turns", "arms.head_angles_revolutions"),
];

/// Old keys that a drive file has, each with its name now: they go with the next version.
///
/// A text that is not TOML has none.
pub fn old_names(text: &str) -> Vec<(&'static str, &'static str)> {
    let Ok(table) = toml::from_str::<toml::Value>(text) else { return Vec::new() };
    let has = |path: &str| path.split('.').try_fold(&table, |node, key| node.get(key)).is_some();
    RENAMED.into_iter().filter(|(old, _)| has(old)).collect()
}

/// The path with its name now: of the key itself, or of an element of its list.
pub(super) fn path_now(path: &str) -> Cow<'_, str> {
    RENAMED
        .iter()
        .find_map(|(old, new)| match path.strip_prefix(old) {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => {
                Some(Cow::Owned(format!("{new}{rest}")))
            }
            _ => None,
        })
        .unwrap_or(Cow::Borrowed(path))
}

/// Gives old keys of a file their names of now.
pub(super) fn rename(table: &mut toml::Value) {
    for (old, new) in RENAMED {
        let Some(((part, old), (_, new))) = old.split_once('.').zip(new.split_once('.')) else { continue };
        let part = table.get_mut(part).and_then(toml::Value::as_table_mut);
        if let Some(part) = part
            && let Some(value) = part.remove(old)
        {
            part.insert(new.to_owned(), value);
        }
    }
}

/// Gives old paths in a drive's provenance their names of now.
pub(super) fn rename_provenance(spec: &mut DriveSpec) {
    for (old, new) in RENAMED {
        if let Some(provenance) = spec.provenance.remove(old) {
            spec.provenance.insert(new.to_owned(), provenance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml");

    fn file(more: &str) -> String {
        format!("{}\n{more}", std::fs::read_to_string(LIBRARY).unwrap())
    }

    const OLD: &str = "[spindle]\ninitial_turns = 0.25\n[arms]\ncount = 2\nangles_turns = [0.0, 0.5]\nhead_angles_turns = [0.1]\n\
        [provenance.spindle]\nkind = \"assumed\"\nsource = \"a test\"\n\
        [provenance.\"spindle.initial_turns\"]\nkind = \"assumed\"\nsource = \"a test\"\n\
        [provenance.arms]\nkind = \"assumed\"\nsource = \"a test\"\n";

    #[test]
    fn a_file_with_old_names_is_the_file_with_the_new_ones() {
        let (old, mut new) = (file(OLD), file(OLD));
        for (before, now) in RENAMED {
            let last = |path: &str| path.rsplit('.').next().unwrap().to_owned();
            new = new
                .replace(before, now)
                .replace(&format!("\n{} =", last(before)), &format!("\n{} =", last(now)));
        }
        assert!(old_names(&new).is_empty());
        assert_eq!(old_names(&old), RENAMED);
        assert_eq!(DriveSpec::from_toml("x", &old).unwrap(), DriveSpec::from_toml("x", &new).unwrap());
    }

    #[test]
    fn an_override_reaches_a_value_by_either_name_of_its_key() {
        for text in [file(OLD), file("")] {
            for path in ["spindle.initial_turns", "spindle.initial_angle_revolutions"] {
                let set = [(path.to_owned(), "0.75".to_owned())];
                let spec = DriveSpec::from_toml_with("x", &text, &set).unwrap();
                assert!((spec.spindle.initial_angle_revolutions - 0.75).abs() < 1e-12, "{path}");
                let provenance = spec.provenance_of("spindle.initial_angle_revolutions").unwrap();
                assert_eq!(provenance.source, "set to 0.75 by the user");
            }
        }
        let set = [("arms.angles_turns.1".to_owned(), "0.25".to_owned())];
        let spec = DriveSpec::from_toml_with("x", &file(OLD), &set).unwrap();
        assert_eq!(spec.arms.angles_revolutions, Some(vec![0.0, 0.25]));
    }
}

//! Values replaced from the command line: `--set dotted.path=value`.

use serde::de::DeserializeOwned;

use headstack_drive::spec::{set_value, to_blame};

use crate::SystemError;

/// Reads `text` as TOML with values replaced. The text itself must have been read without error before, so that errors
/// found here come from the overrides.
pub(crate) fn apply<T: DeserializeOwned>(
    origin: &str,
    text: &str,
    set: &[(String, String)],
) -> Result<T, SystemError> {
    let failed =
        |path: &str, reason: String| SystemError::Override { path: path.to_owned(), reason, hint: None };
    let table: toml::Table = toml::from_str(text)
        .map_err(|error| SystemError::Syntax { origin: origin.to_owned(), message: error.to_string() })?;
    let unchanged = toml::Value::Table(table);
    let mut value = unchanged.clone();
    for (path, new) in set {
        set_value(&mut value, path, new).map_err(|reason| failed(path, reason))?;
    }
    value.try_into().map_err(|error: toml::de::Error| {
        let blamed = to_blame(&unchanged, set, |one| one.try_into::<T>().is_err());
        failed(&blamed, error.to_string().trim_end().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, path: &str, value: &str) -> Result<toml::Table, SystemError> {
        apply("x", text, &[(path.to_owned(), value.to_owned())])
    }

    #[test]
    fn paths_reach_tables_lists_and_all_of_a_list() {
        let text = "a.b = 1.5\n[[s]]\nx = 1\n[[s]]\nx = 2\n";
        assert_eq!(changed(text, "a.b", "2").unwrap()["a"]["b"], toml::Value::Float(2.0));
        assert_eq!(changed(text, "s.1.x", "word").unwrap()["s"][1]["x"], toml::Value::String("word".into()));
        let all = changed(text, "s.*.x", "7").unwrap();
        assert_eq!((all["s"][0]["x"].as_integer(), all["s"][1]["x"].as_integer()), (Some(7), Some(7)));
        assert_eq!(changed(text, "new.key", "true").unwrap()["new"]["key"], toml::Value::Boolean(true));
        assert!(changed(text, "s.2.x", "7").unwrap_err().to_string().contains("number below 2"));
        assert!(changed(text, "a.b.c", "7").unwrap_err().to_string().contains("below a plain value"));
    }
}

//! Tables of kinds: `[seek.…]` and `[write_policy.…]` hold one kind, and its values below it.

use super::{SeekSpec, WritePolicy};
use serde::de::DeserializeOwned;

/// Whether `path` may be set: a value of another kind than the file's has no place beside it.
///
/// # Errors
/// Which kind the file has, which there are, and how to take another.
pub(super) fn one_only(table: &toml::Value, path: &str) -> Result<(), String> {
    let Some((group, rest)) = path.split_once('.') else { return Ok(()) };
    let known = match group {
        "seek" => known::<SeekSpec>(),
        "write_policy" => known::<WritePolicy>(),
        _ => return Ok(()),
    };
    let wanted = rest.split('.').next().unwrap_or_default();
    let present = table.get(group).and_then(toml::Value::as_table).and_then(|kinds| kinds.keys().next());
    match present {
        Some(present) if present != wanted && wanted != "*" => Err(format!(
            "it is `{present}` here, of {known}; to take another, set all of it: `{group}={{ KIND = {{ … }} }}`"
        )),
        _ => Ok(()),
    }
}

/// The names of all kinds, as reading a file tells them.
fn known<T: DeserializeOwned>() -> String {
    let none = toml::Table::from_iter([(String::new(), toml::Value::Table(toml::Table::new()))]);
    let said = none.try_into::<T>().err().map(|error| error.message().to_owned()).unwrap_or_default();
    said.split("one of ").last().unwrap_or_default().to_owned()
}

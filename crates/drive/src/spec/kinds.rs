//! Tables of kinds: `[seek.…]`, `[write_policy.…]` and `[write_cache.when_off.…]` hold one kind, and its values below it.

use super::{SeekSpec, WritePolicy};
use serde::de::DeserializeOwned;

const GROUPS: [&str; 3] = ["seek", "write_policy", "write_cache.when_off"];

/// Whether `path` may be set: a value of another kind than the file's has no place beside it.
///
/// # Errors
/// Which kind the file has, which there are, and how to take another.
pub(super) fn one_only(table: &toml::Value, path: &str) -> Result<(), String> {
    let below = |group: &'static str| Some((group, path.strip_prefix(group)?.strip_prefix('.')?));
    let Some((group, rest)) = GROUPS.into_iter().find_map(below) else { return Ok(()) };
    let known = if group == "seek" { known::<SeekSpec>() } else { known::<WritePolicy>() };
    let wanted = rest.split('.').next().unwrap_or_default();
    let node = group.split('.').try_fold(table, |node, key| node.get(key));
    let present = node.and_then(toml::Value::as_table).and_then(|kinds| kinds.keys().next());
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

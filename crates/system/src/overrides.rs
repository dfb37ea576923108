//! Values replaced from the command line: `--set dotted.path=value`.

use serde::de::DeserializeOwned;

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
    let mut value = toml::Value::Table(table);
    for (path, new) in set {
        let parts: Vec<&str> = path.split('.').collect();
        put(&mut value, &parts, &parse(new)).map_err(|reason| failed(path, reason))?;
    }
    value.try_into().map_err(|error: toml::de::Error| {
        let paths: Vec<&str> = set.iter().map(|(path, _)| path.as_str()).collect();
        failed(&paths.join(", "), error.to_string().trim_end().to_owned())
    })
}

/// A TOML value as typed on a command line; what is no TOML value is a string.
fn parse(text: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

fn put(node: &mut toml::Value, parts: &[&str], value: &toml::Value) -> Result<(), String> {
    let Some((first, rest)) = parts.split_first() else {
        *node = match (&*node, value) {
            // An integer typed where the file holds a real number becomes one.
            (toml::Value::Float(_), toml::Value::Integer(integer)) => toml::Value::Float(*integer as f64),
            _ => value.clone(),
        };
        return Ok(());
    };
    match node {
        toml::Value::Table(table) if *first == "*" => {
            table.iter_mut().try_for_each(|(_, child)| put(child, rest, value))
        }
        toml::Value::Table(table) => {
            let child = table.entry(*first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            put(child, rest, value)
        }
        toml::Value::Array(items) if *first == "*" => {
            items.iter_mut().try_for_each(|item| put(item, rest, value))
        }
        toml::Value::Array(items) => {
            let count = items.len();
            let item = first.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            let item = item.ok_or_else(|| format!("`{first}` must be `*` or a number below {count} here"))?;
            put(item, rest, value)
        }
        _ => Err(format!("`{first}` lies below a plain value")),
    }
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

//! Values replaced from the command line: `--set dotted.path=value`, for drive, system and workload files alike.

/// Replaces the value at a dotted path (`*` for every element of a list or table) by a TOML value as typed on a command
/// line; what is no TOML value is a string. A missing key is added: reading the file tells whether it exists.
///
/// # Errors
/// What part of the path leads nowhere.
pub fn set_value(table: &mut toml::Value, path: &str, value: &str) -> Result<(), String> {
    let parts: Vec<&str> = path.split('.').collect();
    let digits = value.strip_prefix('-').unwrap_or(value);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<i64>().is_err()
    {
        return Err(format!("{value} is not between -2^63 and 2^63 - 1, as whole numbers are"));
    }
    put(table, &parts, &parse(value))
}

/// The paths to blame where all values together are refused: those that are refused each by itself, or else all.
#[must_use]
pub fn to_blame(
    whole: &toml::Value,
    set: &[(String, String)],
    is_refused: impl Fn(toml::Value) -> bool,
) -> String {
    let by_itself = |(path, value): &&(String, String)| {
        let mut table = whole.clone();
        set_value(&mut table, path, value).is_ok() && is_refused(table)
    };
    let alone: Vec<_> = set.iter().filter(by_itself).collect();
    let blamed = if alone.is_empty() { set.iter().collect() } else { alone };
    blamed.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ")
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

    #[test]
    fn a_whole_number_that_is_too_large_is_no_word() {
        let mut table = toml::Value::Table(toml::Table::new());
        for value in ["99999999999999999999", "-9223372036854775809"] {
            assert!(set_value(&mut table, "a", value).unwrap_err().contains("2^63"));
        }
        for value in ["9223372036854775807", "-1", "1e20", "-", ""] {
            set_value(&mut table, "a", value).unwrap();
        }
    }
}

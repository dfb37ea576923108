//! Values and counts as sentences have them.

use crate::values::real;
use toml::Value;

/// A value for people.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Float(_) => significant(real(value)),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// A number with six significant digits.
fn significant(value: f64) -> String {
    let before_point = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let text = format!("{value:.*}", (6 - before_point).clamp(1, 12) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_for_people() {
        assert_eq!(written(&Value::Float(0.5)), "0.5");
        assert_eq!(written(&Value::Float(3.009_994)), "3.00999");
        assert_eq!(written(&Value::Float(0.012_345_678)), "0.0123457");
        assert_eq!(written(&Value::Float(0.0)), "0");
        assert_eq!(written(&Value::Float(100.0)), "100");
        assert_eq!(written(&Value::Float(-2.0)), "-2");
        assert_eq!(written(&Value::Boolean(true)), "true");
        assert_eq!(written(&Value::String("none".to_owned())), "none");
    }
}

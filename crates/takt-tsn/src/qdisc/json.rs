//! Numbers and flags in the output of `tc -j`. Versions of `tc` differ: numbers may be texts, and flags may be words.

use serde_json::Value;

/// Returns a number, also from a text in hexadecimal: `"0x2"`.
pub(crate) fn number(value: &Value, name: &str) -> Option<u64> {
    match value.get(name)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    }
}

/// Returns a flag: true, 1 or `"on"`.
pub(crate) fn flag(value: &Value, name: &str) -> bool {
    match value.get(name) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text == "on",
        Some(Value::Number(number)) => number.as_u64() == Some(1),
        _ => false,
    }
}

//! Integers in JSON: numbers or strings.

use serde_json::Value;

use crate::json_number;

/// Decodes a whole number: as a JSON number, or as a text, which is the form of Int64 and UInt64.
pub(super) fn integer<T: TryFrom<i128>>(value: &Value) -> Option<T> {
    let number = match value {
        Value::Number(number) => json_number::whole(number)?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    T::try_from(number).ok()
}

//! Integers in JSON: numbers or strings.

use serde_json::Value;

/// Decodes a whole number: as a JSON number, or as a text, which is the form of Int64 and UInt64.
pub(super) fn integer<T: TryFrom<i128>>(value: &Value) -> Option<T> {
    let number = match value {
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => i128::from(number),
            (None, Some(number), _) => i128::from(number),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the value is whole; the cast saturates"
            )]
            (None, None, Some(number)) if number.fract() == 0.0 => number as i128,
            _ => return None,
        },
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    T::try_from(number).ok()
}

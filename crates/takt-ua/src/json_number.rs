//! Numbers in JSON, as both JSON forms read and write them.

use serde_json::{Number, Value};

/// Returns a number that is whole; its fraction may be zero.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(number), _, _) => Some(number.into()),
        (None, Some(number), _) => Some(number.into()),
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the value is whole; the cast saturates"
        )]
        (None, None, Some(number)) if number.fract() == 0.0 => Some(number as i128),
        _ => None,
    }
}

/// Returns a number, which may be a text. NaN and the infinities always are (OPC 10000-6, 5.4.2.4).
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            // `parse` alone would also accept `inf` and `nan`.
            text => text.parse().ok().filter(|number: &f64| number.is_finite()),
        },
        _ => None,
    }
}

/// Rounds a number to a Float; `None` if it is out of range.
pub(crate) fn rounded(number: f64) -> Option<f32> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the range is checked, and rounding is what Float is for"
    )]
    let single = number as f32;
    // Infinity is a Float only if the sender meant infinity.
    (single.is_finite() || !number.is_finite()).then_some(single)
}

/// Encodes a Double. NaN and the infinities, for which JSON has no numbers, are texts (OPC 10000-6, 5.4.2.4).
pub(crate) fn double(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// Encodes a Float through its own shortest text, so that 0.1 stays 0.1.
pub(crate) fn single(value: f32) -> Value {
    let exact = f64::from(value);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "whether rounding gives the Float again is the question"
    )]
    let short = value
        .to_string()
        .parse()
        .ok()
        .filter(|short: &f64| (*short as f32).to_bits() == value.to_bits());
    double(short.unwrap_or(exact))
}

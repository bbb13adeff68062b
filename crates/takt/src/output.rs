//! Output of commands: lines for people, or objects for programs.

use serde_json::{Value, json};
use takt_app::Endpoint;
use takt_ua::{DataValue, DateTime, Variant};

pub use takt_terminal::{
    bytes, clear_status, complain, error, escaped, line, lines, printable, shown_source,
    start_tracing, status, warning, written,
};

/// Prints the outcome of a command or an event, flushed: an object for programs (`--json`), or a line for people.
pub fn tell(json: bool, object: impl FnOnce() -> Value, text: impl std::fmt::Display) {
    match json {
        true => line(object()),
        false => line(text),
    }
}

/// Prints that a server is ready: one that serves at these endpoints.
pub fn ready(json: bool, name: &str, endpoints: &[Endpoint]) {
    let endpoints: Vec<String> = endpoints.iter().map(ToString::to_string).collect();
    tell(
        json,
        || {
            json!({
                "event": "ready",
                "name": name,
                "process": std::process::id(),
                "endpoints": endpoints,
            })
        },
        format_args!("{name} serves {}", endpoints.join(" and ")),
    );
}

/// Tells programs that the command has ended as it was meant to.
pub fn ended(json: bool, name: &str) {
    if json {
        line(json!({"event": "ended", "name": name}));
    }
}

/// Prints warnings for people. Programs find them in the object of the outcome, as `warnings`.
pub fn warnings(json: bool, warnings: &[String]) {
    if !json {
        warnings.iter().for_each(warning);
    }
}

/// Returns an object with the members of another one behind its own.
pub fn joined(mut object: Value, others: Value) -> Value {
    if let (Some(object), Value::Object(others)) = (object.as_object_mut(), others) {
        object.extend(others);
    }
    object
}

/// Formats a DataValue in one line: value as `text` writes it, StatusCode unless Good, source timestamp. Control characters in texts are escaped.
pub fn data_value(data_value: &DataValue, text: impl FnOnce(&Variant) -> String) -> String {
    let mut parts = Vec::new();
    if let Some(inner) = &data_value.value {
        parts.push(escaped(&text(inner)));
    }
    if let Some(status) = data_value.status.filter(|status| !status.is_good()) {
        parts.push(status.to_string());
    }
    if let Some(time) = data_value.source_timestamp {
        parts.push(time.to_string());
    }
    parts.join("  ")
}

/// Returns a time without the parts of its millisecond.
pub fn whole_milliseconds(time: DateTime) -> DateTime {
    const TICKS: i64 = 10_000;
    // The first millisecond of an `i64` is not a whole one.
    DateTime(time.0.div_euclid(TICKS).saturating_mul(TICKS))
}

/// Returns a row of `read` and `watch` for programs, with the value as `value` writes it.
pub fn data_value_json(
    node: &str,
    data_value: &DataValue,
    value: impl FnOnce(&Variant) -> Value,
) -> Value {
    json!({
        "node": node,
        "value": data_value.value.as_ref().map(value),
        "type": data_value.value.as_ref().and_then(Variant::built_in_type).map(|t| t.name()),
        "status": data_value.status_code().to_string(),
        "sourceTimestamp": data_value.source_timestamp.map(DateTime::to_iso8601),
        "serverTimestamp": data_value.server_timestamp.map(DateTime::to_iso8601),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_has_milliseconds() {
        let whole = |ticks| whole_milliseconds(DateTime(ticks));
        assert_eq!(whole(19_999), DateTime(10_000));
        assert_eq!(whole(-1), DateTime(-10_000));
        for extreme in [i64::MIN, i64::MIN + 1, i64::MAX] {
            let shown = whole(extreme);
            assert!(shown.0 <= extreme, "{extreme}");
            assert!(!shown.to_iso8601().is_empty());
        }
    }
}

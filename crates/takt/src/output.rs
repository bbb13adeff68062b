//! What is printed: a line for people or an object for programs.

use std::io::{IsTerminal, Write};

use serde_json::{Value, json};
use takt_ua::{DataValue, DateTime, Variant};

/// Diagnostics go to the error output, so that results can be piped.
pub fn start_tracing(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

/// Prints one line and sees it out of the process; a reader that went away ends the command in silence, a full disk does not.
pub fn line(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("error: cannot write to the standard output: {error}");
            std::process::exit(1);
        }
    }
}

/// A value in one line, long arrays cut short.
pub fn value(value: &Variant) -> String {
    const SHOWN: usize = 8;
    match takt_ua::json::to_value(value) {
        Value::String(text) => text,
        Value::Array(elements) if elements.len() > SHOWN => {
            let shown: Vec<String> = elements[..SHOWN].iter().map(Value::to_string).collect();
            format!("[{}, …] ({} elements)", shown.join(", "), elements.len())
        }
        other => other.to_string(),
    }
}

/// A DataValue in one line: value, StatusCode unless Good, source timestamp.
pub fn data_value(data_value: &DataValue) -> String {
    let mut parts = Vec::new();
    if let Some(inner) = &data_value.value {
        parts.push(value(inner));
    }
    if let Some(status) = data_value.status.filter(|status| !status.is_good()) {
        parts.push(status.to_string());
    }
    if let Some(time) = data_value.source_timestamp {
        parts.push(time_text(time));
    }
    parts.join("  ")
}

/// A row of `read` and `watch` for programs.
pub fn data_value_json(node: &str, data_value: &DataValue) -> Value {
    json!({
        "node": node,
        "value": data_value.value.as_ref().map(takt_ua::json::to_value),
        "type": data_value.value.as_ref().and_then(Variant::built_in_type).map(|t| t.name()),
        "status": data_value.status_code().to_string(),
        "sourceTimestamp": data_value.source_timestamp.map(|time| time.to_string()),
        "serverTimestamp": data_value.server_timestamp.map(|time| time.to_string()),
    })
}

fn time_text(time: DateTime) -> String {
    time.to_string()
}

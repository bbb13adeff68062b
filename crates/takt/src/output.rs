//! Output of commands: lines for people, or objects for programs.

mod explanation;

use std::io::{IsTerminal, Write};

use serde_json::{Value, json};
use takt_ua::{DataValue, DateTime, Variant};
use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::{self, Format, Full, Writer};
use tracing_subscriber::fmt::{FormatFields, MakeWriter, SubscriberBuilder};

/// Starts the log. Diagnostics go to the error output, so that results can be piped.
pub fn start_tracing(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    log(level, std::io::stderr, std::io::stderr().is_terminal()).init();
}

/// Returns a log of events from this level on.
fn log<W>(
    level: tracing::Level,
    writer: W,
    is_terminal: bool,
) -> SubscriberBuilder<impl for<'w> FormatFields<'w> + 'static, Format<Full>, LevelFilter, W>
where
    W: for<'w> MakeWriter<'w> + 'static,
{
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(writer)
        .with_target(false)
        .fmt_fields(format::debug_fn(field).delimited(" "))
        .with_ansi(is_terminal)
        // The logger would panic after a failed write to the error output.
        .log_internal_errors(false)
}

/// Writes a field of the log. Peers have chosen some of the texts: a line break or a command to the terminal is shown as such.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn std::fmt::Debug) -> std::fmt::Result {
    let text = escaped(&format!("{value:?}"));
    match field.name() {
        "message" => write!(writer, "{text}"),
        name => write!(writer, "{name}={text}"),
    }
}

/// Returns a text with escapes (`\n`, `\u{1b}`) instead of control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match one.is_control() {
            true => escaped.extend(one.escape_default()),
            false => escaped.push(one),
        }
    }
    escaped
}

/// Returns a text of a stranger with spaces instead of control characters, which could change the terminal.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect()
}

/// Prints one line. A failure is handled by [`written`].
pub fn line(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    written(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Prints bytes unchanged. A failure is handled by [`written`].
pub fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Ends the process if writing to the standard output failed. After the reader is gone, the process ends like other Unix tools:
/// by SIGPIPE, without a message. Any other error, such as a full disk, is reported, and the exit status is 1.
pub fn written(outcome: std::io::Result<()>) {
    let Err(error) = outcome else {
        return;
    };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        // Rust ignores the signal by default. If it is blocked, the exit status says the same.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
        std::process::exit(128 + signal_hook::consts::SIGPIPE);
    }
    complain(format_args!(
        "error: cannot write to the standard output: {error}"
    ));
    std::process::exit(1);
}

/// Prints a line to the error output. A failure is ignored, because it cannot be reported.
pub fn complain(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints an error that ends the command. Its lines fit the terminal only without a word before them.
pub fn error(error: &miette::Report) {
    complain(explanation::rendered(error));
}

/// Prints a warning, in lines that fit the terminal.
pub fn warning(text: impl std::fmt::Display) {
    let warning = miette::MietteDiagnostic::new(text.to_string());
    error(&warning.with_severity(miette::Severity::Warning).into());
}

/// Formats a DataValue in one line: value, StatusCode unless Good, source timestamp. Control characters in texts are escaped.
pub fn data_value(data_value: &DataValue) -> String {
    let mut parts = Vec::new();
    if let Some(inner) = &data_value.value {
        parts.push(escaped(&inner.to_string()));
    }
    if let Some(status) = data_value.status.filter(|status| !status.is_good()) {
        parts.push(status.to_string());
    }
    if let Some(time) = data_value.source_timestamp {
        parts.push(time.to_string());
    }
    parts.join("  ")
}

/// Returns a row of `read` and `watch` for programs.
pub fn data_value_json(node: &str, data_value: &DataValue) -> Value {
    json!({
        "node": node,
        "value": data_value.value.as_ref().map(takt_ua::json::to_value),
        "type": data_value.value.as_ref().and_then(Variant::built_in_type).map(|t| t.name()),
        "status": data_value.status_code().to_string(),
        "sourceTimestamp": data_value.source_timestamp.map(DateTime::to_iso8601),
        "serverTimestamp": data_value.server_timestamp.map(DateTime::to_iso8601),
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Output of a log.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0
                .lock()
                .map_err(|_| io::ErrorKind::Other)?
                .write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_peer_forges_no_line_of_the_log() {
        let written = Written::default();
        let writer = written.clone();
        let log = log(tracing::Level::WARN, move || writer.clone(), false).finish();
        tracing::subscriber::with_default(log, || {
            let name = "CN=x\n2026-01-01 WARN forged\u{1b}[31m";
            tracing::warn!(subject = %name, user = name, "refused: {name}");
        });
        let text = written.0.lock().map(|bytes| bytes.clone());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.contains("subject=CN=x\\n"), "{text}");
    }
}

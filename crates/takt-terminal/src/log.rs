//! The log, on the error output.

use std::io::IsTerminal;

use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use takt_figures::text::escaped;

/// Starts the log: warnings, with `verbose` 1 also information, and with 2 all details. Diagnostics go to the error output, so that
/// results can be piped.
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
) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(writer)
        .with_target(false)
        .fmt_fields(format::debug_fn(field).delimited(" "))
        .with_ansi(is_terminal)
        // The logger would panic after a failed write to the error output.
        .log_internal_errors(false)
        .finish();
    log.with(filter_fn(|event| is_shown(event.target(), *event.level())))
}

/// Returns false for the lines of the MQTT library: a link reports their cause itself, with the names that its user knows.
fn is_shown(target: &str, level: tracing::Level) -> bool {
    target.split("::").next() != Some("rumqttc") || level == tracing::Level::TRACE
}

/// Writes a field of the log. Peers have chosen some of the texts: a line break or a command to the terminal is shown as such.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn std::fmt::Debug) -> std::fmt::Result {
    let text = escaped(&format!("{value:?}"));
    match field.name() {
        // Places in the source code of libraries.
        name if name.starts_with("log.") => Ok(()),
        "message" => write!(writer, "{text}"),
        name => write!(writer, "{name}={text}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
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
        let log = log(tracing::Level::WARN, move || writer.clone(), false);
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

    #[test]
    fn lines_of_the_mqtt_library_are_not_shown() {
        let written = Written::default();
        let writer = written.clone();
        let log = log(tracing::Level::DEBUG, move || writer.clone(), false);
        tracing::subscriber::with_default(log, || {
            tracing::error!(target: "rumqttc::v5::state", "Invalid packet in /root/.cargo");
            tracing::warn!(target: "rumqttc", "SubAck in /root/.cargo");
            tracing::warn!(log.file = "/root/.cargo", "ours");
        });
        let text = written.0.lock().map(|bytes| bytes.clone());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        assert!(text.contains("ours") && !text.contains("/root"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

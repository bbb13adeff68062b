//! Lines, bytes and errors, on the standard output and the error output.

use std::io::{IsTerminal, Write};

use takt_figures::text::escaped_output;

use crate::explanation;

/// Commands that move the cursor to the beginning of the line, and erase the line (ECMA-48 CR, EL).
const ERASE: &str = "\r\x1b[K";

/// Prints one line. Control characters and line breaks in it, which may come from strangers and files, are escaped. A failure is
/// handled by [`written`].
pub fn line(text: impl std::fmt::Display) {
    lines([text]);
}

/// Prints lines, each as [`line()`] does.
pub fn lines(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    let mut out = std::io::stdout().lock();
    let mut printed = Ok(());
    for line in lines {
        let text = line.to_string();
        printed = printed.and_then(|()| writeln!(out, "{}", escaped_output(&text)));
    }
    written(printed.and_then(|()| out.flush()));
}

/// Prints one line as [`line()`] does, and returns a failure instead of ending the process.
///
/// # Errors
/// The standard output cannot be written.
pub fn try_line(text: impl std::fmt::Display) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", escaped_output(&text.to_string()))?;
    out.flush()
}

/// Prints the content of a file unchanged. Texts for people are printed by [`line()`] and [`lines`]. A failure is handled by
/// [`written`].
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

/// Prints one line to the error output, escaped as by [`line()`]. A failure is ignored, because it cannot be reported.
pub fn complain(text: impl std::fmt::Display) {
    let text = text.to_string();
    let _ = writeln!(std::io::stderr(), "{}", escaped_output(&text));
}

/// Shows the state of long work on the error output: on a terminal in place of the previous one, and elsewhere as a line.
pub fn status(text: impl std::fmt::Display) {
    let text = text.to_string();
    let text = escaped_output(&text);
    let mut out = std::io::stderr().lock();
    let _ = match out.is_terminal() {
        true => write!(out, "{ERASE}{text}"),
        false => writeln!(out, "{text}"),
    };
    let _ = out.flush();
}

/// Removes the state that [`status`] shows on a terminal.
pub fn clear_status() {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        let _ = write!(out, "{ERASE}");
        let _ = out.flush();
    }
}

/// Prints an error that ends the command. Its lines fit the terminal only without a word before them.
pub fn error(error: &miette::Report) {
    // The texts in it are escaped; the layout may have colours.
    let _ = writeln!(std::io::stderr(), "{}", explanation::rendered(error));
}

/// Prints a warning, in lines that fit the terminal.
pub fn warning(text: impl std::fmt::Display) {
    let warning = miette::MietteDiagnostic::new(text.to_string());
    error(&warning.with_severity(miette::Severity::Warning).into());
}

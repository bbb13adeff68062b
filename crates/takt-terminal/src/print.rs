//! Lines, bytes and errors, on the standard output and the error output.

use std::io::Write;

use crate::explanation;

/// Prints one line. Control characters in it, which may come from strangers and files, are escaped. A failure is handled by
/// [`written`].
pub fn line(text: impl std::fmt::Display) {
    let text = text.to_string();
    let mut out = std::io::stdout().lock();
    let printed = writeln!(out, "{}", takt_figures::text::escaped_output(&text));
    written(printed.and_then(|()| out.flush()));
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
    let text = text.to_string();
    let _ = writeln!(
        std::io::stderr(),
        "{}",
        takt_figures::text::escaped_output(&text)
    );
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

//! Width of the terminal.

use std::io::IsTerminal;

/// Columns of the terminal that the standard output is; `None` if it is a file or a pipe, whose lines have no limit.
#[must_use]
pub fn width() -> Option<usize> {
    let output = std::io::stdout();
    if !output.is_terminal() {
        return None;
    }
    match rustix::termios::tcgetwinsize(output) {
        Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col)),
        // A terminal that does not tell its size has the usual one.
        _ => Some(80),
    }
}

//! Width of the terminal.

use std::io::IsTerminal;

/// Returns the number of columns of the terminal at the standard output; `None` for a file or a pipe, whose lines have no limit.
#[must_use]
pub fn width() -> Option<usize> {
    let output = std::io::stdout();
    if !output.is_terminal() {
        return None;
    }
    match rustix::termios::tcgetwinsize(output) {
        Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col)),
        // A terminal of unknown size has the usual width.
        _ => Some(80),
    }
}

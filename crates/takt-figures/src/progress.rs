//! Progress of a computation or a measurement.

use std::io::{IsTerminal, Write};

/// Display of the current step on the error output of a terminal. Dropping it removes the display.
pub struct Progress {
    what: &'static str,
    of: u32,
    shown: bool,
}

impl Progress {
    /// Creates the display of this number of steps, named `what`.
    #[must_use]
    pub fn new(what: &'static str, of: u32) -> Self {
        Self {
            what,
            of,
            shown: std::io::stderr().is_terminal(),
        }
    }

    /// Shows that step `number`, counted from 0, begins.
    pub fn show(&self, number: u32) {
        if self.shown {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r{} {} of {} …", self.what, number + 1, self.of);
            let _ = out.flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            // Cursor to the beginning of the line, and erase the line (ECMA-48).
            eprint!("\r\x1b[K");
        }
    }
}

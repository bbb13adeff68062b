//! Lines on a terminal that are rewritten in place, or plain lines without a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};

/// Display of live data.
pub struct Screen {
    terminal: bool,
    /// Number of lines of the live part that are on the terminal now.
    live: Cell<usize>,
}

impl Default for Screen {
    fn default() -> Self {
        Self::new()
    }
}

impl Screen {
    /// Creates a display on the standard output.
    pub fn new() -> Self {
        Self {
            terminal: std::io::stdout().is_terminal(),
            live: Cell::new(0),
        }
    }

    /// Writes one line that stays.
    ///
    /// # Errors
    /// The standard output cannot be written.
    pub fn line(&self, text: &str) -> io::Result<()> {
        write(&format!("{text}\n"))
    }

    /// Shows the live part. On a terminal it replaces the previous one.
    ///
    /// # Errors
    /// The standard output cannot be written.
    pub fn show(&self, lines: &[String]) -> io::Result<()> {
        let mut out = String::new();
        if self.terminal && self.live.get() > 0 {
            // Cursor up to the first live line (ECMA-48 CPL).
            out.push_str(&format!("\x1b[{}F", self.live.get()));
        }
        let (width, height) = self.size();
        let fitting = lines.len().saturating_sub(height);
        for line in &lines[fitting..] {
            let line: String = line.chars().take(width).collect();
            out.push_str(&line);
            // Erase the rest of the previous line (ECMA-48 EL).
            out.push_str(if self.terminal { "\x1b[K\n" } else { "\n" });
        }
        if !self.terminal {
            out.push('\n');
        }
        self.live.set(lines.len() - fitting);
        write(&out)
    }

    /// Ends the live part, so that it is not rewritten any more.
    pub fn finish(&self) {
        self.live.set(0);
    }

    /// Returns the usable columns and lines. A live part taller than the terminal could not be rewritten.
    fn size(&self) -> (usize, usize) {
        if !self.terminal {
            return (usize::MAX, usize::MAX);
        }
        match rustix::termios::tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 1 => {
                (usize::from(size.ws_col), usize::from(size.ws_row) - 1)
            }
            _ => (120, 40),
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

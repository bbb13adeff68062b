//! Lines on a terminal that are rewritten in place, or plain lines without a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};

use crate::styled::StyledLine;

/// Display of live data.
pub struct Screen {
    terminal: bool,
    coloured: bool,
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
    #[must_use]
    pub fn new() -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            terminal,
            coloured: terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
            live: Cell::new(0),
        }
    }

    /// Writes one line that stays, escaped as a [`StyledLine`].
    ///
    /// # Errors
    /// The standard output cannot be written.
    pub fn line(&self, text: &str) -> io::Result<()> {
        write(&format!("{}\n", StyledLine::from(text).plain(usize::MAX)))
    }

    /// Shows the live part. On a terminal it replaces the previous one.
    ///
    /// # Errors
    /// The standard output cannot be written.
    pub fn show(&self, lines: &[String]) -> io::Result<()> {
        let lines: Vec<StyledLine> = lines
            .iter()
            .map(|line| StyledLine::from(line.as_str()))
            .collect();
        self.show_lines(&lines)
    }

    /// Shows the live part in colours. Without a terminal, or with `NO_COLOR` set, it has none.
    ///
    /// # Errors
    /// The standard output cannot be written.
    pub fn show_lines(&self, lines: &[StyledLine]) -> io::Result<()> {
        let mut out = String::new();
        if self.terminal && self.live.get() > 0 {
            // Cursor up to the first live line (ECMA-48 CPL).
            out.push_str(&format!("\x1b[{}F", self.live.get()));
        }
        let (width, height) = self.size();
        let fitting = lines.len().saturating_sub(height);
        for line in &lines[fitting..] {
            match self.coloured {
                true => out.push_str(&line.coloured(width)),
                false => out.push_str(&line.plain(width)),
            }
            // Erase the rest of the previous line (ECMA-48 EL).
            out.push_str(if self.terminal { "\x1b[K\n" } else { "\n" });
        }
        if self.terminal {
            // Erase the lines of a longer previous part (ECMA-48 ED).
            out.push_str("\x1b[J");
        } else {
            out.push('\n');
        }
        self.live.set(lines.len() - fitting);
        write(&out)
    }

    /// Returns whether the standard output is a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Returns the number of lines that fit; without a terminal there is no limit.
    #[must_use]
    pub fn height(&self) -> usize {
        self.size().1
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

//! Keys pressed on a terminal, without a Return after them.

use std::io::{IsTerminal, Read, Stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keys of the terminal on the standard input. Dropping it restores the terminal.
pub(crate) struct Keys {
    input: Stdin,
    /// Modes before; `None` without a terminal.
    before: Option<Termios>,
}

impl Default for Keys {
    fn default() -> Self {
        Self::new()
    }
}

impl Keys {
    /// Makes the terminal deliver each key at once and show none of them. Ctrl-C still interrupts. Without a terminal no key is ever
    /// pressed.
    pub(crate) fn new() -> Self {
        let input = std::io::stdin();
        // A background process that changes the terminal would be stopped.
        let is_ours = input.is_terminal()
            && rustix::termios::tcgetpgrp(&input).ok() == Some(rustix::process::getpgrp());
        let before = match is_ours {
            true => tcgetattr(&input).ok(),
            false => None,
        };
        if let Some(before) = &before {
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            // Without the change, keys arrive after Return only.
            let _ = tcsetattr(&input, OptionalActions::Now, &modes);
        }
        Self { input, before }
    }

    /// Returns whether keys can be pressed.
    pub(crate) fn exist(&self) -> bool {
        self.before.is_some()
    }

    /// Returns whether `key` was pressed since the last call. Other keys are dropped.
    pub(crate) fn pressed(&mut self, key: u8) -> bool {
        let mut found = false;
        while self.exist() && self.is_ready() {
            let mut keys = [0; 16];
            match self.input.lock().read(&mut keys) {
                Ok(read) if read > 0 => found |= keys[..read].contains(&key),
                // The terminal is gone.
                _ => break,
            }
        }
        found
    }

    fn is_ready(&self) -> bool {
        let mut ready = [PollFd::new(&self.input, PollFlags::IN)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut ready, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(&self.input, OptionalActions::Now, before);
        }
    }
}

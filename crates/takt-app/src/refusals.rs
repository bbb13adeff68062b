//! Refusals in the log: each one once in a while, because refused clients try again repeatedly.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_space::Peer;

/// Time in which the same refusal is logged once.
const QUIET: Duration = Duration::from_secs(60);

/// Largest number of different refusals logged within [`QUIET`], because clients choose names and addresses.
const MOST_REFUSALS: usize = 64;

/// Longest part of a text of a client in the log, in characters.
const LONGEST: usize = 64;

/// Recently logged refusals.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<String, Instant>>);

impl Refusals {
    /// Logs a refusal as a warning, unless the same one was logged just now.
    pub fn warn(&self, line: &dyn Display) {
        let line = line.to_string();
        if self.is_new(&line, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    /// Returns what was logged recently, for tests.
    #[doc(hidden)]
    pub fn lines(&self) -> Vec<String> {
        let logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logged.keys().cloned().collect()
    }

    fn is_new(&self, line: &str, now: Instant) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logged.retain(|_, logged| now.saturating_duration_since(*logged) < QUIET);
        if logged.contains_key(line) || logged.len() >= MOST_REFUSALS {
            return false;
        }
        logged.insert(line.to_owned(), now);
        true
    }
}

/// Returns a text of a client for the log: shortened, with escaped control characters.
pub fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
    let end = match characters.next() {
        Some(_) => "…",
        None => "",
    };
    format!("{}{end}", start.escape_debug())
}

/// Returns the line for a login with a wrong password or an unknown name. Both look alike, so that the log does not tell which names
/// are known.
pub fn refused_login(name: &str, peer: &Peer) -> String {
    let origin = match (peer.network(), peer.user()) {
        (Some(address), _) => format!("address {address}"),
        (None, Some(user)) => format!("Unix user {user}"),
        (None, None) => "an unknown client".to_owned(),
    };
    let name = shown(name);
    format!(
        "login refused to {origin}: the user {name} is unknown, or the password is wrong: see `takt user list`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_fill_no_log() {
        let refusals = Refusals::default();
        let now = Instant::now();
        assert!(refusals.is_new("a", now) && !refusals.is_new("a", now));
        assert!(refusals.is_new("a", now + QUIET));
        let logged = (0..1000).filter(|number| refusals.is_new(&number.to_string(), now + QUIET));
        assert!(logged.count() < MOST_REFUSALS);
    }

    #[test]
    fn texts_of_clients_forge_no_lines() {
        assert_eq!(shown("anna"), "anna");
        assert_eq!(shown("a\nWARN \u{1b}[31m"), "a\\nWARN \\u{1b}[31m");
        assert_eq!(
            shown(&"x".repeat(1000)),
            format!("{}…", "x".repeat(LONGEST))
        );
    }
}

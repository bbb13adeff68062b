//! Refusals in the log: each one once in a while, because refused clients try again repeatedly.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_crypto::Remedy;
use takt_space::{Caller, Peer, UserIdentity};

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
    let (origin, name) = (origin(peer), shown(name));
    format!(
        "login refused to {origin}: the user {name} is unknown, or the password is wrong{}",
        Remedy::ListUsers
    )
}

/// Returns the line for a Write or Call that is refused because of the roles of the caller.
pub(crate) fn refused_service(caller: &Caller, service: &str) -> String {
    let peer = caller.peer();
    let client = match &caller.user {
        UserIdentity::Anonymous => origin(peer),
        UserIdentity::UserName { name } | UserIdentity::Application { name } => {
            format!("the user {} of {}", shown(name), origin(peer))
        }
        UserIdentity::Certificate { subject, .. } | UserIdentity::Issued { subject, .. } => {
            format!("the user {} of {}", shown(subject), origin(peer))
        }
    };
    let (reason, remedy) = match (&caller.user, peer) {
        (UserIdentity::Anonymous, Peer::Tcp { user: Some(_), .. }) => (
            "over TCP, only the Unix user of the server and those with a role have this right; trust_loopback gives it to everybody on \
             the loopback interface, and an administrator gives roles",
            Remedy::AddUser,
        ),
        (UserIdentity::Anonymous, Peer::Tcp { user: None, .. }) if peer.is_on_loopback() => {
            let reason = "the kernel does not name its Unix user, as for clients of containers; trust_loopback gives the right to \
                everybody on the loopback interface, and it can log in as a user that an administrator has added";
            (reason, Remedy::AddUser)
        }
        (UserIdentity::Anonymous, Peer::Tcp { .. }) => (
            "anonymous clients of other hosts only read; it can log in as a user that an administrator has added",
            Remedy::AddUser,
        ),
        _ => ("its roles do not permit it", Remedy::ListUsers),
    };
    format!("{service} refused to {client}: {reason}{remedy}")
}

/// Returns the origin of a client: what the operating system says about it.
fn origin(peer: &Peer) -> String {
    match (peer.network(), peer.user()) {
        (Some(address), Some(user)) => format!("Unix user {user} at address {address}"),
        (Some(address), None) if peer.is_on_loopback() => {
            format!("an unknown Unix user at address {address}")
        }
        (Some(address), None) => format!("address {address}"),
        (None, Some(user)) => format!("Unix user {user}"),
        (None, None) => "an unknown client".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use takt_space::{Channel, ChannelSecurity};

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
    fn a_refused_write_names_the_unix_user_and_the_option() {
        let line = |address: [u8; 4], user| {
            let channel = Channel {
                id: 1,
                peer: Peer::Tcp {
                    address: (address, 50_000).into(),
                    user,
                },
                security: ChannelSecurity::none(),
            };
            refused_service(&Caller::of_channel(Arc::new(channel)), "Write")
        };
        let other = line([127, 0, 0, 1], Some(4711));
        assert!(other.starts_with("Write refused to Unix user 4711 at address 127.0.0.1: "));
        let unknown = line([127, 0, 0, 1], None);
        let start = "Write refused to an unknown Unix user at address 127.0.0.1: ";
        assert!(unknown.starts_with(start), "{unknown}");
        for local in [other, unknown] {
            assert!(local.contains("trust_loopback"), "{local}");
        }
        let remote = line([192, 0, 2, 7], None);
        assert!(remote.starts_with("Write refused to address 192.0.2.7: "));
        assert!(!remote.contains("trust_loopback"), "{remote}");
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

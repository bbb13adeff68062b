//! Sessions that nobody could close, because their connections were lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_ua::structures::CreateSessionResponse;

use crate::endpoint::Endpoint;

/// Largest number of kept sessions; the oldest ones are forgotten.
const MOST: usize = 16;

/// Sessions that may still exist at their servers, although their connections are lost. The next client with the same
/// [`ClientOptions`](super::ClientOptions), or a clone of them, closes them when it connects to that server. So a server that is
/// lost again and again does not have more sessions each time: small ones have room for ten.
#[derive(Debug, Clone, Default)]
pub struct LeftSessions(Arc<Mutex<Vec<Left>>>);

/// A session of a lost connection.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) endpoint: Endpoint,
    /// The session, as its server created it.
    pub(super) created: CreateSessionResponse,
    /// True if its Subscriptions are of no more use: nobody can continue them.
    pub(super) ends_subscriptions: bool,
}

impl LeftSessions {
    /// Keeps a session.
    pub(super) fn keep(&self, left: Left) {
        let mut all = self.all();
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(left);
    }

    /// Takes a session of a server.
    pub(super) fn take(&self, endpoint: &Endpoint) -> Option<Left> {
        let mut all = self.all();
        let at = all.iter().position(|left| left.endpoint == *endpoint)?;
        Some(all.swap_remove(at))
    }

    fn all(&self) -> MutexGuard<'_, Vec<Left>> {
        // Every change is complete when the lock is released.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Options with other sessions are the same options.
impl PartialEq for LeftSessions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LeftSessions {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_those_of_their_server_and_not_without_limit() {
        let endpoint = |port: u16| -> Endpoint { format!("opc.tcp://plc:{port}").parse().unwrap() };
        let left = LeftSessions::default();
        let shared = left.clone();
        for number in 0..20 {
            left.keep(Left {
                endpoint: endpoint(4840),
                created: CreateSessionResponse {
                    max_request_message_size: number,
                    ..CreateSessionResponse::default()
                },
                ends_subscriptions: true,
            });
        }
        assert!(shared.take(&endpoint(4841)).is_none());
        let kept = std::iter::from_fn(|| shared.take(&endpoint(4840)));
        let mut kept: Vec<u32> = kept
            .map(|one| one.created.max_request_message_size)
            .collect();
        kept.sort_unstable();
        assert_eq!(kept, (4..20).collect::<Vec<_>>());
    }
}

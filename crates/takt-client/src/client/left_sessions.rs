//! Sessions that nobody could close, because their connections were lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_ua::structures::CreateSessionResponse;

use super::server_run::ServerRun;
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
    /// Response that created the session.
    pub(super) created: CreateSessionResponse,
    pub(super) run: ServerRun,
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

    /// Forgets the sessions of a server that has ended.
    pub(super) fn forget(&self, endpoint: &Endpoint) {
        self.all().retain(|left| left.endpoint != *endpoint);
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
    use takt_ua::NodeId;

    use super::*;

    #[test]
    fn sessions_are_those_of_their_server_and_not_without_limit() {
        let endpoint = |port: u16| -> Endpoint { format!("opc.tcp://plc:{port}").parse().unwrap() };
        let left = LeftSessions::default();
        let shared = left.clone();
        for number in 0..20_u32 {
            left.keep(Left {
                endpoint: endpoint(4840),
                created: CreateSessionResponse {
                    authentication_token: number.into(),
                    ..CreateSessionResponse::default()
                },
                run: ServerRun::begun(),
                ends_subscriptions: true,
            });
        }
        assert!(shared.take(&endpoint(4841)).is_none());
        let mut kept: Vec<_> = std::iter::from_fn(|| shared.take(&endpoint(4840))).collect();
        kept.sort_by_key(|one| one.created.authentication_token.clone());
        let tokens = kept.iter().map(|one| &one.created.authentication_token);
        let expected: Vec<NodeId> = (4..20_u32).map(NodeId::from).collect();
        assert!(tokens.eq(&expected));
    }
}

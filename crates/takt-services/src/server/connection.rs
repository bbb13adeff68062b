//! A transport's side of the server: one connection per secure channel or private shared-memory channel.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use takt_space::{Caller, Channel, Peer};
use takt_ua::request_handler::CompletionWaker;

use crate::identity::forwarded_user::ForwardedUser;
use crate::identity::users::Users;
use crate::responses::completed::Completed;
use crate::session::Session;

/// A secure channel, or a private channel in shared memory. The transport owns it and does not share it.
pub struct Connection {
    /// Number of the channel. Never 0, which stands for "no channel".
    pub(crate) channel: u64,
    pub(crate) endpoint_url: String,
    /// True if the channel may be used for discovery only.
    pub(crate) discovery_only: bool,
    /// The Session that the last request named.
    pub(crate) session: Option<Arc<Session>>,
    /// The caller of that Session, or of requests without one; or the user of a request that the client forwards.
    pub(crate) caller: Arc<Caller>,
    /// True if `caller` is the user of a forwarded request.
    is_forwarding: bool,
    pub(crate) completed: Arc<Completed>,
    /// Task of the request that is being handled, if it takes more than its first slice. The task has no message yet.
    pub(crate) begun: Cell<Option<Box<dyn Any + Send>>>,
}

impl Connection {
    pub(crate) fn new(channel: Channel, endpoint_url: String, waker: CompletionWaker) -> Self {
        Self {
            channel: channel.id,
            caller: Arc::new(Caller::of_channel(Arc::new(channel))),
            is_forwarding: false,
            endpoint_url,
            discovery_only: false,
            session: None,
            completed: Arc::new(Completed::new(waker)),
            begun: Cell::new(None),
        }
    }

    /// Takes the next response to a deferred request: its request id and the encoded message. After each call of the waker, the
    /// transport calls this until it returns `None`.
    pub fn take_completed(&mut self) -> Option<(u32, Vec<u8>)> {
        let completed = self.completed.take()?;
        // The response may be that of ActivateSession.
        if let Some(session) = &self.session {
            self.caller = session.caller.load_full();
            self.is_forwarding = false;
        }
        Some(completed)
    }

    /// Refuses Sessions: the channel has too little security for this endpoint, and is for discovery only
    /// (OPC 10000-4, 5.5.1).
    pub fn restrict_to_discovery(&mut self) {
        self.discovery_only = true;
    }

    /// Returns the process at the other end.
    pub fn peer(&self) -> &Peer {
        self.caller.peer()
    }

    /// Remembers the Session of the next requests.
    pub(crate) fn set_session(&mut self, session: Option<Arc<Session>>) {
        self.caller = match &session {
            Some(session) => session.caller.load_full(),
            None => Arc::new(Caller::of_channel(Arc::clone(&self.caller.channel))),
        };
        self.session = session;
        self.is_forwarding = false;
    }

    /// Returns true if the client forwarded the last request on behalf of a user.
    #[inline]
    pub(crate) fn is_forwarding(&self) -> bool {
        self.is_forwarding
    }

    /// Sets the caller of the next request: `user`, if the client forwards it, and the client itself otherwise.
    pub(crate) fn set_forwarded(
        &mut self,
        user: Option<&ForwardedUser>,
        users: Option<&dyn Users>,
    ) {
        if let Some(session) = &self.session {
            // Not `self.caller`: that may be the user of the request before.
            let client = session.caller.load_full();
            self.is_forwarding = user.is_some();
            self.caller = match user {
                Some(user) => user.caller(&client, users),
                None => client,
            };
        }
    }

    /// Returns true if the peer uses an activated Session.
    pub fn has_session(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.is_usable(self.channel))
    }

    /// Returns the URL of the endpoint that the peer connected to.
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Connection")
            .field("channel", &self.channel)
            .field("peer", self.peer())
            .field("endpoint_url", &self.endpoint_url)
            .finish_non_exhaustive()
    }
}

/// The number of open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections(AtomicUsize);

impl Connections {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

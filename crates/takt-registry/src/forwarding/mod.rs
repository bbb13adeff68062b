//! Forwarding of Reads, Writes and Calls to Providers, for clients that do not support `InteractionVia`.
//!
//! * [`Gateway`]: one for each Provider; takes requests from the server and returns at once.
//! * [`inbox`]: carries the requests to the thread of the gateway, which exists only while it is used.
//! * [`queue`]: decides which request is sent next and when the time of each is over, without clock or connection.
//! * [`connection`]: the thread, which sends several requests before it waits for responses, and answers all of them
//!   at once when the Provider is gone.
//! * [`operations`]: requests with the operations of clients, and the results in their responses.
//! * [`division`]: divides requests that the Provider refuses for their number of operations.
//! * [`naming`]: namespace indexes of the registry and of the server behind the gateway.
//! * [`last_values`]: values for the time when the Provider is gone.
//! * [`upstream`]: a server whose Events are forwarded ([`crate::events`]).
//!
//! A Provider that hangs delays only its own clients, up to their timeouts.

mod connection;
mod division;
mod inbox;
mod last_values;
mod naming;
mod operations;
mod queue;
mod upstream;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_app::Endpoint;
use takt_app::client::ClientOptions;
use takt_space::{RemoteRequest, RemoteSource, SourceKey};
use takt_ua::StatusCode;

use connection::Connection;
use inbox::Inbox;
use last_values::LastValues;
pub(crate) use last_values::ReadObserver;
pub(crate) use naming::{Maps, Naming, RegistrySpace};
pub(crate) use upstream::{DeclaredField, Upstream};

/// Gateway from the registry to one Provider.
pub(crate) struct Gateway {
    key: SourceKey,
    naming: Naming,
    options: ClientOptions,
    last_values: Arc<LastValues>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    endpoint: Option<Endpoint>,
    available: bool,
    /// Inbox of the thread, if there is one.
    inbox: Option<Arc<Inbox>>,
}

impl Gateway {
    /// Creates the gateway of a server whose namespaces have these URIs at the registry; it connects with these options.
    pub(crate) fn new(naming: Naming, options: ClientOptions) -> Self {
        Self {
            key: SourceKey::new(),
            naming,
            options,
            last_values: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Sets the endpoint of the Provider; a connection to another endpoint is closed.
    pub(crate) fn set_endpoint(&self, endpoint: Endpoint) {
        let mut state = self.state();
        if state.endpoint.as_ref() != Some(&endpoint) {
            state.endpoint = Some(endpoint);
            state.end();
        }
    }

    /// Lets an observer learn of all values that clients read there.
    pub(crate) fn observe_reads(&self, observer: Arc<dyn ReadObserver>) {
        self.last_values.observe(observer);
    }

    /// Returns the endpoint of the Provider, if it is known.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        self.state().endpoint.clone()
    }

    /// Returns the options of connections to the Provider.
    pub(crate) fn options(&self) -> &ClientOptions {
        &self.options
    }

    /// Returns whether the server can be reached, as far as the registry knows.
    pub(crate) fn is_available(&self) -> bool {
        self.state().available
    }

    /// Returns whether the Provider is reached over shared memory.
    pub(crate) fn has_shared_memory(&self) -> bool {
        self.state()
            .endpoint
            .as_ref()
            .is_some_and(Endpoint::is_shared_memory)
    }

    /// Sets whether the Provider is connected to the registry. If not, all requests are answered at once: the waiting
    /// ones by the gateway's thread, because the caller may hold locks that an answer needs.
    pub(crate) fn set_available(&self, available: bool) {
        let mut state = self.state();
        state.available = available;
        if !available {
            state.end();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave this state incomplete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request to the thread, which is started if there is none. Returns a request that cannot be passed.
    fn pass(&self, mut request: RemoteRequest) -> Result<(), (RemoteRequest, StatusCode)> {
        let mut state = self.state();
        let endpoint = match &state.endpoint {
            Some(endpoint) if state.available => endpoint.clone(),
            _ => return Err((request, StatusCode::BadNoCommunication)),
        };
        if let Some(inbox) = &state.inbox {
            match inbox.push(request) {
                Ok(()) => return Ok(()),
                // The thread has ended because it had nothing to do.
                Err(returned) => request = *returned,
            }
        }
        let Ok(inbox) = Inbox::new().map(Arc::new) else {
            return Err((request, StatusCode::BadOutOfMemory));
        };
        let thread = std::thread::Builder::new().name("gateway".to_owned());
        let started = thread.spawn({
            let (inbox, last_values) = (Arc::clone(&inbox), Arc::clone(&self.last_values));
            let (naming, options) = (self.naming.clone(), self.options.clone());
            move || Connection::new(&endpoint, options, naming, inbox, last_values).run()
        });
        if started.is_err() {
            return Err((request, StatusCode::BadOutOfMemory));
        }
        let passed = inbox.push(request);
        state.inbox = Some(inbox);
        passed.map_err(|request| (*request, StatusCode::BadInternalError))
    }
}

impl State {
    fn end(&mut self) {
        if let Some(inbox) = self.inbox.take() {
            inbox.end();
        }
    }
}

impl RemoteSource for Gateway {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        if let Err((request, status)) = self.pass(request) {
            let results = self.last_values.instead(&request.operations, status);
            request.reply.answer(results);
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.state().end();
    }
}

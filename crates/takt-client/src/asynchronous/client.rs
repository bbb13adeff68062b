//! A session for many concurrent requests.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_tcp::{AsyncResponse, AsyncTcpClient};
use takt_ua::NodeId;
use takt_ua::structures::{CloseSessionRequest, RequestHeader};

use super::transport::{AsyncTransport, exchange, failed};
use crate::client::{
    Batches, CLOSING, ClientOptions, Link, Requests, ServiceRequest, encode_message, is_repeatable,
    remaining, request_header, timed_out,
};
use crate::endpoint::Endpoint;
use crate::error::{ClientError, ConnectionError};

/// Pause between two attempts to connect, after the first attempt and after many.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A session with one server over `opc.tcp`, for asynchronous programs. Clones are the same session, and requests of all of
/// them are under way at the same time on one connection.
///
/// After a lost connection the next request opens another one and resumes the session there; a request that changes nothing is
/// sent once more. A future that is dropped gives its response up; the connection stays usable.
#[derive(Clone)]
pub struct AsyncClient {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    options: ClientOptions,
    link: Arc<tokio::sync::Mutex<Link<AsyncTransport>>>,
    current: Mutex<Option<Arc<Current>>>,
    /// Number of the connection whose session is of no more use.
    abandoned: AtomicU64,
    request_handle: AtomicU32,
    batches: Batches,
}

/// The connection and the session as they are used now.
pub(super) struct Current {
    client: Arc<AsyncTcpClient>,
    token: NodeId,
    pub(super) epoch: u64,
    pub(super) connections: u64,
}

impl AsyncClient {
    /// Connects to `endpoint` and opens a session. A server that is not there yet is waited for, up to the timeout.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the client. Shared memory (`opc.iox2://`) is refused.
    pub async fn connect(endpoint: &Endpoint, options: ClientOptions) -> Result<Self, ClientError> {
        let client = Self::new(endpoint, options);
        let deadline = client.deadline();
        let mut pause = SHORTEST_PAUSE;
        loop {
            match client.current(deadline).await {
                Ok(_) => return Ok(client),
                Err(error) if !error.is_connection() => return Err(error),
                Err(error) if Instant::now() + pause >= deadline => return Err(error),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Creates a client that connects with its first request.
    #[must_use]
    pub fn new(endpoint: &Endpoint, options: ClientOptions) -> Self {
        let link = Link {
            resumes: true,
            ..Link::default()
        };
        Self {
            shared: Arc::new(Shared {
                endpoint: endpoint.clone(),
                options,
                link: Arc::new(tokio::sync::Mutex::new(link)),
                current: Mutex::new(None),
                abandoned: AtomicU64::new(0),
                request_handle: AtomicU32::new(0),
                batches: Batches::default(),
            }),
        }
    }

    /// Returns the endpoint of this client.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// Returns the options of this client.
    #[must_use]
    pub fn options(&self) -> &ClientOptions {
        &self.shared.options
    }

    /// Returns whether a session is open, as far as this side knows.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.open_now().is_some()
    }

    /// Returns the number of sessions so far. Information from the server, its NamespaceArray for example, is valid for one epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.last().map_or(0, |current| current.epoch)
    }

    /// Sends `request` and waits for its response.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn call<Q: ServiceRequest>(
        &self,
        mut request: Q,
    ) -> Result<Q::Response, ClientError> {
        let deadline = self.deadline();
        let error = match self.call_once(&mut request, deadline).await {
            Err(error) if is_repeatable::<Q>(&error) && Instant::now() < deadline => error,
            other => return other,
        };
        tracing::debug!(endpoint = %self.endpoint(), %error, "the request is sent once more");
        self.call_once(&mut request, deadline).await
    }

    /// Closes the session and the connection, and waits until the server has answered. The next request opens new ones.
    pub async fn close(&self) {
        let mut link = self.shared.link.lock().await;
        // New requests find no session, and wait for the lock.
        self.shared.set_current(None);
        if let Some(transport) = link.close(self.endpoint(), self.options()).await {
            transport.client().close();
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        after(Instant::now(), self.shared.options.timeout)
    }

    async fn call_once<Q: ServiceRequest>(
        &self,
        request: &mut Q,
        deadline: Instant,
    ) -> Result<Q::Response, ClientError> {
        let current = self.current(deadline).await?;
        let timeout = remaining(deadline);
        self.address(request, &current, timeout);
        let to = (self.endpoint(), self.options().limits());
        let result = exchange(to, &current.client, request, timeout).await;
        match &result {
            Err(error) if error.is_session_lost() => self.abandon(&current),
            // After a response that cannot be decoded, nothing of this connection can be relied on.
            Err(ClientError::Protocol { .. }) => self.abandon(&current),
            _ => {}
        }
        result
    }

    /// Writes the header of a request.
    fn address<Q: ServiceRequest>(&self, request: &mut Q, current: &Current, timeout: Duration) {
        let handle = self.shared.request_handle.fetch_add(1, Ordering::Relaxed);
        let header = request.header_mut();
        *header = RequestHeader {
            additional_header: std::mem::take(&mut header.additional_header),
            ..request_header(&current.token, handle, timeout)
        };
    }

    /// Sends `request` on the open connection, without waiting.
    pub(super) fn send<Q: ServiceRequest>(
        &self,
        mut request: Q,
        timeout_hint: Duration,
    ) -> Result<AsyncResponse, ClientError> {
        let current = self
            .open_now()
            .ok_or_else(|| ClientError::closed(self.endpoint(), ConnectionError::NoSession))?;
        self.address(&mut request, &current, timeout_hint);
        let sent = current
            .client
            .send(|encoder| encode_message(&request, encoder));
        sent.map_err(|error| failed(self.endpoint(), timeout_hint, error))
    }

    /// Returns the session, and opens one if there is none. Of concurrent callers one opens it, and the others wait.
    pub(super) async fn current(&self, deadline: Instant) -> Result<Arc<Current>, ClientError> {
        if let Some(current) = self.open_now() {
            return Ok(current);
        }
        let timeout = remaining(deadline);
        let opened = async {
            let link = Arc::clone(&self.shared.link).lock_owned().await;
            // Another caller may have opened it while this one waited for the lock.
            if let Some(current) = self.open_now() {
                return Ok(current);
            }
            // The attempt goes on if this future is dropped, so that futures with short lives do not stop it.
            let opening = tokio::spawn(self.clone().reopen(link, deadline));
            opening
                .await
                .unwrap_or_else(|_| Err(self.without_session()))
        };
        let opened = tokio::time::timeout(timeout, opened).await;
        opened.unwrap_or_else(|_| Err(timed_out(self.endpoint(), timeout)))
    }

    async fn reopen(
        self,
        mut link: tokio::sync::OwnedMutexGuard<Link<AsyncTransport>>,
        deadline: Instant,
    ) -> Result<Arc<Current>, ClientError> {
        let shared = &*self.shared;
        link.disconnect(self.endpoint(), self.options());
        // An abandoned session is closed, so it cannot be resumed.
        if link.connections == shared.abandoned.load(Ordering::Relaxed) {
            link.lost = None;
        }
        let epoch = link.epoch;
        link.open(&shared.endpoint, &shared.options, deadline)
            .await?;
        if link.epoch != epoch {
            shared.batches.reset();
        }
        let Some((transport, session)) = &link.connected else {
            return Err(self.without_session());
        };
        let current = Arc::new(Current {
            client: Arc::clone(transport.client()),
            token: session.authentication_token().clone(),
            epoch: link.epoch,
            connections: link.connections,
        });
        shared.set_current(Some(Arc::clone(&current)));
        Ok(current)
    }

    fn without_session(&self) -> ClientError {
        ClientError::unreachable(self.endpoint(), ConnectionError::NoSession)
    }

    /// Returns the last session, open or not.
    pub(super) fn last(&self) -> Option<Arc<Current>> {
        let current = self.shared.current.lock();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn open_now(&self) -> Option<Arc<Current>> {
        self.last().filter(|current| current.client.is_open())
    }

    /// Gives up a connection, but not its session.
    pub(super) fn disconnect(&self) {
        if let Some(current) = self.last() {
            current.client.close();
        }
    }

    /// Gives up a connection, and closes its session without waiting for the answer.
    pub(super) fn abandon(&self, current: &Current) {
        let number = current.connections;
        // Not a store: a late error of an older connection must not replace the number of a newer one.
        self.shared.abandoned.fetch_max(number, Ordering::Relaxed);
        let request = CloseSessionRequest {
            request_header: request_header(&current.token, 3, CLOSING),
            delete_subscriptions: true,
        };
        let _ = current
            .client
            .send(|encoder| encode_message(&request, encoder));
        current.client.close();
    }
}

impl Shared {
    fn set_current(&self, current: Option<Arc<Current>>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
    }
}

impl Drop for Shared {
    /// Closes the session without waiting for the answer.
    fn drop(&mut self) {
        let Some(link) = Arc::get_mut(&mut self.link) else {
            return;
        };
        let link = link.get_mut();
        link.leave(&self.endpoint, &self.options);
        if let Some((transport, session)) = link.connected.take() {
            let request = session.close_request(CLOSING);
            let _ = transport
                .client()
                .send(|encoder| encode_message(&request, encoder));
            transport.client().close();
        }
    }
}

impl Requests for AsyncClient {
    fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    fn batches(&self) -> &Batches {
        &self.shared.batches
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        Self::call(self, request).await
    }
}

//! The client's loop for asynchronous programs: many requests at a time on one connection, driven by the runtime tokio.
//!
//! [`ClientConnection`] has the protocol, as for the blocking [`TcpClient`](crate::TcpClient). One task for each connection
//! moves bytes and renews the security token; it sleeps until there are bytes, a new request, or a renewal that is due.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use takt_ua::binary::{EncodeError, Encoder};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};

use crate::client_connection::{ClientConnection, ClientEvent};
use crate::client_error::TcpClientError;
use crate::config::ClientConnectionConfig;
use crate::error::TransportError;
use takt_ua::endpoint_url::EndpointUrl;

/// Number of unsent bytes from which on [`AsyncTcpClient::room`] waits.
const MOST_UNSENT: usize = 1 << 20;

/// Body of a response: TypeId and structure.
type Answer = Result<Vec<u8>, TcpClientError>;

/// A connection with an open SecureChannel to an opc.tcp server of any vendor, for asynchronous programs.
///
/// Dropping it closes the channel; requests without a response end with [`TransportError::Closed`]. It has to be created
/// within a runtime of tokio, whose task drives it until then.
#[derive(Debug)]
pub struct AsyncTcpClient {
    shared: Arc<Shared>,
    url: EndpointUrl,
}

#[derive(Debug)]
struct Shared {
    socket: TcpStream,
    state: Mutex<State>,
    /// Wakes the task: there are bytes to be sent, or the connection has ended.
    work: Notify,
    /// Wakes those that wait for room, for the opened channel, or for the end.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    machine: ClientConnection,
    /// Requests without a response.
    waiting: HashMap<u32, oneshot::Sender<Answer>>,
    ended: Option<TransportError>,
}

impl AsyncTcpClient {
    /// Connects and opens a SecureChannel, within `timeout`.
    ///
    /// # Errors
    /// [`TcpClientError`]; a server's refusal is a [`TransportError::Peer`].
    pub async fn connect(
        url: &EndpointUrl,
        config: ClientConnectionConfig,
        timeout: Duration,
    ) -> Result<Self, TcpClientError> {
        let opened = tokio::time::timeout(timeout, Self::open(url, config)).await;
        opened.unwrap_or(Err(TcpClientError::Timeout))
    }

    async fn open(
        url: &EndpointUrl,
        config: ClientConnectionConfig,
    ) -> Result<Self, TcpClientError> {
        let socket = connect_socket(url).await;
        let socket = socket.map_err(|error| TcpClientError::Connect {
            url: url.clone(),
            error,
        })?;
        let client = Self {
            shared: Arc::new(Shared {
                socket,
                state: Mutex::new(State {
                    machine: ClientConnection::new(config, &url.to_string()),
                    waiting: HashMap::new(),
                    ended: None,
                }),
                work: Notify::new(),
                changed: Notify::new(),
            }),
            url: url.clone(),
        };
        // If the timeout drops this future, `client` is dropped, which ends the task.
        tokio::spawn(Driver(Arc::clone(&client.shared)).run());
        client.until(|state| state.machine.is_open()).await?;
        Ok(client)
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// Returns whether requests can be sent, as far as the client knows.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let state = self.shared.state();
        state.ended.is_none() && state.machine.is_open()
    }

    /// Waits until few enough bytes are unsent, so that a server that does not read bounds the memory of this side.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn room(&self) -> Result<(), TcpClientError> {
        self.until(|state| state.machine.transmit().len() < MOST_UNSENT)
            .await
    }

    /// Sends the request (TypeId and structure) that `encode` writes. The response may be dropped; the request is executed
    /// nevertheless, and the connection stays usable.
    ///
    /// # Errors
    /// [`TcpClientError`]; nothing is sent then.
    pub fn send(
        &self,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<AsyncResponse, TcpClientError> {
        let mut state = self.shared.state();
        if let Some(error) = &state.ended {
            return Err(error.clone().into());
        }
        // The timer of the driver may be late: a renewal that is due goes out before the request.
        if let Err(error) = state.machine.handle_timeout(Instant::now()) {
            self.shared.end(&mut state, &error);
            return Err(error.into());
        }
        let id = state.machine.request(encode)?;
        let (sender, receiver) = oneshot::channel();
        // The lock is still held: the driver cannot pass the response on before its receiver is registered.
        state.waiting.insert(id, sender);
        // A lone request is sent at once; requests of many tasks are sent together by the driver.
        let is_lone = state.waiting.len() == 1;
        let is_sent = is_lone && self.shared.flush(&mut state).is_ok();
        // After a failed send the driver fails as well, and ends the connection for all requests.
        if !is_sent || !state.machine.transmit().is_empty() {
            self.shared.work.notify_one();
        }
        drop(state);
        Ok(AsyncResponse {
            shared: Arc::clone(&self.shared),
            id,
            receiver,
        })
    }

    /// Closes the channel. Requests without a response end with [`TransportError::Closed`].
    pub fn close(&self) {
        let mut state = self.shared.state();
        if state.ended.is_none() {
            state.machine.close();
            // Unsent bytes are not waited for: the server sees the socket close.
            let _ = self.shared.flush(&mut state);
            self.shared.end(&mut state, &TransportError::Closed);
        }
    }

    /// Waits until a condition holds.
    async fn until(&self, condition: impl Fn(&State) -> bool) -> Result<(), TcpClientError> {
        loop {
            let mut changed = pin!(self.shared.changed.notified());
            // Before the look at the state: `notify_waiters` keeps nothing for those that register later.
            changed.as_mut().enable();
            {
                let state = self.shared.state();
                if let Some(error) = &state.ended {
                    return Err(error.clone().into());
                }
                if condition(&state) {
                    return Ok(());
                }
            }
            changed.await;
        }
    }
}

impl Drop for AsyncTcpClient {
    fn drop(&mut self) {
        self.close();
    }
}

/// The response to a request of an [`AsyncTcpClient`]: a future of its body, TypeId and structure, possibly a ServiceFault.
/// Dropping it gives the response up.
#[derive(Debug)]
pub struct AsyncResponse {
    shared: Arc<Shared>,
    id: u32,
    receiver: oneshot::Receiver<Answer>,
}

impl Future for AsyncResponse {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let answered = Pin::new(&mut self.receiver).poll(context);
        answered.map(|answer| answer.unwrap_or(Err(TransportError::Closed.into())))
    }
}

impl Drop for AsyncResponse {
    fn drop(&mut self) {
        // A response may never come; its entry would stay as long as the connection.
        self.shared.state().waiting.remove(&self.id);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the bytes for which there is room.
    fn flush(&self, state: &mut State) -> Result<(), TransportError> {
        while !state.machine.transmit().is_empty() {
            match self.socket.try_write(state.machine.transmit()) {
                Ok(count) => state.machine.transmitted(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(TransportError::Closed),
            }
        }
        Ok(())
    }

    /// Ends the connection with an error for all requests without a response.
    fn end(&self, state: &mut State, error: &TransportError) {
        // The first reason stays: the end of the driver's task comes here again, with `Closed`.
        state.ended.get_or_insert_with(|| error.clone());
        for (_, waiting) in state.waiting.drain() {
            let _ = waiting.send(Err(error.clone().into()));
        }
        // Unlike `notify_waiters`, this is kept if the driver does not wait at the moment.
        self.work.notify_one();
        self.changed.notify_waiters();
    }

    /// Receives the bytes that are there, and passes responses on.
    fn receive(&self, state: &mut State) -> Result<(), TransportError> {
        loop {
            // First, because complete responses can fill the buffer: a read into no space would look like the end.
            while self.dispatch(state)? {}
            match self.socket.try_read(state.machine.receive_space()) {
                Ok(count) if count > 0 => state.machine.received(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return Err(TransportError::Closed),
            }
        }
    }

    /// Handles one event of the connection; returns false if there is none.
    fn dispatch(&self, state: &mut State) -> Result<bool, TransportError> {
        let waiting = &mut state.waiting;
        match state.machine.poll(Instant::now())? {
            None => return Ok(false),
            Some(ClientEvent::Opened) => self.changed.notify_waiters(),
            Some(ClientEvent::Response { request_id, body }) => {
                // Nobody waits for a response that was given up.
                if let Some(sender) = waiting.remove(&request_id) {
                    let _ = sender.send(Ok(body.to_vec()));
                }
            }
            Some(ClientEvent::Aborted {
                request_id,
                status,
                reason,
            }) => {
                if let Some(sender) = waiting.remove(&request_id) {
                    let _ = sender.send(Err(TcpClientError::Aborted {
                        request_id,
                        status,
                        reason,
                    }));
                }
            }
        }
        Ok(true)
    }
}

/// The task of a connection.
struct Driver(Arc<Shared>);

impl Driver {
    async fn run(self) {
        let shared = &*self.0;
        loop {
            let (timeout, has_bytes) = {
                let state = shared.state();
                if state.ended.is_some() {
                    return;
                }
                let machine = &state.machine;
                (machine.next_timeout(), !machine.transmit().is_empty())
            };
            tokio::select! {
                _ = shared.socket.readable() => {}
                // A socket is nearly always writable: without bytes to send, this task would never sleep.
                _ = shared.socket.writable(), if has_bytes => {}
                () = shared.work.notified() => {}
                () = sleep_until(timeout), if timeout.is_some() => {}
            }
            let mut state = shared.state();
            if state.ended.is_some() {
                return;
            }
            let was_full = state.machine.transmit().len() >= MOST_UNSENT;
            let received = shared.receive(&mut state);
            let tended = received.and_then(|()| state.machine.handle_timeout(Instant::now()));
            if let Err(error) = tended.and_then(|()| shared.flush(&mut state)) {
                // The reason of an end is sent, if there is one.
                let _ = shared.flush(&mut state);
                return shared.end(&mut state, &error);
            }
            // Tasks that wait for room are woken at this change only, not after each send.
            if was_full && state.machine.transmit().len() < MOST_UNSENT {
                shared.changed.notify_waiters();
            }
        }
    }
}

impl Drop for Driver {
    /// Ends the connection, also if the runtime ends before it.
    fn drop(&mut self) {
        let mut state = self.0.state();
        self.0.end(&mut state, &TransportError::Closed);
    }
}

async fn sleep_until(timeout: Option<Instant>) {
    if let Some(at) = timeout {
        tokio::time::sleep_until(at.into()).await;
    }
}

async fn connect_socket(url: &EndpointUrl) -> io::Result<TcpStream> {
    let resolved = url.clone();
    // The resolver of the system waits.
    let addresses = tokio::task::spawn_blocking(move || resolved.resolve()).await;
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses.unwrap_or_else(|error| Err(io::Error::other(error)))? {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                // A request must not wait for the acknowledgement of the one before.
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

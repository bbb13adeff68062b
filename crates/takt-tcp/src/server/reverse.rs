//! Connections that the server opens (OPC 10000-6, 7.1.3): one of them waits at each configured client.
//!
//! One thread for each client resolves its name and connects, which may take long. It sleeps while its connection waits
//! for the client's Hello.

use std::io;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use takt_rt::readiness::Waker;

use crate::reverse_hello::{ReverseHello, ReverseOutcome, ReversePauses};
use takt_ua::endpoint_url::EndpointUrl;

/// Time limit of an attempt to connect to one address of a client.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Clients to which a server connects, and the ReverseHello that it sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseConnect {
    /// ServerUri and EndpointUrl.
    pub hello: ReverseHello,
    /// Addresses at which the clients listen.
    pub clients: Vec<EndpointUrl>,
}

/// Connections to the configured clients.
pub(super) struct ReverseConnections {
    hello: ReverseHello,
    clients: Vec<ReverseClient>,
    established: Arc<Established>,
}

/// A client, its thread, and the connection that waits there.
struct ReverseClient {
    outcome: Sender<ReverseOutcome>,
    waiting: Option<u64>,
}

/// Sockets that the threads have connected, with the positions of their clients.
struct Established {
    sockets: Mutex<Vec<(usize, TcpStream)>>,
    waker: Waker,
}

impl ReverseConnections {
    /// Starts to connect to all clients. The descriptor of the result tells when there are connections to be taken.
    pub(super) fn start(configuration: ReverseConnect) -> io::Result<Self> {
        let established = Arc::new(Established {
            sockets: Mutex::default(),
            waker: Waker::new()?,
        });
        let mut clients = Vec::new();
        for (position, url) in configuration.clients.into_iter().enumerate() {
            let (outcome, outcomes) = channel();
            let established = Arc::clone(&established);
            std::thread::Builder::new()
                .name("reverse-connect".to_owned())
                .spawn(move || keep_connected(&url, position, &established, &outcomes))?;
            clients.push(ReverseClient {
                outcome,
                waiting: None,
            });
        }
        Ok(Self {
            hello: configuration.hello,
            clients,
            established,
        })
    }

    /// Takes the sockets that the threads have connected, with the positions of their clients.
    pub(super) fn take(&self) -> Vec<(usize, TcpStream)> {
        // Before the sockets are taken: a thread that adds one after that wakes the server again.
        self.established.waker.drain();
        let sockets = self.established.sockets.lock();
        std::mem::take(&mut *sockets.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the ReverseHello of all connections.
    pub(super) fn hello(&self) -> ReverseHello {
        self.hello.clone()
    }

    /// Notes the connection that waits at a client.
    pub(super) fn waits(&mut self, position: usize, id: u64) {
        if let Some(client) = self.clients.get_mut(position) {
            client.waiting = Some(id);
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.established.waker.as_fd()
    }

    /// Tells the thread of a client that its connection is used or has ended.
    pub(super) fn end(&mut self, position: usize, outcome: ReverseOutcome) {
        if let Some(client) = self.clients.get_mut(position) {
            client.waiting = None;
            // The thread ends only with this server.
            let _ = client.outcome.send(outcome);
        }
    }

    /// Looks at a connection after it was served; `has_said_hello` is `None` if it has ended.
    pub(super) fn settled(&mut self, id: u64, has_said_hello: Option<bool>) {
        let outcome = match has_said_hello {
            Some(false) => return,
            Some(true) => ReverseOutcome::Used,
            None => ReverseOutcome::Unused,
        };
        let mut clients = self.clients.iter();
        if let Some(position) = clients.position(|client| client.waiting == Some(id)) {
            self.end(position, outcome);
        }
    }
}

/// Connects, waits until the connection is used or has ended, and connects again, until the server ends.
fn keep_connected(
    url: &EndpointUrl,
    position: usize,
    established: &Established,
    outcomes: &Receiver<ReverseOutcome>,
) {
    let mut pauses = ReversePauses::default();
    let mut is_away = false;
    loop {
        let outcome = match connect(url) {
            Ok(socket) => {
                let sockets = established.sockets.lock();
                sockets
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((position, socket));
                established.waker.wake();
                match outcomes.recv() {
                    Ok(outcome) => outcome,
                    Err(_) => return,
                }
            }
            Err(error) => {
                // Once, until the client uses a connection: it may be away for days.
                if !is_away {
                    tracing::warn!(client = %url, %error, "cannot connect to the client: trying again");
                }
                is_away = true;
                ReverseOutcome::Unused
            }
        };
        if outcome == ReverseOutcome::Used {
            is_away = false;
        }
        let mut random = [0; 4];
        // Without random numbers there is no jitter.
        let _ = getrandom::fill(&mut random);
        let pause = pauses.next(outcome, u32::from_ne_bytes(random));
        // A sleep that the end of the server interrupts.
        if outcomes.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn connect(url: &EndpointUrl) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in url.resolve()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(socket) => {
                socket.set_nonblocking(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

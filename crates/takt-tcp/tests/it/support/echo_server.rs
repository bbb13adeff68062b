//! A server on loopback whose only service is an echo, at once or deferred.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_rt::readiness::Events;
use takt_tcp::{ChannelDescription, EndpointUrl, TcpChannels, TcpPeer, TcpServer, TcpServerConfig};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

/// Prefix of bodies that are answered by another thread.
pub(crate) const LATER: &[u8] = b"later";

/// Body that is answered by another thread once it is [released](EchoServer::release).
pub(crate) const HELD: &[u8] = b"later, when released";

/// Body after which a connection of a server [without Sessions](EchoServer::without_sessions) counts as a connection
/// with a Session.
pub(crate) const ACTIVATE: &[u8] = b"activate";

#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) channels: Arc<AtomicUsize>,
    gate: Arc<Gate>,
    /// True if connections have a Session only after [`ACTIVATE`], not from the start.
    needs_activation: bool,
}

#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_while(is_open, |is_open| !*is_open));
    }
}

pub(crate) struct EchoConnection {
    waker: CompletionWaker,
    completed: Arc<Completed>,
    has_session: bool,
}

type Completed = Mutex<VecDeque<(u32, Vec<u8>)>>;

impl RequestHandler for Echo {
    type Connection = EchoConnection;

    fn handle(
        &self,
        connection: &mut EchoConnection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        connection.has_session |= request == ACTIVATE;
        if !request.starts_with(LATER) {
            if response.bytes(request).is_err() {
                response.truncate(0);
            }
            return RequestOutcome::Complete;
        }
        let (waker, body) = (Arc::clone(&connection.waker), request.to_vec());
        let completed = Arc::clone(&connection.completed);
        let held = (request == HELD).then(|| Arc::clone(&self.gate));
        std::thread::spawn(move || {
            match held {
                Some(gate) => gate.pass(),
                None => std::thread::sleep(Duration::from_millis(100)),
            }
            completed.lock().unwrap().push_back((request_id, body));
            waker();
        });
        RequestOutcome::Deferred
    }

    fn take_completed(&self, connection: &mut EchoConnection) -> Option<(u32, Vec<u8>)> {
        connection.completed.lock().unwrap().pop_front()
    }

    fn disconnect(&self, _connection: EchoConnection) {
        self.channels.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TcpChannels for Echo {
    fn connect(
        &self,
        _peer: TcpPeer,
        _channel: ChannelDescription<'_>,
        waker: CompletionWaker,
    ) -> EchoConnection {
        self.channels.fetch_add(1, Ordering::SeqCst);
        EchoConnection {
            waker,
            completed: Arc::default(),
            has_session: !self.needs_activation,
        }
    }

    fn has_session(&self, connection: &EchoConnection) -> bool {
        connection.has_session
    }
}

/// A server on a thread of its own, ended when dropped.
pub(crate) struct EchoServer {
    pub(crate) url: EndpointUrl,
    /// Open channels.
    pub(crate) channels: Arc<AtomicUsize>,
    /// Open connections.
    pub(crate) connections: Arc<AtomicUsize>,
    gate: Arc<Gate>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl EchoServer {
    /// Starts a server whose connections have a Session from the start.
    pub(crate) fn start(config: TcpServerConfig) -> Self {
        Self::with(config, Echo::default())
    }

    /// Starts a server whose connections have a Session only after [`ACTIVATE`].
    pub(crate) fn without_sessions(config: TcpServerConfig) -> Self {
        let needs_activation = true;
        let echo = Echo {
            needs_activation,
            ..Echo::default()
        };
        Self::with(config, echo)
    }

    fn with(config: TcpServerConfig, echo: Echo) -> Self {
        let url = "opc.tcp://127.0.0.1:0".parse().unwrap();
        let mut server = TcpServer::bind(&url, config, echo).unwrap();
        let url = server.url().clone();
        let channels = Arc::clone(&server.handler().channels);
        let gate = Arc::clone(&server.handler().gate);
        let connections = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&connections));
        let thread = std::thread::spawn(move || {
            let mut events = Events::with_capacity(16);
            while !stopped.load(Ordering::Relaxed) {
                server
                    .turn(&mut events, Some(Duration::from_millis(5)))
                    .unwrap();
                counted.store(server.connection_count(), Ordering::SeqCst);
            }
        });
        Self {
            url,
            channels,
            connections,
            gate,
            stop,
            thread: Some(thread),
        }
    }

    /// Releases the held responses, and those that follow.
    pub(crate) fn release(&self) {
        self.gate.open();
    }

    /// Returns a plain TCP connection.
    pub(crate) fn raw(&self) -> TcpStream {
        let stream = TcpStream::connect((self.url.host(), self.url.port())).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream.set_write_timeout(patience).unwrap();
        stream
    }

    /// Waits until all connections are closed.
    pub(crate) fn wait_until_empty(&self) {
        for _ in 0..12_000 {
            if self.connections.load(Ordering::SeqCst) == 0 {
                assert_eq!(self.channels.load(Ordering::SeqCst), 0);
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("connections are left");
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(std::thread::panicking() || joined.is_ok());
        }
    }
}

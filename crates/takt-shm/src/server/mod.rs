//! The server: one thread that serves the public services and any number of channels.

mod channel;
mod completed;
mod connections;
mod opening;
mod public;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use iceoryx2::prelude::Node;
use takt_rt::readiness::{Interest, Readiness, key_id, tagged_key};

use crate::address::ApplicationName;
use crate::clean::Cleaner;
use crate::error::ShmError;
use crate::handler::Handler;
use crate::name_lock::NameLock;
use crate::pooled_ipc::PooledIpc;
use crate::runtime::Runtime;
use crate::server::completed::Completed;
use crate::server::connections::{Connections, Event, Slot};
use crate::server::opening::Opening;
use crate::server::public::Public;
use crate::wait::WaitPolicy;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// How the loop that drives the server waits. With [`WaitPolicy::Spin`] clients are told not to ring: the loop must then
    /// call [`ShmServer::turn`] all the time, and [`Readiness::wait`] now and then.
    pub wait: WaitPolicy,
    /// How many clients can be connected at a time; each takes three file descriptors.
    pub max_connections: usize,
    /// The longest request, in bytes.
    pub max_request: u32,
    /// The longest response, in bytes.
    pub max_response: u32,
    /// Whether to offer the public services, or channels alone.
    pub public_services: bool,
    /// Another runtime directory than the usual one.
    pub runtime_directory: Option<PathBuf>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            wait: WaitPolicy::default(),
            max_connections: 256,
            max_request: 64 << 20,
            max_response: 64 << 20,
            public_services: true,
            runtime_directory: None,
        }
    }
}

/// At most so many requests of one channel are answered before others have their turn.
const BATCH: usize = 8;

/// How often to try for a name that another process may be cleaning up.
const NAME_ATTEMPTS: u32 = 5;

/// Serves an application's endpoint `opc.iox2://<ApplicationName>`.
///
/// It has no thread. Its descriptors are in a [`Readiness`] that it may share with other transports; whoever waits there calls
/// [`ready`](Self::ready) for each event that carries its tag. A loop that spins calls [`turn`](Self::turn) in between.
///
/// Dropping it closes all channels and removes every trace of it from the system.
pub struct ShmServer<H: Handler> {
    // The order matters when the server is dropped: ports before the node, the node before the name and the directory.
    connections: Connections<H::Connection>,
    public: Option<Public<H::Connection>>,
    node: Node<PooledIpc>,
    name: ApplicationName,
    _name_lock: NameLock,
    cleaner: Cleaner,
    handler: H,
    config: ServerConfig,
    readiness: Arc<Readiness>,
    tag: u8,
    completed: Completed,
    /// A request, copied away from its client.
    scratch: Vec<u8>,
    _runtime: Arc<Runtime>,
}

impl<H: Handler> ShmServer<H> {
    /// Takes the name and offers the services. Descriptors are added to `readiness` under `tag`.
    ///
    /// # Errors
    /// [`ShmError::NameInUse`] if a running application has the name; others if the system or iceoryx2 refuses something.
    pub fn new(
        name: ApplicationName,
        handler: H,
        readiness: &Arc<Readiness>,
        tag: u8,
        config: ServerConfig,
    ) -> Result<Self, ShmError> {
        let runtime = Runtime::open(config.runtime_directory.as_deref())?;
        let name_lock = take_name(&runtime, &name)?;
        let node = runtime.node(name.as_str())?;
        let completed = Completed::new()?;
        let connection = handler.connect(None, &name, completed.for_handler());
        let public = Public::new(
            &node,
            &name,
            config.public_services,
            config.max_request,
            config.max_response,
            connection,
        )?;
        let add = |descriptor, event: Event| {
            readiness
                .add(descriptor, tagged_key(tag, event.to_id()), Interest::READ)
                .map_err(|e| ShmError::io("wait for a descriptor", e))
        };
        add(public.descriptor(), Event::Public)?;
        add(completed.waker.as_fd(), Event::Completed)?;
        // Last: who finds the socket finds everything else.
        let connections = Connections::listen(name_lock.socket(), config.max_connections)?;
        add(connections.listener(), Event::Listener)?;
        Ok(Self {
            connections,
            public: Some(public),
            node,
            name,
            _name_lock: name_lock,
            cleaner: Cleaner::new(&runtime, completed.for_handler()),
            handler,
            config,
            readiness: Arc::clone(readiness),
            tag,
            completed,
            scratch: Vec::new(),
            _runtime: runtime,
        })
    }

    /// The name under which it is found.
    #[must_use]
    pub fn name(&self) -> &ApplicationName {
        &self.name
    }

    /// How many channels are open.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.connections.channels()
    }

    /// The handler.
    #[must_use]
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// Does what an event on one of its descriptors asks for; `key` is the event's. Says how many requests were answered.
    pub fn ready(&mut self, key: u64) -> usize {
        match Event::from_id(key_id(key)) {
            Some(Event::Listener) => {
                self.accept();
                0
            }
            Some(Event::Public) => self.serve_public(),
            Some(Event::Completed) => {
                self.completed.waker.drain();
                self.complete()
            }
            Some(Event::Socket(slot)) => {
                self.socket_ready(slot);
                0
            }
            Some(Event::Doorbell(slot)) => self.doorbell(slot),
            None => 0,
        }
    }

    /// Looks at every channel once, without a system call, and says how many requests were answered.
    pub fn turn(&mut self) -> usize {
        let mut answered = 0;
        if self.completed.flag.load(Ordering::Relaxed) {
            answered += self.complete();
        }
        for index in 0..self.connections.channels() {
            if let Some(slot) = self.connections.channel_slot(index) {
                answered += usize::from(self.poll(slot).unwrap_or(false));
            }
        }
        answered
    }

    fn accept(&mut self) {
        let Self {
            connections,
            readiness,
            tag,
            ..
        } = self;
        connections.accept(|descriptor, event| {
            let key = tagged_key(*tag, event.to_id());
            readiness.add(descriptor, key, Interest::READ).is_ok()
        });
        // Some may have had to make room.
        while let Some(connection) = self.connections.take_evicted() {
            self.finish(connection);
        }
    }

    fn doorbell(&mut self, slot: Slot) -> usize {
        let Some(connection) = self.connections.get(slot) else {
            return 0;
        };
        connection.doorbell.drain();
        let mut answered = 0;
        while answered < BATCH {
            match self.poll(slot) {
                Some(true) => answered += 1,
                _ => return answered,
            }
        }
        // There may be more: come back after the others.
        if let Some(connection) = self.connections.get(slot) {
            connection.doorbell.wake();
        }
        answered
    }

    /// Answers one request of a channel; `None` if the channel is closed, maybe by this.
    fn poll(&mut self, slot: Slot) -> Option<bool> {
        let connection = self.connections.get(slot)?;
        let client = &connection.client;
        let channel = connection.channel.as_mut()?;
        match channel.poll(&self.handler, &mut self.scratch, client) {
            Ok(answered) => Some(answered),
            Err(error) => {
                tracing::warn!(application = %self.name, %error, "closing a channel");
                self.close(slot);
                None
            }
        }
    }

    fn complete(&mut self) -> usize {
        // Before looking: what becomes ready meanwhile sets it again.
        self.completed.flag.store(false, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::SeqCst);
        let mut completed = 0;
        let mut index = 0;
        while let Some(slot) = self.connections.channel_slot(index) {
            index += 1;
            let Some(connection) = self.connections.get(slot) else {
                continue;
            };
            let client = &connection.client;
            let Some(channel) = connection.channel.as_mut() else {
                continue;
            };
            match channel.complete(&self.handler, client) {
                Ok(any) => completed += usize::from(any),
                Err(error) => {
                    tracing::warn!(application = %self.name, %error, "closing a channel");
                    self.close(slot);
                    // Another channel has taken its place in the list.
                    index -= 1;
                }
            }
        }
        if let Some(public) = &mut self.public {
            completed += usize::from(public.complete(&self.handler));
        }
        self.forget_clients();
        completed
    }

    fn serve_public(&mut self) -> usize {
        let Some(mut public) = self.public.take() else {
            return 0;
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        let handler = &self.handler;
        let opening = Opening {
            node: &self.node,
            name: &self.name,
            config: &self.config,
            completed: &self.completed,
        };
        let connections = &mut self.connections;
        let handled = public.poll(handler, &mut scratch, |wanted| {
            opening.open(handler, connections, wanted)
        });
        self.scratch = scratch;
        self.public = Some(public);
        handled
    }

    fn socket_ready(&mut self, slot: Slot) {
        match self.connections.ending(slot) {
            crate::socket::Ending::None => {}
            crate::socket::Ending::Goodbye => self.close(slot),
            crate::socket::Ending::Abrupt => {
                self.close(slot);
                self.cleaner.start();
            }
        }
    }

    fn close(&mut self, slot: Slot) {
        if let Some(connection) = self.connections.remove(slot) {
            self.finish(connection);
        }
        self.forget_clients();
    }

    /// Lets go of the clients of public services that have gone: iceoryx2 does so only when it looks for requests.
    fn forget_clients(&mut self) {
        self.serve_public();
    }

    fn finish(&mut self, connection: connections::Connection<H::Connection>) {
        // The client has these too: closing ours does not take them out of the set.
        let _ = self.readiness.remove(connection.doorbell.as_fd());
        let _ = self.readiness.remove(connection.socket.as_fd());
        if let Some(channel) = connection.channel {
            self.handler.disconnect(channel.connection);
        }
    }
}

impl<H: Handler> Drop for ShmServer<H> {
    fn drop(&mut self) {
        while let Some(connection) = self.connections.take_any() {
            self.finish(connection);
        }
        let _ = self.readiness.remove(self.connections.listener());
        let _ = self.readiness.remove(self.completed.waker.as_fd());
        if let Some(public) = self.public.take() {
            let _ = self.readiness.remove(public.descriptor());
            self.handler.disconnect(public.into_connection());
        }
    }
}

fn take_name(runtime: &Runtime, name: &ApplicationName) -> Result<NameLock, ShmError> {
    let mut attempt = 0;
    loop {
        match NameLock::acquire(runtime, name) {
            Err(ShmError::NameInUse { .. }) if attempt < NAME_ATTEMPTS => {
                attempt += 1;
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

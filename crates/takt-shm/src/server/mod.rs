//! Server: one thread that serves the public services and any number of channels.

mod accepting;
mod channel;
mod completed;
mod connections;
mod copies;
mod descriptors;
mod leftovers;
mod opening;
mod serving;
mod slot;
#[cfg(test)]
mod tests;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::readiness::{Alarm, Interest, Readiness, key_id, tagged_key};

use crate::address::ApplicationName;
use crate::channel::attention::Attention;
use crate::channel::mail::{Mail, Received};
use crate::channel::socket::Post;
use crate::directory::name_lock::NameLock;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::handler::ShmChannels;
use crate::public::offered::Offered;
use crate::server::channel::Channel;
use crate::server::completed::Completed;
use crate::server::connections::{Connections, Event};
use crate::server::copies::Copies;
use crate::server::descriptors::affordable_connections;
use crate::server::leftovers::Leftovers;
use crate::server::opening::Opening;
use crate::server::slot::Slot;
use crate::server_config::ServerConfig;

pub use descriptors::DESCRIPTORS_PER_CONNECTION;

/// Maximum number of requests of one channel that are answered before others have their turn.
const BATCH: usize = 8;

/// Number of attempts to take a name that another process may be cleaning up.
const NAME_ATTEMPTS: u32 = 5;

/// Maximum number of mails of one client that are taken before others have their turn.
const MAILS_PER_TURN: usize = 8;

/// Server of an application's endpoint `opc.iox2://<ApplicationName>`.
///
/// The thread of its owner drives it. (One more gives back large memory of clients that have left.) Its descriptors are in a [`Readiness`] that it may share with other transports; the waiting thread calls
/// [`ready`](Self::ready) for each event that carries its tag. A loop that spins calls [`turn`](Self::turn) in between.
///
/// Dropping it closes all channels and removes every trace of it from the system.
pub struct ShmServer<H: ShmChannels> {
    // The order matters when the server is dropped: ports before the name and the directory.
    connections: Connections<H::Connection>,
    public: Option<Offered<H::Connection>>,
    name: ApplicationName,
    _name_lock: NameLock,
    attention: Attention,
    /// Word of the map with which the next turn begins.
    next_word: usize,
    /// Connection whose request was answered last.
    last_served: Option<Slot>,
    handler: H,
    config: ServerConfig,
    readiness: Arc<Readiness>,
    tag: u8,
    completed: Completed,
    /// Alarm for connections that are late with opening their channel.
    alarm: Alarm,
    /// Time at which to accept connections again, if that was given up for a while.
    accept_again: Option<Instant>,
    /// Time at which to give back the memory for large messages.
    trim_at: Option<Instant>,
    /// Channels that had more requests than they could have answered in their turn, or a large one.
    unfinished: Vec<Slot>,
    /// True if the public services may have requests that were left for the next turn.
    public_waits: bool,
    /// Copies of requests.
    copies: Copies,
    leftovers: Leftovers,
    // The directory is held until everything else is gone.
    _runtime: Arc<Runtime>,
}

impl<H: ShmChannels> ShmServer<H> {
    /// Takes the name and offers the services. Descriptors are added to `readiness` under `tag`.
    ///
    /// # Errors
    /// [`ShmError::NameInUse`] if a running application has the name; others if the system or iceoryx2 refuses an operation.
    pub fn new(
        name: ApplicationName,
        handler: H,
        readiness: &Arc<Readiness>,
        tag: u8,
        config: ServerConfig,
    ) -> Result<Self, ShmError> {
        let runtime = Runtime::find(config.group.as_deref(), config.runtime_directory.as_deref())?;
        let name_lock = take_name(&runtime, &name)?;
        let completed = Completed::new()?;
        let waker = completed.for_handler();
        let public = Offered::offer(&runtime, &name_lock, &name, &handler, waker, &config)?;
        let add = |descriptor, event: Event| {
            readiness
                .add(descriptor, tagged_key(tag, event.to_id()), Interest::READ)
                .map_err(|e| ShmError::io("wait for a descriptor", e))
        };
        if let Some(public) = &public {
            add(public.descriptor(), Event::Public)?;
        }
        add(completed.waker.as_fd(), Event::Completed)?;
        let alarm = Alarm::new().map_err(|e| ShmError::io("make a timer", e))?;
        add(alarm.as_fd(), Event::Late)?;
        let max_connections = config.max_connections.min(affordable_connections());
        if max_connections < config.max_connections {
            let wanted = config.max_connections;
            tracing::warn!(application = %name, max_connections, wanted, "fewer connections than requested: too few file descriptors");
        }
        let copies = Copies::new(&config.memory);
        let attention = Attention::new(max_connections)?;
        // This is last: a client that finds the socket finds everything else.
        let connections =
            Connections::listen(name_lock.socket(), Arc::clone(&runtime), max_connections)?;
        add(connections.listener(), Event::Listener)?;
        Ok(Self {
            connections,
            public,
            name,
            _name_lock: name_lock,
            attention,
            next_word: 0,
            last_served: None,
            handler,
            config,
            readiness: Arc::clone(readiness),
            tag,
            completed,
            alarm,
            accept_again: None,
            trim_at: None,
            unfinished: Vec::new(),
            public_waits: false,
            copies,
            leftovers: Leftovers::default(),
            _runtime: runtime,
        })
    }

    /// Returns the name of the application.
    #[must_use]
    pub fn name(&self) -> &ApplicationName {
        &self.name
    }

    /// Returns the number of open channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.connections.channels()
    }

    /// Returns the handler.
    #[must_use]
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// Sets whether the thread that drives the server is awake, and will call [`turn`](Self::turn) all the time: then clients do
    /// not ring, which saves them a system call for each request. They ring until this is called.
    ///
    /// Before sleeping again, call it with `false`, and make one more turn: that one looks at every channel, so that no thread
    /// has to do it while this one sleeps.
    pub fn set_awake(&mut self, awake: bool) {
        self.attention.set_awake(awake);
    }

    /// Tells clients to which processor the thread that drives the server is bound, if it is bound to one. A client on
    /// that processor does not spin.
    pub fn set_processor(&mut self, processor: Option<usize>) {
        self.attention.set_processor(processor);
    }

    /// Returns true if the client whose request was answered last fell asleep on this processor when it waited. A thread that is
    /// bound to the processor keeps that client from running while it spins.
    #[must_use]
    pub fn shares_processor(&self, processor: usize) -> bool {
        let channel = self
            .last_served
            .and_then(|slot| self.connections.channel(slot));
        channel.and_then(Channel::client_processor) == Some(processor)
    }

    /// Handles an event on one of its descriptors; `key` is the event's. Returns the number of answered requests.
    pub fn ready(&mut self, key: u64) -> usize {
        match Event::from_id(key_id(key)) {
            Some(Event::Listener) => {
                self.accept();
                0
            }
            Some(Event::Public) => self.serve_public(),
            Some(Event::Completed) => {
                self.completed.waker.drain();
                self.give_back();
                self.complete() + self.serve_unfinished() + self.continue_public()
            }
            Some(Event::Socket(slot)) => {
                self.socket_ready(slot);
                // The event may be a ring.
                self.serve(slot, BATCH)
            }
            Some(Event::Doorbell(slot)) => self.serve(slot, BATCH),
            Some(Event::Late) => {
                self.alarm_has_gone_off();
                0
            }
            None => 0,
        }
    }

    #[cold]
    fn fail(&mut self, slot: Slot, error: &ShmError) {
        tracing::warn!(application = %self.name, %error, "closing a channel");
        self.close(slot);
    }

    /// Takes some of the waiting mails. If there are more, the socket stays readable.
    fn socket_ready(&mut self, slot: Slot) {
        for _ in 0..MAILS_PER_TURN {
            let Some(connection) = self.connections.get(slot) else {
                return;
            };
            match connection.post.next() {
                Post::Nothing => return,
                Post::Kept => {}
                Post::Mail(Received {
                    mail: Mail::Open { max_response },
                    mut descriptors,
                }) => {
                    let opened = match descriptors.pop() {
                        Some(outbox) => self.open(slot, max_response, &outbox),
                        None => Err(ShmError::Protocol("a client has no outbox")),
                    };
                    if let Err(error) = opened {
                        self.fail(slot, &error);
                    }
                }
                Post::Mail(Received {
                    mail: Mail::Goodbye,
                    ..
                })
                | Post::Closed => self.close(slot),
                Post::Mail(_) => self.fail(slot, &ShmError::Protocol("an unexpected mail")),
                Post::Garbage(reason) => self.fail(slot, &ShmError::Protocol(reason)),
            }
        }
    }

    fn open(&mut self, slot: Slot, max_response: u32, outbox: &OwnedFd) -> Result<(), ShmError> {
        let opening = Opening {
            name: &self.name,
            config: &self.config,
            completed: &self.completed,
        };
        let connections = &mut self.connections;
        let result = opening.open(&self.handler, connections, slot, max_response, outbox);
        self.attention.set_connections(self.connections.channels());
        result
    }

    fn close(&mut self, slot: Slot) {
        if let Some(connection) = self.connections.remove(slot) {
            self.finish(connection);
        }
        self.copies.end(slot);
        if self.copies.are_large() && self.trim_at.is_none() {
            self.trim_later();
        }
        self.attention.set_connections(self.connections.channels());
    }

    fn finish(&mut self, connection: connections::Connection<H::Connection>) {
        if let Some(doorbell) = &connection.doorbell {
            // The client has it too: closing the server's descriptor does not take it out of the set.
            let _ = self.readiness.remove(doorbell.as_fd());
        }
        let _ = self.readiness.remove(connection.post.as_fd());
        if let Some(channel) = connection.channel {
            let state = channel.end(&mut self.leftovers);
            self.handler.disconnect(state);
        }
    }
}

impl<H: ShmChannels> Drop for ShmServer<H> {
    fn drop(&mut self) {
        while let Some(connection) = self.connections.take_any() {
            self.finish(connection);
        }
        // Others may use the Readiness after this.
        let _ = self.readiness.remove(self.connections.listener());
        let _ = self.readiness.remove(self.completed.waker.as_fd());
        let _ = self.readiness.remove(self.alarm.as_fd());
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

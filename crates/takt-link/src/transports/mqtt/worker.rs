//! Thread that holds the connection to the broker.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::Notify;

use super::session::{Client, Connection, Message, Occurrence, SENT_OVERHEAD};
use crate::counters::BrokerRefusal;
use crate::error::{ConnectionRefusal, DownReason, LinkError, LinkState};
use crate::options::MqttOptions;

/// Pause between two attempts to connect, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Time that a closed sender waits for undelivered messages.
const FAREWELL: Duration = Duration::from_secs(2);

/// State shared by a link and its thread.
pub(super) struct Shared {
    inner: Mutex<Inner>,
    /// Signal that there is a message to send, or that the connection is up.
    wake: Notify,
    close: Notify,
    /// Descriptor that is readable while there are received messages.
    pub(super) arrived: OwnedFd,
    /// Length of the longest message that the broker accepts, in bytes.
    longest: AtomicUsize,
}

pub(super) struct Inner {
    pub(super) state: LinkState,
    pub(super) messages: VecDeque<Message>,
    limit: usize,
    /// Number of messages for which `messages` had no place.
    pub(super) overflowed: u64,
    /// Number of messages that were lost with a broken connection, or were undelivered at the end.
    pub(super) lost: u64,
    /// Number of messages that the broker has refused, and the last reason.
    pub(super) refused: u64,
    pub(super) refusal: Option<BrokerRefusal>,
    /// Number of messages passed to the connection whose delivery is not confirmed.
    pending: u64,
    is_disconnected: bool,
}

impl Shared {
    fn new(limit: usize) -> Result<Self, LinkError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let arrived =
            eventfd(0, flags).map_err(|errno| LinkError::open("make an eventfd", errno))?;
        Ok(Self {
            inner: Mutex::new(Inner {
                state: LinkState::Down(DownReason::NotConnected),
                messages: VecDeque::new(),
                limit,
                overflowed: 0,
                lost: 0,
                refused: 0,
                refusal: None,
                pending: 0,
                is_disconnected: false,
            }),
            wake: Notify::new(),
            close: Notify::new(),
            arrived,
            longest: AtomicUsize::new(usize::MAX),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that is done under the lock leaves it half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the length of the longest message that the broker accepts, as far as it said so.
    pub(super) fn longest(&self) -> usize {
        // No other data depends on it.
        self.longest.load(Ordering::Relaxed)
    }

    /// Queues messages for the broker.
    pub(super) fn send(&self, messages: impl Iterator<Item = Message>) {
        let mut inner = self.lock();
        for message in messages {
            inner.push(message);
        }
        // The woken thread takes the lock at once.
        drop(inner);
        self.wake.notify_one();
    }

    /// Queues a message from the broker.
    fn arrive(&self, message: Message) {
        let mut inner = self.lock();
        inner.push(message);
        // Only a full counter would refuse it, and a full counter is readable.
        let _ = rustix::io::write(&self.arrived, &1_u64.to_ne_bytes());
    }

    /// Takes received messages, at most `count`.
    pub(super) fn take(&self, count: usize, taken: &mut Vec<Message>) {
        let mut inner = self.lock();
        let count = count.min(inner.messages.len());
        taken.extend(inner.messages.drain(..count));
        if inner.messages.is_empty() {
            // The descriptor is not readable any more.
            let _ = rustix::io::read(&self.arrived, &mut [0; 8]);
        }
    }

    fn take_one_to_send(&self) -> Option<Message> {
        let mut inner = self.lock();
        // Messages wait here, where the oldest can still be discarded, and not in the channel of the library.
        if !inner.state.is_up() {
            return None;
        }
        let message = inner.messages.pop_front()?;
        inner.pending += 1;
        Some(message)
    }
}

impl Inner {
    fn push(&mut self, message: Message) {
        if self.messages.len() == self.limit {
            self.messages.pop_front();
            self.overflowed += 1;
        }
        self.messages.push_back(message);
    }
}

/// Direction of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Send,
    Receive,
}

/// Thread of the connection, which ends when this is dropped.
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(
        role: Role,
        options: MqttOptions,
        client: Client,
        mut connection: Connection,
    ) -> Result<Self, LinkError> {
        let shared = Arc::new(Shared::new(options.queue)?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|cause| LinkError::open("prepare the MQTT thread", cause))?;
        let theirs = Arc::clone(&shared);
        let run = move || {
            runtime.block_on(async {
                // The first two never end: the farewell ends them.
                tokio::select! {
                    () = attend(role, &mut connection, &client, &options, &theirs) => {}
                    () = feed(&client, &options, &theirs) => {}
                    () = bid_farewell(role, &client, &theirs) => {}
                }
            });
            // A name that is being resolved is not waited for.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new()
            .name("takt-mqtt".to_owned())
            .spawn(run);
        let thread = thread.map_err(|cause| LinkError::open("start the MQTT thread", cause))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }
}

impl Worker {
    /// Ends the thread, after a short time in which sent messages are delivered; the others are lost.
    pub(super) fn finish(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.close.notify_one();
        // A panic of the thread cannot be reported here.
        let _ = thread.join();
        let mut inner = self.shared.lock();
        let waiting = inner.messages.drain(..).count() as u64;
        inner.lost += waiting + std::mem::take(&mut inner.pending);
    }
}

impl Drop for Worker {
    /// Waits a short time until sent messages are delivered.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Keeps the connection and handles its events.
async fn attend(
    role: Role,
    connection: &mut Connection,
    client: &Client,
    options: &MqttOptions,
    shared: &Shared,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        match connection.poll().await {
            Ok(Occurrence::Connected {
                is_resumed,
                longest_packet,
            }) => {
                pause = FIRST_PAUSE;
                let longest = longest_packet.map_or(usize::MAX, |packet| {
                    let packet = usize::try_from(packet).unwrap_or(usize::MAX);
                    // The broker limits the whole packet, and the topic is part of it.
                    packet.saturating_sub(options.topic.len() + SENT_OVERHEAD)
                });
                shared.longest.store(longest, Ordering::Relaxed);
                let mut inner = shared.lock();
                if !is_resumed {
                    // A new session of the broker knows nothing of what was sent in the old one.
                    inner.lost += std::mem::take(&mut inner.pending);
                }
                match role {
                    Role::Send => inner.state = LinkState::Up,
                    Role::Receive => {
                        // The channel has room: nothing else goes through it.
                        let _ = client.subscribe(options);
                    }
                }
                drop(inner);
                shared.wake.notify_one();
            }
            Ok(Occurrence::Subscribed { is_accepted }) => {
                shared.lock().state = match is_accepted {
                    true => LinkState::Up,
                    false => LinkState::Down(DownReason::Refused(ConnectionRefusal::Subscription)),
                };
            }
            Ok(Occurrence::Message(message)) => shared.arrive(message),
            Ok(Occurrence::Delivered) => {
                let mut inner = shared.lock();
                inner.pending = inner.pending.saturating_sub(1);
            }
            Ok(Occurrence::Rejected(reason)) => {
                let mut inner = shared.lock();
                inner.pending = inner.pending.saturating_sub(1);
                inner.refused += 1;
                inner.refusal = Some(reason);
            }
            Ok(Occurrence::Disconnected) => shared.lock().is_disconnected = true,
            Ok(Occurrence::Other) => {}
            Err(reason) => {
                // The next poll connects again.
                shared.lock().state = LinkState::Down(reason);
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Passes messages on while the connection is up.
async fn feed(client: &Client, options: &MqttOptions, shared: &Shared) {
    loop {
        shared.wake.notified().await;
        // One at a time: what waits here can still be discarded for newer messages, and what was passed on cannot.
        while let Some(message) = shared.take_one_to_send() {
            if !client.publish(options, message).await {
                let mut inner = shared.lock();
                inner.pending = inner.pending.saturating_sub(1);
                inner.lost += 1;
            }
        }
    }
}

/// Disconnects when the link is closed.
async fn bid_farewell(role: Role, client: &Client, shared: &Shared) {
    const LOOK_AGAIN: Duration = Duration::from_millis(2);
    shared.close.notified().await;
    let deliver = async {
        loop {
            let is_done = {
                let inner = shared.lock();
                let is_delivered = inner.messages.is_empty() && inner.pending == 0;
                !inner.state.is_up() || role == Role::Receive || is_delivered
            };
            if is_done {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if shared.lock().state.is_up() {
            client.disconnect().await;
            // The first future must still send the packet, before `select!` drops it.
            while !shared.lock().is_disconnected {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    };
    // Messages that are not delivered by then are lost, as with a broken connection.
    let _ = tokio::time::timeout(FAREWELL, deliver).await;
}

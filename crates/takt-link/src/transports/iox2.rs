//! `opc.iox2://`: messages between processes of one host, by publish-subscribe of iceoryx2.
//!
//! A message is written into loaned shared memory and is there for all receivers with [`Reservation::commit`], without another copy;
//! [`Sender::flush`] only wakes receivers that wait. A receiver copies a message out before it passes it on: the sender could still
//! change bytes in shared memory, and decryption in place needs memory that is not shared. Launch times are ignored, and received
//! messages have no time.
//!
//! | subject | value |
//! |---|---|
//! | publish-subscribe service, `[u8]` | `PubSub/<name>` |
//! | event service that wakes receivers | `PubSub/<name>/Wake` |
//! | senders and receivers at a time | 8 each |
//! | messages that wait for one receiver | 32 |
//!
//! A receiver that is too slow loses the newest messages, which its senders count ([`LinkCounters::overflowed`]); the other
//! receivers still get them. A crashed receiver counts as too slow until iceoryx2 notices its end, when any process opens or
//! closes a link. iceoryx2 0.10 allocates a small piece of its own for each loan, that is for each message sent; nothing else is
//! allocated. Any program of the same Unix user can take part with iceoryx2 alone, configured as `takt_shm::Runtime` describes.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iceoryx2::port::LoanError;
use iceoryx2::port::backpressure_strategy::BackpressureStrategy;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{Node, NodeBuilder, PortFactory, ServiceName, SignalHandlingMode};
use iceoryx2::service::port_factory::{event, publish_subscribe};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_shm::Runtime;

use crate::counters::LinkCounters;
use crate::error::{LinkError, LinkState};
use crate::limits;
use crate::link::{Receiver, Sender};
use crate::loan::{Ipc, Loan, Sent, failed};
use crate::options::LinkOptions;
use crate::received::{Received, Source};
use crate::reservation::Reservation;
use crate::unsafe_code::listener;

/// Maximum number of senders, and of receivers, of one stream.
const MAX_PORTS: usize = 8;
/// Number of messages that wait for one receiver.
const BUFFER: usize = 32;
const DEFAULT_MESSAGE_SIZE: usize = 65_536;
const LONGEST: usize = 1 << 28;

/// Services of both ends. They are dropped in this order: ports before the node, the node before the directory.
struct Stream {
    messages: publish_subscribe::PortFactory<Ipc, [u8], ()>,
    wake: event::PortFactory<Ipc>,
    _node: Node<Ipc>,
    _runtime: Arc<Runtime>,
}

impl Stream {
    fn open(name: &str, directory: Option<&Path>) -> Result<Self, LinkError> {
        let runtime = Runtime::open(directory).map_err(failed("open the runtime directory"))?;
        let node = NodeBuilder::new()
            .config(runtime.iceoryx2_config())
            // SIGINT and SIGTERM belong to the application; iceoryx2 would handle them.
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Ipc>()
            .map_err(failed("create a node"))?;
        let service_name = |name: &str| ServiceName::new(name).map_err(failed("name a service"));
        let messages = node
            .service_builder(&service_name(&format!("PubSub/{name}"))?)
            .publish_subscribe::<[u8]>()
            // An overwritten message would be a loss that is not counted.
            .enable_safe_overflow(false)
            .history_size(0)
            .max_publishers(MAX_PORTS)
            .max_subscribers(MAX_PORTS)
            // Each sender and each receiver has a node of its own.
            .max_nodes(2 * MAX_PORTS)
            .subscriber_max_buffer_size(BUFFER)
            .subscriber_max_borrowed_samples(1)
            .open_or_create()
            .map_err(failed("open the publish-subscribe service"))?;
        let wake = node
            .service_builder(&service_name(&format!("PubSub/{name}/Wake"))?)
            .event()
            .max_notifiers(MAX_PORTS)
            .max_listeners(MAX_PORTS)
            .max_nodes(2 * MAX_PORTS)
            .event_id_max_value(1)
            .disable_deadline()
            .open_or_create()
            .map_err(failed("open the event service"))?;
        Ok(Self {
            messages,
            wake,
            _node: node,
            _runtime: runtime,
        })
    }
}

fn max_message_size(options: &LinkOptions) -> Result<usize, LinkError> {
    match options.max_message_size {
        None => Ok(DEFAULT_MESSAGE_SIZE),
        Some(_) => limits::max_message_size(options, LONGEST),
    }
}

/// Sender that writes messages into shared memory.
pub(crate) struct Iox2Sender {
    publisher: Publisher<Ipc, [u8], ()>,
    notifier: Notifier<Ipc>,
    stream: Stream,
    sent: Sent,
    batch: usize,
    max_message_size: usize,
}

impl Iox2Sender {
    pub(crate) fn open(name: &str, options: &LinkOptions) -> Result<Self, LinkError> {
        let batch = limits::batch(options)?;
        let max_message_size = max_message_size(options)?;
        let stream = Stream::open(name, options.runtime_directory.as_deref())?;
        let publisher = stream
            .messages
            .publisher_builder()
            .initial_max_slice_len(max_message_size)
            .max_loaned_samples(1)
            // A receiver that is too slow loses messages; it must never hold up the sender.
            .backpressure_strategy(BackpressureStrategy::DiscardData)
            .create()
            .map_err(failed("create a publisher"))?;
        let notifier = stream.wake.notifier_builder().create();
        let notifier = notifier.map_err(failed("create a notifier"))?;
        Ok(Self {
            publisher,
            notifier,
            stream,
            sent: Sent::default(),
            batch,
            max_message_size,
        })
    }
}

impl Sender for Iox2Sender {
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        if length > self.max_message_size {
            return Err(LinkError::TooLarge {
                length,
                maximum: self.max_message_size,
            });
        }
        if self.sent.queued == self.batch {
            self.flush()?;
        }
        let sample = self
            .publisher
            .loan_slice(length)
            .map_err(|error| match error {
                LoanError::OutOfMemory | LoanError::ExceedsMaxLoans => LinkError::Full,
                other => failed("loan memory")(other),
            })?;
        Ok(Reservation::loaned(Loan {
            sample,
            messages: &self.stream.messages,
            sent: &mut self.sent,
        }))
    }

    fn flush(&mut self) -> Result<usize, LinkError> {
        let sent = std::mem::take(&mut self.sent.queued);
        if sent > 0 && self.stream.wake.dynamic_config().number_of_listeners() > 0 {
            self.notifier.notify().map_err(failed("wake receivers"))?;
        }
        Ok(sent)
    }

    fn state(&self) -> LinkState {
        LinkState::Up
    }

    fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    fn counters(&self) -> LinkCounters {
        self.sent.counters
    }
}

/// Receiver that reads messages from shared memory.
pub(crate) struct Iox2Receiver {
    subscriber: Subscriber<Ipc, [u8], ()>,
    /// Listener for wake-ups; `None` with `poll_only`.
    listener: Option<Listener<Ipc>>,
    _stream: Stream,
    message: Vec<u8>,
    batch: usize,
    max_message_size: usize,
    counters: LinkCounters,
}

impl Iox2Receiver {
    pub(crate) fn open(name: &str, options: &LinkOptions) -> Result<Self, LinkError> {
        let batch = limits::batch(options)?;
        let max_message_size = max_message_size(options)?;
        let stream = Stream::open(name, options.runtime_directory.as_deref())?;
        // The listener is opened before the subscriber, so that no wake-up is missed.
        let listener = if options.poll_only {
            None
        } else {
            let listener = stream.wake.listener_builder().create();
            Some(listener.map_err(failed("create a listener"))?)
        };
        let subscriber = stream.messages.subscriber_builder().create();
        Ok(Self {
            subscriber: subscriber.map_err(failed("create a subscriber"))?,
            listener,
            _stream: stream,
            message: vec![0; max_message_size],
            batch,
            max_message_size,
            counters: LinkCounters::default(),
        })
    }

    fn receive_now(&mut self, each: &mut dyn FnMut(Received<'_>)) -> Result<usize, LinkError> {
        let mut count = 0;
        while count < self.batch {
            let Some(sample) = self.subscriber.receive().map_err(failed("receive"))? else {
                break;
            };
            let Some(message) = self.message.get_mut(..sample.payload().len()) else {
                self.counters.discarded += 1;
                continue;
            };
            message.copy_from_slice(sample.payload());
            let sender = sample.origin().value();
            // The sender gets its memory back before `each` runs, which may take long.
            drop(sample);
            self.counters.count(message.len());
            count += 1;
            each(Received {
                bytes: message,
                source: Source::SharedMemory { sender },
                topic: None,
                time: None,
            });
        }
        Ok(count)
    }

    /// Clears pending wake-ups; the caller looks for messages afterwards.
    fn calm(&self) -> Result<(), LinkError> {
        if let Some(listener) = &self.listener {
            listener
                .try_wait(|_| {})
                .map_err(failed("take a wake-up"))?;
        }
        Ok(())
    }
}

impl Receiver for Iox2Receiver {
    fn receive(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<usize, LinkError> {
        let count = self.receive_now(each)?;
        if count > 0 || timeout.is_zero() {
            return Ok(count);
        }
        let end = Instant::now().checked_add(timeout);
        loop {
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            let Some(descriptor) = self.as_fd() else {
                // With `poll_only` there are no wake-ups.
                std::thread::sleep(left);
                return self.receive_now(each);
            };
            let left = Timespec::try_from(left).ok();
            match poll(
                &mut [PollFd::new(&descriptor, PollFlags::IN)],
                left.as_ref(),
            ) {
                // A sender that ended before its flush has woken nobody.
                Ok(0) => return self.receive_now(each),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(LinkError::System(errno)),
            }
            self.calm()?;
            let count = self.receive_now(each)?;
            // A wake-up may be for messages that were received already.
            if count > 0 || end.is_some_and(|end| Instant::now() >= end) {
                return Ok(count);
            }
        }
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(listener::descriptor)
    }

    fn state(&self) -> LinkState {
        LinkState::Up
    }

    fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    fn counters(&self) -> LinkCounters {
        self.counters
    }
}

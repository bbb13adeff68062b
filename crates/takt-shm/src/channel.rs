//! One direction of a channel: a publish-subscribe service of iceoryx2 with one publisher and one subscriber.
//!
//! Memory is loaned before the length of a message is known. A sender begins with what almost every message fits into; one that
//! needs more raises the size of all later loans, up to the agreed limit. iceoryx2 then reserves a larger segment, of which
//! only pages that were written take memory: it hands out the chunk that was returned last.

use std::mem::MaybeUninit;

use iceoryx2::port::LoanError;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{AllocationStrategy, BackpressureStrategy, Node, ServiceName};
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use iceoryx2::service::builder::publish_subscribe::Builder;
use takt_ua::binary::{EncodeError, Encoder};

use crate::error::ShmError;
use crate::header::{HEADER_LENGTH, MessageHeader};
use crate::pooled_ipc::PooledIpc;
use crate::public::ALIGNMENT;
use crate::runtime::SHARED_MEMORY_DIRECTORY;
use crate::unsafe_code::{self, Movable};

/// How many messages may wait to be received in one direction.
pub(crate) const QUEUE: u32 = 4;

/// What the first loans have room for: header and body, so that an array of 1024 UInt32 fits.
const FIRST_LOAN: usize = 8192;

type Payload = [u8];

/// Makes or opens the service of one direction.
fn builder(
    node: &Node<PooledIpc>,
    name: &str,
) -> Result<Builder<Payload, (), PooledIpc>, ShmError> {
    let name = ServiceName::new(name).map_err(|e| ShmError::iceoryx("name a channel", e))?;
    Ok(node
        .service_builder(&name)
        .publish_subscribe::<Payload>()
        .payload_alignment(ALIGNMENT)
        .enable_safe_overflow(false)
        .history_size(0)
        .max_publishers(1)
        .max_subscribers(1)
        .max_nodes(2)
        .subscriber_max_buffer_size(QUEUE as usize)
        .subscriber_max_borrowed_samples(1))
}

/// The sending end.
pub(crate) struct Sender {
    publisher: Movable<Publisher<PooledIpc, Payload, ()>>,
    /// Bytes of the body that the next loan has room for.
    capacity: usize,
    /// The longest body.
    limit: u32,
    /// Takes what does not fit into a loan. Grows to the longest message, once.
    spill: Vec<u8>,
}

/// Loaned memory for one message.
pub(crate) struct Loan(SampleMutUninit<PooledIpc, [MaybeUninit<u8>], ()>);

/// The receiving end.
pub(crate) struct Receiver {
    subscriber: Movable<Subscriber<PooledIpc, Payload, ()>>,
}

/// A received message, to be read once and dropped.
pub(crate) type Received = Sample<PooledIpc, Payload, ()>;

/// A message did not get through: the receiver has not received the last [`QUEUE`] ones, or is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotDelivered;

impl Sender {
    /// Makes the service and its sending end (server), or opens it (client).
    pub(crate) fn new(
        node: &Node<PooledIpc>,
        name: &str,
        limit: u32,
        create: bool,
    ) -> Result<Self, ShmError> {
        let operation = "set up the sending end of a channel";
        let builder = builder(node, name)?;
        let service = if create {
            builder
                .create()
                .map_err(|e| ShmError::iceoryx(operation, e))?
        } else {
            builder
                .open()
                .map_err(|e| ShmError::iceoryx(operation, e))?
        };
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(FIRST_LOAN.min(HEADER_LENGTH + limit as usize))
            .allocation_strategy(AllocationStrategy::PowerOfTwo)
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::DiscardData)
            .create()
            .map_err(|e| ShmError::iceoryx(operation, e))?;
        Ok(Self {
            publisher: Movable::new(publisher),
            capacity: (FIRST_LOAN - HEADER_LENGTH).min(limit as usize),
            limit,
            spill: Vec::new(),
        })
    }

    /// Sends a message whose body is encoded straight into shared memory. `encode` may run again if the memory turns out
    /// to be too small.
    pub(crate) fn send(
        &mut self,
        header: MessageHeader,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<Result<(), NotDelivered>, ShmError> {
        loop {
            let mut loan = self.loan()?;
            let mut encoder = Encoder::fixed_uninit(loan.body());
            match encode(&mut encoder) {
                Ok(()) => {
                    let length = encoder.position();
                    return loan.send(header, length);
                }
                Err(EncodeError::BufferFull { needed, .. }) => {
                    let needed = encoder.position() + needed as usize;
                    drop(loan);
                    self.grow(needed)?;
                }
                Err(error) => return Err(ShmError::Encoding(error)),
            }
        }
    }

    /// Sends a message that `write` encodes and that cannot be encoded twice; `write` says `false` if there is none after
    /// all. What does not fit into the loan is copied once more; what does not fit into the limit, `write` gets an error for.
    pub(crate) fn send_once(
        &mut self,
        header: MessageHeader,
        write: impl FnOnce(&mut Encoder<'_>) -> bool,
    ) -> Result<Option<Result<(), NotDelivered>>, ShmError> {
        let mut loan = self.loan()?;
        self.spill.clear();
        let mut encoder = Encoder::spilling(loan.body(), &mut self.spill, self.limit as usize);
        if !write(&mut encoder) {
            return Ok(None);
        }
        if !encoder.spilled() {
            let length = encoder.position();
            return loan.send(header, length).map(Some);
        }
        drop(loan);
        self.grow(self.spill.len())?;
        let mut loan = self.loan()?;
        let length = copy(&self.spill, loan.body());
        loan.send(header, length).map(Some)
    }

    /// Sends a message whose body is there already.
    pub(crate) fn send_bytes(
        &mut self,
        header: MessageHeader,
        body: &[u8],
    ) -> Result<Result<(), NotDelivered>, ShmError> {
        if body.len() > self.capacity {
            self.grow(body.len())?;
        }
        let mut loan = self.loan()?;
        let length = copy(body, loan.body());
        loan.send(header, length)
    }

    /// Sends bytes that need not be a message.
    #[cfg(test)]
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let mut loan = self.publisher.loan_slice_uninit(bytes.len()).unwrap();
        copy(bytes, loan.payload_mut());
        assert_eq!(unsafe_code::initialised(loan).send(), Ok(1));
    }

    /// The longest body that can be sent.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    fn loan(&self) -> Result<Loan, ShmError> {
        match self
            .publisher
            .loan_slice_uninit(HEADER_LENGTH + self.capacity)
        {
            Ok(sample) => Ok(Loan(sample)),
            Err(LoanError::OutOfMemory) => Err(ShmError::SharedMemoryFull {
                needed: self.capacity as u64,
            }),
            Err(error) => Err(ShmError::iceoryx("loan memory for a message", error)),
        }
    }

    /// Makes the next loans large enough for `needed` bytes.
    #[cold]
    fn grow(&mut self, needed: usize) -> Result<(), ShmError> {
        let limit = self.limit as usize;
        if needed > limit {
            return Err(ShmError::RequestTooLarge { limit: self.limit });
        }
        let capacity = needed
            .max(self.capacity + 1)
            .checked_next_power_of_two()
            .unwrap_or(limit)
            .min(limit);
        check_room(capacity)?;
        self.capacity = capacity;
        Ok(())
    }
}

/// Copies as much of `from` as there is room for, and says how much that is.
fn copy(from: &[u8], to: &mut [MaybeUninit<u8>]) -> usize {
    let mut encoder = Encoder::fixed_uninit(to);
    // The caller has made room for all of it; if not, the message is empty rather than torn.
    let _ = encoder.bytes(from);
    encoder.position()
}

/// Shared memory is taken page by page as it is written, and there is no error for a page that cannot be had, only
/// SIGBUS. So before a large piece, look whether there is room for it and for the one before it, not yet received.
fn check_room(bytes: usize) -> Result<(), ShmError> {
    let Ok(stat) = rustix::fs::statvfs(SHARED_MEMORY_DIRECTORY) else {
        return Ok(());
    };
    let needed = 2 * bytes as u64;
    if stat.f_bavail.saturating_mul(stat.f_frsize) < needed {
        return Err(ShmError::SharedMemoryFull { needed });
    }
    Ok(())
}

impl Loan {
    fn body(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0
            .payload_mut()
            .get_mut(HEADER_LENGTH..)
            .unwrap_or_default()
    }

    fn send(
        mut self,
        mut header: MessageHeader,
        body_length: usize,
    ) -> Result<Result<(), NotDelivered>, ShmError> {
        header.body_length = u32::try_from(body_length).unwrap_or(u32::MAX);
        copy(&header.to_bytes(), self.0.payload_mut());
        match unsafe_code::initialised(self.0).send() {
            Ok(0) => Ok(Err(NotDelivered)),
            Ok(_) => Ok(Ok(())),
            Err(error) => Err(ShmError::iceoryx("send a message", error)),
        }
    }
}

impl Receiver {
    /// Makes the service and its receiving end (server), or opens it (client).
    pub(crate) fn new(node: &Node<PooledIpc>, name: &str, create: bool) -> Result<Self, ShmError> {
        let operation = "set up the receiving end of a channel";
        let builder = builder(node, name)?;
        let service = if create {
            builder
                .create()
                .map_err(|e| ShmError::iceoryx(operation, e))?
        } else {
            builder
                .open()
                .map_err(|e| ShmError::iceoryx(operation, e))?
        };
        let subscriber = service
            .subscriber_builder()
            .create()
            .map_err(|e| ShmError::iceoryx(operation, e))?;
        Ok(Self {
            subscriber: Movable::new(subscriber),
        })
    }

    /// The next message, if there is one.
    #[inline]
    pub(crate) fn receive(&self) -> Result<Option<Received>, ShmError> {
        self.subscriber
            .receive()
            .map_err(|e| ShmError::iceoryx("receive a message", e))
    }
}

//! The receiving end of one direction of a channel: the other side's outbox, seen from here.
//!
//! The other side may be broken. Whatever it writes, and whenever, what is looked at is copied out first, and is inside the memory:
//! the worst that it can do is to deliver other bytes than it meant to.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_rt::segment::{self, SegmentView};
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::StatusCode;

use crate::channel::layout::{self, OUTBOX, Place, TAKEN};
use crate::channel::outbox::SMALL_IN_A_ROW;
use crate::channel::protocol::{self, Load, Receiver, Sleep};
use crate::error::ShmError;
use crate::header::{HEADER_LENGTH, MessageHeader};

/// Gets the large segment of a generation, which the other side has passed on.
pub(crate) type Fetch<'a> = &'a mut dyn FnMut(u32) -> Result<OwnedFd, ShmError>;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Inbox {
    view: SegmentView,
    large: Option<Large>,
    /// For what of the other side's memory is mapped.
    charge: Charge,
    receiver: Receiver,
    small_in_a_row: u32,
    limit: u32,
}

/// Memory for large messages.
#[derive(Debug)]
struct Large {
    generation: u32,
    fd: OwnedFd,
    /// It can be given back, and mapped again when it is needed.
    view: Option<SegmentView>,
    /// Only what the last message needs of it is charged: there was no more.
    is_scarce: bool,
    /// So many of its bytes have memory. With the others it would be us who take it.
    allocated: usize,
}

/// A message that was received and is still where the other side wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub(crate) header: MessageHeader,
    place: Place,
    start: usize,
}

impl Message {
    /// Bytes of the body.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.header.body_length as usize
    }
}

impl Inbox {
    /// The outbox behind `fd`, for bodies of up to `limit` bytes. What is mapped is charged to `memory`.
    pub(crate) fn new(fd: &OwnedFd, limit: u32, memory: &MemoryBudget) -> Result<Self, ShmError> {
        let charge = memory.charge(OUTBOX)?;
        let view = SegmentView::open(fd, OUTBOX.next_multiple_of(takt_rt::segment::page_size()))
            .map_err(|e| ShmError::io("map the other side's memory", e))?;
        if view.bytes().len() < OUTBOX {
            return Err(ShmError::Protocol("its memory is too small"));
        }
        Ok(Self {
            view,
            large: None,
            charge,
            receiver: Receiver::default(),
            small_in_a_row: 0,
            limit,
        })
    }

    /// How many of our messages the other side has taken.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        Load::load(&self.view, TAKEN, Ordering::Acquire)
    }

    /// How the other side has to be rung; to be asked after sending.
    #[inline]
    pub(crate) fn sleep_of(&self) -> Sleep {
        protocol::sleep_of(&self.view)
    }

    /// The processor on which the other side last fell asleep, if it ever did.
    #[inline]
    pub(crate) fn processor(&self) -> Option<usize> {
        protocol::processor(&self.view)
    }

    /// The other side's rings so far; see [`Sleep::Rings`].
    #[inline]
    pub(crate) fn rings(&self) -> u32 {
        protocol::rings(&self.view)
    }

    /// Sleeps until the other side rings, if it has not since `rings` were seen, or until the time is over.
    pub(crate) fn sleep_on(&self, rings: u32, timeout: Duration) {
        self.view.wait(layout::RINGS, rings, timeout);
    }

    /// Whether the other side waits for us to take messages.
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        protocol::has_backlog(&self.view)
    }

    /// How many messages were received.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Whether there is a message.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.receiver.is_ready(&self.view)
    }

    /// The next message, if there is one. It stays where it is until the sender learns that it was taken.
    ///
    /// An invalid header is an error of its own, with the id that the message may have: other messages may follow.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        fetch: Fetch<'_>,
    ) -> Result<Option<Result<Message, Invalid>>, ShmError> {
        let next = self.receiver.next(&self.view);
        let Some(place) = next.map_err(|nonsense| ShmError::Protocol(nonsense.0))? else {
            return Ok(None);
        };
        if let Place::Large(generation) = place {
            if let Err(invalid) = self.fetch_large(generation, fetch)? {
                return Ok(Some(Err(invalid)));
            }
        } else if self.large.is_some() {
            self.settle();
        }
        let memory = self.memory(place);
        let bytes: [u8; HEADER_LENGTH] = memory.array(0).unwrap_or_default();
        let request_id = MessageHeader::request_id_of(&bytes);
        match MessageHeader::parse_bytes(bytes, memory.len(), self.limit) {
            Ok((_, body)) if !self.has_memory(place, body.end) => Ok(Some(Err(Invalid {
                request_id,
                status: StatusCode::BadDecodingError,
                error: ShmError::Protocol("a message has less memory than its length"),
            }))),
            Ok((header, body)) => Ok(Some(Ok(Message {
                header,
                place,
                start: body.start,
            }))),
            Err(error) => Ok(Some(Err(Invalid {
                request_id,
                status: error.status_code(),
                error: ShmError::Header(error),
            }))),
        }
    }

    /// Whether the first `length` bytes of a message have memory, so that copying them takes none.
    #[inline]
    fn has_memory(&mut self, place: Place, length: usize) -> bool {
        match (place, &mut self.large) {
            (Place::Large(_), Some(large)) => large.has_memory(length),
            // The outbox is charged as a whole.
            _ => true,
        }
    }

    /// The body of the message received last.
    #[inline]
    pub(crate) fn body(&self, message: &Message) -> SharedBytes<'_> {
        let end = message.start + message.length();
        let memory = self.memory(message.place);
        // Checked when it was received; the memory has not become smaller.
        memory.get(message.start..end).unwrap_or(SharedBytes::EMPTY)
    }

    /// Appends `length` bytes of the body of the message received last, from `offset` on. Reads what is in a segment of its own without
    /// touching the mapping, which would make each page a page fault, and all of them work for whoever unmaps it.
    pub(crate) fn read_body(
        &self,
        message: &Message,
        offset: usize,
        length: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), ShmError> {
        match (message.place, &self.large) {
            (Place::Large(generation), Some(large)) if large.generation == generation => {
                segment::read(&large.fd, message.start + offset, length, bytes)
                    .map_err(|e| ShmError::io("read a large message", e))
            }
            _ => Err(ShmError::Protocol("a large message is nowhere")),
        }
    }

    #[inline]
    fn memory(&self, place: Place) -> SharedBytes<'_> {
        match (place, &self.large) {
            (Place::Slot(number), _) => self.view.bytes().get(layout::slot(number)),
            (Place::Large(generation), Some(large)) if large.generation == generation => {
                large.view.as_ref().map(SegmentView::bytes)
            }
            (Place::Large(_), _) => None,
        }
        .unwrap_or(SharedBytes::EMPTY)
    }

    /// Maps the large segment of a generation. If there is no memory for it, the message in it is refused.
    fn fetch_large(
        &mut self,
        generation: u32,
        fetch: Fetch<'_>,
    ) -> Result<Result<(), Invalid>, ShmError> {
        self.small_in_a_row = 0;
        match &self.large {
            Some(large)
                if large.generation == generation && large.view.is_some() && !large.is_scarce =>
            {
                Ok(Ok(()))
            }
            _ => self.map_large(generation, fetch),
        }
    }

    #[cold]
    fn map_large(
        &mut self,
        generation: u32,
        fetch: Fetch<'_>,
    ) -> Result<Result<(), Invalid>, ShmError> {
        let kept = self.large.take_if(|large| large.generation == generation);
        self.give_large_back();
        let large = match kept {
            Some(large) => large,
            None => Large {
                generation,
                fd: fetch(generation)?,
                view: None,
                is_scarce: false,
                allocated: 0,
            },
        };
        let large = self.large.insert(large);
        let failed = |e| ShmError::io("map memory for a large message", e);
        let largest =
            (HEADER_LENGTH + self.limit as usize).next_multiple_of(takt_rt::segment::page_size());
        let view = SegmentView::open(&large.fd, largest).map_err(failed)?;
        large.is_scarce = self.charge.resize(OUTBOX + view.len()).is_err();
        if large.is_scarce {
            let mut bytes = [0; HEADER_LENGTH];
            // Not by way of the mapping: reading the file takes no memory.
            let _ = rustix::io::pread(&large.fd, &mut bytes, 0);
            let needed = match MessageHeader::parse_bytes(bytes, view.len(), self.limit) {
                Ok((_, body)) => body.end,
                Err(_) => HEADER_LENGTH,
            };
            if let Err(exhausted) = self.charge.resize(OUTBOX + needed) {
                return Ok(Err(Invalid {
                    request_id: MessageHeader::request_id_of(&bytes),
                    status: StatusCode::BadOutOfMemory,
                    error: exhausted.into(),
                }));
            }
        }
        large.view = Some(view);
        Ok(Ok(()))
    }

    /// Whether memory for large messages is mapped.
    #[inline]
    pub(crate) fn has_large(&self) -> bool {
        matches!(&self.large, Some(Large { view: Some(_), .. }))
    }

    /// Does without the memory for large messages until the next one comes.
    pub(crate) fn trim(&mut self) {
        if let Some(large) = &mut self.large {
            large.view = None;
        }
        self.charge.force(OUTBOX);
    }

    fn give_large_back(&mut self) {
        self.large = None;
        self.charge.force(OUTBOX);
    }

    /// Gives a large segment back when the sender does.
    #[cold]
    fn settle(&mut self) {
        self.small_in_a_row += 1;
        // A little later than the sender, who may use it again for the very next message.
        if self.small_in_a_row > 2 * SMALL_IN_A_ROW {
            self.give_large_back();
        }
    }
}

impl Large {
    fn has_memory(&mut self, length: usize) -> bool {
        if length > self.allocated {
            // It never becomes less: the seals forbid that.
            self.allocated = segment::allocated_length(&self.fd).unwrap_or_default();
        }
        length <= self.allocated
    }
}

/// A message that is none, or that there is no memory for.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) request_id: u32,
    /// What its sender is told.
    pub(crate) status: StatusCode,
    pub(crate) error: ShmError,
}

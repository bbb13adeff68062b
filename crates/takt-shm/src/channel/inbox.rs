//! Receiving end of one direction of a channel: the other side's outbox, as this side sees it.
//!
//! The other side may be broken. All data is copied out before it is checked, at any time of its changes, and is inside the
//! memory: in the worst case, the other side delivers other bytes than intended.

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

/// Number of bytes of a message whose cache lines are requested at once, before its header tells the length.
const FIRST: usize = 256;

/// Function that gets the large segment of a generation, which the other side has passed on.
pub(crate) type Fetch<'a> = &'a mut dyn FnMut(u32) -> Result<OwnedFd, ShmError>;

/// Receiving end; see the [module](self).
#[derive(Debug)]
pub(crate) struct Inbox {
    view: SegmentView,
    large: Option<Large>,
    /// Charge for the mapped memory of the other side.
    charge: Charge,
    receiver: Receiver,
    small_in_a_row: u32,
    limit: u32,
}

/// Segment of a large message.
#[derive(Debug)]
struct Large {
    generation: u32,
    fd: OwnedFd,
    /// Mapping of the segment. It can be given back, and mapped again when it is needed.
    view: Option<SegmentView>,
    /// True if memory is scarce: only the part that the last message needs is charged.
    is_scarce: bool,
    /// Number of its bytes that have memory. The rest would take memory that is charged to this side.
    allocated: usize,
}

/// Received message, which is still in the memory of the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub(crate) header: MessageHeader,
    place: Place,
    start: usize,
}

impl Message {
    /// Returns the length of the body in bytes.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.header.body_length as usize
    }
}

impl Inbox {
    /// Creates an inbox from the outbox behind `fd`, for bodies of up to `limit` bytes. The mapped memory is charged to `memory`.
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

    /// Returns the number of this side's messages that the other side has taken.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        Load::load(&self.view, TAKEN, Ordering::Acquire)
    }

    /// Returns how the other side has to be rung; to be called after sending.
    #[inline]
    pub(crate) fn sleep_of(&self) -> Sleep {
        protocol::sleep_of(&self.view)
    }

    /// Returns the processor on which the other side last fell asleep, if it ever did.
    #[inline]
    pub(crate) fn processor(&self) -> Option<usize> {
        protocol::processor(&self.view)
    }

    /// Returns the other side's number of rings so far; see [`Sleep::Rings`].
    #[inline]
    pub(crate) fn rings(&self) -> u32 {
        protocol::rings(&self.view)
    }

    /// Sleeps until the other side rings, if it has not rung since `rings` was read, or until the time is over.
    pub(crate) fn sleep_on(&self, rings: u32, timeout: Duration) {
        self.view.wait(layout::RINGS, rings, timeout);
    }

    /// Returns true if the other side waits for this side to take messages.
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        protocol::has_backlog(&self.view)
    }

    /// Returns the number of received messages.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Returns true if there is a message.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.receiver.is_ready(&self.view)
    }

    /// Returns the next message, if there is one. It stays in its place until the sender learns that it was taken.
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
        memory.get(0..FIRST).unwrap_or(memory).prefetch();
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

    /// Returns true if the first `length` bytes of a message have memory, so that copying them takes none.
    #[inline]
    fn has_memory(&mut self, place: Place, length: usize) -> bool {
        match (place, &mut self.large) {
            (Place::Large(_), Some(large)) => large.has_memory(length),
            // The outbox is charged as a whole.
            _ => true,
        }
    }

    /// Returns the body of the message received last.
    #[inline]
    pub(crate) fn body(&self, message: &Message) -> SharedBytes<'_> {
        let end = message.start + message.length();
        let memory = self.memory(message.place);
        // The range was checked when the message was received; the memory has not become smaller.
        memory.get(message.start..end).unwrap_or(SharedBytes::EMPTY)
    }

    /// Appends `length` bytes of the body of the message received last, from `offset` on. It reads a large segment without
    /// touching the mapping, where each page would be a page fault, and would add to the work of unmapping.
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
            _ => Err(ShmError::Protocol(
                "the memory of a large message is missing",
            )),
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
        // First, so that the budget need not have room for both.
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
            // Reading the file, unlike the mapping, takes no memory.
            let _ = rustix::io::pread(&large.fd, &mut bytes, 0);
            let needed = match MessageHeader::parse_bytes(bytes, view.len(), self.limit) {
                Ok((_, body)) => body.end,
                // `receive` reads the header again and reports the error.
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

    /// Returns true if memory for large messages is mapped.
    #[inline]
    pub(crate) fn has_large(&self) -> bool {
        matches!(&self.large, Some(Large { view: Some(_), .. }))
    }

    /// Returns true if it has a segment for large messages, mapped or not.
    pub(crate) fn has_large_segment(&self) -> bool {
        self.large.is_some()
    }

    /// Unmaps the memory for large messages until the next one comes.
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
        // This is a little later than in the sender, which may use the segment again for the very next message.
        if self.small_in_a_row > 2 * SMALL_IN_A_ROW {
            self.give_large_back();
        }
    }
}

impl Large {
    fn has_memory(&mut self, length: usize) -> bool {
        if length > self.allocated {
            // The length never decreases: the seals forbid that.
            self.allocated = segment::allocated_length(&self.fd).unwrap_or_default();
        }
        length <= self.allocated
    }
}

/// Error: a message is invalid, or there is no memory for it.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) request_id: u32,
    /// StatusCode for its sender.
    pub(crate) status: StatusCode,
    pub(crate) error: ShmError,
}

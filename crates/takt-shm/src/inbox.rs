//! The receiving end of one direction of a channel: the other side's outbox, seen from here.
//!
//! The other side may be broken. Whatever it writes, and whenever, what is looked at is copied out first, and is inside the memory:
//! the worst that it can do is to deliver other bytes than it meant to.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use takt_rt::segment::SegmentView;
use takt_rt::shared_bytes::SharedBytes;

use crate::error::ShmError;
use crate::header::{HEADER_LENGTH, MessageHeader};
use crate::layout::{self, OUTBOX, Place, TAKEN};
use crate::outbox::SMALL_IN_A_ROW;
use crate::protocol::{self, Load, Receiver, Sleep};

/// Gets the large segment of a generation, which the other side has passed on.
pub(crate) type Fetch<'a> = &'a mut dyn FnMut(u32) -> Result<OwnedFd, ShmError>;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Inbox {
    view: SegmentView,
    large: Option<(u32, SegmentView)>,
    receiver: Receiver,
    small_in_a_row: u32,
    limit: u32,
}

/// A message that was received and is still where the other side wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub(crate) header: MessageHeader,
    place: Place,
    start: usize,
}

impl Inbox {
    /// The outbox behind `fd`, for bodies of up to `limit` bytes.
    pub(crate) fn new(fd: &OwnedFd, limit: u32) -> Result<Self, ShmError> {
        let view = SegmentView::open(fd, OUTBOX.next_multiple_of(takt_rt::segment::page_size()))
            .map_err(|e| ShmError::io("map the other side's memory", e))?;
        if view.bytes().len() < OUTBOX {
            return Err(ShmError::Protocol("its memory is too small"));
        }
        Ok(Self {
            view,
            large: None,
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
            self.fetch_large(generation, fetch)?;
        } else if self.large.is_some() {
            self.settle();
        }
        let memory = self.memory(place);
        let bytes: [u8; HEADER_LENGTH] = memory.array(0).unwrap_or_default();
        match MessageHeader::parse_bytes(bytes, memory.len(), self.limit) {
            Ok((header, body)) => Ok(Some(Ok(Message {
                header,
                place,
                start: body.start,
            }))),
            Err(error) => Ok(Some(Err(Invalid {
                request_id: MessageHeader::request_id_of(&bytes),
                error,
            }))),
        }
    }

    /// The body of the message received last.
    #[inline]
    pub(crate) fn body(&self, message: &Message) -> SharedBytes<'_> {
        let end = message.start + message.header.body_length as usize;
        let memory = self.memory(message.place);
        // Checked when it was received; the memory has not become smaller.
        memory.get(message.start..end).unwrap_or(SharedBytes::EMPTY)
    }

    #[inline]
    fn memory(&self, place: Place) -> SharedBytes<'_> {
        match (place, &self.large) {
            (Place::Slot(number), _) => self.view.bytes().get(layout::slot(number)),
            (Place::Large(generation), Some((ours, view))) if *ours == generation => {
                Some(view.bytes())
            }
            (Place::Large(_), _) => None,
        }
        .unwrap_or(SharedBytes::EMPTY)
    }

    #[cold]
    fn fetch_large(&mut self, generation: u32, fetch: Fetch<'_>) -> Result<(), ShmError> {
        self.small_in_a_row = 0;
        if self
            .large
            .as_ref()
            .is_some_and(|(ours, _)| *ours == generation)
        {
            return Ok(());
        }
        let fd = fetch(generation)?;
        let largest =
            (HEADER_LENGTH + self.limit as usize).next_multiple_of(takt_rt::segment::page_size());
        let view = SegmentView::open(&fd, largest)
            .map_err(|e| ShmError::io("map memory for a large message", e))?;
        self.large = Some((generation, view));
        Ok(())
    }

    /// Gives a large segment back when the sender does.
    #[cold]
    fn settle(&mut self) {
        self.small_in_a_row += 1;
        // A little later than the sender, who may use it again for the very next message.
        if self.small_in_a_row > 2 * SMALL_IN_A_ROW {
            self.large = None;
        }
    }
}

/// A message that is none.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) request_id: u32,
    pub(crate) error: crate::header::HeaderError,
}

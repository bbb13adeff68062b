//! Sender over any connected or bound socket.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::launch::{Controls, LaunchTimes, NoControls};
use super::queue::SendQueue;
use super::room::{Room, SendRoom};
use super::{Opened, Socket};
use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::{DownReason, LinkError, LinkState};
use crate::limits;
use crate::link::Sender;
use crate::options::{LinkOptions, WithoutRoom};
use crate::reservation::Reservation;

/// Kind of link that opens sockets for sending.
pub(crate) trait Outgoing {
    /// Opens a socket on which `send` needs no address.
    ///
    /// # Errors
    /// [`LinkError::Down`] if opening may work later.
    fn open(&self) -> Result<Opened, LinkError>;
}

/// Opens a link; `header` is sent in front of each message.
pub(crate) fn open_sender(
    way: impl Outgoing + 'static,
    options: &LinkOptions,
    max_message_size: usize,
    header: &[u8],
) -> Result<Box<dyn Sender>, LinkError> {
    let batch = limits::batch(options)?;
    limits::send_room(options)?;
    Ok(match options.launch_times {
        None => {
            let queue = SendQueue::<NoControls>::new(batch, max_message_size, header);
            Box::new(SocketSender::new(way, queue, options, max_message_size)?)
        }
        Some(_) => {
            let queue = SendQueue::<LaunchTimes>::new(batch, max_message_size, header);
            Box::new(SocketSender::new(way, queue, options, max_message_size)?)
        }
    })
}

/// [`Sender`] over a socket.
struct SocketSender<W, C> {
    way: W,
    socket: Socket,
    queue: SendQueue<C>,
    max_message_size: usize,
    without_room: WithoutRoom,
    room: Option<SendRoom>,
    /// True if messages were queued for the next flush beside the queued ones, because a batch was full.
    has_more: bool,
    /// True until the next flush if its messages belong together and are more than a batch: then none of them leaves.
    is_refused: bool,
    /// Number of messages sent that `flush` has not returned yet.
    unreported: usize,
    counters: LinkCounters,
}

impl<W: Outgoing, C: Controls> SocketSender<W, C> {
    fn new(
        way: W,
        queue: SendQueue<C>,
        options: &LinkOptions,
        max_message_size: usize,
    ) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            queue,
            max_message_size,
            without_room: options.without_room,
            room: SendRoom::of(options),
            has_more: false,
            is_refused: false,
            unreported: 0,
            counters: LinkCounters::default(),
        })
    }

    /// Sends the queued messages.
    fn send_queued(&mut self) -> Result<(), LinkError> {
        let waiting = self.queue.waiting();
        let result = match self.flush_queue() {
            Err(reason) => Err(LinkError::Down(reason)),
            Ok((room, Ok(sent))) => {
                self.unreported += sent;
                // The link works again, although its socket was not opened anew.
                if sent > 0 {
                    self.socket.down = None;
                }
                return self.discard_without_room(waiting, room);
            }
            Ok((_, Err(errno))) => Err(self.socket.failed(errno)),
        };
        self.counters.discarded += self.queue.clear();
        result
    }

    /// Passes the queued messages to the kernel, if there is room for those that belong together. Returns the room, and the number of
    /// messages that it took.
    #[inline]
    fn flush_queue(&mut self) -> Result<(Room, Result<usize, Errno>), DownReason> {
        self.socket.get(|| self.way.open())?;
        let Some(opened) = &self.socket.opened else {
            return Ok((Room::Enough, Ok(0)));
        };
        let socket = opened.socket.as_fd();
        let numbered = (socket, self.socket.openings);
        let room = match &mut self.room {
            Some(room) => room.check(numbered, self.queue.lengths()),
            None => Room::Enough,
        };
        if room == Room::TooSmall {
            return Ok((room, Ok(0)));
        }
        Ok((room, self.queue.flush(socket, &mut self.counters)))
    }

    /// Discards the messages for which there was no room, if they are not to be kept. `waiting` is the number of those
    /// that the flush began with.
    #[inline]
    fn discard_without_room(&mut self, waiting: usize, room: Room) -> Result<(), LinkError> {
        let are_kept = match self.without_room {
            WithoutRoom::Keep => true,
            WithoutRoom::Discard => false,
            WithoutRoom::DiscardAlone => waiting > 1 || self.has_more,
        };
        if are_kept || self.queue.is_empty() {
            return Ok(());
        }
        let left = self.queue.clear();
        self.counters.overflowed += left;
        match (room, usize::try_from(left)) {
            (Room::All, Ok(left)) => Err(LinkError::Incomplete {
                taken: waiting.saturating_sub(left),
                messages: waiting,
                limit: match self.queue.refusal() {
                    Some(Errno::AGAIN) => "the buffer of the socket is too small",
                    _ => "the queue of the port is too short",
                },
            }),
            _ => Err(LinkError::Full),
        }
    }

    /// Returns true if the messages of a flush are sent together or not at all.
    fn is_whole(&self) -> bool {
        self.room.as_ref().is_some_and(SendRoom::is_whole)
    }

    /// Makes room in a full batch.
    #[cold]
    fn make_room(&mut self) -> Result<(), LinkError> {
        if self.is_whole() {
            return Err(self.refuse_flush());
        }
        self.has_more = true;
        self.send_queued()
    }

    /// Discards the messages of a flush that is longer than a batch: it would allocate to make room, and a part is of no use.
    #[cold]
    fn refuse_flush(&mut self) -> LinkError {
        self.is_refused = true;
        self.counters.overflowed += self.queue.clear();
        LinkError::TooMany {
            maximum: self.queue.batch(),
        }
    }
}

impl<W: Outgoing, C: Controls> Sender for SocketSender<W, C> {
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        if self.is_refused || self.queue.is_full() {
            self.make_room()?;
        }
        self.queue.reserve(length)
    }

    fn reserve_flush(&mut self, messages: usize) -> Result<(), LinkError> {
        match self.is_whole() {
            true => self.queue.reserve_batch(messages),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<usize, LinkError> {
        let sent = self.send_queued();
        self.has_more = false;
        self.is_refused = false;
        let count = std::mem::take(&mut self.unreported);
        sent.map(|()| count)
    }

    fn state(&self) -> LinkState {
        self.socket.state()
    }

    fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    fn counters(&self) -> LinkCounters {
        self.counters
    }

    fn launch_drops(&mut self) -> LaunchDrops {
        let socket = self.socket.opened.as_ref();
        let socket = socket.map(|opened| opened.socket.as_fd());
        self.queue.launch_drops(socket)
    }
}

#[cfg(test)]
mod tests;

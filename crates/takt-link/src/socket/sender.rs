//! Sends over any connected or bound socket.

use std::os::fd::AsFd;

use super::queue::SendQueue;
use super::{Opened, Socket};
use crate::error::{LinkError, LinkState};
use crate::link::{Counters, Sender};

/// How a way to the wire opens sockets to send with.
pub(crate) trait Outgoing {
    /// Opens a socket on which `send` needs no address. [`LinkError::Down`] if that is all that is in the way.
    fn open(&self) -> Result<Opened, LinkError>;
}

/// A [`Sender`] over a socket.
pub(crate) struct SocketSender<W> {
    way: W,
    socket: Socket,
    queue: SendQueue,
    max_message_size: usize,
    counters: Counters,
}

impl<W: Outgoing> SocketSender<W> {
    /// `header` is sent in front of each message.
    pub(crate) fn new(
        way: W,
        batch: usize,
        max_message_size: usize,
        header: &[u8],
    ) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            queue: SendQueue::new(batch, max_message_size, header),
            max_message_size,
            counters: Counters::default(),
        })
    }
}

impl<W: Outgoing> Sender for SocketSender<W> {
    fn reserve(&mut self, length: usize) -> Result<&mut [u8], LinkError> {
        if self.queue.is_full() {
            self.flush()?;
        }
        self.queue.reserve(length)
    }

    fn commit(&mut self) -> Result<(), LinkError> {
        self.queue.commit()
    }

    fn flush(&mut self) -> Result<usize, LinkError> {
        let counters = &mut self.counters;
        let result = match self.socket.get(|| self.way.open()) {
            Err(reason) => Err(LinkError::Down(reason)),
            Ok(socket) => match self
                .queue
                .flush(socket.as_fd(), |length| counters.count(length))
            {
                Ok(sent) => {
                    if sent > 0 {
                        self.socket.down = None;
                    }
                    return Ok(sent);
                }
                Err(errno) => Err(self.socket.failed(errno)),
            },
        };
        self.counters.discarded += self.queue.clear();
        result
    }

    fn state(&self) -> LinkState {
        self.socket.state()
    }

    fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

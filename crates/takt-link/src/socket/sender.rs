//! Sender over any connected or bound socket.

use std::os::fd::AsFd;

use super::launch::{Controls, LaunchTimes, NoControls};
use super::queue::SendQueue;
use super::{Opened, Socket};
use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::{LinkError, LinkState};
use crate::limits;
use crate::link::Sender;
use crate::options::LinkOptions;
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
    Ok(match options.launch_times {
        None => {
            let queue = SendQueue::<NoControls>::new(batch, max_message_size, header);
            Box::new(SocketSender::new(way, queue, max_message_size)?)
        }
        Some(_) => {
            let queue = SendQueue::<LaunchTimes>::new(batch, max_message_size, header);
            Box::new(SocketSender::new(way, queue, max_message_size)?)
        }
    })
}

/// [`Sender`] over a socket.
struct SocketSender<W, C> {
    way: W,
    socket: Socket,
    queue: SendQueue<C>,
    max_message_size: usize,
    counters: LinkCounters,
}

impl<W: Outgoing, C: Controls> SocketSender<W, C> {
    fn new(way: W, queue: SendQueue<C>, max_message_size: usize) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            queue,
            max_message_size,
            counters: LinkCounters::default(),
        })
    }
}

impl<W: Outgoing, C: Controls> Sender for SocketSender<W, C> {
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        if self.queue.is_full() {
            self.flush()?;
        }
        self.queue.reserve(length)
    }

    fn flush(&mut self) -> Result<usize, LinkError> {
        let result = match self.socket.get(|| self.way.open()) {
            Err(reason) => Err(LinkError::Down(reason)),
            Ok(socket) => match self.queue.flush(socket.as_fd(), &mut self.counters) {
                Ok(sent) => {
                    // The link works again, although its socket was not opened anew.
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

    fn counters(&self) -> LinkCounters {
        self.counters
    }

    fn launch_drops(&mut self) -> LaunchDrops {
        let socket = self.socket.opened.as_ref();
        let socket = socket.map(|opened| opened.socket.as_fd());
        self.queue.launch_drops(socket)
    }
}

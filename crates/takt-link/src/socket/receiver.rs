//! Receiver over any bound socket.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::reception::{NoReceiveTimes, ReceiveTimes, SoftwareTimes};
use super::{Opened, RETRY, Socket};
use crate::counters::LinkCounters;
use crate::error::{DownReason, LinkError, LinkState};
use crate::limits;
use crate::link::{Received, Receiver};
use crate::options::LinkOptions;
use crate::unsafe_code::batches::{Datagram, ReceiveBatch};

/// Kind of link that opens sockets for receiving, and reads the received messages.
pub(crate) trait Incoming {
    /// Opens a socket.
    ///
    /// # Errors
    /// [`LinkError::Down`] if opening may work later.
    fn open(&self) -> Result<Opened, LinkError>;

    /// Reads a message; `None` if it is not for this link.
    fn unpack<'a>(&self, datagram: Datagram<'a>) -> Option<Received<'a>>;

    /// Returns the number of messages for which the kernel had no room since the last call; `last` is the last message received.
    fn overflows(&mut self, socket: BorrowedFd<'_>, last: &Datagram<'_>) -> u64;
}

/// Opens a link; `overhead` is the length of the longest header in front of a message.
pub(crate) fn open_receiver(
    way: impl Incoming + 'static,
    options: &LinkOptions,
    max_message_size: usize,
    overhead: usize,
) -> Result<Box<dyn Receiver>, LinkError> {
    let batch = ReceiveBatch::new(limits::batch(options)?, overhead + max_message_size);
    Ok(match options.receive_times {
        false => Box::new(SocketReceiver::<_, NoReceiveTimes>::new(
            way,
            batch,
            max_message_size,
        )?),
        true => Box::new(SocketReceiver::<_, SoftwareTimes>::new(
            way,
            batch,
            max_message_size,
        )?),
    })
}

/// [`Receiver`] over a socket.
struct SocketReceiver<W, T> {
    way: W,
    socket: Socket,
    batch: ReceiveBatch,
    max_message_size: usize,
    counters: LinkCounters,
    times: PhantomData<T>,
}

impl<W: Incoming, T: ReceiveTimes> SocketReceiver<W, T> {
    fn new(way: W, batch: ReceiveBatch, max_message_size: usize) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            batch,
            max_message_size,
            counters: LinkCounters::default(),
            times: PhantomData,
        })
    }

    /// Receives the available messages and returns their number; `None` if there are none.
    fn receive_now(
        &mut self,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<Option<usize>, LinkError> {
        let socket = self.socket.get(|| self.way.open());
        let socket = socket.map_err(LinkError::Down)?.as_fd();
        let count = match self.batch.receive(socket) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(errno) => return Err(self.socket.failed(errno)),
        };
        let mut passed_on = 0;
        for (place, datagram) in self.batch.messages(count).enumerate() {
            if place + 1 == count {
                self.counters.overflowed += self.way.overflows(socket, &datagram);
            }
            let is_truncated = datagram.is_truncated;
            let time = T::time(datagram.control);
            let Some(mut received) = self.way.unpack(datagram) else {
                continue;
            };
            if is_truncated || received.bytes.len() > self.max_message_size {
                self.counters.discarded += 1;
                continue;
            }
            self.counters.count(received.bytes.len());
            passed_on += 1;
            received.time = time;
            each(received);
        }
        Ok(Some(passed_on))
    }

    /// Waits until there may be a message; returns `false` after the timeout.
    fn wait(&mut self, timeout: Duration) -> Result<bool, LinkError> {
        let Some(opened) = &self.socket.opened else {
            return Ok(false);
        };
        let timeout = Timespec::try_from(timeout).ok();
        let mut descriptors = [PollFd::new(&opened.socket, PollFlags::IN)];
        match poll(&mut descriptors, timeout.as_ref()) {
            Ok(0) => {
                // The kernel does not report that the interface of a receiving socket was removed.
                if opened.state() == LinkState::Down(DownReason::InterfaceGone) {
                    self.socket.down = Some(DownReason::InterfaceGone);
                }
                Ok(false)
            }
            Ok(_) | Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(LinkError::System(errno)),
        }
    }
}

impl<W: Incoming, T: ReceiveTimes> Receiver for SocketReceiver<W, T> {
    fn receive(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<usize, LinkError> {
        match self.receive_now(each) {
            Ok(None) if timeout.is_zero() => return Ok(0),
            Ok(None) => {}
            Ok(Some(count)) if count > 0 || timeout.is_zero() => return Ok(count),
            Ok(Some(_)) => {}
            Err(LinkError::Down(reason)) if self.socket.opened.is_none() => {
                // There is no descriptor to wait for; a caller that calls again at once must not spin.
                std::thread::sleep(timeout.min(RETRY));
                return Err(LinkError::Down(reason));
            }
            Err(error) => return Err(error),
        }
        let end = Instant::now().checked_add(timeout);
        loop {
            // A time that the clock cannot represent is never.
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if !self.wait(left)? {
                return Ok(0);
            }
            // The message may have been for another link.
            match self.receive_now(each)? {
                Some(count) if count > 0 => return Ok(count),
                _ if end.is_some_and(|end| Instant::now() >= end) => return Ok(0),
                _ => {}
            }
        }
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        let opened = self.socket.opened.as_ref();
        opened.map(|opened| opened.socket.as_fd())
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
}

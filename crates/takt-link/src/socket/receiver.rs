//! Receives from any bound socket.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Opened, RETRY, Socket};
use crate::error::{DownReason, LinkError, LinkState};
use crate::link::{Counters, Received, Receiver};
use crate::unsafe_code::{Datagram, ReceiveBatch};

/// How a way to the wire opens sockets to receive with, and what is in their messages.
pub(crate) trait Incoming {
    /// Opens a socket. [`LinkError::Down`] if that is all that is in the way.
    fn open(&self) -> Result<Opened, LinkError>;

    /// Reads a message; `None` if it is none of ours.
    fn unpack<'a>(&self, datagram: Datagram<'a>) -> Option<Received<'a>>;

    /// How many messages the kernel had no room for, since the socket was opened as the message says, or since this was last asked.
    fn overflows(&mut self, socket: BorrowedFd<'_>, last: &Datagram<'_>) -> u64;
}

/// A [`Receiver`] over a socket.
pub(crate) struct SocketReceiver<W> {
    way: W,
    socket: Socket,
    batch: ReceiveBatch,
    max_message_size: usize,
    counters: Counters,
}

impl<W: Incoming> SocketReceiver<W> {
    /// `overhead` is what comes in front of a message, at most.
    pub(crate) fn new(
        way: W,
        batch: usize,
        max_message_size: usize,
        overhead: usize,
    ) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            batch: ReceiveBatch::new(batch, overhead + max_message_size),
            max_message_size,
            counters: Counters::default(),
        })
    }

    /// Receives what is there. `None`: there is nothing.
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
            let Some(received) = self.way.unpack(datagram) else {
                continue;
            };
            if is_truncated || received.bytes.len() > self.max_message_size {
                self.counters.discarded += 1;
                continue;
            }
            self.counters.count(received.bytes.len());
            passed_on += 1;
            each(received);
        }
        Ok(Some(passed_on))
    }

    /// Waits until there may be something; `false` after the time.
    fn wait(&mut self, timeout: Duration) -> Result<bool, LinkError> {
        let Some(opened) = &self.socket.opened else {
            return Ok(false);
        };
        let timeout = Timespec::try_from(timeout).ok();
        let mut descriptors = [PollFd::new(&opened.socket, PollFlags::IN)];
        match poll(&mut descriptors, timeout.as_ref()) {
            Ok(0) => {
                // Nothing is said to those who listen on an interface that is removed.
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

impl<W: Incoming> Receiver for SocketReceiver<W> {
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
                // Nothing can wake us; a caller that simply asks again shall not spin.
                std::thread::sleep(timeout.min(RETRY));
                return Err(LinkError::Down(reason));
            }
            Err(error) => return Err(error),
        }
        let end = Instant::now().checked_add(timeout);
        loop {
            // Far in the future is never.
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if !self.wait(left)? {
                return Ok(0);
            }
            // What woke us may have been for others.
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

    fn counters(&self) -> Counters {
        self.counters
    }
}

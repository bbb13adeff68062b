//! Receiver over any bound socket.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::reception::{HardwareTimes, NoReceiveTimes, ReceiveTimes, SoftwareTimes};
use super::{Opened, RETRY, SLICE, Socket};
use crate::counters::LinkCounters;
use crate::error::{DownReason, LinkError, LinkState};
use crate::limits;
use crate::link::Receiver;
use crate::options::{LinkOptions, ReceiveClock};
use crate::received::Received;
use crate::unsafe_code::batches::{Datagram, Parts, ReceiveBatch};

/// Time that must be left for such a wait: a slice may end up to two ticks of the kernel late (10 ms each at 100 Hz).
const LONG: Duration = Duration::from_millis(130);

/// Number of calls that wait for one message, or take one, each, after a message that came alone. Then a call looks for all messages that are
/// there: while they come faster than they are handled, it finds more than one. If it finds none, it has cost a system call.
const SINGLES: u32 = 32;

/// Kind of link that opens sockets for receiving, and reads the received messages.
pub(crate) trait Incoming {
    /// Opens a socket.
    ///
    /// # Errors
    /// [`LinkError::Down`] if opening may work later.
    fn open(&self) -> Result<Opened, LinkError>;

    /// Returns the parts of messages that [`unpack`](Self::unpack) reads.
    fn parts(&self) -> Parts;

    /// Reads a message; `None` if it is not for this link.
    fn unpack<'a>(&self, datagram: Datagram<'a>) -> Option<Received<'a>>;
}

/// Opens a link; `overhead` is the length of the longest header in front of a message.
pub(crate) fn open_receiver(
    way: impl Incoming + 'static,
    options: &LinkOptions,
    max_message_size: usize,
    overhead: usize,
) -> Result<Box<dyn Receiver>, LinkError> {
    let parts = Parts {
        control: way.parts().control || options.receive_times.is_some(),
        ..way.parts()
    };
    let slot = overhead + max_message_size;
    let batch = ReceiveBatch::new(limits::batch(options)?, slot, parts);
    let size = max_message_size;
    Ok(match options.receive_times {
        None => Box::new(SocketReceiver::<_, NoReceiveTimes>::new(
            way, batch, options, size,
        )?),
        Some(ReceiveClock::Software) => Box::new(SocketReceiver::<_, SoftwareTimes>::new(
            way, batch, options, size,
        )?),
        Some(ReceiveClock::Hardware) => Box::new(SocketReceiver::<_, HardwareTimes>::new(
            way, batch, options, size,
        )?),
    })
}

/// End of a wait for one message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    /// A message for this link was passed on.
    Message,
    /// None came in [`SLICE`], or there is none.
    Slice,
    /// A message for another link came, or a signal.
    Other,
}

/// Passes on the messages that are for a link and not too large.
struct Filter<'a, W, T> {
    way: &'a W,
    max_message_size: usize,
    counters: &'a mut LinkCounters,
    times: PhantomData<T>,
}

impl<'a, W: Incoming, T: ReceiveTimes> Filter<'a, W, T> {
    fn new(way: &'a W, max_message_size: usize, counters: &'a mut LinkCounters) -> Self {
        Self {
            way,
            max_message_size,
            counters,
            times: PhantomData,
        }
    }

    /// Returns the number of messages that it passes on: 0 or 1.
    #[inline]
    fn pass_on(&mut self, datagram: Datagram<'_>, each: &mut dyn FnMut(Received<'_>)) -> usize {
        let is_truncated = datagram.is_truncated;
        let time = T::time(datagram.control);
        let Some(mut received) = self.way.unpack(datagram) else {
            return 0;
        };
        if is_truncated || received.bytes.len() > self.max_message_size {
            self.counters.discarded += 1;
            return 0;
        }
        self.counters.count(received.bytes.len());
        received.time = time;
        each(received);
        1
    }
}

/// [`Receiver`] over a socket.
struct SocketReceiver<W, T> {
    way: W,
    socket: Socket,
    batch: ReceiveBatch,
    max_message_size: usize,
    counters: LinkCounters,
    /// True if every call looks once, and the next one comes at once.
    poll_only: bool,
    /// Number of the next calls that wait before they receive, which saves a system call, or that take one message.
    singles: u32,
    times: PhantomData<T>,
}

impl<W: Incoming, T: ReceiveTimes> SocketReceiver<W, T> {
    fn new(
        way: W,
        batch: ReceiveBatch,
        options: &LinkOptions,
        max_message_size: usize,
    ) -> Result<Self, LinkError> {
        Ok(Self {
            socket: Socket::new(|| way.open())?,
            way,
            batch,
            max_message_size,
            counters: LinkCounters::default(),
            poll_only: options.poll_only,
            singles: 0,
            times: PhantomData,
        })
    }

    /// Receives the available messages and returns their number; `None` if there are none. After a batch, there may be more.
    fn receive_now(
        &mut self,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<Option<usize>, LinkError> {
        let mut sum = None;
        // Without an end, a flood of messages would keep the caller here.
        let mut left = self.batch.most();
        loop {
            let room = self.batch.room();
            let Some((count, passed_on)) = self.receive_some(each)? else {
                return Ok(sum);
            };
            sum = Some(sum.unwrap_or(0) + passed_on);
            left = left.saturating_sub(count);
            if count < room || left == 0 {
                return Ok(sum);
            }
        }
    }

    /// Receives the available messages with one system call. Returns their number, and the number of those for this link; `None`
    /// if there are none.
    fn receive_some(
        &mut self,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<Option<(usize, usize)>, LinkError> {
        let socket = self.socket.get(|| self.way.open());
        let socket = socket.map_err(LinkError::Down)?.as_fd();
        let count = match self.batch.receive(socket) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(errno) => return Err(self.socket.failed(errno)),
        };
        let mut filter = Filter::<W, T>::new(&self.way, self.max_message_size, &mut self.counters);
        let messages = self.batch.messages(count);
        let passed_on = messages.map(|message| filter.pass_on(message, each));
        Ok(Some((count, passed_on.sum())))
    }

    /// Waits up to [`SLICE`](super::SLICE) for a message.
    #[inline]
    fn wait_for_one(&mut self, each: &mut dyn FnMut(Received<'_>)) -> Result<WaitEnd, LinkError> {
        self.one(ReceiveBatch::wait_for_one, each)
    }

    /// Takes one message if there is one, with less work for the kernel than for a batch.
    #[inline]
    fn take_one(&mut self, each: &mut dyn FnMut(Received<'_>)) -> Result<usize, LinkError> {
        let end = self.one(ReceiveBatch::take_one, each)?;
        // A look that finds nothing costs no turn: the next message is as likely to come alone.
        self.singles -= u32::from(end != WaitEnd::Slice);
        Ok(usize::from(end == WaitEnd::Message))
    }

    #[inline]
    fn one(
        &mut self,
        receive: impl Fn(&mut ReceiveBatch, BorrowedFd<'_>) -> Result<(), Errno>,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<WaitEnd, LinkError> {
        let socket = self.socket.get(|| self.way.open());
        let socket = socket.map_err(LinkError::Down)?.as_fd();
        match receive(&mut self.batch, socket) {
            Ok(()) => {}
            Err(Errno::AGAIN) => return Ok(WaitEnd::Slice),
            Err(Errno::INTR) => return Ok(WaitEnd::Other),
            Err(errno) => return Err(self.socket.failed(errno)),
        }
        let mut filter = Filter::<W, T>::new(&self.way, self.max_message_size, &mut self.counters);
        match self.batch.first().map(|first| filter.pass_on(first, each)) {
            Some(1..) => Ok(WaitEnd::Message),
            _ => Ok(WaitEnd::Other),
        }
    }

    /// Notes an interface that was removed: the kernel does not report it to a receiving socket.
    fn check_interface(&mut self) {
        let gone = DownReason::InterfaceGone;
        if self.socket.interface_state() == LinkState::Down(gone) {
            self.socket.down = Some(gone);
        }
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
                self.check_interface();
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
        if self.poll_only && timeout.is_zero() && self.singles > 0 && self.socket.down.is_none() {
            return self.take_one(each);
        }
        let looks_first = self.singles == 0 || timeout.is_zero() || self.socket.down.is_some();
        // Time of waiting so far. The clock is read only when a wait has ended without a message.
        let mut waited = Duration::ZERO;
        if looks_first {
            match self.receive_now(each) {
                Ok(None) if timeout.is_zero() => return Ok(0),
                Ok(None) => {}
                Ok(Some(count)) if count > 0 || timeout.is_zero() => {
                    self.singles = if count == 1 { SINGLES } else { 0 };
                    return Ok(count);
                }
                // All of them were for other links, so the wait goes on.
                Ok(Some(_)) => {}
                Err(LinkError::Down(reason)) if self.socket.opened.is_none() => {
                    // There is no descriptor to wait for; a caller that calls again at once must not spin.
                    std::thread::sleep(timeout.min(RETRY));
                    return Err(LinkError::Down(reason));
                }
                Err(error) => return Err(error),
            }
        } else if timeout >= LONG {
            self.singles -= 1;
            match self.wait_for_one(each)? {
                WaitEnd::Message => return Ok(1),
                WaitEnd::Slice => waited = SLICE,
                WaitEnd::Other => {}
            }
            self.check_interface();
            // The next call opens the socket again, or returns the error.
            if self.socket.down.is_some() {
                return Ok(0);
            }
        }
        let mut now = Instant::now();
        // A time that the clock cannot represent is never.
        let end = now.checked_add(timeout.saturating_sub(waited));
        loop {
            let left = end.map_or(timeout, |end| end.saturating_duration_since(now));
            // The message may be for another link.
            if left >= LONG {
                if self.wait_for_one(each)? == WaitEnd::Message {
                    self.singles = SINGLES;
                    return Ok(1);
                }
                self.check_interface();
                if self.socket.down.is_some() {
                    return Ok(0);
                }
            } else {
                if !self.wait(left)? {
                    return Ok(0);
                }
                if let Some(count @ 1..) = self.receive_now(each)? {
                    self.singles = if count == 1 { SINGLES } else { 0 };
                    return Ok(count);
                }
            }
            now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(0);
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
        LinkCounters {
            overflowed: self.socket.lost(),
            ..self.counters
        }
    }
}

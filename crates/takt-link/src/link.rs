//! Interface of all links.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::{LinkError, LinkState};
use crate::received::Received;
use crate::reservation::Reservation;

/// Sender of messages to one destination. It need not move to another thread: open it on the thread that uses it.
///
/// ```
/// use takt_link::{Address, LinkOptions, Sender, open_sender};
///
/// let address: Address = "opc.udp://127.0.0.1:4841".parse()?;
/// let mut sender = open_sender(&address, &LinkOptions::default())?;
/// let mut message = sender.reserve(4)?;
/// message.copy_from_slice(b"data");
/// message.commit()?;
/// sender.flush()?;
/// # Ok::<(), takt_link::LinkError>(())
/// ```
pub trait Sender {
    /// Reserves room for one message of `length` bytes; its content is undefined. The message is queued by
    /// [`Reservation::commit`]; a reservation that is dropped sends nothing. If the batch is full, it is flushed first.
    ///
    /// # Errors
    /// [`LinkError::TooLarge`], [`LinkError::Full`], [`LinkError::TooMany`], or those of `flush`.
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError>;

    /// Makes room for this number of messages in one flush, if the messages of a flush leave together
    /// ([`WithoutRoom::Discard`](crate::WithoutRoom::Discard)): before the first message, because it allocates memory, which
    /// `reserve` never does. Without it, the room is that of [`LinkOptions::batch`](crate::LinkOptions::batch).
    ///
    /// # Errors
    /// [`LinkError::TooMany`] for more than 1024 messages.
    fn reserve_flush(&mut self, _messages: usize) -> Result<(), LinkError> {
        Ok(())
    }

    /// Passes all queued messages to the operating system, in one system call where it has such a call, and returns the number of
    /// messages sent since the last call, with those that [`reserve`](Self::reserve) has sent. Messages for which it has no room
    /// stay queued, unless [`LinkOptions::without_room`](crate::LinkOptions::without_room) discards them.
    ///
    /// # Errors
    /// [`LinkError::Down`], [`LinkError::System`], and [`LinkError::Full`] if messages without room are discarded; the queued
    /// messages are then discarded, and [`counters`](Self::counters) has the number of those that were sent before.
    fn flush(&mut self) -> Result<usize, LinkError>;

    /// Returns the state of the link, as far as this host can see.
    fn state(&self) -> LinkState;

    /// Returns the length of the longest message, in bytes.
    fn max_message_size(&self) -> usize;

    /// Returns the numbers of messages sent and lost so far.
    fn counters(&self) -> LinkCounters;

    /// Reads the reports of messages that were dropped because of their launch times, without waiting. Returns the
    /// numbers of all drops since the link was opened; zeros for a link without
    /// [`LinkOptions::launch_times`](crate::LinkOptions::launch_times).
    ///
    /// It reads at most 64 reports, with at most four system calls, one if there are none. Reports wait in the socket's
    /// receive buffer. When it is full, the kernel drops further reports. By default it has room for about a hundred
    /// reports on the longest frames, so call this once for fifty messages, when there is time.
    fn launch_drops(&mut self) -> LaunchDrops {
        LaunchDrops::default()
    }

    /// Closes the link and returns its final numbers. It waits as long as dropping the link does; messages that are not delivered by
    /// then are discarded.
    fn close(self: Box<Self>) -> LinkCounters {
        self.counters()
    }

    /// Copies and sends one message at once.
    ///
    /// # Errors
    /// The errors of [`reserve`](Self::reserve), [`Reservation::commit`] and [`flush`](Self::flush).
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let mut reservation = self.reserve(message.len())?;
        reservation.copy_from_slice(message);
        reservation.commit()?;
        self.flush().map(drop)
    }

    /// Copies and sends one message at once, to another topic of the same broker.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send); [`LinkError::Option`] if the link has no topics, or this is none to send to.
    fn send_to_topic(&mut self, topic: &str, _: &[u8]) -> Result<(), LinkError> {
        Err(LinkError::option("mqtt.topic", topic, "a link to a broker"))
    }
}

/// Receiver of the messages of one address.
pub trait Receiver {
    /// Waits at most `timeout` for messages, not at all if it is zero, and passes available messages to `each`, up to two batches.
    /// Returns their number; 0 if the wait ended without a message. A call that waits may return after the first message, even if
    /// more have come.
    ///
    /// The kernel does not tell a UDP socket that its interface was removed; this is checked when a wait ends without a message. A
    /// caller that never waits should look at [`state`](Self::state) now and then, and open the link anew if the interface is gone.
    ///
    /// # Errors
    /// [`LinkError::Down`], [`LinkError::System`]. The next call tries again, so a caller that waits needs to do nothing else; a
    /// caller without a timeout should pause.
    fn receive(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<usize, LinkError>;

    /// Returns a descriptor that becomes readable when there are messages, for epoll; `None` if the link has none, or none at the
    /// moment. The descriptor changes when a link opens its socket anew, because the interface or route had gone.
    fn as_fd(&self) -> Option<BorrowedFd<'_>>;

    /// Returns the state of the link, as far as this host can see.
    fn state(&self) -> LinkState;

    /// Returns the length of the longest message, in bytes.
    fn max_message_size(&self) -> usize;

    /// Returns the numbers of messages received and lost so far. The link asks the kernel for the lost ones, with a system call.
    fn counters(&self) -> LinkCounters;
}

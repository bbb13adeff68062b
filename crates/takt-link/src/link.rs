//! Interface of all links.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::address::{MacAddress, VlanTag};
use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::{LinkError, LinkState};
use crate::options::ReceiveClock;
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
    /// [`LinkError::TooLarge`], [`LinkError::Full`], or those of `flush`.
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError>;

    /// Passes all queued messages to the operating system, in one system call where it has such a call, and returns the number of
    /// messages sent. Messages for which it has no room stay queued.
    ///
    /// # Errors
    /// [`LinkError::Down`], [`LinkError::System`]; the queued messages are then discarded.
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

/// Received message.
#[derive(Debug)]
pub struct Received<'a> {
    /// Bytes of the NetworkMessage. On Ethernet, zeros may follow it: short frames are padded. They may be changed: decryption is
    /// in place.
    pub bytes: &'a mut [u8],
    /// Sender of the message, from the message itself; it is not authenticated.
    pub source: Source,
    /// Topic of the message, if the link has topics.
    pub topic: Option<&'a str>,
    /// Time of reception, if [`LinkOptions::receive_times`](crate::LinkOptions::receive_times) is set and the link has such
    /// times.
    pub time: Option<ReceiveTime>,
}

/// Time at which a message was received, in nanoseconds of a clock. Times of different clocks cannot be compared: the
/// clock of a network card is usually set to TAI, which is 37 s ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveTime {
    clock: ReceiveClock,
    nanos: i64,
}

impl ReceiveTime {
    /// Creates a time of a clock, in nanoseconds since the epoch of the clock.
    pub(crate) const fn new(clock: ReceiveClock, nanos: i64) -> Self {
        Self { clock, nanos }
    }

    /// Returns the clock of the time.
    #[must_use]
    pub const fn clock(self) -> ReceiveClock {
        self.clock
    }

    /// Returns the nanoseconds since the epoch of the clock: 1970-01-01 UTC for [`ReceiveClock::Software`], usually
    /// 1970-01-01 TAI for [`ReceiveClock::Hardware`].
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.nanos
    }
}

/// Origin of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `opc.udp`: address and port of the sender.
    Udp(SocketAddr),
    /// `opc.eth`: the sender's MAC address, and the 802.1Q tag if there was one.
    Ethernet {
        /// Source address of the frame.
        address: MacAddress,
        /// 802.1Q tag, also if the network card or the kernel had removed it from the frame. A receiver whose address is a group
        /// without a VLAN does not see the tags of frames with VID 0.
        vlan: Option<VlanTag>,
    },
    /// `mqtt`: a broker does not name the publisher.
    Broker,
    /// `opc.iox2`: a process of this host.
    SharedMemory,
}

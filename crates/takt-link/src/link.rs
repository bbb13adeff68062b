//! What all links have in common.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::address::{MacAddress, VlanTag};
use crate::error::{LinkError, LinkState};

/// Sends messages to one destination. It need not move to another thread: open it on the one that uses it.
///
/// ```
/// use takt_link::{Address, Options, Sender, open_sender};
///
/// let address: Address = "opc.udp://127.0.0.1:4841".parse()?;
/// let mut sender = open_sender(&address, &Options::default())?;
/// let room = sender.reserve(4)?;
/// room.copy_from_slice(b"data");
/// sender.commit()?;
/// sender.flush()?;
/// # Ok::<(), takt_link::LinkError>(())
/// ```
pub trait Sender {
    /// Room for one message of `length` bytes, with any bytes in it. It is filled, and then passed on by
    /// [`commit`](Self::commit); one that is not committed is forgotten. If the batch is full, it is flushed first.
    ///
    /// # Errors
    /// [`LinkError::TooLarge`], [`LinkError::Full`], or those of `flush`.
    fn reserve(&mut self, length: usize) -> Result<&mut [u8], LinkError>;

    /// Queues the message that was reserved; a link without batches sends it.
    ///
    /// # Errors
    /// [`LinkError::NothingReserved`], [`LinkError::Down`].
    fn commit(&mut self) -> Result<(), LinkError>;

    /// Hands all that is queued to the operating system, in one system call where it has such a one, and says how many went
    /// out. What it has no room for stays queued.
    ///
    /// # Errors
    /// [`LinkError::Down`], [`LinkError::System`]; what was queued is then discarded.
    fn flush(&mut self) -> Result<usize, LinkError>;

    /// Whether messages get out, as far as is known.
    fn state(&self) -> LinkState;

    /// The longest message, in bytes.
    fn max_message_size(&self) -> usize;

    /// What became of the messages so far.
    fn counters(&self) -> Counters;

    /// One message, from elsewhere, at once.
    ///
    /// # Errors
    /// Those of [`reserve`](Self::reserve), [`commit`](Self::commit) and [`flush`](Self::flush).
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.reserve(message.len())?.copy_from_slice(message);
        self.commit()?;
        self.flush().map(drop)
    }
}

/// Receives the messages of one address.
pub trait Receiver {
    /// Waits for messages, at most `timeout` long and not at all if that is zero, and passes on those that are there, at most
    /// a batch. Says how many that were; after an end of the waiting without any it is 0.
    ///
    /// The kernel does not tell a UDP socket that its interface was removed; that is looked after when the waiting ends without a
    /// message. Who never waits should look at [`state`](Self::state) now and then, and open the link anew if the interface is gone.
    ///
    /// # Errors
    /// [`LinkError::Down`], [`LinkError::System`]. The next call tries again, so that a caller who goes on waiting needs to do
    /// nothing else; one that is told at once should pause.
    fn receive(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<usize, LinkError>;

    /// What becomes readable when there are messages, for epoll; `None` if there is no such thing, or none at the moment. It is another
    /// one once a link has been down because its interface or route had gone.
    fn as_fd(&self) -> Option<BorrowedFd<'_>>;

    /// Whether messages can come in, as far as is known.
    fn state(&self) -> LinkState;

    /// The longest message, in bytes.
    fn max_message_size(&self) -> usize;

    /// What became of the messages so far.
    fn counters(&self) -> Counters;
}

/// A message that was received.
#[derive(Debug)]
pub struct Received<'a> {
    /// The NetworkMessage. On Ethernet, zeros may follow it: short frames are padded. It may be changed: decryption is in place.
    pub bytes: &'a mut [u8],
    /// Where it came from; nobody vouches for that.
    pub source: Source,
    /// The topic that it was published to, if there are topics.
    pub topic: Option<&'a str>,
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `opc.udp`: address and port of the sender.
    Udp(SocketAddr),
    /// `opc.eth`: the sender's MAC address, and the 802.1Q tag if there was one.
    Ethernet {
        /// The source address of the frame.
        address: MacAddress,
        /// The tag, also if the network card or the kernel had taken it out.
        vlan: Option<VlanTag>,
    },
    /// `mqtt`: a broker does not say.
    Broker,
    /// `opc.iox2`: a process of this host.
    SharedMemory,
}

/// Counts messages since a link was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Sent, or received and passed on.
    pub messages: u64,
    /// Their bytes, without headers of the link.
    pub bytes: u64,
    /// Discarded by this side: queued while the link was down, or longer than the longest message.
    pub discarded: u64,
    /// Lost because this application was too slow: the kernel's or the link's queue had no room, as far as that is known.
    pub overflowed: u64,
}

impl Counters {
    pub(crate) fn count(&mut self, length: usize) {
        self.messages += 1;
        self.bytes += length as u64;
    }
}

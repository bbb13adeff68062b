//! Messages that wait for one system call.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::launch::Controls;
use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::LinkError;
use crate::launch_time::LaunchTime;
use crate::limits::MAX_BATCH;
use crate::reservation::{Queue, Reservation};
use crate::unsafe_code::batches::SendHeaders;

/// Messages in order, each in a place of its own behind the header of the link, which is written already.
pub(crate) struct SendQueue<C> {
    places: Vec<u8>,
    /// Size of a place in bytes, header included.
    place: usize,
    batch: usize,
    headers: SendHeaders,
    waiting: Waiting<C>,
    /// Number of waiting messages that are sent already.
    first: usize,
    /// Reason why the last flush has left messages.
    refusal: Option<Errno>,
}

/// Committed messages.
struct Waiting<C> {
    /// Length of the header in front of each message, in bytes.
    header: usize,
    /// Lengths of the messages in bytes, header included.
    lengths: Vec<usize>,
    controls: C,
}

impl<C: Controls> Queue for Waiting<C> {
    #[inline]
    fn commit(&mut self, message: &[u8], launch_time: Option<LaunchTime>) {
        self.lengths.push(self.header + message.len());
        self.controls.push(launch_time);
    }
}

impl<C: Controls> SendQueue<C> {
    pub(crate) fn new(batch: usize, max_message_size: usize, header: &[u8]) -> Self {
        let place = header.len() + max_message_size;
        let mut places = vec![0; batch * place];
        for place in places.chunks_exact_mut(place) {
            place[..header.len()].copy_from_slice(header);
        }
        Self {
            places,
            place,
            batch,
            headers: SendHeaders::new(batch),
            waiting: Waiting {
                header: header.len(),
                lengths: Vec::with_capacity(batch),
                controls: C::new(batch),
            },
            first: 0,
            refusal: None,
        }
    }

    /// Makes room for this number of messages at least; the queue must be empty. It allocates and writes to the new memory, which a
    /// real-time thread must not do later.
    ///
    /// # Errors
    /// [`LinkError::TooMany`].
    pub(crate) fn reserve_batch(&mut self, messages: usize) -> Result<(), LinkError> {
        if messages > MAX_BATCH {
            return Err(LinkError::TooMany { maximum: MAX_BATCH });
        }
        let added = messages.saturating_sub(self.batch);
        if added == 0 || !self.is_empty() {
            return Ok(());
        }
        let header = self.places[..self.waiting.header].to_vec();
        let old = self.places.len();
        self.places.resize(messages * self.place, 0);
        for place in self.places[old..].chunks_exact_mut(self.place) {
            place[..header.len()].copy_from_slice(&header);
        }
        self.headers = SendHeaders::new(messages);
        self.waiting.lengths.reserve_exact(messages);
        self.waiting.controls = C::new(messages);
        self.batch = messages;
        Ok(())
    }

    /// Returns the greatest number of waiting messages.
    pub(crate) const fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the lengths of the messages that wait, in bytes, header included.
    pub(crate) fn lengths(&self) -> &[usize] {
        &self.waiting.lengths[self.first..]
    }

    /// Returns the reason why the last flush has left messages.
    pub(crate) const fn refusal(&self) -> Option<Errno> {
        self.refusal
    }

    pub(crate) fn is_full(&self) -> bool {
        // Places become free together, when the last message of the batch is sent.
        self.waiting.lengths.len() == self.batch
    }

    /// Returns the number of messages that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.lengths.len() - self.first
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.lengths.is_empty()
    }

    pub(crate) fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        let header = self.waiting.header;
        let maximum = self.place - header;
        if length > maximum {
            return Err(LinkError::TooLarge { length, maximum });
        }
        if self.is_full() {
            return Err(LinkError::Full);
        }
        let start = self.waiting.lengths.len() * self.place + header;
        let message = &mut self.places[start..start + length];
        Ok(Reservation::own(message, &mut self.waiting))
    }

    /// Discards the queued messages and returns their number.
    pub(crate) fn clear(&mut self) -> u64 {
        let count = self.waiting.lengths.len() - self.first;
        self.waiting.lengths.clear();
        self.waiting.controls.clear();
        self.first = 0;
        count as u64
    }

    /// Sends the queued messages, as many as there is room for, and counts them.
    pub(crate) fn flush(
        &mut self,
        socket: BorrowedFd<'_>,
        counters: &mut LinkCounters,
    ) -> Result<usize, Errno> {
        let mut total = 0;
        self.refusal = None;
        // The kernel can report once for each message that no socket listened for an earlier one.
        let mut refusals = self.waiting.lengths.len() - self.first;
        while self.first < self.waiting.lengths.len() {
            match self.send(socket) {
                Ok(taken) => {
                    for length in &self.waiting.lengths[self.first..self.first + taken] {
                        counters.count(length - self.waiting.header);
                    }
                    self.first += taken;
                    total += taken;
                }
                // This is the answer to an earlier message, over UDP, for example from a host where no socket listens.
                // It is not an error of this message.
                Err(errno) if refusals > 0 && is_answer::<C>(errno) => refusals -= 1,
                Err(Errno::INTR) => {}
                // The queueing discipline does not take this message. If its launch time has passed, it would not take
                // it later either. Other messages are not to wait for it.
                Err(Errno::NOBUFS) if C::ARE_SENT => {
                    counters.discarded += 1;
                    self.waiting.controls.refused(self.first, socket);
                    self.first += 1;
                }
                Err(errno @ (Errno::AGAIN | Errno::NOBUFS)) => {
                    self.refusal = Some(errno);
                    break;
                }
                Err(errno) => return Err(errno),
            }
        }
        if self.first == self.waiting.lengths.len() {
            self.clear();
        }
        Ok(total)
    }

    /// Reads the reports of dropped messages, if there is a socket, and returns the numbers of all drops.
    pub(crate) fn launch_drops(&mut self, socket: Option<BorrowedFd<'_>>) -> LaunchDrops {
        self.waiting.controls.drops(socket)
    }

    /// Sends waiting messages with one system call and returns their number.
    #[inline]
    fn send(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let waiting = &self.waiting.lengths[self.first..];
        let start = self.first * self.place;
        if !C::ARE_SENT
            && let [length] = *waiting
        {
            // A single message is the usual case of a cyclic publisher, and this is the shorter way.
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let message = &self.places[start..start + length];
            return rustix::net::send(socket, message, flags).map(|_| 1);
        }
        let places = self.places[start..].chunks_exact(self.place);
        let messages = places.zip(waiting).map(|(place, &length)| &place[..length]);
        if C::ARE_SENT {
            let controls = &self.waiting.controls;
            let control = |(index, message)| (message, controls.get(self.first + index));
            let messages = messages.enumerate().map(control);
            return self.headers.send::<true>(socket, messages);
        }
        let messages = messages.map(|message| (message, None));
        self.headers.send::<false>(socket, messages)
    }
}

/// Returns true if an error can be the answer by ICMP to an earlier message. The kernel passes on each of them once. A
/// socket with launch times gets all of them, because the option that reports ENOBUFS reports these, too (IP_RECVERR).
#[cold]
fn is_answer<C: Controls>(errno: Errno) -> bool {
    match errno {
        Errno::CONNREFUSED => true,
        Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::NONET => C::ARE_SENT,
        Errno::ACCESS | Errno::PROTO | Errno::NOPROTOOPT | Errno::OPNOTSUPP => C::ARE_SENT,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::super::launch::{LaunchTimes, NoControls};
    use super::*;

    fn sockets() -> (UdpSocket, UdpSocket) {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (sender, receiver)
    }

    fn queue<C: Controls>(launch_times: &[Option<i64>]) -> SendQueue<C> {
        let mut queue = SendQueue::new(8, 100, b"head");
        for (number, nanos) in launch_times.iter().enumerate() {
            let mut message = queue.reserve(1).unwrap();
            message[0] = number as u8;
            let launch_time = nanos.map(LaunchTime::from_tai_nanos);
            message.commit_at(launch_time).unwrap();
        }
        queue
    }

    /// The kernel refuses SCM_TXTIME on a socket without SO_TXTIME: it gets the control message if and only if there is a launch
    /// time.
    #[test]
    fn a_launch_time_reaches_the_kernel_as_a_control_message() {
        let (sender, receiver) = sockets();
        let mut counters = LinkCounters::default();
        let mut launching = queue::<LaunchTimes>(&[Some(1)]);
        let refused = launching.flush(sender.as_fd(), &mut counters);
        assert_eq!(refused, Err(Errno::INVAL));
        let mut without = queue::<LaunchTimes>(&[None, None]);
        assert_eq!(without.flush(sender.as_fd(), &mut counters), Ok(2));
        let mut disabled = queue::<NoControls>(&[Some(1), Some(2)]);
        assert_eq!(disabled.flush(sender.as_fd(), &mut counters), Ok(2));
        assert_eq!((counters.messages, counters.bytes), (4, 4));
        for number in [0, 1, 0, 1] {
            let mut bytes = [0; 10];
            assert_eq!(receiver.recv(&mut bytes).unwrap(), 5);
            assert_eq!(&bytes[..5], [b'h', b'e', b'a', b'd', number]);
        }
    }

    #[test]
    fn each_message_has_its_own_launch_time() {
        let (sender, _receiver) = sockets();
        let mut counters = LinkCounters::default();
        let mut queue = queue::<LaunchTimes>(&[None, Some(1), None]);
        // The first one is sent, and then the second one refused.
        let refused = queue.flush(sender.as_fd(), &mut counters);
        assert_eq!((refused, counters.messages), (Err(Errno::INVAL), 1));
        assert_eq!(queue.clear(), 2);
        assert!(!queue.is_full());
    }
}

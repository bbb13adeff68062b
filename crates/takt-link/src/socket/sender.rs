//! Sender over any connected or bound socket.

use std::os::fd::AsFd;

use super::launch::{Controls, LaunchTimes, NoControls};
use super::queue::SendQueue;
use super::{Opened, Socket};
use crate::counters::{LaunchDrops, LinkCounters};
use crate::error::{LinkError, LinkState};
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
    /// True if messages were queued for the next flush beside the queued ones, because a batch was full.
    has_more: bool,
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
            has_more: false,
            unreported: 0,
            counters: LinkCounters::default(),
        })
    }

    /// Sends the queued messages.
    fn send_queued(&mut self) -> Result<(), LinkError> {
        let waiting = self.queue.waiting();
        let result = match self.socket.get(|| self.way.open()) {
            Err(reason) => Err(LinkError::Down(reason)),
            Ok(socket) => match self.queue.flush(socket.as_fd(), &mut self.counters) {
                Ok(sent) => {
                    self.unreported += sent;
                    // The link works again, although its socket was not opened anew.
                    if sent > 0 {
                        self.socket.down = None;
                    }
                    return self.discard_without_room(waiting);
                }
                Err(errno) => Err(self.socket.failed(errno)),
            },
        };
        self.counters.discarded += self.queue.clear();
        result
    }

    /// Discards the messages for which there was no room, if they are not to be kept. `waiting` is the number of those
    /// that the flush began with.
    #[inline]
    fn discard_without_room(&mut self, waiting: usize) -> Result<(), LinkError> {
        let are_kept = match self.without_room {
            WithoutRoom::Keep => true,
            WithoutRoom::Discard => false,
            WithoutRoom::DiscardAlone => waiting > 1 || self.has_more,
        };
        if are_kept || self.queue.is_empty() {
            return Ok(());
        }
        self.counters.overflowed += self.queue.clear();
        Err(LinkError::Full)
    }
}

impl<W: Outgoing, C: Controls> Sender for SocketSender<W, C> {
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        if self.queue.is_full() {
            self.has_more = true;
            self.send_queued()?;
        }
        self.queue.reserve(length)
    }

    fn flush(&mut self) -> Result<usize, LinkError> {
        let sent = self.send_queued();
        self.has_more = false;
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::ErrorKind;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    /// End of a pair of sockets: the kernel keeps a few messages for the other end, and then has no room.
    struct Pair(UnixDatagram);

    impl Outgoing for Pair {
        fn open(&self) -> Result<Opened, LinkError> {
            Ok(Opened {
                socket: self.0.try_clone().unwrap().into(),
                interface: None,
            })
        }
    }

    fn sender(without_room: WithoutRoom) -> (Box<dyn Sender>, UnixDatagram) {
        let (here, there) = UnixDatagram::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let options = LinkOptions {
            batch: 4,
            without_room,
            ..LinkOptions::default()
        };
        (open_sender(Pair(here), &options, 8, b"").unwrap(), there)
    }

    fn queue(sender: &mut dyn Sender, number: u64) -> Result<(), LinkError> {
        let mut message = sender.reserve(8)?;
        message.copy_from_slice(&number.to_le_bytes());
        message.commit()
    }

    fn received(there: &UnixDatagram) -> Vec<u64> {
        let mut numbers = Vec::new();
        loop {
            let mut bytes = [0; 8];
            match there.recv(&mut bytes) {
                Ok(_) => numbers.push(u64::from_le_bytes(bytes)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return numbers,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Number of messages for which the kernel does not have room (net.unix.max_dgram_qlen, SO_SNDBUF).
    const CYCLES: u64 = 10_000;

    #[test]
    fn a_message_without_room_does_not_wait_for_the_next_one() {
        let (mut sender, there) = sender(WithoutRoom::Discard);
        let mut failed = 0;
        for number in 0..CYCLES {
            queue(sender.as_mut(), number).unwrap();
            match sender.flush() {
                Ok(count) => assert_eq!(count, 1),
                Err(LinkError::Full) => failed += 1,
                Err(error) => panic!("{error}"),
            }
        }
        let counters = sender.counters();
        assert!(counters.overflowed > 0, "the kernel had room for all");
        assert_eq!((counters.overflowed, counters.discarded), (failed, 0));
        assert_eq!(counters.messages + failed, CYCLES);
        let first = received(&there);
        assert_eq!(first, (0..counters.messages).collect::<Vec<_>>());
        // Now there is room, and the newest message comes first.
        queue(sender.as_mut(), CYCLES).unwrap();
        assert_eq!(sender.flush().unwrap(), 1);
        assert_eq!(received(&there), [CYCLES]);
    }

    /// Sends groups of four messages in each of many intervals through a port with room for fewer, and returns how often
    /// each message of the group has come.
    fn come_of_four(without_room: WithoutRoom) -> [u64; 4] {
        let (mut sender, there) = sender(without_room);
        // The port is full before the first interval.
        loop {
            queue(sender.as_mut(), 9).unwrap();
            if sender.flush().is_err() {
                break;
            }
        }
        let mut come = [0; 4];
        let mut bytes = [0; 8];
        for _ in 0..CYCLES / 10 {
            // Room for three messages.
            for _ in 0..3 {
                if there.recv(&mut bytes).is_ok()
                    && let Some(count) = come.get_mut(u64::from_le_bytes(bytes) as usize)
                {
                    *count += 1;
                }
            }
            for number in 0..4 {
                let _ = queue(sender.as_mut(), number);
            }
            let _ = sender.flush();
        }
        come
    }

    #[test]
    fn each_message_of_a_group_leaves_through_a_port_with_room_for_a_part_of_it() {
        let come = come_of_four(WithoutRoom::DiscardAlone);
        assert!(come.iter().all(|count| *count > 0), "{come:?}");
        // The reason for this treatment.
        let come = come_of_four(WithoutRoom::Discard);
        assert_eq!(come[3], 0, "{come:?}");
    }

    #[test]
    fn a_message_alone_does_not_wait_for_the_next_one() {
        let (mut sender, there) = sender(WithoutRoom::DiscardAlone);
        let mut number = 0;
        let full = loop {
            queue(sender.as_mut(), number).unwrap();
            if let Err(error) = sender.flush() {
                break error;
            }
            number += 1;
            assert!(number < CYCLES);
        };
        assert!(matches!(full, LinkError::Full), "{full}");
        assert_eq!(sender.counters().overflowed, 1);
        assert_eq!(received(&there).len() as u64, number);
        queue(sender.as_mut(), 77).unwrap();
        assert_eq!(sender.flush().unwrap(), 1);
        assert_eq!(received(&there), [77]);
    }

    #[test]
    fn the_rest_of_a_batch_without_room_is_discarded_and_counted() {
        let (mut sender, there) = sender(WithoutRoom::Discard);
        let (mut number, mut sent) = (0, 0);
        // A whole batch without a flush: `reserve` sends it, and fails when there is no room.
        while sender.counters().overflowed == 0 {
            if queue(sender.as_mut(), number).is_ok() {
                number += 1;
            }
        }
        sent += received(&there).len() as u64;
        let counters = sender.counters();
        assert_eq!(counters.messages, sent);
        assert_eq!(counters.messages + counters.overflowed, number);
        queue(sender.as_mut(), number).unwrap();
        sender.flush().unwrap();
        assert_eq!(received(&there), [number]);
    }

    #[test]
    fn messages_that_are_kept_leave_later_and_all_of_them_are_reported() {
        let (mut sender, there) = sender(WithoutRoom::Keep);
        let (mut reported, mut queued) = (0, 0);
        loop {
            match queue(sender.as_mut(), queued) {
                Ok(()) => queued += 1,
                Err(LinkError::Full) => break,
                Err(error) => panic!("{error}"),
            }
            // A flush after each fifth message: some full batches are sent by `reserve`.
            if queued % 5 == 0 {
                reported += sender.flush().unwrap();
            }
        }
        let mut all = received(&there);
        while all.len() < usize::try_from(queued).unwrap() {
            reported += sender.flush().unwrap();
            all.extend(received(&there));
        }
        assert_eq!(all, (0..queued).collect::<Vec<_>>());
        assert_eq!(reported as u64, queued);
        assert_eq!(sender.counters().messages, queued);
    }
}

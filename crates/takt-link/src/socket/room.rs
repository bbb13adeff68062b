//! Room for sent messages in the kernel: the buffer of the socket (SO_SNDBUF), sized by the messages of a flush.
//!
//! The kernel counts the memory of a message for its socket until the driver frees it: in the queueing discipline and in the queue
//! of the network card. It takes a message while the count is below the size of the buffer (`net/core/sock.c`,
//! `sock_alloc_send_pskb`), so a small buffer bounds the number of messages that wait in both.

use std::os::fd::BorrowedFd;

use rustix::net::sockopt;

use crate::options::{LinkOptions, WithoutRoom};
use crate::unsafe_code::sockets::{set_option, unsent};

/// Bytes of a `struct sk_buff`, aligned to a cache line.
const DESCRIPTOR: usize = 256;
/// Bytes around the message in its memory: `struct skb_shared_info`, the headers of IP and UDP, and room for that of the link.
const AROUND: usize = 320 + 160;
/// Least memory of a message besides the descriptor (`net/core/skbuff.c`, SKB_SMALL_HEAD_SIZE).
const SMALL: usize = 704;
/// Longest message that is one piece. Longer ones are sent in fragments of IP, for which this is a usual length.
const PIECE: usize = 1536;

/// Returns the memory that the kernel counts for a message of this length in bytes, headers of `opc.eth` included. It may be up
/// to twice too much, because the sizes of memory differ between kernels.
fn memory(length: usize) -> usize {
    let pieces = length.div_ceil(PIECE).max(1);
    let piece = length.min(PIECE) + AROUND;
    let piece = match piece {
        ..=SMALL => SMALL,
        piece => piece.next_power_of_two(),
    };
    pieces * (DESCRIPTOR + piece)
}

/// Room for the messages of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// There is room for all of them, or the kernel is to decide.
    Enough,
    /// No message waits, so there will never be more room.
    All,
    /// There is no room for all of them now.
    TooSmall,
}

/// Size of the buffer of a socket.
#[derive(Debug)]
pub(crate) struct SendRoom {
    /// Number of flushes whose messages may wait; `None`: as many as the buffer of the system takes, but at least one.
    flushes: Option<usize>,
    /// True if the options have a size of the buffer.
    is_fixed: bool,
    /// True if the messages of a flush are sent together or not at all.
    is_whole: bool,
    /// Memory of the largest flush so far, in bytes.
    largest: usize,
    /// Size of the buffer, in bytes of such memory.
    size: usize,
    /// Number of the socket that has this size.
    socket: u64,
}

impl SendRoom {
    /// Returns the room that the options ask for; `None` if they leave it to the system.
    pub(crate) fn of(options: &LinkOptions) -> Option<Self> {
        let is_whole = options.without_room == WithoutRoom::Discard;
        (is_whole || options.send_room.is_some()).then_some(Self {
            flushes: options.send_room,
            is_fixed: options.socket_buffer.is_some(),
            is_whole,
            largest: 0,
            size: 0,
            socket: 0,
        })
    }

    /// Returns true if the messages of a flush are sent together or not at all.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Checks the room for messages of these lengths in bytes, and makes the buffer larger for the largest flush so far. `number` tells
    /// the sockets of a link apart.
    #[inline]
    pub(crate) fn check(
        &mut self,
        (socket, number): (BorrowedFd<'_>, u64),
        lengths: &[usize],
    ) -> Room {
        let needed = lengths.iter().map(|length| memory(*length)).sum();
        if needed > self.largest || number != self.socket {
            self.largest = self.largest.max(needed);
            self.socket = number;
            self.resize(socket);
        }
        // The kernel decides about a message alone, without a further system call.
        if !self.is_whole || lengths.len() < 2 {
            return Room::Enough;
        }
        match unsent(socket) {
            Ok(0) => Room::All,
            Ok(waiting) if waiting.saturating_add(needed) > self.size => Room::TooSmall,
            _ => Room::Enough,
        }
    }

    /// Sets the size of the buffer for the largest flush. A system that refuses decides itself.
    #[cold]
    fn resize(&mut self, socket: BorrowedFd<'_>) {
        let size = || sockopt::socket_send_buffer_size(socket).unwrap_or(0);
        self.size = size();
        let wanted = match self.flushes {
            Some(flushes) => self.largest.saturating_mul(flushes),
            None => self.largest.max(self.size),
        };
        if self.is_fixed || wanted == self.size {
            return;
        }
        // The kernel doubles the value, for its own memory (socket(7)).
        let half = libc::c_int::try_from(wanted.div_ceil(2)).unwrap_or(libc::c_int::MAX);
        // The second option needs CAP_NET_ADMIN; the first one stops at net.core.wmem_max.
        for option in [libc::SO_SNDBUF, libc::SO_SNDBUFFORCE] {
            let _ = set_option(socket, libc::SOL_SOCKET, option, half);
            self.size = size();
            if self.size >= wanted {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    fn room(send_room: Option<usize>) -> SendRoom {
        let options = LinkOptions {
            without_room: WithoutRoom::Discard,
            send_room,
            ..LinkOptions::default()
        };
        SendRoom::of(&options).unwrap()
    }

    #[test]
    fn the_memory_of_a_message_is_that_of_the_kernel_or_up_to_twice_as_much() {
        let (here, _there) = UnixDatagram::pair().unwrap();
        let mut before = 0;
        for length in [8, 64, 300, 700, 1_000, 1_518] {
            here.send(&vec![0; length]).unwrap();
            let counted = unsent(here.as_fd()).unwrap() - before;
            before += counted;
            let memory = memory(length);
            // Without headers of IP and UDP.
            assert!(
                (counted..=counted * 2).contains(&memory),
                "{length}: {memory}, counted {counted}"
            );
        }
        assert_eq!(memory(3_000), 2 * memory(PIECE));
    }

    #[test]
    fn the_buffer_grows_with_the_largest_flush_and_for_each_socket() {
        let (here, _there) = UnixDatagram::pair().unwrap();
        let mut room = room(Some(4));
        let size = || sockopt::socket_send_buffer_size(&here).unwrap();
        let system = size();
        let check = |room: &mut SendRoom, number, lengths: &[usize]| {
            room.check((here.as_fd(), number), lengths)
        };
        assert_eq!(check(&mut room, 1, &[1_500]), Room::Enough);
        let small = size();
        assert_eq!(small, 4 * memory(1_500));
        assert!(small < system);
        assert_eq!(check(&mut room, 1, &[1_500; 3]), Room::All);
        assert_eq!(size(), 3 * small);
        // A shorter flush leaves it as it is.
        assert_eq!(check(&mut room, 1, &[100]), Room::Enough);
        assert_eq!(size(), 3 * small);
        sockopt::set_socket_send_buffer_size(&here, system / 2).unwrap();
        check(&mut room, 2, &[100]);
        assert_eq!(size(), 3 * small);
    }

    #[test]
    fn a_flush_has_room_or_not_as_a_whole() {
        let (here, there) = UnixDatagram::pair().unwrap();
        let mut room = room(Some(1));
        let mut check = |lengths: &[usize]| room.check((here.as_fd(), 1), lengths);
        assert_eq!(check(&[1_400; 4]), Room::All);
        let message = [0; 1_400];
        here.send(&message).unwrap();
        assert_eq!(check(&[1_400; 3]), Room::Enough);
        assert_eq!(check(&[1_400; 4]), Room::TooSmall);
        assert_eq!(check(&[1_400]), Room::Enough);
        there.recv(&mut [0; 1_400]).unwrap();
        assert_eq!(check(&[1_400; 4]), Room::All);
    }

    #[test]
    fn a_size_in_the_options_stays() {
        let (here, _there) = UnixDatagram::pair().unwrap();
        let options = LinkOptions {
            send_room: Some(1),
            socket_buffer: Some(100_000),
            ..LinkOptions::default()
        };
        let mut room = SendRoom::of(&options).unwrap();
        let system = sockopt::socket_send_buffer_size(&here).unwrap();
        room.check((here.as_fd(), 1), &[100]);
        assert_eq!(sockopt::socket_send_buffer_size(&here).unwrap(), system);
        assert!(SendRoom::of(&LinkOptions::default()).is_none());
    }
}

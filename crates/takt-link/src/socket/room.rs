//! Room for sent messages in the kernel: the buffer of the socket (SO_SNDBUF), sized by the messages of a flush.
//!
//! The kernel counts the memory of a message for its socket until the driver frees it: in the queueing discipline and in the queue
//! of the network card. It takes a message while the count is below the size of the buffer (`net/core/sock.c`,
//! `sock_alloc_send_pskb`), so a small buffer bounds the number of messages that wait in both.

use std::num::NonZeroUsize;
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
/// Longest memory in one piece (`include/linux/skbuff.h`, SKB_MAX_ALLOC). Longer messages are in pages, without room to spare.
const LINEAR: usize = 16 << 10;
/// Headers of IPv6 and of its fragments, which are longer than that of IPv4, in bytes.
const FRAGMENT_HEADERS: usize = 40 + 8;

/// Memory that the kernel counts for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Memory {
    /// Length of the longest fragment of IP, in bytes; `None` if messages are not divided, as those of `opc.eth`.
    fragment: Option<NonZeroUsize>,
}

impl Memory {
    /// Returns the memory of messages of a connected socket. Its route may change, but seldom does.
    fn of(socket: BorrowedFd<'_>) -> Self {
        let mtu = sockopt::ip_mtu(socket).or_else(|_| sockopt::ipv6_mtu(socket));
        Self::with_mtu(mtu.ok())
    }

    /// Returns the memory of messages on the way with this MTU; `None` if the socket has none.
    fn with_mtu(mtu: Option<u32>) -> Self {
        let room = mtu.and_then(|mtu| usize::try_from(mtu).ok()?.checked_sub(FRAGMENT_HEADERS));
        Self {
            // Fragments begin at multiples of eight bytes.
            fragment: room.and_then(|room| NonZeroUsize::new(room & !7)),
        }
    }

    /// Returns the memory of a message of this length in bytes, headers of `opc.eth` included. It may be up to twice too much,
    /// because the sizes of memory differ between kernels.
    fn message(self, length: usize) -> usize {
        match self.fragment {
            Some(fragment) if length > fragment.get() => {
                let rest = match length % fragment {
                    0 => 0,
                    rest => piece(rest),
                };
                length / fragment * piece(fragment.get()) + rest
            }
            _ => piece(length),
        }
    }
}

/// Returns the memory of a message, or of a fragment, of this length in bytes.
fn piece(length: usize) -> usize {
    let around = length.saturating_add(AROUND);
    DESCRIPTOR
        + if around <= SMALL {
            SMALL
        } else if around <= LINEAR {
            // The allocator has powers of two.
            around.next_power_of_two()
        } else {
            SMALL + length
        }
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
    memory: Memory,
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
            memory: Memory::with_mtu(None),
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
        let is_new = number != self.socket;
        if is_new {
            self.socket = number;
            self.memory = Memory::of(socket);
        }
        let memory = self.memory;
        let needed = lengths.iter().map(|length| memory.message(*length)).sum();
        if is_new || needed > self.largest {
            self.largest = self.largest.max(needed);
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

    use std::net::UdpSocket;
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
        assert_eq!(Memory::of(here.as_fd()).fragment, None);
        let mut before = 0;
        for length in [8, 64, 300, 700, 1_000, 1_518] {
            here.send(&vec![0; length]).unwrap();
            let counted = unsent(here.as_fd()).unwrap() - before;
            before += counted;
            let memory = piece(length);
            // Without headers of IP and UDP.
            assert!(
                (counted..=counted * 2).contains(&memory),
                "{length}: {memory}, counted {counted}"
            );
        }
    }

    /// Counted by Linux 6.18 (SIOCOUTQ) for messages of UDP at a veth whose queue stood still.
    const COUNTED: [(u32, usize, usize); 35] = [
        (1_500, 8, 832),
        (1_500, 300, 1_280),
        (1_500, 1_472, 2_304),
        (1_500, 1_500, 3_136),
        (1_500, 3_000, 5_440),
        (1_500, 4_100, 6_912),
        (1_500, 8_972, 14_656),
        (1_500, 12_000, 19_264),
        (1_500, 20_000, 32_256),
        (1_500, 30_000, 47_360),
        (1_500, 65_507, 102_656),
        (4_000, 1_500, 2_304),
        (4_000, 2_000, 4_352),
        (4_000, 3_900, 8_448),
        (4_000, 4_100, 9_280),
        (4_000, 5_000, 10_752),
        (4_000, 8_000, 17_728),
        (4_000, 9_000, 19_200),
        (4_000, 20_000, 43_072),
        (4_000, 65_507, 139_520),
        (9_000, 2_000, 4_352),
        (9_000, 3_500, 4_352),
        (9_000, 3_900, 8_448),
        (9_000, 7_000, 8_448),
        (9_000, 8_000, 16_640),
        (9_000, 8_972, 16_640),
        (9_000, 9_000, 17_472),
        (9_000, 20_000, 37_632),
        (9_000, 65_507, 120_832),
        (65_535, 8_972, 16_640),
        (65_535, 12_000, 16_640),
        (65_535, 20_000, 20_832),
        (65_535, 30_000, 30_832),
        (65_535, 60_000, 60_832),
        (65_535, 65_507, 66_339),
    ];

    #[test]
    fn long_messages_have_the_memory_of_their_fragments() {
        for (mtu, length, counted) in COUNTED {
            let memory = Memory::with_mtu(Some(mtu)).message(length);
            assert!(
                (counted..=counted * 2).contains(&memory),
                "{length} at {mtu}: {memory}, counted {counted}"
            );
        }
        // The longest frame of `opc.eth`.
        assert_eq!(Memory::with_mtu(None).message(1_518), 2_304);
        assert_eq!(Memory::with_mtu(Some(40)).fragment, None);
    }

    #[test]
    fn the_mtu_is_that_of_the_route() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // This host may have no IPv6.
            let Ok(socket) = UdpSocket::bind(address) else {
                continue;
            };
            socket.connect(socket.local_addr().unwrap()).unwrap();
            let fragment = Memory::of(socket.as_fd()).fragment.unwrap().get();
            assert!(fragment > 1_400, "{fragment}");
        }
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
        assert_eq!(small, 4 * piece(1_500));
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

//! Options of sockets, and system calls of packet sockets.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use super::result;
use crate::address::MacAddress;

/// Value of a socket option, with the option.
///
/// # Safety
/// The option wants this type. Pointers in the value are valid for as long as the value lives.
unsafe trait OptionValue {
    const LEVEL: c_int;
    const NAME: c_int;
}

/// Sets the socket option of this type of value.
fn set<T: OptionValue>(socket: BorrowedFd<'_>, value: &T) -> Result<(), Errno> {
    // SAFETY: the kernel reads at most the size that it is told, of a value that is borrowed meanwhile; the option wants a value of
    // this type, and what the value points to is alive.
    unsafe { set_raw(socket, T::LEVEL, T::NAME, value) }
}

/// Sets a socket option that is a number.
pub(crate) fn set_option(
    socket: BorrowedFd<'_>,
    level: c_int,
    option: c_int,
    value: c_int,
) -> Result<(), Errno> {
    // SAFETY: a number has no pointers. An option that wants more than a number, such as a filter, is refused by its size.
    unsafe { set_raw(socket, level, option, &value) }
}

/// Calls `setsockopt`.
///
/// # Safety
/// If the option wants a structure with pointers, `T` is this structure, and the pointers are valid until the call has returned.
unsafe fn set_raw<T>(
    socket: BorrowedFd<'_>,
    level: c_int,
    option: c_int,
    value: &T,
) -> Result<(), Errno> {
    // SAFETY: the kernel reads at most the size that it is told, of a value that is borrowed meanwhile; the caller vouches for pointers.
    result(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Binds a packet socket to an interface; `protocol` is an EtherType, or 0 to receive nothing.
pub(crate) fn bind_packet_socket(
    socket: BorrowedFd<'_>,
    index: u32,
    protocol: u16,
) -> Result<(), Errno> {
    // SAFETY: a `struct sockaddr_ll` is numbers, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index as c_int;
    // SAFETY: the address is one of the family of the socket, of the size that is told.
    result(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    })
    .map(drop)
}

// SAFETY: the option wants this structure, which has no pointers.
unsafe impl OptionValue for libc::packet_mreq {
    const LEVEL: c_int = libc::SOL_PACKET;
    const NAME: c_int = libc::PACKET_ADD_MEMBERSHIP;
}

/// Makes the network card of an interface receive the frames to a multicast address, for as long as the packet socket is open.
pub(crate) fn join_packet_group(
    socket: BorrowedFd<'_>,
    index: u32,
    group: MacAddress,
) -> Result<(), Errno> {
    let mut address = [0; 8];
    address[..6].copy_from_slice(&group.0);
    let request = libc::packet_mreq {
        mr_ifindex: index as c_int,
        mr_type: libc::PACKET_MR_MULTICAST as libc::c_ushort,
        mr_alen: 6,
        mr_address: address,
    };
    set(socket, &request)
}

/// Instruction of a classic BPF filter: code, jump if true, jump if false, operand.
pub(crate) type Instruction = (u16, u8, u8, u32);

/// Classic BPF filter: a `struct sock_fprog`, with the instructions that it points to.
#[repr(transparent)]
struct Filter<'a> {
    program: libc::sock_fprog,
    instructions: PhantomData<&'a mut [libc::sock_filter]>,
}

impl<'a> Filter<'a> {
    /// Creates a filter; `None` if there are too many instructions.
    fn new(instructions: &'a mut [libc::sock_filter]) -> Option<Self> {
        Some(Self {
            program: libc::sock_fprog {
                len: u16::try_from(instructions.len()).ok()?,
                filter: instructions.as_mut_ptr(),
            },
            instructions: PhantomData,
        })
    }
}

// SAFETY: the option wants a `struct sock_fprog`, which this type is. It points to as many instructions as it says, which are borrowed.
unsafe impl OptionValue for Filter<'_> {
    const LEVEL: c_int = libc::SOL_SOCKET;
    const NAME: c_int = libc::SO_ATTACH_FILTER;
}

/// Makes the kernel keep only the packets for which the filter returns a number other than 0.
pub(crate) fn attach_filter(socket: BorrowedFd<'_>, program: &[Instruction]) -> Result<(), Errno> {
    let mut instructions: Vec<libc::sock_filter> = program
        .iter()
        .map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k })
        .collect();
    let filter = Filter::new(&mut instructions).ok_or(Errno::INVAL)?;
    set(socket, &filter)
}

/// Returns the number of messages for which a socket had no room since it was made; 0 if the kernel does not tell.
pub(crate) fn drops(socket: BorrowedFd<'_>) -> u32 {
    let mut numbers = [0_u32; libc::SK_MEMINFO_DROPS as usize + 1];
    let mut size = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes of numbers.
    let got = result(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &mut size,
        )
    });
    let [.., drops] = numbers;
    got.map_or(0, |_| drops)
}

/// Returns the memory of the messages that a socket has sent and that the driver has not freed yet, in bytes (SIOCOUTQ,
/// `linux/sockios.h`).
pub(crate) fn unsent(socket: BorrowedFd<'_>) -> Result<usize, Errno> {
    let mut bytes: c_int = 0;
    // SAFETY: the call writes a number to the pointer.
    result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Returns the number of packets for which a packet socket had no room since the last call.
pub(crate) fn packet_drops(socket: BorrowedFd<'_>) -> Result<u32, Errno> {
    let mut statistics = [0_u32; 2]; // struct tpacket_stats: tp_packets, tp_drops
    let mut size = size_of::<[u32; 2]>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes of numbers.
    result(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            statistics.as_mut_ptr().cast(),
            &mut size,
        )
    })?;
    Ok(statistics[1])
}

//! The system calls that `rustix` does not offer: `sendmmsg`, `recvmmsg`, packet sockets, what is known of interfaces; and descriptors
//! of iceoryx2.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use crate::address::MacAddress;

/// The answer of a system call.
fn result(returned: c_int) -> Result<usize, Errno> {
    usize::try_from(returned).map_err(|_| last_error())
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// What `sendmmsg` is given, kept so that sending allocates nothing.
pub(crate) struct SendHeaders {
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
}

impl SendHeaders {
    pub(crate) fn new(batch: usize) -> Self {
        Self {
            headers: vec![EMPTY_HEADER; batch],
            vectors: vec![EMPTY_VECTOR; batch],
        }
    }

    /// Sends the messages in one system call, at most a batch, without waiting. Says how many were taken.
    pub(crate) fn send<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: impl Iterator<Item = &'a [u8]>,
    ) -> Result<usize, Errno> {
        let mut count: libc::c_uint = 0;
        let places = self.headers.iter_mut().zip(&mut self.vectors);
        for ((header, vector), message) in places.zip(messages) {
            vector.iov_base = message.as_ptr().cast_mut().cast();
            vector.iov_len = message.len();
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        // SAFETY: the first `count` headers each point to one vector of ours, which points to a message that is borrowed until
        // after the call. The kernel only reads messages that are sent.
        result(unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            )
        })
    }
}

/// The bytes of a socket address: `struct sockaddr_storage`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Name(pub(crate) [u8; 128]);

/// The bytes of ancillary data.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Control(pub(crate) [u8; 128]);

/// Room for a batch of messages from `recvmmsg`.
pub(crate) struct ReceiveBatch {
    slot: usize,
    buffers: Vec<u8>,
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
    names: Vec<Name>,
    controls: Vec<Control>,
}

/// A message of a [`ReceiveBatch`].
pub(crate) struct Datagram<'a> {
    pub(crate) bytes: &'a mut [u8],
    /// It was longer than the room for it.
    pub(crate) is_truncated: bool,
    pub(crate) name: &'a [u8],
    pub(crate) control: &'a [u8],
}

impl ReceiveBatch {
    /// For `batch` messages of at most `slot` bytes.
    pub(crate) fn new(batch: usize, slot: usize) -> Self {
        Self {
            slot,
            buffers: vec![0; batch * slot],
            headers: vec![EMPTY_HEADER; batch],
            vectors: vec![EMPTY_VECTOR; batch],
            names: vec![Name([0; 128]); batch],
            controls: vec![Control([0; 128]); batch],
        }
    }

    /// Takes what is there, without waiting. Says how many messages that were.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let places = self.headers.iter_mut().zip(&mut self.vectors);
        let others = self.names.iter_mut().zip(&mut self.controls);
        let buffers = self.buffers.chunks_exact_mut(self.slot);
        for (((header, vector), (name, control)), buffer) in places.zip(others).zip(buffers) {
            vector.iov_base = buffer.as_mut_ptr().cast();
            vector.iov_len = buffer.len();
            let header = &mut header.msg_hdr;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            header.msg_name = ptr::from_mut(name).cast();
            header.msg_namelen = size_of::<Name>() as libc::socklen_t;
            header.msg_control = ptr::from_mut(control).cast();
            header.msg_controllen = size_of::<Control>() as _;
            header.msg_flags = 0;
        }
        // SAFETY: each header points to a vector, a name and room for ancillary data of ours with their true sizes, and the vector
        // to a buffer of ours. All of them are borrowed mutably by this call, and any bytes may be written to them.
        result(unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        })
    }

    /// The first `count` messages, which the last call of [`receive`](Self::receive) gave.
    pub(crate) fn messages(&mut self, count: usize) -> impl Iterator<Item = Datagram<'_>> {
        let others = self.names.iter().zip(&self.controls);
        let buffers = self.buffers.chunks_exact_mut(self.slot);
        let messages = self.headers.iter().zip(others).zip(buffers).take(count);
        messages.map(|((header, (name, control)), buffer)| {
            let length = (header.msg_len as usize).min(buffer.len());
            let name_length = (header.msg_hdr.msg_namelen as usize).min(name.0.len());
            let control_length = header.msg_hdr.msg_controllen.min(control.0.len());
            Datagram {
                bytes: &mut buffer[..length],
                is_truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
                name: &name.0[..name_length],
                control: &control.0[..control_length],
            }
        })
    }
}

const EMPTY_VECTOR: libc::iovec = libc::iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

// SAFETY: a `struct mmsghdr` is numbers and pointers, for which zeros are valid. (Not all of its fields can be named portably.)
const EMPTY_HEADER: libc::mmsghdr = unsafe { std::mem::zeroed() };

/// Sets a socket option that is a number.
pub(crate) fn set_option(
    socket: BorrowedFd<'_>,
    level: c_int,
    option: c_int,
    value: c_int,
) -> Result<(), Errno> {
    // SAFETY: a number has no pointers. An option that wants more than a number, such as a filter, is refused by its size.
    unsafe { set(socket, level, option, &value) }
}

/// Sets a socket option.
///
/// # Safety
/// Where the option wants a structure with pointers, `T` is that structure, and they point to what the option says until the call is
/// over. (The kernel reads no more than the size of `T`, and refuses a value that is too short.)
unsafe fn set<T>(
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

/// Has the network card of an interface receive the frames to a multicast address, for as long as the packet socket is open.
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
    // SAFETY: the option wants this structure, which has no pointers.
    unsafe {
        set(
            socket,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &request,
        )
    }
}

/// One instruction of a classic BPF filter: code, jump if true, jump if false, operand.
pub(crate) type Instruction = (u16, u8, u8, u32);

/// Has the kernel keep only those packets for which the filter returns something else than 0.
pub(crate) fn attach_filter(socket: BorrowedFd<'_>, program: &[Instruction]) -> Result<(), Errno> {
    let mut filter: Vec<libc::sock_filter> = program
        .iter()
        .map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k })
        .collect();
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the option wants this structure; it points to no fewer instructions than it says, which live until the kernel has copied them.
    unsafe { set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program) }
}

/// How many packets a packet socket had no room for since this was last asked.
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

/// What the kernel says of an interface, asked with any socket.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    /// IFF_UP, IFF_RUNNING and others.
    Flags,
    /// The MTU, in bytes.
    Mtu,
}

/// Asks about the interface of that name.
pub(crate) fn ask_interface(
    socket: BorrowedFd<'_>,
    name: &str,
    question: Question,
) -> Result<u32, Errno> {
    // SAFETY: a `struct ifreq` is numbers and pointers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays 0.
    if name.len() >= request.ifr_name.len() {
        return Err(Errno::NODEV);
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let code = match question {
        Question::Flags => libc::SIOCGIFFLAGS,
        Question::Mtu => libc::SIOCGIFMTU,
    };
    // SAFETY: both requests read the name, which ends with 0, and write a number to the union behind it.
    result(unsafe { libc::ioctl(socket.as_raw_fd(), code as _, &mut request) })?;
    Ok(match question {
        // SAFETY: the request has written this field.
        Question::Flags => u32::from(unsafe { request.ifr_ifru.ifru_flags } as u16),
        // SAFETY: the request has written this field.
        Question::Mtu => u32::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0),
    })
}

/// Calls `each` with the name of every address of every interface, and the address as the bytes of a `struct sockaddr`.
pub(crate) fn for_each_address(mut each: impl FnMut(&str, &[u8])) -> Result<(), Errno> {
    let mut list: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the call stores a list, which is freed below, or fails.
    result(unsafe { libc::getifaddrs(&mut list) })?;
    let mut next = list;
    // SAFETY: each element of the list is valid until the list is freed, and the last one's `ifa_next` is null.
    while let Some(element) = unsafe { next.as_ref() } {
        next = element.ifa_next;
        if element.ifa_addr.is_null() || element.ifa_name.is_null() {
            continue;
        }
        // SAFETY: `ifa_name` is a string that ends with 0.
        let name = unsafe { CStr::from_ptr(element.ifa_name) };
        // SAFETY: every socket address begins with its family.
        let family = unsafe { (*element.ifa_addr).sa_family };
        let size = match c_int::from(family) {
            libc::AF_INET => size_of::<libc::sockaddr_in>(),
            libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
            libc::AF_PACKET => size_of::<libc::sockaddr_ll>(),
            _ => continue,
        };
        // SAFETY: an address of that family has that size.
        let address = unsafe { std::slice::from_raw_parts(element.ifa_addr.cast::<u8>(), size) };
        if let Ok(name) = name.to_str() {
            each(name, address);
        }
    }
    // SAFETY: the list came from `getifaddrs`, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(list) };
    Ok(())
}

/// The descriptor of a listener, to wait for it.
#[cfg(feature = "iox2")]
pub(crate) fn descriptor(
    listener: &iceoryx2::port::listener::Listener<iceoryx2::prelude::ipc::Service>,
) -> BorrowedFd<'_> {
    use iceoryx2::prelude::FileDescriptorBased;
    // SAFETY: the descriptor is open for as long as the listener lives, longer than the borrow.
    unsafe { BorrowedFd::borrow_raw(listener.file_descriptor().native_handle()) }
}

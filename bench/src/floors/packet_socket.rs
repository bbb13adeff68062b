//! Packet socket of one interface, for frames of one EtherType.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

/// Opens a packet socket (SOCK_RAW) on an interface. It receives and sends whole frames of this EtherType.
pub(crate) fn open(interface: &str, ethertype: u16) -> io::Result<OwnedFd> {
    let name = CString::new(interface)?;
    // SAFETY: the name ends with a zero byte, and lives during the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    let wanted = ethertype.to_be();
    let protocol = Protocol::from_raw(
        std::num::NonZero::new(u32::from(wanted)).ok_or(io::ErrorKind::InvalidInput)?,
    );
    let socket = socket_with(
        AddressFamily::PACKET,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(protocol),
    )?;
    // SAFETY: zeros are valid for this structure of numbers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = wanted;
    address.sll_ifindex = index.cast_signed();
    // SAFETY: the address is a live sockaddr_ll, and its length is that of the structure.
    let bound = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    match bound {
        0 => Ok(socket),
        _ => Err(io::Error::last_os_error()),
    }
}

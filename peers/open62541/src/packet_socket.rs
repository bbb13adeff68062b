//! Packet socket for sending, as an application of open62541's offset table makes one.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Returns the MAC address of an interface, with any socket.
pub(crate) fn address(socket: &OwnedFd, interface: &str) -> Result<[u8; 6], String> {
    // SAFETY: zeros are valid for this structure of numbers and pointers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let places = request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1);
    for (place, byte) in places.zip(interface.bytes()) {
        *place = byte as libc::c_char;
    }
    // SAFETY: the request reads the name, which ends with a zero byte, and writes an address behind it.
    let asked = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) };
    if asked != 0 {
        return Err(failed("ask for the MAC address", interface));
    }
    // SAFETY: the request has written this field.
    let data = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
    let [a, b, c, d, e, f, ..] = data.map(|byte| byte as u8);
    Ok([a, b, c, d, e, f])
}

/// Opens a packet socket that only sends, bound to an interface, as Takt's sender does.
pub(crate) fn open(interface: &str) -> Result<OwnedFd, String> {
    let name = CString::new(interface).map_err(|error| error.to_string())?;
    // SAFETY: the name ends with a zero byte, and lives during the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    // SAFETY: the call has no pointers.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if index == 0 || socket < 0 {
        return Err(failed("open a packet socket", interface));
    }
    // SAFETY: the descriptor is open, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: zeros are valid for this structure of numbers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
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
        _ => Err(failed("bind a packet socket", interface)),
    }
}

fn failed(what: &str, interface: &str) -> String {
    let error = std::io::Error::last_os_error();
    format!("{what} at {interface}: {error}")
}

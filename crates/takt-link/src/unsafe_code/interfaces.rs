//! Network interfaces: their properties and addresses.

use std::ffi::{CStr, c_int};
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use super::result;

/// Property of an interface that the kernel returns.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    /// IFF_UP, IFF_RUNNING and others.
    Flags,
    /// MTU, in bytes.
    Mtu,
}

/// Reads a property of the interface of that name, with any socket.
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

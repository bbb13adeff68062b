//! System calls about Unix groups and about the process at the other end of a socket.
//!
//! `rustix` has no `SO_PEERGROUPS`, and expects a valid process id in `SO_PEERCRED`, which is 0 when the peer is in a PID
//! namespace that cannot be seen from this one.

use std::ffi::CString;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{c_int, c_void, gid_t, socklen_t, ucred};

/// Maximum number of groups of a process: the kernel's `NGROUPS_MAX`.
const MAX_GROUPS: usize = 65_536;
/// Length of the longest entry of the group database that is read, with all members, in bytes.
const LONGEST_ENTRY: usize = 1 << 20;

/// Returns process, user and group at the other end of a Unix socket.
pub(crate) fn peer(socket: BorrowedFd<'_>) -> io::Result<ucred> {
    let mut credentials = MaybeUninit::<ucred>::uninit();
    let size = size_of::<ucred>();
    // SAFETY: there is room for `size` bytes.
    let written = unsafe {
        get_option(
            socket,
            libc::SO_PEERCRED,
            credentials.as_mut_ptr().cast(),
            size,
        )
    }?;
    if written != size {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // SAFETY: the kernel has written all of it, and any bytes are valid numbers.
    Ok(unsafe { credentials.assume_init() })
}

/// Returns the supplementary groups of the process at the other end of a Unix socket.
pub(crate) fn peer_groups(socket: BorrowedFd<'_>) -> io::Result<Vec<gid_t>> {
    let mut groups: Vec<gid_t> = Vec::new();
    let mut room = 64;
    loop {
        groups.resize(room, 0);
        let size = room * size_of::<gid_t>();
        // SAFETY: the vector has so many bytes.
        match unsafe {
            get_option(
                socket,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                size,
            )
        } {
            Ok(written) => {
                groups.truncate(written / size_of::<gid_t>());
                return Ok(groups);
            }
            Err(error) if error.raw_os_error() == Some(libc::ERANGE) && room < MAX_GROUPS => {
                room *= 4;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Reads an option of a socket; returns the number of bytes that the kernel has written.
///
/// # Safety
/// At `value` there is room for `size` bytes.
unsafe fn get_option(
    socket: BorrowedFd<'_>,
    option: c_int,
    value: *mut c_void,
    size: usize,
) -> io::Result<usize> {
    let mut length = socklen_t::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the descriptor is open, and the caller vouches for `value`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value,
            &raw mut length,
        )
    };
    match result {
        0 => Ok((length as usize).min(size)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the number of the group with this name, from the group database of the system; `None` if there is none.
pub(crate) fn group_id(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    let mut strings: Vec<u8> = vec![0; 1024];
    loop {
        let mut entry = MaybeUninit::<libc::group>::uninit();
        let mut found = ptr::null_mut();
        // SAFETY: all pointers are to live memory of the size that is said; the name ends with a zero.
        let status = unsafe {
            libc::getgrnam_r(
                name.as_ptr(),
                entry.as_mut_ptr(),
                strings.as_mut_ptr().cast(),
                strings.len(),
                &raw mut found,
            )
        };
        match status {
            0 if found.is_null() => return None,
            // SAFETY: it was found, so the entry has been written.
            0 => return Some(unsafe { entry.assume_init() }.gr_gid),
            libc::ERANGE if strings.len() < LONGEST_ENTRY => strings.resize(strings.len() * 4, 0),
            libc::EINTR => {}
            _ => return None,
        }
    }
}

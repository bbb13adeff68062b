//! System calls that `rustix` does not offer, and descriptors of iceoryx2, as safe functions.

pub(crate) mod batches;
pub(crate) mod ethtool;
pub(crate) mod interfaces;
#[cfg(feature = "iox2")]
pub(crate) mod listener;
pub(crate) mod sockets;

use std::ffi::c_int;
use std::io;

use rustix::io::Errno;

/// Returns the result of a system call.
fn result(returned: c_int) -> Result<usize, Errno> {
    usize::try_from(returned).map_err(|_| last_error())
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

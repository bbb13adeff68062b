//! New namespaces of a thread.

use std::io;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Moves the calling thread to a new network namespace and a new mount namespace. Threads and processes that it starts later are in
/// them, too. The namespaces end with the last of these.
pub(crate) fn enter_new() -> io::Result<()> {
    // SAFETY: the flags change namespaces and the working directory's sharing of this thread only. Memory and descriptors stay shared.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWNS) }?;
    Ok(())
}

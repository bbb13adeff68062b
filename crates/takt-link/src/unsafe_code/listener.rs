//! Descriptors of iceoryx2.

use std::os::fd::BorrowedFd;

use iceoryx2::port::listener::Listener;
use iceoryx2::prelude::{FileDescriptorBased, ipc};

/// Returns the descriptor of a listener, to wait for it.
pub(crate) fn descriptor(listener: &Listener<ipc::Service>) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open for as long as the listener lives, longer than the borrow.
    unsafe { BorrowedFd::borrow_raw(listener.file_descriptor().native_handle()) }
}

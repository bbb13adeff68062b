//! The places where this crate promises the compiler something.
#![allow(unsafe_code)]

use std::os::fd::BorrowedFd;

use iceoryx2::config::Config;
use iceoryx2::port::listener::Listener;
use iceoryx2::prelude::FileDescriptorBased;
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2::service::static_config::StaticConfig;

use crate::public::Ipc;

/// The descriptor of a listener, to wait for it.
pub(crate) fn descriptor(listener: &Listener<Ipc>) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open for as long as the listener lives, which is longer than the borrow.
    unsafe { BorrowedFd::borrow_raw(listener.file_descriptor().native_handle()) }
}

/// Removes a service that no living node has open.
pub(crate) fn remove_service(service: &StaticConfig, config: &Config) {
    // SAFETY: nobody may be using the service. The caller has seen that no living node is registered with it, which each
    // user is before it uses anything of it.
    let _ = unsafe { Ipc::__internal_remove_service(service, config) };
}

//! The places where this crate promises the compiler something.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};
use std::os::fd::BorrowedFd;

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::config::Config;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::server::Server;
use iceoryx2::prelude::FileDescriptorBased;
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2::service::static_config::StaticConfig;

use crate::pooled_ipc::PooledIpc;

/// The descriptor of a listener, to wait for it.
pub(crate) fn descriptor(listener: &Listener<PooledIpc>) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open for as long as the listener lives, which the borrow outlasts.
    unsafe { BorrowedFd::borrow_raw(listener.file_descriptor().native_handle()) }
}

/// Removes a service that no living node has open.
pub(crate) fn remove_service(service: &StaticConfig, config: &Config) {
    // SAFETY: nobody may be using the service. The caller has seen that no living node is registered with it, which each
    // user is before it uses anything of it.
    let _ = unsafe { PooledIpc::__internal_remove_service(service, config) };
}

/// What counts its owners without atomic operations and is therefore not `Send`: a port of `PooledIpc`, which is counted by
/// itself and by each sample, request and response that came from it.
pub(crate) trait Counted {}

impl Counted for Listener<PooledIpc> {}
impl Counted for Server<PooledIpc, [u8], (), [u8], ()> {}
impl Counted for ActiveRequest<PooledIpc, [u8], (), [u8], ()> {}

/// A port of iceoryx2 that may move to another thread, with everything that came from it.
///
/// In this crate, a `ShmServer` owns its ports and all that came from them: what is loaned or received is
/// sent or dropped before the call that got it returns, and requests that are answered later are kept beside their
/// port. None of it leaves by the public interface. So all owners are in one value, which moves as a whole.
pub(crate) struct Movable<T>(T);

impl<T: Counted> Movable<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

// SAFETY: what is counted without atomic operations moves together with all its owners (see the type), so only one thread
// at a time counts. What is counted is `Send` itself: iceoryx2 demands that of everything it counts in this way.
unsafe impl<T: Counted> Send for Movable<T> {}

impl<T> Deref for Movable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Movable<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

//! Descriptors and services of iceoryx2 whose lifetime the compiler cannot check.

use std::os::fd::BorrowedFd;

use iceoryx2::config::Config;
use iceoryx2::port::listener::Listener;
use iceoryx2::prelude::{FileDescriptorBased, NodeState};
use iceoryx2::service::ServiceDetails;
use iceoryx2::service::internal::ServiceInternal;

use crate::directory::ipc::Ipc;

/// Returns the descriptor of a listener, to wait for it.
pub(crate) fn descriptor(listener: &Listener<Ipc>) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open for as long as the listener lives, which is longer than the borrow.
    unsafe { BorrowedFd::borrow_raw(listener.file_descriptor().native_handle()) }
}

/// Removes a service if no living node has it open. If it fails the service is left.
pub(crate) fn remove_unused_service(service: &ServiceDetails<Ipc>, config: &Config) {
    let nodes = service.dynamic_details.iter().flat_map(|it| &it.nodes);
    let is_alive =
        |node: &NodeState<Ipc>| matches!(node, NodeState::Alive(_) | NodeState::Inaccessible(_));
    if !nodes.into_iter().any(is_alive) {
        // SAFETY: nobody may be using the service: no living node is registered with it, which each user is before it uses
        // anything of it. Who might begin to use it has the lock of the application's name, as we do, or finds the service old.
        let _ = unsafe { Ipc::__internal_remove_service(&service.static_details, config) };
    }
}

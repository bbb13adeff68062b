//! What both sides of the public services agree on.

use iceoryx2::prelude::{Node, ServiceName, ipc_threadsafe};
use iceoryx2::service::builder::{event, request_response};

use crate::error::ShmError;

/// The flavour of iceoryx2 behind the public services. What is in shared memory is the same as of `ipc::Service`, and programs
/// that use that are understood; a server may move to another thread.
pub(crate) type Ipc = ipc_threadsafe::Service;

/// How many clients can be connected to one public service at a time; the next one waits for a place. A server's effort for a
/// request grows with it, and for each place iceoryx2 takes 9 KiB in each of the services.
pub(crate) const MAX_CLIENTS: usize = 4;
/// How many requests of one client to one public service can be unanswered.
pub(crate) const MAX_ACTIVE_REQUESTS: usize = 1;
/// How many processes can know a public service at a time.
const MAX_NODES: usize = 64;

type Builder = request_response::Builder<[u8], (), [u8], (), Ipc>;

fn service_name(name: &str) -> Result<ServiceName, ShmError> {
    ServiceName::new(name).map_err(|e| ShmError::iceoryx("name a service", e))
}

/// A request-response service, with its limits.
pub(crate) fn request_response(node: &Node<Ipc>, name: &str) -> Result<Builder, ShmError> {
    Ok(node
        .service_builder(&service_name(name)?)
        .request_response::<[u8], [u8]>()
        // An old request that is overwritten would vanish without an answer.
        .enable_safe_overflow_for_requests(false)
        .enable_safe_overflow_for_responses(false)
        .enable_fire_and_forget_requests(false)
        .max_servers(1)
        .max_clients(MAX_CLIENTS)
        .max_nodes(MAX_NODES)
        .max_active_requests_per_client(MAX_ACTIVE_REQUESTS)
        .max_loaned_requests(1)
        .max_response_buffer_size(1)
        .max_borrowed_responses_per_pending_response(1))
}

/// The event service that says: look for requests.
pub(crate) fn wake(node: &Node<Ipc>, name: &str) -> Result<event::Builder<Ipc>, ShmError> {
    Ok(node
        .service_builder(&service_name(name)?)
        .event()
        .max_listeners(1)
        .max_notifiers(MAX_NODES)
        .max_nodes(MAX_NODES)
        .event_id_max_value(1)
        .disable_deadline())
}

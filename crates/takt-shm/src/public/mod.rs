//! Public services over iceoryx2, which any program of the same user can call: their names, both ends, and their common limits.

pub(crate) mod abandoned;
pub(crate) mod client;
pub mod names;
pub(crate) mod offered;
pub(crate) mod room;
pub(crate) mod server;
#[allow(unsafe_code, reason = "descriptors and services of iceoryx2")]
mod unsafe_code;

use iceoryx2::prelude::{Node, ServiceName};
use iceoryx2::service::builder::{event, request_response};

use crate::directory::ipc::Ipc;
use crate::error::ShmError;

/// Number of clients that can be connected to one public service at a time; the next client waits for a place. The server's
/// work for a request grows with it, and each place takes 9 KiB of memory in each of the services.
pub(crate) const MAX_CLIENTS: usize = 4;
/// Number of unanswered requests of one client to one public service.
pub(crate) const MAX_ACTIVE_REQUESTS: usize = 1;
/// Number of processes that can have a public service open at a time.
const MAX_NODES: usize = 64;

type Builder = request_response::Builder<[u8], (), [u8], (), Ipc>;

fn service_name(name: &str) -> Result<ServiceName, ShmError> {
    ServiceName::new(name).map_err(|e| ShmError::iceoryx("name a service", e))
}

/// Returns a builder of a request-response service, with its limits.
pub(crate) fn request_response(node: &Node<Ipc>, name: &str) -> Result<Builder, ShmError> {
    Ok(node
        .service_builder(&service_name(name)?)
        .request_response::<[u8], [u8]>()
        // An overwritten request would never be answered.
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

/// Returns a builder of the event service that wakes the server for new requests.
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

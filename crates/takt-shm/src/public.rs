//! What both sides of the public services agree on.

use iceoryx2::prelude::{Alignment, Node, ServiceName};
use iceoryx2::service::builder::{event, request_response};

use crate::error::ShmError;
use crate::pooled_ipc::PooledIpc;

/// How many clients can be connected to one public service at a time. A server's effort for a request grows with it.
pub(crate) const MAX_CLIENTS: usize = 16;
/// How many requests of one client to one public service can be unanswered.
pub(crate) const MAX_ACTIVE_REQUESTS: usize = 2;
/// How many processes can know a public service at a time.
const MAX_NODES: usize = 64;

/// Of messages, so that a value area in them can be aligned.
pub(crate) const ALIGNMENT: Alignment = Alignment::ALIGN_8;

type Builder = request_response::Builder<[u8], (), [u8], (), PooledIpc>;

fn service_name(name: &str) -> Result<ServiceName, ShmError> {
    ServiceName::new(name).map_err(|e| ShmError::iceoryx("name a service", e))
}

/// A request-response service, with its limits.
pub(crate) fn request_response(node: &Node<PooledIpc>, name: &str) -> Result<Builder, ShmError> {
    Ok(node
        .service_builder(&service_name(name)?)
        .request_response::<[u8], [u8]>()
        .request_payload_alignment(ALIGNMENT)
        .response_payload_alignment(ALIGNMENT)
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
pub(crate) fn wake(
    node: &Node<PooledIpc>,
    name: &str,
) -> Result<event::Builder<PooledIpc>, ShmError> {
    Ok(node
        .service_builder(&service_name(name)?)
        .event()
        .max_listeners(1)
        .max_notifiers(MAX_NODES)
        .max_nodes(MAX_NODES)
        .event_id_max_value(1)
        .disable_deadline())
}

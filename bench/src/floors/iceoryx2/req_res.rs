//! Request-response of iceoryx2, one service for one client. Its round trips take the time that `opc.iox2` would take for bytes
//! alone.

use iceoryx2::port::client::Client;
use iceoryx2::port::server::Server;
use iceoryx2::prelude::{Node, ServiceName, ipc};
use iceoryx2::service::port_factory::request_response::PortFactory;

use super::{Pattern, copy};
use crate::error::BenchError;

/// Request-response.
pub(crate) struct ReqRes;

type Service = PortFactory<ipc::Service, [u8], (), [u8], ()>;

/// Opens or creates the service `name`: one server, one client, one request at a time, no silent loss.
fn service(node: &Node<ipc::Service>, name: &str) -> Result<Service, BenchError> {
    let name = ServiceName::new(name).map_err(BenchError::round_trip(ReqRes::NAME))?;
    node.service_builder(&name)
        .request_response::<[u8], [u8]>()
        .enable_safe_overflow_for_requests(false)
        .enable_safe_overflow_for_responses(false)
        .max_servers(1)
        .max_clients(1)
        .max_nodes(2)
        .max_active_requests_per_client(1)
        .max_loaned_requests(1)
        .max_response_buffer_size(1)
        .max_borrowed_responses_per_pending_response(1)
        .open_or_create()
        .map_err(BenchError::round_trip(ReqRes::NAME))
}

impl Pattern for ReqRes {
    const NAME: &'static str = "iceoryx2 request-response";
    type Server = Server<ipc::Service, [u8], (), [u8], ()>;
    type Client = Client<ipc::Service, [u8], (), [u8], ()>;

    fn server(
        node: &Node<ipc::Service>,
        name: &str,
        longest: usize,
    ) -> Result<Self::Server, BenchError> {
        service(node, name)?
            .server_builder()
            .initial_max_slice_len(longest)
            .max_loaned_responses_per_request(1)
            .create()
            .map_err(BenchError::round_trip(Self::NAME))
    }

    fn client(
        node: &Node<ipc::Service>,
        name: &str,
        longest: usize,
    ) -> Result<Self::Client, BenchError> {
        service(node, name)?
            .client_builder()
            .initial_max_slice_len(longest)
            .create()
            .map_err(BenchError::round_trip(Self::NAME))
    }

    #[inline]
    fn respond<'a>(
        server: &Self::Server,
        request: &mut [u8],
        respond: impl FnOnce(&[u8]) -> Option<&'a [u8]>,
    ) -> Result<bool, BenchError> {
        let received = server
            .receive()
            .map_err(BenchError::round_trip(Self::NAME))?;
        let Some(active) = received else {
            return Ok(false);
        };
        copy(active.payload(), request);
        if let Some(response) = respond(request) {
            active
                .loan_slice_uninit(response.len())
                .map_err(BenchError::round_trip(Self::NAME))?
                .write_from_slice(response)
                .send()
                .map_err(BenchError::round_trip(Self::NAME))?;
        }
        Ok(true)
    }

    #[inline]
    fn exchange(
        client: &Self::Client,
        request: &[u8],
        response: &mut [u8],
        mut is_over: impl FnMut() -> bool,
    ) -> Result<bool, BenchError> {
        let pending = client
            .loan_slice_uninit(request.len())
            .map_err(BenchError::round_trip(Self::NAME))?
            .write_from_slice(request)
            .send()
            .map_err(BenchError::round_trip(Self::NAME))?;
        loop {
            let received = pending
                .receive()
                .map_err(BenchError::round_trip(Self::NAME))?;
            if let Some(received) = received {
                copy(received.payload(), response);
                return Ok(true);
            }
            if is_over() {
                return Ok(false);
            }
        }
    }
}

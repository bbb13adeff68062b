//! The bare request-response pattern of iceoryx2, one service for one client. Both sides spin. Its round trips take the time that
//! `opc.iox2` would take for bytes alone.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iceoryx2::port::client::Client as ClientPort;
use iceoryx2::port::server::Server as ServerPort;
use iceoryx2::prelude::{Node, ServiceName, ipc};
use takt_shm::Runtime;

use super::iceoryx2::{failed, node};
use super::{HEADER, LOOKS_PER_QUESTION, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip};

const WHAT: &str = "iceoryx2 request-response";

type Service = iceoryx2::service::port_factory::request_response::PortFactory<
    ipc::Service,
    [u8],
    (),
    [u8],
    (),
>;

/// Opens or creates the service `name`: one server, one client, one request at a time, no silent loss.
fn service(node: &Node<ipc::Service>, name: &str) -> Result<Service, BenchError> {
    let name = ServiceName::new(name).map_err(BenchError::round_trip(WHAT))?;
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
        .map_err(BenchError::round_trip(WHAT))
}

/// Server side.
pub(crate) struct Server {
    // The order matters for Drop: the port before the node, and the node before the directory.
    port: ServerPort<ipc::Service, [u8], (), [u8], ()>,
    longest: usize,
    _node: Node<ipc::Service>,
    _runtime: Arc<Runtime>,
}

impl Server {
    /// Creates the service `name`, for messages of up to `longest` bytes.
    pub(crate) fn new(name: &str, longest: usize) -> Result<Self, BenchError> {
        let (runtime, node) = node(WHAT)?;
        let port = service(&node, name)?
            .server_builder()
            .initial_max_slice_len(longest)
            .max_loaned_responses_per_request(1)
            .create()
            .map_err(BenchError::round_trip(WHAT))?;
        Ok(Self {
            port,
            longest,
            _node: node,
            _runtime: runtime,
        })
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(&self, stop: &AtomicBool) -> Result<(), BenchError> {
        let mut request = vec![0; self.longest.max(HEADER)];
        let answer = vec![2; self.longest];
        while !stop.load(Ordering::Relaxed) {
            let received = self.port.receive().map_err(BenchError::round_trip(WHAT))?;
            let Some(active) = received else {
                spin_loop();
                continue;
            };
            if let Some(request) = request.get_mut(..active.payload().len()) {
                request.copy_from_slice(active.payload());
            }
            let Some(sizes) = sizes_of(black_box(&request), self.longest) else {
                continue;
            };
            let answer = answer.get(..sizes.response).unwrap_or_default();
            active
                .loan_slice_uninit(answer.len())
                .map_err(BenchError::round_trip(WHAT))?
                .write_from_slice(answer)
                .send()
                .map_err(BenchError::round_trip(WHAT))?;
        }
        Ok(())
    }
}

/// Client side.
pub(crate) struct Client {
    port: ClientPort<ipc::Service, [u8], (), [u8], ()>,
    request: Vec<u8>,
    answer: Vec<u8>,
    _node: Node<ipc::Service>,
    _runtime: Arc<Runtime>,
}

impl Client {
    /// Opens the service `name`, which the server has created.
    pub(crate) fn open(name: &str, longest: usize) -> Result<Self, BenchError> {
        let (runtime, node) = node(WHAT)?;
        let port = service(&node, name)?
            .client_builder()
            .initial_max_slice_len(longest)
            .create()
            .map_err(BenchError::round_trip(WHAT))?;
        Ok(Self {
            port,
            request: Vec::new(),
            answer: Vec::new(),
            _node: node,
            _runtime: runtime,
        })
    }
}

impl RoundTrip for Client {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        let sizes = operation.sizes.with_header(takt_shm::header::HEADER_LENGTH);
        self.request = request_bytes(sizes);
        self.answer = vec![0; sizes.response];
        self.round_trip()
    }

    #[inline]
    fn round_trip(&mut self) -> Result<(), BenchError> {
        let pending = self
            .port
            .loan_slice_uninit(self.request.len())
            .map_err(BenchError::round_trip(WHAT))?
            .write_from_slice(&self.request)
            .send()
            .map_err(BenchError::round_trip(WHAT))?;
        let mut patience = Patience::default();
        let mut looks = 0_u32;
        loop {
            if let Some(response) = pending.receive().map_err(BenchError::round_trip(WHAT))? {
                if let Some(answer) = self.answer.get_mut(..response.payload().len()) {
                    answer.copy_from_slice(response.payload());
                }
                break;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_PER_QUESTION) && patience.is_over() {
                return Err(failed(WHAT, "no answer"));
            }
            spin_loop();
        }
        black_box(&self.answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::tests::OPERATIONS;

    #[test]
    fn requests_are_answered() {
        let name = format!("takt-bench-request-test/{}", std::process::id());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let (server_name, stop) = (name.clone(), &stop);
            let server = scope.spawn(move || {
                let server = Server::new(&server_name, 5000).unwrap();
                ready.send(()).unwrap();
                server.serve(stop)
            });
            is_ready.recv().unwrap();
            let mut client = Client::open(&name, 5000).unwrap();
            for operation in OPERATIONS {
                client.prepare(&operation).unwrap();
                client.answer.fill(0);
                client.round_trip().unwrap();
                assert!(client.answer.iter().all(|&byte| byte == 2));
                assert!(client.answer.len() > operation.sizes.response);
            }
            stop.store(true, Ordering::Relaxed);
            server.join().unwrap().unwrap();
        });
    }
}

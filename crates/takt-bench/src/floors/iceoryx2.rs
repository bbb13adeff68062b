//! The floor below Takt's shared memory: a bare publish-subscribe pair of iceoryx2 with one service for each direction. Both
//! sides spin.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{Node, NodeBuilder, ServiceName, SignalHandlingMode, ipc};
use takt_shm::Runtime;

use super::{HEADER, LOOKS_PER_QUESTION, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip};

const WHAT: &str = "iceoryx2 publish-subscribe";

/// Returns an error with the text of iceoryx2.
pub(super) fn failed(what: &str, reason: impl ToString) -> BenchError {
    BenchError::RoundTrip {
        what: what.to_owned(),
        reason: reason.to_string(),
    }
}

/// Creates a node in the directory of our own channels. Leftovers of killed processes are found and removed there.
pub(super) fn node(what: &str) -> Result<(Arc<Runtime>, Node<ipc::Service>), BenchError> {
    let runtime = Runtime::open(None).map_err(BenchError::round_trip(what))?;
    let node = NodeBuilder::new()
        .config(runtime.iceoryx2_config())
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<ipc::Service>()
        .map_err(|error| failed(what, format!("{error:?}")))?;
    Ok((runtime, node))
}

/// Ports of one side for both services.
struct Ports {
    // The order matters for Drop: ports before the node, and the node before the directory.
    publisher: Publisher<ipc::Service, [u8], ()>,
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    _node: Node<ipc::Service>,
    _runtime: Arc<Runtime>,
}

impl Ports {
    /// Opens or creates both services of the pair `name`.
    fn open(name: &str, send: &str, receive: &str, longest: usize) -> Result<Self, BenchError> {
        let (runtime, node) = node(WHAT)?;
        let service = |direction: &str| {
            let name = ServiceName::new(&format!("{name}/{direction}"))
                .map_err(BenchError::round_trip(WHAT))?;
            node.service_builder(&name)
                .publish_subscribe::<[u8]>()
                .enable_safe_overflow(false)
                .history_size(0)
                .max_publishers(1)
                .max_subscribers(1)
                .max_nodes(2)
                .subscriber_max_buffer_size(4)
                .subscriber_max_borrowed_samples(1)
                .open_or_create()
                .map_err(BenchError::round_trip(WHAT))
        };
        let publisher = service(send)?
            .publisher_builder()
            .initial_max_slice_len(longest)
            .max_loaned_samples(1)
            .create()
            .map_err(BenchError::round_trip(WHAT))?;
        let subscriber = service(receive)?
            .subscriber_builder()
            .create()
            .map_err(BenchError::round_trip(WHAT))?;
        Ok(Self {
            publisher,
            subscriber,
            _node: node,
            _runtime: runtime,
        })
    }

    /// Sends a copy of `message`.
    #[inline]
    fn send(&self, message: &[u8]) -> Result<(), BenchError> {
        let loan = self
            .publisher
            .loan_slice_uninit(message.len())
            .map_err(BenchError::round_trip(WHAT))?;
        let sample = loan.write_from_slice(message);
        sample.send().map_err(BenchError::round_trip(WHAT))?;
        Ok(())
    }

    /// Copies the next message into `message`, if there is one.
    #[inline]
    fn receive(&self, message: &mut [u8]) -> Result<bool, BenchError> {
        let sample = self
            .subscriber
            .receive()
            .map_err(BenchError::round_trip(WHAT))?;
        let Some(sample) = sample else {
            return Ok(false);
        };
        if let Some(message) = message.get_mut(..sample.payload().len()) {
            message.copy_from_slice(sample.payload());
        }
        Ok(true)
    }
}

/// Server side.
pub(crate) struct Server {
    ports: Ports,
    longest: usize,
}

impl Server {
    /// Creates the pair `name`, for messages of up to `longest` bytes.
    pub(crate) fn new(name: &str, longest: usize) -> Result<Self, BenchError> {
        let ports = Ports::open(name, "response", "request", longest)?;
        Ok(Self { ports, longest })
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(&self, stop: &AtomicBool) -> Result<(), BenchError> {
        let mut request = vec![0; self.longest.max(HEADER)];
        let answer = vec![2; self.longest];
        while !stop.load(Ordering::Relaxed) {
            if !self.ports.receive(&mut request)? {
                spin_loop();
                continue;
            }
            if let Some(sizes) = sizes_of(black_box(&request), self.longest) {
                self.ports
                    .send(answer.get(..sizes.response).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

/// Client side.
pub(crate) struct Client {
    ports: Ports,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// Opens the pair `name`, which the server has created.
    pub(crate) fn open(name: &str, longest: usize) -> Result<Self, BenchError> {
        Ok(Self {
            ports: Ports::open(name, "request", "response", longest)?,
            request: Vec::new(),
            answer: Vec::new(),
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
        self.ports.send(&self.request)?;
        let mut patience = Patience::default();
        let mut looks = 0_u32;
        while !self.ports.receive(&mut self.answer)? {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_PER_QUESTION) && patience.is_over() {
                return Err(BenchError::RoundTrip {
                    what: WHAT.to_owned(),
                    reason: "no answer".to_owned(),
                });
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
    fn messages_go_both_ways() {
        let name = format!("takt-bench-test/{}", std::process::id());
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

//! Floors below Takt's shared memory: the bare patterns of iceoryx2. Both sides spin.
//!
//! The patterns differ in their ports: [`pub_sub`] has one service for each direction, [`req_res`] has one service for both. This
//! file has their common server and client.

mod pub_sub;
mod req_res;

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iceoryx2::prelude::{Node, NodeBuilder, SignalHandlingMode, ipc};
use takt_shm::Runtime;

use super::{HEADER, LOOKS_PER_QUESTION, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip};

pub(crate) use pub_sub::PubSub;
pub(crate) use req_res::ReqRes;

/// Pattern of iceoryx2.
pub(crate) trait Pattern {
    /// Name for errors.
    const NAME: &'static str;
    /// Ports of the server.
    type Server;
    /// Ports of the client.
    type Client;

    /// Opens or creates the services `name`, for messages of up to `longest` bytes.
    fn server(
        node: &Node<ipc::Service>,
        name: &str,
        longest: usize,
    ) -> Result<Self::Server, BenchError>;

    /// Opens the services `name`, which the server has created.
    fn client(
        node: &Node<ipc::Service>,
        name: &str,
        longest: usize,
    ) -> Result<Self::Client, BenchError>;

    /// Copies the next request into `request` and sends the response that `respond` returns for it. Returns false if there is no
    /// request.
    fn respond<'a>(
        server: &Self::Server,
        request: &mut [u8],
        respond: impl FnOnce(&[u8]) -> Option<&'a [u8]>,
    ) -> Result<bool, BenchError>;

    /// Sends a request and copies its response into `response`. Returns false if there is no response until `is_over` returns true.
    /// Each look for the response is followed by a call of `is_over`.
    fn exchange(
        client: &Self::Client,
        request: &[u8],
        response: &mut [u8],
        is_over: impl FnMut() -> bool,
    ) -> Result<bool, BenchError>;
}

/// Node in the directory of our own channels. Leftovers of killed processes are found and removed there.
struct Place {
    // The order matters for Drop: the node before the directory.
    node: Node<ipc::Service>,
    _runtime: Arc<Runtime>,
}

impl Place {
    fn new(name: &str) -> Result<Self, BenchError> {
        let runtime = Runtime::open(None).map_err(BenchError::round_trip(name))?;
        let node = NodeBuilder::new()
            .config(runtime.iceoryx2_config())
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<ipc::Service>()
            .map_err(|error| failed(name, format!("{error:?}")))?;
        Ok(Self {
            node,
            _runtime: runtime,
        })
    }
}

/// Returns an error with the text of iceoryx2.
fn failed(name: &str, reason: impl ToString) -> BenchError {
    BenchError::RoundTrip {
        what: name.to_owned(),
        reason: reason.to_string(),
    }
}

/// Copies a message to the beginning of `into`, if it fits.
#[inline]
fn copy(message: &[u8], into: &mut [u8]) {
    if let Some(into) = into.get_mut(..message.len()) {
        into.copy_from_slice(message);
    }
}

/// Server side.
pub(crate) struct Server<P: Pattern> {
    // The order matters for Drop: ports before the node.
    ports: P::Server,
    _place: Place,
    longest: usize,
}

impl<P: Pattern> Server<P> {
    /// Creates the services `name`, for messages of up to `longest` bytes.
    pub(crate) fn new(name: &str, longest: usize) -> Result<Self, BenchError> {
        let place = Place::new(P::NAME)?;
        Ok(Self {
            ports: P::server(&place.node, name, longest)?,
            _place: place,
            longest,
        })
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(&self, stop: &AtomicBool) -> Result<(), BenchError> {
        let mut request = vec![0; self.longest.max(HEADER)];
        let answer = vec![2; self.longest];
        while !stop.load(Ordering::Relaxed) {
            let respond = |request: &[u8]| {
                let sizes = sizes_of(black_box(request), self.longest)?;
                answer.get(..sizes.response)
            };
            if !P::respond(&self.ports, &mut request, respond)? {
                spin_loop();
            }
        }
        Ok(())
    }
}

/// Client side.
pub(crate) struct Client<P: Pattern> {
    // The order matters for Drop: ports before the node.
    ports: P::Client,
    _place: Place,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl<P: Pattern> Client<P> {
    /// Opens the services `name`, which the server has created.
    pub(crate) fn open(name: &str, longest: usize) -> Result<Self, BenchError> {
        let place = Place::new(P::NAME)?;
        Ok(Self {
            ports: P::client(&place.node, name, longest)?,
            _place: place,
            request: Vec::new(),
            answer: Vec::new(),
        })
    }
}

impl<P: Pattern> RoundTrip for Client<P> {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        let sizes = operation.sizes.with_header(takt_shm::header::HEADER_LENGTH);
        self.request = request_bytes(sizes);
        self.answer = vec![0; sizes.response];
        self.round_trip()
    }

    #[inline]
    fn round_trip(&mut self) -> Result<(), BenchError> {
        let mut patience = Patience::default();
        let mut looks = 0_u32;
        let is_over = || {
            looks = looks.wrapping_add(1);
            spin_loop();
            looks.is_multiple_of(LOOKS_PER_QUESTION) && patience.is_over()
        };
        if !P::exchange(&self.ports, &self.request, &mut self.answer, is_over)? {
            return Err(failed(P::NAME, "no answer"));
        }
        black_box(&self.answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::tests::OPERATIONS;

    fn requests_are_answered<P: Pattern>(name: &str) {
        let name = format!("takt-bench-test-{name}/{}", std::process::id());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let (server_name, stop) = (name.clone(), &stop);
            let server = scope.spawn(move || {
                let server = Server::<P>::new(&server_name, 5000).unwrap();
                ready.send(()).unwrap();
                server.serve(stop)
            });
            is_ready.recv().unwrap();
            let mut client = Client::<P>::open(&name, 5000).unwrap();
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

    #[test]
    fn requests_are_answered_by_each_pattern() {
        requests_are_answered::<PubSub>("pub-sub");
        requests_are_answered::<ReqRes>("req-res");
    }
}

//! Publish-subscribe of iceoryx2, with one service for each direction.

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{Node, ServiceName, ipc};

use super::{Pattern, copy};
use crate::error::BenchError;

/// Publish-subscribe.
pub(crate) struct PubSub;

/// Ports of one side.
pub(crate) struct Ports {
    publisher: Publisher<ipc::Service, [u8], ()>,
    subscriber: Subscriber<ipc::Service, [u8], ()>,
}

impl Ports {
    /// Opens or creates both services of the pair `name`.
    fn open(
        node: &Node<ipc::Service>,
        name: &str,
        [send, receive]: [&str; 2],
        longest: usize,
    ) -> Result<Self, BenchError> {
        let service = |direction: &str| {
            let name = ServiceName::new(&format!("{name}/{direction}"))
                .map_err(BenchError::round_trip(PubSub::NAME))?;
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
                .map_err(BenchError::round_trip(PubSub::NAME))
        };
        let publisher = service(send)?
            .publisher_builder()
            .initial_max_slice_len(longest)
            .max_loaned_samples(1)
            .create()
            .map_err(BenchError::round_trip(PubSub::NAME))?;
        let subscriber = service(receive)?
            .subscriber_builder()
            .create()
            .map_err(BenchError::round_trip(PubSub::NAME))?;
        Ok(Self {
            publisher,
            subscriber,
        })
    }

    /// Sends a copy of `message`.
    #[inline]
    fn send(&self, message: &[u8]) -> Result<(), BenchError> {
        let loan = self
            .publisher
            .loan_slice_uninit(message.len())
            .map_err(BenchError::round_trip(PubSub::NAME))?;
        let sample = loan.write_from_slice(message);
        sample
            .send()
            .map_err(BenchError::round_trip(PubSub::NAME))?;
        Ok(())
    }

    /// Copies the next message into `message`, if there is one.
    #[inline]
    fn receive(&self, message: &mut [u8]) -> Result<bool, BenchError> {
        let sample = self
            .subscriber
            .receive()
            .map_err(BenchError::round_trip(PubSub::NAME))?;
        let Some(sample) = sample else {
            return Ok(false);
        };
        copy(sample.payload(), message);
        Ok(true)
    }
}

impl Pattern for PubSub {
    const NAME: &'static str = "iceoryx2 publish-subscribe";
    type Server = Ports;
    type Client = Ports;

    fn server(node: &Node<ipc::Service>, name: &str, longest: usize) -> Result<Ports, BenchError> {
        Ports::open(node, name, ["response", "request"], longest)
    }

    fn client(node: &Node<ipc::Service>, name: &str, longest: usize) -> Result<Ports, BenchError> {
        Ports::open(node, name, ["request", "response"], longest)
    }

    #[inline]
    fn respond<'a>(
        server: &Ports,
        request: &mut [u8],
        respond: impl FnOnce(&[u8]) -> Option<&'a [u8]>,
    ) -> Result<bool, BenchError> {
        if !server.receive(request)? {
            return Ok(false);
        }
        if let Some(response) = respond(request) {
            server.send(response)?;
        }
        Ok(true)
    }

    #[inline]
    fn exchange(
        client: &Ports,
        request: &[u8],
        response: &mut [u8],
        mut is_over: impl FnMut() -> bool,
    ) -> Result<bool, BenchError> {
        client.send(request)?;
        while !client.receive(response)? {
            if is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

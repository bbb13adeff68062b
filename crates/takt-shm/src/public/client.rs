//! Client's end of the public services.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use iceoryx2::port::client::Client;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::{AllocationStrategy, BackpressureStrategy, Node};
use iceoryx2::service::builder::event::EventOpenError;
use iceoryx2::service::builder::request_response::RequestResponseOpenError;
use iceoryx2::service::port_factory::client::ClientCreateError;
use takt_rt::clock::after;
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder};

use crate::address::ApplicationName;
use crate::directory::ipc::Ipc;
use crate::directory::public_files::SHORT_PATIENCE;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::header::{HEADER_LENGTH, MAX_MESSAGE, MessageHeader};
use crate::public;
use crate::public::names::{PublicService, wake_name};
use crate::public::room;

type Port = Client<Ipc, [u8], (), [u8], ()>;

/// Pause between two looks for a response, once it is late. There is no doorbell for the clients of public services.
const PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Client of the public services of an application, as any iceoryx2 program can be, without a channel.
///
/// Each request makes a connection, which takes a millisecond; only the timeout detects a dead application. It is for discovery
/// and for tests; applications use [`ShmClient`](crate::ShmClient).
pub struct PublicClient {
    node: Node<Ipc>,
    name: ApplicationName,
    max_response: u32,
    _runtime: Arc<Runtime>,
}

impl PublicClient {
    /// Creates a client of the services of `name`. `runtime_directory` is the usual one if `None`.
    ///
    /// # Errors
    /// [`ShmError::RuntimeDirectory`] if the directory cannot be used, [`ShmError::Iceoryx`].
    pub fn new(name: ApplicationName, runtime_directory: Option<&Path>) -> Result<Self, ShmError> {
        let runtime = Runtime::open(runtime_directory)?;
        // A killed caller keeps its place at the services, and nothing shows that it is dead.
        runtime.public_files().remove_dead(SHORT_PATIENCE);
        Ok(Self {
            node: runtime.node(name.as_str())?,
            name,
            max_response: MAX_MESSAGE,
            _runtime: runtime,
        })
    }

    /// Sends a request and waits for its response.
    ///
    /// # Errors
    /// [`ShmError::NoSuchApplication`] if no application offers the service, [`ShmError::Timeout`], [`ShmError::Refused`].
    pub fn request(
        &self,
        service: &PublicService,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<Vec<u8>, ShmError> {
        let mut body = Vec::new();
        encode(&mut Encoder::growing(&mut body, u32::MAX as usize)).map_err(ShmError::Encoding)?;
        Exchange {
            node: &self.node,
            name: &self.name,
            service: &service.name(&self.name),
            deadline: after(Instant::now(), timeout),
            max_response: self.max_response,
        }
        .call(&body, || true)
    }
}

/// One request to one public service.
pub(crate) struct Exchange<'a> {
    pub(crate) node: &'a Node<Ipc>,
    pub(crate) name: &'a ApplicationName,
    pub(crate) service: &'a str,
    pub(crate) deadline: Instant,
    pub(crate) max_response: u32,
}

impl Exchange<'_> {
    /// Sends the request and waits for the response for as long as `alive` returns true.
    pub(crate) fn call(&self, body: &[u8], alive: impl Fn() -> bool) -> Result<Vec<u8>, ShmError> {
        room::check_message(body.len())?;
        let notifier = self.notifier()?;
        let client = self.client(body.len())?;
        let header = MessageHeader {
            request_id: 1,
            body_length: u32::try_from(body.len())
                .map_err(|_| ShmError::RequestTooLarge { limit: u32::MAX })?,
            timeout_nanos: u64::try_from(self.left()?.as_nanos()).unwrap_or(u64::MAX),
            ..MessageHeader::default()
        };
        let message = [&header.to_bytes(), body].concat();
        let failed = "send a request to a public service";
        let request = client
            .loan_slice_uninit(message.len())
            .map_err(|e| ShmError::iceoryx(failed, e))?
            .write_from_slice(&message);
        let pending = request.send().map_err(|e| ShmError::iceoryx(failed, e))?;
        if pending.number_of_server_connections() == 0 {
            return Err(ShmError::NoSuchApplication(self.name.clone()));
        }
        let mut pause = PAUSE;
        // A wake-up that finds no room in the queue is not needed: the waiting ones wake the server.
        let _ = notifier.notify();
        loop {
            // Before the look for a response: an answer that is sent before the end of the request is not missed.
            let is_open = pending.is_connected();
            let response = pending
                .receive()
                .map_err(|e| ShmError::iceoryx("receive from a public service", e))?;
            if let Some(response) = response {
                let payload = response.payload();
                let (header, body) = MessageHeader::parse(payload, self.max_response)?;
                return match header.status {
                    0 => Ok(payload.get(body).unwrap_or_default().to_vec()),
                    status => Err(ShmError::Refused(StatusCode(status))),
                };
            }
            if !is_open {
                // The usual reason is that the server has no memory for its shortest answer, and both use the same /dev/shm.
                room::check_message(HEADER_LENGTH)?;
                return Err(ShmError::ConnectionClosed);
            }
            if !alive() {
                return Err(ShmError::ConnectionClosed);
            }
            // Nothing wakes a client of the public services, so it looks again.
            thread::sleep(pause.min(self.left()?));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn left(&self) -> Result<Duration, ShmError> {
        match self.deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ShmError::Timeout),
            left => Ok(left),
        }
    }

    /// Waits for a free place.
    fn pause(&self) -> Result<(), ShmError> {
        thread::sleep(LONGEST_PAUSE.min(self.left()?));
        Ok(())
    }

    fn client(&self, body_length: usize) -> Result<Port, ShmError> {
        loop {
            let service = match public::request_response(self.node, self.service)?.open() {
                Ok(service) => service,
                // Callers open a service for one call, so a place is free soon.
                Err(RequestResponseOpenError::ExceedsMaxNumberOfNodes) => {
                    self.pause()?;
                    continue;
                }
                Err(
                    RequestResponseOpenError::DoesNotExist
                    | RequestResponseOpenError::IsMarkedForDestruction,
                ) => return Err(ShmError::NoSuchApplication(self.name.clone())),
                Err(error) => return Err(ShmError::iceoryx("open a public service", error)),
            };
            let client = service
                .client_builder()
                .initial_max_slice_len(HEADER_LENGTH + body_length)
                .allocation_strategy(AllocationStrategy::PowerOfTwo)
                // What finds no room is discarded: nobody is blocked by the other side.
                .backpressure_strategy(BackpressureStrategy::DiscardData)
                .create();
            match client {
                Ok(client) => return Ok(client),
                Err(ClientCreateError::ExceedsMaxSupportedClients) => self.pause()?,
                Err(error) => return Err(ShmError::iceoryx("call a public service", error)),
            }
        }
    }

    fn notifier(&self) -> Result<Notifier<Ipc>, ShmError> {
        let failed = "open the wake-up service";
        loop {
            match public::wake(self.node, &wake_name(self.name))?.open() {
                Ok(service) => {
                    return service
                        .notifier_builder()
                        .create()
                        .map_err(|e| ShmError::iceoryx(failed, e));
                }
                Err(EventOpenError::ExceedsMaxNumberOfNodes) => self.pause()?,
                Err(EventOpenError::DoesNotExist | EventOpenError::IsMarkedForDestruction) => {
                    return Err(ShmError::NoSuchApplication(self.name.clone()));
                }
                Err(error) => return Err(ShmError::iceoryx(failed, error)),
            }
        }
    }
}

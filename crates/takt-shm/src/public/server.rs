//! Server's end of the public services.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::port::LoanError;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::server::Server;
use iceoryx2::prelude::{AllocationStrategy, BackpressureStrategy, MessagingPattern, Node};
use takt_ua::StatusCode;
use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;

use crate::address::ApplicationName;
use crate::channel::scratch::Scratch;
use crate::directory::dead_nodes;
use crate::directory::ipc::Ipc;
use crate::directory::public_files::PATIENCE;
use crate::error::ShmError;
use crate::handler::ShmChannels;
use crate::header::{HEADER_LENGTH, MessageHeader};
use crate::public::abandoned;
use crate::public::names::{PUBLIC_SERVICES, PublicService, wake_name};
use crate::public::room;
use crate::public::unsafe_code;
use crate::public::{self, MAX_ACTIVE_REQUESTS, MAX_CLIENTS};

type Port = Server<Ipc, [u8], (), [u8], ()>;
type Request = ActiveRequest<Ipc, [u8], (), [u8], ()>;

/// Number of responses that have memory: for each client one in transit, and one that it is reading. iceoryx2 would take three
/// times as much, for clients that hold on to every response that they can.
const RESPONSES: usize = 2 * MAX_CLIENTS;
/// Initial size of a response that carries Values of any size, in bytes; iceoryx2 reserves more when it is needed.
const FIRST_LOAN: usize = 1024;
/// Size of every other response, in bytes. It takes memory when it is used, but in a process that locks its memory all of it.
const ROOM: usize = 128 << 10;
/// Maximum number of requests that one service can have at one look; a later request has a later wake-up. So no client can keep
/// the server from the other services and the channels.
const BATCH: usize = MAX_CLIENTS * MAX_ACTIVE_REQUESTS;
/// Time for which an answer is kept for a client without a timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time for which the leftovers of a killed process of the same name may prevent the start while others clean up after
/// it.
const PREDECESSOR: Duration = Duration::from_secs(2);
const PREDECESSOR_PAUSE: Duration = Duration::from_millis(5);

/// Request that is answered later.
struct Deferred {
    request: Request,
    request_id: u32,
    deadline: Instant,
}

/// All public services of an application.
pub(crate) struct Public<C> {
    listener: Listener<Ipc>,
    services: Vec<(&'static PublicService, Port)>,
    /// Index of the service with which the next look begins.
    next_service: usize,
    connection: C,
    deferred: HashMap<u32, Deferred>,
    next_id: u32,
    response: Vec<u8>,
    max_request: u32,
    max_response: u32,
}

/// Ports of iceoryx2 for the public services.
struct Ports {
    listener: Listener<Ipc>,
    services: Vec<(&'static PublicService, Port)>,
}

impl Ports {
    fn offer(node: &Node<Ipc>, name: &ApplicationName) -> Result<Self, ShmError> {
        let wake = wake_name(name);
        abandoned::clear_the_way(node.config(), &wake, MessagingPattern::Event)?;
        let listener = public::wake(node, &wake)?
            .open_or_create()
            .map_err(|e| ShmError::iceoryx("offer the wake-up service", e))?
            .listener_builder()
            .create()
            .map_err(|e| ShmError::iceoryx("listen for wake-ups", e))?;
        let services = PUBLIC_SERVICES
            .iter()
            .map(|service| Ok((service, offer(node, name, service)?)))
            .collect::<Result<_, ShmError>>()?;
        Ok(Self { listener, services })
    }
}

impl<C> Public<C> {
    /// Offers the services.
    pub(crate) fn new(
        node: &Node<Ipc>,
        name: &ApplicationName,
        max_request: u32,
        max_response: u32,
        connection: C,
    ) -> Result<Self, ShmError> {
        let give_up = Instant::now() + PREDECESSOR;
        let ports = loop {
            match Ports::offer(node, name) {
                Ok(ports) => break ports,
                // A holder of the name is alone: the leftovers are of a killed process, and another process is removing them.
                Err(ShmError::Iceoryx { .. }) if Instant::now() < give_up => {
                    dead_nodes::remove(node.config(), PATIENCE);
                    std::thread::sleep(PREDECESSOR_PAUSE);
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Self {
            listener: ports.listener,
            services: ports.services,
            next_service: 0,
            connection,
            deferred: HashMap::new(),
            next_id: 0,
            response: Vec::new(),
            max_request,
            max_response,
        })
    }

    /// Returns a descriptor that becomes readable when there may be requests.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        unsafe_code::descriptor(&self.listener)
    }

    /// Returns the handler's state for the public services.
    pub(crate) fn into_connection(self) -> C {
        self.connection
    }

    /// Answers requests until there is none or the turn is over. Returns their number, and true if there may be more.
    pub(crate) fn poll<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        scratch: &mut Scratch,
    ) -> (usize, bool) {
        // This is before looking for requests: a wake-up that comes meanwhile is kept for the next time.
        let _ = self.listener.try_wait(|_| {});
        let (mut handled, mut is_over) = (0, false);
        'services: for _ in 0..self.services.len() {
            let index = self.next_service;
            // If the turn is over, the next one begins with another service.
            self.next_service = (index + 1) % self.services.len();
            for _ in 0..BATCH {
                let Some((service, port)) = self.services.get(index) else {
                    break;
                };
                let Ok(Some(request)) = port.receive() else {
                    break;
                };
                self.answer(handler, service, request, scratch);
                handled += 1;
                is_over = handler.is_turn_over();
                if is_over {
                    break 'services;
                }
            }
        }
        if !self.deferred.is_empty() {
            // Nothing shows that a client was killed: only the deadline ends its request.
            let now = Instant::now();
            self.deferred.retain(|_, waiting| waiting.deadline > now);
        }
        (handled, is_over)
    }

    fn answer<H: ShmChannels<Connection = C>>(
        &mut self,
        handler: &H,
        service: &PublicService,
        request: Request,
        scratch: &mut Scratch,
    ) {
        let header = match parse(&request, self.max_request, scratch) {
            Ok(header) => header,
            Err((id, status)) => return refuse(&request, id, status),
        };
        if !is_request_of(service, scratch.bytes()) {
            let wrong = StatusCode::BadRequestTypeInvalid;
            return refuse(&request, header.request_id, wrong);
        }
        // Clients choose their ids independently of each other.
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        begin(&mut self.response);
        let mut encoder = Encoder::growing(&mut self.response, self.max_response as usize);
        match handler.handle(&mut self.connection, id, scratch.bytes(), &mut encoder) {
            RequestOutcome::Complete if self.response.len() > HEADER_LENGTH => {
                respond(&request, header.request_id, &mut self.response);
            }
            // Not even a ServiceFault fitted.
            RequestOutcome::Complete => {
                refuse(&request, header.request_id, StatusCode::BadResponseTooLarge);
            }
            RequestOutcome::Deferred => {
                let timeout = match header.timeout_nanos {
                    0 => DEFAULT_TIMEOUT,
                    nanos => Duration::from_nanos(nanos).min(DEFAULT_TIMEOUT),
                };
                let waiting = Deferred {
                    request,
                    request_id: header.request_id,
                    deadline: Instant::now() + timeout,
                };
                self.deferred.insert(id, waiting);
            }
        }
    }

    /// Sends the deferred responses that are ready.
    pub(crate) fn complete<H: ShmChannels<Connection = C>>(&mut self, handler: &H) -> bool {
        let mut any = false;
        while let Some((id, body)) = handler.take_completed(&mut self.connection) {
            if let Some(waiting) = self.deferred.remove(&id) {
                begin(&mut self.response);
                self.response.extend_from_slice(&body);
                respond(&waiting.request, waiting.request_id, &mut self.response);
                any = true;
            }
        }
        any
    }
}

fn offer(
    node: &Node<Ipc>,
    name: &ApplicationName,
    service: &PublicService,
) -> Result<Port, ShmError> {
    let name = service.name(name);
    abandoned::clear_the_way(node.config(), &name, MessagingPattern::RequestResponse)?;
    // Memory that can grow costs iceoryx2 350 KiB, used or not: a list of all possible pieces.
    let (room, strategy) = match service.carries_values() {
        true => (FIRST_LOAN, AllocationStrategy::PowerOfTwo),
        false => (ROOM, AllocationStrategy::Static),
    };
    public::request_response(node, &name)?
        .open_or_create()
        .map_err(|e| ShmError::iceoryx("offer a public service", e))?
        .server_builder()
        .initial_max_slice_len(room)
        .allocation_strategy(strategy)
        .override_response_preallocation(|_| RESPONSES)
        .max_loaned_responses_per_request(1)
        // The server must not wait for a client that does not receive.
        .backpressure_strategy(BackpressureStrategy::DiscardData)
        .create()
        .map_err(|e| ShmError::iceoryx("serve a public service", e))
}

/// Makes room for the header.
fn begin(message: &mut Vec<u8>) {
    message.clear();
    message.resize(HEADER_LENGTH, 0);
}

/// Copies the body of a request into `scratch`, where the client cannot write.
fn parse(
    request: &Request,
    limit: u32,
    scratch: &mut Scratch,
) -> Result<MessageHeader, (u32, StatusCode)> {
    let payload = request.payload();
    match MessageHeader::parse(payload, limit) {
        Ok((header, body)) => {
            let body = payload.get(body).unwrap_or_default();
            match scratch.copy_slice(body) {
                Ok(()) => Ok(header),
                Err(_) => Err((header.request_id, StatusCode::BadOutOfMemory)),
            }
        }
        Err(error) => Err((MessageHeader::request_id_of(payload), error.status_code())),
    }
}

/// Returns true if the body begins with the NodeId of the service's request (OPC 10000-6, 5.2.2.9: the four-byte form, as every
/// stack writes it, or the full numeric form).
fn is_request_of(service: &PublicService, body: &[u8]) -> bool {
    let id = service.request_encoding_id;
    match body {
        [1, 0, low, high, ..] => u32::from(u16::from_le_bytes([*low, *high])) == id,
        [2, 0, 0, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]) == id,
        _ => false,
    }
}

/// Answers with a message whose body was encoded behind room for the header, in `message`.
fn respond(request: &Request, request_id: u32, message: &mut [u8]) {
    let body_length = message.len().saturating_sub(HEADER_LENGTH);
    let header = MessageHeader {
        request_id,
        body_length: u32::try_from(body_length).unwrap_or(u32::MAX),
        ..MessageHeader::default()
    };
    if let Some(room) = message.first_chunk_mut() {
        *room = header.to_bytes();
    }
    match send(request, message) {
        Ok(()) => {}
        Err(LoanError::ExceedsMaxLoanSize) => {
            refuse(request, request_id, StatusCode::BadResponseTooLarge);
        }
        // A header may have room where the message has none.
        Err(_) => refuse(request, request_id, StatusCode::BadOutOfMemory),
    }
}

/// Answers with a StatusCode instead of a message. If there is no memory for that, the request ends without an answer, which the client
/// sees.
fn refuse(request: &Request, request_id: u32, status: StatusCode) {
    let header = MessageHeader {
        request_id,
        status: status.0,
        ..MessageHeader::default()
    };
    let _ = send(request, &header.to_bytes());
}

/// Sends an answer. A client that has ended, or takes no answer, gets none.
fn send(request: &Request, message: &[u8]) -> Result<(), LoanError> {
    if room::check_message(message.len()).is_err() {
        return Err(LoanError::OutOfMemory);
    }
    let response = request.loan_slice_uninit(message.len())?;
    let _ = response.write_from_slice(message).send();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_takes_its_own_requests_only() {
        let read = PublicService::find("Attributes", "Read").unwrap();
        assert!(is_request_of(read, &[1, 0, 0x77, 0x02, 9]));
        assert!(is_request_of(read, &[2, 0, 0, 0x77, 0x02, 0, 0]));
        assert!(!is_request_of(read, &[1, 0, 0x78, 0x02]));
        assert!(!is_request_of(read, &[1, 1, 0x77, 0x02]));
        assert!(!is_request_of(read, &[1, 0, 0x77]));
        assert!(!is_request_of(read, &[]));
    }
}

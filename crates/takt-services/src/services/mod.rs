//! The services (OPC 10000-4, 5): one file per service, one table that dispatches requests to them.
//!
//! A request is handled in one pass over its bytes; the response is encoded directly behind it. What concerns the whole
//! request becomes a ServiceFault ([`Fault`]); what concerns one operation becomes its result.

pub(crate) mod attributes;
pub(crate) mod body;
mod browse;
mod browse_next;
mod call;
pub(crate) mod continuation;
mod data_value;
mod deferred;
mod deletion;
mod discovery;
mod item_changes;
mod list;
mod monitored_items;
mod node_management;
mod pages;
mod path;
pub(crate) mod read;
pub(crate) mod read_item;
mod register_nodes;
mod session;
mod slices;
mod steps;
mod subscriptions;
mod translate;
mod triggering;
mod walk;
mod write;

pub(crate) use read::shared_cell;
pub(crate) use slices::{Progress, Service, Turn};

use std::sync::Arc;

use takt_space::Transport;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::ResponseHeader;
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DateTime, NodeIdRef, StatusCode, Structure, ids};

use self::body::Body;
use crate::connection::{Connection, Outcome};
use crate::server::Server;
use crate::session::Session;

/// Why a request as a whole is refused: the serviceResult of a ServiceFault (OPC 10000-4, 7.35).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) StatusCode);

impl From<StatusCode> for Fault {
    fn from(status: StatusCode) -> Self {
        Self(status)
    }
}

impl From<DecodeError> for Fault {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self(error.status_code())
    }
}

impl From<EncodeError> for Fault {
    #[cold]
    fn from(_: EncodeError) -> Self {
        Self(StatusCode::BadResponseTooLarge)
    }
}

/// What is known about a request before its service looks at it.
pub(crate) struct Request<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) header: &'a RequestHeaderRef<'a>,
    /// The one look at the clock that a request gets.
    pub(crate) now: DateTime,
    pub(crate) request_id: u32,
    /// The whole message.
    pub(crate) message: &'a [u8],
}

/// What a service did with a request.
type Handled = Result<Outcome, Fault>;

/// Handles one request message: TypeId and structure, as OPC 10000-6, 5.2.9, has them, or the fixed layout of `takt_layout`.
pub(crate) fn handle(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
) -> Outcome {
    let start = response.position();
    let mut request_handle = 0;
    match dispatch(
        server,
        connection,
        request_id,
        message,
        response,
        &mut request_handle,
    ) {
        Ok(outcome) => outcome,
        Err(fault) => {
            response.truncate(start);
            if service_fault(response, request_handle, fault).is_err() {
                response.truncate(start);
            }
            Outcome::Complete
        }
    }
}

#[inline]
fn dispatch(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
    request_handle: &mut u32,
) -> Handled {
    if takt_layout::is_layout(message) {
        return dispatch_layout(
            server,
            connection,
            request_id,
            message,
            response,
            request_handle,
        );
    }
    let mut body = Decoder::with_limits(message, server.limits.encoding);
    let type_id = NodeIdRef::decode(&mut body)?;
    let structure = body.clone();
    let header = RequestHeaderRef::decode(&mut body)?;
    *request_handle = header.request_handle;
    let request = Request {
        server,
        header: &header,
        now: DateTime::now(),
        request_id,
        message,
    };
    match type_id.standard_id().unwrap_or_default() {
        ids::READ_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&request, connection)?;
            read::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&request, connection)?;
            write::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&request, connection)?;
            call::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::PUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&request, connection)?;
            subscriptions::publish(&request, connection, session, structure)
        }
        other => dispatch_other(&request, other, connection, (structure, body), response),
    }
}

/// Requests in the fixed layout, which is for shared memory.
fn dispatch_layout(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
    request_handle: &mut u32,
) -> Handled {
    if connection.peer.transport != Transport::SharedMemory {
        return Err(Fault(StatusCode::BadDecodingError));
    }
    let laid_out = takt_layout::Request::parse(message, server.limits.encoding)?;
    let header = body::header(&laid_out);
    *request_handle = header.request_handle;
    let request = Request {
        server,
        header: &header,
        now: DateTime::now(),
        request_id,
        message,
    };
    let (connection, session) = session_of(&request, connection)?;
    let body = Body::LaidOut(&laid_out);
    match laid_out.service() {
        takt_layout::Service::Read => read::handle(&request, connection, session, body, response),
        takt_layout::Service::Write => write::handle(&request, connection, session, body, response),
        takt_layout::Service::Call => call::handle(&request, connection, session, body, response),
    }
}

/// The services that are not on the hot path.
#[inline(never)]
fn dispatch_other(
    request: &Request<'_>,
    type_id: u32,
    connection: &mut Connection,
    (structure, body): (Decoder<'_>, Decoder<'_>),
    response: &mut Encoder<'_>,
) -> Handled {
    // Services without a Session, and those that are about the Session itself.
    match type_id {
        ids::FIND_SERVERS_REQUEST_ENCODING_DEFAULT_BINARY => {
            return discovery::find_servers(request, structure, response);
        }
        ids::GET_ENDPOINTS_REQUEST_ENCODING_DEFAULT_BINARY => {
            return discovery::get_endpoints(request, structure, response);
        }
        ids::CREATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => {
            return session::create(request, connection, structure, response);
        }
        ids::ACTIVATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => {
            return session::activate(request, connection, structure, response);
        }
        ids::CLOSE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => {
            return session::close(request, connection, structure, response);
        }
        _ => {}
    }
    if let Some(service) = sliced(type_id) {
        let (connection, session) = session_of(request, connection)?;
        return service(request, connection, session, body, response);
    }
    let service: Unsliced = match type_id {
        ids::CANCEL_REQUEST_ENCODING_DEFAULT_BINARY => session::cancel,
        ids::CREATE_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::create,
        ids::MODIFY_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::modify,
        ids::SET_PUBLISHING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            subscriptions::set_publishing_mode
        }
        ids::REPUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::republish,
        ids::TRANSFER_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::transfer,
        ids::DELETE_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::delete,
        _ => return Err(Fault(StatusCode::BadServiceUnsupported)),
    };
    let (_, session) = session_of(request, connection)?;
    service(request, session, structure, response)
}

/// A service that is handled in one go. It gets the RequestHeader and what follows.
type Unsliced = fn(&Request<'_>, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

/// A service that runs in slices. It gets what follows the RequestHeader.
type Sliced =
    fn(&Request<'_>, &Connection, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

fn sliced(type_id: u32) -> Option<Sliced> {
    Some(match type_id {
        ids::BROWSE_REQUEST_ENCODING_DEFAULT_BINARY => browse::handle,
        ids::BROWSE_NEXT_REQUEST_ENCODING_DEFAULT_BINARY => browse_next::handle,
        ids::TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_REQUEST_ENCODING_DEFAULT_BINARY => {
            translate::handle
        }
        ids::ADD_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            node_management::handle::<node_management::AddNode>
        }
        ids::ADD_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            node_management::handle::<node_management::AddReference>
        }
        ids::DELETE_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            node_management::handle::<node_management::DeleteNode>
        }
        ids::DELETE_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            node_management::handle::<node_management::DeleteReference>
        }
        ids::REGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => register_nodes::register,
        ids::UNREGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => register_nodes::unregister,
        ids::CREATE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => monitored_items::create,
        ids::MODIFY_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => item_changes::modify,
        ids::SET_MONITORING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            item_changes::set_monitoring_mode
        }
        ids::DELETE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => item_changes::delete,
        ids::SET_TRIGGERING_REQUEST_ENCODING_DEFAULT_BINARY => triggering::handle,
        _ => return None,
    })
}

/// The Session that the request names, if this connection may use it; the connection remembers it.
#[inline]
fn session_of<'c>(
    request: &Request<'_>,
    connection: &'c mut Connection,
) -> Result<(&'c Connection, &'c Arc<Session>), Fault> {
    let token = request.header.authentication_token;
    let remembered = connection
        .session
        .as_ref()
        .is_some_and(|session| session.has_token(token) && session.is_usable(connection.channel));
    if !remembered {
        connection.session = Some(
            request
                .server
                .sessions
                .find_usable(token, connection.channel)?,
        );
    }
    let connection: &'c Connection = connection;
    match &connection.session {
        Some(session) => {
            session.touch();
            Ok((connection, session))
        }
        None => Err(Fault(StatusCode::BadSessionIdInvalid)),
    }
}

impl Request<'_> {
    /// The offset in the message of what a decoder of its rest reads next.
    fn offset(&self, decoder: &Decoder<'_>) -> usize {
        self.message.len() - decoder.remaining()
    }

    /// A ResponseHeader that says Good.
    pub(crate) fn response_header(&self) -> ResponseHeader {
        ResponseHeader {
            timestamp: self.now,
            request_handle: self.header.request_handle,
            ..ResponseHeader::default()
        }
    }

    /// Writes the TypeId and the ResponseHeader of a response that is encoded by hand.
    #[inline]
    pub(crate) fn respond(
        &self,
        encoding_id: u32,
        response: &mut Encoder<'_>,
    ) -> Result<(), Fault> {
        let (handle, result) = (self.header.request_handle, StatusCode::Good);
        Ok(response_header(
            response,
            encoding_id,
            self.now,
            handle,
            result,
        )?)
    }
}

/// Decodes a request that is not on the hot path.
pub(crate) fn decode<T: Structure>(mut structure: Decoder<'_>) -> Result<T, Fault> {
    Ok(T::decode(&mut structure)?)
}

/// Encodes a response that is not on the hot path.
pub(crate) fn encode<T: Structure>(message: &T, response: &mut Encoder<'_>) -> Handled {
    NodeIdRef::numeric(0, T::BINARY_ENCODING_ID).encode(response)?;
    message.encode(response)?;
    Ok(Outcome::Complete)
}

/// Checks the number of operations in a request (OPC 10000-4, 5.3; OPC 10000-5, 6.3.11).
#[inline]
pub(crate) fn check_count(count: usize, limit: u32) -> Result<(), Fault> {
    if count == 0 {
        return Err(Fault(StatusCode::BadNothingToDo));
    }
    if count > usize::try_from(limit).unwrap_or(usize::MAX) {
        return Err(Fault(StatusCode::BadTooManyOperations));
    }
    Ok(())
}

/// Which timestamps a client wants (OPC 10000-4, 7.39).
#[inline]
pub(crate) fn check_timestamps(timestamps: TimestampsToReturn) -> Result<(), Fault> {
    if (0..=3).contains(&timestamps.0) {
        Ok(())
    } else {
        Err(Fault(StatusCode::BadTimestampsToReturnInvalid))
    }
}

/// TypeId and ResponseHeader (OPC 10000-4, 7.33) in one write: no diagnostics, an empty string table, no additional header.
#[inline]
pub(crate) fn response_header(
    response: &mut Encoder<'_>,
    encoding_id: u32,
    now: DateTime,
    request_handle: u32,
    result: StatusCode,
) -> Result<(), EncodeError> {
    let Ok(id) = u16::try_from(encoding_id) else {
        // None of the services has such an id; the encoding would need more bytes.
        return Err(EncodeError::LengthOverflow);
    };
    let mut header = [0; HEADER_SIZE];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(target) = header.get_mut(at..at + bytes.len()) {
            target.copy_from_slice(bytes);
        }
    };
    // NodeId in its four byte form: encoding byte 1, namespace 0, identifier.
    put(0, &[1, 0]);
    put(2, &id.to_le_bytes());
    put(4, &now.0.to_le_bytes());
    put(12, &request_handle.to_le_bytes());
    put(16, &result.0.to_le_bytes());
    // serviceDiagnostics: 1 byte, nothing in it. stringTable: null.
    put(21, &(-1_i32).to_le_bytes());
    // additionalHeader: null NodeId, no body.
    response.bytes(&header)
}

const HEADER_SIZE: usize = 28;

fn service_fault(
    response: &mut Encoder<'_>,
    request_handle: u32,
    fault: Fault,
) -> Result<(), EncodeError> {
    let id = ids::SERVICE_FAULT_ENCODING_DEFAULT_BINARY;
    response_header(response, id, DateTime::now(), request_handle, fault.0)
}

/// A ServiceFault as a message of its own.
pub(crate) fn fault_message(request_handle: u32, fault: Fault) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER_SIZE);
    let mut response = Encoder::growing(&mut message, HEADER_SIZE);
    // It fits: that is how much was asked for.
    let _ = service_fault(&mut response, request_handle, fault);
    message
}

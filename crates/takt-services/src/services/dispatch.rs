//! The table of the services: which one handles a request of which type.

use std::sync::Arc;

use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{NodeIdRef, StatusCode, Structure, ids};

use super::body::{self, Body};
use super::browse::Browse;
use super::browse_next::BrowseNext;
use super::browsing::Browsed;
use super::create_items::Create;
use super::history_read::HistoryRead;
use super::item_changes::Changes;
use super::modify_items::{Delete, Modify, SetMode};
use super::node_management::{AddNodes, AddReferences, DeleteNodes, DeleteReferences};
use super::register_nodes::{RegisterNodes, UnregisterNodes};
use super::request::{Handled, Incoming, Request, decode, encode};
use super::sliced::operation_list;
use super::subscriptions::{DeleteSubscriptions, TransferSubscriptions};
use super::{
    activation, call, discovery, history_update, read, session, subscriptions, translate,
    triggering, write,
};
use crate::identity::forwarded_user::ForwardedUser;
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::session::Session;

/// Parts of a request that are known when it fails.
#[derive(Default)]
pub(super) struct Known {
    pub(super) request_handle: u32,
    /// Type of a request that its Session has counted; 0 before that.
    counted: u32,
}

impl Known {
    /// Counts the failure of a request of the connection's Session.
    pub(super) fn count_refused(&self, connection: &Connection, Fault(status): Fault) {
        if self.counted == 0 {
            return;
        }
        if let Some(session) = &connection.session {
            session.counters.refused(self.counted);
            if status == StatusCode::BadUserAccessDenied {
                session.counters.unauthorized();
            }
        }
    }
}

/// Handles a request message in either form: the binary DataEncoding, or the fixed layout, which is for shared memory.
#[inline]
pub(super) fn dispatch(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    let limits = server.budgets.encoding;
    if takt_layout::is_layout(message) {
        // Only processes of this host agree on the fixed layout.
        if !connection.peer().is_local() {
            return Err(Fault(StatusCode::BadDecodingError));
        }
        let laid_out = takt_layout::RequestReader::parse(message, limits)?;
        let header = body::header(&laid_out);
        let incoming = Incoming::new(server, &header, request_id, message);
        known.request_handle = header.request_handle;
        let (service, body) = (laid_out.service(), Body::LaidOut(&laid_out));
        return read_write_call(incoming, service, connection, body, response, known);
    }
    let mut body = Decoder::with_limits(message, limits);
    let type_id = NodeIdRef::decode(&mut body)?;
    let header = RequestHeaderRef::decode(&mut body)?;
    let incoming = Incoming::new(server, &header, request_id, message);
    known.request_handle = header.request_handle;
    let service = match type_id.standard_id().unwrap_or_default() {
        ids::READ_REQUEST_ENCODING_DEFAULT_BINARY => takt_layout::Service::Read,
        ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY => takt_layout::Service::Write,
        ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY => takt_layout::Service::Call,
        type_id => {
            return other(incoming, type_id, connection, body, response, known);
        }
    };
    let body = Body::Encoded(&body);
    read_write_call(incoming, service, connection, body, response, known)
}

/// Handles a request of the services on the hot path, in either form.
#[inline]
fn read_write_call(
    incoming: Incoming<'_>,
    service: takt_layout::Service,
    connection: &mut Connection,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    // Each service has its type as a constant, so that the right counter is known when this is compiled.
    match service {
        takt_layout::Service::Read => {
            let type_id = ids::READ_REQUEST_ENCODING_DEFAULT_BINARY;
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            read::handle(&request, connection, session, body, response)
        }
        takt_layout::Service::Write => {
            let type_id = ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY;
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            write::handle(&request, connection, session, body, response)
        }
        takt_layout::Service::Call => {
            let type_id = ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY;
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            call::handle(&request, connection, session, body, response)
        }
    }
}

/// Handles a request of a service that is not on the hot path. `body` is the part after the RequestHeader.
#[inline(never)]
fn other(
    incoming: Incoming<'_>,
    type_id: u32,
    connection: &mut Connection,
    body: Decoder<'_>,
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    let mut structure = Decoder::with_limits(incoming.message, incoming.server.budgets.encoding);
    NodeIdRef::decode(&mut structure)?;
    match entry(type_id).ok_or(Fault(StatusCode::BadServiceUnsupported))? {
        Entry::WithoutSession(service) => {
            let caller = Arc::clone(&connection.caller);
            service(&incoming.of(&caller), connection, structure, response)
        }
        Entry::Publish => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            subscriptions::publish(&request, connection, session, structure)
        }
        Entry::Sliced(service) => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            service(&request, connection, session, body, response)
        }
        Entry::Unsliced(service) => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            service(&request, session, structure, response)
        }
    }
}

/// A service that needs no Session, or manages the Session itself.
type WithoutSession = fn(&Request<'_>, &mut Connection, Decoder<'_>, &mut Encoder<'_>) -> Handled;

/// A service that runs in slices.
type Sliced =
    fn(&Request<'_>, &Connection, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

/// A service that is handled at once.
type Unsliced = fn(&Request<'_>, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

/// Decodes the request of a service that is handled at once, and encodes its response.
fn answer<Q: Structure, A: Structure>(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
    service: impl FnOnce(&Request<'_>, &Arc<Session>, Q) -> Result<A, Fault>,
) -> Handled {
    let answered = service(request, session, decode(structure)?)?;
    encode(&answered, response)
}

/// A service in the table.
enum Entry {
    WithoutSession(WithoutSession),
    Publish,
    Sliced(Sliced),
    Unsliced(Unsliced),
}

/// Returns the service for requests of a type.
fn entry(type_id: u32) -> Option<Entry> {
    use Entry::{Publish, Sliced, Unsliced, WithoutSession};
    Some(match type_id {
        ids::FIND_SERVERS_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(discovery::find_servers)
        }
        ids::GET_ENDPOINTS_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(discovery::get_endpoints)
        }
        ids::FIND_SERVERS_ON_NETWORK_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(discovery::find_servers_on_network)
        }
        ids::REGISTER_SERVER_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(discovery::register_server)
        }
        ids::REGISTER_SERVER2_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(discovery::register_server2)
        }
        ids::CREATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => WithoutSession(session::create),
        ids::ACTIVATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => {
            WithoutSession(activation::activate)
        }
        ids::CLOSE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => WithoutSession(session::close),
        ids::PUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => Publish,
        ids::CANCEL_REQUEST_ENCODING_DEFAULT_BINARY => Unsliced(session::cancel),
        ids::CREATE_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => {
            Unsliced(|request, session, structure, response| {
                answer(request, session, structure, response, subscriptions::create)
            })
        }
        ids::MODIFY_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => {
            Unsliced(|request, session, structure, response| {
                answer(request, session, structure, response, subscriptions::modify)
            })
        }
        ids::SET_PUBLISHING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            Unsliced(|request, session, structure, response| {
                answer(
                    request,
                    session,
                    structure,
                    response,
                    subscriptions::set_publishing_mode,
                )
            })
        }
        ids::REPUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => Unsliced(subscriptions::republish),
        ids::HISTORY_UPDATE_REQUEST_ENCODING_DEFAULT_BINARY => Unsliced(history_update::update),
        ids::BROWSE_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Browsed<Browse>>)
        }
        ids::BROWSE_NEXT_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Browsed<BrowseNext>>)
        }
        ids::TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(translate::handle)
        }
        ids::HISTORY_READ_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<HistoryRead>)
        }
        ids::ADD_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<AddNodes>)
        }
        ids::ADD_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<AddReferences>)
        }
        ids::DELETE_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<DeleteNodes>)
        }
        ids::DELETE_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<DeleteReferences>)
        }
        ids::REGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<RegisterNodes>)
        }
        ids::UNREGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<UnregisterNodes>)
        }
        ids::CREATE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Changes<Create>>)
        }
        ids::MODIFY_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Changes<Modify>>)
        }
        ids::SET_MONITORING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Changes<SetMode>>)
        }
        ids::DELETE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(operation_list::handle::<Changes<Delete>>)
        }
        ids::SET_TRIGGERING_REQUEST_ENCODING_DEFAULT_BINARY => Sliced(triggering::handle),
        ids::TRANSFER_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(subscriptions::handle_each::<TransferSubscriptions>)
        }
        ids::DELETE_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => {
            Sliced(subscriptions::handle_each::<DeleteSubscriptions>)
        }
        _ => return None,
    })
}

/// Returns the Session that the request names, if this connection may use it; the connection remembers it.
#[inline]
fn session_of<'c>(
    incoming: &Incoming<'_>,
    connection: &'c mut Connection,
    type_id: u32,
    known: &mut Known,
) -> Result<(&'c Connection, &'c Arc<Session>), Fault> {
    let token = incoming.header.authentication_token;
    // The usual case takes no lock and searches no table.
    let remembered = connection
        .session
        .as_ref()
        .is_some_and(|session| session.has_token(token) && session.is_usable(connection.channel));
    if !remembered {
        let sessions = &incoming.server.sessions;
        let session = sessions.find_usable(token, connection.channel)?;
        connection.set_session(Some(session));
    }
    // Also after a forwarded request: this one may be the client's own.
    if connection.is_forwarding() || !incoming.header.additional_header.type_id.is_null() {
        set_forwarded(incoming, connection);
    }
    let connection: &'c Connection = connection;
    match &connection.session {
        Some(session) => {
            // A request keeps its Session alive, even if it is refused later.
            session.touch();
            session.counters.request(type_id);
            known.counted = type_id;
            Ok((connection, session))
        }
        None => Err(Fault(StatusCode::BadSessionIdInvalid)),
    }
}

/// Sets the user on whose behalf the client sends a request, or that there is none.
#[cold]
#[inline(never)]
fn set_forwarded(incoming: &Incoming<'_>, connection: &mut Connection) {
    let forwarded = ForwardedUser::read(&incoming.header.additional_header);
    let users = incoming.server.users().map(|users| &**users);
    connection.set_forwarded(forwarded.as_ref(), users);
}

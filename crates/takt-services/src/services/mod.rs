//! The services (OPC 10000-4, 5): one file per service, one table that dispatches requests to them.
//!
//! A request is handled in one pass over its bytes; the response is encoded directly behind it. An error of the whole request
//! becomes a ServiceFault ([`Fault`]); an error of one operation becomes its result.

mod activation;
mod announced;
mod body;
mod browse;
mod browse_next;
mod browsing;
mod call;
mod create_items;
mod deferred;
mod deletion;
mod discovery;
mod history_read;
mod history_update;
mod item_changes;
mod item_parameters;
mod manager;
mod modify_items;
mod node_management;
mod pages;
mod path;
mod read;
mod register_nodes;
mod request;
pub(crate) mod restored;
mod session;
mod settling;
mod sliced;
mod subscriptions;
mod translate;
mod triggering;
mod walk;
mod write;
mod write_item;

use std::sync::Arc;

use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DateTime, NodeIdRef, StatusCode, ids};

use self::body::Body;
use self::browse::Browse;
use self::browse_next::BrowseNext;
use self::browsing::Browsed;
use self::create_items::Create;
use self::history_read::HistoryRead;
use self::item_changes::Changes;
use self::modify_items::{Delete, Modify, SetMode};
use self::node_management::{AddNodes, AddReferences, DeleteNodes, DeleteReferences};
use self::register_nodes::{RegisterNodes, UnregisterNodes};
use self::request::{Handled, Incoming, Request};
use self::sliced::operation_list;
use self::sliced::request_task::RequestTask;
use crate::identity::forwarded_user::ForwardedUser;
use crate::responses::fault::Fault;
use crate::responses::message::service_fault;
use crate::server::Server;
use crate::server::connection::{Connection, Outcome};
use crate::session::Session;

impl Server {
    /// Handles one request message and encodes its response.
    ///
    /// `request` is TypeId and structure (OPC 10000-6, 5.2.9); the response has the same form. Every error of the request ends
    /// in a ServiceFault. Reading and writing values takes no lock on the address space, and allocates nothing, unless a
    /// value's source does.
    #[inline]
    pub fn handle(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> Outcome {
        let outcome = self.begin(connection, request_id, request, response);
        if outcome == Outcome::Deferred {
            self.leave(connection, || request.to_vec());
        }
        outcome
    }

    /// Handles one request message like [`handle`](Self::handle). A request that takes more than one slice keeps the memory of
    /// the message, and leaves an empty one. Otherwise the message is unchanged.
    pub fn handle_owned(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> Outcome {
        let outcome = self.begin(connection, request_id, request, response);
        if outcome == Outcome::Deferred {
            self.leave(connection, || std::mem::take(request));
        }
        outcome
    }

    /// Leaves the rest of a request that has begun to [`work`](Self::work), with its message.
    #[cold]
    fn leave(self: &Arc<Self>, connection: &Connection, message: impl FnOnce() -> Vec<u8>) {
        let begun = connection.begun.take();
        if let Some(mut task) = begun.and_then(|task| task.downcast::<RequestTask>().ok()) {
            task.set_message(message());
            self.tasks.push(self, connection.channel, task);
        }
    }

    /// Handles a request, or its first slice.
    #[inline]
    fn begin(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> Outcome {
        let start = response.position();
        let mut known = Known::default();
        match dispatch(self, connection, request_id, request, response, &mut known) {
            Ok(outcome) => outcome,
            Err(fault) => {
                self.diagnostics.rejected(fault);
                known.count_refused(connection, fault);
                response.truncate(start);
                if service_fault(response, known.request_handle, fault).is_err() {
                    response.truncate(start);
                }
                Outcome::Complete
            }
        }
    }
}

/// Parts of a request that are known when it fails.
#[derive(Default)]
struct Known {
    request_handle: u32,
    /// Type of a request that its Session has counted; 0 before that.
    counted: u32,
}

impl Known {
    /// Counts the failure of a request of the connection's Session.
    fn count_refused(&self, connection: &Connection, Fault(status): Fault) {
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

#[inline]
fn dispatch(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    if takt_layout::is_layout(message) {
        return dispatch_layout(server, connection, request_id, message, response, known);
    }
    let mut body = Decoder::with_limits(message, server.budgets.encoding);
    let type_id = NodeIdRef::decode(&mut body)?;
    let structure = body.clone();
    let header = RequestHeaderRef::decode(&mut body)?;
    known.request_handle = header.request_handle;
    let incoming = Incoming {
        server,
        header: &header,
        now: DateTime::now(),
        request_id,
        message,
    };
    let type_id = type_id.standard_id().unwrap_or_default();
    match type_id {
        ids::READ_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            read::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            write::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            call::handle(&request, connection, session, Body::Encoded(body), response)
        }
        ids::PUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => {
            let (connection, session) = session_of(&incoming, connection, type_id, known)?;
            let request = incoming.of(&connection.caller);
            subscriptions::publish(&request, connection, session, structure)
        }
        _ => dispatch_other(
            incoming,
            type_id,
            connection,
            (structure, body),
            response,
            known,
        ),
    }
}

/// Dispatches requests in the fixed layout, which is for shared memory.
fn dispatch_layout(
    server: &Arc<Server>,
    connection: &mut Connection,
    request_id: u32,
    message: &[u8],
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    if !connection.peer().is_local() {
        return Err(Fault(StatusCode::BadDecodingError));
    }
    let laid_out = takt_layout::RequestReader::parse(message, server.budgets.encoding)?;
    let header = body::header(&laid_out);
    known.request_handle = header.request_handle;
    let incoming = Incoming {
        server,
        header: &header,
        now: DateTime::now(),
        request_id,
        message,
    };
    let body = Body::LaidOut(&laid_out);
    // Each service has its type as a constant, so that the right counter is known when this is compiled.
    match laid_out.service() {
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

/// Dispatches requests of the services that are not on the hot path.
#[inline(never)]
fn dispatch_other(
    incoming: Incoming<'_>,
    type_id: u32,
    connection: &mut Connection,
    (structure, body): (Decoder<'_>, Decoder<'_>),
    response: &mut Encoder<'_>,
    known: &mut Known,
) -> Handled {
    if let Some(service) = without_session(type_id) {
        let caller = Arc::clone(&connection.caller);
        return service(&incoming.of(&caller), connection, structure, response);
    }
    if let Some(service) = sliced(type_id) {
        let (connection, session) = session_of(&incoming, connection, type_id, known)?;
        return service(
            &incoming.of(&connection.caller),
            connection,
            session,
            body,
            response,
        );
    }
    let service: Unsliced = match type_id {
        ids::CANCEL_REQUEST_ENCODING_DEFAULT_BINARY => session::cancel,
        ids::CREATE_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::create,
        ids::MODIFY_SUBSCRIPTION_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::modify,
        ids::SET_PUBLISHING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            subscriptions::set_publishing_mode
        }
        ids::REPUBLISH_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::republish,
        ids::HISTORY_UPDATE_REQUEST_ENCODING_DEFAULT_BINARY => history_update::update,
        _ => return Err(Fault(StatusCode::BadServiceUnsupported)),
    };
    let (connection, session) = session_of(&incoming, connection, type_id, known)?;
    service(
        &incoming.of(&connection.caller),
        session,
        structure,
        response,
    )
}

/// A service that needs no Session, or manages the Session itself. Its parameters are the RequestHeader and the decoder of the
/// rest.
type WithoutSession = fn(&Request<'_>, &mut Connection, Decoder<'_>, &mut Encoder<'_>) -> Handled;

fn without_session(type_id: u32) -> Option<WithoutSession> {
    Some(match type_id {
        ids::FIND_SERVERS_REQUEST_ENCODING_DEFAULT_BINARY => discovery::find_servers,
        ids::GET_ENDPOINTS_REQUEST_ENCODING_DEFAULT_BINARY => discovery::get_endpoints,
        ids::FIND_SERVERS_ON_NETWORK_REQUEST_ENCODING_DEFAULT_BINARY => {
            discovery::find_servers_on_network
        }
        ids::REGISTER_SERVER_REQUEST_ENCODING_DEFAULT_BINARY => discovery::register_server,
        ids::REGISTER_SERVER2_REQUEST_ENCODING_DEFAULT_BINARY => discovery::register_server2,
        ids::CREATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => session::create,
        ids::ACTIVATE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => activation::activate,
        ids::CLOSE_SESSION_REQUEST_ENCODING_DEFAULT_BINARY => session::close,
        _ => return None,
    })
}

/// A service that is handled without slices. Its parameters are the RequestHeader and the decoder of the rest.
type Unsliced = fn(&Request<'_>, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

/// A service that runs in slices. Its parameter is the decoder of the part after the RequestHeader.
type Sliced =
    fn(&Request<'_>, &Connection, &Arc<Session>, Decoder<'_>, &mut Encoder<'_>) -> Handled;

fn sliced(type_id: u32) -> Option<Sliced> {
    Some(match type_id {
        ids::BROWSE_REQUEST_ENCODING_DEFAULT_BINARY => operation_list::handle::<Browsed<Browse>>,
        ids::BROWSE_NEXT_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<Browsed<BrowseNext>>
        }
        ids::TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_REQUEST_ENCODING_DEFAULT_BINARY => {
            translate::handle
        }
        ids::HISTORY_READ_REQUEST_ENCODING_DEFAULT_BINARY => operation_list::handle::<HistoryRead>,
        ids::ADD_NODES_REQUEST_ENCODING_DEFAULT_BINARY => operation_list::handle::<AddNodes>,
        ids::ADD_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<AddReferences>
        }
        ids::DELETE_NODES_REQUEST_ENCODING_DEFAULT_BINARY => operation_list::handle::<DeleteNodes>,
        ids::DELETE_REFERENCES_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<DeleteReferences>
        }
        ids::REGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<RegisterNodes>
        }
        ids::UNREGISTER_NODES_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<UnregisterNodes>
        }
        ids::CREATE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<Changes<Create>>
        }
        ids::MODIFY_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<Changes<Modify>>
        }
        ids::SET_MONITORING_MODE_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<Changes<SetMode>>
        }
        ids::DELETE_MONITORED_ITEMS_REQUEST_ENCODING_DEFAULT_BINARY => {
            operation_list::handle::<Changes<Delete>>
        }
        ids::SET_TRIGGERING_REQUEST_ENCODING_DEFAULT_BINARY => triggering::handle,
        ids::TRANSFER_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::transfer,
        ids::DELETE_SUBSCRIPTIONS_REQUEST_ENCODING_DEFAULT_BINARY => subscriptions::delete,
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
    let remembered = connection
        .session
        .as_ref()
        .is_some_and(|session| session.has_token(token) && session.is_usable(connection.channel));
    if !remembered {
        let sessions = &incoming.server.sessions;
        let session = sessions.find_usable(token, connection.channel)?;
        connection.set_session(Some(session));
    }
    if connection.is_forwarding() || !incoming.header.additional_header.type_id.is_null() {
        set_forwarded(incoming, connection);
    }
    let connection: &'c Connection = connection;
    match &connection.session {
        Some(session) => {
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

//! CreateSession, CloseSession and Cancel (OPC 10000-4, 5.7).

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use takt_crypto::Certificate;
use takt_space::{Caller, Peer};
use takt_ua::binary::{Decoder, Encoder};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    CancelRequest, CancelResponse, CloseSessionRequest, CloseSessionResponse, CreateSessionRequest,
    CreateSessionResponse, EndpointDescription, ResponseHeader, SignatureData, UserTokenPolicy,
};
use takt_ua::{ByteString, NodeId, SECURITY_POLICY_NONE, StatusCode, UaString};

use super::refusals::Refused;
use super::request::{Handled, Request, decode, encode};
use super::subscriptions::in_slice;
use crate::audit::record::AuditedAction;
use crate::identity::random::random;
use crate::identity::session_security::SessionSecurity;
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::session::{NONCE_LENGTH, NewSession, Session};

/// Handles a CreateSession request, and records a failure in the audit trail and in the log.
pub(crate) fn create(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let mut application_uri = UaString::default();
    let uri = &mut application_uri;
    let created = create_session(request, connection, structure, response, uri);
    if let Err(Fault(status)) = created {
        request.audit(status, || AuditedAction::CreateSession);
        Refused {
            service: "CreateSession",
            channel: &connection.caller.channel,
            application_uri: application_uri.as_str(),
            user: None,
            reason: None,
        }
        .log(request.server, status);
    }
    created
}

/// Creates a Session. `application_uri` becomes that of the client, also of a refused one.
fn create_session(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
    application_uri: &mut UaString,
) -> Handled {
    let create: CreateSessionRequest = decode(structure)?;
    application_uri.clone_from(&create.client_description.application_uri);
    let server = request.server;
    let server_uri = &create.server_uri;
    if !server_uri.is_empty() && *server_uri != server.application.application_uri {
        return Err(Fault(StatusCode::BadServerUriInvalid));
    }
    if connection.discovery_only {
        return Err(Fault(StatusCode::BadSecurityModeInsufficient));
    }
    let channel = &connection.caller.channel;
    let security = SessionSecurity::of(server.security(), channel)?;
    let requested_url = match create.endpoint_url.as_str() {
        "" => connection.endpoint_url.as_str(),
        url => url,
    };
    let server_endpoints = server.describe_endpoints(requested_url);
    let (server_certificate, server_signature) = match &security {
        Some(security) => security.answer(&create)?,
        None => {
            let certificate = certificate_for_tokens(&channel.peer, &server_endpoints);
            (certificate, SignatureData::default())
        }
    };
    let exchange = match &security {
        Some(security) => security.ephemeral_key(request.header, false)?,
        None => None,
    };
    let (additional_header, ephemeral_key) = exchange.unwrap_or_default();
    let nonce = random::<NONCE_LENGTH>()?;
    let timeout = revise_timeout(
        create.requested_session_timeout,
        server.budgets.min_session_timeout,
        server.budgets.max_session_timeout,
    );
    let client = create.client_description;
    let created = server.sessions.create(NewSession {
        timeout,
        endpoint_url: create.endpoint_url,
        max_response_message_size: create.max_response_message_size,
        max_sessions: server.max_sessions(),
        memory: server
            .memory_of_sessions()
            .fair_part(server.budgets.max_memory_per_session),
        memory_before: server.memory_without_session().clone(),
        max_continuation_points: server.budgets.max_browse_continuation_points,
        max_history_points: server.budgets.max_history_continuation_points,
        server_nonce: nonce,
        ephemeral_key,
        caller: Caller {
            session_name: create.session_name,
            application_name: client.application_name.text,
            application_uri: client.application_uri,
            ..Caller::of_channel(Arc::clone(&connection.caller.channel))
        },
    });
    let diagnostics = &server.diagnostics;
    let (session, replaced) =
        created.inspect_err(|status| diagnostics.session_rejected(*status))?;
    diagnostics.sessions.add(1);
    if let Some(replaced) = replaced {
        diagnostics.sessions_aborted.add(1);
        tracing::debug!(session = %replaced, "Session closed to make room for a new one");
        server.session_over(&replaced, Instant::now());
    }
    let created = CreateSessionResponse {
        response_header: ResponseHeader {
            additional_header,
            ..request.response_header()
        },
        session_id: session.id.clone(),
        authentication_token: NodeId::guid(0, session.token),
        revised_session_timeout: timeout.as_secs_f64() * 1000.0,
        server_nonce: ByteString::from(&nonce),
        server_endpoints,
        server_certificate,
        server_signature,
        // The transport limits the size of messages itself.
        max_request_message_size: 0,
        ..CreateSessionResponse::default()
    };
    let outcome = encode(&created, response);
    if outcome.is_ok() {
        let caller = session.caller.load();
        request.audit_of(
            &caller,
            None,
            StatusCode::Good,
            AuditedAction::CreateSession,
        );
    } else {
        // The client does not receive the id of this Session.
        server.sessions.close(&session);
    }
    outcome
}

/// Returns the certificate with whose key clients without security of messages encrypt tokens of users; null if none of their
/// UserTokenPolicies needs it (OPC 10000-4, 5.7.2). Some clients take it from here instead of the endpoints.
fn certificate_for_tokens(peer: &Peer, endpoints: &[EndpointDescription]) -> ByteString {
    // Tokens in shared memory are not encrypted: the endpoints with such a policy are over TCP.
    if peer.is_local() {
        return ByteString::null();
    }
    let is_protected = |policy: &UserTokenPolicy| {
        let uri = policy.security_policy_uri.as_str();
        !uri.is_empty() && uri != SECURITY_POLICY_NONE
    };
    let endpoint = endpoints.iter().find(|endpoint| {
        endpoint.security_mode == MessageSecurityMode::None
            && endpoint.user_identity_tokens.iter().any(is_protected)
    });
    endpoint
        .and_then(|endpoint| Certificate::leaf_of(endpoint.server_certificate.as_bytes()))
        .map_or_else(ByteString::null, ByteString::from)
}

/// Returns the timeout within the server's limits; values that are not positive finite numbers get the longest.
fn revise_timeout(requested: f64, shortest: Duration, longest: Duration) -> Duration {
    let usable = requested.is_finite() && requested > 0.0;
    let requested = usable
        .then(|| Duration::try_from_secs_f64(requested / 1000.0).ok())
        .flatten();
    requested
        .unwrap_or(longest)
        .clamp(shortest, longest.max(shortest))
}

/// Handles a CloseSession request. A Session that was never activated can be closed by the channel that created it.
pub(crate) fn close(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let close: CloseSessionRequest = decode(structure)?;
    let sessions = &request.server.sessions;
    let token = request.header.authentication_token;
    let session = sessions.find(token)?;
    if session.is_activated() || !session.is_created_on(connection.channel) {
        sessions.find_usable(token, connection.channel)?;
    }
    sessions.close(&session);
    let (delete, now) = (close.delete_subscriptions, Instant::now());
    in_slice(request, connection, |engine| {
        engine.session_closed(&session.id, delete, now);
    });
    tracing::debug!(session = %session.id, "Session closed");
    let caller = session.caller.load();
    request.audit_of(&caller, None, StatusCode::Good, AuditedAction::CloseSession);
    request.server.session_observer.gone(&session.id);
    // The channel may have another Session.
    connection.set_session(sessions.of_channel(connection.channel));
    encode(
        &CloseSessionResponse {
            response_header: request.response_header(),
        },
        response,
    )
}

/// Handles a Cancel request: deferred requests with that handle are answered with `BadRequestCancelledByClient` at once.
pub(crate) fn cancel(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let cancel: CancelRequest = decode(structure)?;
    let cancelled: Vec<_> = {
        let mut pending = session
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pending
            .extract_if(.., |pending| {
                pending.request_handle == cancel.request_handle
            })
            .collect()
    };
    // After the lock is released, because an answer calls a waker.
    let fault = Fault(StatusCode::BadRequestCancelledByClient);
    let count = cancelled
        .iter()
        .filter(|pending| pending.answer_fault(fault))
        .count();
    let response_header = request.response_header();
    let cancel_count = u32::try_from(count).unwrap_or(u32::MAX);
    encode(
        &CancelResponse {
            response_header,
            cancel_count,
        },
        response,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_revised() {
        let revise = |requested| {
            revise_timeout(requested, Duration::from_secs(1), Duration::from_secs(3600))
                .as_secs_f64()
        };
        assert_eq!(revise(60_000.0), 60.0);
        assert_eq!(revise(1.0), 1.0);
        assert_eq!(revise(1e12), 3600.0);
        for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(revise(nonsense), 3600.0, "{nonsense}");
        }
    }
}

//! ActivateSession (OPC 10000-4, 5.7.3). Passwords are checked by another thread, because their hashes take long: other requests
//! are handled meanwhile.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_space::{Caller, Channel, RoleSet, UserIdentity};
use takt_ua::binary::{Decoder, Encoder};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{ActivateSessionRequest, ActivateSessionResponse, ResponseHeader};
use takt_ua::{ByteString, DateTime, ExtensionObject, StatusCode, UaString};
use zeroize::Zeroizing;

use super::refusals::Refused;
use super::request::{Handled, Request, decode, encode};
use crate::audit::record::{AuditRecord, AuditedAction};
use crate::identity::claimed_user::without_secrets;
use crate::identity::password_checks::PasswordCheck;
use crate::identity::random::random;
use crate::identity::session_security::SessionSecurity;
use crate::identity::user_id::user_name;
use crate::identity::user_tokens::{Identified, UserTokens};
use crate::responses::fault::Fault;
use crate::responses::message::fault_message;
use crate::responses::pending::Pending;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::session::{NONCE_LENGTH, Session};
use crate::slices::gate::Gate;
use crate::slices::queues::{Ran, Task};

/// Handles an ActivateSession request, and writes a refusal to the log.
pub(crate) fn activate(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let mut reason = None;
    let activated = activate_session(request, connection, structure, response, &mut reason);
    if let Err(Fault(status)) = activated {
        let token = request.header.authentication_token;
        let session = request.server.sessions.find(token).ok();
        let caller = session.map(|session| session.caller.load_full());
        Refused {
            service: "ActivateSession",
            channel: &connection.caller.channel,
            application_uri: caller
                .as_deref()
                .map_or("", |caller| caller.application_uri.as_str()),
            user: None,
            reason,
        }
        .log(request.server, status);
    }
    activated
}

/// Activates a Session. `reason` becomes the check of the token that failed.
fn activate_session(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
    reason: &mut Option<&'static str>,
) -> Handled {
    let activate: ActivateSessionRequest = decode(structure)?;
    let server = request.server;
    let session = server.sessions.find(request.header.authentication_token)?;
    // The first activation has to use the channel of CreateSession (OPC 10000-4, 5.7.3).
    if !session.is_activated() && !session.is_created_on(connection.channel) {
        return Err(Fault(StatusCode::BadSecureChannelIdInvalid));
    }
    let last_nonce = *session
        .server_nonce
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let channel = &connection.caller.channel;
    let mut ephemeral_key = None;
    let mut exchange = None;
    if let Some(security) = SessionSecurity::of(server.security(), channel)? {
        security.verify(&last_nonce, &activate.client_signature)?;
        // A key is used once, right or wrong.
        ephemeral_key = session.take_ephemeral_key();
        exchange = security.ephemeral_key(request.header, ephemeral_key.is_some())?;
    }
    let (additional_header, next_key) = exchange.unwrap_or_default();
    let tokens = UserTokens {
        authenticator: &*server.authenticator,
        users: server.users().map(|users| &**users),
        security: server.security(),
        channel,
        server_nonce: &last_nonce,
        ephemeral_key: ephemeral_key.as_ref(),
    };
    let token = &activate.user_identity_token;
    let identified = tokens
        .identify(token, &activate.user_token_signature)
        .inspect_err(|status| {
            *reason = tokens.refusal(token, *status);
            server.diagnostics.session_rejected(*status);
            if server.audit().is_some() {
                let name = tokens.claimed_name(token);
                let token = &without_secrets(token);
                let action = AuditedAction::ActivateSession { token };
                let caller = session.caller.load();
                request.audit_of(&caller, name.as_deref(), *status, action);
            }
        })?;
    session.set_ephemeral_key(next_key);
    let activation = Activation {
        session,
        locale_ids: activate.locale_ids,
        additional_header,
        channel: Arc::clone(channel),
        nonce: last_nonce,
        token: server.audit().map(|_| without_secrets(token)),
        audit_entry_id: server
            .audit()
            .and(request.header.audit_entry_id)
            .map(str::to_owned),
    };
    match identified {
        Identified::User(user, roles) => {
            let (header, name) = (request.response_header(), user_name(&user));
            let outcome = activation
                .complete(server, user, roles, header, response)
                .inspect_err(|Fault(status)| {
                    activation.audit_failure(server, name.as_deref(), *status);
                })?;
            // The user before may have had a token with an end.
            server.sessions.end_at(&activation.session, None);
            connection.set_session(Some(activation.session));
            Ok(outcome)
        }
        Identified::Issued(user, roles, expires) => {
            let (header, name) = (request.response_header(), user_name(&user));
            let outcome = activation
                .complete(server, user, roles, header, response)
                .inspect_err(|Fault(status)| {
                    activation.audit_failure(server, name.as_deref(), *status);
                })?;
            // OPC 10000-6, 6.5.2.3: the privileges end with the token.
            let left = u64::try_from(expires.saturating_sub(takt_crypto::now())).unwrap_or(0);
            // An end that an Instant cannot express is never reached.
            let end = Instant::now().checked_add(Duration::from_secs(left));
            server.sessions.end_at(&activation.session, end);
            connection.set_session(Some(activation.session));
            Ok(outcome)
        }
        Identified::Password { name, password } => {
            activation.check_password(request, connection, name, password)
        }
    }
}

/// The activation of a Session whose signatures were verified.
struct Activation {
    session: Arc<Session>,
    /// LocaleIds of the request.
    locale_ids: Vec<UaString>,
    /// AdditionalHeader of the response.
    additional_header: ExtensionObject,
    channel: Arc<Channel>,
    /// The nonce that the client has signed.
    nonce: [u8; NONCE_LENGTH],
    /// Token of the user without secrets, if the request is audited.
    token: Option<ExtensionObject>,
    /// AuditEntryId of the request, if it is audited.
    audit_entry_id: Option<String>,
}

impl Activation {
    /// Activates the Session for a user, and encodes the response.
    fn complete(
        &self,
        server: &Server,
        user: UserIdentity,
        roles: RoleSet,
        response_header: ResponseHeader,
        response: &mut Encoder<'_>,
    ) -> Handled {
        let session = &self.session;
        let before = session.caller.load();
        let moves = session.is_activated() && !session.is_usable(self.channel.id);
        let caller = Arc::new(Caller {
            channel: Arc::clone(&self.channel),
            user,
            roles,
            ..Caller::clone(&before)
        });
        // A client that knows the token of a Session cannot take it over as another user.
        if moves && !caller.may_take_over(&before) {
            return Err(Fault(StatusCode::BadUserAccessDenied));
        }
        session.take_memory()?;
        let nonce = random::<NONCE_LENGTH>()?;
        let activated = ActivateSessionResponse {
            response_header: ResponseHeader {
                additional_header: self.additional_header.clone(),
                ..response_header
            },
            server_nonce: ByteString::from(&nonce),
            ..ActivateSessionResponse::default()
        };
        // The response comes first: if it is too long for the client, the Session stays as it was.
        let outcome = encode(&activated, response)?;
        {
            let mut current = session
                .server_nonce
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // The Session was activated by another request while a password was checked.
            if *current != self.nonce {
                return Err(Fault(StatusCode::BadNonceInvalid));
            }
            session.keep_locale_ids(&self.locale_ids)?;
            session.activate(Arc::clone(&caller))?;
            // Last, as the client gets the new nonce only with success.
            *current = nonce;
        }
        tracing::debug!(session = %session.id, client = %caller.application_name, "Session activated");
        self.audit(server, &caller, None, StatusCode::Good);
        server.session_observer.activated(&caller);
        server.subscriptions.with(|engine| {
            engine.set_owner(&session.id, &caller);
            engine.set_has_channel(&session.id, true, Instant::now());
        });
        Ok(outcome)
    }

    /// Records that the activation has failed, of a user who is not authenticated.
    fn audit_failure(&self, server: &Server, user: Option<&str>, status: StatusCode) {
        self.audit(server, &self.session.caller.load(), user, status);
    }

    fn audit(&self, server: &Server, caller: &Caller, user: Option<&str>, status: StatusCode) {
        if let Some(sink) = server.audit() {
            let none = ExtensionObject::default();
            let token = self.token.as_ref().unwrap_or(&none);
            sink.record(&AuditRecord {
                action: AuditedAction::ActivateSession { token },
                time: DateTime::now(),
                status,
                caller,
                claimed_user: user,
                client_audit_entry_id: self.audit_entry_id.as_deref(),
                server_id: server.application_uri(),
            });
        }
    }

    /// Defers the request until the password was checked.
    fn check_password(
        self,
        request: &Request<'_>,
        connection: &Connection,
        name: String,
        password: Zeroizing<Vec<u8>>,
    ) -> Handled {
        let server = request.server;
        let users = server.users().ok_or(StatusCode::BadIdentityTokenRejected)?;
        let session = &self.session;
        let pending = session.keep_pending(Pending::new(
            request.request_id,
            request.header.request_handle,
            Arc::clone(&connection.completed),
            &session.memory,
            request.message.len(),
        )?);
        let (gate, checked) = Gate::new();
        let result = Arc::new(Mutex::new(None));
        let task = PasswordTask {
            user: UserIdentity::UserName { name: name.clone() },
            pending,
            gate,
            result: Arc::clone(&result),
            has_waited: false,
            activation: self,
        };
        let (users, channel) = (Arc::clone(users), Arc::clone(&task.activation.channel));
        // What the check finds stays here until its end: a refusal has its time, also if the task runs only after the check.
        let found = Arc::new(Mutex::new(None));
        let checked_user = Arc::clone(&found);
        let submitted = server.password_checks.submit(PasswordCheck {
            is_known: users.has_password(&name),
            is_quick: users.is_quick(&name),
            network: channel.peer.network(),
            name: name.clone(),
            run: Box::new(move || {
                let user = users.user_name(&channel.peer, &name, &password);
                let is_right = user.is_ok();
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(user);
                is_right
            }),
            end: Box::new(move || {
                let mut user = checked_user.lock().unwrap_or_else(PoisonError::into_inner);
                let outcome = user.take();
                drop(user);
                *result.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(outcome.unwrap_or(Err(StatusCode::BadUserAccessDenied)));
                checked.done(Ok(()));
            }),
        });
        if !submitted {
            // The request already counts as deferred, so it gets its refusal in the same way.
            task.fail(server, StatusCode::BadTooManyOperations);
            return Ok(RequestOutcome::Deferred);
        }
        server
            .tasks
            .push(server, connection.channel, Box::new(task));
        Ok(RequestOutcome::Deferred)
    }
}

/// An ActivateSession request whose password is being checked.
struct PasswordTask {
    user: UserIdentity,
    pending: Arc<Pending>,
    /// Open at the end of the check. The result is there from then on.
    gate: Arc<Gate>,
    result: Arc<Mutex<Option<Result<RoleSet, StatusCode>>>>,
    has_waited: bool,
    activation: Activation,
}

impl PasswordTask {
    fn fail(&self, server: &Server, status: StatusCode) {
        let caller = self.activation.session.caller.load();
        Refused {
            service: "ActivateSession",
            channel: &self.activation.channel,
            application_uri: caller.application_uri.as_str(),
            user: self.user_name(),
            reason: None,
        }
        .log(server, status);
        let handle = self.pending.request_handle;
        self.pending.answer(fault_message(handle, Fault(status)));
        self.activation.session.forget_answered();
    }

    fn complete(&self, server: &Server, roles: RoleSet) {
        let header = ResponseHeader {
            timestamp: DateTime::now(),
            request_handle: self.pending.request_handle,
            ..ResponseHeader::default()
        };
        let mut message = Vec::new();
        let mut response = Encoder::growing(&mut message, server.budgets.max_response_size);
        let user = self.user.clone();
        match self
            .activation
            .complete(server, user, roles, header, &mut response)
        {
            Ok(_) => {
                server.sessions.end_at(&self.activation.session, None);
                self.pending.answer(message);
                self.activation.session.forget_answered();
            }
            Err(Fault(status)) => {
                self.audit_failure(server, status);
                self.fail(server, status);
            }
        }
    }

    fn audit_failure(&self, server: &Server, status: StatusCode) {
        self.activation
            .audit_failure(server, self.user_name(), status);
    }

    /// Returns the name that is claimed.
    fn user_name(&self) -> Option<&str> {
        match &self.user {
            UserIdentity::UserName { name } => Some(name.as_str()),
            _ => None,
        }
    }
}

impl Task<Server> for PasswordTask {
    fn run(&mut self, server: &Arc<Server>) -> Ran {
        let result = self
            .result
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match result {
            // Cancelled.
            _ if self.pending.is_answered() => {}
            _ if self.activation.session.is_closed() => {
                self.fail(server, StatusCode::BadSessionClosed)
            }
            // The check has ended without a result.
            None if self.has_waited => self.fail(server, StatusCode::BadInternalError),
            None => {
                self.has_waited = true;
                return Ran::Waiting(Arc::clone(&self.gate), self.pending.waker());
            }
            Some(Err(status)) => {
                server.diagnostics.session_rejected(status);
                self.audit_failure(server, status);
                self.fail(server, status);
            }
            Some(Ok(roles)) => self.complete(server, roles.authenticated()),
        }
        Ran::Finished
    }

    fn refuse(&mut self, server: &Server) {
        self.fail(server, StatusCode::BadTooManyOperations);
    }

    fn abandon(&mut self, _: &Server) {}
}

#[cfg(test)]
mod tests;

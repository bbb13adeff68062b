//! Diagnostics of single clients (OPC 10000-5, 6.3.3 to 6.3.5): arrays of all Sessions and Subscriptions.
//!
//! Only some Roles may read them ([`takt_space::NodeAccess`] of the three nodes). The counts are always kept.

use std::sync::Arc;
use std::time::Instant;

use takt_space::{AddressSpace, AddressSpaceError, Caller, Peer, UserIdentity, Value};
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{
    ApplicationDescription, SessionDiagnosticsDataType, SessionSecurityDiagnosticsDataType,
    SubscriptionDiagnosticsDataType,
};
use takt_ua::{
    ByteString, DataValue, DateTime, ExtensionObject, LocalizedText, NodeId, StatusCode, Structure,
    UaString, Variant, ids,
};

use crate::identity::user_id::client_user_id;
use crate::session::{Session, Sessions};
use crate::subscriptions::{OfSession, Subscriptions};

/// Diagnostics of the Sessions and Subscriptions of a server.
pub(crate) struct Clients {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) server_uri: UaString,
}

/// The elements of an array; `None`: the engine is sampling, and has no snapshot yet.
type Array = fn(&Clients) -> Option<Vec<ExtensionObject>>;

/// Binds the three arrays.
pub(crate) fn bind(space: &AddressSpace, clients: &Arc<Clients>) -> Result<(), AddressSpaceError> {
    use ids::*;
    let arrays: [(u32, Array); 3] = [
        (
            SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY,
            |clients| structures(clients.all_subscriptions()?),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY,
            |clients| structures(clients.all_sessions()?),
        ),
        (
            SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY,
            |clients| {
                let all = clients.sessions.activated();
                structures(all.iter().map(|session| security(session)).collect())
            },
        ),
    ];
    let mut edit = space.edit();
    for (id, array) in arrays {
        let clients = Arc::clone(clients);
        let read = move || value(array(&clients));
        edit.set_value(&NodeId::from(id), Value::callback(read))?;
    }
    Ok(())
}

fn structures<S: Structure>(all: Vec<S>) -> Option<Vec<ExtensionObject>> {
    Some(all.iter().map(ExtensionObject::from_structure).collect())
}

/// Returns the value of a Variable of the diagnostics; `None`: the engine is sampling, and has no snapshot yet.
pub(super) fn value(value: Option<impl Into<Variant>>) -> DataValue {
    match value {
        Some(value) => DataValue::good(value),
        None => DataValue::status(StatusCode::BadWaitingForInitialData),
    }
}

impl Clients {
    fn all_subscriptions(&self) -> Option<Vec<SubscriptionDiagnosticsDataType>> {
        self.subscriptions.look(
            |engine| engine.snapshot().subscriptions,
            |snapshot| snapshot.subscriptions.clone(),
        )
    }

    /// Returns the diagnostics of the Subscriptions of one Session.
    pub(super) fn subscriptions_of(
        &self,
        session: &NodeId,
    ) -> Option<Vec<SubscriptionDiagnosticsDataType>> {
        let ids = self.subscriptions.snapshots().ids_of(Some(session));
        self.subscriptions.look(
            |engine| {
                let all = ids.iter().filter_map(|id| engine.diagnostics_of(*id));
                all.collect()
            },
            |snapshot| {
                let all = ids.iter().filter_map(|id| snapshot.subscription(*id));
                all.cloned().collect()
            },
        )
    }

    /// Returns the diagnostics of one Subscription; the inner `None`: it has ended.
    pub(super) fn subscription(&self, id: u32) -> Option<Option<SubscriptionDiagnosticsDataType>> {
        self.subscriptions.look(
            |engine| engine.diagnostics_of(id),
            |snapshot| snapshot.subscription(id).cloned(),
        )
    }

    fn all_sessions(&self) -> Option<Vec<SessionDiagnosticsDataType>> {
        let all = self.sessions.activated();
        let parts: Vec<OfSession> = self.subscriptions.look(
            |engine| all.iter().map(|one| engine.part_of(&one.id)).collect(),
            |snapshot| all.iter().map(|one| snapshot.session(&one.id)).collect(),
        )?;
        let all = all.iter().zip(parts);
        Some(
            all.map(|(session, part)| self.of_session(session, part))
                .collect(),
        )
    }

    /// Returns the diagnostics of one Session.
    pub(super) fn session(&self, session: &Session) -> Option<SessionDiagnosticsDataType> {
        let part = self.subscriptions.look(
            |engine| engine.part_of(&session.id),
            |snapshot| snapshot.session(&session.id),
        )?;
        Some(self.of_session(session, part))
    }

    fn of_session(&self, session: &Session, of_engine: OfSession) -> SessionDiagnosticsDataType {
        let (now, date) = (Instant::now(), DateTime::now());
        SessionDiagnosticsDataType {
            server_uri: self.server_uri.clone(),
            client_connection_time: before(date, now, session.created),
            client_last_contact_time: before(date, now, session.last_contact(now)),
            ..of_session(session, of_engine)
        }
    }
}

fn of_session(session: &Session, of_engine: OfSession) -> SessionDiagnosticsDataType {
    let caller = session.caller.load();
    SessionDiagnosticsDataType {
        session_id: session.id.clone(),
        session_name: caller.session_name.clone(),
        client_description: ApplicationDescription {
            application_uri: caller.application_uri.clone(),
            application_name: LocalizedText::from(caller.application_name.as_str()),
            application_type: ApplicationType::Client,
            ..ApplicationDescription::default()
        },
        endpoint_url: session.endpoint_url.clone(),
        locale_ids: session.locale_ids(),
        max_response_message_size: session.max_response_message_size,
        actual_session_timeout: session.timeout.as_secs_f64() * 1000.0,
        current_subscriptions_count: of_engine.subscriptions,
        current_monitored_items_count: of_engine.items,
        current_publish_requests_in_queue: of_engine.publish_requests,
        ..session.counters.fields()
    }
}

/// Returns the DateTime of an earlier moment.
fn before(date: DateTime, now: Instant, then: Instant) -> DateTime {
    // Sessions keep monotonic times, because somebody may set the clock of the host.
    let ticks = now.saturating_duration_since(then).as_nanos() / 100;
    DateTime(
        date.0
            .saturating_sub(i64::try_from(ticks).unwrap_or(i64::MAX)),
    )
}

pub(super) fn security(session: &Session) -> SessionSecurityDiagnosticsDataType {
    let caller = session.caller.load();
    let user = UaString::from(client_user_id(&caller).as_str());
    let channel = &caller.channel.security;
    let leaf = channel.client_certificate.leaf_der().unwrap_or_default();
    SessionSecurityDiagnosticsDataType {
        session_id: session.id.clone(),
        client_user_id_history: vec![user.clone()],
        client_user_id_of_session: user,
        authentication_mechanism: mechanism(&caller).into(),
        encoding: "UA Binary".into(),
        transport_protocol: match caller.peer() {
            Peer::Tcp { .. } => "opc.tcp",
            Peer::SharedMemory { .. } => "opc.iox2",
        }
        .into(),
        security_mode: channel.mode,
        security_policy_uri: channel.policy_uri.as_str().into(),
        client_certificate: ByteString::from(leaf),
    }
}

/// Returns the AuthenticationMechanism of the user of a Session.
fn mechanism(caller: &Caller) -> &'static str {
    match (&caller.user, caller.peer().user()) {
        (UserIdentity::Anonymous, Some(_)) => "Unix credentials",
        (UserIdentity::Anonymous, None) => "Anonymous",
        (UserIdentity::UserName { .. } | UserIdentity::Application { .. }, _) => "UserName",
        (UserIdentity::Certificate { .. }, _) => "Certificate",
        (UserIdentity::Issued { .. }, _) => "IssuedToken",
    }
}

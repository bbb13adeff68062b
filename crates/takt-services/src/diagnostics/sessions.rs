//! Diagnostics of single clients (OPC 10000-5, 6.3.3 to 6.3.5): arrays of all Sessions and Subscriptions.
//!
//! Only some Roles may read them ([`takt_space::NodeAccess`] of the three nodes). The counts are always kept.

use std::sync::Arc;
use std::time::Instant;

use takt_space::{AddressSpace, AddressSpaceError, Caller, Peer, UserIdentity, Value};
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{
    ApplicationDescription, SessionDiagnosticsDataType, SessionSecurityDiagnosticsDataType,
};
use takt_ua::{
    ByteString, DataValue, DateTime, ExtensionObject, LocalizedText, NodeId, UaString, ids,
};

use crate::identity::user_id::client_user_id;
use crate::session::{Session, Sessions};
use crate::subscriptions::{OfSession, Subscriptions};

/// Binds the three arrays.
pub(crate) fn bind(
    space: &AddressSpace,
    sessions: &Arc<Sessions>,
    subscriptions: &Arc<Subscriptions>,
    server_uri: &UaString,
) -> Result<(), AddressSpaceError> {
    use ids::*;
    let mut edit = space.edit();
    let listed = Arc::clone(subscriptions);
    let read = move || {
        let snapshot = listed.snapshot();
        let all = snapshot.subscriptions.iter();
        DataValue::good(all.map(ExtensionObject::from_structure).collect::<Vec<_>>())
    };
    edit.set_value(
        &NodeId::from(SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY),
        Value::callback(read),
    )?;
    let (all, subscriptions) = (Arc::clone(sessions), Arc::clone(subscriptions));
    let server_uri = server_uri.clone();
    let read = move || DataValue::good(of_sessions(&all, &subscriptions, &server_uri));
    edit.set_value(
        &NodeId::from(
            SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY,
        ),
        Value::callback(read),
    )?;
    let sessions = Arc::clone(sessions);
    let read = move || {
        let all = sessions.activated();
        let all = all.iter().map(|session| security(session));
        DataValue::good(
            all.map(|one| ExtensionObject::from_structure(&one))
                .collect::<Vec<_>>(),
        )
    };
    edit.set_value(
        &NodeId::from(
            SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY,
        ),
        Value::callback(read),
    )
}

fn of_sessions(
    sessions: &Sessions,
    subscriptions: &Subscriptions,
    server_uri: &UaString,
) -> Vec<ExtensionObject> {
    let snapshot = subscriptions.snapshot();
    let (now, date) = (Instant::now(), DateTime::now());
    let all = sessions.activated();
    let diagnostics = all.iter().map(|session| {
        let of_engine = snapshot.sessions.get(&session.id);
        let one = of_session(session, of_engine.copied().unwrap_or_default());
        ExtensionObject::from_structure(&SessionDiagnosticsDataType {
            server_uri: server_uri.clone(),
            client_connection_time: before(date, now, session.created),
            client_last_contact_time: before(date, now, session.last_contact(now)),
            ..one
        })
    });
    diagnostics.collect()
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

fn security(session: &Session) -> SessionSecurityDiagnosticsDataType {
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

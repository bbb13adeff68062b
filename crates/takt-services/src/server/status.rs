//! Values of the Server object that change at run time: ServerStatus, NamespaceArray, ServerArray, ServerCapabilities
//! (OPC 10000-5, 6.3).

use std::sync::{Arc, PoisonError, RwLock};

use takt_space::{AddressSpace, AddressSpaceError, Edit, Value};
use takt_ua::enumerations::{IdentityCriteriaType, RedundancySupport, ServerState};
use takt_ua::structures::{
    ApplicationDescription, BuildInfo, IdentityMappingRuleType, ServerStatusDataType,
};
use takt_ua::{
    DataValue, DateTime, ExtensionObject, LocalizedText, NodeId, UaString, Variant, ids,
};

use crate::budgets::ServerBudgets;
use crate::events::filter::{MAX_SELECT_CLAUSES, MAX_WHERE_OPERANDS};

/// The profiles that every server built with this crate fulfils (OPC 10000-7).
const PROFILES: &[&str] = &[
    "http://opcfoundation.org/UA-Profile/Server/NanoEmbeddedDevice2017",
    "http://opcfoundation.org/UA-Profile/Server/Methods",
    "http://opcfoundation.org/UA-Profile/Server/EmbeddedDataChangeSubscription",
];

/// The contents of ServerStatus.
pub(crate) struct Status {
    start_time: DateTime,
    build_info: BuildInfo,
    shutdown: RwLock<Option<(DateTime, LocalizedText)>>,
}

impl Status {
    /// Creates the status of a server that has been running since `start_time`.
    pub(crate) fn new(build_info: BuildInfo, start_time: DateTime) -> Self {
        Self {
            start_time,
            build_info,
            shutdown: RwLock::default(),
        }
    }

    pub(crate) fn announce_shutdown(&self, at: DateTime, reason: LocalizedText) {
        *self
            .shutdown
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some((at, reason));
    }

    fn data(&self) -> ServerStatusDataType {
        let now = DateTime::now();
        let shutdown = self.shutdown.read().unwrap_or_else(PoisonError::into_inner);
        let (state, seconds_till_shutdown, shutdown_reason) = match &*shutdown {
            None => (ServerState::Running, 0, LocalizedText::NULL),
            Some((at, reason)) => (
                ServerState::Shutdown,
                seconds_between(now, *at),
                reason.clone(),
            ),
        };
        ServerStatusDataType {
            start_time: self.start_time,
            current_time: now,
            state,
            build_info: self.build_info.clone(),
            seconds_till_shutdown,
            shutdown_reason,
        }
    }
}

/// Returns the whole seconds from one time to a later one; 0 if that time has passed.
fn seconds_between(from: DateTime, to: DateTime) -> u32 {
    const TICKS_PER_SECOND: i64 = 10_000_000;
    let seconds = to.0.saturating_sub(from.0) / TICKS_PER_SECOND;
    u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
}

/// Binds the values of the nodes below the Server object.
pub(crate) fn bind(
    space: &Arc<AddressSpace>,
    status: &Arc<Status>,
    budgets: &ServerBudgets,
    application: &ApplicationDescription,
) -> Result<(), AddressSpaceError> {
    let mut edit = space.edit();
    bind_status(&mut edit, status)?;
    bind_capabilities(&mut edit, budgets)?;
    bind_identity(&mut edit, application)?;

    let server_array = vec![application.application_uri.clone()];
    set(
        &mut edit,
        ids::SERVER_SERVER_ARRAY,
        Value::stored(server_array),
    )?;
    // The address space owns this callback, so the callback holds a weak reference.
    let namespaces = Arc::downgrade(space);
    let read = move || {
        let uris = namespaces
            .upgrade()
            .map(|space| space.namespaces().all())
            .unwrap_or_default();
        let uris: Vec<UaString> = uris.iter().map(|uri| UaString::from(&**uri)).collect();
        DataValue::good(uris)
    };
    set(
        &mut edit,
        ids::SERVER_NAMESPACE_ARRAY,
        Value::callback(read),
    )?;
    set(&mut edit, ids::SERVER_SERVICE_LEVEL, Value::stored(255_u8))?;
    // Each client that may receive audit Events gets them, with or without an audit log.
    set(&mut edit, ids::SERVER_AUDITING, Value::stored(true))?;
    set(
        &mut edit,
        ids::SERVER_SERVER_DIAGNOSTICS_ENABLED_FLAG,
        Value::stored(true),
    )?;
    let no_redundancy = i32::from(RedundancySupport::None);
    set(
        &mut edit,
        ids::SERVER_SERVER_REDUNDANCY_REDUNDANCY_SUPPORT,
        Value::stored(no_redundancy),
    )
}

fn set(edit: &mut Edit<'_>, id: u32, value: Value) -> Result<(), AddressSpaceError> {
    edit.set_value(&NodeId::from(id), value)
}

fn bind_status(edit: &mut Edit<'_>, status: &Arc<Status>) -> Result<(), AddressSpaceError> {
    let mut live = |id, value: fn(ServerStatusDataType) -> Variant| {
        let status = Arc::clone(status);
        let read = move || {
            let data = status.data();
            let now = data.current_time;
            DataValue::good(value(data)).with_source_timestamp(now)
        };
        set(edit, id, Value::callback(read))
    };
    live(ids::SERVER_SERVER_STATUS, |data| {
        ExtensionObject::from_structure(&data).into()
    })?;
    live(ids::SERVER_SERVER_STATUS_CURRENT_TIME, |data| {
        data.current_time.into()
    })?;
    live(ids::SERVER_SERVER_STATUS_STATE, |data| {
        i32::from(data.state).into()
    })?;
    live(ids::SERVER_SERVER_STATUS_SECONDS_TILL_SHUTDOWN, |data| {
        data.seconds_till_shutdown.into()
    })?;
    live(ids::SERVER_SERVER_STATUS_SHUTDOWN_REASON, |data| {
        data.shutdown_reason.into()
    })?;

    let info = &status.build_info;
    let texts = [
        (
            ids::SERVER_SERVER_STATUS_BUILD_INFO_PRODUCT_URI,
            &info.product_uri,
        ),
        (
            ids::SERVER_SERVER_STATUS_BUILD_INFO_MANUFACTURER_NAME,
            &info.manufacturer_name,
        ),
        (
            ids::SERVER_SERVER_STATUS_BUILD_INFO_PRODUCT_NAME,
            &info.product_name,
        ),
        (
            ids::SERVER_SERVER_STATUS_BUILD_INFO_SOFTWARE_VERSION,
            &info.software_version,
        ),
        (
            ids::SERVER_SERVER_STATUS_BUILD_INFO_BUILD_NUMBER,
            &info.build_number,
        ),
    ];
    for (id, text) in texts {
        set(edit, id, Value::stored(text.clone()))?;
    }
    set(
        edit,
        ids::SERVER_SERVER_STATUS_BUILD_INFO_BUILD_DATE,
        Value::stored(info.build_date),
    )?;
    let whole = ExtensionObject::from_structure(info);
    set(
        edit,
        ids::SERVER_SERVER_STATUS_BUILD_INFO,
        Value::stored(whole),
    )?;
    set(
        edit,
        ids::SERVER_SERVER_STATUS_START_TIME,
        Value::stored(status.start_time),
    )
}

/// Binds the values that show the application and its users: ServerConfiguration (OPC 10000-12, 7.10.3), and the Roles that
/// clients have without a configuration (OPC 10000-18, 4.3). No other UserRole is granted.
fn bind_identity(
    edit: &mut Edit<'_>,
    application: &ApplicationDescription,
) -> Result<(), AddressSpaceError> {
    let uris = [
        (
            ids::SERVER_CONFIGURATION_APPLICATION_URI,
            &application.application_uri,
        ),
        (
            ids::SERVER_CONFIGURATION_PRODUCT_URI,
            &application.product_uri,
        ),
    ];
    for (id, uri) in uris {
        set(edit, id, Value::stored(uri.clone()))?;
    }
    // Current values and no history (OPC 10000-12, Annex D). Alarms depend on the application.
    let capabilities = vec![UaString::from("DA")];
    set(
        edit,
        ids::SERVER_CONFIGURATION_SERVER_CAPABILITIES,
        Value::stored(capabilities),
    )?;
    let roles = [
        (
            ids::WELL_KNOWN_ROLE_ANONYMOUS_IDENTITIES,
            IdentityCriteriaType::Anonymous,
        ),
        (
            ids::WELL_KNOWN_ROLE_AUTHENTICATED_USER_IDENTITIES,
            IdentityCriteriaType::AuthenticatedUser,
        ),
    ];
    for (id, criteria_type) in roles {
        let rule = IdentityMappingRuleType {
            criteria_type,
            ..IdentityMappingRuleType::default()
        };
        let rules = vec![ExtensionObject::from_structure(&rule)];
        set(edit, id, Value::stored(rules))?;
    }
    Ok(())
}

fn bind_capabilities(
    edit: &mut Edit<'_>,
    budgets: &ServerBudgets,
) -> Result<(), AddressSpaceError> {
    let profiles: Vec<UaString> = PROFILES
        .iter()
        .map(|profile| UaString::from(*profile))
        .collect();
    set(
        edit,
        ids::SERVER_SERVER_CAPABILITIES_SERVER_PROFILE_ARRAY,
        Value::stored(profiles),
    )?;
    let locales = vec![UaString::from("en")];
    set(
        edit,
        ids::SERVER_SERVER_CAPABILITIES_LOCALE_ID_ARRAY,
        Value::stored(locales),
    )?;
    let none: Vec<ExtensionObject> = Vec::new();
    set(
        edit,
        ids::SERVER_SERVER_CAPABILITIES_SOFTWARE_CERTIFICATES,
        Value::stored(none),
    )?;
    set(
        edit,
        ids::SERVER_SERVER_CAPABILITIES_MIN_SUPPORTED_SAMPLE_RATE,
        Value::stored(0.0_f64),
    )?;
    let continuation_points = [
        (
            ids::SERVER_SERVER_CAPABILITIES_MAX_BROWSE_CONTINUATION_POINTS,
            budgets.max_browse_continuation_points,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_MAX_QUERY_CONTINUATION_POINTS,
            0,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_MAX_HISTORY_CONTINUATION_POINTS,
            0,
        ),
    ];
    for (id, limit) in continuation_points {
        set(edit, id, Value::stored(limit))?;
    }

    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let operations = &budgets.operations;
    let subscriptions = &budgets.subscriptions;
    let limits = [
        (ids::SERVER_SERVER_CAPABILITIES_MAX_ARRAY_LENGTH, length(budgets.encoding.max_array_length)),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_STRING_LENGTH, length(budgets.encoding.max_string_length)),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_BYTE_STRING_LENGTH, length(budgets.encoding.max_string_length)),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_SESSIONS, budgets.max_sessions),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ,
            operations.max_nodes_per_read,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_WRITE,
            operations.max_nodes_per_write,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_METHOD_CALL,
            operations.max_nodes_per_method_call,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_BROWSE,
            operations.max_nodes_per_browse,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_REGISTER_NODES,
            operations.max_nodes_per_register_nodes,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_TRANSLATE_BROWSE_PATHS_TO_NODE_IDS,
            operations.max_nodes_per_translate_browse_paths_to_node_ids,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_NODE_MANAGEMENT,
            operations.max_nodes_per_node_management,
        ),
        (
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_MONITORED_ITEMS_PER_CALL,
            operations.max_monitored_items_per_call,
        ),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_SUBSCRIPTIONS, subscriptions.max_subscriptions),
        (
            ids::SERVER_SERVER_CAPABILITIES_MAX_SUBSCRIPTIONS_PER_SESSION,
            subscriptions.max_subscriptions_per_session,
        ),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS, subscriptions.max_monitored_items),
        (
            ids::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS_PER_SUBSCRIPTION,
            subscriptions.max_monitored_items_per_subscription,
        ),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS_QUEUE_SIZE, subscriptions.max_queue_size),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_SELECT_CLAUSE_PARAMETERS, length(MAX_SELECT_CLAUSES)),
        (ids::SERVER_SERVER_CAPABILITIES_MAX_WHERE_CLAUSE_PARAMETERS, length(MAX_WHERE_OPERANDS)),
        // Services that do not exist: 0, no limit (OPC 10000-5, 6.3.11).
        (ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_DATA, 0),
        (ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_EVENTS, 0),
        (ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_UPDATE_DATA, 0),
        (ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_UPDATE_EVENTS, 0),
    ];
    for (id, limit) in limits {
        set(edit, id, Value::stored(limit))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shutdown_counts_down_and_ends_at_zero() {
        let second = 10_000_000;
        assert_eq!(seconds_between(DateTime(0), DateTime(5 * second)), 5);
        assert_eq!(seconds_between(DateTime(5 * second), DateTime(0)), 0);
        assert_eq!(seconds_between(DateTime(0), DateTime(i64::MAX)), u32::MAX);
    }
}

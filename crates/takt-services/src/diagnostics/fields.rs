//! Fields of the diagnostics as Variables: each is a component of a complex VariableType (OPC 10000-5, 7.12, 7.14 and 7.16).

use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    ApplicationDescription, ServiceCounterDataType, SessionDiagnosticsDataType,
    SessionSecurityDiagnosticsDataType, SubscriptionDiagnosticsDataType,
};
use takt_ua::{ByteString, DateTime, ExtensionObject, NodeId, UaString, Variant};

/// A field of a structure: its name, which is the BrowseName of its Variable, and its value.
pub(super) type Field<S> = (&'static str, fn(&S) -> Variant);

/// Value of a field as that of a Variable.
trait Shown {
    fn shown(&self) -> Variant;
}

macro_rules! shown {
    ($($kind:ty),*) => {
        $(impl Shown for $kind {
            fn shown(&self) -> Variant {
                self.clone().into()
            }
        })*
    };
}

shown!(
    u8,
    u32,
    bool,
    f64,
    NodeId,
    UaString,
    Vec<UaString>,
    DateTime,
    ByteString
);

impl Shown for MessageSecurityMode {
    fn shown(&self) -> Variant {
        self.0.into()
    }
}

impl Shown for ApplicationDescription {
    fn shown(&self) -> Variant {
        ExtensionObject::from_structure(self).into()
    }
}

impl Shown for ServiceCounterDataType {
    fn shown(&self) -> Variant {
        ExtensionObject::from_structure(self).into()
    }
}

macro_rules! fields {
    ($($table:ident: $structure:ident { $($name:literal $field:ident,)* })*) => {
        $(
            /// The fields, in the order of the structure.
            pub(super) static $table: &[Field<$structure>] = &[
                $(($name, |structure| structure.$field.shown()),)*
            ];
        )*
    };
}

fields! {
    SESSION: SessionDiagnosticsDataType {
        "SessionId" session_id,
        "SessionName" session_name,
        "ClientDescription" client_description,
        "ServerUri" server_uri,
        "EndpointUrl" endpoint_url,
        "LocaleIds" locale_ids,
        "ActualSessionTimeout" actual_session_timeout,
        "MaxResponseMessageSize" max_response_message_size,
        "ClientConnectionTime" client_connection_time,
        "ClientLastContactTime" client_last_contact_time,
        "CurrentSubscriptionsCount" current_subscriptions_count,
        "CurrentMonitoredItemsCount" current_monitored_items_count,
        "CurrentPublishRequestsInQueue" current_publish_requests_in_queue,
        "TotalRequestCount" total_request_count,
        "UnauthorizedRequestCount" unauthorized_request_count,
        "ReadCount" read_count,
        "HistoryReadCount" history_read_count,
        "WriteCount" write_count,
        "HistoryUpdateCount" history_update_count,
        "CallCount" call_count,
        "CreateMonitoredItemsCount" create_monitored_items_count,
        "ModifyMonitoredItemsCount" modify_monitored_items_count,
        "SetMonitoringModeCount" set_monitoring_mode_count,
        "SetTriggeringCount" set_triggering_count,
        "DeleteMonitoredItemsCount" delete_monitored_items_count,
        "CreateSubscriptionCount" create_subscription_count,
        "ModifySubscriptionCount" modify_subscription_count,
        "SetPublishingModeCount" set_publishing_mode_count,
        "PublishCount" publish_count,
        "RepublishCount" republish_count,
        "TransferSubscriptionsCount" transfer_subscriptions_count,
        "DeleteSubscriptionsCount" delete_subscriptions_count,
        "AddNodesCount" add_nodes_count,
        "AddReferencesCount" add_references_count,
        "DeleteNodesCount" delete_nodes_count,
        "DeleteReferencesCount" delete_references_count,
        "BrowseCount" browse_count,
        "BrowseNextCount" browse_next_count,
        "TranslateBrowsePathsToNodeIdsCount" translate_browse_paths_to_node_ids_count,
        "QueryFirstCount" query_first_count,
        "QueryNextCount" query_next_count,
        "RegisterNodesCount" register_nodes_count,
        "UnregisterNodesCount" unregister_nodes_count,
    }
    SECURITY: SessionSecurityDiagnosticsDataType {
        "SessionId" session_id,
        "ClientUserIdOfSession" client_user_id_of_session,
        "ClientUserIdHistory" client_user_id_history,
        "AuthenticationMechanism" authentication_mechanism,
        "Encoding" encoding,
        "TransportProtocol" transport_protocol,
        "SecurityMode" security_mode,
        "SecurityPolicyUri" security_policy_uri,
        "ClientCertificate" client_certificate,
    }
    SUBSCRIPTION: SubscriptionDiagnosticsDataType {
        "SessionId" session_id,
        "SubscriptionId" subscription_id,
        "Priority" priority,
        "PublishingInterval" publishing_interval,
        "MaxKeepAliveCount" max_keep_alive_count,
        "MaxLifetimeCount" max_lifetime_count,
        "MaxNotificationsPerPublish" max_notifications_per_publish,
        "PublishingEnabled" publishing_enabled,
        "ModifyCount" modify_count,
        "EnableCount" enable_count,
        "DisableCount" disable_count,
        "RepublishRequestCount" republish_request_count,
        "RepublishMessageRequestCount" republish_message_request_count,
        "RepublishMessageCount" republish_message_count,
        "TransferRequestCount" transfer_request_count,
        "TransferredToAltClientCount" transferred_to_alt_client_count,
        "TransferredToSameClientCount" transferred_to_same_client_count,
        "PublishRequestCount" publish_request_count,
        "DataChangeNotificationsCount" data_change_notifications_count,
        "EventNotificationsCount" event_notifications_count,
        "NotificationsCount" notifications_count,
        "LatePublishRequestCount" late_publish_request_count,
        "CurrentKeepAliveCount" current_keep_alive_count,
        "CurrentLifetimeCount" current_lifetime_count,
        "UnacknowledgedMessageCount" unacknowledged_message_count,
        "DiscardedMessageCount" discarded_message_count,
        "MonitoredItemCount" monitored_item_count,
        "DisabledMonitoredItemCount" disabled_monitored_item_count,
        "MonitoringQueueOverflowCount" monitoring_queue_overflow_count,
        "NextSequenceNumber" next_sequence_number,
        "EventQueueOverflowCount" event_queue_overflow_count,
    }
}

#[cfg(test)]
mod tests {
    use takt_space::namespace0::Namespace0;
    use takt_ua::ids;

    use super::*;

    /// Returns the BrowseNames of the components of a standard type.
    fn components(of: u32) -> Vec<&'static str> {
        let references = Namespace0::get(of).unwrap().references();
        let components = references
            .filter(|one| one.is_forward && one.reference_type == ids::HAS_COMPONENT)
            .map(|one| Namespace0::get(one.target).unwrap().browse_name());
        components.collect()
    }

    #[test]
    fn each_component_of_the_types_is_a_field() {
        fn names<S>(fields: &[Field<S>]) -> Vec<&'static str> {
            fields.iter().map(|(name, _)| *name).collect()
        }
        for (of, fields) in [
            (ids::SESSION_DIAGNOSTICS_VARIABLE_TYPE, names(SESSION)),
            (ids::SESSION_SECURITY_DIAGNOSTICS_TYPE, names(SECURITY)),
            (ids::SUBSCRIPTION_DIAGNOSTICS_TYPE, names(SUBSCRIPTION)),
        ] {
            let (mut components, mut fields) = (components(of), fields);
            components.sort_unstable();
            fields.sort_unstable();
            assert_eq!(components, fields);
        }
    }
}

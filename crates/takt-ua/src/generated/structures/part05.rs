// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-5.

use crate::generated::enumerations::{MessageSecurityMode, ServerState};
use crate::generated::structures::{ApplicationDescription, EnumDefinition, StructureDefinition};
use crate::generated_support::structure;
use crate::{
    ByteString, DateTime, DiagnosticInfo, LocalizedText, NodeId, QualifiedName, StatusCode,
    UaString, Variant,
};

structure! {
    /// DataType `BitFieldDefinition`, `i=32421`, OPC 10000-5, 12.45.
    BitFieldDefinition = 32421, 32422 {
        "Name" name: UaString,
        "Description" description: LocalizedText,
        "Reserved" reserved: bool,
        "StartingBitPosition" starting_bit_position: u32,
        "EndingBitPosition" ending_bit_position: u32,
    }

    /// DataType `BuildInfo`, `i=338`, OPC 10000-5, 12.4.
    BuildInfo = 338, 340 {
        "ProductUri" product_uri: UaString,
        "ManufacturerName" manufacturer_name: UaString,
        "ProductName" product_name: UaString,
        "SoftwareVersion" software_version: UaString,
        "BuildNumber" build_number: UaString,
        "BuildDate" build_date: DateTime,
    }

    /// Abstract DataType `DataTypeDescription`, `i=14525`, OPC 10000-5, 12.32.
    DataTypeDescription = 14525, 125 {
        "DataTypeId" data_type_id: NodeId,
        "Name" name: QualifiedName,
    }

    /// Abstract DataType `DataTypeSchemaHeader`, `i=15534`, OPC 10000-5, 12.31.
    DataTypeSchemaHeader = 15534, 15676 {
        "Namespaces" namespaces: Vec<UaString>,
        "StructureDataTypes" structure_data_types: Vec<StructureDescription>,
        "EnumDataTypes" enum_data_types: Vec<EnumDescription>,
        "SimpleDataTypes" simple_data_types: Vec<SimpleTypeDescription>,
    }

    /// DataType `EndpointUrlListDataType`, `i=11943`, OPC 10000-5, 12.20.
    EndpointUrlListDataType = 11943, 11957 {
        "EndpointUrlList" endpoint_url_list: Vec<UaString>,
    }

    /// DataType `EnumDescription`, `i=15488`, OPC 10000-5, 12.34.
    EnumDescription = 15488, 127 {
        "DataTypeId" data_type_id: NodeId,
        "Name" name: QualifiedName,
        "EnumDefinition" enum_definition: EnumDefinition,
        "BuiltInType" built_in_type: u8,
    }

    /// DataType `KeyValuePair`, `i=14533`, OPC 10000-5, 12.21.
    KeyValuePair = 14533, 14846 {
        "Key" key: QualifiedName,
        "Value" value: Variant,
    }

    /// DataType `ModelChangeStructureDataType`, `i=877`, OPC 10000-5, 12.16.
    ModelChangeStructureDataType = 877, 879 {
        "Affected" affected: NodeId,
        "AffectedType" affected_type: NodeId,
        "Verb" verb: u8,
    }

    /// DataType `NetworkGroupDataType`, `i=11944`, OPC 10000-5, 12.19.
    NetworkGroupDataType = 11944, 11958 {
        "ServerUri" server_uri: UaString,
        "NetworkPaths" network_paths: Vec<EndpointUrlListDataType>,
    }

    /// DataType `PortableNodeId`, `i=24106`, OPC 10000-5, 12.38.
    PortableNodeId = 24106, 24109 {
        "NamespaceUri" namespace_uri: UaString,
        "Identifier" identifier: NodeId,
    }

    /// DataType `PortableQualifiedName`, `i=24105`, OPC 10000-5, 12.37.
    PortableQualifiedName = 24105, 24108 {
        "NamespaceUri" namespace_uri: UaString,
        "Name" name: UaString,
    }

    /// DataType `RationalNumber`, `i=18806`, OPC 10000-5, 12.22.
    RationalNumber = 18806, 18815 {
        "Numerator" numerator: i32,
        "Denominator" denominator: u32,
    }

    /// DataType `RedundantServerDataType`, `i=853`, OPC 10000-5, 12.7.
    RedundantServerDataType = 853, 855 {
        "ServerId" server_id: UaString,
        "ServiceLevel" service_level: u8,
        "ServerState" server_state: ServerState,
    }

    /// DataType `SamplingIntervalDiagnosticsDataType`, `i=856`, OPC 10000-5, 12.8.
    SamplingIntervalDiagnosticsDataType = 856, 858 {
        "SamplingInterval" sampling_interval: f64,
        "MonitoredItemCount" monitored_item_count: u32,
        "MaxMonitoredItemCount" max_monitored_item_count: u32,
        "DisabledMonitoredItemCount" disabled_monitored_item_count: u32,
    }

    /// DataType `SemanticChangeStructureDataType`, `i=897`, OPC 10000-5, 12.17.
    SemanticChangeStructureDataType = 897, 899 {
        "Affected" affected: NodeId,
        "AffectedType" affected_type: NodeId,
    }

    /// DataType `ServerDiagnosticsSummaryDataType`, `i=859`, OPC 10000-5, 12.9.
    ServerDiagnosticsSummaryDataType = 859, 861 {
        "ServerViewCount" server_view_count: u32,
        "CurrentSessionCount" current_session_count: u32,
        "CumulatedSessionCount" cumulated_session_count: u32,
        "SecurityRejectedSessionCount" security_rejected_session_count: u32,
        "RejectedSessionCount" rejected_session_count: u32,
        "SessionTimeoutCount" session_timeout_count: u32,
        "SessionAbortCount" session_abort_count: u32,
        "CurrentSubscriptionCount" current_subscription_count: u32,
        "CumulatedSubscriptionCount" cumulated_subscription_count: u32,
        "PublishingIntervalCount" publishing_interval_count: u32,
        "SecurityRejectedRequestsCount" security_rejected_requests_count: u32,
        "RejectedRequestsCount" rejected_requests_count: u32,
    }

    /// DataType `ServerStatusDataType`, `i=862`, OPC 10000-5, 12.10.
    ServerStatusDataType = 862, 864 {
        "StartTime" start_time: DateTime,
        "CurrentTime" current_time: DateTime,
        "State" state: ServerState,
        "BuildInfo" build_info: BuildInfo,
        "SecondsTillShutdown" seconds_till_shutdown: u32,
        "ShutdownReason" shutdown_reason: LocalizedText,
    }

    /// DataType `ServiceCounterDataType`, `i=871`, OPC 10000-5, 12.13.
    ServiceCounterDataType = 871, 873 {
        "TotalCount" total_count: u32,
        "ErrorCount" error_count: u32,
    }

    /// DataType `SessionDiagnosticsDataType`, `i=865`, OPC 10000-5, 12.11.
    SessionDiagnosticsDataType = 865, 867 {
        "SessionId" session_id: NodeId,
        "SessionName" session_name: UaString,
        "ClientDescription" client_description: ApplicationDescription,
        "ServerUri" server_uri: UaString,
        "EndpointUrl" endpoint_url: UaString,
        "LocaleIds" locale_ids: Vec<UaString>,
        "ActualSessionTimeout" actual_session_timeout: f64,
        "MaxResponseMessageSize" max_response_message_size: u32,
        "ClientConnectionTime" client_connection_time: DateTime,
        "ClientLastContactTime" client_last_contact_time: DateTime,
        "CurrentSubscriptionsCount" current_subscriptions_count: u32,
        "CurrentMonitoredItemsCount" current_monitored_items_count: u32,
        "CurrentPublishRequestsInQueue" current_publish_requests_in_queue: u32,
        "TotalRequestCount" total_request_count: ServiceCounterDataType,
        "UnauthorizedRequestCount" unauthorized_request_count: u32,
        "ReadCount" read_count: ServiceCounterDataType,
        "HistoryReadCount" history_read_count: ServiceCounterDataType,
        "WriteCount" write_count: ServiceCounterDataType,
        "HistoryUpdateCount" history_update_count: ServiceCounterDataType,
        "CallCount" call_count: ServiceCounterDataType,
        "CreateMonitoredItemsCount" create_monitored_items_count: ServiceCounterDataType,
        "ModifyMonitoredItemsCount" modify_monitored_items_count: ServiceCounterDataType,
        "SetMonitoringModeCount" set_monitoring_mode_count: ServiceCounterDataType,
        "SetTriggeringCount" set_triggering_count: ServiceCounterDataType,
        "DeleteMonitoredItemsCount" delete_monitored_items_count: ServiceCounterDataType,
        "CreateSubscriptionCount" create_subscription_count: ServiceCounterDataType,
        "ModifySubscriptionCount" modify_subscription_count: ServiceCounterDataType,
        "SetPublishingModeCount" set_publishing_mode_count: ServiceCounterDataType,
        "PublishCount" publish_count: ServiceCounterDataType,
        "RepublishCount" republish_count: ServiceCounterDataType,
        "TransferSubscriptionsCount" transfer_subscriptions_count: ServiceCounterDataType,
        "DeleteSubscriptionsCount" delete_subscriptions_count: ServiceCounterDataType,
        "AddNodesCount" add_nodes_count: ServiceCounterDataType,
        "AddReferencesCount" add_references_count: ServiceCounterDataType,
        "DeleteNodesCount" delete_nodes_count: ServiceCounterDataType,
        "DeleteReferencesCount" delete_references_count: ServiceCounterDataType,
        "BrowseCount" browse_count: ServiceCounterDataType,
        "BrowseNextCount" browse_next_count: ServiceCounterDataType,
        "TranslateBrowsePathsToNodeIdsCount" translate_browse_paths_to_node_ids_count: ServiceCounterDataType,
        "QueryFirstCount" query_first_count: ServiceCounterDataType,
        "QueryNextCount" query_next_count: ServiceCounterDataType,
        "RegisterNodesCount" register_nodes_count: ServiceCounterDataType,
        "UnregisterNodesCount" unregister_nodes_count: ServiceCounterDataType,
    }

    /// DataType `SessionSecurityDiagnosticsDataType`, `i=868`, OPC 10000-5, 12.12.
    SessionSecurityDiagnosticsDataType = 868, 870 {
        "SessionId" session_id: NodeId,
        "ClientUserIdOfSession" client_user_id_of_session: UaString,
        "ClientUserIdHistory" client_user_id_history: Vec<UaString>,
        "AuthenticationMechanism" authentication_mechanism: UaString,
        "Encoding" encoding: UaString,
        "TransportProtocol" transport_protocol: UaString,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "ClientCertificate" client_certificate: ByteString,
    }

    /// DataType `SimpleTypeDescription`, `i=15005`, OPC 10000-5, 12.35.
    SimpleTypeDescription = 15005, 15421 {
        "DataTypeId" data_type_id: NodeId,
        "Name" name: QualifiedName,
        "BaseDataType" base_data_type: NodeId,
        "BuiltInType" built_in_type: u8,
    }

    /// DataType `StatusResult`, `i=299`, OPC 10000-5, 12.14.
    StatusResult = 299, 301 {
        "StatusCode" status_code: StatusCode,
        "DiagnosticInfo" diagnostic_info: DiagnosticInfo,
    }

    /// DataType `StructureDescription`, `i=15487`, OPC 10000-5, 12.33.
    StructureDescription = 15487, 126 {
        "DataTypeId" data_type_id: NodeId,
        "Name" name: QualifiedName,
        "StructureDefinition" structure_definition: StructureDefinition,
    }

    /// DataType `SubscriptionDiagnosticsDataType`, `i=874`, OPC 10000-5, 12.15.
    SubscriptionDiagnosticsDataType = 874, 876 {
        "SessionId" session_id: NodeId,
        "SubscriptionId" subscription_id: u32,
        "Priority" priority: u8,
        "PublishingInterval" publishing_interval: f64,
        "MaxKeepAliveCount" max_keep_alive_count: u32,
        "MaxLifetimeCount" max_lifetime_count: u32,
        "MaxNotificationsPerPublish" max_notifications_per_publish: u32,
        "PublishingEnabled" publishing_enabled: bool,
        "ModifyCount" modify_count: u32,
        "EnableCount" enable_count: u32,
        "DisableCount" disable_count: u32,
        "RepublishRequestCount" republish_request_count: u32,
        "RepublishMessageRequestCount" republish_message_request_count: u32,
        "RepublishMessageCount" republish_message_count: u32,
        "TransferRequestCount" transfer_request_count: u32,
        "TransferredToAltClientCount" transferred_to_alt_client_count: u32,
        "TransferredToSameClientCount" transferred_to_same_client_count: u32,
        "PublishRequestCount" publish_request_count: u32,
        "DataChangeNotificationsCount" data_change_notifications_count: u32,
        "EventNotificationsCount" event_notifications_count: u32,
        "NotificationsCount" notifications_count: u32,
        "LatePublishRequestCount" late_publish_request_count: u32,
        "CurrentKeepAliveCount" current_keep_alive_count: u32,
        "CurrentLifetimeCount" current_lifetime_count: u32,
        "UnacknowledgedMessageCount" unacknowledged_message_count: u32,
        "DiscardedMessageCount" discarded_message_count: u32,
        "MonitoredItemCount" monitored_item_count: u32,
        "DisabledMonitoredItemCount" disabled_monitored_item_count: u32,
        "MonitoringQueueOverflowCount" monitoring_queue_overflow_count: u32,
        "NextSequenceNumber" next_sequence_number: u32,
        "EventQueueOverflowCount" event_queue_overflow_count: u32,
    }

    /// DataType `ThreeDCartesianCoordinates`, `i=18810`, OPC 10000-5, 12.26.
    ThreeDCartesianCoordinates = 18810, 18819 {
        "X" x: f64,
        "Y" y: f64,
        "Z" z: f64,
    }

    /// DataType `ThreeDFrame`, `i=18814`, OPC 10000-5, 12.30.
    ThreeDFrame = 18814, 18823 {
        "CartesianCoordinates" cartesian_coordinates: ThreeDCartesianCoordinates,
        "Orientation" orientation: ThreeDOrientation,
    }

    /// DataType `ThreeDOrientation`, `i=18812`, OPC 10000-5, 12.28.
    ThreeDOrientation = 18812, 18821 {
        "A" a: f64,
        "B" b: f64,
        "C" c: f64,
    }

    /// DataType `ThreeDVector`, `i=18808`, OPC 10000-5, 12.24.
    ThreeDVector = 18808, 18817 {
        "X" x: f64,
        "Y" y: f64,
        "Z" z: f64,
    }

    /// DataType `UABinaryFileDataType`, `i=15006`, OPC 10000-5, 12.36.
    UABinaryFileDataType = 15006, 15422 {
        "Namespaces" namespaces: Vec<UaString>,
        "StructureDataTypes" structure_data_types: Vec<StructureDescription>,
        "EnumDataTypes" enum_data_types: Vec<EnumDescription>,
        "SimpleDataTypes" simple_data_types: Vec<SimpleTypeDescription>,
        "SchemaLocation" schema_location: UaString,
        "FileHeader" file_header: Vec<KeyValuePair>,
        "Body" body: Variant,
    }

    /// DataType `UnsignedRationalNumber`, `i=24107`, OPC 10000-5, 12.40.
    UnsignedRationalNumber = 24107, 24110 {
        "Numerator" numerator: u32,
        "Denominator" denominator: u32,
    }
}

// Written by `cargo xtask generate`. Do not edit.

//! Service messages and what they are made of (OPC 10000-4, OPC 10000-11).

use crate::generated::enumerations::{
    BrowseDirection, DataChangeTrigger, MessageSecurityMode, MonitoringMode, NodeClass,
    PerformUpdateType, SecurityTokenRequestType, SortOrderType, TimestampsToReturn,
};
use crate::generated::structures::{
    AddNodesItem, AddReferencesItem, AggregateConfiguration, ApplicationDescription, Argument,
    ContentFilter, DeleteNodesItem, DeleteReferencesItem, EndpointDescription, EventFilter,
    HistoryEventFieldList, ModificationInfo, RegisteredServer, RelativePath, ServerOnNetwork,
    SignatureData, SignedSoftwareCertificate, SimpleAttributeOperand, StatusResult,
};
use crate::generated_support::structure;
use crate::{
    ByteString, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject,
    LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
};

structure! {
    /// DataType `ActivateSessionRequest`, `i=465`.
    ActivateSessionRequest = 465, 467 {
        "RequestHeader" request_header: RequestHeader,
        "ClientSignature" client_signature: SignatureData,
        "ClientSoftwareCertificates" client_software_certificates: Vec<SignedSoftwareCertificate>,
        "LocaleIds" locale_ids: Vec<UaString>,
        "UserIdentityToken" user_identity_token: ExtensionObject,
        "UserTokenSignature" user_token_signature: SignatureData,
    }

    /// DataType `ActivateSessionResponse`, `i=468`.
    ActivateSessionResponse = 468, 470 {
        "ResponseHeader" response_header: ResponseHeader,
        "ServerNonce" server_nonce: ByteString,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `AddNodesRequest`, `i=486`.
    AddNodesRequest = 486, 488 {
        "RequestHeader" request_header: RequestHeader,
        "NodesToAdd" nodes_to_add: Vec<AddNodesItem>,
    }

    /// DataType `AddNodesResponse`, `i=489`.
    AddNodesResponse = 489, 491 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<AddNodesResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `AddNodesResult`, `i=483`.
    AddNodesResult = 483, 485 {
        "StatusCode" status_code: StatusCode,
        "AddedNodeId" added_node_id: NodeId,
    }

    /// DataType `AddReferencesRequest`, `i=492`.
    AddReferencesRequest = 492, 494 {
        "RequestHeader" request_header: RequestHeader,
        "ReferencesToAdd" references_to_add: Vec<AddReferencesItem>,
    }

    /// DataType `AddReferencesResponse`, `i=495`.
    AddReferencesResponse = 495, 497 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `AggregateFilter`, `i=728`.
    AggregateFilter = 728, 730 {
        "StartTime" start_time: DateTime,
        "AggregateType" aggregate_type: NodeId,
        "ProcessingInterval" processing_interval: f64,
        "AggregateConfiguration" aggregate_configuration: AggregateConfiguration,
    }

    /// DataType `AggregateFilterResult`, `i=737`.
    AggregateFilterResult = 737, 739 {
        "RevisedStartTime" revised_start_time: DateTime,
        "RevisedProcessingInterval" revised_processing_interval: f64,
        "RevisedAggregateConfiguration" revised_aggregate_configuration: AggregateConfiguration,
    }

    /// DataType `BrowseDescription`, `i=514`.
    BrowseDescription = 514, 516 {
        "NodeId" node_id: NodeId,
        "BrowseDirection" browse_direction: BrowseDirection,
        "ReferenceTypeId" reference_type_id: NodeId,
        "IncludeSubtypes" include_subtypes: bool,
        "NodeClassMask" node_class_mask: u32,
        "ResultMask" result_mask: u32,
    }

    /// DataType `BrowseNextRequest`, `i=531`.
    BrowseNextRequest = 531, 533 {
        "RequestHeader" request_header: RequestHeader,
        "ReleaseContinuationPoints" release_continuation_points: bool,
        "ContinuationPoints" continuation_points: Vec<ByteString>,
    }

    /// DataType `BrowseNextResponse`, `i=534`.
    BrowseNextResponse = 534, 536 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<BrowseResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `BrowsePath`, `i=543`.
    BrowsePath = 543, 545 {
        "StartingNode" starting_node: NodeId,
        "RelativePath" relative_path: RelativePath,
    }

    /// DataType `BrowsePathResult`, `i=549`.
    BrowsePathResult = 549, 551 {
        "StatusCode" status_code: StatusCode,
        "Targets" targets: Vec<BrowsePathTarget>,
    }

    /// DataType `BrowsePathTarget`, `i=546`.
    BrowsePathTarget = 546, 548 {
        "TargetId" target_id: ExpandedNodeId,
        "RemainingPathIndex" remaining_path_index: u32,
    }

    /// DataType `BrowseRequest`, `i=525`.
    BrowseRequest = 525, 527 {
        "RequestHeader" request_header: RequestHeader,
        "View" view: ViewDescription,
        "RequestedMaxReferencesPerNode" requested_max_references_per_node: u32,
        "NodesToBrowse" nodes_to_browse: Vec<BrowseDescription>,
    }

    /// DataType `BrowseResponse`, `i=528`.
    BrowseResponse = 528, 530 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<BrowseResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `BrowseResult`, `i=522`.
    BrowseResult = 522, 524 {
        "StatusCode" status_code: StatusCode,
        "ContinuationPoint" continuation_point: ByteString,
        "References" references: Vec<ReferenceDescription>,
    }

    /// DataType `CallMethodRequest`, `i=704`.
    CallMethodRequest = 704, 706 {
        "ObjectId" object_id: NodeId,
        "MethodId" method_id: NodeId,
        "InputArguments" input_arguments: Vec<Variant>,
    }

    /// DataType `CallMethodResult`, `i=707`.
    CallMethodResult = 707, 709 {
        "StatusCode" status_code: StatusCode,
        "InputArgumentResults" input_argument_results: Vec<StatusCode>,
        "InputArgumentDiagnosticInfos" input_argument_diagnostic_infos: Vec<DiagnosticInfo>,
        "OutputArguments" output_arguments: Vec<Variant>,
    }

    /// DataType `CallRequest`, `i=710`.
    CallRequest = 710, 712 {
        "RequestHeader" request_header: RequestHeader,
        "MethodsToCall" methods_to_call: Vec<CallMethodRequest>,
    }

    /// DataType `CallResponse`, `i=713`.
    CallResponse = 713, 715 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<CallMethodResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `CancelRequest`, `i=477`.
    CancelRequest = 477, 479 {
        "RequestHeader" request_header: RequestHeader,
        "RequestHandle" request_handle: u32,
    }

    /// DataType `CancelResponse`, `i=480`.
    CancelResponse = 480, 482 {
        "ResponseHeader" response_header: ResponseHeader,
        "CancelCount" cancel_count: u32,
    }

    /// DataType `ChannelSecurityToken`, `i=441`.
    ChannelSecurityToken = 441, 443 {
        "ChannelId" channel_id: u32,
        "TokenId" token_id: u32,
        "CreatedAt" created_at: DateTime,
        "RevisedLifetime" revised_lifetime: u32,
    }

    /// DataType `CloseSecureChannelRequest`, `i=450`.
    CloseSecureChannelRequest = 450, 452 {
        "RequestHeader" request_header: RequestHeader,
    }

    /// DataType `CloseSecureChannelResponse`, `i=453`.
    CloseSecureChannelResponse = 453, 455 {
        "ResponseHeader" response_header: ResponseHeader,
    }

    /// DataType `CloseSessionRequest`, `i=471`.
    CloseSessionRequest = 471, 473 {
        "RequestHeader" request_header: RequestHeader,
        "DeleteSubscriptions" delete_subscriptions: bool,
    }

    /// DataType `CloseSessionResponse`, `i=474`.
    CloseSessionResponse = 474, 476 {
        "ResponseHeader" response_header: ResponseHeader,
    }

    /// DataType `ContentFilterElementResult`, `i=604`.
    ContentFilterElementResult = 604, 606 {
        "StatusCode" status_code: StatusCode,
        "OperandStatusCodes" operand_status_codes: Vec<StatusCode>,
        "OperandDiagnosticInfos" operand_diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `ContentFilterResult`, `i=607`.
    ContentFilterResult = 607, 609 {
        "ElementResults" element_results: Vec<ContentFilterElementResult>,
        "ElementDiagnosticInfos" element_diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `CreateMonitoredItemsRequest`, `i=749`.
    CreateMonitoredItemsRequest = 749, 751 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "TimestampsToReturn" timestamps_to_return: TimestampsToReturn,
        "ItemsToCreate" items_to_create: Vec<MonitoredItemCreateRequest>,
    }

    /// DataType `CreateMonitoredItemsResponse`, `i=752`.
    CreateMonitoredItemsResponse = 752, 754 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<MonitoredItemCreateResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `CreateSessionRequest`, `i=459`.
    CreateSessionRequest = 459, 461 {
        "RequestHeader" request_header: RequestHeader,
        "ClientDescription" client_description: ApplicationDescription,
        "ServerUri" server_uri: UaString,
        "EndpointUrl" endpoint_url: UaString,
        "SessionName" session_name: UaString,
        "ClientNonce" client_nonce: ByteString,
        "ClientCertificate" client_certificate: ByteString,
        "RequestedSessionTimeout" requested_session_timeout: f64,
        "MaxResponseMessageSize" max_response_message_size: u32,
    }

    /// DataType `CreateSessionResponse`, `i=462`.
    CreateSessionResponse = 462, 464 {
        "ResponseHeader" response_header: ResponseHeader,
        "SessionId" session_id: NodeId,
        "AuthenticationToken" authentication_token: NodeId,
        "RevisedSessionTimeout" revised_session_timeout: f64,
        "ServerNonce" server_nonce: ByteString,
        "ServerCertificate" server_certificate: ByteString,
        "ServerEndpoints" server_endpoints: Vec<EndpointDescription>,
        "ServerSoftwareCertificates" server_software_certificates: Vec<SignedSoftwareCertificate>,
        "ServerSignature" server_signature: SignatureData,
        "MaxRequestMessageSize" max_request_message_size: u32,
    }

    /// DataType `CreateSubscriptionRequest`, `i=785`.
    CreateSubscriptionRequest = 785, 787 {
        "RequestHeader" request_header: RequestHeader,
        "RequestedPublishingInterval" requested_publishing_interval: f64,
        "RequestedLifetimeCount" requested_lifetime_count: u32,
        "RequestedMaxKeepAliveCount" requested_max_keep_alive_count: u32,
        "MaxNotificationsPerPublish" max_notifications_per_publish: u32,
        "PublishingEnabled" publishing_enabled: bool,
        "Priority" priority: u8,
    }

    /// DataType `CreateSubscriptionResponse`, `i=788`.
    CreateSubscriptionResponse = 788, 790 {
        "ResponseHeader" response_header: ResponseHeader,
        "SubscriptionId" subscription_id: u32,
        "RevisedPublishingInterval" revised_publishing_interval: f64,
        "RevisedLifetimeCount" revised_lifetime_count: u32,
        "RevisedMaxKeepAliveCount" revised_max_keep_alive_count: u32,
    }

    /// DataType `DataChangeFilter`, `i=722`.
    DataChangeFilter = 722, 724 {
        "Trigger" trigger: DataChangeTrigger,
        "DeadbandType" deadband_type: u32,
        "DeadbandValue" deadband_value: f64,
    }

    /// DataType `DataChangeNotification`, `i=809`.
    DataChangeNotification = 809, 811 {
        "MonitoredItems" monitored_items: Vec<MonitoredItemNotification>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `DataTypeAttributes`, `i=370`.
    DataTypeAttributes = 370, 372 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "IsAbstract" is_abstract: bool,
    }

    /// DataType `DeleteAtTimeDetails`, `i=689`.
    DeleteAtTimeDetails = 689, 691 {
        "NodeId" node_id: NodeId,
        "ReqTimes" req_times: Vec<DateTime>,
    }

    /// DataType `DeleteEventDetails`, `i=692`.
    DeleteEventDetails = 692, 694 {
        "NodeId" node_id: NodeId,
        "EventIds" event_ids: Vec<ByteString>,
    }

    /// DataType `DeleteMonitoredItemsRequest`, `i=779`.
    DeleteMonitoredItemsRequest = 779, 781 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "MonitoredItemIds" monitored_item_ids: Vec<u32>,
    }

    /// DataType `DeleteMonitoredItemsResponse`, `i=782`.
    DeleteMonitoredItemsResponse = 782, 784 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `DeleteNodesRequest`, `i=498`.
    DeleteNodesRequest = 498, 500 {
        "RequestHeader" request_header: RequestHeader,
        "NodesToDelete" nodes_to_delete: Vec<DeleteNodesItem>,
    }

    /// DataType `DeleteNodesResponse`, `i=501`.
    DeleteNodesResponse = 501, 503 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `DeleteRawModifiedDetails`, `i=686`.
    DeleteRawModifiedDetails = 686, 688 {
        "NodeId" node_id: NodeId,
        "IsDeleteModified" is_delete_modified: bool,
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
    }

    /// DataType `DeleteReferencesRequest`, `i=504`.
    DeleteReferencesRequest = 504, 506 {
        "RequestHeader" request_header: RequestHeader,
        "ReferencesToDelete" references_to_delete: Vec<DeleteReferencesItem>,
    }

    /// DataType `DeleteReferencesResponse`, `i=507`.
    DeleteReferencesResponse = 507, 509 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `DeleteSubscriptionsRequest`, `i=845`.
    DeleteSubscriptionsRequest = 845, 847 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionIds" subscription_ids: Vec<u32>,
    }

    /// DataType `DeleteSubscriptionsResponse`, `i=848`.
    DeleteSubscriptionsResponse = 848, 850 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `EndpointConfiguration`, `i=331`.
    EndpointConfiguration = 331, 333 {
        "OperationTimeout" operation_timeout: i32,
        "UseBinaryEncoding" use_binary_encoding: bool,
        "MaxStringLength" max_string_length: i32,
        "MaxByteStringLength" max_byte_string_length: i32,
        "MaxArrayLength" max_array_length: i32,
        "MaxMessageSize" max_message_size: i32,
        "MaxBufferSize" max_buffer_size: i32,
        "ChannelLifetime" channel_lifetime: i32,
        "SecurityTokenLifetime" security_token_lifetime: i32,
    }

    /// DataType `EventFieldList`, `i=917`.
    EventFieldList = 917, 919 {
        "ClientHandle" client_handle: u32,
        "EventFields" event_fields: Vec<Variant>,
    }

    /// DataType `EventFilterResult`, `i=734`.
    EventFilterResult = 734, 736 {
        "SelectClauseResults" select_clause_results: Vec<StatusCode>,
        "SelectClauseDiagnosticInfos" select_clause_diagnostic_infos: Vec<DiagnosticInfo>,
        "WhereClauseResult" where_clause_result: ContentFilterResult,
    }

    /// DataType `EventNotificationList`, `i=914`.
    EventNotificationList = 914, 916 {
        "Events" events: Vec<EventFieldList>,
    }

    /// DataType `FindServersOnNetworkRequest`, `i=12190`.
    FindServersOnNetworkRequest = 12190, 12208 {
        "RequestHeader" request_header: RequestHeader,
        "StartingRecordId" starting_record_id: u32,
        "MaxRecordsToReturn" max_records_to_return: u32,
        "ServerCapabilityFilter" server_capability_filter: Vec<UaString>,
    }

    /// DataType `FindServersOnNetworkResponse`, `i=12191`.
    FindServersOnNetworkResponse = 12191, 12209 {
        "ResponseHeader" response_header: ResponseHeader,
        "LastCounterResetTime" last_counter_reset_time: DateTime,
        "Servers" servers: Vec<ServerOnNetwork>,
    }

    /// DataType `FindServersRequest`, `i=420`.
    FindServersRequest = 420, 422 {
        "RequestHeader" request_header: RequestHeader,
        "EndpointUrl" endpoint_url: UaString,
        "LocaleIds" locale_ids: Vec<UaString>,
        "ServerUris" server_uris: Vec<UaString>,
    }

    /// DataType `FindServersResponse`, `i=423`.
    FindServersResponse = 423, 425 {
        "ResponseHeader" response_header: ResponseHeader,
        "Servers" servers: Vec<ApplicationDescription>,
    }

    /// DataType `GenericAttributeValue`, `i=17606`.
    GenericAttributeValue = 17606, 17610 {
        "AttributeId" attribute_id: u32,
        "Value" value: Variant,
    }

    /// DataType `GenericAttributes`, `i=17607`.
    GenericAttributes = 17607, 17611 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "AttributeValues" attribute_values: Vec<GenericAttributeValue>,
    }

    /// DataType `GetEndpointsRequest`, `i=426`.
    GetEndpointsRequest = 426, 428 {
        "RequestHeader" request_header: RequestHeader,
        "EndpointUrl" endpoint_url: UaString,
        "LocaleIds" locale_ids: Vec<UaString>,
        "ProfileUris" profile_uris: Vec<UaString>,
    }

    /// DataType `GetEndpointsResponse`, `i=429`.
    GetEndpointsResponse = 429, 431 {
        "ResponseHeader" response_header: ResponseHeader,
        "Endpoints" endpoints: Vec<EndpointDescription>,
    }

    /// DataType `HistoryData`, `i=656`.
    HistoryData = 656, 658 {
        "DataValues" data_values: Vec<DataValue>,
    }

    /// DataType `HistoryModifiedData`, `i=11217`.
    HistoryModifiedData = 11217, 11227 {
        "DataValues" data_values: Vec<DataValue>,
        "ModificationInfos" modification_infos: Vec<ModificationInfo>,
    }

    /// DataType `HistoryReadRequest`, `i=662`.
    HistoryReadRequest = 662, 664 {
        "RequestHeader" request_header: RequestHeader,
        "HistoryReadDetails" history_read_details: ExtensionObject,
        "TimestampsToReturn" timestamps_to_return: TimestampsToReturn,
        "ReleaseContinuationPoints" release_continuation_points: bool,
        "NodesToRead" nodes_to_read: Vec<HistoryReadValueId>,
    }

    /// DataType `HistoryReadResponse`, `i=665`.
    HistoryReadResponse = 665, 667 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<HistoryReadResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `HistoryReadResult`, `i=638`.
    HistoryReadResult = 638, 640 {
        "StatusCode" status_code: StatusCode,
        "ContinuationPoint" continuation_point: ByteString,
        "HistoryData" history_data: ExtensionObject,
    }

    /// DataType `HistoryReadValueId`, `i=635`.
    HistoryReadValueId = 635, 637 {
        "NodeId" node_id: NodeId,
        "IndexRange" index_range: UaString,
        "DataEncoding" data_encoding: QualifiedName,
        "ContinuationPoint" continuation_point: ByteString,
    }

    /// DataType `HistoryUpdateRequest`, `i=698`.
    HistoryUpdateRequest = 698, 700 {
        "RequestHeader" request_header: RequestHeader,
        "HistoryUpdateDetails" history_update_details: Vec<ExtensionObject>,
    }

    /// DataType `HistoryUpdateResponse`, `i=701`.
    HistoryUpdateResponse = 701, 703 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<HistoryUpdateResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `HistoryUpdateResult`, `i=695`.
    HistoryUpdateResult = 695, 697 {
        "StatusCode" status_code: StatusCode,
        "OperationResults" operation_results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `MethodAttributes`, `i=358`.
    MethodAttributes = 358, 360 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "Executable" executable: bool,
        "UserExecutable" user_executable: bool,
    }

    /// DataType `ModifyMonitoredItemsRequest`, `i=761`.
    ModifyMonitoredItemsRequest = 761, 763 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "TimestampsToReturn" timestamps_to_return: TimestampsToReturn,
        "ItemsToModify" items_to_modify: Vec<MonitoredItemModifyRequest>,
    }

    /// DataType `ModifyMonitoredItemsResponse`, `i=764`.
    ModifyMonitoredItemsResponse = 764, 766 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<MonitoredItemModifyResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `ModifySubscriptionRequest`, `i=791`.
    ModifySubscriptionRequest = 791, 793 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "RequestedPublishingInterval" requested_publishing_interval: f64,
        "RequestedLifetimeCount" requested_lifetime_count: u32,
        "RequestedMaxKeepAliveCount" requested_max_keep_alive_count: u32,
        "MaxNotificationsPerPublish" max_notifications_per_publish: u32,
        "Priority" priority: u8,
    }

    /// DataType `ModifySubscriptionResponse`, `i=794`.
    ModifySubscriptionResponse = 794, 796 {
        "ResponseHeader" response_header: ResponseHeader,
        "RevisedPublishingInterval" revised_publishing_interval: f64,
        "RevisedLifetimeCount" revised_lifetime_count: u32,
        "RevisedMaxKeepAliveCount" revised_max_keep_alive_count: u32,
    }

    /// DataType `MonitoredItemCreateRequest`, `i=743`.
    MonitoredItemCreateRequest = 743, 745 {
        "ItemToMonitor" item_to_monitor: ReadValueId,
        "MonitoringMode" monitoring_mode: MonitoringMode,
        "RequestedParameters" requested_parameters: MonitoringParameters,
    }

    /// DataType `MonitoredItemCreateResult`, `i=746`.
    MonitoredItemCreateResult = 746, 748 {
        "StatusCode" status_code: StatusCode,
        "MonitoredItemId" monitored_item_id: u32,
        "RevisedSamplingInterval" revised_sampling_interval: f64,
        "RevisedQueueSize" revised_queue_size: u32,
        "FilterResult" filter_result: ExtensionObject,
    }

    /// DataType `MonitoredItemModifyRequest`, `i=755`.
    MonitoredItemModifyRequest = 755, 757 {
        "MonitoredItemId" monitored_item_id: u32,
        "RequestedParameters" requested_parameters: MonitoringParameters,
    }

    /// DataType `MonitoredItemModifyResult`, `i=758`.
    MonitoredItemModifyResult = 758, 760 {
        "StatusCode" status_code: StatusCode,
        "RevisedSamplingInterval" revised_sampling_interval: f64,
        "RevisedQueueSize" revised_queue_size: u32,
        "FilterResult" filter_result: ExtensionObject,
    }

    /// DataType `MonitoredItemNotification`, `i=806`.
    MonitoredItemNotification = 806, 808 {
        "ClientHandle" client_handle: u32,
        "Value" value: DataValue,
    }

    /// DataType `MonitoringParameters`, `i=740`.
    MonitoringParameters = 740, 742 {
        "ClientHandle" client_handle: u32,
        "SamplingInterval" sampling_interval: f64,
        "Filter" filter: ExtensionObject,
        "QueueSize" queue_size: u32,
        "DiscardOldest" discard_oldest: bool,
    }

    /// DataType `NodeAttributes`, `i=349`.
    NodeAttributes = 349, 351 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
    }

    /// DataType `NodeReference`, `i=580`.
    NodeReference = 580, 582 {
        "NodeId" node_id: NodeId,
        "ReferenceTypeId" reference_type_id: NodeId,
        "IsForward" is_forward: bool,
        "ReferencedNodeIds" referenced_node_ids: Vec<NodeId>,
    }

    /// DataType `NodeTypeDescription`, `i=573`.
    NodeTypeDescription = 573, 575 {
        "TypeDefinitionNode" type_definition_node: ExpandedNodeId,
        "IncludeSubTypes" include_sub_types: bool,
        "DataToReturn" data_to_return: Vec<QueryDataDescription>,
    }

    /// DataType `NotificationMessage`, `i=803`.
    NotificationMessage = 803, 805 {
        "SequenceNumber" sequence_number: u32,
        "PublishTime" publish_time: DateTime,
        "NotificationData" notification_data: Vec<ExtensionObject>,
    }

    /// DataType `ObjectAttributes`, `i=352`.
    ObjectAttributes = 352, 354 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "EventNotifier" event_notifier: u8,
    }

    /// DataType `ObjectTypeAttributes`, `i=361`.
    ObjectTypeAttributes = 361, 363 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "IsAbstract" is_abstract: bool,
    }

    /// DataType `OpenSecureChannelRequest`, `i=444`.
    OpenSecureChannelRequest = 444, 446 {
        "RequestHeader" request_header: RequestHeader,
        "ClientProtocolVersion" client_protocol_version: u32,
        "RequestType" request_type: SecurityTokenRequestType,
        "SecurityMode" security_mode: MessageSecurityMode,
        "ClientNonce" client_nonce: ByteString,
        "RequestedLifetime" requested_lifetime: u32,
    }

    /// DataType `OpenSecureChannelResponse`, `i=447`.
    OpenSecureChannelResponse = 447, 449 {
        "ResponseHeader" response_header: ResponseHeader,
        "ServerProtocolVersion" server_protocol_version: u32,
        "SecurityToken" security_token: ChannelSecurityToken,
        "ServerNonce" server_nonce: ByteString,
    }

    /// DataType `ParsingResult`, `i=610`.
    ParsingResult = 610, 612 {
        "StatusCode" status_code: StatusCode,
        "DataStatusCodes" data_status_codes: Vec<StatusCode>,
        "DataDiagnosticInfos" data_diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `ProgramDiagnosticDataType`, `i=894`.
    ProgramDiagnosticDataType = 894, 896 {
        "CreateSessionId" create_session_id: NodeId,
        "CreateClientName" create_client_name: UaString,
        "InvocationCreationTime" invocation_creation_time: DateTime,
        "LastTransitionTime" last_transition_time: DateTime,
        "LastMethodCall" last_method_call: UaString,
        "LastMethodSessionId" last_method_session_id: NodeId,
        "LastMethodInputArguments" last_method_input_arguments: Vec<Argument>,
        "LastMethodOutputArguments" last_method_output_arguments: Vec<Argument>,
        "LastMethodCallTime" last_method_call_time: DateTime,
        "LastMethodReturnStatus" last_method_return_status: StatusResult,
    }

    /// DataType `PublishRequest`, `i=824`.
    PublishRequest = 824, 826 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionAcknowledgements" subscription_acknowledgements: Vec<SubscriptionAcknowledgement>,
    }

    /// DataType `PublishResponse`, `i=827`.
    PublishResponse = 827, 829 {
        "ResponseHeader" response_header: ResponseHeader,
        "SubscriptionId" subscription_id: u32,
        "AvailableSequenceNumbers" available_sequence_numbers: Vec<u32>,
        "MoreNotifications" more_notifications: bool,
        "NotificationMessage" notification_message: NotificationMessage,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `QueryDataDescription`, `i=570`.
    QueryDataDescription = 570, 572 {
        "RelativePath" relative_path: RelativePath,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: UaString,
    }

    /// DataType `QueryDataSet`, `i=577`.
    QueryDataSet = 577, 579 {
        "NodeId" node_id: ExpandedNodeId,
        "TypeDefinitionNode" type_definition_node: ExpandedNodeId,
        "Values" values: Vec<Variant>,
    }

    /// DataType `QueryFirstRequest`, `i=613`.
    QueryFirstRequest = 613, 615 {
        "RequestHeader" request_header: RequestHeader,
        "View" view: ViewDescription,
        "NodeTypes" node_types: Vec<NodeTypeDescription>,
        "Filter" filter: ContentFilter,
        "MaxDataSetsToReturn" max_data_sets_to_return: u32,
        "MaxReferencesToReturn" max_references_to_return: u32,
    }

    /// DataType `QueryFirstResponse`, `i=616`.
    QueryFirstResponse = 616, 618 {
        "ResponseHeader" response_header: ResponseHeader,
        "QueryDataSets" query_data_sets: Vec<QueryDataSet>,
        "ContinuationPoint" continuation_point: ByteString,
        "ParsingResults" parsing_results: Vec<ParsingResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
        "FilterResult" filter_result: ContentFilterResult,
    }

    /// DataType `QueryNextRequest`, `i=619`.
    QueryNextRequest = 619, 621 {
        "RequestHeader" request_header: RequestHeader,
        "ReleaseContinuationPoint" release_continuation_point: bool,
        "ContinuationPoint" continuation_point: ByteString,
    }

    /// DataType `QueryNextResponse`, `i=622`.
    QueryNextResponse = 622, 624 {
        "ResponseHeader" response_header: ResponseHeader,
        "QueryDataSets" query_data_sets: Vec<QueryDataSet>,
        "RevisedContinuationPoint" revised_continuation_point: ByteString,
    }

    /// DataType `ReadAnnotationDataDetails`, `i=23497`.
    ReadAnnotationDataDetails = 23497, 23500 {
        "ReqTimes" req_times: Vec<DateTime>,
    }

    /// DataType `ReadAtTimeDetails`, `i=653`.
    ReadAtTimeDetails = 653, 655 {
        "ReqTimes" req_times: Vec<DateTime>,
        "UseSimpleBounds" use_simple_bounds: bool,
    }

    /// DataType `ReadEventDetails`, `i=644`.
    ReadEventDetails = 644, 646 {
        "NumValuesPerNode" num_values_per_node: u32,
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
        "Filter" filter: EventFilter,
    }

    /// DataType `ReadEventDetails2`, `i=32799`.
    ReadEventDetails2 = 32799, 32800 {
        "NumValuesPerNode" num_values_per_node: u32,
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
        "Filter" filter: EventFilter,
        "ReadModified" read_modified: bool,
    }

    /// DataType `ReadEventDetailsSorted`, `i=18649`.
    ReadEventDetailsSorted = 18649, 18651 {
        "NumValuesPerNode" num_values_per_node: u32,
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
        "Filter" filter: EventFilter,
        "SortClause" sort_clause: Vec<SortRuleElement>,
    }

    /// DataType `ReadProcessedDetails`, `i=650`.
    ReadProcessedDetails = 650, 652 {
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
        "ProcessingInterval" processing_interval: f64,
        "AggregateType" aggregate_type: Vec<NodeId>,
        "AggregateConfiguration" aggregate_configuration: AggregateConfiguration,
    }

    /// DataType `ReadRawModifiedDetails`, `i=647`.
    ReadRawModifiedDetails = 647, 649 {
        "IsReadModified" is_read_modified: bool,
        "StartTime" start_time: DateTime,
        "EndTime" end_time: DateTime,
        "NumValuesPerNode" num_values_per_node: u32,
        "ReturnBounds" return_bounds: bool,
    }

    /// DataType `ReadRequest`, `i=629`.
    ReadRequest = 629, 631 {
        "RequestHeader" request_header: RequestHeader,
        "MaxAge" max_age: f64,
        "TimestampsToReturn" timestamps_to_return: TimestampsToReturn,
        "NodesToRead" nodes_to_read: Vec<ReadValueId>,
    }

    /// DataType `ReadResponse`, `i=632`.
    ReadResponse = 632, 634 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<DataValue>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `ReadValueId`, `i=626`.
    ReadValueId = 626, 628 {
        "NodeId" node_id: NodeId,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: UaString,
        "DataEncoding" data_encoding: QualifiedName,
    }

    /// DataType `ReferenceDescription`, `i=518`.
    ReferenceDescription = 518, 520 {
        "ReferenceTypeId" reference_type_id: NodeId,
        "IsForward" is_forward: bool,
        "NodeId" node_id: ExpandedNodeId,
        "BrowseName" browse_name: QualifiedName,
        "DisplayName" display_name: LocalizedText,
        "NodeClass" node_class: NodeClass,
        "TypeDefinition" type_definition: ExpandedNodeId,
    }

    /// DataType `ReferenceDescriptionDataType`, `i=32659`.
    ReferenceDescriptionDataType = 32659, 32661 {
        "SourceNode" source_node: NodeId,
        "ReferenceType" reference_type: NodeId,
        "IsForward" is_forward: bool,
        "TargetNode" target_node: ExpandedNodeId,
    }

    /// DataType `ReferenceListEntryDataType`, `i=32660`.
    ReferenceListEntryDataType = 32660, 32662 {
        "ReferenceType" reference_type: NodeId,
        "IsForward" is_forward: bool,
        "TargetNode" target_node: ExpandedNodeId,
    }

    /// DataType `ReferenceTypeAttributes`, `i=367`.
    ReferenceTypeAttributes = 367, 369 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "IsAbstract" is_abstract: bool,
        "Symmetric" symmetric: bool,
        "InverseName" inverse_name: LocalizedText,
    }

    /// DataType `RegisterNodesRequest`, `i=558`.
    RegisterNodesRequest = 558, 560 {
        "RequestHeader" request_header: RequestHeader,
        "NodesToRegister" nodes_to_register: Vec<NodeId>,
    }

    /// DataType `RegisterNodesResponse`, `i=561`.
    RegisterNodesResponse = 561, 563 {
        "ResponseHeader" response_header: ResponseHeader,
        "RegisteredNodeIds" registered_node_ids: Vec<NodeId>,
    }

    /// DataType `RegisterServer2Request`, `i=12193`.
    RegisterServer2Request = 12193, 12211 {
        "RequestHeader" request_header: RequestHeader,
        "Server" server: RegisteredServer,
        "DiscoveryConfiguration" discovery_configuration: Vec<ExtensionObject>,
    }

    /// DataType `RegisterServer2Response`, `i=12194`.
    RegisterServer2Response = 12194, 12212 {
        "ResponseHeader" response_header: ResponseHeader,
        "ConfigurationResults" configuration_results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `RegisterServerRequest`, `i=435`.
    RegisterServerRequest = 435, 437 {
        "RequestHeader" request_header: RequestHeader,
        "Server" server: RegisteredServer,
    }

    /// DataType `RegisterServerResponse`, `i=438`.
    RegisterServerResponse = 438, 440 {
        "ResponseHeader" response_header: ResponseHeader,
    }

    /// DataType `RepublishRequest`, `i=830`.
    RepublishRequest = 830, 832 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "RetransmitSequenceNumber" retransmit_sequence_number: u32,
    }

    /// DataType `RepublishResponse`, `i=833`.
    RepublishResponse = 833, 835 {
        "ResponseHeader" response_header: ResponseHeader,
        "NotificationMessage" notification_message: NotificationMessage,
    }

    /// DataType `RequestHeader`, `i=389`.
    RequestHeader = 389, 391 {
        "AuthenticationToken" authentication_token: NodeId,
        "Timestamp" timestamp: DateTime,
        "RequestHandle" request_handle: u32,
        "ReturnDiagnostics" return_diagnostics: u32,
        "AuditEntryId" audit_entry_id: UaString,
        "TimeoutHint" timeout_hint: u32,
        "AdditionalHeader" additional_header: ExtensionObject,
    }

    /// DataType `ResponseHeader`, `i=392`.
    ResponseHeader = 392, 394 {
        "Timestamp" timestamp: DateTime,
        "RequestHandle" request_handle: u32,
        "ServiceResult" service_result: StatusCode,
        "ServiceDiagnostics" service_diagnostics: DiagnosticInfo,
        "StringTable" string_table: Vec<UaString>,
        "AdditionalHeader" additional_header: ExtensionObject,
    }

    /// DataType `ServiceFault`, `i=395`.
    ServiceFault = 395, 397 {
        "ResponseHeader" response_header: ResponseHeader,
    }

    /// DataType `SessionlessInvokeRequestType`, `i=15901`.
    SessionlessInvokeRequestType = 15901, 15903 {
        "UrisVersion" uris_version: u32,
        "NamespaceUris" namespace_uris: Vec<UaString>,
        "ServerUris" server_uris: Vec<UaString>,
        "LocaleIds" locale_ids: Vec<UaString>,
        "ServiceId" service_id: u32,
    }

    /// DataType `SessionlessInvokeResponseType`, `i=20999`.
    SessionlessInvokeResponseType = 20999, 21001 {
        "NamespaceUris" namespace_uris: Vec<UaString>,
        "ServerUris" server_uris: Vec<UaString>,
        "ServiceId" service_id: u32,
    }

    /// DataType `SetMonitoringModeRequest`, `i=767`.
    SetMonitoringModeRequest = 767, 769 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "MonitoringMode" monitoring_mode: MonitoringMode,
        "MonitoredItemIds" monitored_item_ids: Vec<u32>,
    }

    /// DataType `SetMonitoringModeResponse`, `i=770`.
    SetMonitoringModeResponse = 770, 772 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `SetPublishingModeRequest`, `i=797`.
    SetPublishingModeRequest = 797, 799 {
        "RequestHeader" request_header: RequestHeader,
        "PublishingEnabled" publishing_enabled: bool,
        "SubscriptionIds" subscription_ids: Vec<u32>,
    }

    /// DataType `SetPublishingModeResponse`, `i=800`.
    SetPublishingModeResponse = 800, 802 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `SetTriggeringRequest`, `i=773`.
    SetTriggeringRequest = 773, 775 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionId" subscription_id: u32,
        "TriggeringItemId" triggering_item_id: u32,
        "LinksToAdd" links_to_add: Vec<u32>,
        "LinksToRemove" links_to_remove: Vec<u32>,
    }

    /// DataType `SetTriggeringResponse`, `i=776`.
    SetTriggeringResponse = 776, 778 {
        "ResponseHeader" response_header: ResponseHeader,
        "AddResults" add_results: Vec<StatusCode>,
        "AddDiagnosticInfos" add_diagnostic_infos: Vec<DiagnosticInfo>,
        "RemoveResults" remove_results: Vec<StatusCode>,
        "RemoveDiagnosticInfos" remove_diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `SortRuleElement`, `i=18648`.
    SortRuleElement = 18648, 18650 {
        "SortOrder" sort_order: SortOrderType,
        "EventField" event_field: SimpleAttributeOperand,
    }

    /// DataType `StatusChangeNotification`, `i=818`.
    StatusChangeNotification = 818, 820 {
        "Status" status: StatusCode,
        "DiagnosticInfo" diagnostic_info: DiagnosticInfo,
    }

    /// DataType `SubscriptionAcknowledgement`, `i=821`.
    SubscriptionAcknowledgement = 821, 823 {
        "SubscriptionId" subscription_id: u32,
        "SequenceNumber" sequence_number: u32,
    }

    /// DataType `TransferResult`, `i=836`.
    TransferResult = 836, 838 {
        "StatusCode" status_code: StatusCode,
        "AvailableSequenceNumbers" available_sequence_numbers: Vec<u32>,
    }

    /// DataType `TransferSubscriptionsRequest`, `i=839`.
    TransferSubscriptionsRequest = 839, 841 {
        "RequestHeader" request_header: RequestHeader,
        "SubscriptionIds" subscription_ids: Vec<u32>,
        "SendInitialValues" send_initial_values: bool,
    }

    /// DataType `TransferSubscriptionsResponse`, `i=842`.
    TransferSubscriptionsResponse = 842, 844 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<TransferResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `TranslateBrowsePathsToNodeIdsRequest`, `i=552`.
    TranslateBrowsePathsToNodeIdsRequest = 552, 554 {
        "RequestHeader" request_header: RequestHeader,
        "BrowsePaths" browse_paths: Vec<BrowsePath>,
    }

    /// DataType `TranslateBrowsePathsToNodeIdsResponse`, `i=555`.
    TranslateBrowsePathsToNodeIdsResponse = 555, 557 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<BrowsePathResult>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `UnregisterNodesRequest`, `i=564`.
    UnregisterNodesRequest = 564, 566 {
        "RequestHeader" request_header: RequestHeader,
        "NodesToUnregister" nodes_to_unregister: Vec<NodeId>,
    }

    /// DataType `UnregisterNodesResponse`, `i=567`.
    UnregisterNodesResponse = 567, 569 {
        "ResponseHeader" response_header: ResponseHeader,
    }

    /// DataType `UpdateDataDetails`, `i=680`.
    UpdateDataDetails = 680, 682 {
        "NodeId" node_id: NodeId,
        "PerformInsertReplace" perform_insert_replace: PerformUpdateType,
        "UpdateValues" update_values: Vec<DataValue>,
    }

    /// DataType `UpdateEventDetails`, `i=683`.
    UpdateEventDetails = 683, 685 {
        "NodeId" node_id: NodeId,
        "PerformInsertReplace" perform_insert_replace: PerformUpdateType,
        "Filter" filter: EventFilter,
        "EventData" event_data: Vec<HistoryEventFieldList>,
    }

    /// DataType `UpdateStructureDataDetails`, `i=11295`.
    UpdateStructureDataDetails = 11295, 11300 {
        "NodeId" node_id: NodeId,
        "PerformInsertReplace" perform_insert_replace: PerformUpdateType,
        "UpdateValues" update_values: Vec<DataValue>,
    }

    /// DataType `VariableAttributes`, `i=355`.
    VariableAttributes = 355, 357 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "Value" value: Variant,
        "DataType" data_type: NodeId,
        "ValueRank" value_rank: i32,
        "ArrayDimensions" array_dimensions: Vec<u32>,
        "AccessLevel" access_level: u8,
        "UserAccessLevel" user_access_level: u8,
        "MinimumSamplingInterval" minimum_sampling_interval: f64,
        "Historizing" historizing: bool,
    }

    /// DataType `VariableTypeAttributes`, `i=364`.
    VariableTypeAttributes = 364, 366 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "Value" value: Variant,
        "DataType" data_type: NodeId,
        "ValueRank" value_rank: i32,
        "ArrayDimensions" array_dimensions: Vec<u32>,
        "IsAbstract" is_abstract: bool,
    }

    /// DataType `ViewAttributes`, `i=373`.
    ViewAttributes = 373, 375 {
        "SpecifiedAttributes" specified_attributes: u32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "WriteMask" write_mask: u32,
        "UserWriteMask" user_write_mask: u32,
        "ContainsNoLoops" contains_no_loops: bool,
        "EventNotifier" event_notifier: u8,
    }

    /// DataType `ViewDescription`, `i=511`.
    ViewDescription = 511, 513 {
        "ViewId" view_id: NodeId,
        "Timestamp" timestamp: DateTime,
        "ViewVersion" view_version: u32,
    }

    /// DataType `WriteRequest`, `i=671`.
    WriteRequest = 671, 673 {
        "RequestHeader" request_header: RequestHeader,
        "NodesToWrite" nodes_to_write: Vec<WriteValue>,
    }

    /// DataType `WriteResponse`, `i=674`.
    WriteResponse = 674, 676 {
        "ResponseHeader" response_header: ResponseHeader,
        "Results" results: Vec<StatusCode>,
        "DiagnosticInfos" diagnostic_infos: Vec<DiagnosticInfo>,
    }

    /// DataType `WriteValue`, `i=668`.
    WriteValue = 668, 670 {
        "NodeId" node_id: NodeId,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: UaString,
        "Value" value: DataValue,
    }
}

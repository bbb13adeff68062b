// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-14.

use crate::generated::enumerations::{
    BrokerTransportQualityOfService, DataSetOrderingType, MessageSecurityMode,
    OverrideValueHandling,
};
use crate::generated::structures::{
    ContentFilter, EndpointDescription, EnumDescription, KeyValuePair, RolePermissionType,
    SimpleAttributeOperand, SimpleTypeDescription, StructureDescription, UserTokenPolicy,
};
use crate::generated_support::structure;
use crate::{ExtensionObject, Guid, LocalizedText, NodeId, QualifiedName, UaString, Variant};

structure! {
    /// DataType `ActionMethodDataType`, `i=18597`, OPC 10000-14, 6.2.3.10.5.
    ActionMethodDataType = 18597, 18600 {
        "ObjectId" object_id: NodeId,
        "MethodId" method_id: NodeId,
    }

    /// DataType `ActionTargetDataType`, `i=18593`, OPC 10000-14, 6.2.3.10.3.
    ActionTargetDataType = 18593, 18598 {
        "ActionTargetId" action_target_id: u16,
        "Name" name: UaString,
        "Description" description: LocalizedText,
    }

    /// DataType `BrokerConnectionTransportDataType`, `i=15007`, OPC 10000-14, 6.4.2.2.3.
    BrokerConnectionTransportDataType = 15007, 15479 {
        "ResourceUri" resource_uri: UaString,
        "AuthenticationProfileUri" authentication_profile_uri: UaString,
    }

    /// DataType `BrokerDataSetReaderTransportDataType`, `i=15670`, OPC 10000-14, 6.4.2.6.6.
    BrokerDataSetReaderTransportDataType = 15670, 15733 {
        "QueueName" queue_name: UaString,
        "ResourceUri" resource_uri: UaString,
        "AuthenticationProfileUri" authentication_profile_uri: UaString,
        "RequestedDeliveryGuarantee" requested_delivery_guarantee: BrokerTransportQualityOfService,
        "MetaDataQueueName" meta_data_queue_name: UaString,
    }

    /// DataType `BrokerDataSetWriterTransportDataType`, `i=15669`, OPC 10000-14, 6.4.2.5.7.
    BrokerDataSetWriterTransportDataType = 15669, 15729 {
        "QueueName" queue_name: UaString,
        "ResourceUri" resource_uri: UaString,
        "AuthenticationProfileUri" authentication_profile_uri: UaString,
        "RequestedDeliveryGuarantee" requested_delivery_guarantee: BrokerTransportQualityOfService,
        "MetaDataQueueName" meta_data_queue_name: UaString,
        "MetaDataUpdateTime" meta_data_update_time: f64,
    }

    /// DataType `BrokerWriterGroupTransportDataType`, `i=15667`, OPC 10000-14, 6.4.2.3.5.
    BrokerWriterGroupTransportDataType = 15667, 15727 {
        "QueueName" queue_name: UaString,
        "ResourceUri" resource_uri: UaString,
        "AuthenticationProfileUri" authentication_profile_uri: UaString,
        "RequestedDeliveryGuarantee" requested_delivery_guarantee: BrokerTransportQualityOfService,
    }

    /// DataType `ConfigurationVersionDataType`, `i=14593`, OPC 10000-14, 6.2.3.2.6.
    ConfigurationVersionDataType = 14593, 14847 {
        "MajorVersion" major_version: u32,
        "MinorVersion" minor_version: u32,
    }

    /// DataType `DataSetMetaDataType`, `i=14523`, OPC 10000-14, 6.2.3.2.3.
    DataSetMetaDataType = 14523, 124 {
        "Namespaces" namespaces: Vec<UaString>,
        "StructureDataTypes" structure_data_types: Vec<StructureDescription>,
        "EnumDataTypes" enum_data_types: Vec<EnumDescription>,
        "SimpleDataTypes" simple_data_types: Vec<SimpleTypeDescription>,
        "Name" name: UaString,
        "Description" description: LocalizedText,
        "Fields" fields: Vec<FieldMetaData>,
        "DataSetClassId" data_set_class_id: Guid,
        "ConfigurationVersion" configuration_version: ConfigurationVersionDataType,
    }

    /// DataType `DataSetReaderDataType`, `i=15623`, OPC 10000-14, 6.2.9.13.1.
    DataSetReaderDataType = 15623, 15703 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "PublisherId" publisher_id: Variant,
        "WriterGroupId" writer_group_id: u16,
        "DataSetWriterId" data_set_writer_id: u16,
        "DataSetMetaData" data_set_meta_data: DataSetMetaDataType,
        "DataSetFieldContentMask" data_set_field_content_mask: u32,
        "MessageReceiveTimeout" message_receive_timeout: f64,
        "KeyFrameCount" key_frame_count: u32,
        "HeaderLayoutUri" header_layout_uri: UaString,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityGroupId" security_group_id: UaString,
        "SecurityKeyServices" security_key_services: Vec<EndpointDescription>,
        "DataSetReaderProperties" data_set_reader_properties: Vec<KeyValuePair>,
        "TransportSettings" transport_settings: ExtensionObject,
        "MessageSettings" message_settings: ExtensionObject,
        "SubscribedDataSet" subscribed_data_set: ExtensionObject,
    }

    /// DataType `DataSetWriterDataType`, `i=15597`, OPC 10000-14, 6.2.4.5.1.
    DataSetWriterDataType = 15597, 15682 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "DataSetWriterId" data_set_writer_id: u16,
        "DataSetFieldContentMask" data_set_field_content_mask: u32,
        "KeyFrameCount" key_frame_count: u32,
        "DataSetName" data_set_name: UaString,
        "DataSetWriterProperties" data_set_writer_properties: Vec<KeyValuePair>,
        "TransportSettings" transport_settings: ExtensionObject,
        "MessageSettings" message_settings: ExtensionObject,
    }

    /// DataType `DatagramConnectionTransport2DataType`, `i=23612`, OPC 10000-14, 6.4.1.2.7.
    DatagramConnectionTransport2DataType = 23612, 23864 {
        "DiscoveryAddress" discovery_address: ExtensionObject,
        "DiscoveryAnnounceRate" discovery_announce_rate: u32,
        "DiscoveryMaxMessageSize" discovery_max_message_size: u32,
        "QosCategory" qos_category: UaString,
        "DatagramQos" datagram_qos: Vec<ExtensionObject>,
    }

    /// DataType `DatagramConnectionTransportDataType`, `i=17467`, OPC 10000-14, 6.4.1.2.2.
    DatagramConnectionTransportDataType = 17467, 17468 {
        "DiscoveryAddress" discovery_address: ExtensionObject,
    }

    /// DataType `DatagramDataSetReaderTransportDataType`, `i=23614`, OPC 10000-14, 6.4.1.6.5.
    DatagramDataSetReaderTransportDataType = 23614, 23866 {
        "Address" address: ExtensionObject,
        "QosCategory" qos_category: UaString,
        "DatagramQos" datagram_qos: Vec<ExtensionObject>,
        "Topic" topic: UaString,
    }

    /// DataType `DatagramWriterGroupTransport2DataType`, `i=23613`, OPC 10000-14, 6.4.1.3.9.
    DatagramWriterGroupTransport2DataType = 23613, 23865 {
        "MessageRepeatCount" message_repeat_count: u8,
        "MessageRepeatDelay" message_repeat_delay: f64,
        "Address" address: ExtensionObject,
        "QosCategory" qos_category: UaString,
        "DatagramQos" datagram_qos: Vec<ExtensionObject>,
        "DiscoveryAnnounceRate" discovery_announce_rate: u32,
        "Topic" topic: UaString,
    }

    /// DataType `DatagramWriterGroupTransportDataType`, `i=15532`, OPC 10000-14, 6.4.1.3.3.
    DatagramWriterGroupTransportDataType = 15532, 21155 {
        "MessageRepeatCount" message_repeat_count: u8,
        "MessageRepeatDelay" message_repeat_delay: f64,
    }

    /// DataType `DtlsPubSubConnectionDataType`, `i=18794`, OPC 10000-14, 6.4.1.7.6.
    DtlsPubSubConnectionDataType = 18794, 18930 {
        "ClientCipherSuite" client_cipher_suite: UaString,
        "ServerCipherSuites" server_cipher_suites: Vec<UaString>,
        "ZeroRTT" zero_rtt: bool,
        "CertificateGroupId" certificate_group_id: NodeId,
        "VerifyClientCertificate" verify_client_certificate: bool,
    }

    /// DataType `FieldMetaData`, `i=14524`, OPC 10000-14, 6.2.3.2.4.
    FieldMetaData = 14524, 14839 {
        "Name" name: UaString,
        "Description" description: LocalizedText,
        "FieldFlags" field_flags: u16,
        "BuiltInType" built_in_type: u8,
        "DataType" data_type: NodeId,
        "ValueRank" value_rank: i32,
        "ArrayDimensions" array_dimensions: Vec<u32>,
        "MaxStringLength" max_string_length: u32,
        "DataSetFieldId" data_set_field_id: Guid,
        "Properties" properties: Vec<KeyValuePair>,
    }

    /// DataType `FieldTargetDataType`, `i=14744`, OPC 10000-14, 6.2.10.2.3.
    FieldTargetDataType = 14744, 14848 {
        "DataSetFieldId" data_set_field_id: Guid,
        "ReceiverIndexRange" receiver_index_range: UaString,
        "TargetNodeId" target_node_id: NodeId,
        "AttributeId" attribute_id: u32,
        "WriteIndexRange" write_index_range: UaString,
        "OverrideValueHandling" override_value_handling: OverrideValueHandling,
        "OverrideValue" override_value: Variant,
    }

    /// DataType `JsonDataSetReaderMessageDataType`, `i=15665`, OPC 10000-14, 6.3.2.4.3.
    JsonDataSetReaderMessageDataType = 15665, 15725 {
        "NetworkMessageContentMask" network_message_content_mask: u32,
        "DataSetMessageContentMask" data_set_message_content_mask: u32,
    }

    /// DataType `JsonDataSetWriterMessageDataType`, `i=15664`, OPC 10000-14, 6.3.2.3.2.
    JsonDataSetWriterMessageDataType = 15664, 15724 {
        "DataSetMessageContentMask" data_set_message_content_mask: u32,
    }

    /// DataType `JsonWriterGroupMessageDataType`, `i=15657`, OPC 10000-14, 6.3.2.1.2.
    JsonWriterGroupMessageDataType = 15657, 15719 {
        "NetworkMessageContentMask" network_message_content_mask: u32,
    }

    /// Abstract DataType `NetworkAddressDataType`, `i=15502`, OPC 10000-14, 6.2.7.5.3.
    NetworkAddressDataType = 15502, 21151 {
        "NetworkInterface" network_interface: UaString,
    }

    /// DataType `NetworkAddressUrlDataType`, `i=15510`, OPC 10000-14, 6.2.7.5.4.
    NetworkAddressUrlDataType = 15510, 21152 {
        "NetworkInterface" network_interface: UaString,
        "Url" url: UaString,
    }

    /// DataType `PubSubConfiguration2DataType`, `i=23602`, OPC 10000-14, 6.2.12.4.
    PubSubConfiguration2DataType = 23602, 23854 {
        "PublishedDataSets" published_data_sets: Vec<PublishedDataSetDataType>,
        "Connections" connections: Vec<PubSubConnectionDataType>,
        "Enabled" enabled: bool,
        "SubscribedDataSets" subscribed_data_sets: Vec<StandaloneSubscribedDataSetDataType>,
        "DataSetClasses" data_set_classes: Vec<DataSetMetaDataType>,
        "DefaultSecurityKeyServices" default_security_key_services: Vec<EndpointDescription>,
        "SecurityGroups" security_groups: Vec<SecurityGroupDataType>,
        "PubSubKeyPushTargets" pub_sub_key_push_targets: Vec<PubSubKeyPushTargetDataType>,
        "ConfigurationVersion" configuration_version: u32,
        "ConfigurationProperties" configuration_properties: Vec<KeyValuePair>,
    }

    /// DataType `PubSubConfigurationDataType`, `i=15530`, OPC 10000-14, 6.2.12.1.
    PubSubConfigurationDataType = 15530, 21154 {
        "PublishedDataSets" published_data_sets: Vec<PublishedDataSetDataType>,
        "Connections" connections: Vec<PubSubConnectionDataType>,
        "Enabled" enabled: bool,
    }

    /// DataType `PubSubConfigurationRefDataType`, `i=25519`, OPC 10000-14, 9.1.3.7.3.
    PubSubConfigurationRefDataType = 25519, 25531 {
        "ConfigurationMask" configuration_mask: u32,
        "ElementIndex" element_index: u16,
        "ConnectionIndex" connection_index: u16,
        "GroupIndex" group_index: u16,
    }

    /// DataType `PubSubConfigurationValueDataType`, `i=25520`, OPC 10000-14, 9.1.3.7.4.
    PubSubConfigurationValueDataType = 25520, 25532 {
        "ConfigurationElement" configuration_element: PubSubConfigurationRefDataType,
        "Name" name: UaString,
        "Identifier" identifier: Variant,
    }

    /// DataType `PubSubConnectionDataType`, `i=15617`, OPC 10000-14, 6.2.7.5.1.
    PubSubConnectionDataType = 15617, 15694 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "PublisherId" publisher_id: Variant,
        "TransportProfileUri" transport_profile_uri: UaString,
        "Address" address: ExtensionObject,
        "ConnectionProperties" connection_properties: Vec<KeyValuePair>,
        "TransportSettings" transport_settings: ExtensionObject,
        "WriterGroups" writer_groups: Vec<WriterGroupDataType>,
        "ReaderGroups" reader_groups: Vec<ReaderGroupDataType>,
    }

    /// Abstract DataType `PubSubGroupDataType`, `i=15609`, OPC 10000-14, 6.2.5.7.
    PubSubGroupDataType = 15609, 15689 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityGroupId" security_group_id: UaString,
        "SecurityKeyServices" security_key_services: Vec<EndpointDescription>,
        "MaxNetworkMessageSize" max_network_message_size: u32,
        "GroupProperties" group_properties: Vec<KeyValuePair>,
    }

    /// DataType `PubSubKeyPushTargetDataType`, `i=25270`, OPC 10000-14, 6.2.12.3.
    PubSubKeyPushTargetDataType = 25270, 25530 {
        "ApplicationUri" application_uri: UaString,
        "PushTargetFolder" push_target_folder: Vec<UaString>,
        "EndpointUrl" endpoint_url: UaString,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "UserTokenType" user_token_type: UserTokenPolicy,
        "RequestedKeyCount" requested_key_count: u16,
        "RetryInterval" retry_interval: f64,
        "PushTargetProperties" push_target_properties: Vec<KeyValuePair>,
        "SecurityGroups" security_groups: Vec<UaString>,
    }

    /// DataType `PublishedActionDataType`, `i=18594`, OPC 10000-14, 6.2.3.10.4.
    PublishedActionDataType = 18594, 18599 {
        "RequestDataSetMetaData" request_data_set_meta_data: DataSetMetaDataType,
        "ActionTargets" action_targets: Vec<ActionTargetDataType>,
    }

    /// DataType `PublishedActionMethodDataType`, `i=18793`, OPC 10000-14, 6.2.3.10.6.
    PublishedActionMethodDataType = 18793, 18795 {
        "RequestDataSetMetaData" request_data_set_meta_data: DataSetMetaDataType,
        "ActionTargets" action_targets: Vec<ActionTargetDataType>,
        "ActionMethods" action_methods: Vec<ActionMethodDataType>,
    }

    /// DataType `PublishedDataItemsDataType`, `i=15581`, OPC 10000-14, 6.2.3.7.2.
    PublishedDataItemsDataType = 15581, 15679 {
        "PublishedData" published_data: Vec<PublishedVariableDataType>,
    }

    /// DataType `PublishedDataSetCustomSourceDataType`, `i=25269`, OPC 10000-14, 6.2.3.9.2.
    PublishedDataSetCustomSourceDataType = 25269, 25529 {
        "CyclicDataSet" cyclic_data_set: bool,
    }

    /// DataType `PublishedDataSetDataType`, `i=15578`, OPC 10000-14, 6.2.3.5.
    PublishedDataSetDataType = 15578, 15677 {
        "Name" name: UaString,
        "DataSetFolder" data_set_folder: Vec<UaString>,
        "DataSetMetaData" data_set_meta_data: DataSetMetaDataType,
        "ExtensionFields" extension_fields: Vec<KeyValuePair>,
        "DataSetSource" data_set_source: ExtensionObject,
    }

    /// DataType `PublishedEventsDataType`, `i=15582`, OPC 10000-14, 6.2.3.8.4.
    PublishedEventsDataType = 15582, 15681 {
        "EventNotifier" event_notifier: NodeId,
        "SelectedFields" selected_fields: Vec<SimpleAttributeOperand>,
        "Filter" filter: ContentFilter,
    }

    /// DataType `PublishedVariableDataType`, `i=14273`, OPC 10000-14, 6.2.3.7.1.
    PublishedVariableDataType = 14273, 14323 {
        "PublishedVariable" published_variable: NodeId,
        "AttributeId" attribute_id: u32,
        "SamplingIntervalHint" sampling_interval_hint: f64,
        "DeadbandType" deadband_type: u32,
        "DeadbandValue" deadband_value: f64,
        "IndexRange" index_range: UaString,
        "SubstituteValue" substitute_value: Variant,
        "MetaDataProperties" meta_data_properties: Vec<QualifiedName>,
    }

    /// DataType `ReaderGroupDataType`, `i=15520`, OPC 10000-14, 6.2.8.2.1.
    ReaderGroupDataType = 15520, 21153 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityGroupId" security_group_id: UaString,
        "SecurityKeyServices" security_key_services: Vec<EndpointDescription>,
        "MaxNetworkMessageSize" max_network_message_size: u32,
        "GroupProperties" group_properties: Vec<KeyValuePair>,
        "TransportSettings" transport_settings: ExtensionObject,
        "MessageSettings" message_settings: ExtensionObject,
        "DataSetReaders" data_set_readers: Vec<DataSetReaderDataType>,
    }

    /// DataType `ReceiveQosPriorityDataType`, `i=23609`, OPC 10000-14, 6.4.1.1.6.2.
    ReceiveQosPriorityDataType = 23609, 23861 {
        "PriorityLabel" priority_label: UaString,
    }

    /// DataType `SecurityGroupDataType`, `i=23601`, OPC 10000-14, 6.2.12.2.
    SecurityGroupDataType = 23601, 23853 {
        "Name" name: UaString,
        "SecurityGroupFolder" security_group_folder: Vec<UaString>,
        "KeyLifetime" key_lifetime: f64,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "MaxFutureKeyCount" max_future_key_count: u32,
        "MaxPastKeyCount" max_past_key_count: u32,
        "SecurityGroupId" security_group_id: UaString,
        "RolePermissions" role_permissions: Vec<RolePermissionType>,
        "GroupProperties" group_properties: Vec<KeyValuePair>,
    }

    /// DataType `StandaloneSubscribedDataSetDataType`, `i=23600`, OPC 10000-14, 6.2.10.5.
    StandaloneSubscribedDataSetDataType = 23600, 23852 {
        "Name" name: UaString,
        "DataSetFolder" data_set_folder: Vec<UaString>,
        "DataSetMetaData" data_set_meta_data: DataSetMetaDataType,
        "SubscribedDataSet" subscribed_data_set: ExtensionObject,
    }

    /// DataType `StandaloneSubscribedDataSetRefDataType`, `i=23599`, OPC 10000-14, 6.2.10.4.
    StandaloneSubscribedDataSetRefDataType = 23599, 23851 {
        "DataSetName" data_set_name: UaString,
    }

    /// DataType `SubscribedDataSetMirrorDataType`, `i=15635`, OPC 10000-14, 6.2.10.3.4.
    SubscribedDataSetMirrorDataType = 15635, 15713 {
        "ParentNodeName" parent_node_name: UaString,
        "RolePermissions" role_permissions: Vec<RolePermissionType>,
    }

    /// DataType `TargetVariablesDataType`, `i=15631`, OPC 10000-14, 6.2.10.2.2.
    TargetVariablesDataType = 15631, 15712 {
        "TargetVariables" target_variables: Vec<FieldTargetDataType>,
    }

    /// DataType `TransmitQosPriorityDataType`, `i=23605`, OPC 10000-14, 6.4.1.1.4.2.
    TransmitQosPriorityDataType = 23605, 23857 {
        "PriorityLabel" priority_label: UaString,
    }

    /// DataType `UadpDataSetReaderMessageDataType`, `i=15653`, OPC 10000-14, 6.3.1.4.10.
    UadpDataSetReaderMessageDataType = 15653, 15718 {
        "GroupVersion" group_version: u32,
        "NetworkMessageNumber" network_message_number: u16,
        "DataSetOffset" data_set_offset: u16,
        "DataSetClassId" data_set_class_id: Guid,
        "NetworkMessageContentMask" network_message_content_mask: u32,
        "DataSetMessageContentMask" data_set_message_content_mask: u32,
        "PublishingInterval" publishing_interval: f64,
        "ReceiveOffset" receive_offset: f64,
        "ProcessingOffset" processing_offset: f64,
    }

    /// DataType `UadpDataSetWriterMessageDataType`, `i=15652`, OPC 10000-14, 6.3.1.3.6.
    UadpDataSetWriterMessageDataType = 15652, 15717 {
        "DataSetMessageContentMask" data_set_message_content_mask: u32,
        "ConfiguredSize" configured_size: u16,
        "NetworkMessageNumber" network_message_number: u16,
        "DataSetOffset" data_set_offset: u16,
    }

    /// DataType `UadpWriterGroupMessageDataType`, `i=15645`, OPC 10000-14, 6.3.1.1.7.
    UadpWriterGroupMessageDataType = 15645, 15715 {
        "GroupVersion" group_version: u32,
        "DataSetOrdering" data_set_ordering: DataSetOrderingType,
        "NetworkMessageContentMask" network_message_content_mask: u32,
        "SamplingOffset" sampling_offset: f64,
        "PublishingOffset" publishing_offset: Vec<f64>,
    }

    /// DataType `WriterGroupDataType`, `i=15480`, OPC 10000-14, 6.2.6.7.1.
    WriterGroupDataType = 15480, 21150 {
        "Name" name: UaString,
        "Enabled" enabled: bool,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityGroupId" security_group_id: UaString,
        "SecurityKeyServices" security_key_services: Vec<EndpointDescription>,
        "MaxNetworkMessageSize" max_network_message_size: u32,
        "GroupProperties" group_properties: Vec<KeyValuePair>,
        "WriterGroupId" writer_group_id: u16,
        "PublishingInterval" publishing_interval: f64,
        "KeepAliveTime" keep_alive_time: f64,
        "Priority" priority: u8,
        "LocaleIds" locale_ids: Vec<UaString>,
        "HeaderLayoutUri" header_layout_uri: UaString,
        "TransportSettings" transport_settings: ExtensionObject,
        "MessageSettings" message_settings: ExtensionObject,
        "DataSetWriters" data_set_writers: Vec<DataSetWriterDataType>,
    }
}

// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-4.

use crate::generated::enumerations::{
    ApplicationType, FilterOperator, MessageSecurityMode, NodeClass, UserTokenType,
};
use crate::generated::structures::KeyValuePair;
use crate::generated_support::structure;
use crate::{
    ByteString, ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, QualifiedName, UaString,
    Variant,
};

structure! {
    /// DataType `AddNodesItem`, `i=376`, OPC 10000-4, 5.8.2.2.
    AddNodesItem = 376, 378 {
        "ParentNodeId" parent_node_id: ExpandedNodeId,
        "ReferenceTypeId" reference_type_id: NodeId,
        "RequestedNewNodeId" requested_new_node_id: ExpandedNodeId,
        "BrowseName" browse_name: QualifiedName,
        "NodeClass" node_class: NodeClass,
        "NodeAttributes" node_attributes: ExtensionObject,
        "TypeDefinition" type_definition: ExpandedNodeId,
    }

    /// DataType `AddReferencesItem`, `i=379`, OPC 10000-4, 5.8.3.2.
    AddReferencesItem = 379, 381 {
        "SourceNodeId" source_node_id: NodeId,
        "ReferenceTypeId" reference_type_id: NodeId,
        "IsForward" is_forward: bool,
        "TargetServerUri" target_server_uri: UaString,
        "TargetNodeId" target_node_id: ExpandedNodeId,
        "TargetNodeClass" target_node_class: NodeClass,
    }

    /// DataType `AdditionalParametersType`, `i=16313`, OPC 10000-4, 7.1.
    AdditionalParametersType = 16313, 17537 {
        "Parameters" parameters: Vec<KeyValuePair>,
    }

    /// DataType `AggregateConfiguration`, `i=948`, OPC 10000-4, 7.22.4.
    AggregateConfiguration = 948, 950 {
        "UseServerCapabilitiesDefaults" use_server_capabilities_defaults: bool,
        "TreatUncertainAsBad" treat_uncertain_as_bad: bool,
        "PercentDataBad" percent_data_bad: u8,
        "PercentDataGood" percent_data_good: u8,
        "UseSlopedExtrapolation" use_sloped_extrapolation: bool,
    }

    /// DataType `AnonymousIdentityToken`, `i=319`, OPC 10000-4, 7.40.3.
    AnonymousIdentityToken = 319, 321 {
        "PolicyId" policy_id: UaString,
    }

    /// DataType `ApplicationDescription`, `i=308`, OPC 10000-4, 7.2.
    ApplicationDescription = 308, 310 {
        "ApplicationUri" application_uri: UaString,
        "ProductUri" product_uri: UaString,
        "ApplicationName" application_name: LocalizedText,
        "ApplicationType" application_type: ApplicationType,
        "GatewayServerUri" gateway_server_uri: UaString,
        "DiscoveryProfileUri" discovery_profile_uri: UaString,
        "DiscoveryUrls" discovery_urls: Vec<UaString>,
    }

    /// DataType `AttributeOperand`, `i=598`, OPC 10000-4, 7.7.4.4.
    AttributeOperand = 598, 600 {
        "NodeId" node_id: NodeId,
        "Alias" alias: UaString,
        "BrowsePath" browse_path: RelativePath,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: UaString,
    }

    /// DataType `ContentFilter`, `i=586`, OPC 10000-4, 7.7.1.
    ContentFilter = 586, 588 {
        "Elements" elements: Vec<ContentFilterElement>,
    }

    /// DataType `ContentFilterElement`, `i=583`, OPC 10000-4, 7.7.1.
    ContentFilterElement = 583, 585 {
        "FilterOperator" filter_operator: FilterOperator,
        "FilterOperands" filter_operands: Vec<ExtensionObject>,
    }

    /// DataType `DeleteNodesItem`, `i=382`, OPC 10000-4, 5.8.4.2.
    DeleteNodesItem = 382, 384 {
        "NodeId" node_id: NodeId,
        "DeleteTargetReferences" delete_target_references: bool,
    }

    /// DataType `DeleteReferencesItem`, `i=385`, OPC 10000-4, 5.8.5.1.
    DeleteReferencesItem = 385, 387 {
        "SourceNodeId" source_node_id: NodeId,
        "ReferenceTypeId" reference_type_id: NodeId,
        "IsForward" is_forward: bool,
        "TargetNodeId" target_node_id: ExpandedNodeId,
        "DeleteBidirectional" delete_bidirectional: bool,
    }

    /// DataType `ElementOperand`, `i=592`, OPC 10000-4, 7.7.4.2.
    ElementOperand = 592, 594 {
        "Index" index: u32,
    }

    /// DataType `EndpointDescription`, `i=312`, OPC 10000-4, 7.14.
    EndpointDescription = 312, 314 {
        "EndpointUrl" endpoint_url: UaString,
        "Server" server: ApplicationDescription,
        "ServerCertificate" server_certificate: ByteString,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "UserIdentityTokens" user_identity_tokens: Vec<UserTokenPolicy>,
        "TransportProfileUri" transport_profile_uri: UaString,
        "SecurityLevel" security_level: u8,
    }

    /// DataType `EphemeralKeyType`, `i=17548`, OPC 10000-4, 7.15.
    EphemeralKeyType = 17548, 17549 {
        "PublicKey" public_key: ByteString,
        "Signature" signature: ByteString,
    }

    /// DataType `EventFilter`, `i=725`, OPC 10000-4, 7.22.3.
    EventFilter = 725, 727 {
        "SelectClauses" select_clauses: Vec<SimpleAttributeOperand>,
        "WhereClause" where_clause: ContentFilter,
    }

    /// DataType `IssuedIdentityToken`, `i=938`, OPC 10000-4, 7.40.6.
    IssuedIdentityToken = 938, 940 {
        "PolicyId" policy_id: UaString,
        "TokenData" token_data: ByteString,
        "EncryptionAlgorithm" encryption_algorithm: UaString,
    }

    /// DataType `LiteralOperand`, `i=595`, OPC 10000-4, 7.7.4.3.
    LiteralOperand = 595, 597 {
        "Value" value: Variant,
    }

    /// DataType `MdnsDiscoveryConfiguration`, `i=12891`, OPC 10000-4, 7.13.2.
    MdnsDiscoveryConfiguration = 12891, 12901 {
        "MdnsServerName" mdns_server_name: UaString,
        "ServerCapabilities" server_capabilities: Vec<UaString>,
    }

    /// DataType `RegisteredServer`, `i=432`, OPC 10000-4, 7.31.
    RegisteredServer = 432, 434 {
        "ServerUri" server_uri: UaString,
        "ProductUri" product_uri: UaString,
        "ServerNames" server_names: Vec<LocalizedText>,
        "ServerType" server_type: ApplicationType,
        "GatewayServerUri" gateway_server_uri: UaString,
        "DiscoveryUrls" discovery_urls: Vec<UaString>,
        "SemaphoreFilePath" semaphore_file_path: UaString,
        "IsOnline" is_online: bool,
    }

    /// DataType `RelativePath`, `i=540`, OPC 10000-4, 7.30.
    RelativePath = 540, 542 {
        "Elements" elements: Vec<RelativePathElement>,
    }

    /// DataType `RelativePathElement`, `i=537`, OPC 10000-4, 7.30.
    RelativePathElement = 537, 539 {
        "ReferenceTypeId" reference_type_id: NodeId,
        "IsInverse" is_inverse: bool,
        "IncludeSubtypes" include_subtypes: bool,
        "TargetName" target_name: QualifiedName,
    }

    /// DataType `ServerOnNetwork`, `i=12189`, OPC 10000-4, 5.5.3.2.
    ServerOnNetwork = 12189, 12207 {
        "RecordId" record_id: u32,
        "ServerName" server_name: UaString,
        "DiscoveryUrl" discovery_url: UaString,
        "ServerCapabilities" server_capabilities: Vec<UaString>,
    }

    /// DataType `SignatureData`, `i=456`, OPC 10000-4, 7.36.
    SignatureData = 456, 458 {
        "Algorithm" algorithm: UaString,
        "Signature" signature: ByteString,
    }

    /// DataType `SignedSoftwareCertificate`, `i=344`, OPC 10000-4, 7.37.
    SignedSoftwareCertificate = 344, 346 {
        "CertificateData" certificate_data: ByteString,
        "Signature" signature: ByteString,
    }

    /// DataType `SimpleAttributeOperand`, `i=601`, OPC 10000-4, 7.7.4.5.
    SimpleAttributeOperand = 601, 603 {
        "TypeDefinitionId" type_definition_id: NodeId,
        "BrowsePath" browse_path: Vec<QualifiedName>,
        "AttributeId" attribute_id: u32,
        "IndexRange" index_range: UaString,
    }

    /// Abstract DataType `UserIdentityToken`, `i=316`, OPC 10000-4, 7.40.1.
    UserIdentityToken = 316, 318 {
        "PolicyId" policy_id: UaString,
    }

    /// DataType `UserNameIdentityToken`, `i=322`, OPC 10000-4, 7.40.4.
    UserNameIdentityToken = 322, 324 {
        "PolicyId" policy_id: UaString,
        "UserName" user_name: UaString,
        "Password" password: ByteString,
        "EncryptionAlgorithm" encryption_algorithm: UaString,
    }

    /// DataType `UserTokenPolicy`, `i=304`, OPC 10000-4, 7.41.
    UserTokenPolicy = 304, 306 {
        "PolicyId" policy_id: UaString,
        "TokenType" token_type: UserTokenType,
        "IssuedTokenType" issued_token_type: UaString,
        "IssuerEndpointUrl" issuer_endpoint_url: UaString,
        "SecurityPolicyUri" security_policy_uri: UaString,
    }

    /// DataType `X509IdentityToken`, `i=325`, OPC 10000-4, 7.40.5.
    X509IdentityToken = 325, 327 {
        "PolicyId" policy_id: UaString,
        "CertificateData" certificate_data: ByteString,
    }
}

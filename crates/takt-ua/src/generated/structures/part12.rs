// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-12.

use crate::generated::enumerations::{ConfigurationUpdateType, MessageSecurityMode, UserTokenType};
use crate::generated::structures::{ApplicationDescription, KeyValuePair};
use crate::generated_support::structure;
use crate::{ByteString, DateTime, LocalizedText, NodeId, StatusCode, UaString};

structure! {
    /// DataType `ApplicationConfigurationDataType`, `i=23743`, OPC 10000-12, 7.10.19.
    ApplicationConfigurationDataType = 23743, 23754 {
        "ConfigurationVersion" configuration_version: u32,
        "ConfigurationProperties" configuration_properties: Vec<KeyValuePair>,
        "ApplicationIdentity" application_identity: ApplicationIdentityDataType,
        "CertificateGroups" certificate_groups: Vec<CertificateGroupDataType>,
        "ServerEndpoints" server_endpoints: Vec<ServerEndpointDataType>,
        "ClientEndpoints" client_endpoints: Vec<EndpointDataType>,
        "SecuritySettings" security_settings: Vec<SecuritySettingsDataType>,
        "UserTokenSettings" user_token_settings: Vec<UserTokenSettingsDataType>,
        "AuthorizationServices" authorization_services: Vec<AuthorizationServiceConfigurationDataType>,
    }

    /// DataType `ApplicationIdentityDataType`, `i=15556`, OPC 10000-12, 7.10.21.
    ApplicationIdentityDataType = 15556, 16543 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "ApplicationUri" application_uri: UaString,
        "ApplicationNames" application_names: Vec<LocalizedText>,
        "AdditionalServers" additional_servers: Vec<ApplicationDescription>,
    }

    /// DataType `AuthorizationServiceConfigurationDataType`, `i=23744`, OPC 10000-12, 9.7.5.
    AuthorizationServiceConfigurationDataType = 23744, 23755 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "ServiceUri" service_uri: UaString,
        "ServiceCertificates" service_certificates: Vec<ServiceCertificateDataType>,
        "IssuerEndpointSettings" issuer_endpoint_settings: UaString,
    }

    /// Abstract DataType `BaseConfigurationDataType`, `i=15434`, OPC 10000-12, 7.8.5.4.
    BaseConfigurationDataType = 15434, 16538 {
        "ConfigurationVersion" configuration_version: u32,
        "ConfigurationProperties" configuration_properties: Vec<KeyValuePair>,
    }

    /// Abstract DataType `BaseConfigurationRecordDataType`, `i=15435`, OPC 10000-12, 7.8.5.5.
    BaseConfigurationRecordDataType = 15435, 16539 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
    }

    /// DataType `CertificateGroupDataType`, `i=15436`, OPC 10000-12, 7.8.3.4.
    CertificateGroupDataType = 15436, 16540 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "Purpose" purpose: NodeId,
        "CertificateTypes" certificate_types: Vec<NodeId>,
        "IsCertificateAssigned" is_certificate_assigned: Vec<bool>,
        "ValidationOptions" validation_options: u32,
    }

    /// DataType `ConfigurationUpdateTargetType`, `i=15538`, OPC 10000-12, 7.8.5.6.
    ConfigurationUpdateTargetType = 15538, 16541 {
        "Path" path: UaString,
        "UpdateType" update_type: ConfigurationUpdateType,
    }

    /// DataType `EndpointDataType`, `i=15557`, OPC 10000-12, 7.10.22.
    EndpointDataType = 15557, 16544 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "DiscoveryUrls" discovery_urls: Vec<UaString>,
        "NetworkName" network_name: UaString,
        "Port" port: u16,
    }

    /// DataType `SecuritySettingsDataType`, `i=15559`, OPC 10000-12, 7.10.24.
    SecuritySettingsDataType = 15559, 16546 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "SecurityModes" security_modes: Vec<MessageSecurityMode>,
        "SecurityPolicyUris" security_policy_uris: Vec<UaString>,
        "CertificateGroupName" certificate_group_name: UaString,
    }

    /// DataType `ServerEndpointDataType`, `i=15558`, OPC 10000-12, 7.10.23.
    ServerEndpointDataType = 15558, 16545 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "DiscoveryUrls" discovery_urls: Vec<UaString>,
        "NetworkName" network_name: UaString,
        "Port" port: u16,
        "EndpointUrls" endpoint_urls: Vec<UaString>,
        "SecuritySettingNames" security_setting_names: Vec<UaString>,
        "TransportProfileUri" transport_profile_uri: UaString,
        "UserTokenSettingNames" user_token_setting_names: Vec<UaString>,
        "ReverseConnectUrls" reverse_connect_urls: Vec<UaString>,
    }

    /// DataType `ServiceCertificateDataType`, `i=23724`, OPC 10000-12, 9.7.5.
    ServiceCertificateDataType = 23724, 23725 {
        "Certificate" certificate: ByteString,
        "Issuers" issuers: Vec<ByteString>,
        "ValidFrom" valid_from: DateTime,
        "ValidTo" valid_to: DateTime,
    }

    /// DataType `TransactionErrorType`, `i=32285`, OPC 10000-12, 7.10.18.
    TransactionErrorType = 32285, 32382 {
        "TargetId" target_id: NodeId,
        "Error" error: StatusCode,
        "Message" message: LocalizedText,
    }

    /// DataType `TrustListDataType`, `i=12554`, OPC 10000-12, 7.8.2.8.
    TrustListDataType = 12554, 12680 {
        "SpecifiedLists" specified_lists: u32,
        "TrustedCertificates" trusted_certificates: Vec<ByteString>,
        "TrustedCrls" trusted_crls: Vec<ByteString>,
        "IssuerCertificates" issuer_certificates: Vec<ByteString>,
        "IssuerCrls" issuer_crls: Vec<ByteString>,
    }

    /// DataType `UserTokenSettingsDataType`, `i=15560`, OPC 10000-12, 7.10.25.
    UserTokenSettingsDataType = 15560, 16547 {
        "Name" name: UaString,
        "RecordProperties" record_properties: Vec<KeyValuePair>,
        "TokenType" token_type: UserTokenType,
        "IssuedTokenType" issued_token_type: UaString,
        "IssuerEndpointUrl" issuer_endpoint_url: UaString,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "CertificateGroupName" certificate_group_name: UaString,
        "AuthorizationServiceName" authorization_service_name: UaString,
    }
}

// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-18.

use crate::UaString;
use crate::generated::enumerations::{IdentityCriteriaType, MessageSecurityMode};
use crate::generated_support::structure;

structure! {
    /// DataType `EndpointType`, `i=15528`, OPC 10000-18, 4.4.2.
    EndpointType = 15528, 15671 {
        "EndpointUrl" endpoint_url: UaString,
        "SecurityMode" security_mode: MessageSecurityMode,
        "SecurityPolicyUri" security_policy_uri: UaString,
        "TransportProfileUri" transport_profile_uri: UaString,
    }

    /// DataType `IdentityMappingRuleType`, `i=15634`, OPC 10000-18, 4.4.3.
    IdentityMappingRuleType = 15634, 15736 {
        "CriteriaType" criteria_type: IdentityCriteriaType,
        "Criteria" criteria: UaString,
    }

    /// DataType `UserManagementDataType`, `i=24281`, OPC 10000-18, 5.2.4.
    UserManagementDataType = 24281, 24292 {
        "UserName" user_name: UaString,
        "UserConfiguration" user_configuration: u32,
        "Description" description: UaString,
    }
}

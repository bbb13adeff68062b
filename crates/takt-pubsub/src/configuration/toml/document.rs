//! Configuration file as a whole.

use serde::{Deserialize, Serialize};
use takt_ua::structures::{
    DataSetMetaDataType, DataTypeSchemaHeader, EndpointDescription, EnumDescription,
    PubSubConfiguration2DataType, PubSubKeyPushTargetDataType, RolePermissionType,
    SecurityGroupDataType, SimpleTypeDescription, StructureDescription,
};

use super::connection::Connection;
use super::data_set::{PublishedDataSet, StandaloneSubscribedDataSet};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{
    Milliseconds, is_default, is_true, read_string, read_strings, write_string, write_strings, yes,
};
use super::value::{StructureTable, read_structures, write_structures};
use crate::configuration::ConfigurationFile;

/// SecurityGroup (OPC 10000-14, 6.2.12.2).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecurityGroup {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    security_group_folder: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security_group_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security_policy_uri: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    key_lifetime: Milliseconds,
    #[serde(default, skip_serializing_if = "is_default")]
    max_future_key_count: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    max_past_key_count: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    role_permissions: Vec<StructureTable<RolePermissionType>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    group_properties: Vec<Property>,
}

impl SecurityGroup {
    fn read(self) -> SecurityGroupDataType {
        SecurityGroupDataType {
            name: read_string(self.name),
            security_group_folder: read_strings(self.security_group_folder),
            key_lifetime: self.key_lifetime.0,
            security_policy_uri: read_string(self.security_policy_uri),
            max_future_key_count: self.max_future_key_count,
            max_past_key_count: self.max_past_key_count,
            security_group_id: read_string(self.security_group_id),
            role_permissions: read_structures(self.role_permissions),
            group_properties: read_properties(self.group_properties),
        }
    }

    fn write(group: &SecurityGroupDataType) -> Self {
        Self {
            name: write_string(&group.name),
            security_group_folder: write_strings(&group.security_group_folder),
            security_group_id: write_string(&group.security_group_id),
            security_policy_uri: write_string(&group.security_policy_uri),
            key_lifetime: Milliseconds(group.key_lifetime),
            max_future_key_count: group.max_future_key_count,
            max_past_key_count: group.max_past_key_count,
            role_permissions: write_structures(&group.role_permissions),
            group_properties: write_properties(&group.group_properties),
        }
    }
}

/// Configuration file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    enabled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    configuration_version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema_location: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    published_data_sets: Vec<PublishedDataSet>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    connections: Vec<Connection>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subscribed_data_sets: Vec<StandaloneSubscribedDataSet>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    security_groups: Vec<SecurityGroup>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    data_set_classes: Vec<StructureTable<DataSetMetaDataType>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    default_security_key_services: Vec<StructureTable<EndpointDescription>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub_sub_key_push_targets: Vec<StructureTable<PubSubKeyPushTargetDataType>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    configuration_properties: Vec<Property>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    file_header: Vec<Property>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    structure_data_types: Vec<StructureTable<StructureDescription>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    enum_data_types: Vec<StructureTable<EnumDescription>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    simple_data_types: Vec<StructureTable<SimpleTypeDescription>>,
}

impl Document {
    pub(super) fn read(self) -> Result<ConfigurationFile, Problem> {
        let published = self.published_data_sets.into_iter();
        let connections = self.connections.into_iter();
        let subscribed = self.subscribed_data_sets.into_iter();
        let groups = self.security_groups.into_iter();
        Ok(ConfigurationFile {
            configuration: PubSubConfiguration2DataType {
                published_data_sets: published
                    .map(PublishedDataSet::read)
                    .collect::<Result<_, _>>()?,
                connections: connections
                    .map(Connection::read)
                    .collect::<Result<_, _>>()?,
                enabled: self.enabled,
                subscribed_data_sets: subscribed
                    .map(StandaloneSubscribedDataSet::read)
                    .collect::<Result<_, _>>()?,
                data_set_classes: read_structures(self.data_set_classes),
                default_security_key_services: read_structures(self.default_security_key_services),
                security_groups: groups.map(SecurityGroup::read).collect(),
                pub_sub_key_push_targets: read_structures(self.pub_sub_key_push_targets),
                configuration_version: self.configuration_version,
                configuration_properties: read_properties(self.configuration_properties),
            },
            namespaces: read_strings(self.namespaces),
            file_header: read_properties(self.file_header),
            schema_location: read_string(self.schema_location),
            data_types: DataTypeSchemaHeader {
                namespaces: Vec::new(),
                structure_data_types: read_structures(self.structure_data_types),
                enum_data_types: read_structures(self.enum_data_types),
                simple_data_types: read_structures(self.simple_data_types),
            },
        })
    }

    pub(super) fn write(file: &ConfigurationFile) -> Self {
        let it = &file.configuration;
        let types = &file.data_types;
        Self {
            enabled: it.enabled,
            configuration_version: it.configuration_version,
            namespaces: write_strings(&file.namespaces),
            schema_location: write_string(&file.schema_location),
            published_data_sets: it
                .published_data_sets
                .iter()
                .map(PublishedDataSet::write)
                .collect(),
            connections: it.connections.iter().map(Connection::write).collect(),
            subscribed_data_sets: it
                .subscribed_data_sets
                .iter()
                .map(StandaloneSubscribedDataSet::write)
                .collect(),
            security_groups: it
                .security_groups
                .iter()
                .map(SecurityGroup::write)
                .collect(),
            data_set_classes: write_structures(&it.data_set_classes),
            default_security_key_services: write_structures(&it.default_security_key_services),
            pub_sub_key_push_targets: write_structures(&it.pub_sub_key_push_targets),
            configuration_properties: write_properties(&it.configuration_properties),
            file_header: write_properties(&file.file_header),
            structure_data_types: write_structures(&types.structure_data_types),
            enum_data_types: write_structures(&types.enum_data_types),
            simple_data_types: write_structures(&types.simple_data_types),
        }
    }
}

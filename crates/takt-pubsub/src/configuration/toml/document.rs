//! Configuration file as a whole.

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
    Enabled, Milliseconds, read_string, read_strings, write_string, write_strings,
};
use super::table::table;
use super::value::{StructureTable, read_structures, write_structures};
use crate::configuration::ConfigurationFile;

table! {
    /// SecurityGroup (OPC 10000-14, 6.2.12.2).
    SecurityGroup {
        name: Option<String>,
        security_group_folder: Vec<String>,
        security_group_id: Option<String>,
        security_policy_uri: Option<String>,
        key_lifetime: Milliseconds,
        max_future_key_count: u32,
        max_past_key_count: u32,
        role_permissions: Vec<StructureTable<RolePermissionType>>,
        group_properties: Vec<Property>,
    }
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

table! {
    /// Configuration file.
    Document {
        enabled: Enabled,
        configuration_version: u32,
        namespaces: Vec<String>,
        schema_location: Option<String>,
        published_data_sets: Vec<PublishedDataSet>,
        connections: Vec<Connection>,
        subscribed_data_sets: Vec<StandaloneSubscribedDataSet>,
        security_groups: Vec<SecurityGroup>,
        data_set_classes: Vec<StructureTable<DataSetMetaDataType>>,
        default_security_key_services: Vec<StructureTable<EndpointDescription>>,
        pub_sub_key_push_targets: Vec<StructureTable<PubSubKeyPushTargetDataType>>,
        configuration_properties: Vec<Property>,
        file_header: Vec<Property>,
        structure_data_types: Vec<StructureTable<StructureDescription>>,
        enum_data_types: Vec<StructureTable<EnumDescription>>,
        simple_data_types: Vec<StructureTable<SimpleTypeDescription>>,
    }
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
                enabled: self.enabled.0,
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
            enabled: Enabled(it.enabled),
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

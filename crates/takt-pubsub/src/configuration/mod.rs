//! Configuration files: the binary one of the standard, a TOML one for people, and one in JSON, which is only read.
//!
//! All hold a [`PubSubConfiguration2DataType`], from which publishers and subscribers are made, and the namespaces of its
//! NodeIds. The binary file is that of OPC 10000-14, 6.2.12 and 9.1.3.7.1: an ExtensionObject with a `UABinaryFileDataType` (OPC
//! 10000-5, 12.36), whose body is the configuration. `docs/pubsub.md` is the reference of the TOML file.

mod binary;
#[cfg(test)]
#[cfg(feature = "toml")]
mod binary_tests;
mod error;
mod json;
mod key_services;
#[cfg(test)]
#[cfg(feature = "toml")]
mod layout_tests;
#[cfg(test)]
#[cfg(feature = "toml")]
mod property_tests;
#[cfg(test)]
#[cfg(feature = "toml")]
mod tests;
#[cfg(feature = "toml")]
mod toml;

use takt_ua::structures::{DataTypeSchemaHeader, UABinaryFileDataType};
use takt_ua::structures::{KeyValuePair, PubSubConfiguration2DataType};
use takt_ua::{UaString, Variant};

pub use binary::{from_binary_file, to_binary_file};
pub use error::{BinaryFileError, JsonFileError, TomlError, UnrepresentableError};
pub use json::from_json;
pub use key_services::key_services;
#[cfg(feature = "toml")]
pub use toml::{from_toml, to_toml};

/// Content of a configuration file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigurationFile {
    /// PubSub configuration.
    pub configuration: PubSubConfiguration2DataType,
    /// URIs of the namespaces, from index 0 on, to which the indexes of NodeIds and QualifiedNames refer. Often empty: then only
    /// namespace 0 is used, or the application knows the namespaces.
    pub namespaces: Vec<UaString>,
    /// Further properties of the file: `FileHeader`.
    pub file_header: Vec<KeyValuePair>,
    /// Location of the description of DataTypes that are not the standard's: `SchemaLocation`.
    pub schema_location: UaString,
    /// DataTypes that are described in the file itself. Its `namespaces` are empty here: they are the namespaces of the file.
    pub data_types: DataTypeSchemaHeader,
}

impl ConfigurationFile {
    /// Creates a file with a configuration and nothing else.
    pub fn new(configuration: PubSubConfiguration2DataType) -> Self {
        Self {
            configuration,
            ..Self::default()
        }
    }

    fn from_parts(configuration: PubSubConfiguration2DataType, file: UABinaryFileDataType) -> Self {
        Self {
            configuration,
            namespaces: file.namespaces,
            file_header: file.file_header,
            schema_location: file.schema_location,
            data_types: DataTypeSchemaHeader {
                namespaces: Vec::new(),
                structure_data_types: file.structure_data_types,
                enum_data_types: file.enum_data_types,
                simple_data_types: file.simple_data_types,
            },
        }
    }

    fn to_structure(&self, body: Variant) -> UABinaryFileDataType {
        let types = self.data_types.clone();
        UABinaryFileDataType {
            namespaces: self.namespaces.clone(),
            structure_data_types: types.structure_data_types,
            enum_data_types: types.enum_data_types,
            simple_data_types: types.simple_data_types,
            schema_location: self.schema_location.clone(),
            file_header: self.file_header.clone(),
            body,
        }
    }
}

//! What a message does not say of its fields.

use takt_ua::structures::DataSetMetaDataType;

use crate::raw_data::{RawDataError, RawDataLayout};

/// What the metadata of a DataSet says of its fields: their names, and how they are laid out as RawData.
#[derive(Debug, Clone)]
pub struct DataSetFields {
    pub(super) names: Vec<String>,
    /// The MajorVersion that the metadata is of; 0 if it does not say.
    pub(super) major_version: u32,
    /// Why the fields cannot be RawData, if they cannot.
    pub(super) raw_data: Result<RawDataLayout, RawDataError>,
}

impl DataSetFields {
    /// The fields of the DataSet that the metadata describes.
    pub fn new(meta_data: &DataSetMetaDataType) -> Self {
        let names = meta_data.fields.iter().map(|field| field.name.to_string());
        Self {
            names: names.collect(),
            major_version: meta_data.configuration_version.major_version,
            raw_data: RawDataLayout::new(meta_data),
        }
    }
}

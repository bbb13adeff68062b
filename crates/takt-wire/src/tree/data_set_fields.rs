//! Metadata of the fields of a message.

use takt_ua::structures::DataSetMetaDataType;

use crate::raw_data::{RawDataError, RawDataLayout};

/// Names of the fields of a DataSet, and their layout as RawData, from the metadata.
#[derive(Debug, Clone)]
pub struct DataSetFields {
    pub(super) names: Vec<String>,
    /// MajorVersion of the metadata; 0 if it has none.
    pub(super) major_version: u32,
    /// Layout of the fields as RawData, or the reason for which there is none.
    pub(super) raw_data: Result<RawDataLayout, RawDataError>,
}

impl DataSetFields {
    /// Creates the fields of the DataSet that the metadata describes.
    pub fn new(meta_data: &DataSetMetaDataType) -> Self {
        let names = meta_data.fields.iter().map(|field| field.name.to_string());
        Self {
            names: names.collect(),
            major_version: meta_data.configuration_version.major_version,
            raw_data: RawDataLayout::new(meta_data),
        }
    }
}

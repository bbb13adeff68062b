//! Message mappings of a WriterGroup: UADP (OPC 10000-14, 6.3.1) or JSON (6.3.2).

use takt_ua::enumerations::{DataSetFieldContentMask, MessageSecurityMode};
use takt_ua::structures::{
    DataSetWriterDataType, JsonDataSetWriterMessageDataType, JsonWriterGroupMessageDataType,
    UadpDataSetWriterMessageDataType, UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_wire::json::JsonFieldEncoding;

use super::json::JsonHeaders;
use crate::error::ConfigurationProblem;
use crate::settings::decode_settings;

/// How the messages of a WriterGroup are made.
#[derive(Debug)]
pub(super) enum Mapping {
    Uadp(UadpWriterGroupMessageDataType),
    Json(JsonHeaders),
}

impl Mapping {
    /// What the MessageSettings say; UADP if there are none.
    pub(super) fn new(group: &WriterGroupDataType) -> Result<Self, ConfigurationProblem> {
        let settings = &group.message_settings;
        if !settings.is::<JsonWriterGroupMessageDataType>() {
            return Ok(Self::Uadp(decode_settings(settings)?));
        }
        if !matches!(
            group.security_mode,
            MessageSecurityMode::None | MessageSecurityMode::Invalid
        ) {
            let what = "JSON messages have no message security (7.2.5)";
            return Err(ConfigurationProblem::parameter("SecurityMode", what));
        }
        let settings: JsonWriterGroupMessageDataType = decode_settings(settings)?;
        let mask = settings.network_message_content_mask;
        Ok(Self::Json(JsonHeaders::new(mask)?))
    }

    pub(super) fn uadp(&self) -> Option<&UadpWriterGroupMessageDataType> {
        match self {
            Self::Uadp(settings) => Some(settings),
            Self::Json(_) => None,
        }
    }
}

/// How the DataSetMessages of a DataSetWriter are made: always as its WriterGroup's messages are.
#[derive(Debug)]
pub(crate) enum DataSetMapping {
    Uadp(UadpDataSetWriterMessageDataType),
    Json {
        /// A JsonDataSetMessageContentMask.
        mask: u32,
        fields: JsonFieldEncoding,
    },
}

impl DataSetMapping {
    pub(super) fn new(
        group: &Mapping,
        writer: &DataSetWriterDataType,
    ) -> Result<Self, ConfigurationProblem> {
        let settings = &writer.message_settings;
        if group.uadp().is_some() {
            return Ok(Self::Uadp(decode_settings(settings)?));
        }
        let settings: JsonDataSetWriterMessageDataType = decode_settings(settings)?;
        let mask = settings.data_set_message_content_mask;
        // With RawData nothing else of a DataValue is sent (6.2.4.2).
        let field_mask = match writer.data_set_field_content_mask {
            raw if raw & DataSetFieldContentMask::RawData != 0 => DataSetFieldContentMask::RawData,
            other => other,
        };
        let fields = JsonFieldEncoding::from_masks(mask, field_mask);
        Ok(Self::Json { mask, fields })
    }

    pub(crate) fn uadp(&self) -> Option<&UadpDataSetWriterMessageDataType> {
        match self {
            Self::Uadp(settings) => Some(settings),
            Self::Json { .. } => None,
        }
    }
}

//! WriterGroups and DataSetWriters (OPC 10000-14, 6.2.6 and 6.2.4).

use serde::{Deserialize, Serialize};
use takt_ua::structures::{DataSetWriterDataType, EndpointDescription, WriterGroupDataType};
use toml::Spanned;

use super::mask::{FieldEncoding, Layout, UsualMasks};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{
    Milliseconds, is_default, is_true, read_string, read_strings, write_string, write_strings, yes,
};
use super::security::{self, SecurityMode};
use super::settings::{
    BrokerDataSetWriter, BrokerWriterGroup, JsonDataSetWriter, JsonWriterGroup, Mapping,
    MessageSettings, UadpDataSetWriter, UadpWriterGroup, read_transport, write_transport,
};
use super::value::{AnyStructure, StructureTable, read_structures, write_structures};

/// WriterGroup.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriterGroup {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    enabled: bool,
    writer_group_id: u16,
    publishing_interval: Milliseconds,
    #[serde(default, skip_serializing_if = "is_default")]
    keep_alive_time: Milliseconds,
    #[serde(default, skip_serializing_if = "is_default")]
    priority: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locale_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header_layout: Option<Layout>,
    #[serde(default, skip_serializing_if = "is_default")]
    max_network_message_size: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security_mode: Option<SecurityMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security_group_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uadp: Option<UadpWriterGroup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<JsonWriterGroup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_settings: Option<Spanned<AnyStructure>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broker: Option<BrokerWriterGroup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transport_settings: Option<Spanned<AnyStructure>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    security_key_services: Vec<StructureTable<EndpointDescription>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    group_properties: Vec<Property>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    data_set_writers: Vec<Spanned<DataSetWriter>>,
}

impl WriterGroup {
    pub(super) fn read(
        this: Spanned<Self>,
        mapping: Mapping,
    ) -> Result<WriterGroupDataType, Problem> {
        let place = this.span();
        let this = this.into_inner();
        let (layout, usual) = UsualMasks::read(this.header_layout);
        let message = MessageSettings {
            uadp: this.uadp,
            json: this.json,
            message_settings: this.message_settings,
        };
        let mapping = message.mapping(mapping.of_layout(layout.as_option()));
        let writers = this.data_set_writers.into_iter();
        Ok(WriterGroupDataType {
            name: read_string(this.name),
            enabled: this.enabled,
            security_mode: security::read(this.security_mode, security::GROUP),
            security_group_id: read_string(this.security_group_id),
            security_key_services: read_structures(this.security_key_services),
            max_network_message_size: this.max_network_message_size,
            group_properties: read_properties(this.group_properties),
            writer_group_id: this.writer_group_id,
            publishing_interval: this.publishing_interval.0,
            keep_alive_time: this.keep_alive_time.0,
            priority: this.priority,
            locale_ids: read_strings(this.locale_ids),
            header_layout_uri: layout,
            transport_settings: read_transport(this.broker, this.transport_settings)?,
            message_settings: message.read(&usual, mapping, place)?,
            data_set_writers: writers
                .map(|writer| DataSetWriter::read(writer, &usual, mapping))
                .collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn write(group: &WriterGroupDataType, mapping: Mapping) -> Self {
        let (header_layout, usual) = UsualMasks::write(&group.header_layout_uri);
        let mapping = mapping.of_layout(group.header_layout_uri.as_option());
        let message = MessageSettings::write(&group.message_settings, &usual, mapping);
        let mapping = message.mapping(mapping);
        let (broker, transport_settings) = write_transport(&group.transport_settings);
        let writers = group.data_set_writers.iter();
        let writers =
            writers.map(|writer| Spanned::new(0..0, DataSetWriter::write(writer, &usual, mapping)));
        Self {
            name: write_string(&group.name),
            enabled: group.enabled,
            writer_group_id: group.writer_group_id,
            publishing_interval: Milliseconds(group.publishing_interval),
            keep_alive_time: Milliseconds(group.keep_alive_time),
            priority: group.priority,
            locale_ids: write_strings(&group.locale_ids),
            header_layout,
            max_network_message_size: group.max_network_message_size,
            security_mode: security::write(group.security_mode, security::GROUP),
            security_group_id: write_string(&group.security_group_id),
            uadp: message.uadp,
            json: message.json,
            message_settings: message.message_settings,
            broker,
            transport_settings,
            security_key_services: write_structures(&group.security_key_services),
            group_properties: write_properties(&group.group_properties),
            data_set_writers: writers.collect(),
        }
    }
}

/// DataSetWriter.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataSetWriter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    enabled: bool,
    data_set_writer_id: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data_set_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_frame_count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field_encoding: Option<FieldEncoding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uadp: Option<UadpDataSetWriter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<JsonDataSetWriter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_settings: Option<Spanned<AnyStructure>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broker: Option<BrokerDataSetWriter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transport_settings: Option<Spanned<AnyStructure>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    data_set_writer_properties: Vec<Property>,
}

impl DataSetWriter {
    fn read(
        this: Spanned<Self>,
        usual: &UsualMasks,
        mapping: Mapping,
    ) -> Result<DataSetWriterDataType, Problem> {
        let place = this.span();
        let this = this.into_inner();
        let key_frame_count = this.key_frame_count.unwrap_or(1);
        let usual = usual.with_key_frame_count(key_frame_count);
        let message = MessageSettings {
            uadp: this.uadp,
            json: this.json,
            message_settings: this.message_settings,
        };
        Ok(DataSetWriterDataType {
            name: read_string(this.name),
            enabled: this.enabled,
            data_set_writer_id: this.data_set_writer_id,
            data_set_field_content_mask: this
                .field_encoding
                .map_or(usual.field, |encoding| encoding.0),
            key_frame_count,
            data_set_name: read_string(this.data_set_name),
            data_set_writer_properties: read_properties(this.data_set_writer_properties),
            transport_settings: read_transport(this.broker, this.transport_settings)?,
            message_settings: message.read(&usual, mapping, place)?,
        })
    }

    fn write(writer: &DataSetWriterDataType, usual: &UsualMasks, mapping: Mapping) -> Self {
        let usual = usual.with_key_frame_count(writer.key_frame_count);
        let message = MessageSettings::write(&writer.message_settings, &usual, mapping);
        let (broker, transport_settings) = write_transport(&writer.transport_settings);
        let encoding = writer.data_set_field_content_mask;
        Self {
            name: write_string(&writer.name),
            enabled: writer.enabled,
            data_set_writer_id: writer.data_set_writer_id,
            data_set_name: write_string(&writer.data_set_name),
            key_frame_count: (writer.key_frame_count != 1).then_some(writer.key_frame_count),
            field_encoding: FieldEncoding::unless(encoding, usual.field),
            uadp: message.uadp,
            json: message.json,
            message_settings: message.message_settings,
            broker,
            transport_settings,
            data_set_writer_properties: write_properties(&writer.data_set_writer_properties),
        }
    }
}

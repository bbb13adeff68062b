//! WriterGroups and DataSetWriters (OPC 10000-14, 6.2.6 and 6.2.4).

use takt_ua::structures::{DataSetWriterDataType, EndpointDescription, WriterGroupDataType};
use toml::Spanned;

use super::group::{read_group, read_messages, write_group, write_settings};
use super::link_times::{read_word, write_word};
use super::mask::{FieldEncoding, Layout, UsualMasks};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{
    Enabled, Milliseconds, read_string, read_strings, write_string, write_strings,
};
use super::security::{self, SecurityMode};
use super::settings::{
    BrokerDataSetWriter, BrokerWriterGroup, JsonDataSetWriter, JsonWriterGroup, Mapping,
    MessageSettings, UadpDataSetWriter, UadpWriterGroup, read_transport, write_transport,
};
use super::table::table;
use super::value::{AnyStructure, StructureTable, read_structures, write_structures};
use crate::link_times::LAUNCH_TIMES;

table! {
    /// WriterGroup.
    WriterGroup {
        name: Option<String>,
        enabled: Enabled,
        writer_group_id: u16 = required,
        publishing_interval: Milliseconds = required,
        keep_alive_time: Milliseconds,
        priority: u8,
        locale_ids: Vec<String>,
        header_layout: Option<Layout>,
        max_network_message_size: u32,
        security_mode: Option<SecurityMode>,
        security_group_id: Option<String>,
        settings<UadpWriterGroup, JsonWriterGroup, BrokerWriterGroup>,
        security_key_services: Vec<StructureTable<EndpointDescription>>,
        launch_times: Option<String>,
        group_properties: Vec<Property>,
        data_set_writers: Vec<Spanned<DataSetWriter>>,
    }
}

impl WriterGroup {
    pub(super) fn read(
        this: Spanned<Self>,
        mapping: Mapping,
    ) -> Result<WriterGroupDataType, Problem> {
        let place = this.span();
        let this = this.into_inner();
        let (layout, usual) = UsualMasks::read(this.header_layout);
        let message = read_messages!(this);
        let mapping = message.mapping(mapping.of_layout(layout.as_option()));
        let writers = this.data_set_writers.into_iter();
        let launch_times = this.launch_times;
        let mut group = read_group!(WriterGroupDataType, this, {
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
        });
        read_word(&mut group.group_properties, LAUNCH_TIMES, launch_times);
        Ok(group)
    }

    pub(super) fn write(group: &WriterGroupDataType, mapping: Mapping) -> Self {
        let (launch_times, group_properties) = write_word(&group.group_properties, LAUNCH_TIMES);
        let group = &WriterGroupDataType {
            group_properties,
            ..group.clone()
        };
        let (header_layout, usual) = UsualMasks::write(&group.header_layout_uri);
        let mapping = mapping.of_layout(group.header_layout_uri.as_option());
        let message = MessageSettings::write(&group.message_settings, &usual, mapping);
        let mapping = message.mapping(mapping);
        let transport = write_transport(&group.transport_settings);
        let writers = group.data_set_writers.iter();
        let writers =
            writers.map(|writer| Spanned::new(0..0, DataSetWriter::write(writer, &usual, mapping)));
        write_settings!(
            message,
            transport,
            write_group!(group, {
                writer_group_id: group.writer_group_id,
                publishing_interval: Milliseconds(group.publishing_interval),
                keep_alive_time: Milliseconds(group.keep_alive_time),
                priority: group.priority,
                locale_ids: write_strings(&group.locale_ids),
                header_layout,
                launch_times,
                data_set_writers: writers.collect(),
            })
        )
    }
}

table! {
    /// DataSetWriter.
    DataSetWriter {
        name: Option<String>,
        enabled: Enabled,
        data_set_writer_id: u16 = required,
        data_set_name: Option<String>,
        key_frame_count: Option<u32>,
        field_encoding: Option<FieldEncoding>,
        settings<UadpDataSetWriter, JsonDataSetWriter, BrokerDataSetWriter>,
        data_set_writer_properties: Vec<Property>,
    }
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
        let message = read_messages!(this);
        Ok(DataSetWriterDataType {
            name: read_string(this.name),
            enabled: this.enabled.0,
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
        let transport = write_transport(&writer.transport_settings);
        let encoding = writer.data_set_field_content_mask;
        write_settings!(
            message,
            transport,
            Self {
                name: write_string(&writer.name),
                enabled: Enabled(writer.enabled),
                data_set_writer_id: writer.data_set_writer_id,
                data_set_name: write_string(&writer.data_set_name),
                key_frame_count: (writer.key_frame_count != 1).then_some(writer.key_frame_count),
                field_encoding: FieldEncoding::unless(encoding, usual.field),
                data_set_writer_properties: write_properties(&writer.data_set_writer_properties),
            }
        )
    }
}

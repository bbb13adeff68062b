//! ReaderGroups and DataSetReaders (OPC 10000-14, 6.2.8 and 6.2.9).

use takt_ua::UaString;
use takt_ua::structures::{DataSetReaderDataType, EndpointDescription, ReaderGroupDataType};
use toml::Spanned;

use super::data_set::{MetaData, Subscribed};
use super::field::Field;
use super::group::{read_group, read_messages, write_group, write_settings};
use super::mask::{FieldEncoding, Layout, UsualMasks};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{Enabled, Milliseconds, read_string, write_string};
use super::security::{self, SecurityMode};
use super::settings::{
    BrokerDataSetReader, JsonDataSetReader, Mapping, MessageSettings, UadpDataSetReader,
    read_transport, write_transport,
};
use super::table::table;
use super::value::{
    AnyStructure, PublisherIdValue, StructureTable, read_structures, write_structures,
};

table! {
    /// ReaderGroup.
    ReaderGroup {
        name: Option<String>,
        enabled: Enabled,
        max_network_message_size: u32,
        security_mode: Option<SecurityMode>,
        security_group_id: Option<String>,
        message_settings: Option<AnyStructure>,
        transport_settings: Option<AnyStructure>,
        security_key_services: Vec<StructureTable<EndpointDescription>>,
        group_properties: Vec<Property>,
        data_set_readers: Vec<Spanned<DataSetReader>>,
    }
}

impl ReaderGroup {
    pub(super) fn read(self, mapping: Mapping) -> Result<ReaderGroupDataType, Problem> {
        let object = |said: Option<AnyStructure>| said.map(|said| said.0).unwrap_or_default();
        let readers = self.data_set_readers.into_iter();
        Ok(read_group!(ReaderGroupDataType, self, {
            transport_settings: object(self.transport_settings),
            message_settings: object(self.message_settings),
            data_set_readers: readers
                .map(|reader| DataSetReader::read(reader, mapping))
                .collect::<Result<_, _>>()?,
        }))
    }

    pub(super) fn write(group: &ReaderGroupDataType, mapping: Mapping) -> Self {
        let object = |object: &takt_ua::ExtensionObject| {
            (!object.is_null()).then(|| AnyStructure(object.clone()))
        };
        let readers = group.data_set_readers.iter();
        let readers =
            readers.map(|reader| Spanned::new(0..0, DataSetReader::write(reader, mapping)));
        write_group!(group, {
            message_settings: object(&group.message_settings),
            transport_settings: object(&group.transport_settings),
            data_set_readers: readers.collect(),
        })
    }
}

table! {
    /// DataSetReader.
    DataSetReader {
        name: Option<String>,
        enabled: Enabled,
        publisher_id: Option<PublisherIdValue>,
        writer_group_id: u16,
        data_set_writer_id: u16,
        message_receive_timeout: Milliseconds,
        key_frame_count: Option<u32>,
        field_encoding: Option<FieldEncoding>,
        header_layout: Option<Layout>,
        security_mode: Option<SecurityMode>,
        security_group_id: Option<String>,
        settings<UadpDataSetReader, JsonDataSetReader, BrokerDataSetReader>,
        security_key_services: Vec<StructureTable<EndpointDescription>>,
        data_set_reader_properties: Vec<Property>,
        data_set_meta_data: Option<MetaData>,
        subscribed_data_set: Option<Spanned<AnyStructure>>,
        fields: Vec<Spanned<Field>>,
    }
}

impl DataSetReader {
    fn read(this: Spanned<Self>, mapping: Mapping) -> Result<DataSetReaderDataType, Problem> {
        let place = this.span();
        let this = this.into_inner();
        let (layout, usual) = UsualMasks::read(this.header_layout);
        let key_frame_count = this.key_frame_count.unwrap_or(1);
        let usual = usual.with_key_frame_count(key_frame_count);
        let mapping = mapping.of_layout(layout.as_option());
        let message = read_messages!(this);
        let subscribed = Subscribed {
            meta_data: this.data_set_meta_data,
            fields: this.fields,
            subscribed_data_set: this.subscribed_data_set,
        };
        let (data_set_meta_data, subscribed_data_set) = subscribed.read(&UaString::null())?;
        Ok(DataSetReaderDataType {
            name: read_string(this.name),
            enabled: this.enabled.0,
            publisher_id: this.publisher_id.map(|id| id.0).unwrap_or_default(),
            writer_group_id: this.writer_group_id,
            data_set_writer_id: this.data_set_writer_id,
            data_set_meta_data,
            data_set_field_content_mask: this
                .field_encoding
                .map_or(usual.field, |encoding| encoding.0),
            message_receive_timeout: this.message_receive_timeout.0,
            key_frame_count,
            header_layout_uri: layout,
            security_mode: security::read(this.security_mode, security::READER),
            security_group_id: read_string(this.security_group_id),
            security_key_services: read_structures(this.security_key_services),
            data_set_reader_properties: read_properties(this.data_set_reader_properties),
            transport_settings: read_transport(this.broker, this.transport_settings)?,
            message_settings: message.read(&usual, mapping, place)?,
            subscribed_data_set,
        })
    }

    fn write(reader: &DataSetReaderDataType, mapping: Mapping) -> Self {
        let (header_layout, usual) = UsualMasks::write(&reader.header_layout_uri);
        let usual = usual.with_key_frame_count(reader.key_frame_count);
        let mapping = mapping.of_layout(reader.header_layout_uri.as_option());
        let message = MessageSettings::write(&reader.message_settings, &usual, mapping);
        let transport = write_transport(&reader.transport_settings);
        let meta_data = &reader.data_set_meta_data;
        let subscribed =
            Subscribed::write(meta_data, &reader.subscribed_data_set, &UaString::null());
        let encoding = reader.data_set_field_content_mask;
        let id = &reader.publisher_id;
        write_settings!(
            message,
            transport,
            Self {
                name: write_string(&reader.name),
                enabled: Enabled(reader.enabled),
                publisher_id: (!id.is_empty()).then(|| PublisherIdValue(id.clone())),
                writer_group_id: reader.writer_group_id,
                data_set_writer_id: reader.data_set_writer_id,
                message_receive_timeout: Milliseconds(reader.message_receive_timeout),
                key_frame_count: (reader.key_frame_count != 1).then_some(reader.key_frame_count),
                field_encoding: FieldEncoding::unless(encoding, usual.field),
                header_layout,
                security_mode: security::write(reader.security_mode, security::READER),
                security_group_id: write_string(&reader.security_group_id),
                security_key_services: write_structures(&reader.security_key_services),
                data_set_reader_properties: write_properties(&reader.data_set_reader_properties),
                data_set_meta_data: subscribed.meta_data,
                subscribed_data_set: subscribed.subscribed_data_set,
                fields: subscribed.fields,
            }
        )
    }
}

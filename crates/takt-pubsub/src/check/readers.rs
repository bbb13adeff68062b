//! ReaderGroups and DataSetReaders (OPC 10000-14, 6.2.8 and 6.2.9), and the targets of their fields (6.2.11).

use takt_link::Address;
use takt_ua::enumerations::{DataSetFieldContentMask, MessageSecurityMode, OverrideValueHandling};
use takt_ua::structures::{
    BrokerDataSetReaderTransportDataType, DataSetMetaDataType, DataSetReaderDataType,
    DatagramDataSetReaderTransportDataType, JsonDataSetReaderMessageDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, StandaloneSubscribedDataSetRefDataType,
    SubscribedDataSetMirrorDataType, TargetVariablesDataType, UadpDataSetReaderMessageDataType,
};
use takt_ua::{ExtensionObject, Guid, NodeId};
use takt_wire::PublisherId;

use super::mistake::Place;
use super::tables::{READER_GROUPS, READERS, TARGETS};
use super::values::{offset, properties, range, time, unique};
use super::{addresses, fields, queues, security};

/// Checks the ReaderGroups of a connection.
pub(super) fn check(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    address: Option<&Address>,
    configuration: &PubSubConfiguration2DataType,
) {
    let groups = &connection.reader_groups;
    unique(
        place,
        READER_GROUPS,
        "name",
        groups.iter().map(|group| group.name.as_str()),
    );
    for (index, group) in groups.iter().enumerate() {
        let mut place = place.entry(READER_GROUPS, group.name.as_str(), index);
        let (mode, id) = (group.security_mode, &group.security_group_id);
        security::check(&mut place, mode, id, configuration);
        properties(
            &mut place,
            "group_properties",
            &group.group_properties,
            &["MaxMessageNonces"],
        );
        let readers = &group.data_set_readers;
        if readers.is_empty() {
            place.warning("data_set_readers", "there are none", "Add a DataSetReader");
        }
        unique(
            &mut place,
            READERS,
            "name",
            readers.iter().map(|reader| reader.name.as_str()),
        );
        for (index, reader) in readers.iter().enumerate() {
            let mut place = place.entry(READERS, reader.name.as_str(), index);
            check_reader(&mut place, reader, address, configuration);
        }
    }
}

fn check_reader(
    place: &mut Place<'_>,
    reader: &DataSetReaderDataType,
    address: Option<&Address>,
    configuration: &PubSubConfiguration2DataType,
) {
    match reader.security_mode {
        // The reader then has the security of its group.
        MessageSecurityMode::Invalid if reader.security_group_id.as_str().is_empty() => {}
        mode => security::check(place, mode, &reader.security_group_id, configuration),
    }
    properties(
        place,
        "data_set_reader_properties",
        &reader.data_set_reader_properties,
        &[],
    );
    let settings = &reader.transport_settings;
    let datagram: Option<DatagramDataSetReaderTransportDataType> = settings.decode_as().ok();
    let own = datagram
        .map(|it| it.address)
        .filter(|address| !address.is_null())
        .and_then(|address| addresses::check(place, "Address", &address, false));
    let address = own.as_ref().or(address);
    match address {
        Some(address) if address.has_topics() => {
            queues::check_reader(place, settings, addresses::is_secure(address));
        }
        Some(_) if settings.is::<BrokerDataSetReaderTransportDataType>() => place.error(
            "broker",
            "the address is not that of a broker",
            "Remove it, or use an mqtt:// or mqtts:// address",
        ),
        _ => {}
    }
    check_identity(place, reader, address);
    check_times(place, reader, configuration);
    check_content(place, reader, configuration);
}

/// Checks the filter for messages.
fn check_identity(
    place: &mut Place<'_>,
    reader: &DataSetReaderDataType,
    address: Option<&Address>,
) {
    let id = &reader.publisher_id;
    if !id.is_empty() && PublisherId::from_variant(id).is_none() {
        place.error(
            "publisher_id",
            "is neither Byte, UInt16, UInt32, UInt64 nor String",
            "Write the publisher_id of the Publisher's connection",
        );
    }
    if address.is_some_and(Address::has_topics) {
        // The topic tells Publishers apart.
        return;
    }
    if id.is_empty() {
        place.warning(
            "publisher_id",
            "is missing, so the reader takes messages of any Publisher at this address",
            "Write the publisher_id of the Publisher's connection",
        );
    } else if reader.data_set_writer_id == 0 && reader.writer_group_id == 0 {
        place.warning(
            "data_set_writer_id",
            "is missing, so the reader takes messages of any DataSetWriter of the Publisher",
            "Write the data_set_writer_id of the Publisher's writer",
        );
    }
}

fn check_times(
    place: &mut Place<'_>,
    reader: &DataSetReaderDataType,
    configuration: &PubSubConfiguration2DataType,
) {
    const TIMEOUT: &str = "message_receive_timeout";
    let timeout = reader.message_receive_timeout;
    if !time(place, TIMEOUT, timeout) {
        return;
    }
    if timeout == 0.0 {
        place.warning(
            TIMEOUT,
            "is missing, so values stay Good after their Publisher has stopped",
            "Write a few times the publishing_interval, such as \"100ms\"",
        );
    }
    let fix = "Use more than the publishing_interval and the keep_alive_time of the Publisher";
    let settings: Option<UadpDataSetReaderMessageDataType> =
        reader.message_settings.decode_as().ok();
    if let Some(settings) = settings {
        let interval = settings.publishing_interval;
        if time(place, "publishing_interval", interval) && timeout > 0.0 && timeout <= interval {
            let what =
                format!("{timeout} ms is not longer than the publishing_interval of {interval} ms");
            place.error(TIMEOUT, what, fix);
        }
        offset(place, "receive_offset", settings.receive_offset, interval);
        let processing = settings.processing_offset;
        offset(place, "processing_offset", processing, interval);
    }
    // The Publisher may be in the same file.
    let groups = configuration.connections.iter().flat_map(|connection| {
        let is_it =
            !reader.publisher_id.is_empty() && connection.publisher_id == reader.publisher_id;
        connection.writer_groups.iter().filter(move |_| is_it)
    });
    for group in groups {
        let is_it = group.writer_group_id == reader.writer_group_id
            || group
                .data_set_writers
                .iter()
                .any(|writer| writer.data_set_writer_id == reader.data_set_writer_id);
        let pause = group.publishing_interval.max(group.keep_alive_time);
        if is_it && timeout > 0.0 && timeout <= pause {
            let what = format!(
                "{timeout} ms is not longer than the {pause} ms between two messages of WriterGroup '{}'",
                group.name
            );
            place.warning(TIMEOUT, what, fix);
        }
    }
}

/// Checks the description of the fields, and their targets.
fn check_content(
    place: &mut Place<'_>,
    reader: &DataSetReaderDataType,
    configuration: &PubSubConfiguration2DataType,
) {
    let settings = &reader.message_settings;
    let is_json = settings.is::<JsonDataSetReaderMessageDataType>();
    let is_uadp = settings.is::<UadpDataSetReaderMessageDataType>();
    if !is_json && !is_uadp && !settings.is_null() {
        place.error(
            "message_settings",
            "are neither UADP nor JSON",
            "Write uadp = { … }",
        );
    }
    let layout = reader.header_layout_uri.as_str();
    if layout.contains("/JSON-") && is_uadp || layout.contains("/UADP-") && is_json {
        let what = "is not that of the message settings";
        place.error(
            "header_layout",
            what,
            "Use a layout of UADP with uadp, and of JSON with json",
        );
    }
    let subscribed = &reader.subscribed_data_set;
    let reference: Option<StandaloneSubscribedDataSetRefDataType> = subscribed.decode_as().ok();
    if let Some(reference) = reference {
        let name = &reference.data_set_name;
        let mut standalone = configuration.subscribed_data_sets.iter();
        if !standalone.any(|data_set| data_set.name == *name) {
            place.error(
                "subscribed_data_set",
                format!("there is no SubscribedDataSet '{name}'"),
                "Name one of the subscribed_data_sets",
            );
        }
        return;
    }
    let meta_data = &reader.data_set_meta_data;
    let is_raw = reader.data_set_field_content_mask & DataSetFieldContentMask::RawData != 0;
    // Fields of JSON have names, and can be read without metadata.
    if meta_data.fields.is_empty() && is_raw && !is_json {
        place.warning(
            "fields",
            "are missing, and RawData is unreadable until the Publisher announces them",
            "Take the fields, in their order, from the configuration of the Publisher",
        );
    }
    fields::check(place, TARGETS, meta_data);
    check_targets(place, TARGETS, meta_data, subscribed);
}

/// Checks the targets of fields; `table` is that of the fields.
pub(super) fn check_targets(
    place: &mut Place<'_>,
    table: &'static str,
    meta_data: &DataSetMetaDataType,
    subscribed: &ExtensionObject,
) {
    let Ok(targets) = subscribed.decode_as::<TargetVariablesDataType>() else {
        if subscribed.is::<SubscribedDataSetMirrorDataType>() {
            let what = "Takt makes no nodes for a SubscribedDataSetMirror";
            place.warning(
                "subscribed_data_set",
                what,
                "Write a target_node_id with each field",
            );
        } else if !subscribed.is_null() {
            place.error(
                "subscribed_data_set",
                "is of no known type",
                "Write target_node_ids",
            );
        }
        return;
    };
    for (position, target) in targets.target_variables.iter().enumerate() {
        let id = target.data_set_field_id;
        let mut fields_of = meta_data.fields.iter();
        let index = match id == Guid::default() {
            true => Some(position),
            false => fields_of.position(|field| field.data_set_field_id == id),
        };
        let Some((index, field)) = index.and_then(|at| Some((at, meta_data.fields.get(at)?)))
        else {
            // Without metadata, announced fields come later.
            if !meta_data.fields.is_empty() {
                let what = format!("target #{} belongs to no field", position + 1);
                place.error("data_set_field_id", what, "Write it with the field");
            }
            continue;
        };
        let mut place = place.entry(table, field.name.as_str(), index);
        if target.target_node_id == NodeId::NULL {
            place.error(
                "target_node_id",
                "is null",
                "Name a Variable, such as \"ns=1;s=Speed\"",
            );
        }
        fields::check_attribute(&mut place, target.attribute_id);
        range(
            &mut place,
            "receiver_index_range",
            target.receiver_index_range.as_str(),
        );
        range(
            &mut place,
            "write_index_range",
            target.write_index_range.as_str(),
        );
        let value = &target.override_value;
        let replaces = target.override_value_handling == OverrideValueHandling::OverrideValue;
        match (replaces, value.is_empty()) {
            (true, true) => place.error(
                "override_value",
                "is missing",
                "Write the value that is written instead, or override_value_handling = \"Disabled\"",
            ),
            (false, false) => place.warning(
                "override_value",
                "has no effect",
                "Write override_value_handling = \"OverrideValue\"",
            ),
            _ => fields::check_value(&mut place, "override_value", field, value),
        }
    }
}

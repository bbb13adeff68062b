//! WriterGroups and DataSetWriters (OPC 10000-14, 6.2.4 and 6.2.6).

use takt_link::Address;
use takt_ua::Variant;
use takt_ua::enumerations::{
    DataSetFieldContentMask, MessageSecurityMode, UadpNetworkMessageContentMask,
};
use takt_ua::structures::{
    BrokerDataSetWriterTransportDataType, BrokerWriterGroupTransportDataType,
    DataSetWriterDataType, DatagramWriterGroupTransport2DataType,
    DatagramWriterGroupTransportDataType, JsonWriterGroupMessageDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, PublishedDataItemsDataType,
    UadpDataSetWriterMessageDataType, UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_wire::{HeaderLayout, PublisherId};

use super::mistake::Place;
use super::tables::{WRITER_GROUPS, WRITERS};
use super::values::{offset, properties, time, unique};
use super::{addresses, link_times, queues, security};
use crate::action::offers_actions;
use crate::link_times::LAUNCH_TIMES;

/// Checks the PublisherId of a connection, and its WriterGroups.
pub(super) fn check(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    address: Option<&Address>,
    configuration: &PubSubConfiguration2DataType,
) {
    let groups = &connection.writer_groups;
    if !groups.is_empty() {
        check_publisher_id(place, &connection.publisher_id);
    }
    unique(
        place,
        WRITER_GROUPS,
        "name",
        groups.iter().map(|group| group.name.as_str()),
    );
    for (index, group) in groups.iter().enumerate() {
        let mut place = place.entry(WRITER_GROUPS, group.name.as_str(), index);
        check_group(&mut place, connection, group, address, configuration);
    }
}

fn check_publisher_id(place: &mut Place<'_>, id: &Variant) {
    let fix = "Write a number from 1 to 65535, or { UInt64 = 5 }, or a text";
    match PublisherId::from_variant(id) {
        None if id.is_empty() => place.error("publisher_id", "is missing", fix),
        None => place.error(
            "publisher_id",
            "is neither Byte, UInt16, UInt32, UInt64 nor String",
            fix,
        ),
        Some(PublisherId::String(id)) if id.as_str().is_empty() => {
            place.error(
                "publisher_id",
                "is an empty text, which is no identity",
                fix,
            );
        }
        Some(_) if id.as_i64() == Some(0) => {
            place.warning("publisher_id", "0 stands for no Publisher", fix);
        }
        Some(_) => {}
    }
}

fn check_group(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    address: Option<&Address>,
    configuration: &PubSubConfiguration2DataType,
) {
    if group.writer_group_id == 0 {
        place.error(
            "writer_group_id",
            "0 is no identity",
            "Write a number from 1 to 65535",
        );
    }
    let interval = group.publishing_interval;
    let is_time = time(place, "publishing_interval", interval);
    // Below a nanosecond, the interval would become 0.
    if is_time && interval < 1e-6 {
        place.error(
            "publishing_interval",
            format!("{interval} ms is no interval"),
            "Write a time above 0, such as \"10ms\"",
        );
    } else if is_time && interval < 0.05 {
        let what = format!("{interval} ms is shorter than the work of an interval takes");
        place.warning("publishing_interval", what, "Use at least \"50us\"");
    }
    let keep_alive = group.keep_alive_time;
    if time(place, "keep_alive_time", keep_alive) && keep_alive > 0.0 && keep_alive < interval {
        place.warning(
            "keep_alive_time",
            format!("{keep_alive} ms is shorter than the publishing_interval of {interval} ms"),
            "Use at least the publishing_interval (10000-14, 6.2.6.3)",
        );
    }
    let (mode, id) = (group.security_mode, &group.security_group_id);
    security::check(place, mode, id, configuration);
    properties(
        place,
        "group_properties",
        &group.group_properties,
        &[LAUNCH_TIMES],
    );
    let own = check_transport(place, connection, group, address);
    let address = own.as_ref().or(address);
    link_times::check_launch_times(place, group, address);
    let is_json = group
        .message_settings
        .is::<JsonWriterGroupMessageDataType>();
    if is_json {
        check_json(place, group, address);
    } else {
        check_uadp(place, connection, group);
    }
    let size = group.max_network_message_size;
    if size != 0 && size < 128 {
        place.error(
            "max_network_message_size",
            format!("{size} bytes are not enough for headers and a part of a message"),
            "Leave it out, or use at least 128",
        );
    }
    let writers = &group.data_set_writers;
    if writers.is_empty() {
        place.warning("data_set_writers", "there are none", "Add a DataSetWriter");
    }
    unique(
        place,
        WRITERS,
        "name",
        writers.iter().map(|writer| writer.name.as_str()),
    );
    check_numbers(place, group);
    let acts = offers_actions(group, &configuration.published_data_sets);
    for (index, writer) in writers.iter().enumerate() {
        let mut place = place.entry(WRITERS, writer.name.as_str(), index);
        if !acts {
            check_writer(&mut place, writer, configuration);
        }
        if !is_json {
            check_mask(&mut place, group, writer);
        }
    }
}

/// Checks the transport settings of a group; returns its own address.
fn check_transport(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    address: Option<&Address>,
) -> Option<Address> {
    let settings = &group.transport_settings;
    let datagram: Option<DatagramWriterGroupTransport2DataType> = settings.decode_as().ok();
    let first: Option<DatagramWriterGroupTransportDataType> = settings.decode_as().ok();
    let repeats = first.map_or(0, |it| it.message_repeat_count);
    let repeats = repeats.max(datagram.as_ref().map_or(0, |it| it.message_repeat_count));
    if repeats > 0 {
        place.warning(
            "MessageRepeatCount",
            "Takt sends each message once",
            "Remove it; a shorter publishing_interval repeats values, too",
        );
    }
    if let Some(datagram) = &datagram
        && (!datagram.qos_category.as_str().is_empty() || !datagram.datagram_qos.is_empty())
    {
        addresses::ignored_quality(place);
    }
    let own = datagram
        .map(|it| it.address)
        .filter(|address| !address.is_null())
        .and_then(|address| addresses::check(place, "Address", &address, true));
    match own.as_ref().or(address) {
        Some(address) if address.has_topics() => {
            queues::check_group(place, connection, group, addresses::is_secure(address));
        }
        Some(_) => {
            let is_broker = settings.is::<BrokerWriterGroupTransportDataType>()
                || group.data_set_writers.iter().any(|writer| {
                    writer
                        .transport_settings
                        .is::<BrokerDataSetWriterTransportDataType>()
                });
            if is_broker {
                place.error(
                    "broker",
                    "the address is not that of a broker",
                    "Remove it, or use an mqtt:// or mqtts:// address",
                );
            }
        }
        None => {}
    }
    own
}

fn check_json(place: &mut Place<'_>, group: &WriterGroupDataType, address: Option<&Address>) {
    if !matches!(
        group.security_mode,
        // Invalid is the value of a mode that is left out.
        MessageSecurityMode::None | MessageSecurityMode::Invalid
    ) {
        place.error(
            "security_mode",
            "JSON messages have no message security (10000-14, 7.2.5)",
            "Use UADP, or TLS with mqtts://",
        );
    }
    if matches!(
        address,
        Some(Address::Udp { .. } | Address::Ethernet { .. })
    ) {
        place.warning(
            "json",
            "the standard has JSON through a broker only, so other products do not receive it",
            "Use UADP, or an mqtt:// address",
        );
    }
    if group.header_layout_uri.as_str().contains("/UADP-") {
        place.error(
            "header_layout",
            "is of UADP, and the messages are JSON",
            "Use one of JSON",
        );
    }
}

fn check_uadp(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
) {
    let settings = &group.message_settings;
    let Ok(settings) = settings.decode_as::<UadpWriterGroupMessageDataType>() else {
        if !settings.is_null() {
            place.error(
                "message_settings",
                "are neither UADP nor JSON",
                "Write uadp = { … }",
            );
        }
        return;
    };
    let interval = group.publishing_interval;
    for value in &settings.publishing_offset {
        offset(place, "publishing_offset", *value, interval);
    }
    if settings.publishing_offset.len() > 1 {
        place.warning(
            "publishing_offset",
            "Takt sends all messages of a group at the first one",
            "Divide the group, and give each one its own offset",
        );
    }
    offset(place, "sampling_offset", settings.sampling_offset, interval);
    let mask = settings.network_message_content_mask;
    use UadpNetworkMessageContentMask as Mask;
    let in_group_header = Mask::WriterGroupId
        | Mask::GroupVersion
        | Mask::NetworkMessageNumber
        | Mask::SequenceNumber;
    if mask & in_group_header != 0 && mask & Mask::GroupHeader == 0 {
        place.error(
            "network_message_content_mask",
            "has parts of the GroupHeader, and not the GroupHeader itself",
            "Add \"GroupHeader\"",
        );
    }
    if mask & Mask::PublisherId == 0 {
        place.warning(
            "network_message_content_mask",
            "without PublisherId, readers cannot tell this Publisher from others",
            "Add \"PublisherId\"",
        );
    }
    let uri = group.header_layout_uri.as_str();
    let Some(layout) = HeaderLayout::from_uri(uri) else {
        if uri.contains("/JSON-") {
            place.error(
                "header_layout",
                "is of JSON, and the messages are UADP",
                "Use one of UADP",
            );
        } else if !uri.is_empty() {
            let what = format!("'{uri}' is unknown, and has no effect");
            place.warning(
                "header_layout",
                what,
                "Use UADP-Periodic-Fixed or UADP-Dynamic",
            );
        }
        return;
    };
    if mask != layout.network_message_content_mask() {
        place.error(
            "network_message_content_mask",
            "is not that of the header_layout",
            "Leave one of both out",
        );
    }
    let id = PublisherId::from_variant(&connection.publisher_id);
    let fits = match layout {
        HeaderLayout::UadpPeriodicFixed => {
            matches!(
                id,
                // `check_publisher_id` has reported a missing one already.
                None | Some(PublisherId::UInt16(_) | PublisherId::UInt64(_))
            )
        }
        HeaderLayout::UadpDynamic => !matches!(id, Some(PublisherId::String(_))),
    };
    if !fits {
        place.warning(
            "header_layout",
            "has a PublisherId that is a UInt16 or UInt64 (10000-14, A.2)",
            "Write publisher_id = { UInt64 = 5 }, or leave the header_layout out",
        );
    }
}

/// Checks the NetworkMessageNumbers of the writers, which count from 1 (OPC 10000-14, 6.3.1.3.4).
fn check_numbers(place: &mut Place<'_>, group: &WriterGroupDataType) {
    let writers = group.data_set_writers.iter().enumerate();
    let numbered = writers.filter_map(|(index, writer)| {
        let settings: UadpDataSetWriterMessageDataType =
            writer.message_settings.decode_as().ok()?;
        let number = settings.network_message_number;
        (number != 0).then_some((number, index, writer.name.as_str()))
    });
    if let Some((number @ 2.., index, name)) = numbered.min() {
        place.entry(WRITERS, name, index).warning(
            "network_message_number",
            format!(
                "{number} is the lowest of the group, and the first message of an interval has 1"
            ),
            "Count the messages from 1",
        );
    }
}

fn check_writer(
    place: &mut Place<'_>,
    writer: &DataSetWriterDataType,
    configuration: &PubSubConfiguration2DataType,
) {
    if writer.data_set_writer_id == 0 {
        place.error(
            "data_set_writer_id",
            "0 is no identity",
            "Write a number from 1 to 65535",
        );
    }
    properties(
        place,
        "data_set_writer_properties",
        &writer.data_set_writer_properties,
        &[],
    );
    let name = writer.data_set_name.as_str();
    let mut data_sets = configuration.published_data_sets.iter();
    let Some(data_set) = data_sets.find(|data_set| data_set.name.as_str() == name) else {
        match name {
            "" => place.warning(
                "data_set_name",
                "is missing, so the writer sends no fields",
                "Name one of the published_data_sets",
            ),
            name => place.error(
                "data_set_name",
                format!("there is no PublishedDataSet '{name}'"),
                "Name one of the published_data_sets",
            ),
        }
        return;
    };
    if writer.key_frame_count == 0 && data_set.data_set_source.is::<PublishedDataItemsDataType>() {
        place.warning(
            "key_frame_count",
            "0 is for events: the values of the Variables would not be sent",
            "Write 1 for key frames only, or leave it out",
        );
    }
}

/// Checks the fields of UADP messages of a writer.
fn check_mask(place: &mut Place<'_>, group: &WriterGroupDataType, writer: &DataSetWriterDataType) {
    let mask = writer.data_set_field_content_mask;
    let is_raw = mask & DataSetFieldContentMask::RawData != 0;
    // These bits are those of StatusCode, timestamps and picoseconds.
    if is_raw && mask & 0x1F != 0 {
        let what = "RawData has neither StatusCodes nor times";
        place.warning("field_encoding", what, "Use \"RawData\" or \"DataValue\"");
    }
    if is_raw && writer.key_frame_count > 1 {
        place.error(
            "key_frame_count",
            "more than 1 with RawData fields, which delta frames cannot have (7.2.4.5.11)",
            "Write 1, or field_encoding = \"Variant\"",
        );
    }
    let Some(layout) = HeaderLayout::from_uri(group.header_layout_uri.as_str()) else {
        return;
    };
    let settings: Option<UadpDataSetWriterMessageDataType> =
        writer.message_settings.decode_as().ok();
    if let Some(settings) = settings
        && settings.data_set_message_content_mask != layout.data_set_message_content_mask()
    {
        place.error(
            "data_set_message_content_mask",
            "is not that of the header_layout",
            "Leave one of both out",
        );
    }
    if layout == HeaderLayout::UadpPeriodicFixed && !is_raw {
        place.error(
            "field_encoding",
            "UADP-Periodic-Fixed has RawData only",
            "Leave it out, or use the header_layout UADP-Dynamic",
        );
    }
}

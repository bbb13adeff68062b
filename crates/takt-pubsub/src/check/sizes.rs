//! Lengths of the messages of a WriterGroup, found by making them with the longest values that the metadata allows.

use std::net::Ipv6Addr;

use takt_link::Address;
use takt_ua::enumerations::{MessageSecurityMode, PubSubState, UadpNetworkMessageContentMask};
use takt_ua::structures::{
    DataSetWriterDataType, PubSubConnectionDataType, PublishedDataSetDataType,
    UadpDataSetWriterMessageDataType, UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_ua::{DataValue, ExtensionObject};

use super::mistake::Place;
use super::tables::WRITERS;
use crate::publisher::{FieldSource, PublishedField, WriterGroup, longest_length, longest_value};
use crate::time::Now;

/// Greatest length of all values of a group for which messages are made, in bytes. More do not fit any message.
const LONGEST_VALUES: usize = 16 << 20;
/// Payload of an Ethernet frame, in bytes.
const ETHERNET: usize = 1500;
/// Length of a SecurityHeader with its MessageNonce, and of the signature, in bytes.
pub(crate) const SECURITY: usize = 14 + crate::security::SIGNATURE_LENGTH;

/// Checks that the messages of a group fit its link, and its writers' ConfiguredSizes.
pub(super) fn check(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
    address: &Address,
) {
    if longest_values(group, data_sets) > LONGEST_VALUES {
        place.error(
            "max_network_message_size",
            "the values of an interval have more than 16 MiB",
            "Divide the DataSet, or lower max_string_length and the array dimensions",
        );
        return;
    }
    let Some(lengths) = message_lengths(connection, group, data_sets) else {
        return;
    };
    let longest = lengths.into_iter().max().unwrap_or(0);
    let limit = limit(address);
    let configured = group.max_network_message_size as usize;
    if configured > limit {
        place.warning(
            "max_network_message_size",
            format!("{configured} bytes are more than the {limit} of {address}"),
            "Leave it out",
        );
    }
    let allowed = match configured {
        0 => limit,
        configured => limit.min(configured),
    };
    if longest > allowed {
        let what = format!("a message has {longest} bytes, and {allowed} are allowed");
        let settings: Option<UadpWriterGroupMessageDataType> =
            group.message_settings.decode_as().ok();
        let has_header = settings.is_some_and(|settings| {
            settings.network_message_content_mask & UadpNetworkMessageContentMask::PayloadHeader
                != 0
        });
        // A chunk names its DataSetWriter in the PayloadHeader.
        match has_header {
            true => place.warning(
                "max_network_message_size",
                format!("{what}, so it is sent in chunks"),
                "Divide the DataSet, if it has to arrive as a whole in time",
            ),
            false => place.error(
                "max_network_message_size",
                format!("{what}, and messages of this layout cannot be divided"),
                "Divide the DataSet, or use the header_layout UADP-Dynamic",
            ),
        }
    }
    check_configured_sizes(place, connection, &plain(group), data_sets);
}

/// Returns the lengths of the NetworkMessages of one publishing interval, protected and not divided.
pub(super) fn message_lengths(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Option<Vec<usize>> {
    let security = match group.security_mode {
        MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt => SECURITY,
        _ => 0,
    };
    if longest_values(group, data_sets) > LONGEST_VALUES {
        return None;
    }
    let lengths = lengths(connection, &plain(group), data_sets)?;
    Some(lengths.into_iter().map(|it| it + security).collect())
}

/// Returns a group without security, because there are no keys for the check, and without a maximum size, which would divide the
/// messages.
fn plain(group: &WriterGroupDataType) -> WriterGroupDataType {
    WriterGroupDataType {
        security_mode: MessageSecurityMode::None,
        security_group_id: takt_ua::UaString::null(),
        max_network_message_size: 0,
        ..group.clone()
    }
}

/// Returns the length of the longest message of a link, in bytes.
fn limit(address: &Address) -> usize {
    match address {
        Address::Udp { host, .. } if host.parse::<Ipv6Addr>().is_ok() => 65_487,
        Address::Udp { .. } => 65_507,
        Address::Ethernet { .. } => ETHERNET,
        Address::Mqtt { .. } => 1 << 20,
        _ => 64 << 10,
    }
}

/// Returns the greatest length of all values of a group in bytes, about.
fn longest_values(group: &WriterGroupDataType, data_sets: &[PublishedDataSetDataType]) -> usize {
    let of_writer = |writer: &DataSetWriterDataType| {
        let data_set = data_sets.iter().find(|it| it.name == writer.data_set_name);
        let fields = data_set.map(|it| &it.data_set_meta_data.fields);
        let lengths = fields.into_iter().flatten().map(longest_length);
        lengths.fold(0_usize, usize::saturating_add)
    };
    let writers = group.data_set_writers.iter().map(of_writer);
    writers.fold(0, usize::saturating_add)
}

/// Returns the lengths of the first messages of a group.
fn lengths(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Option<Vec<usize>> {
    let mut source = |field: PublishedField<'_>| {
        let value = longest_value(field.meta_data)?;
        Some(FieldSource::Constant(DataValue::good(value)))
    };
    let mut engine = WriterGroup::new(connection, group, data_sets, &mut source).ok()?;
    engine.set_enabled(true);
    let mut messages: Vec<Vec<u8>> = Vec::new();
    // A value that cannot be encoded is reported elsewhere, or known at run time only.
    let _ = engine.publish(Now::read(), PubSubState::Operational, &mut messages);
    Some(messages.iter().map(Vec::len).collect())
}

/// Reports DataSetMessages that are longer than their ConfiguredSize: they would be sent without content (6.3.1.3.3).
fn check_configured_sizes(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) {
    for (index, writer) in group.data_set_writers.iter().enumerate() {
        let settings: Option<UadpDataSetWriterMessageDataType> =
            writer.message_settings.decode_as().ok();
        let Some(settings) = settings.filter(|settings| settings.configured_size != 0) else {
            continue;
        };
        let with = |configured_size: u16| {
            let settings = UadpDataSetWriterMessageDataType {
                configured_size,
                ..settings.clone()
            };
            let writer = DataSetWriterDataType {
                message_settings: ExtensionObject::from_structure(&settings),
                ..writer.clone()
            };
            let alone = WriterGroupDataType {
                data_set_writers: vec![writer],
                ..group.clone()
            };
            lengths(connection, &alone, data_sets)?.into_iter().max()
        };
        // A message that does not fit its size has no content, so it is shorter than the one without a size.
        if let (Some(whole), Some(configured)) = (with(0), with(settings.configured_size))
            && whole > configured
        {
            let missing = whole - configured;
            let size = settings.configured_size;
            let mut place = place.entry(WRITERS, writer.name.as_str(), index);
            place.error(
                "configured_size",
                format!(
                    "{size} bytes are {missing} too few, so that the message would have no content"
                ),
                format!("Use at least {}", usize::from(size) + missing),
            );
        }
    }
}

//! Payloads of the frames of a WriterGroup.

use takt_link::Address;
use takt_scenario::Size;
use takt_ua::structures::{
    DataSetWriterDataType, JsonWriterGroupMessageDataType, PubSubConnectionDataType,
    PublishedActionDataType, PublishedDataSetDataType, PublishedEventsDataType,
    WriterGroupDataType,
};

use crate::identity::ip_headers;
use crate::length::{MessageLength, check_fields, lengths};
use crate::security::GroupSecurity;

/// Payload of an Ethernet frame in bytes (IEEE 802.3, 3.2.7).
const MTU: usize = 1500;

/// Payload of a frame, and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrameLength {
    /// Bytes behind the EtherType.
    pub(crate) payload: u32,
    /// Parts of the payload, or the place that states it.
    pub(crate) parts: String,
}

/// Reason why a WriterGroup has no frames of a greatest length and rate, with an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Refused {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Refuses a group that cannot be in a scenario.
    pub(crate) fn left_out(message: impl Into<String>) -> Self {
        let help = "An entry of [[writer_groups]] with left_out = true makes the scenario without it; if its traffic is on the same \
                    links, describe it as cross_traffic";
        Self::new(message, help)
    }
}

/// Returns the longest frames of an interval. `stated` is the payload that the network file states, and its place.
pub(crate) fn frames(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
    address: &Address,
    stated: Option<(Size, String)>,
) -> Result<Vec<FrameLength>, Refused> {
    for writer in group.data_set_writers.iter().filter(|it| it.enabled) {
        check_kind(writer, data_sets)?;
    }
    if let Some((size, place)) = stated {
        return stated_frames(connection, group, data_sets, address, size, &place);
    }
    if group
        .message_settings
        .is::<JsonWriterGroupMessageDataType>()
    {
        return Err(Refused::new(
            "has messages in JSON, whose numbers have any number of digits",
            "Write the payload of its longest frame in [[writer_groups]]",
        ));
    }
    for writer in group.data_set_writers.iter().filter(|it| it.enabled) {
        let data_set = data_sets.iter().find(|it| it.name == writer.data_set_name);
        let Some(Err(unlimited)) = data_set.map(check_fields) else {
            continue;
        };
        let data_set = writer.data_set_name.as_str();
        let what = match unlimited.field.as_str() {
            "" => format!("DataSet '{data_set}': {}", unlimited.reason),
            field => format!(
                "field '{field}' of DataSet '{data_set}' {}",
                unlimited.reason
            ),
        };
        return Err(Refused::new(
            format!("its messages have no greatest length: {what}"),
            "Limit the field, or write the payload of the longest frame in [[writer_groups]]",
        ));
    }
    let headers = ip_headers(address);
    let lengths = lengths(connection, group, data_sets)
        .map_err(|error| Refused::new(error, "Check the configuration"))?;
    if lengths.is_empty() {
        return Err(Refused::left_out("has no enabled DataSetWriter"));
    }
    let limit = limit(group, headers);
    // Messages of an interval are those of one writer each, or one of all.
    let writers = match lengths.len() {
        1 => group
            .data_set_writers
            .iter()
            .filter(|it| it.enabled)
            .count(),
        _ => 1,
    };
    let frames = lengths.into_iter().map(|length| {
        let message = length.whole();
        if message > limit {
            return Err(too_long(message as u64, limit));
        }
        Ok(FrameLength {
            payload: u32::try_from(message + headers).unwrap_or(u32::MAX),
            parts: parts(length, headers, writers),
        })
    });
    frames.collect()
}

/// Returns the greatest length of a message that is sent in one frame.
fn limit(group: &WriterGroupDataType, headers: usize) -> usize {
    let configured = match group.max_network_message_size {
        0 => usize::MAX,
        size => size as usize,
    };
    (MTU - headers).min(configured)
}

/// Returns the frames of an interval whose payload the network file states: each NetworkMessage has one of this length.
fn stated_frames(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
    address: &Address,
    size: Size,
    place: &str,
) -> Result<Vec<FrameLength>, Refused> {
    let payload = u32::try_from(size.0).unwrap_or(u32::MAX);
    let headers = ip_headers(address);
    let (message, limit) = (size.0.saturating_sub(headers as u64), limit(group, headers));
    if message > limit as u64 {
        return Err(too_long(message, limit));
    }
    let security = GroupSecurity::of(group.security_mode).bytes();
    if payload <= security {
        return Err(Refused::new(
            format!("has a payload of {payload} B, and security alone has {security} B"),
            format!("Write the payload with all headers at {place}"),
        ));
    }
    let writers = || group.data_set_writers.iter().filter(|it| it.enabled);
    let mut of_writers =
        writers().filter_map(|writer| data_sets.iter().find(|it| it.name == writer.data_set_name));
    let is_limited = of_writers.all(|data_set| check_fields(data_set).is_ok());
    let messages = match is_limited {
        true => lengths(connection, group, data_sets),
        // Texts and arrays are empty: values without a limit have no longest one.
        false => lengths(connection, group, &without_lengths(data_sets)),
    };
    // Each writer has a message of its own at the most.
    let Ok(messages) = messages else {
        let frame = FrameLength {
            payload,
            parts: place.to_owned(),
        };
        return Ok(vec![frame; writers().count().max(1)]);
    };
    if messages.is_empty() {
        return Err(Refused::left_out("has no enabled DataSetWriter"));
    }
    let longest = messages.iter().map(|it| it.whole()).max().unwrap_or(0) + headers;
    if longest > payload as usize {
        return Err(Refused::new(
            format!("has a payload of {payload} B, and its messages have {longest} B and more"),
            format!("Write at least {longest} B, with all headers, at {place}"),
        ));
    }
    let frames = messages.iter().map(|_| FrameLength {
        payload,
        parts: place.to_owned(),
    });
    Ok(frames.collect())
}

/// Returns DataSets whose texts and arrays are empty.
fn without_lengths(data_sets: &[PublishedDataSetDataType]) -> Vec<PublishedDataSetDataType> {
    let mut data_sets = data_sets.to_vec();
    for data_set in &mut data_sets {
        for field in &mut data_set.data_set_meta_data.fields {
            field.max_string_length = 0;
            field.array_dimensions.clear();
        }
    }
    data_sets
}

/// Refuses writers whose messages have no greatest rate.
fn check_kind(
    writer: &DataSetWriterDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Result<(), Refused> {
    let data_set = data_sets.iter().find(|it| it.name == writer.data_set_name);
    let source = data_set.map(|it| &it.data_set_source);
    if source.is_some_and(|it| it.is::<PublishedActionDataType>()) {
        return Err(Refused::left_out(
            "sends Actions, which come on request and have no greatest rate",
        ));
    }
    if writer.key_frame_count == 0 || source.is_some_and(|it| it.is::<PublishedEventsDataType>()) {
        return Err(Refused::left_out(format!(
            "DataSetWriter '{}' sends Events, which have no greatest rate",
            writer.name
        )));
    }
    Ok(())
}

fn too_long(length: u64, limit: usize) -> Refused {
    Refused::new(
        format!(
            "a message has {length} B at most, and a frame has room for {limit} B: it is sent in several frames, which a scenario \
             cannot have for one message"
        ),
        "Divide the DataSet into several WriterGroups",
    )
}

fn parts(length: MessageLength, headers: usize, writers: usize) -> String {
    let mut parts = Vec::new();
    if writers > 1 {
        parts.push(format!("{writers} DataSetWriters"));
    }
    parts.push(format!("key frame {} B", length.key_frame));
    if length.longest > length.key_frame {
        parts.push(format!("longest message {} B", length.longest));
    }
    if length.security > 0 {
        parts.push(format!("security {} B", length.security));
    }
    if headers > 0 {
        parts.push(format!("IP and UDP {headers} B"));
    }
    parts.join(", ")
}

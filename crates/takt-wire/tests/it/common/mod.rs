//! Strategies for every shape of message.

use proptest::collection::{hash_set, vec};
use proptest::option;
use proptest::prelude::*;
use takt_ua::StatusCode;
use takt_ua::enumerations::ActionState;
use takt_wire::{
    Action, ActionFields, ActionHeader, Chunk, DataSetContent, DataSetMessage, DeltaField,
    DeltaFields, Fields, GroupHeader, NetworkMessage, NetworkMessageType, Payload, PublisherId,
    SecurityHeader,
};

mod discovery;

#[path = "../../../../takt-ua/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "not every type is needed here")]
pub(crate) mod values;

use discovery::{announcement, probe};
use values::{byte_string, data_value, date_time, guid, ua_string, variant};

pub(crate) fn publisher_id() -> BoxedStrategy<PublisherId> {
    prop_oneof![
        any::<u8>().prop_map(PublisherId::Byte),
        any::<u16>().prop_map(PublisherId::UInt16),
        any::<u32>().prop_map(PublisherId::UInt32),
        any::<u64>().prop_map(PublisherId::UInt64),
        ua_string().prop_map(PublisherId::String),
    ]
    .boxed()
}

fn group_header() -> BoxedStrategy<GroupHeader> {
    (
        option::of(any::<u16>()),
        option::of(any::<u32>()),
        option::of(any::<u16>()),
        option::of(any::<u16>()),
    )
        .prop_map(|(id, version, number, sequence)| GroupHeader {
            writer_group_id: id,
            group_version: version,
            network_message_number: number,
            sequence_number: sequence,
        })
        .boxed()
}

/// Returns a SecurityHeader that the standard allows, and a signature that goes with it.
fn security() -> BoxedStrategy<(Option<SecurityHeader>, Vec<u8>)> {
    let header = (
        any::<(bool, bool, bool, u32)>(),
        vec(any::<u8>(), 0..16),
        option::of(vec(any::<u8>(), 0..8)),
        vec(any::<u8>(), 1..33),
    )
        .prop_map(
            |((signed, encrypted, reset, token), nonce, footer, signature)| {
                let header = SecurityHeader {
                    signed,
                    encrypted: signed && encrypted,
                    force_key_reset: reset,
                    security_token_id: if signed { token } else { 0 },
                    message_nonce: nonce,
                    security_footer: footer,
                };
                (Some(header), if signed { signature } else { Vec::new() })
            },
        );
    prop_oneof![Just((None, Vec::new())), header].boxed()
}

fn delta<T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Vec<DeltaField<T>>> {
    (hash_set(any::<u16>(), 0..5), vec(value, 5))
        .prop_map(|(indexes, values)| {
            let fields = indexes.into_iter().zip(values);
            fields
                .map(|(index, value)| DeltaField {
                    field_index: index,
                    field_value: value,
                })
                .collect()
        })
        .boxed()
}

fn data_content() -> BoxedStrategy<DataSetContent> {
    prop_oneof![
        Just(DataSetContent::Invalid),
        Just(DataSetContent::KeepAlive),
        vec(variant(), 0..4).prop_map(|f| DataSetContent::KeyFrame(Fields::Variant(f))),
        vec(data_value(), 0..4).prop_map(|f| DataSetContent::KeyFrame(Fields::DataValue(f))),
        vec(any::<u8>(), 0..20).prop_map(|f| DataSetContent::KeyFrame(Fields::RawData(f))),
        delta(variant()).prop_map(|f| DataSetContent::DeltaFrame(DeltaFields::Variant(f))),
        delta(data_value()).prop_map(|f| DataSetContent::DeltaFrame(DeltaFields::DataValue(f))),
        vec(variant(), 0..4).prop_map(DataSetContent::Event),
    ]
    .boxed()
}

fn action() -> BoxedStrategy<Action> {
    let fields = prop_oneof![
        vec(variant(), 0..4).prop_map(ActionFields::Variant),
        (any::<u16>(), vec(any::<u8>(), 0..20))
            .prop_map(|(field_count, bytes)| { ActionFields::RawData { field_count, bytes } }),
    ];
    (any::<(u16, u16, u8)>(), fields)
        .prop_map(|((target, request, state), fields)| Action {
            action_target_id: target,
            request_id: request,
            action_state: ActionState(i32::from(state)),
            fields,
        })
        .boxed()
}

/// Size of a DataSetMessage in bytes.
pub(crate) fn size_of(message: &DataSetMessage) -> usize {
    let request = match message.content {
        DataSetContent::ActionRequest(_) => Some(true),
        DataSetContent::ActionResponse(_) => Some(false),
        _ => None,
    };
    let without_id = DataSetMessage {
        data_set_writer_id: None,
        ..message.clone()
    };
    let alone = NetworkMessage {
        action_header: request.map(|request| ActionHeader {
            request,
            ..ActionHeader::default()
        }),
        ..NetworkMessage::data(None, vec![without_id])
    };
    // UADPFlags, or with them ExtendedFlags1, ExtendedFlags2 and ActionFlags.
    let header = if request.is_some() { 4 } else { 1 };
    alone
        .encode_to_vec()
        .map_or(0, |bytes| bytes.len() - header)
}

fn data_set_message(
    content: impl Strategy<Value = DataSetContent> + 'static,
) -> BoxedStrategy<DataSetMessage> {
    let times = prop_oneof![
        Just((None, None)),
        date_time().prop_map(|time| (Some(time), None)),
        (date_time(), any::<u16>()).prop_map(|(time, pico)| (Some(time), Some(pico))),
    ];
    let versions = (option::of(any::<u32>()), option::of(any::<u32>()));
    let numbers = (option::of(any::<u16>()), option::of(any::<u16>()));
    (content, times, versions, numbers, 0..60_u16)
        .prop_map(
            |(content, (timestamp, pico_seconds), (major, minor), (number, status), padding)| {
                let mut message = DataSetMessage {
                    sequence_number: number,
                    timestamp,
                    pico_seconds,
                    status: status.map(|upper| StatusCode(u32::from(upper) << 16)),
                    major_version: major,
                    minor_version: minor,
                    ..DataSetMessage::new(content)
                };
                if message.content == DataSetContent::Invalid {
                    message = DataSetMessage::default();
                }
                // The padding of RawData cannot be recognized.
                let raw = matches!(
                    &message.content,
                    DataSetContent::KeyFrame(Fields::RawData(_))
                        | DataSetContent::ActionRequest(Action {
                            fields: ActionFields::RawData { .. },
                            ..
                        })
                        | DataSetContent::ActionResponse(Action {
                            fields: ActionFields::RawData { .. },
                            ..
                        })
                );
                if !raw && padding > 0 {
                    message.configured_size =
                        u16::try_from(size_of(&message)).unwrap_or(0) + padding;
                }
                message
            },
        )
        .boxed()
}

/// DataSetMessages with the header that they need.
fn data() -> BoxedStrategy<(Option<ActionHeader>, Vec<DataSetMessage>)> {
    let plain = vec(data_set_message(data_content()), 1..4).prop_map(|messages| (None, messages));
    let header = (
        option::of(ua_string()),
        option::of(byte_string()),
        option::of(publisher_id()),
        option::of(values::double()),
    );
    let actions = (any::<bool>(), header).prop_flat_map(|(request, (address, data, id, hint))| {
        let content = action().prop_map(move |action| match request {
            true => DataSetContent::ActionRequest(action),
            false => DataSetContent::ActionResponse(action),
        });
        let header = ActionHeader {
            request,
            response_address: address,
            correlation_data: data,
            requestor_id: id.map(Into::into),
            timeout_hint: hint,
        };
        vec(data_set_message(content), 1..4)
            .prop_map(move |messages| (Some(header.clone()), messages))
    });
    prop_oneof![3 => plain, 1 => actions].boxed()
}

fn chunk(message_type: NetworkMessageType) -> BoxedStrategy<Chunk> {
    let id = match message_type {
        NetworkMessageType::DataSetMessage => option::of(any::<u16>()).boxed(),
        _ => Just(None).boxed(),
    };
    (
        id,
        any::<u16>(),
        0..100_000_u32,
        vec(any::<u8>(), 1..50),
        0..1000_u32,
    )
        .prop_map(move |(id, number, offset, data, behind)| Chunk {
            network_message_type: message_type,
            data_set_writer_id: id,
            message_sequence_number: number,
            chunk_offset: offset,
            total_size: offset + data.len() as u32 + behind,
            chunk_data: data,
        })
        .boxed()
}

fn data_message() -> BoxedStrategy<NetworkMessage> {
    let headers = (
        option::of(publisher_id()),
        option::of(guid()),
        option::of(group_header()),
        prop_oneof![
            Just((None, None)),
            date_time().prop_map(|time| (Some(time), None)),
            (date_time(), any::<u16>()).prop_map(|(time, pico)| (Some(time), Some(pico))),
        ],
        option::of(vec(variant(), 0..3)),
        security(),
    );
    let payload = prop_oneof![
        3 => data().prop_map(|(header, messages)| (header, Payload::DataSetMessages(messages))),
        1 => chunk(NetworkMessageType::DataSetMessage).prop_map(|chunk| (None, Payload::Chunk(chunk))),
    ];
    (headers, payload, option::of(vec(any::<u16>(), 4)))
        .prop_map(
            |((publisher_id, class, group_header, times, promoted, security), payload, ids)| {
                let (action_header, mut payload) = payload;
                let mut several = false;
                if let Payload::DataSetMessages(messages) = &mut payload {
                    several = messages.len() > 1;
                    for (index, message) in messages.iter_mut().enumerate() {
                        message.data_set_writer_id = ids.as_ref().map(|ids| ids[index]);
                    }
                }
                NetworkMessage {
                    publisher_id,
                    data_set_class_id: class,
                    group_header,
                    timestamp: times.0,
                    pico_seconds: times.1,
                    promoted_fields: promoted.filter(|_| !several),
                    security_header: security.0,
                    action_header,
                    payload,
                    signature: security.1,
                }
            },
        )
        .boxed()
}

fn discovery_message() -> BoxedStrategy<NetworkMessage> {
    let payload = prop_oneof![
        probe().prop_map(Payload::DiscoveryProbe),
        announcement().prop_map(|content| Payload::DiscoveryAnnouncement(Box::new(content))),
        chunk(NetworkMessageType::DiscoveryAnnouncement).prop_map(Payload::Chunk),
    ];
    (publisher_id(), security(), payload)
        .prop_map(|(id, security, payload)| NetworkMessage {
            security_header: security.0,
            signature: security.1,
            ..NetworkMessage::discovery(id, payload)
        })
        .boxed()
}

/// Any message that the standard allows.
pub(crate) fn network_message() -> BoxedStrategy<NetworkMessage> {
    prop_oneof![3 => data_message(), 1 => discovery_message()].boxed()
}

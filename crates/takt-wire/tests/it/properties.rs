//! Every encoded message is decoded again, and arbitrary bytes do no harm.

use std::time::Instant;

use crate::common::values::variant;
use crate::common::{network_message, size_of};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_ua::{BuiltInType, ByteString, DataValue, DateTime, StatusCode, Variant};
use takt_wire::{
    ChunkReassembler, ChunkWriter, DataSetContent, DataSetMessage, Fields, FixedMessage,
    GroupHeader, MessageTree, NetworkMessage, NetworkMessageRef, NetworkMessageType, Payload,
    PayloadParameters, PayloadRef, PublisherId, RawDataLayout, ReassemblyLimits, TreeParameters,
};

/// Returns the sizes that the receiver of a message without a PayloadHeader knows.
fn sizes(message: &NetworkMessage) -> Vec<u16> {
    let Payload::DataSetMessages(messages) = &message.payload else {
        return Vec::new();
    };
    let size = |message: &DataSetMessage| u16::try_from(size_of(message)).unwrap();
    messages.iter().map(size).collect()
}

fn decode(bytes: &[u8], message: &NetworkMessage) -> Result<NetworkMessage, takt_wire::WireError> {
    let sizes = sizes(message);
    let parameters = PayloadParameters {
        signature_length: message.signature.len(),
        data_set_message_sizes: &sizes,
    };
    NetworkMessage::decode(bytes, &parameters)
}

/// Every byte belongs to exactly one leaf.
fn assert_covered(tree: &MessageTree, length: usize) {
    let mut position = 0;
    for leaf in tree.leaves() {
        assert_eq!(leaf.offset, position, "{leaf:?}");
        position += leaf.length;
    }
    assert_eq!(position, length);
}

/// Reads all parts of a message; nothing may panic.
fn read_all(bytes: &[u8], parameters: &PayloadParameters<'_>) {
    for decrypted in [false, true] {
        let payload = *parameters;
        let tree = MessageTree::read(
            bytes,
            &TreeParameters {
                payload,
                decrypted,
                ..TreeParameters::default()
            },
        );
        assert_covered(&tree, bytes.len());
        let refused = NetworkMessageRef::new_checked(bytes).is_err();
        assert!(!refused || !tree.errors.is_empty(), "{bytes:02X?}");
        let accepted = decrypted && NetworkMessage::decode(bytes, parameters).is_ok();
        // The tree shows errors of values that the decoder mends or leaves out.
        let is_tolerant = NetworkMessageRef::new_checked(bytes).is_ok_and(|message| {
            let announces =
                message.network_message_type == NetworkMessageType::DiscoveryAnnouncement;
            announces || message.promoted_fields.is_some()
        });
        assert!(
            !accepted || is_tolerant || tree.errors.is_empty(),
            "{bytes:02X?}: {:?}",
            tree.errors
        );
    }
    let Ok(message) = NetworkMessageRef::new_checked(bytes) else {
        return;
    };
    let _ = message.security_layout(parameters.signature_length);
    let _ = message.data_set_writer_ids().count();
    if let Some(fields) = message.promoted_fields {
        assert_eq!(fields.iter().count(), fields.len());
    }
    if let Ok(PayloadRef::DataSetMessages(messages)) = message.payload(parameters) {
        for message in messages.iter().flatten() {
            let _ = message.to_owned();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn decode_of_encode_is_the_same(message in network_message()) {
        let bytes = message.encode_to_vec().unwrap();
        let decoded = decode(&bytes, &message);
        prop_assert_eq!(decoded.as_ref(), Ok(&message));
    }

    #[test]
    fn trees_have_all_bytes_and_no_errors(message in network_message()) {
        let bytes = message.encode_to_vec().unwrap();
        let sizes = sizes(&message);
        let payload = PayloadParameters {
            signature_length: message.signature.len(),
            data_set_message_sizes: &sizes,
        };
        let tree = MessageTree::read(&bytes, &TreeParameters { payload, decrypted: true, ..TreeParameters::default() });
        prop_assert_eq!(&tree.errors, &[]);
        assert_covered(&tree, bytes.len());
        let undecoded = tree.leaves().into_iter().find(|leaf| leaf.name == "Undecoded");
        prop_assert_eq!(undecoded, None);
    }

    #[test]
    fn layouts_of_both_sides_agree(message in network_message()) {
        let mut bytes = Vec::new();
        let mut encoder = takt_ua::binary::Encoder::growing(&mut bytes, usize::MAX);
        let written = message.encode(&mut encoder).unwrap();
        let view = NetworkMessageRef::new_checked(&bytes).unwrap();
        let read = view.security_layout(message.signature.len()).unwrap();
        prop_assert_eq!(written, read);
    }

    #[test]
    fn damaged_messages_do_no_harm(
        message in network_message(),
        changes in vec((any::<Index>(), any::<u8>()), 0..4),
        length in any::<Index>(),
        signature_length in 0..40_usize,
    ) {
        let mut bytes = message.encode_to_vec().unwrap();
        for (at, value) in changes {
            *at.get_mut(&mut bytes[..]) = value;
        }
        let sizes = sizes(&message);
        let parameters = PayloadParameters { signature_length, data_set_message_sizes: &sizes };
        read_all(&bytes, &parameters);
        read_all(&bytes[..length.index(bytes.len() + 1)], &parameters);
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(mut bytes in vec(any::<u8>(), 0..200)) {
        read_all(&bytes, &PayloadParameters::default());
        if let Some(first) = bytes.first_mut() {
            *first = *first & 0xF0 | 1;
        }
        read_all(&bytes, &PayloadParameters::default());
    }

    #[test]
    fn chunks_give_the_payload(
        values in vec(variant(), 1..20),
        size in 60..300_usize,
        shuffle in vec(any::<Index>(), 0..20),
    ) {
        let message = NetworkMessage::data(
            Some(PublisherId::UInt16(1)),
            vec![DataSetMessage {
                data_set_writer_id: Some(2),
                ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
            }],
        );
        let chunks = ChunkWriter::new(&message, size, 7).unwrap();
        let mut sent: Vec<Vec<u8>> = chunks
            .map(|chunk| {
                let message = NetworkMessage { payload: Payload::Chunk(chunk), ..message.clone() };
                message.encode_to_vec().unwrap()
            })
            .collect();
        for (first, second) in shuffle.chunks_exact(2).map(|pair| (pair[0], pair[1])) {
            let (first, second) = (first.index(sent.len()), second.index(sent.len()));
            sent.swap(first, second);
        }
        let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
        let now = Instant::now();
        let mut received = Vec::new();
        for bytes in &sent {
            prop_assert!(bytes.len() <= size);
            let view = NetworkMessageRef::new_checked(bytes).unwrap();
            let PayloadRef::Chunk(chunk) = view.payload(&PayloadParameters::default()).unwrap() else {
                panic!("not a chunk")
            };
            if let Some(complete) = reassembler.push(&view, &chunk, now).unwrap() {
                let payload = view.reassembled_payload(&complete.bytes).unwrap();
                let PayloadRef::DataSetMessages(messages) = payload else { panic!("no data") };
                received.push(messages.get(0).unwrap().unwrap().to_owned());
            }
        }
        let Payload::DataSetMessages(messages) = message.payload else { panic!("no data") };
        prop_assert_eq!(received, messages);
    }
}

/// Returns values of the types with a fixed size, and texts that keep their lengths.
fn fixed_scalar() -> impl Strategy<Value = Variant> {
    use crate::common::values::{date_time, double, float, guid, status_code};
    prop_oneof![
        any::<bool>().prop_map(Variant::from),
        any::<i8>().prop_map(Variant::from),
        any::<u16>().prop_map(Variant::from),
        any::<i32>().prop_map(Variant::from),
        any::<u64>().prop_map(Variant::from),
        float().prop_map(Variant::from),
        double().prop_map(Variant::from),
        date_time().prop_map(Variant::from),
        guid().prop_map(Variant::from),
        status_code().prop_map(Variant::from),
        vec(any::<u32>(), 3).prop_map(Variant::from),
        "[a-z]{5}".prop_map(Variant::from),
        vec(1_u8.., 4).prop_map(|bytes| ByteString::from(bytes).into()),
    ]
}

/// Two values of one type.
fn pair() -> impl Strategy<Value = (Variant, Variant)> {
    (fixed_scalar(), fixed_scalar()).prop_filter("one type", |(first, second)| {
        first.built_in_type() == second.built_in_type()
    })
}

fn raw_layout(values: &[Variant]) -> RawDataLayout {
    let field = |value: &Variant| {
        let array = value.is_array();
        FieldMetaData {
            built_in_type: value.built_in_type().unwrap_or(BuiltInType::Byte) as u8,
            value_rank: if array { 1 } else { -1 },
            array_dimensions: if array { vec![4] } else { Vec::new() },
            max_string_length: 8,
            ..FieldMetaData::default()
        }
    };
    RawDataLayout::new(&DataSetMetaDataType {
        fields: values.iter().map(field).collect(),
        ..DataSetMetaDataType::default()
    })
    .unwrap()
}

/// Returns a message with all fields that the fast path can set.
fn fixed(fields: Fields, number: u16, time: DateTime, status: StatusCode) -> NetworkMessage {
    NetworkMessage {
        group_header: Some(GroupHeader {
            sequence_number: Some(number),
            ..GroupHeader::default()
        }),
        timestamp: Some(time),
        ..NetworkMessage::data(
            Some(PublisherId::UInt64(1)),
            vec![DataSetMessage {
                sequence_number: Some(number),
                timestamp: Some(time),
                status: Some(status),
                ..DataSetMessage::new(DataSetContent::KeyFrame(fields))
            }],
        )
    }
}

proptest! {
    #[test]
    fn the_fast_path_and_the_general_encoder_give_the_same_bytes(
        pairs in vec(pair(), 1..8),
        encoding in 0..3,
        number in any::<u16>(),
        time in any::<i64>().prop_map(DateTime),
        status in any::<u16>().prop_map(|upper| StatusCode(u32::from(upper) << 16)),
    ) {
        let (old, new): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let layout = raw_layout(&old);
        let fields = |values: &[Variant]| match encoding {
            0 => Fields::Variant(values.to_vec()),
            1 => Fields::DataValue(values.iter().cloned().map(DataValue::good).collect()),
            _ => Fields::RawData(layout.encode_to_vec(values).unwrap()),
        };
        let template = fixed(fields(&old), 0, DateTime::MIN, StatusCode::Good);
        let mut message = FixedMessage::new(&template, &[Some(&layout)]).unwrap();
        for (index, value) in new.iter().enumerate() {
            prop_assert!(message.store_variant(0, index, value));
        }
        message.set_sequence_number(number);
        message.set_timestamp(time);
        message.set_data_set_sequence_number(0, number);
        message.set_data_set_timestamp(0, time);
        message.set_status(0, status);
        let general = fixed(fields(&new), number, time, status).encode_to_vec().unwrap();
        prop_assert_eq!(message.bytes(), &general[..]);
        let reader = message.reader();
        let read = reader.read(&general).unwrap();
        for (index, value) in new.iter().enumerate() {
            let found = read.variant(0, index);
            prop_assert_eq!(found.as_ref(), Some(value));
        }
        prop_assert_eq!(read.status(0), Some(status));
    }

    #[test]
    fn raw_data_of_any_bytes_does_no_harm(bytes in vec(any::<u8>(), 0..100), values in vec(fixed_scalar(), 1..6)) {
        let layout = raw_layout(&values);
        if let Ok(decoded) = layout.decode(&bytes) {
            let encoded = layout.encode_to_vec(&decoded).unwrap();
            prop_assert_eq!(layout.decode(&encoded).unwrap().len(), values.len());
        }
    }
}

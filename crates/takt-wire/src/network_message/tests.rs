//! NetworkMessages as bytes.

use takt_ua::{DateTime, Guid, StatusCode, Variant};

use super::{rules, *};
use crate::data_set_message::{
    Action, ActionFields, DataSetContent, DataSetMessage, DeltaField, DeltaFields, Fields,
};
use crate::error::{WireEncodeError, WireErrorKind};
use crate::security::SecurityHeader;
use takt_ua::enumerations::ActionState;

fn key_frame(id: Option<u16>, values: &[u16]) -> DataSetMessage {
    let values = values.iter().map(|value| Variant::UInt16(*value)).collect();
    DataSetMessage {
        data_set_writer_id: id,
        ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
    }
}

fn round_trip(message: &NetworkMessage) -> Vec<u8> {
    let bytes = message.encode_to_vec().unwrap();
    let parameters = PayloadParameters {
        signature_length: message.signature.len(),
        ..PayloadParameters::default()
    };
    let decoded = NetworkMessage::decode(&bytes, &parameters).unwrap();
    assert_eq!(&decoded, message);
    bytes
}

#[test]
fn the_shortest_message() {
    let message = NetworkMessage::data(None, vec![key_frame(None, &[0x0102])]);
    // UADPFlags; DataSetFlags1; FieldCount; Variant.
    assert_eq!(round_trip(&message), [0x01, 0x01, 1, 0, 5, 2, 1]);
}

#[test]
fn every_header_field_in_its_place() {
    let message = NetworkMessage {
        data_set_class_id: Some(Guid {
            data1: 1,
            data2: 2,
            data3: 3,
            data4: [4; 8],
        }),
        group_header: Some(GroupHeader {
            writer_group_id: Some(0x10),
            group_version: Some(0x20),
            network_message_number: Some(1),
            sequence_number: Some(0x30),
        }),
        timestamp: Some(DateTime(0x0807_0605_0403_0201)),
        pico_seconds: Some(9),
        promoted_fields: Some(vec![Variant::Byte(7), Variant::Boolean(true)]),
        security_header: Some(SecurityHeader {
            signed: true,
            encrypted: true,
            force_key_reset: true,
            security_token_id: 5,
            message_nonce: vec![1, 2, 3],
            security_footer: Some(vec![0xF0, 0xF1]),
        }),
        signature: vec![0xAA; 4],
        ..NetworkMessage::data(
            Some(PublisherId::String("p".into())),
            vec![key_frame(Some(0x0201), &[])],
        )
    };
    let expected: &[u8] = &[
        0xF1, 0xFC, 0x02, // UADPFlags, ExtendedFlags1, ExtendedFlags2
        1, 0, 0, 0, b'p', // PublisherId
        1, 0, 0, 0, 2, 0, 3, 0, 4, 4, 4, 4, 4, 4, 4, 4, // DataSetClassId
        0x0F, 0x10, 0, 0x20, 0, 0, 0, 1, 0, 0x30, 0, // GroupHeader
        1, 1, 2, // PayloadHeader
        1, 2, 3, 4, 5, 6, 7, 8, // Timestamp
        9, 0, // PicoSeconds
        4, 0, 3, 7, 1, 1, // PromotedFields
        0x0F, 5, 0, 0, 0, 3, 1, 2, 3, 2, 0, // SecurityHeader
        0x01, 0, 0, // DataSetMessage
        0xF0, 0xF1, // SecurityFooter
        0xAA, 0xAA, 0xAA, 0xAA, // Signature
    ];
    assert_eq!(round_trip(&message), expected);
    let view = NetworkMessageRef::new_checked(expected).unwrap();
    let layout = view.security_layout(4).unwrap();
    assert_eq!(expected[layout.message_nonce], [1, 2, 3]);
    assert_eq!(expected[layout.encrypted], [1, 0, 0]);
    assert_eq!(expected[layout.security_footer], [0xF0, 0xF1]);
    assert_eq!(layout.signed, 0..expected.len() - 4);
    assert_eq!(expected[layout.signature.clone()], [0xAA; 4]);
    let mut bytes = Vec::new();
    let encoded = message.encode(&mut takt_ua::binary::Encoder::growing(&mut bytes, 1000));
    assert_eq!(encoded, view.security_layout(4).map_err(|_| unreachable!()));
    let error = view.security_layout(100).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::NoRoomForSignature);
}

#[test]
fn several_data_set_messages_have_sizes() {
    let message = NetworkMessage::data(
        Some(PublisherId::Byte(3)),
        vec![key_frame(Some(1), &[7]), key_frame(Some(2), &[])],
    );
    let bytes = round_trip(&message);
    let expected = [
        0x51, 3, 2, 1, 0, 2, 0, 6, 0, 3, 0, 1, 1, 0, 5, 7, 0, 1, 0, 0,
    ];
    assert_eq!(bytes, expected);
    let view = NetworkMessageRef::new_checked(&bytes).unwrap();
    assert_eq!(view.data_set_writer_ids().collect::<Vec<_>>(), [1, 2]);

    // A size that is too large, and one that does not cover all bytes.
    for (size, found) in [(7, 10), (2, 5)] {
        let mut wrong = bytes.clone();
        wrong[7] = size;
        let view = NetworkMessageRef::new_checked(&wrong).unwrap();
        let error = view.payload(&PayloadParameters::default()).unwrap_err();
        let expected = WireErrorKind::LengthMismatch {
            field: "Sizes",
            expected: 9,
            found,
        };
        assert_eq!((error.offset, error.kind), (7, expected));
    }
}

#[test]
fn a_bad_data_set_message_leaves_the_others() {
    let message = NetworkMessage::data(
        None,
        vec![key_frame(Some(1), &[7]), key_frame(Some(2), &[8])],
    );
    let mut bytes = message.encode_to_vec().unwrap();
    // The first DataSetFlags1, behind UADPFlags, Count, two ids and two sizes: the reserved field encoding.
    bytes[10] = 0x07;
    let view = NetworkMessageRef::new_checked(&bytes).unwrap();
    let payload = view.payload(&PayloadParameters::default()).unwrap();
    let PayloadRef::DataSetMessages(messages) = payload else {
        panic!("{payload:?}")
    };
    let read: Vec<_> = messages.iter().collect();
    let error = read[0].unwrap_err();
    assert_eq!(error.offset, 10);
    assert_eq!(
        error.to_string(),
        "DataSetFlags1 has the reserved value 0x07 (at byte 10)"
    );
    assert_eq!(read[1].unwrap().to_owned(), key_frame(Some(2), &[8]));
    assert_eq!(messages.get(1).unwrap(), read[1]);
    assert!(messages.get(2).is_none());
}

#[test]
fn without_payload_header_the_receiver_knows_the_sizes() {
    let mut first = key_frame(None, &[7]);
    first.configured_size = 8;
    let message = NetworkMessage::data(None, vec![first.clone(), key_frame(None, &[8])]);
    let bytes = message.encode_to_vec().unwrap();
    assert_eq!(bytes, [1, 1, 1, 0, 5, 7, 0, 0, 0, 1, 1, 0, 5, 8, 0]);
    let parameters = PayloadParameters {
        data_set_message_sizes: &[8, 6],
        ..PayloadParameters::default()
    };
    assert_eq!(NetworkMessage::decode(&bytes, &parameters), Ok(message));
}

#[test]
fn larger_than_configured_is_sent_as_invalid() {
    let mut message = key_frame(None, &[1, 2, 3]);
    message.configured_size = 6;
    let bytes = NetworkMessage::data(None, vec![message])
        .encode_to_vec()
        .unwrap();
    assert_eq!(bytes, [1, 0, 0, 0, 0, 0, 0]);
    let decoded = NetworkMessage::decode(&bytes, &PayloadParameters::default()).unwrap();
    let Payload::DataSetMessages(messages) = decoded.payload else {
        panic!()
    };
    assert_eq!(messages[0].content, DataSetContent::Invalid);
    assert_eq!(messages[0].configured_size, 6);
}

#[test]
fn an_action_request() {
    let action = Action {
        action_target_id: 2,
        request_id: 3,
        action_state: ActionState::Executing,
        fields: ActionFields::Variant(vec![Variant::Byte(9)]),
    };
    let mut message = NetworkMessage {
        action_header: Some(crate::ActionHeader {
            request: true,
            ..Default::default()
        }),
        ..NetworkMessage::data(
            Some(PublisherId::Byte(1)),
            vec![DataSetMessage {
                data_set_writer_id: Some(4),
                ..DataSetMessage::new(DataSetContent::ActionRequest(action.clone()))
            }],
        )
    };
    let expected = [
        0xD1, 0x80, 0x20, 1, 1, 4, 0, 1, 0x81, 4, 2, 0, 3, 0, 1, 1, 0, 3, 9,
    ];
    assert_eq!(round_trip(&message), expected);

    // A response in a message of requests, and an Action without a header: both ways.
    let mut response = expected;
    response[9] = 5;
    let no_header = [0x51, 1, 1, 4, 0, 0x81, 4, 2, 0, 3, 0, 1, 1, 0, 3, 9];
    for (bytes, rule) in [
        (&response[..], rules::ACTION_KIND),
        (&no_header, rules::ACTION_HEADER),
    ] {
        let error = NetworkMessage::decode(bytes, &PayloadParameters::default()).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::Forbidden(rule));
    }
    message.action_header = None;
    let error = message.encode_to_vec().unwrap_err();
    assert_eq!(error, WireEncodeError::Forbidden(rules::ACTION_HEADER));
}

#[test]
fn forbidden_messages_are_not_encoded() {
    let data = || NetworkMessage::data(Some(PublisherId::Byte(1)), vec![key_frame(Some(1), &[])]);
    let two = vec![key_frame(Some(1), &[]), key_frame(Some(2), &[])];
    let mixed = vec![key_frame(Some(1), &[]), key_frame(None, &[])];
    let probe = Payload::DiscoveryProbe(crate::DiscoveryProbe::PublisherEndpoints);
    let cases = [
        (
            NetworkMessage {
                pico_seconds: Some(1),
                ..data()
            },
            rules::PICO_SECONDS,
        ),
        (
            NetworkMessage {
                promoted_fields: Some(vec![]),
                ..NetworkMessage::data(None, two)
            },
            rules::PROMOTED_FIELDS,
        ),
        (NetworkMessage::data(None, mixed), rules::SOME_WRITER_IDS),
        (
            NetworkMessage::data(None, vec![]),
            rules::NO_DATA_SET_MESSAGE,
        ),
        (
            NetworkMessage {
                signature: vec![1],
                ..data()
            },
            rules::SIGNATURE,
        ),
        (
            NetworkMessage::new(probe.clone()),
            rules::DISCOVERY_PUBLISHER_ID,
        ),
        (
            NetworkMessage {
                timestamp: Some(DateTime(1)),
                ..NetworkMessage::discovery(PublisherId::Byte(1), probe)
            },
            rules::DISCOVERY_HEADER,
        ),
    ];
    for (message, rule) in cases {
        assert_eq!(
            message.encode_to_vec(),
            Err(WireEncodeError::Forbidden(rule))
        );
    }
    let many = vec![key_frame(Some(1), &[]); 256];
    let error = NetworkMessage::data(None, many)
        .encode_to_vec()
        .unwrap_err();
    assert!(matches!(
        error,
        WireEncodeError::TooMany {
            count: 256,
            maximum: 255,
            ..
        }
    ));
}

#[test]
fn forbidden_messages_are_not_decoded() {
    let forbidden = WireErrorKind::Forbidden;
    let reserved = |field, value| WireErrorKind::Reserved { field, value };
    let cases: [(&[u8], usize, WireErrorKind); 11] = [
        (&[0x02], 0, WireErrorKind::UnsupportedVersion(2)),
        (&[0x91, 0x05, 0], 1, reserved("ExtendedFlags1", 5)),
        (&[0x81, 0x01], 1, forbidden(rules::PUBLISHER_ID_TYPE)),
        (&[0x81, 0x40], 1, forbidden(rules::PICO_SECONDS)),
        (&[0x81, 0x80, 0x40], 2, reserved("ExtendedFlags2", 0x40)),
        (&[0x81, 0x80, 0x0C], 2, reserved("ExtendedFlags2", 0x0C)),
        (
            &[0x81, 0x80, 0x04],
            0,
            forbidden(rules::DISCOVERY_PUBLISHER_ID),
        ),
        (&[0xB1, 0x80, 0x04], 0, forbidden(rules::DISCOVERY_HEADER)),
        (&[0x91, 0x80, 0x05], 0, forbidden(rules::PROBE_CHUNK)),
        (&[0x41, 0], 1, forbidden(rules::NO_DATA_SET_MESSAGE)),
        (
            &[0xC1, 0x80, 0x02, 2, 0, 0, 0, 0],
            3,
            forbidden(rules::PROMOTED_FIELDS),
        ),
    ];
    for (bytes, offset, kind) in cases {
        let error = NetworkMessageRef::new_checked(bytes).unwrap_err();
        assert_eq!((error.offset, error.kind), (offset, kind), "{bytes:02X?}");
    }
}

#[test]
fn a_delta_frame_with_status() {
    let message = NetworkMessage::data(
        None,
        vec![DataSetMessage {
            sequence_number: Some(1),
            timestamp: Some(DateTime(2)),
            pico_seconds: Some(3),
            status: Some(StatusCode::BadTimeout),
            major_version: Some(4),
            minor_version: Some(5),
            ..DataSetMessage::new(DataSetContent::DeltaFrame(DeltaFields::Variant(vec![
                DeltaField::new(6, Variant::Byte(7)),
            ])))
        }],
    );
    let expected = [
        0x01, 0xF9, 0x31, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x0A, 0x80, 4, 0, 0, 0, 5, 0, 0, 0,
        1, 0, 6, 0, 3, 7,
    ];
    assert_eq!(round_trip(&message), expected);
}

#[test]
fn every_truncation_of_a_message_is_refused_or_read() {
    let mut message = NetworkMessage::data(
        Some(PublisherId::UInt64(1)),
        vec![key_frame(Some(1), &[7]), key_frame(Some(2), &[8, 9])],
    );
    message.timestamp = Some(DateTime(77));
    let bytes = message.encode_to_vec().unwrap();
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        assert!(NetworkMessage::decode(cut, &PayloadParameters::default()).is_err());
    }
}

#[test]
fn a_data_set_message_at_its_offset() {
    let message = NetworkMessage::data(None, vec![key_frame(None, &[7]), key_frame(None, &[8])]);
    let bytes = message.encode_to_vec().unwrap();
    let view = NetworkMessageRef::new_checked(&bytes).unwrap();
    for (offset, value) in [(1, 7), (7, 8)] {
        let read = view.data_set_message_at(offset, 0).unwrap();
        assert_eq!(read.to_owned(), key_frame(None, &[value]));
    }
    assert!(view.data_set_message_at(0, 0).is_err());
    assert!(view.data_set_message_at(13, 0).is_err());
}

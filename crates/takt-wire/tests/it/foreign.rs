//! Messages of other software: asyncua 2.1.

use takt_ua::{DataValue, DateTime, Guid, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, DeltaField, DeltaFields, Fields, GroupHeader, NetworkMessage,
    PayloadParameters, PublisherId,
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Checks that the bytes decode to the message and the message encodes to the bytes.
#[track_caller]
fn check(hex: &str, message: &NetworkMessage) {
    let bytes = bytes(hex);
    let decoded = NetworkMessage::decode(&bytes, &PayloadParameters::default());
    assert_eq!(decoded.as_ref(), Ok(message));
    assert_eq!(message.encode_to_vec().unwrap(), bytes);
}

fn data_set_message(id: Option<u16>, number: u16, content: DataSetContent) -> DataSetMessage {
    DataSetMessage {
        data_set_writer_id: id,
        sequence_number: Some(number),
        ..DataSetMessage::new(content)
    }
}

#[test]
fn a_key_frame_and_a_delta_frame() {
    let time: DateTime = "2024-05-06T07:08:09Z".parse().unwrap();
    let key_frame = Fields::Variant(vec![
        1.5_f64.into(),
        "text".into(),
        vec![1_i32, 2, 3].into(),
    ]);
    let changed = DataValue::good(true).with_status(StatusCode::Good);
    let delta_frame = DeltaFields::DataValue(vec![DeltaField::new(3, changed)]);
    let message = NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(1),
            group_version: Some(7),
            network_message_number: Some(1),
            sequence_number: Some(42),
        }),
        timestamp: Some(time),
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(1234)),
            vec![
                DataSetMessage {
                    timestamp: Some(time),
                    status: Some(StatusCode::Good),
                    major_version: Some(1),
                    minor_version: Some(2),
                    ..data_set_message(Some(10), 5, DataSetContent::KeyFrame(key_frame))
                },
                data_set_message(Some(11), 6, DataSetContent::DeltaFrame(delta_frame)),
            ],
        )
    };
    check(
        "f121d2040f01000700000001002a00020a000b0080926c26849fda013b000f00f910050080926c26849fda0100\
         00010000000200000003000b000000000000f83f0c0400000074657874860300000001000000020000000300\
         00008d0106000100030003010100000000",
        &message,
    );
}

#[test]
fn raw_data_and_keep_alive() {
    let raw = DataSetContent::KeyFrame(Fields::RawData(vec![1, 2, 3, 4]));
    check(
        "51070103000b090001020304",
        &NetworkMessage::data(
            Some(PublisherId::Byte(7)),
            vec![data_set_message(Some(3), 9, raw)],
        ),
    );
    check(
        "d1020700000001030089030900",
        &NetworkMessage::data(
            Some(PublisherId::UInt32(7)),
            vec![data_set_message(Some(3), 9, DataSetContent::KeepAlive)],
        ),
    );
}

#[test]
fn a_string_as_publisher_id_and_a_class() {
    let class: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap();
    let fields = Fields::Variant(vec![Variant::UInt32(5)]);
    let message = NetworkMessage {
        data_set_class_id: Some(class),
        ..NetworkMessage::data(
            Some(PublisherId::String("Machine".into())),
            vec![DataSetMessage::new(DataSetContent::KeyFrame(fields))],
        )
    };
    check(
        "910c070000004d616368696e65912b967275fae64a8d28b404dc7daf630101000705000000",
        &message,
    );
}

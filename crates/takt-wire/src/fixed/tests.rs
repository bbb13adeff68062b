//! Comparison of fixed messages with the general codec.

use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_ua::{BuiltInType, ByteString, DataValue, DateTime, StatusCode, UaString, Variant};

use super::*;
use crate::data_set_message::{DataSetContent, DataSetMessage, Fields};
use crate::group_header::GroupHeader;
use crate::network_message::Payload;
use crate::publisher_id::PublisherId;
use crate::security::SecurityHeader;

fn message(
    fields: Fields,
    sequence_number: u16,
    time: DateTime,
    status: StatusCode,
) -> NetworkMessage {
    NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(7),
            sequence_number: Some(sequence_number),
            ..GroupHeader::default()
        }),
        timestamp: Some(time),
        pico_seconds: Some(sequence_number),
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(1)),
            vec![DataSetMessage {
                data_set_writer_id: Some(3),
                sequence_number: Some(sequence_number),
                timestamp: Some(time),
                pico_seconds: Some(sequence_number),
                status: Some(status),
                minor_version: Some(9),
                ..DataSetMessage::new(DataSetContent::KeyFrame(fields))
            }],
        )
    }
}

fn template(fields: Fields) -> NetworkMessage {
    message(fields, 0, DateTime::MIN, StatusCode::Good)
}

fn set_headers(fixed: &mut FixedMessage) {
    assert!(fixed.set_sequence_number(5));
    assert!(fixed.set_timestamp(DateTime(77)));
    assert!(fixed.set_pico_seconds(5));
    assert!(fixed.set_data_set_sequence_number(0, 5));
    assert!(fixed.set_data_set_timestamp(0, DateTime(77)));
    assert!(fixed.set_data_set_pico_seconds(0, 5));
    assert!(fixed.set_status(0, StatusCode::BadTimeout));
}

fn general(fields: Fields) -> Vec<u8> {
    let message = message(fields, 5, DateTime(77), StatusCode::BadTimeout);
    message.encode_to_vec().unwrap()
}

#[test]
fn variants_are_stored_as_the_general_encoder_writes_them() {
    let fields = |a: u32, b: f64, c: Vec<i16>| Fields::Variant(vec![a.into(), b.into(), c.into()]);
    let mut fixed = FixedMessage::new(&template(fields(0, 0.0, vec![0, 0])), &[]).unwrap();
    let reader = fixed.reader();
    set_headers(&mut fixed);
    let (a, b) = (
        fixed.slot::<u32>(0, 0).unwrap(),
        fixed.slot::<f64>(0, 1).unwrap(),
    );
    fixed.store(a, 0x0102_0304);
    fixed.store(b, 1.5);
    assert!(fixed.store_variant(0, 2, &vec![-1_i16, 2].into()));
    let expected = general(fields(0x0102_0304, 1.5, vec![-1, 2]));
    assert_eq!(fixed.bytes(), expected);

    let read = reader.read(&expected).unwrap();
    assert_eq!((read.get(a), read.get(b)), (0x0102_0304, 1.5));
    assert_eq!(read.variant(0, 0), Some(Variant::UInt32(0x0102_0304)));
    assert_eq!(read.variant(0, 2), Some(vec![-1_i16, 2].into()));
    let array = read.array(0, 2).unwrap();
    assert_eq!(array.i16s().unwrap().collect::<Vec<_>>(), [-1, 2]);
    assert_eq!(read.sequence_number(), Some(5));
    assert_eq!(read.timestamp(), Some(DateTime(77)));
    assert_eq!(read.pico_seconds(), Some(5));
    assert_eq!(read.data_set_sequence_number(0), Some(5));
    assert_eq!(read.data_set_timestamp(0), Some(DateTime(77)));
    assert_eq!(read.data_set_pico_seconds(0), Some(5));
    assert_eq!(read.status(0), Some(StatusCode::BadTimeout));

    // Other types, other lengths, other fields.
    assert!(fixed.slot::<i32>(0, 0).is_none());
    assert!(fixed.slot::<i16>(0, 2).is_none());
    assert!(fixed.slot::<u32>(1, 0).is_none());
    assert!(!fixed.store_variant(0, 0, &Variant::Int32(1)));
    assert!(!fixed.store_variant(0, 2, &vec![1_i16].into()));
    assert!(!fixed.store_encoded(0, 2, &[0; 3]));
    assert!(!fixed.set_status(1, StatusCode::Good));
    assert_eq!(fixed.bytes(), expected);
}

#[test]
fn data_values_with_their_members() {
    let fields = |value: u8, status: StatusCode, time: i64| {
        Fields::DataValue(vec![DataValue {
            source_picoseconds: Some(3),
            ..DataValue::good(value)
                .with_status(status)
                .with_source_timestamp(DateTime(time))
                .with_server_timestamp(DateTime(time + 1))
        }])
    };
    let template = template(fields(0, StatusCode::Good, 0));
    let mut fixed = FixedMessage::new(&template, &[]).unwrap();
    set_headers(&mut fixed);
    let slot = fixed.slot::<u8>(0, 0).unwrap();
    fixed.store(slot, 9);
    assert!(fixed.set_field_status(0, 0, StatusCode::BadOutOfRange));
    assert!(fixed.set_field_source_timestamp(0, 0, DateTime(70)));
    assert!(fixed.set_field_server_timestamp(0, 0, DateTime(71)));
    let expected = general(fields(9, StatusCode::BadOutOfRange, 70));
    assert_eq!(fixed.bytes(), expected);
    let reader = fixed.reader();
    let read = reader.read(&expected).unwrap();
    assert_eq!(read.get(slot), 9);
    assert_eq!(read.field_status(0, 0), Some(StatusCode::BadOutOfRange));
    assert_eq!(read.field_source_timestamp(0, 0), Some(DateTime(70)));
    assert_eq!(read.field_server_timestamp(0, 0), Some(DateTime(71)));
}

#[test]
fn raw_data_of_any_type() {
    let field = |built_in_type: BuiltInType| FieldMetaData {
        built_in_type: built_in_type as u8,
        value_rank: -1,
        ..FieldMetaData::default()
    };
    let mut text = field(BuiltInType::String);
    text.max_string_length = 5;
    let mut array = field(BuiltInType::UInt16);
    (array.value_rank, array.array_dimensions) = (1, vec![3]);
    let layout = RawDataLayout::new(&DataSetMetaDataType {
        fields: vec![field(BuiltInType::Guid), text, array],
        ..DataSetMetaDataType::default()
    })
    .unwrap();
    let guid = takt_ua::Guid {
        data1: 1,
        data2: 2,
        data3: 3,
        data4: [4; 8],
    };
    let raw = |values: &[Variant]| Fields::RawData(layout.encode_to_vec(values).unwrap());
    let start = [
        takt_ua::Guid::NULL.into(),
        "".into(),
        Vec::<u16>::new().into(),
    ];
    let values: [Variant; 3] = [guid.into(), "abc".into(), vec![1_u16, 2].into()];
    let mut fixed = FixedMessage::new(&template(raw(&start)), &[Some(&layout)]).unwrap();
    set_headers(&mut fixed);
    let slot = fixed.slot::<takt_ua::Guid>(0, 0).unwrap();
    fixed.store(slot, guid);
    assert!(fixed.store_variant(0, 1, &values[1]));
    assert!(fixed.store_variant(0, 2, &values[2]));
    let expected = general(raw(&values));
    assert_eq!(fixed.bytes(), expected);
    let reader = fixed.reader();
    let read = reader.read(&expected).unwrap();
    for (index, value) in values.iter().enumerate() {
        assert_eq!(read.variant(0, index).as_ref(), Some(value));
    }
    assert_eq!(read.encoded(0, 1), Some(&b"\x03\0\0\0abc\0\0"[..]));
    assert!(!fixed.store_variant(0, 1, &"abcdef".into()));
    assert!(FixedMessage::new(&template(raw(&start)), &[]).is_err());
}

#[test]
fn a_message_with_other_constant_bytes_is_not_read() {
    let template = template(Fields::Variant(vec![Variant::UInt16(0)]));
    let fixed = FixedMessage::new(&template, &[]).unwrap();
    let reader = FixedMessageReader::new(&template, &[]).unwrap();
    let bytes = fixed.bytes();
    let varying: usize = 2 + 8 + 2 + 2 + 8 + 2 + 2 + 2;
    let mut read = 0;
    for index in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[index] ^= 0x40;
        read += usize::from(reader.read(&changed).is_some());
    }
    assert_eq!(read, varying);
    assert!(reader.read(&bytes[1..]).is_none());
    assert!(reader.read(&[bytes, &[0, 0]].concat()).is_some());
    assert!(reader.read(&[bytes, &[0, 1]].concat()).is_none());
}

#[test]
fn security_has_its_places() {
    let message = NetworkMessage {
        security_header: Some(SecurityHeader {
            signed: true,
            encrypted: true,
            security_token_id: 1,
            message_nonce: vec![0; 8],
            ..SecurityHeader::default()
        }),
        signature: vec![0; 32],
        ..template(Fields::Variant(vec![Variant::UInt16(0)]))
    };
    let mut fixed = FixedMessage::new(&message, &[]).unwrap();
    assert!(fixed.set_security_token_id(2));
    assert!(fixed.set_message_nonce(&[1, 2, 3, 4, 5, 6, 7, 8]));
    assert!(!fixed.set_message_nonce(&[1]));
    let layout = fixed.security_layout().clone();
    assert_eq!(layout.signature.len(), 32);
    assert_eq!(
        fixed.bytes()[layout.message_nonce],
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    let mut sent = fixed.bytes().to_vec();
    sent[layout.signature].fill(0xAA);
    assert!(fixed.reader().read(&sent).is_some());
    assert!(fixed.reader().read(&[&sent[..], &[0]].concat()).is_none());
}

/// The bytes between the parts that are compared may differ; all others may not.
#[test]
fn texts_keep_their_lengths_and_long_ones_are_not_compared() {
    let long = 5000;
    let fields = |text: &str, byte: u8, number: u32| {
        let bytes = ByteString::from(vec![byte; long]);
        Fields::Variant(vec![text.into(), bytes.into(), number.into()])
    };
    let fixed = FixedMessage::new(&template(fields("abc", 0, 0)), &[]).unwrap();
    let reader = fixed.reader();
    let other = general(fields("xyz", 7, 9));
    let read = reader.read(&other).unwrap();
    assert_eq!(read.variant(0, 0), Some("xyz".into()));
    assert_eq!(read.encoded(0, 1).unwrap(), vec![7; long]);
    assert_eq!(read.variant(0, 2), Some(9_u32.into()));
    for wrong in [fields("ab", 0, 0), fields("abcd", 0, 0)] {
        assert!(reader.read(&general(wrong)).is_none());
    }
    let varying = (0..other.len()).filter(|at| {
        let mut changed = other.clone();
        changed[*at] ^= 1;
        reader.read(&changed).is_some()
    });
    // Numbers, times and status of the headers, and the values.
    let headers = 2 + 8 + 2 + 2 + 8 + 2 + 2;
    assert_eq!(varying.count(), headers + 3 + long + 4);
}

#[test]
fn messages_without_a_fixed_layout_are_refused() {
    for null in [
        Variant::String(UaString::null()),
        Variant::ByteString(ByteString::null()),
    ] {
        let null = template(Fields::Variant(vec![null]));
        assert!(FixedMessage::new(&null, &[]).is_err());
    }
    let matrix = takt_ua::Array {
        dimensions: vec![2, 2],
        ..takt_ua::Array::new(takt_ua::Elements::UInt16(vec![1, 2, 3, 4]))
    };
    let matrix = template(Fields::Variant(vec![matrix.into()]));
    assert!(FixedMessage::new(&matrix, &[]).is_err());
    let empty = template(Fields::Variant(vec![Variant::Empty]));
    assert!(FixedMessage::new(&empty, &[]).is_err());
    let none = template(Fields::DataValue(vec![DataValue::default()]));
    assert!(FixedMessage::new(&none, &[]).is_err());
    let mut event = template(Fields::Variant(vec![]));
    let Payload::DataSetMessages(messages) = &mut event.payload else {
        panic!()
    };
    messages[0].content = DataSetContent::KeepAlive;
    assert!(FixedMessage::new(&event, &[]).is_err());
    let mut small = template(Fields::Variant(vec![Variant::UInt16(0)]));
    let Payload::DataSetMessages(messages) = &mut small.payload else {
        panic!()
    };
    messages[0].configured_size = 2;
    assert!(FixedMessage::new(&small, &[]).is_err());
}

#[test]
fn several_padded_data_set_messages_without_ids() {
    let field = |value: u16| DataSetMessage {
        sequence_number: Some(value),
        configured_size: 12,
        ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
            value.into(),
        ])))
    };
    let message = |first, second| NetworkMessage::data(None, vec![field(first), field(second)]);
    let mut fixed = FixedMessage::new(&message(0, 0), &[]).unwrap();
    let slots: Vec<_> = (0..2)
        .map(|index| fixed.slot::<u16>(index, 0).unwrap())
        .collect();
    for (index, value) in [7, 8].into_iter().enumerate() {
        fixed.store(slots[index], value);
        assert!(fixed.set_data_set_sequence_number(index, value));
    }
    assert_eq!(fixed.bytes(), message(7, 8).encode_to_vec().unwrap());
    assert!(fixed.store_encoded(1, 0, &[9, 0]));
    let reader = fixed.reader();
    let read = reader.read(fixed.bytes()).unwrap();
    assert_eq!((read.get(slots[0]), read.get(slots[1])), (7, 9));
    assert_eq!(read.data_set_sequence_number(1), Some(8));
    assert_eq!(slots[1].offset(), 1 + 12 + 6);
}

#[test]
fn consecutive_fields_are_stored_and_read_at_once() {
    let values = [1_u32, 0x0102_0304, u32::MAX];
    let variants = |values: &[u32]| Fields::Variant(values.iter().map(|it| (*it).into()).collect());
    let field = FieldMetaData {
        built_in_type: BuiltInType::UInt32 as u8,
        value_rank: -1,
        ..FieldMetaData::default()
    };
    let meta_data = DataSetMetaDataType {
        fields: vec![field; 3],
        ..DataSetMetaDataType::default()
    };
    let layout = RawDataLayout::new(&meta_data).unwrap();
    let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    for (zeros, expected, layout) in [
        (variants(&[0; 3]), variants(&values), None),
        (
            Fields::RawData(vec![0; 12]),
            Fields::RawData(raw),
            Some(&layout),
        ),
    ] {
        let mut fixed = FixedMessage::new(&template(zeros), &[layout]).unwrap();
        set_headers(&mut fixed);
        let slots = fixed.slots::<u32>(0, 0..3).unwrap();
        assert_eq!(slots.count(), 3);
        assert!(!fixed.store_all(slots, &values[..2]), "one is missing");
        assert!(fixed.store_all(slots, &values));
        assert_eq!(fixed.bytes(), general(expected));

        let reader = fixed.reader();
        assert_eq!(reader.slots::<u32>(0, 0..3), Some(slots));
        let read = reader.read(fixed.bytes()).unwrap();
        let mut found = [0; 3];
        assert!(!read.get_all(slots, &mut found[..2]));
        assert!(read.get_all(slots, &mut found));
        assert_eq!(found, values);

        let last = fixed.slots::<u32>(0, 2..3).unwrap();
        assert!(fixed.store_all(last, &[7]));
        let none = fixed.slots::<u32>(0, 1..1).unwrap();
        assert!(fixed.store_all(none, &[]));
        assert_eq!(fixed.slots::<u32>(0, 1..4), None, "there are three");
        assert_eq!(fixed.slots::<i32>(0, 0..3), None);
    }
    let mixed = Fields::Variant(vec![1_u32.into(), 1_u16.into(), 1_u32.into(), 2_u32.into()]);
    let fixed = FixedMessage::new(&template(mixed), &[]).unwrap();
    assert_eq!(fixed.slots::<u32>(0, 0..3), None);
    assert!(fixed.slots::<u32>(0, 2..4).is_some());
}

#[test]
fn short_values_of_any_type_are_stored_as_numbers() {
    let fields = |values: [u64; 4]| {
        Fields::Variant(vec![
            Variant::Byte(values[0] as u8),
            Variant::Int16(values[1] as i16),
            Variant::Float(f32::from_bits(values[2] as u32)),
            Variant::DateTime(DateTime(values[3] as i64)),
        ])
    };
    let values = [0xFE, 0xFDFC, 0x3FC0_0000, 0x0102_0304_0506_0708];
    let mut fixed = FixedMessage::new(&template(fields([0; 4])), &[]).unwrap();
    set_headers(&mut fixed);
    for (field, value) in values.into_iter().enumerate() {
        let place = fixed.scalar_place(0, field).unwrap();
        // Bits above the value are ignored.
        let above = if field < 3 { 0xAB << 40 } else { 0 };
        fixed.store_scalar(place, value | above);
    }
    assert_eq!(fixed.bytes(), general(fields(values)));
    let reader = fixed.reader();
    let read = reader.read(fixed.bytes()).unwrap();
    for (field, value) in values.into_iter().enumerate() {
        let place = read.scalar_place(0, field).unwrap();
        assert_eq!(Some(place), fixed.scalar_place(0, field));
        assert_eq!(read.get_scalar(place), value);
    }
    assert_eq!(fixed.scalar_place(0, 4), None);
    let guid = Fields::Variant(vec![takt_ua::Guid::default().into()]);
    let fixed = FixedMessage::new(&template(guid), &[]).unwrap();
    assert_eq!(fixed.scalar_place(0, 0), None);
}

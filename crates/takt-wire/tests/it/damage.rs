//! One field that cannot be decoded: the others stay as they are.

use proptest::collection::vec;
use proptest::prelude::*;
use takt_ua::binary::Encode;
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData, Range};
use takt_ua::{DataValue, ExtensionObject, StatusCode, Variant};
use takt_wire::{
    ActionFieldsRef, AnnouncementContent, DamagedField, DataSetContentRef, DeltaFieldsRef,
    DiscoveryAnnouncement, FieldsRef, NetworkMessage, NetworkMessageRef, Payload,
    PayloadParameters, PayloadRef, PublisherId, RawDataLayout,
};

use crate::common::values::{data_value, variant};

/// Variants that break OPC 10000-6, and what is read instead; `None` for a value that cannot be read.
fn broken() -> Vec<(Vec<u8>, Option<Variant>)> {
    let range = Range {
        low: -1.0,
        high: 2.5,
    };
    let range = ExtensionObject::from_structure(&range);
    let mut without_length = Variant::from(range.clone()).encode_to_vec();
    // The encoding mask, four bytes of the NodeId, and the kind of the body come before the length.
    without_length[6..10].copy_from_slice(&(-1_i32).to_le_bytes());
    vec![
        (b"\x0C\x03\0\0\0a\xE9b".to_vec(), Some("a\u{FFFD}b".into())),
        (
            b"\x8C\x02\0\0\0\x01\0\0\0\xFF\x01\0\0\0x".to_vec(),
            Some(vec!["\u{FFFD}", "x"].into()),
        ),
        (without_length, Some(range.into())),
        // A Variant in a Variant, an array with a length that its dimensions do not have, a LocalizedText with an unknown bit.
        (b"\x18\x06\x07\0\0\0".to_vec(), None),
        (
            b"\xC6\x01\0\0\0\x07\0\0\0\x02\0\0\0\x05\0\0\0\x05\0\0\0".to_vec(),
            None,
        ),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    KeyFrame,
    DataValues,
    Delta,
    DataValueDelta,
    Event,
    Request,
}

const KINDS: [Kind; 6] = [
    Kind::KeyFrame,
    Kind::DataValues,
    Kind::Delta,
    Kind::DataValueDelta,
    Kind::Event,
    Kind::Request,
];

impl Kind {
    fn has_data_values(self) -> bool {
        matches!(self, Self::DataValues | Self::DataValueDelta)
    }

    /// Returns a NetworkMessage with one DataSetMessage of these encoded fields, and their indexes.
    fn message(self, fields: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
        let encoding = if self.has_data_values() { 0x04 } else { 0 };
        // UADPVersion 1; then DataSetFlags1 (valid, SequenceNumber, DataSetFlags2) and DataSetFlags2 (Timestamp).
        let mut message = vec![0x01];
        let mut action = &[][..];
        let kind = match self {
            Self::KeyFrame | Self::DataValues => 0,
            Self::Delta | Self::DataValueDelta => 1,
            Self::Event => 2,
            Self::Request => {
                // ExtendedFlags1 and ExtendedFlags2 announce an ActionHeader of requests.
                message = vec![0x81, 0x80, 0x20, 0x01];
                action = &[1, 0, 2, 0, 1][..];
                4
            }
        };
        message.extend([0x89 | encoding, 0x10 | kind, 5, 0]);
        message.extend(77_i64.to_le_bytes());
        message.extend(action);
        message.extend(u16::try_from(fields.len()).unwrap().to_le_bytes());
        let mut indexes = Vec::new();
        for (position, field) in fields.iter().enumerate() {
            let is_delta = matches!(self, Self::Delta | Self::DataValueDelta);
            let index = if is_delta { 3 * position } else { position };
            if is_delta {
                message.extend(u16::try_from(index).unwrap().to_le_bytes());
            }
            message.extend(field);
            indexes.push(index);
        }
        (message, indexes)
    }
}

/// Returns the fields of a DataSetMessage with their indexes; Variants are values of quality Good.
fn fields(content: &DataSetContentRef<'_>) -> Vec<(usize, DataValue)> {
    let good = |fields: Vec<Variant>| {
        let fields = fields.into_iter().map(DataValue::good);
        fields.enumerate().collect::<Vec<_>>()
    };
    match content {
        DataSetContentRef::KeyFrame(FieldsRef::Variant(fields))
        | DataSetContentRef::Event(fields) => {
            good(fields.iter().map(|field| field.to_owned()).collect())
        }
        DataSetContentRef::ActionRequest(action) => match action.fields {
            ActionFieldsRef::Variant(fields) => {
                good(fields.iter().map(|field| field.to_owned()).collect())
            }
            ActionFieldsRef::RawData { .. } => unreachable!("RawData"),
        },
        DataSetContentRef::KeyFrame(FieldsRef::DataValue(fields)) => {
            let fields = fields.iter().map(|field| field.to_owned());
            fields.enumerate().collect()
        }
        DataSetContentRef::DeltaFrame(DeltaFieldsRef::Variant(fields)) => fields
            .iter()
            .map(|field| {
                let value = DataValue::good(field.field_value.to_owned());
                (usize::from(field.field_index), value)
            })
            .collect(),
        DataSetContentRef::DeltaFrame(DeltaFieldsRef::DataValue(fields)) => fields
            .iter()
            .map(|field| {
                let value = field.field_value.to_owned();
                (usize::from(field.field_index), value)
            })
            .collect(),
        other => unreachable!("{other:?}"),
    }
}

fn with_messages<T>(bytes: &[u8], check: impl FnOnce(takt_wire::DataSetMessagesRef<'_>) -> T) -> T {
    let message = NetworkMessageRef::new_checked(bytes).unwrap();
    match message.payload(&PayloadParameters::default()).unwrap() {
        PayloadRef::DataSetMessages(messages) => check(messages),
        other => unreachable!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn all_other_fields_stay(
        kind in proptest::sample::select(&KINDS[..]),
        values in vec(data_value(), 1..5),
        position in any::<prop::sample::Index>(),
        (encoded, read) in proptest::sample::select(broken()),
        padding in 0_usize..4,
    ) {
        let position = position.index(values.len());
        let mut expected: Vec<DataValue> = values;
        if !kind.has_data_values() {
            let plain = |value: DataValue| DataValue::good(value.value.unwrap_or_default());
            expected = expected.into_iter().map(plain).collect();
        }
        let mut parts: Vec<Vec<u8>> = expected
            .iter()
            .map(|value| match kind.has_data_values() {
                true => value.encode_to_vec(),
                false => value.value.as_ref().unwrap().encode_to_vec(),
            })
            .collect();
        let is_readable = read.is_some();
        let bad = StatusCode::BadDecodingError;
        parts[position] = match kind.has_data_values() {
            // A value with a SourceTimestamp.
            true => [&[0x05][..], &encoded, &9_i64.to_le_bytes()].concat(),
            false => encoded.clone(),
        };
        expected[position] = match (kind.has_data_values(), read) {
            (true, Some(value)) => DataValue::good(value).with_source_timestamp(takt_ua::DateTime(9)),
            (true, None) => DataValue::status(bad).with_source_timestamp(takt_ua::DateTime(9)),
            (false, Some(value)) => DataValue::good(value),
            (false, None) => DataValue::good(Variant::StatusCode(bad)),
        };
        let (mut message, indexes) = kind.message(&parts);
        message.resize(message.len() + padding, 0);
        with_messages(&message, |messages| {
            let error = messages.get(0).unwrap().unwrap_err();
            let mended = messages.mend(0, error).unwrap();
            let content = mended.message().unwrap();
            prop_assert_eq!(content.sequence_number, Some(5));
            let found = fields(&content.content);
            let expected: Vec<_> = indexes.iter().copied().zip(expected).collect();
            prop_assert_eq!(&found, &expected);
            let damaged = |field: &DamagedField| field.index == indexes[position];
            prop_assert!(mended.fields().iter().all(damaged));
            prop_assert_eq!(mended.fields().iter().any(|it| it.error.is_some()), !is_readable);
            Ok(())
        })?;
        // If the message ends too early, nothing of it is used, and the field is named.
        let cut = message.len() - padding - 1;
        with_messages(&message[..cut], |messages| {
            if let Err(error) = messages.get(0).unwrap() {
                let lost = messages.mend(0, error).unwrap_err();
                prop_assert!(lost.field.is_some(), "{lost:?}");
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_bytes_are_mended_or_refused(
        kind in proptest::sample::select(&KINDS[..]),
        bytes in vec(any::<u8>(), 0..60),
        values in vec(variant(), 0..3),
        change in any::<(prop::sample::Index, u8)>(),
    ) {
        let (mut message, _) = kind.message(&values.iter().map(Encode::encode_to_vec).collect::<Vec<_>>());
        let start = message.len();
        message.extend(bytes);
        let at = change.0.index(message.len());
        message[at] = change.1;
        let Ok(view) = NetworkMessageRef::new_checked(&message) else {
            return Ok(());
        };
        if let Ok(PayloadRef::DataSetMessages(messages)) = view.payload(&PayloadParameters::default()) {
            for (index, read) in messages.iter().enumerate() {
                if let Err(error) = read
                    && let Ok(mended) = messages.mend(index, error)
                {
                    prop_assert!(mended.message().is_ok());
                }
            }
        }
        let offset = u16::try_from(start.min(8)).unwrap();
        if let Err(error) = view.data_set_message_at(offset, 0)
            && let Ok(mended) = view.mend_data_set_message_at(offset, 0, error)
        {
            prop_assert!(mended.message().is_ok());
        }
    }
}

#[test]
fn a_field_whose_end_is_not_known_is_named() {
    // 0x1A is read as a ByteString, so its length would be the end; 0x5F with the bits of a matrix has no known end.
    let fields = [b"\x06\x01\0\0\0".to_vec(), b"\x16\x03\0\x07".to_vec()];
    let (message, _) = Kind::KeyFrame.message(&fields);
    with_messages(&message, |messages| {
        let error = messages.get(0).unwrap().unwrap_err();
        let lost = messages.mend(0, error).unwrap_err();
        assert_eq!(lost.field, Some(1));
        assert!(lost.error.offset > 10 && lost.error.offset <= message.len());
    });
}

fn raw_field(built_in_type: u8, max_string_length: u32) -> FieldMetaData {
    FieldMetaData {
        built_in_type,
        data_type: takt_ua::NodeId::numeric(0, built_in_type.into()),
        value_rank: -1,
        max_string_length,
        ..FieldMetaData::default()
    }
}

#[test]
fn raw_data_keeps_the_fields_beside_a_text_that_cannot_be_decoded() {
    let layout = |max| {
        let fields = vec![raw_field(6, 0), raw_field(12, max), raw_field(6, 0)];
        RawDataLayout::new(&DataSetMetaDataType {
            fields,
            ..DataSetMetaDataType::default()
        })
        .unwrap()
    };
    let damaged = |error| vec![DamagedField { index: 1, error }];
    // A text of Latin-1, without and with padding.
    for (max, padding) in [(0, 0), (5, 2)] {
        let bytes = [
            b"\x07\0\0\0\x03\0\0\0a\xE9b",
            &[0; 9][..padding],
            b"\x08\0\0\0",
        ]
        .concat();
        assert!(layout(max).decode_start(&bytes).is_err());
        let (values, found) = layout(max).mend(&bytes).unwrap();
        assert_eq!(
            values,
            [7.into(), "a\u{FFFD}b".into(), Variant::from(8_i32)]
        );
        assert_eq!(found, damaged(None));
    }
    // A length beyond the maximum: the place of the next field is known.
    let bytes = b"\x07\0\0\0\x63\0\0\0abc\0\0\x08\0\0\0";
    let (values, found) = layout(5).mend(bytes).unwrap();
    let bad = StatusCode::BadDecodingError;
    assert_eq!(values, [7.into(), bad.into(), Variant::from(8_i32)]);
    assert_eq!(found, damaged(Some(bad)));
    // Without a maximum, it is not.
    assert!(layout(0).mend(bytes).is_err());
    assert!(layout(5).mend(&bytes[..12]).is_err());
}

#[test]
fn one_text_does_not_spoil_the_metadata() {
    let meta_data = DataSetMetaDataType {
        name: "Boiler".into(),
        description: takt_ua::LocalizedText::from("xyz"),
        fields: vec![raw_field(6, 0), raw_field(12, 0)],
        ..DataSetMetaDataType::default()
    };
    let announcement = DiscoveryAnnouncement {
        sequence_number: 1,
        content: AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 7,
            meta_data: Box::new(meta_data.clone()),
            status_code: StatusCode::Good,
        },
    };
    let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
    let message = NetworkMessage::discovery(PublisherId::Byte(1), payload);
    let mut bytes = message.encode_to_vec().unwrap();
    let text = bytes.windows(3).position(|it| it == b"xyz").unwrap();
    bytes[text + 1] = 0xE9;
    let decoded = NetworkMessage::decode(&bytes, &PayloadParameters::default()).unwrap();
    let Payload::DiscoveryAnnouncement(announcement) = decoded.payload else {
        panic!("no announcement");
    };
    let AnnouncementContent::DataSetMetaData {
        meta_data: found, ..
    } = announcement.content
    else {
        panic!("no metadata");
    };
    assert_eq!(found.fields, meta_data.fields);
    assert_eq!(found.description.text, "x\u{FFFD}z");
}

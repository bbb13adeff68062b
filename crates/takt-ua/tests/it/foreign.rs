//! Messages of foreign applications: one value that cannot be decoded is one bad value.

use crate::common::*;
use proptest::prelude::*;
use takt_ua::binary::{Decode, DecodeErrorKind, Decoder, Encode};
use takt_ua::structures::{
    Argument, DataChangeNotification, MonitoredItemNotification, ReadResponse,
};
use takt_ua::{
    BuiltInType, DataValue, DateTime, ExpandedNodeId, ExtensionObject, ExtensionObjectBody,
    LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant, XmlElement, foreign,
};

/// A String with a byte that is not UTF-8, as PLCs with Latin-1 send it.
const LATIN: &[u8] = b"\x0C\x08\0\0\0K\xFChlwerk";

/// A Double in a Variant in a Variant.
const NESTED: &[u8] = b"\x18\x0B\0\0\0\0\0\0\xF0\x3F";

/// A type that the standard does not define, so that the end is not known.
const UNKNOWN: &[u8] = b"\x20\x01\x02\x03";

/// Returns a ReadResponse with these values in encoded form, each with status and source timestamp.
fn response(values: &[&[u8]]) -> Vec<u8> {
    let whole = ReadResponse::default().encode_to_vec();
    // The numbers of results and of DiagnosticInfos are the last 8 bytes.
    let mut bytes = whole[..whole.len() - 8].to_vec();
    bytes.extend(u32::try_from(values.len()).unwrap().to_le_bytes());
    for value in values {
        bytes.push(0x07);
        bytes.extend(*value);
        bytes.extend(StatusCode::Uncertain.0.to_le_bytes());
        bytes.extend(DateTime(7).0.to_le_bytes());
    }
    bytes.extend([0xFF; 4]);
    bytes
}

fn results(bytes: &[u8]) -> Vec<DataValue> {
    foreign::decode(bytes, ReadResponse::decode)
        .unwrap()
        .results
}

fn good(value: impl Into<Variant>) -> DataValue {
    DataValue::good(value)
        .with_status(StatusCode::Uncertain)
        .with_source_timestamp(DateTime(7))
}

/// A value without one, with the reason.
fn bad() -> DataValue {
    DataValue::status(StatusCode::BadDecodingError).with_source_timestamp(DateTime(7))
}

fn one() -> Vec<u8> {
    Variant::from(1_u16).encode_to_vec()
}

#[test]
fn a_bad_value_leaves_the_others() {
    let one = one();
    let bytes = response(&[&one, NESTED, &one, LATIN, &one]);
    assert!(ReadResponse::decode(&mut Decoder::new(&bytes)).is_err());
    let text = good("K\u{FFFD}hlwerk");
    assert_eq!(
        results(&bytes),
        [good(1_u16), bad(), good(1_u16), text, good(1_u16)]
    );
}

#[test]
fn values_with_wrong_lengths_and_masks_have_ends() {
    let one = one();
    let cases: [&[u8]; 6] = [
        // A matrix of 6 elements with the dimensions 2 and 2.
        b"\xC3\x06\0\0\0\x01\x02\x03\x04\x05\x06\x02\0\0\0\x02\0\0\0\x02\0\0\0",
        // An array of Variants, one of which is a Variant in a Variant.
        b"\x98\x02\0\0\0\x03\x07\x18\x03\x07",
        // A Variant in a Variant that is not UTF-8 either.
        b"\x18\x0C\x01\0\0\0\xFC",
        // A Variant in a Variant in a Variant.
        b"\x18\x18\x03\x07",
        // A Variant in a Variant with an array of ExtensionObjects.
        b"\x18\x96\x01\0\0\0\0\0\0",
        // A DataValue with a Variant in a Variant.
        b"\x17\x01\x18\x03\x07",
    ];
    for case in cases {
        let bytes = response(&[&one, case, &one]);
        assert_eq!(
            results(&bytes),
            [good(1_u16), bad(), good(1_u16)],
            "{case:02X?}"
        );
    }
}

#[test]
fn a_value_without_an_end_makes_those_after_it_bad() {
    let one = one();
    let bytes = response(&[&one, UNKNOWN, &one, &one]);
    let bad = DataValue::status(StatusCode::BadDecodingError);
    let not_decoded = DataValue::status(StatusCode::BadUnknownResponse);
    assert_eq!(
        results(&bytes),
        [good(1_u16), bad, not_decoded.clone(), not_decoded]
    );
}

#[test]
fn lengths_below_minus_one_are_null_if_the_message_ends_there() {
    let one = one();
    let bytes = response(&[&one, b"\x0C\xFE\xFF\xFF\xFF", &one]);
    assert!(ReadResponse::decode(&mut Decoder::new(&bytes)).is_err());
    let null = good(UaString::null());
    assert_eq!(results(&bytes), [good(1_u16), null, good(1_u16)]);
    // Text follows: the end of the value is not known.
    let bytes = response(&[&one, b"\x0C\xFE\xFF\xFF\xFFtext of some length", &one]);
    let results = results(&bytes);
    assert_eq!(results[0], good(1_u16));
    assert!(
        results[1..]
            .iter()
            .all(|value| value.status_code().is_bad())
    );
    assert_eq!(results.len(), 3);
}

#[test]
fn too_deep_values_are_refused_as_such() {
    let one = one();
    let deep = [&[0x18; 200][..], &one].concat();
    let results = results(&response(&[&one, &deep, &one]));
    assert_eq!(results[0], good(1_u16));
    assert!(results[1].status_code().is_bad());
    assert!(results[2].status_code().is_bad());
}

/// Returns an ExtensionObject without the length of its body.
fn without_length(object: &ExtensionObject) -> Vec<u8> {
    let body = match &object.body {
        ExtensionObjectBody::Binary(body) => Some(body),
        _ => None,
    };
    let body = body.unwrap();
    [
        &object.type_id.encode_to_vec()[..],
        b"\x01\xFF\xFF\xFF\xFF",
        body,
    ]
    .concat()
}

#[test]
fn a_body_without_its_length_ends_where_its_type_ends() {
    let one = one();
    let argument = ExtensionObject::from_structure(&Argument {
        name: "Speed".into(),
        array_dimensions: vec![3, 4],
        ..Argument::default()
    });
    let value = [&[22][..], &without_length(&argument)].concat();
    let bytes = response(&[&one, &value, &one]);
    assert_eq!(results(&bytes), [good(1_u16), good(argument), good(1_u16)]);
}

#[test]
fn a_notification_without_its_length_is_decoded() {
    let item = |client_handle, value: Variant| MonitoredItemNotification {
        client_handle,
        value: DataValue::good(value),
    };
    let data = DataChangeNotification {
        monitored_items: vec![
            item(1, 1.5.into()),
            item(2, "x".into()),
            item(3, 2.5.into()),
        ],
        ..DataChangeNotification::default()
    };
    let object = ExtensionObject::from_structure(&data);
    let mut bytes = [&1_u32.to_le_bytes()[..], &without_length(&object), &[7, 7]].concat();
    let decode = |bytes: &[u8]| {
        foreign::decode(bytes, |decoder| {
            let objects = Vec::<ExtensionObject>::decode(decoder)?;
            Ok((objects, decoder.u16()?))
        })
    };
    assert_eq!(decode(&bytes).unwrap(), (vec![object.clone()], 0x0707));
    // Its text is not UTF-8: the end is found all the same.
    let at = bytes.iter().position(|byte| *byte == b'x').unwrap();
    bytes[at] = 0xFC;
    let (objects, rest) = decode(&bytes).unwrap();
    assert_eq!(rest, 0x0707);
    let decoded = foreign::decode_body::<DataChangeNotification, _>(&objects[0], Decode::decode);
    let decoded: DataChangeNotification = decoded.unwrap().unwrap();
    assert_eq!(
        decoded.monitored_items[1].value.value,
        Some("\u{FFFD}".into())
    );
    assert_eq!(decoded.monitored_items[2], data.monitored_items[2]);
}

#[test]
fn a_body_of_unknown_type_without_its_length_is_null_or_bad() {
    let one = one();
    let head = |id: u16| [&[22, 1, 2][..], &id.to_le_bytes(), b"\x01\xFF\xFF\xFF\xFF"].concat();
    let null = ExtensionObject {
        type_id: NodeId::numeric(2, 5001),
        body: ExtensionObjectBody::Binary(Vec::new()),
    };
    let bytes = response(&[&one, &head(5001), &one]);
    assert_eq!(results(&bytes), [good(1_u16), good(null), good(1_u16)]);
    let body = [&head(5001)[..], b"\x12\x34\x56\x78\x9A\xBC"].concat();
    let results = results(&response(&[&one, &body, &one]));
    assert_eq!(results[0], good(1_u16));
    assert!(
        results[1..]
            .iter()
            .all(|value| value.status_code().is_bad())
    );
}

#[test]
fn many_bodies_without_length_do_not_take_quadratic_time() {
    // Each could have the rest of the message read as its own field, in vain.
    let type_id = NodeId::numeric(0, <Argument as takt_ua::Structure>::BINARY_ENCODING_ID);
    let object = [&type_id.encode_to_vec()[..], b"\x01\xFF\xFF\xFF\xFF"].concat();
    let count = 300_000_u32;
    let mut value = vec![0x96];
    value.extend(count.to_le_bytes());
    for _ in 0..count {
        value.extend(&object);
    }
    // It is decoded or refused, soon.
    let _ = foreign::decode(&response(&[&value]), ReadResponse::decode);
}

#[test]
fn texts_of_all_types_are_read() {
    fn read<T: Encode + for<'a> Decode<'a>>(value: &T) -> T {
        let mut bytes = value.encode_to_vec();
        let at = bytes.iter().position(|byte| *byte == b'~').unwrap();
        bytes[at] = 0xE4;
        assert!(T::decode(&mut Decoder::new(&bytes)).is_err());
        foreign::decode(&bytes, T::decode).unwrap()
    }
    let replaced = "a\u{FFFD}b";
    assert_eq!(read(&UaString::from("a~b")), replaced);
    assert_eq!(read(&XmlElement::from("a~b")), replaced.into());
    assert_eq!(read(&NodeId::string(2, "a~b")), NodeId::string(2, replaced));
    let expanded = ExpandedNodeId {
        namespace_uri: "a~b".into(),
        ..NodeId::numeric(0, 7).into()
    };
    assert_eq!(read(&expanded).namespace_uri, replaced);
    assert_eq!(read(&QualifiedName::new(1, "a~b")).name, replaced);
    assert_eq!(read(&LocalizedText::new("de", "a~b")).text, replaced);
    let object = ExtensionObject {
        type_id: NodeId::string(2, "a~b"),
        body: ExtensionObjectBody::Binary(vec![1]),
    };
    assert_eq!(read(&object).type_id, NodeId::string(2, replaced));
    let array = Variant::from(vec![UaString::from("x"), UaString::from("a~b")]);
    let expected = Variant::from(vec![UaString::from("x"), UaString::from(replaced)]);
    assert_eq!(read(&array), expected);
}

#[test]
fn a_list_of_variants_has_the_status_in_the_place_of_a_bad_one() {
    let bytes = [&3_u32.to_le_bytes()[..], &one(), NESTED, &one()].concat();
    let bad = Variant::from(StatusCode::BadDecodingError);
    assert_eq!(
        foreign::decode(&bytes, Vec::<Variant>::decode).unwrap(),
        [1_u16.into(), bad, 1_u16.into()]
    );
    let strict = Vec::<Variant>::decode(&mut Decoder::new(&bytes));
    assert_eq!(
        strict.unwrap_err().kind,
        DecodeErrorKind::InvalidEncodingByte(24)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn valid_values_are_decoded_as_by_a_strict_decoder(values in proptest::collection::vec(data_value(), 0..4)) {
        let bytes = values.encode_to_vec();
        let decoded = foreign::decode(&bytes, Vec::<DataValue>::decode).unwrap();
        prop_assert_eq!(format!("{decoded:?}"), format!("{values:?}"));
    }

    #[test]
    fn a_nested_variant_among_any_values_is_one_bad_value(
        before in data_value(),
        inner in variant(),
        after in data_value(),
    ) {
        let mut bytes = 3_u32.to_le_bytes().to_vec();
        bytes.extend(before.encode_to_vec());
        bytes.extend([0x01, BuiltInType::Variant as u8]);
        bytes.extend(inner.encode_to_vec());
        bytes.extend(after.encode_to_vec());
        let decoded = foreign::decode(&bytes, Vec::<DataValue>::decode).unwrap();
        let expected = [before, DataValue::status(StatusCode::BadDecodingError), after];
        prop_assert_eq!(format!("{decoded:?}"), format!("{:?}", expected));
    }

    #[test]
    fn changed_bytes_do_no_harm(
        values in proptest::collection::vec(data_value(), 1..4),
        at in any::<proptest::sample::Index>(),
        byte: u8,
    ) {
        let mut bytes = values.encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(decoded) = foreign::decode(&bytes, Vec::<DataValue>::decode)
            && at >= 4
        {
            prop_assert_eq!(decoded.len(), values.len());
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = foreign::decode(&bytes, ReadResponse::decode);
        let _ = foreign::decode(&bytes, Vec::<Variant>::decode);
        let _ = foreign::decode(&bytes, Vec::<ExtensionObject>::decode);
    }
}

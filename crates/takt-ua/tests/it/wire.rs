//! The bytes of the standard's own examples (OPC 10000-6, 5.2.2), and errors of hostile bytes.

use std::mem::MaybeUninit;

use takt_ua::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Limits,
};
use takt_ua::structures::{Argument, EUInformation, ReadRequest, ReadValueId};
use takt_ua::{
    Array, ArrayRef, BuiltInType, DataValue, DataValueRef, DiagnosticInfo, Elements,
    ExpandedNodeId, ExtensionObject, Guid, LocalizedText, NodeId, StatusCode, UaString, Variant,
    VariantRef,
};

fn both<T: Encode + for<'a> Decode<'a> + PartialEq + std::fmt::Debug>(value: &T, bytes: &[u8]) {
    assert_eq!(value.encode_to_vec(), bytes);
    assert_eq!(T::decode(&mut Decoder::new(bytes)).as_ref(), Ok(value));
}

fn variant(bytes: &[u8]) -> Result<Variant, DecodeError> {
    let owned = Variant::decode(&mut Decoder::new(bytes));
    let borrowed = VariantRef::decode(&mut Decoder::new(bytes)).map(|value| value.to_owned());
    assert_eq!(owned, borrowed);
    owned
}

#[test]
fn examples_of_the_standard() {
    both(&1_000_000_000_i32, &[0x00, 0xCA, 0x9A, 0x3B]);
    both(&-6.5_f32, &[0x00, 0x00, 0xD0, 0xC0]);
    both(
        &UaString::from("水Boy"),
        &[6, 0, 0, 0, 0xE6, 0xB0, 0xB4, 0x42, 0x6F, 0x79],
    );
    let guid: Guid = "72962B91-FA75-4AE6-8D28-B404DC7DAF63".parse().unwrap();
    let guid_bytes = [
        0x91, 0x2B, 0x96, 0x72, 0x75, 0xFA, 0xE6, 0x4A, 0x8D, 0x28, 0xB4, 0x04, 0xDC, 0x7D, 0xAF,
        0x63,
    ];
    both(&guid, &guid_bytes);
    both(
        &NodeId::string(1, "Hot水"),
        &[3, 1, 0, 6, 0, 0, 0, 0x48, 0x6F, 0x74, 0xE6, 0xB0, 0xB4],
    );
    both(&NodeId::numeric(0, 72), &[0, 72]);
    both(&NodeId::numeric(5, 1025), &[1, 5, 0x01, 0x04]);
    both(&NodeId::numeric(256, 1), &[2, 0, 1, 1, 0, 0, 0]);
}

#[test]
fn smallest_encodings() {
    both(&UaString::null(), &[0xFF; 4]);
    both(&UaString::from(""), &[0; 4]);
    both(&Variant::Empty, &[0]);
    both(&Variant::from(7_u32), &[7, 7, 0, 0, 0]);
    both(&Variant::from(vec![1_u8, 2]), &[0x83, 2, 0, 0, 0, 1, 2]);
    both(&LocalizedText::NULL, &[0]);
    both(&ExtensionObject::NULL, &[0, 0, 0]);
    both(&DiagnosticInfo::default(), &[0]);
    both(&DataValue::default(), &[0]);
    let expanded = ExpandedNodeId {
        node_id: 1.into(),
        namespace_uri: "u".into(),
        server_index: 2,
    };
    both(&expanded, &[0xC0, 1, 1, 0, 0, 0, b'u', 2, 0, 0, 0]);
    let diagnostics = DiagnosticInfo {
        locale: Some(1),
        localized_text: Some(2),
        ..Default::default()
    };
    both(&diagnostics, &[0x0C, 1, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn a_matrix_has_its_dimensions_behind_its_elements() {
    let matrix: Variant = Array::matrix(vec![1_u8, 2, 3, 4, 5, 6], &[2, 3])
        .unwrap()
        .into();
    both(
        &matrix,
        &[
            0xC3, 6, 0, 0, 0, 1, 2, 3, 4, 5, 6, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
        ],
    );
    // A single dimension is not written, but may be read.
    let told = [0xC3, 2, 0, 0, 0, 1, 2, 1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(variant(&told).unwrap().array_dimensions(), Some(vec![2]));
    assert_eq!(
        variant(&told).unwrap().encode_to_vec(),
        [0x83, 2, 0, 0, 0, 1, 2]
    );
    // Arrays without elements have no dimensions.
    let empty = Array {
        elements: Vec::<u8>::new().into(),
        dimensions: vec![0, 3],
    };
    assert_eq!(Variant::from(empty).encode_to_vec(), [0x83, 0, 0, 0, 0]);
    assert_eq!(
        Array::matrix(vec![1_u8], &[2, 3]),
        Err(StatusCode::BadInvalidArgument)
    );
}

#[test]
fn wrong_dimensions_are_refused() {
    let array = |dimensions: &[i32]| {
        let mut bytes = vec![0xC3, 6, 0, 0, 0, 1, 2, 3, 4, 5, 6];
        dimensions
            .encode(&mut Encoder::growing(&mut bytes, 1000))
            .unwrap();
        variant(&bytes)
    };
    assert!(array(&[2, 3]).is_ok());
    assert!(array(&[6, 1, 1]).is_ok());
    for dimensions in [
        &[2, 2][..],
        &[7],
        &[0, 6],
        &[-2, -3],
        &[i32::MAX; 8],
        &[6, 0],
    ] {
        let error = array(dimensions).unwrap_err();
        assert!(
            matches!(error.kind, DecodeErrorKind::InvalidValue(_)),
            "{dimensions:?}: {error}"
        );
        assert_eq!(error.status_code(), StatusCode::BadDecodingError);
        assert_eq!(error.offset, 11);
    }
    assert!(variant(&[0x43, 6]).is_err(), "dimensions of a scalar");
    assert!(
        variant(&[0xC3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(),
        "zero by zero"
    );
}

#[test]
fn undefined_encodings_are_refused() {
    let invalid =
        |error: DecodeError| matches!(error.kind, DecodeErrorKind::InvalidEncodingByte(_));
    for mask in [24, 32, 63, 64, 128, 0x80 | 32] {
        assert!(
            invalid(variant(&[mask, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap_err()),
            "Variant {mask}"
        );
    }
    for byte in [6, 0x40, 0x80, 0xFF] {
        assert!(
            invalid(NodeId::decode(&mut Decoder::new(&[byte, 0, 0, 0])).unwrap_err()),
            "NodeId {byte}"
        );
    }
    assert!(invalid(
        ExpandedNodeId::decode(&mut Decoder::new(&[0xC6, 0, 0])).unwrap_err()
    ));
    assert!(invalid(
        LocalizedText::decode(&mut Decoder::new(&[4])).unwrap_err()
    ));
    assert!(invalid(
        DiagnosticInfo::decode(&mut Decoder::new(&[0x80])).unwrap_err()
    ));
    assert!(invalid(
        DataValue::decode(&mut Decoder::new(&[0x40])).unwrap_err()
    ));
    assert!(invalid(
        ExtensionObject::decode(&mut Decoder::new(&[0, 0, 3])).unwrap_err()
    ));
    // Reserved built-in types are read as ByteStrings.
    assert_eq!(
        variant(&[26, 1, 0, 0, 0, 9]),
        Ok(Variant::ByteString(vec![9].into()))
    );
    // Any byte but 0 is true; picoseconds end at 9999.
    assert_eq!(variant(&[1, 0x55]), Ok(true.into()));
    assert_eq!(
        variant(&[0x81, 2, 0, 0, 0, 0x55, 0]),
        Ok(vec![true, false].into())
    );
    let value = DataValue::decode(&mut Decoder::new(&[0x10, 0xFF, 0xFF])).unwrap();
    assert_eq!(value.source_picoseconds, Some(9999));
}

#[test]
fn lengths_are_checked_before_anything_is_allocated() {
    let kind = |bytes: &[u8]| variant(bytes).unwrap_err().kind;
    assert_eq!(
        kind(&[12, 0xFF, 0xFF, 0xFF, 0x7F]),
        DecodeErrorKind::LimitExceeded("the length of a string")
    );
    assert_eq!(
        kind(&[0x87, 0xFF, 0xFF, 0xFF, 0x7F]),
        DecodeErrorKind::LimitExceeded("the length of an array")
    );
    assert_eq!(
        kind(&[0x87, 0, 0, 0xFF, 0, 1, 2, 3, 4]),
        DecodeErrorKind::UnexpectedEnd
    );
    assert_eq!(
        kind(&[0x98, 0, 0, 0xFF, 0, 1, 2, 3, 4]),
        DecodeErrorKind::UnexpectedEnd
    );
    assert_eq!(
        kind(&[12, 0xFE, 0xFF, 0xFF, 0xFF]),
        DecodeErrorKind::NegativeLength
    );
    assert_eq!(
        kind(&[12, 3, 0, 0, 0, b'a', 0xFF, b'b']),
        DecodeErrorKind::InvalidUtf8
    );
    assert_eq!(
        variant(&[12, 3, 0, 0, 0, b'a', 0xFF, b'b'])
            .unwrap_err()
            .offset,
        6
    );

    let limits = Limits {
        max_string_length: 2,
        max_array_length: 2,
        ..Limits::DEFAULT
    };
    let limited = |value: Variant| {
        let bytes = value.encode_to_vec();
        VariantRef::decode(&mut Decoder::with_limits(&bytes, limits))
            .map(|_| ())
            .map_err(|e| e.status_code())
    };
    assert_eq!(limited("ab".into()), Ok(()));
    assert_eq!(
        limited("abc".into()),
        Err(StatusCode::BadEncodingLimitsExceeded)
    );
    assert_eq!(limited(vec![1_u8, 2].into()), Ok(()));
    assert_eq!(
        limited(vec![1_u8, 2, 3].into()),
        Err(StatusCode::BadEncodingLimitsExceeded)
    );
}

#[test]
fn nesting_is_bounded() {
    // A DataValue with a Variant with a DataValue ...
    let data_values = [0x01, 23].repeat(100_000);
    let error = DataValue::decode(&mut Decoder::new(&data_values)).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::DepthExceeded);
    assert_eq!(error.status_code(), StatusCode::BadEncodingLimitsExceeded);
    assert_eq!(
        DataValueRef::decode(&mut Decoder::new(&data_values)).unwrap_err(),
        error
    );
    // An array of one Variant, which is an array of one Variant ...
    let arrays = [0x98, 1, 0, 0, 0].repeat(100_000);
    assert_eq!(
        variant(&arrays).unwrap_err().kind,
        DecodeErrorKind::DepthExceeded
    );
    // A DiagnosticInfo with an inner one with an inner one ...
    let diagnostics = [0x40].repeat(100_000);
    let error = DiagnosticInfo::decode(&mut Decoder::new(&diagnostics)).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::DepthExceeded);
    assert_eq!(
        DiagnosticInfo::skip(&mut Decoder::new(&diagnostics)),
        Err(error)
    );

    let nested = |levels: usize| {
        let mut value = Variant::from(1_u8);
        for _ in 0..levels {
            value = Elements::from(vec![value]).into();
        }
        variant(&value.encode_to_vec())
    };
    assert!(nested(100).is_ok());
    assert!(nested(101).is_err());
}

#[test]
fn encoders_fill_rewind_and_patch() {
    let mut buffer = [0xAA; 12];
    let mut encoder = Encoder::fixed(&mut buffer);
    encoder.u32(0).unwrap();
    encoder.string(Some("ab")).unwrap();
    assert_eq!((encoder.position(), encoder.available()), (10, 2));
    assert_eq!(
        encoder.u32(1),
        Err(EncodeError::BufferFull {
            needed: 4,
            available: 2
        })
    );
    assert_eq!(encoder.position(), 10);
    assert!(encoder.patch_u32(0, 10));
    assert!(!encoder.patch_u32(7, 1), "not yet written");
    encoder.truncate(99);
    assert_eq!(encoder.position(), 10);
    encoder.truncate(4);
    encoder.u16(0x0201).unwrap();
    assert_eq!(encoder.written(), [10, 0, 0, 0, 1, 2]);
    assert_eq!(buffer[6..], [b'\0', b'\0', b'a', b'b', 0xAA, 0xAA]);

    let mut vec = vec![9];
    let mut encoder = Encoder::growing(&mut vec, 6);
    encoder.i32(-1).unwrap();
    assert!(encoder.patch_i32(0, 5));
    assert!(!encoder.patch_i32(1, 5));
    assert_eq!(
        encoder.u32(1),
        Err(EncodeError::BufferFull {
            needed: 4,
            available: 2
        })
    );
    encoder.u16(7).unwrap();
    assert_eq!(encoder.written(), [5, 0, 0, 0, 7, 0]);
    encoder.truncate(4);
    assert_eq!(encoder.position(), 4);
    assert_eq!(vec, [9, 5, 0, 0, 0]);
}

#[test]
fn a_spilling_encoder_moves_once_and_keeps_what_it_has() {
    let mut buffer = [MaybeUninit::new(0xAA); 6];
    let mut spill = vec![9];
    let mut encoder = Encoder::spilling(&mut buffer, &mut spill, 10);
    encoder.u32(1).unwrap();
    encoder.u16(2).unwrap();
    assert!(!encoder.spilled());
    assert_eq!((encoder.position(), encoder.available()), (6, 4));
    encoder.u16(3).unwrap();
    assert!(encoder.spilled());
    assert!(encoder.patch_u32(0, 7));
    assert_eq!((encoder.position(), encoder.available()), (8, 2));
    assert_eq!(encoder.written(), [7, 0, 0, 0, 2, 0, 3, 0]);
    assert_eq!(
        encoder.u32(4),
        Err(EncodeError::BufferFull {
            needed: 4,
            available: 2
        })
    );
    encoder.truncate(2);
    assert_eq!(encoder.written(), [7, 0]);
    assert_eq!(spill, [9, 7, 0]);

    // The limit holds in the buffer, too.
    let mut spill = Vec::new();
    let mut encoder = Encoder::spilling(&mut buffer, &mut spill, 3);
    assert!(encoder.u32(1).is_err());
    encoder.u16(1).unwrap();
    assert_eq!(encoder.written(), [1, 0]);
}

#[test]
fn borrowed_arrays_share_their_bytes() {
    let numbers: Vec<u32> = (0..1024).collect();
    let bytes = Variant::from(numbers.clone()).encode_to_vec();
    let Ok(VariantRef::Array(array)) = VariantRef::decode(&mut Decoder::new(&bytes)) else {
        unreachable!("an array was encoded")
    };
    assert_eq!(array.as_bytes().as_ptr(), bytes[5..].as_ptr());
    assert_eq!(
        (array.len(), array.element_type()),
        (1024, BuiltInType::UInt32)
    );
    assert!(array.u32s().unwrap().eq(numbers.iter().copied()));
    assert!(array.i32s().is_none() && array.bools().is_none());
    let bools = [true, false];
    assert!(ArrayRef::from_bools(&bools).bools().unwrap().eq(bools));
    let mut copy = [0; 1030];
    assert_eq!(array.u32s().unwrap().copy_to(&mut copy), 1024);
    assert_eq!(copy[..1024], numbers);
    assert_eq!(ArrayRef::from_u32s(&numbers), array);
    assert_eq!(
        ArrayRef::from_encoded(BuiltInType::UInt32, array.as_bytes()),
        Some(array)
    );
    assert_eq!(
        ArrayRef::from_encoded(BuiltInType::UInt32, &[1, 2, 3]),
        None
    );
    assert_eq!(ArrayRef::from_encoded(BuiltInType::String, &[]), None);
}

#[test]
fn extension_objects_hold_structures() {
    let unit = EUInformation {
        unit_id: 4_732_211,
        display_name: "°C".into(),
        ..Default::default()
    };
    let object = ExtensionObject::from_structure(&unit);
    assert_eq!(object.decode_as::<EUInformation>(), Ok(unit));
    assert!(object.is::<EUInformation>() && !object.is::<Argument>());
    let error = object.decode_as::<Argument>().unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadDecodingError);
    assert!(ExtensionObject::NULL.decode_as::<Argument>().is_err());

    let read = ReadValueId {
        node_id: NodeId::numeric(2, 7),
        attribute_id: 13,
        ..Default::default()
    };
    let bytes = read.encode_to_vec();
    let mut decoder = Decoder::new(&bytes);
    assert_eq!(ReadValueId::decode(&mut decoder), Ok(read));
    assert_eq!(decoder.remaining(), 0);
}

#[test]
fn elements_count_their_memory_before_they_are_decoded() {
    let limits = Limits {
        max_memory: 100 * Limits::ELEMENT,
        ..Limits::DEFAULT
    };
    let array = |type_id: u8, count: u32, element: &[u8]| {
        let elements = element.repeat(count as usize);
        [&[0x80 | type_id][..], &count.to_le_bytes(), &elements].concat()
    };
    let outcomes = |bytes: &[u8]| {
        let decoder = || Decoder::with_limits(bytes, limits);
        [
            Variant::decode(&mut decoder()).map(drop),
            VariantRef::decode(&mut decoder()).map(drop),
            Variant::skip(&mut decoder()),
        ]
        .map(|outcome| outcome.map_err(|error| error.kind))
    };
    let refused = [Err(DecodeErrorKind::MemoryExceeded); 3];
    let null: [(u8, &[u8]); 7] = [
        (12, &[0xFF; 4]),
        (17, &[0; 2]),
        (20, &[0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        (21, &[0]),
        (22, &[0; 3]),
        (23, &[0]),
        (24, &[0]),
    ];
    for (type_id, element) in null {
        assert_eq!(outcomes(&array(type_id, 40, element)), [Ok(()); 3]);
        assert_eq!(outcomes(&array(type_id, 101, element)), refused);
    }
    // Elements of elements count together.
    let inner = array(24, 1, &[0]);
    assert_eq!(outcomes(&array(24, 45, &inner)), [Ok(()); 3]);
    assert_eq!(outcomes(&array(24, 60, &inner)), refused);
    // Numbers have the length of their encoding.
    assert_eq!(outcomes(&array(11, 10_000, &[0; 8])), [Ok(()); 3]);
    // So do lists of structures.
    let request = ReadRequest {
        nodes_to_read: vec![ReadValueId::default(); 200],
        ..ReadRequest::default()
    };
    let bytes = request.encode_to_vec();
    let error = ReadRequest::decode(&mut Decoder::with_limits(&bytes, limits)).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadEncodingLimitsExceeded);
}

//! Every kind of value is set and read; invalid ones are refused.

use proptest::prelude::*;
use takt_cell::{Cell, CellError, Shape};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{
    Array, BuiltInType, ByteString, DataValue, DateTime, Elements, ExtensionObject, Guid,
    LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant, VariantRef,
};

const TIME: DateTime = DateTime(133_000_000_000_000_000);
const SERVER_TIME: DateTime = DateTime(133_000_000_000_000_777);

/// One value of every kind, and arrays of lengths around those at which the copying code changes.
fn values() -> Vec<Variant> {
    let mut values = vec![
        Variant::from(true),
        Variant::from(-1_i8),
        Variant::from(200_u8),
        Variant::from(-30_000_i16),
        Variant::from(60_000_u16),
        Variant::from(-2_000_000_000_i32),
        Variant::from(4_000_000_000_u32),
        Variant::from(i64::MIN),
        Variant::from(u64::MAX),
        Variant::from(-0.5_f32),
        Variant::from(1e300_f64),
        Variant::from("Drehzahl in min⁻¹"),
        Variant::String(UaString::null()),
        Variant::from(""),
        Variant::from("x".repeat(2000).as_str()),
        Variant::from(TIME),
        Variant::from(Guid {
            data1: 1,
            data2: 2,
            data3: 3,
            data4: [4; 8],
        }),
        Variant::from(ByteString::from(vec![7; 700])),
        Variant::ByteString(ByteString::null()),
        Variant::from(NodeId::string(3, "Spindle")),
        Variant::from(StatusCode::BadTimeout),
        Variant::from(QualifiedName {
            namespace: 2,
            name: "Speed".into(),
        }),
        Variant::from(LocalizedText {
            locale: "en".into(),
            text: "Speed".into(),
        }),
        Variant::from(ExtensionObject::default()),
        Variant::from(DataValue::good(5_u32)),
        Variant::from(vec![
            UaString::from("a"),
            UaString::null(),
            UaString::from("c"),
        ]),
        Variant::from(vec![Variant::from(1_u8), Variant::from("two")]),
        Variant::from(vec![NodeId::numeric(0, 85); 300]),
        Variant::from(vec![DateTime(1), TIME]),
        Array {
            elements: Elements::from((0..12_i32).collect::<Vec<_>>()),
            dimensions: vec![3, 4],
        }
        .into(),
        Array {
            elements: Elements::from(vec![0.5_f64; 1000]),
            dimensions: vec![10, 100],
        }
        .into(),
    ];
    for length in [
        0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 255, 256, 257, 1024, 1025,
    ] {
        values.push(Variant::from(vec![length % 2 == 0; length]));
        values.push(Variant::from(
            (0..length).map(|n| n as u8).collect::<Vec<_>>(),
        ));
        values.push(Variant::from(
            (0..length).map(|n| n as i16 - 5).collect::<Vec<_>>(),
        ));
        values.push(Variant::from(
            (0..length).map(|n| n as u32 * 77).collect::<Vec<_>>(),
        ));
        values.push(Variant::from(
            (0..length).map(|n| n as f64 / 3.0).collect::<Vec<_>>(),
        ));
    }
    values
}

fn encoded(value: &impl Encode) -> Vec<u8> {
    value.encode_to_vec()
}

#[test]
fn every_kind_of_value_comes_back() {
    for value in values() {
        let bytes = encoded(&value);
        for way in 0..3 {
            let cell = Cell::of(&value);
            assert_eq!(cell.capacity(), bytes.len());
            assert_eq!(cell.get().unwrap().value.as_ref(), Some(&value));
            let generation = cell.generation();
            match way {
                0 => cell.set(&value, StatusCode::Good, TIME),
                1 => {
                    let view = VariantRef::decode(&mut Decoder::new(&bytes)).unwrap();
                    cell.set_ref(&view, StatusCode::Good, TIME)
                }
                _ => cell.set_encoded(&bytes, StatusCode::Good, TIME),
            }
            .unwrap();
            assert!(cell.generation() > generation);
            let expected = DataValue::good(value.clone())
                .with_status(StatusCode::Good)
                .with_source_timestamp(TIME);
            assert_eq!(cell.get().unwrap(), expected, "way {way}");

            let mut buffer = vec![0; bytes.len()];
            let reading = cell.read_into(&mut buffer).unwrap();
            assert_eq!(buffer, bytes);
            assert_eq!(
                (reading.length, reading.status, reading.source_timestamp),
                (bytes.len(), StatusCode::Good, TIME)
            );
            assert_eq!(reading.generation, cell.generation());
        }
    }
}

/// The cell encodes a DataValue as the general encoder does.
#[test]
fn data_values_are_encoded_as_everywhere_else() {
    let wanted = [
        (TimestampsToReturn::Source, true, false),
        (TimestampsToReturn::Server, false, true),
        (TimestampsToReturn::Both, true, true),
        (TimestampsToReturn::Neither, false, false),
    ];
    for value in values() {
        let cell = Cell::of(&value);
        for status in [
            StatusCode::Good,
            StatusCode::UncertainLastUsableValue,
            StatusCode::BadTimeout,
        ] {
            for time in [TIME, DateTime::MIN] {
                cell.set(&value, status, time).unwrap();
                for (timestamps, source, server) in wanted {
                    let expected = DataValue {
                        value: (!status.is_bad()).then(|| value.clone()),
                        status: (status != StatusCode::Good).then_some(status),
                        source_timestamp: (source && time == TIME).then_some(time),
                        server_timestamp: server.then_some(SERVER_TIME),
                        ..DataValue::default()
                    };
                    let mut expected_bytes = b"before".to_vec();
                    expected_bytes.extend(encoded(&expected));

                    let mut buffer = vec![0xEE; expected_bytes.len()];
                    let mut encoder = Encoder::fixed(&mut buffer);
                    encoder.bytes(b"before").unwrap();
                    cell.encode_data_value(&mut encoder, timestamps, SERVER_TIME)
                        .unwrap();
                    assert_eq!(buffer, expected_bytes);

                    let mut grown = Vec::new();
                    let mut encoder = Encoder::growing(&mut grown, usize::MAX);
                    encoder.bytes(b"before").unwrap();
                    cell.encode_data_value(&mut encoder, timestamps, SERVER_TIME)
                        .unwrap();
                    assert_eq!(grown, expected_bytes);
                }
            }
        }
    }
}

#[test]
fn a_full_encoder_is_left_as_it_was() {
    for value in values() {
        let cell = Cell::of(&value);
        let mut whole = Vec::new();
        let mut encoder = Encoder::growing(&mut whole, usize::MAX);
        cell.encode_data_value(&mut encoder, TimestampsToReturn::Both, SERVER_TIME)
            .unwrap();
        for room in (0..whole.len()).step_by(1 + whole.len() / 40) {
            let mut buffer = vec![0; 2 + room];
            let mut encoder = Encoder::fixed(&mut buffer);
            encoder.bytes(&[1, 2]).unwrap();
            let error = cell
                .encode_data_value(&mut encoder, TimestampsToReturn::Both, SERVER_TIME)
                .unwrap_err();
            assert!(matches!(error, CellError::Encode(_)), "{error:?}");
            assert_eq!(encoder.position(), 2);
        }
    }
}

#[test]
fn a_new_cell_waits_for_its_value() {
    for cell in [
        Cell::new(100),
        Cell::for_type(BuiltInType::Double, None, 0),
        Cell::for_type(BuiltInType::Byte, Some(5), 0),
    ] {
        let value = cell.get().unwrap();
        assert_eq!(
            value,
            DataValue::status(StatusCode::BadWaitingForInitialData)
        );
        assert_eq!(cell.read_into(&mut []).unwrap().length, 0);
        assert!(cell.read_scalar::<f64>().unwrap().0.is_none());
        assert!(cell.read_slice::<u8>(&mut []).unwrap().0.is_none());
        let mut bytes = Vec::new();
        cell.encode_value(&mut Encoder::growing(&mut bytes, 10))
            .unwrap();
        assert_eq!(bytes, [0], "the null Variant");
    }
}

#[test]
fn a_status_takes_the_value_away() {
    let cell = Cell::of(&Variant::from(5_u32));
    cell.set_status(StatusCode::BadNoCommunication, TIME)
        .unwrap();
    let expected = DataValue::status(StatusCode::BadNoCommunication).with_source_timestamp(TIME);
    assert_eq!(cell.get().unwrap(), expected);
    cell.set_u32(6, StatusCode::Good, TIME).unwrap();
    cell.set(&Variant::Empty, StatusCode::Good, TIME).unwrap();
    assert_eq!(cell.get().unwrap().value, None);
    cell.set_encoded(&[0], StatusCode::Good, TIME).unwrap();
    assert_eq!(cell.get().unwrap().value, None);
    // With a Bad status the last value is kept, but not returned to clients.
    cell.set_u32(7, StatusCode::BadSensorFailure, TIME).unwrap();
    assert_eq!(cell.get().unwrap().value, None);
    assert_eq!(cell.read_scalar::<u32>().unwrap().0, Some(7));
}

#[test]
fn another_type_is_refused() {
    let cell = Cell::of(&Variant::from(vec![1_u32, 2]));
    let before = cell.get().unwrap();
    let refused = [
        cell.set_u32(1, StatusCode::Good, TIME),
        cell.set_i32s(&[1, 2], StatusCode::Good, TIME),
        cell.set_string(Some(""), StatusCode::Good, TIME),
        cell.set(&Variant::from(1.0_f64), StatusCode::Good, TIME),
        cell.set_encoded(&[1, 1], StatusCode::Good, TIME),
    ];
    for error in refused {
        let error = error.unwrap_err();
        assert!(matches!(error, CellError::WrongType { .. }), "{error:?}");
        assert_eq!(error.status_code(), StatusCode::BadTypeMismatch);
    }
    let text = cell
        .set_bool(true, StatusCode::Good, TIME)
        .unwrap_err()
        .to_string();
    assert_eq!(text, "the cell holds an array of UInt32, not one Boolean");
    assert!(matches!(
        cell.read_scalar::<u32>(),
        Err(CellError::WrongType { .. })
    ));
    assert!(matches!(
        cell.read_slice::<i32>(&mut [0; 2]),
        Err(CellError::WrongType { .. })
    ));
    assert_eq!(cell.get().unwrap(), before);
}

#[test]
fn too_long_values_are_refused() {
    let cell = Cell::for_type(BuiltInType::String, None, 10);
    cell.set_string(Some("0123456789"), StatusCode::Good, TIME)
        .unwrap();
    let error = cell
        .set_string(Some("0123456789a"), StatusCode::Good, TIME)
        .unwrap_err();
    assert_eq!(
        error,
        CellError::TooLarge {
            needed: 16,
            capacity: 15
        }
    );
    assert_eq!(error.status_code(), StatusCode::BadOutOfRange);
    assert_eq!(cell.get().unwrap().value, Some("0123456789".into()));

    let cell = Cell::of(&Variant::from(vec![0_u64; 100]));
    assert!(cell.set_u64s(&[0; 101], StatusCode::Good, TIME).is_err());
    cell.set_u64s(&[9; 3], StatusCode::Good, TIME).unwrap();
    assert_eq!(cell.get().unwrap().value, Some(vec![9_u64; 3].into()));
    assert!(matches!(
        cell.read_slice(&mut [0_u64; 2]),
        Err(CellError::Encode(_))
    ));
}

#[test]
fn encoded_values_are_checked() {
    let cell = Cell::new(100);
    for bad in [
        &[7, 1, 2, 3][..],
        &[7, 1, 2, 3, 4, 5],
        &[63],
        &[12, 1, 0, 0, 0, 0xFF],
        &[],
    ] {
        let error = cell.set_encoded(bad, StatusCode::Good, TIME).unwrap_err();
        assert!(matches!(error, CellError::Decode(_)), "{error:?}");
    }
    assert_eq!(cell.get().unwrap().value, None);
    assert!(matches!(
        cell.set_encoded(&[0; 101], StatusCode::Good, TIME),
        Err(CellError::TooLarge { .. })
    ));
}

/// Arrays longer than the default limits of decoders, in a cell created for them.
#[test]
fn very_long_arrays() {
    let value = Variant::from(vec![true; 3 << 20]);
    let cell = Cell::of(&value);
    assert_eq!(cell.get().unwrap().value.as_ref(), Some(&value));
    cell.set_encoded(&encoded(&value), StatusCode::Good, TIME)
        .unwrap();
}

#[test]
fn capacity_is_as_requested() {
    for data_type in BuiltInType::all() {
        if let Some(size) = data_type.encoded_size() {
            assert_eq!(Cell::for_type(data_type, None, 0).capacity(), 1 + size);
        }
    }
    let text = || "t".repeat(20);
    let cases = [
        (
            BuiltInType::LocalizedText,
            Variant::from(LocalizedText {
                locale: "de".into(),
                text: text().into(),
            }),
            22,
        ),
        (
            BuiltInType::QualifiedName,
            Variant::from(QualifiedName {
                namespace: 9,
                name: text().into(),
            }),
            20,
        ),
        (
            BuiltInType::NodeId,
            Variant::from(NodeId::string(999, &text())),
            20,
        ),
        (
            BuiltInType::ByteString,
            Variant::from(ByteString::from(vec![1; 20])),
            20,
        ),
    ];
    for (data_type, value, bytes) in cases {
        let cell = Cell::for_type(data_type, None, bytes);
        cell.set(&value, StatusCode::Good, TIME).unwrap();
        assert_eq!(cell.shape(), Shape::scalar(data_type));
    }
    let matrix = Array {
        elements: Elements::from(vec![1_i32; 8]),
        dimensions: vec![2, 2, 2],
    };
    let cell = Cell::for_type(BuiltInType::Int32, Some(8), 0);
    cell.set(&matrix.into(), StatusCode::Good, TIME).unwrap();
    assert_eq!(cell.shape(), Shape::array(BuiltInType::Int32));
    // A Variable of DataType BaseDataType accepts any value.
    let cell = Cell::for_type(BuiltInType::Variant, None, 20);
    cell.set_u32(1, StatusCode::Good, TIME).unwrap();
    cell.set_f64s(&[1.0], StatusCode::Good, TIME).unwrap();
    // Growing strings.
    let cell = Cell::of_with_capacity(&Variant::from(""), 100);
    cell.set_string(Some(&"s".repeat(95)), StatusCode::Good, TIME)
        .unwrap();
}

proptest! {
    /// Values of changing length in one cell: nothing of a longer one shows in a shorter one.
    #[test]
    fn lengths_change(texts in prop::collection::vec("[a-z]{0,300}", 1..12)) {
        let cell = Cell::for_type(BuiltInType::String, None, 300);
        for text in texts {
            cell.set_string(Some(&text), StatusCode::Good, TIME).unwrap();
            prop_assert_eq!(cell.get().unwrap().value, Some(text.as_str().into()));
        }
    }

    /// Bytes from anywhere are refused or come back as they are.
    #[test]
    fn hostile_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let cell = Cell::new(60);
        if cell.set_encoded(&bytes, StatusCode::Good, TIME).is_ok() {
            let mut buffer = [0; 60];
            let reading = cell.read_into(&mut buffer).unwrap();
            prop_assert!(reading.length == 0 && bytes == [0] || buffer[..reading.length] == bytes);
            cell.get().unwrap();
        }
    }
}

//! The setters and getters by type, for a real-time thread.

use takt_cell::{Cell, CellError, EncodedScalar};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

const TIME: DateTime = DateTime(133_000_000_000_000_000);
const LATER: DateTime = DateTime(133_000_000_000_000_777);

macro_rules! typed {
    ($($one:ident $many:ident $type:ty, $a:expr, $b:expr;)*) => {
        #[test]
        fn typed_setters_and_getters() {
            $(
                let (a, b): ($type, $type) = ($a, $b);
                let cell = Cell::of(&Variant::from(a));
                cell.$one(b, StatusCode::UncertainInitialValue, TIME).unwrap();
                let (value, reading) = cell.read_scalar::<$type>().unwrap();
                assert_eq!(value, Some(b));
                assert_eq!((reading.status, reading.source_timestamp), (StatusCode::UncertainInitialValue, TIME));
                assert_eq!(cell.get().unwrap().value, Some(Variant::from(b)));
                for length in [0, 1, 2, 3, 5, 8, 13, 21, 100] {
                    let cell = Cell::of(&Variant::from(vec![a; 100]));
                    let elements: Vec<$type> = (0..length).map(|n| if n % 3 == 0 { b } else { a }).collect();
                    cell.$many(&elements, StatusCode::Good, TIME).unwrap();
                    let mut target = vec![a; 100];
                    assert_eq!(cell.read_slice(&mut target).unwrap().0, Some(length));
                    assert_eq!(&target[..length], elements);
                    assert!(target[length..].iter().all(|element| *element == a));
                    assert_eq!(cell.get().unwrap().value, Some(Variant::from(elements)));
                }
            )*
        }
    };
}

typed! {
    set_bool set_bools bool, false, true;
    set_i8 set_i8s i8, 1, -2;
    set_u8 set_u8s u8, 1, 255;
    set_i16 set_i16s i16, 1, i16::MIN;
    set_u16 set_u16s u16, 1, 0xABCD;
    set_i32 set_i32s i32, 1, -123_456_789;
    set_u32 set_u32s u32, 1, 0xDEAD_BEEF;
    set_i64 set_i64s i64, 1, i64::MIN + 3;
    set_u64 set_u64s u64, 1, 0x0123_4567_89AB_CDEF;
    set_f32 set_f32s f32, 1.0, -3.5e-20;
    set_f64 set_f64s f64, 1.0, -3.5e-200;
}

#[test]
fn status_codes_and_times_are_scalars_too() {
    let cell = Cell::for_type(BuiltInType::StatusCode, None, 0);
    cell.set_scalar(StatusCode::BadTimeout, StatusCode::Good, TIME)
        .unwrap();
    assert_eq!(
        cell.read_scalar::<StatusCode>().unwrap().0,
        Some(StatusCode::BadTimeout)
    );
    let cell = Cell::for_type(BuiltInType::DateTime, None, 0);
    cell.set_scalar(LATER, StatusCode::Good, TIME).unwrap();
    assert_eq!(cell.read_scalar::<DateTime>().unwrap().0, Some(LATER));
}

#[test]
fn encoded_scalars_are_scalars() {
    let values = [
        Variant::Boolean(true),
        Variant::SByte(-2),
        Variant::Byte(200),
        Variant::Int16(-3),
        Variant::UInt16(60_000),
        Variant::Int32(-4),
        Variant::UInt32(u32::MAX),
        Variant::Int64(-5),
        Variant::UInt64(u64::MAX - 1),
        Variant::Float(1.5),
        Variant::Double(-2.5),
        Variant::DateTime(DateTime(0x0102_0304_0506_0708)),
        Variant::StatusCode(StatusCode::BadTimeout),
    ];
    for value in &values {
        let (source, target) = (
            Cell::of(value),
            Cell::for_type(value.built_in_type().unwrap(), None, 0),
        );
        let (scalar, reading) = source.read_encoded_scalar().unwrap();
        assert_eq!(
            reading.length,
            1 + value.built_in_type().unwrap().encoded_size().unwrap()
        );
        // Bits above the value are ignored.
        let above = match reading.length {
            9 => 0,
            length => u64::MAX << (8 * (length - 1)),
        };
        let scalar = EncodedScalar {
            bytes: scalar.bytes | above,
            ..scalar
        };
        target
            .set_encoded_scalar(scalar, StatusCode::Good, DateTime(7))
            .unwrap();
        let found = target.get().unwrap();
        assert_eq!(found.value.as_ref(), Some(value));
        assert_eq!(found.source_timestamp, Some(DateTime(7)));
    }
    let any = Cell::new(64);
    let mut scalar = EncodedScalar {
        encoding_mask: 1,
        bytes: 0xFFFF_FF08,
    };
    any.set_encoded_scalar(scalar, StatusCode::Good, DateTime(7))
        .unwrap();
    assert_eq!(any.read_scalar::<bool>().unwrap().0, Some(true));
    // No value, a text, an array, and an unknown type.
    for encoding_mask in [0, 12, 0x86, 63] {
        scalar.encoding_mask = encoding_mask;
        let error = any
            .set_encoded_scalar(scalar, StatusCode::Good, DateTime(8))
            .unwrap_err();
        assert!(matches!(error, CellError::WrongType { .. }), "{error}");
    }
    let number = Cell::of(&Variant::Double(1.0));
    scalar.encoding_mask = 6;
    assert!(
        number
            .set_encoded_scalar(scalar, StatusCode::Good, DateTime(8))
            .is_err()
    );
    assert_eq!(
        any.read_scalar::<bool>().unwrap().0,
        Some(true),
        "as it was"
    );
}

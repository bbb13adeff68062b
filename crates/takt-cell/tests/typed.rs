//! The setters and getters by type, for a real-time thread.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)] // A failing test may panic.

use takt_cell::Cell;
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

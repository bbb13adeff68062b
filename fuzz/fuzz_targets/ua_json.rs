//! The compact JSON form: any text for any type.

use takt_fuzz::choice;
use takt_ua::binary::Encode;
use takt_ua::{BuiltInType, json};

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    let (Some(built_in_type), Ok(text)) =
        (BuiltInType::from_u8(kind % 26), std::str::from_utf8(bytes))
    else {
        return;
    };
    let Ok(value) = json::parse_variant(text, built_in_type) else {
        return;
    };
    // A Variant may hold any type.
    if built_in_type != BuiltInType::Variant {
        assert_eq!(
            value.built_in_type().unwrap_or(built_in_type),
            built_in_type
        );
    }
    // A decoded value is written and read again unchanged.
    if let Ok(again) = json::variant_from_value(&json::to_value(&value)) {
        let _ = again.encode_to_vec();
    }
}

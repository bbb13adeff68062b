//! Variants and DataValues: owned and borrowed forms accept the same bytes and have the same values; ranges of them
//! never panic. A tolerant decoder reads any list.

use takt_fuzz::{choice, decode, round_trip};
use takt_ua::binary::{Decode, Encode};
use takt_ua::{DataValue, DataValueRef, NumericRange, Variant, VariantRef, foreign};

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    tolerant(bytes);
    if kind % 2 == 0 {
        let owned = round_trip::<DataValue>(bytes);
        let borrowed = decode::<DataValueRef<'_>>(bytes).ok();
        assert_eq!(
            owned.map(|value| value.encode_to_vec()),
            borrowed.map(|value| value.to_owned().encode_to_vec())
        );
        return;
    }
    let owned = round_trip::<Variant>(bytes);
    let borrowed = decode::<VariantRef<'_>>(bytes).ok();
    assert_eq!(
        owned.as_ref().map(Encode::encode_to_vec),
        borrowed.map(|value| value.to_owned().encode_to_vec())
    );
    if let Some(mut value) = owned {
        for range in ["0", "1:3", "0:1,1:2", "4294967295"] {
            let range: NumericRange = range.parse().expect("a valid range");
            let Ok(part) = range.read(&value) else {
                continue;
            };
            // A range that exceeds the value can be read, but may not be writable.
            if range.write(&mut value, &part).is_ok() {
                let again = range.read(&value).expect("what was just written");
                assert_eq!(part.encode_to_vec(), again.encode_to_vec());
            }
        }
    }
}

/// Decodes lists as a client does, which reads bodies without a length otherwise than a server.
fn tolerant(bytes: &[u8]) {
    let _ = foreign::decode(bytes, Vec::<DataValue>::decode);
    let _ = foreign::decode(bytes, Vec::<Variant>::decode);
}

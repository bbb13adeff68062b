//! Functions that the fuzz targets share.
//!
//! A target fails by panicking. Decoding must not panic by itself, and a decoded value must survive encoding and decoding.

use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, Limits};

/// Limits that keep one input cheap, so that many can be tried.
pub const LIMITS: Limits = Limits {
    max_string_length: 1 << 16,
    max_array_length: 1 << 16,
    ..Limits::DEFAULT
};

/// Decodes one value at the start of `bytes`.
///
/// # Errors
/// The error of the decoder.
pub fn decode<'a, T: Decode<'a>>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let mut decoder = Decoder::with_limits(bytes, LIMITS);
    let value = T::decode(&mut decoder)?;
    assert!(decoder.position() <= bytes.len());
    assert_eq!(decoder.position() + decoder.remaining(), bytes.len());
    Ok(value)
}

/// Decodes a value, encodes it, decodes it again, and checks that it is encoded to the same bytes again. These may differ from
/// the input, because some values have several encodings. Bytes are compared, because NaN is not equal to itself.
pub fn round_trip<T: for<'a> Decode<'a> + Encode>(bytes: &[u8]) -> Option<T> {
    let value: T = decode(bytes).ok()?;
    let encoded = value.encode_to_vec();
    let again: T = match decode(&encoded) {
        Ok(again) => again,
        Err(error) => panic!("encoded and not decodable: {error}\n{encoded:02x?}"),
    };
    assert_eq!(encoded, again.encode_to_vec());
    Some(value)
}

/// Splits off the first byte, which chooses what to do with the rest.
#[must_use]
pub fn choice(data: &[u8]) -> Option<(u8, &[u8])> {
    data.split_first().map(|(first, rest)| (*first, rest))
}

/// The parts of an input: each begins with its length in one byte.
pub fn parts(mut data: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = choice(data)?;
        let (part, rest) = rest.split_at(usize::from(length).min(rest.len()));
        data = rest;
        Some(part)
    })
}

//! DataSetMessages with fields that cannot be decoded: all other fields are kept.
//!
//! The end of such a field is found from its lengths and masks, as [`takt_ua::foreign`] describes. If they do not tell it, or
//! if the message does not end where its last field does, nothing of the message is kept.

use takt_ua::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, Encoder};
use takt_ua::{DataValue, DataValueRef, StatusCode, Variant, VariantRef, foreign};

use super::{DataSetMessageRef, flags};
use crate::error::{WireError, padding};

/// A DataSetMessage in which fields that could not be decoded were replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct MendedDataSetMessage {
    data_set_writer_id: Option<u16>,
    bytes: Vec<u8>,
    fields: Vec<DamagedField>,
}

/// A field that cannot be decoded as OPC 10000-6 has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedField {
    /// Index of the field in the metadata.
    pub index: usize,
    /// Error of the field; `None` if only its text is not UTF-8: each part that is not was replaced by U+FFFD.
    pub error: Option<StatusCode>,
}

/// Error of a DataSetMessage of which nothing can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostMessage {
    /// Index of the field whose end is not known; `None` if the error is not in a field.
    pub field: Option<usize>,
    /// Error of the message.
    pub error: WireError,
}

impl From<WireError> for LostMessage {
    fn from(error: WireError) -> Self {
        Self { field: None, error }
    }
}

impl From<DecodeError> for LostMessage {
    fn from(error: DecodeError) -> Self {
        WireError::from(error).into()
    }
}

impl MendedDataSetMessage {
    /// Mends the message that the bytes from `start` to `end` of a NetworkMessage are; if `has_size` is false, others may
    /// follow it. `error` is the reason why it cannot be decoded.
    pub(crate) fn new(
        data_set_writer_id: Option<u16>,
        bytes: &[u8],
        (start, end): (usize, usize),
        has_size: bool,
        error: WireError,
    ) -> Result<Self, LostMessage> {
        let message = bytes.get(start..end).unwrap_or_default();
        let Some(head) = Head::of(message) else {
            return Err(error.into());
        };
        let at = |lost: LostMessage| LostMessage {
            error: WireError {
                offset: lost.error.offset + start,
                ..lost.error
            },
            ..lost
        };
        let (bytes, fields) =
            foreign::decode_as(message, |decoder| head.mend(message, decoder, has_size))
                .map_err(at)?;
        let mended = Self {
            data_set_writer_id,
            bytes,
            fields,
        };
        // Rules of the header, and of the fields together.
        match DataSetMessageRef::decode(data_set_writer_id, &mut Decoder::new(&mended.bytes)) {
            Ok(_) => Ok(mended),
            // The first error: the offsets of the other one would be those of the copy.
            Err(_) => Err(error.into()),
        }
    }

    /// Returns the message. A StatusCode stands for a field that could not be decoded, or a DataValue without a value.
    ///
    /// # Errors
    /// There is none: the message was decoded before.
    pub fn message(&self) -> Result<DataSetMessageRef<'_>, WireError> {
        DataSetMessageRef::decode(self.data_set_writer_id, &mut Decoder::new(&self.bytes))
    }

    /// Returns the fields that could not be decoded, and those whose text was mended.
    pub fn fields(&self) -> &[DamagedField] {
        &self.fields
    }
}

/// Place and encoding of the fields of a message.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Offset of the number of fields.
    start: usize,
    has_indexes: bool,
    are_data_values: bool,
}

impl Head {
    /// Returns `None` if the message has no list of fields.
    fn of(message: &[u8]) -> Option<Self> {
        let flags1 = *message.first()?;
        let encoding = flags1 & flags::FIELD_ENCODING;
        if flags1 & flags::VALID == 0 || encoding & flags::RAW_DATA != 0 {
            return None;
        }
        let flags2 = match flags1 & flags::FLAGS2 {
            0 => 0,
            _ => *message.get(1)?,
        };
        let size = |flags: u8, bit: u8, size: usize| if flags & bit != 0 { size } else { 0 };
        let header = 1
            + size(flags1, flags::FLAGS2, 1)
            + size(flags1, flags::SEQUENCE_NUMBER, 2)
            + size(flags2, flags::TIMESTAMP, 8)
            + size(flags2, flags::PICO_SECONDS, 2)
            + size(flags1, flags::STATUS, 2)
            + size(flags1, flags::MAJOR_VERSION, 4)
            + size(flags1, flags::MINOR_VERSION, 4);
        let kind = flags2 & flags::MESSAGE_TYPE;
        let before_fields = match kind {
            flags::KEY_FRAME | flags::DELTA_FRAME | flags::EVENT => 0,
            // ActionTargetId, RequestId and ActionState.
            flags::ACTION_REQUEST | flags::ACTION_RESPONSE => 5,
            _ => return None,
        };
        Some(Self {
            start: header + before_fields,
            has_indexes: kind == flags::DELTA_FRAME,
            are_data_values: encoding == flags::DATA_VALUE,
        })
    }

    fn mend(
        self,
        message: &[u8],
        decoder: &mut Decoder<'_>,
        has_size: bool,
    ) -> Result<(Vec<u8>, Vec<DamagedField>), LostMessage> {
        decoder.bytes(self.start)?;
        let count = decoder.u16()?;
        let mut mended = message
            .get(..decoder.position())
            .unwrap_or_default()
            .to_vec();
        let mut damaged = Vec::new();
        for position in 0..count {
            let mut index = position;
            if self.has_indexes {
                index = decoder.u16()?;
                mended.extend(index.to_le_bytes());
            }
            let index = usize::from(index);
            let (start, offset) = (decoder.rest(), decoder.position());
            // Each field is read twice: the strict error tells which fields the tolerant decoder has mended.
            let (read, strict) = match self.are_data_values {
                true => (
                    data_value(decoder, &mut mended),
                    strict_error::<DataValueRef<'_>>(start),
                ),
                false => (
                    variant(decoder, &mut mended),
                    strict_error::<VariantRef<'_>>(start),
                ),
            };
            let lost = |error: DecodeError| LostMessage {
                field: Some(index),
                error: error.into(),
            };
            let strict = strict.map(|error| DecodeError::new(offset + error.offset, error.kind));
            let is_readable = read.map_err(|error| lost(strict.unwrap_or(error)))?;
            if decoder.is_lost() {
                let end = decoder.error(DecodeErrorKind::UnexpectedEnd);
                return Err(lost(strict.unwrap_or(end)));
            }
            if let Some(strict) = strict {
                damaged.push(DamagedField {
                    index,
                    error: (!is_readable).then(|| strict.status_code()),
                });
            }
        }
        // Without a size, other messages may follow directly, so there is no padding to check.
        if has_size {
            let size = padding(decoder)?;
            decoder.bytes(size)?;
        }
        Ok((mended, damaged))
    }
}

/// Returns the error of a value that stands at the start of the bytes.
fn strict_error<'a, T: Decode<'a>>(bytes: &'a [u8]) -> Option<DecodeError> {
    T::skip(&mut Decoder::new(bytes)).err()
}

/// Copies a Variant; returns false if it cannot be decoded, and appends its StatusCode.
fn variant(decoder: &mut Decoder<'_>, mended: &mut Vec<u8>) -> Result<bool, DecodeError> {
    const STATUS_CODE: u8 = takt_ua::BuiltInType::StatusCode as u8;
    let mask = decoder.rest().first().copied();
    // As an element of a list: there, a StatusCode takes the place of a bad value.
    let value = Variant::decode_elements(decoder, 1)?
        .pop()
        .unwrap_or_default();
    append(&value, mended);
    // A StatusCode that was sent can always be decoded.
    Ok(!matches!(value, Variant::StatusCode(_)) || mask == Some(STATUS_CODE))
}

/// Copies a DataValue; returns false if its value cannot be decoded, and appends it without the value.
fn data_value(decoder: &mut Decoder<'_>, mended: &mut Vec<u8>) -> Result<bool, DecodeError> {
    const VALUE: u8 = 0x01;
    let has_value = decoder.rest().first().is_some_and(|mask| mask & VALUE != 0);
    let value = DataValue::decode(decoder)?;
    append(&value, mended);
    Ok(!has_value || value.value.is_some())
}

fn append(value: &impl Encode, mended: &mut Vec<u8>) {
    // A value that was decoded is not longer than a growing buffer can be.
    let _ = value.encode(&mut Encoder::growing(mended, usize::MAX));
}

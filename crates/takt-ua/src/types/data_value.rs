//! DataValue (OPC 10000-4, 7.11; OPC 10000-6, 5.2.2.17), owned and borrowed.

use super::DateTime;
use super::extent::pass_variant;
use crate::StatusCode;
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

const VALUE: u8 = 0x01;
const STATUS: u8 = 0x02;
const SOURCE_TIMESTAMP: u8 = 0x04;
const SERVER_TIMESTAMP: u8 = 0x08;
const SOURCE_PICOSECONDS: u8 = 0x10;
const SERVER_PICOSECONDS: u8 = 0x20;

/// Largest picoseconds that the standard allows, in units of 10 ps.
const MAX_PICOSECONDS: u16 = 9999;

/// A value with its quality and its timestamps. `V` is a Variant, owned or borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataValue<V> {
    /// The value.
    pub value: Option<V>,
    /// Quality of the value; `None` stands for Good.
    pub status: Option<StatusCode>,
    /// Time at which the source set the value.
    pub source_timestamp: Option<DateTime>,
    /// Addition to the source timestamp, in units of 10 ps, at most 9999.
    pub source_picoseconds: Option<u16>,
    /// Time at which the server received the value, or knew it to be accurate.
    pub server_timestamp: Option<DateTime>,
    /// Addition to the server timestamp, in units of 10 ps, at most 9999.
    pub server_picoseconds: Option<u16>,
}

// Not derived: a DataValue without a value needs no default of it.
impl<V> Default for DataValue<V> {
    #[inline]
    fn default() -> Self {
        Self {
            value: None,
            status: None,
            source_timestamp: None,
            source_picoseconds: None,
            server_timestamp: None,
            server_picoseconds: None,
        }
    }
}

impl<V> DataValue<V> {
    /// Returns a value of quality Good, without timestamps.
    pub fn good(value: impl Into<V>) -> Self {
        Self {
            value: Some(value.into()),
            ..Self::default()
        }
    }

    /// Creates a DataValue without a value; the StatusCode has the reason.
    pub fn status(status: StatusCode) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }

    /// Returns the same with a StatusCode.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self {
            status: Some(status),
            ..self
        }
    }

    /// Returns the same with a source timestamp.
    #[must_use]
    pub fn with_source_timestamp(self, time: DateTime) -> Self {
        Self {
            source_timestamp: Some(time),
            ..self
        }
    }

    /// Returns the same with a server timestamp.
    #[must_use]
    pub fn with_server_timestamp(self, time: DateTime) -> Self {
        Self {
            server_timestamp: Some(time),
            ..self
        }
    }

    /// Returns the quality; Good if there is no StatusCode.
    #[inline]
    pub fn status_code(&self) -> StatusCode {
        self.status.unwrap_or_default()
    }
}

impl<V: Encode> Encode for DataValue<V> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        encoder.u8(bit(self.value.is_some(), VALUE)
            | bit(self.status.is_some(), STATUS)
            | bit(self.source_timestamp.is_some(), SOURCE_TIMESTAMP)
            | bit(self.server_timestamp.is_some(), SERVER_TIMESTAMP)
            | bit(self.source_picoseconds.is_some(), SOURCE_PICOSECONDS)
            | bit(self.server_picoseconds.is_some(), SERVER_PICOSECONDS))?;
        if let Some(value) = &self.value {
            value.encode(encoder)?;
        }
        if let Some(status) = self.status {
            status.encode(encoder)?;
        }
        if let Some(time) = self.source_timestamp {
            time.encode(encoder)?;
        }
        if let Some(picoseconds) = self.source_picoseconds {
            encoder.u16(picoseconds)?;
        }
        if let Some(time) = self.server_timestamp {
            time.encode(encoder)?;
        }
        if let Some(picoseconds) = self.server_picoseconds {
            encoder.u16(picoseconds)?;
        }
        Ok(())
    }
}

/// Reads the encoding mask, whose upper bits must not be set, because the standard does not define them.
#[inline]
fn decode_mask(decoder: &mut Decoder<'_>) -> Result<u8, DecodeError> {
    let mask = decoder.u8()?;
    if mask & 0xC0 != 0 {
        let offset = decoder.position().saturating_sub(1);
        return Err(DecodeError::new(
            offset,
            DecodeErrorKind::InvalidEncodingByte(mask),
        ));
    }
    Ok(mask)
}

impl<'a, V: Decode<'a>> Decode<'a> for DataValue<V> {
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let (mut mask, mut unreadable) = match decode_mask(decoder) {
            Ok(mask) => (mask, None),
            // Unknown bits may announce unknown fields, so the end of this value is not known.
            Err(error) => (0, Some(decoder.lose(error)?)),
        };
        let mut value = None;
        if mask & VALUE != 0 {
            let start = decoder.rest();
            match V::decode(decoder) {
                Ok(decoded) => value = Some(decoded),
                Err(error) => {
                    unreadable = Some(decoder.pass_unreadable(start, error, pass_variant)?);
                    // The fields behind the value are lost with it.
                    if decoder.is_lost() {
                        mask = 0;
                    }
                }
            }
        }
        let has = |bit: u8| mask & bit != 0;
        // Picoseconds above the maximum are read as the maximum (OPC 10000-6, 5.2.2.17).
        let picoseconds =
            |decoder: &mut Decoder<'a>| decoder.u16().map(|value| value.min(MAX_PICOSECONDS));
        let status = has(STATUS).then(|| decoder.value()).transpose()?;
        // The fields are read in this order, which is that of the encoding.
        Ok(Self {
            value,
            // Why there is no value is worth more than the sender's StatusCode.
            status: unreadable.or(status),
            source_timestamp: has(SOURCE_TIMESTAMP).then(|| decoder.value()).transpose()?,
            source_picoseconds: has(SOURCE_PICOSECONDS)
                .then(|| picoseconds(decoder))
                .transpose()?,
            server_timestamp: has(SERVER_TIMESTAMP).then(|| decoder.value()).transpose()?,
            server_picoseconds: has(SERVER_PICOSECONDS)
                .then(|| picoseconds(decoder))
                .transpose()?,
        })
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let mask = decode_mask(decoder)?;
        if mask & VALUE != 0 {
            V::skip(decoder)?;
        }
        let size = |bit: u8, size: usize| if mask & bit != 0 { size } else { 0 };
        let rest = size(STATUS, 4)
            + size(SOURCE_TIMESTAMP, 8)
            + size(SOURCE_PICOSECONDS, 2)
            + size(SERVER_TIMESTAMP, 8)
            + size(SERVER_PICOSECONDS, 2);
        decoder.bytes(rest).map(|_| ())
    }
}

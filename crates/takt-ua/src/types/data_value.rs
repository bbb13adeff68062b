//! DataValue (OPC 10000-4, 7.11; OPC 10000-6, 5.2.2.17).

use super::{DateTime, StatusCode, Variant, VariantRef};
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

const VALUE: u8 = 0x01;
const STATUS: u8 = 0x02;
const SOURCE_TIMESTAMP: u8 = 0x04;
const SERVER_TIMESTAMP: u8 = 0x08;
const SOURCE_PICOSECONDS: u8 = 0x10;
const SERVER_PICOSECONDS: u8 = 0x20;

/// Largest picoseconds that the standard allows, in units of 10 ps.
const MAX_PICOSECONDS: u16 = 9999;

macro_rules! data_value {
    ($(#[$attribute:meta])* $name:ident $(<$life:lifetime>)?, $value:ty) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name $(<$life>)? {
            /// The value.
            pub value: Option<$value>,
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

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns a value of quality Good, without timestamps.
            pub fn good(value: impl Into<$value>) -> Self {
                Self { value: Some(value.into()), ..Self::default() }
            }

            /// Creates a DataValue without a value; the StatusCode has the reason.
            pub fn status(status: StatusCode) -> Self {
                Self { status: Some(status), ..Self::default() }
            }

            /// Returns the same with a StatusCode.
            #[must_use]
            pub fn with_status(self, status: StatusCode) -> Self {
                Self { status: Some(status), ..self }
            }

            /// Returns the same with a source timestamp.
            #[must_use]
            pub fn with_source_timestamp(self, time: DateTime) -> Self {
                Self { source_timestamp: Some(time), ..self }
            }

            /// Returns the same with a server timestamp.
            #[must_use]
            pub fn with_server_timestamp(self, time: DateTime) -> Self {
                Self { server_timestamp: Some(time), ..self }
            }

            /// Returns the quality; Good if there is no StatusCode.
            #[inline]
            pub fn status_code(&self) -> StatusCode {
                self.status.unwrap_or_default()
            }
        }

        impl $(<$life>)? Encode for $name $(<$life>)? {
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
    };
}

data_value! {
    /// A value with its quality and its timestamps.
    DataValue, Variant
}

data_value! {
    /// A borrowed [`DataValue`].
    #[derive(Copy)]
    DataValueRef<'a>, VariantRef<'a>
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

macro_rules! decode_data_value {
    ($value:ty) => {
        #[inline]
        fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
            let mask = decode_mask(decoder)?;
            let has = |bit: u8| mask & bit != 0;
            // Picoseconds above the maximum are read as the maximum (OPC 10000-6, 5.2.2.17).
            let picoseconds =
                |decoder: &mut Decoder<'a>| decoder.u16().map(|value| value.min(MAX_PICOSECONDS));
            Ok(Self {
                value: has(VALUE).then(|| <$value>::decode(decoder)).transpose()?,
                status: has(STATUS).then(|| decoder.value()).transpose()?,
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
    };
}

impl<'a> Decode<'a> for DataValue {
    decode_data_value!(Variant);

    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        DataValueRef::skip(decoder)
    }
}

impl<'a> Decode<'a> for DataValueRef<'a> {
    decode_data_value!(VariantRef<'a>);

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let mask = decode_mask(decoder)?;
        if mask & VALUE != 0 {
            VariantRef::skip(decoder)?;
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

impl DataValueRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> DataValue {
        DataValue {
            value: self.value.as_ref().map(VariantRef::to_owned),
            status: self.status,
            source_timestamp: self.source_timestamp,
            source_picoseconds: self.source_picoseconds,
            server_timestamp: self.server_timestamp,
            server_picoseconds: self.server_picoseconds,
        }
    }
}

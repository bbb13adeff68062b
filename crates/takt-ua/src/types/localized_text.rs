//! LocalizedText (OPC 10000-6, 5.2.2.14).

use std::fmt;

use super::UaString;
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

const LOCALE: u8 = 0x01;
const TEXT: u8 = 0x02;

/// A human-readable text with its locale.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LocalizedText {
    /// The locale, for example `en-US`; null if it is not known.
    pub locale: UaString,
    /// The text.
    pub text: UaString,
}

/// A borrowed [`LocalizedText`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LocalizedTextRef<'a> {
    /// The locale, if it is known.
    pub locale: Option<&'a str>,
    /// The text.
    pub text: Option<&'a str>,
}

impl LocalizedText {
    /// The null LocalizedText.
    pub const NULL: LocalizedText = LocalizedText {
        locale: UaString::null(),
        text: UaString::null(),
    };

    /// Creates a text in a locale.
    pub fn new(locale: impl Into<UaString>, text: impl Into<UaString>) -> Self {
        Self {
            locale: locale.into(),
            text: text.into(),
        }
    }

    /// Returns the same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> LocalizedTextRef<'_> {
        LocalizedTextRef {
            locale: self.locale.as_option(),
            text: self.text.as_option(),
        }
    }
}

impl LocalizedTextRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> LocalizedText {
        LocalizedText {
            locale: self.locale.into(),
            text: self.text.into(),
        }
    }
}

impl From<&str> for LocalizedText {
    /// Returns a text without a locale.
    fn from(text: &str) -> Self {
        Self {
            locale: UaString::null(),
            text: text.into(),
        }
    }
}

impl From<String> for LocalizedText {
    /// Returns a text without a locale.
    fn from(text: String) -> Self {
        Self {
            locale: UaString::null(),
            text: text.into(),
        }
    }
}

impl fmt::Display for LocalizedText {
    /// Writes the text without the locale.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Encode for LocalizedTextRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let locale = if self.locale.is_some() { LOCALE } else { 0 };
        let text = if self.text.is_some() { TEXT } else { 0 };
        encoder.u8(locale | text)?;
        if self.locale.is_some() {
            encoder.string(self.locale)?;
        }
        if self.text.is_some() {
            encoder.string(self.text)?;
        }
        Ok(())
    }
}

/// Reads the encoding mask, whose upper bits must not be set.
#[inline]
fn decode_mask(decoder: &mut Decoder<'_>) -> Result<u8, DecodeError> {
    let mask = decoder.u8()?;
    if mask & !(LOCALE | TEXT) != 0 {
        let offset = decoder.position().saturating_sub(1);
        return Err(DecodeError::new(
            offset,
            DecodeErrorKind::InvalidEncodingByte(mask),
        ));
    }
    Ok(mask)
}

impl<'a> Decode<'a> for LocalizedTextRef<'a> {
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = decode_mask(decoder)?;
        let locale = if mask & LOCALE != 0 {
            decoder.string()?
        } else {
            None
        };
        let text = if mask & TEXT != 0 {
            decoder.string()?
        } else {
            None
        };
        Ok(Self { locale, text })
    }
}

impl Encode for LocalizedText {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(encoder)
    }
}

impl<'a> Decode<'a> for LocalizedText {
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = decode_mask(decoder)?;
        let mut part = |bit: u8| match mask & bit {
            0 => Ok(UaString::null()),
            _ => UaString::decode(decoder),
        };
        Ok(Self {
            locale: part(LOCALE)?,
            text: part(TEXT)?,
        })
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        LocalizedTextRef::decode(decoder).map(|_| ())
    }
}

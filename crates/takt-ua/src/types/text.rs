//! String, ByteString and XmlElement (OPC 10000-6, 5.2.2.4, 5.2.2.7 and 5.2.2.8).

use std::borrow::Cow;

use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use crate::large_memory;

/// A String: text, or null. Null and the empty text are different values, but [`as_str`](Self::as_str) returns "" for
/// both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct UaString(Option<Box<str>>);

impl UaString {
    /// Returns the null string.
    #[inline]
    pub const fn null() -> Self {
        Self(None)
    }

    /// Returns whether this is the null string.
    #[inline]
    pub const fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether there is no text: null or empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Returns the text, "" for null.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the text, or `None` for null.
    #[inline]
    pub fn as_option(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the text as a `String`, empty for null.
    pub fn into_string(self) -> String {
        self.0.map(String::from).unwrap_or_default()
    }
}

impl std::fmt::Display for UaString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl AsRef<str> for UaString {
    #[inline]
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for UaString {
    fn from(text: &str) -> Self {
        Self(Some(text.into()))
    }
}

impl From<String> for UaString {
    fn from(text: String) -> Self {
        Self(Some(text.into()))
    }
}

impl From<&String> for UaString {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Box<str>> for UaString {
    fn from(text: Box<str>) -> Self {
        Self(Some(text))
    }
}

impl From<Option<&str>> for UaString {
    fn from(text: Option<&str>) -> Self {
        Self(text.map(Into::into))
    }
}

impl From<Option<String>> for UaString {
    fn from(text: Option<String>) -> Self {
        Self(text.map(Into::into))
    }
}

impl From<Option<Cow<'_, str>>> for UaString {
    #[inline]
    fn from(text: Option<Cow<'_, str>>) -> Self {
        Self(text.map(|text| match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }))
    }
}

impl PartialEq<str> for UaString {
    fn eq(&self, other: &str) -> bool {
        self.as_option() == Some(other)
    }
}

impl PartialEq<&str> for UaString {
    fn eq(&self, other: &&str) -> bool {
        self.as_option() == Some(*other)
    }
}

impl Encode for UaString {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.string(self.as_option())
    }
}

impl<'a> Decode<'a> for UaString {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.text().map(Self::from)
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        decoder.string().map(|_| ())
    }
}

/// A ByteString: octets, or null. Null and empty are different values, but [`as_bytes`](Self::as_bytes) returns an
/// empty slice for both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ByteString(Option<Box<[u8]>>);

impl ByteString {
    /// Returns the null ByteString.
    #[inline]
    pub const fn null() -> Self {
        Self(None)
    }

    /// Returns whether this is the null ByteString.
    #[inline]
    pub const fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether there are no octets: null or empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Returns the octets; none for null.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the octets, or `None` for null.
    #[inline]
    pub fn as_option(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// Returns the octets as a `Vec`, empty for null.
    pub fn into_vec(self) -> Vec<u8> {
        self.0.map(Vec::from).unwrap_or_default()
    }
}

impl AsRef<[u8]> for ByteString {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(Some(large_memory::copy(bytes).into()))
    }
}

impl<const N: usize> From<&[u8; N]> for ByteString {
    fn from(bytes: &[u8; N]) -> Self {
        Self(Some(bytes.as_slice().into()))
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Some(bytes.into()))
    }
}

impl From<Option<&[u8]>> for ByteString {
    fn from(bytes: Option<&[u8]>) -> Self {
        Self(bytes.map(|bytes| large_memory::copy(bytes).into()))
    }
}

impl Encode for ByteString {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.byte_string(self.as_option())
    }
}

impl<'a> Decode<'a> for ByteString {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.byte_string().map(Self::from)
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        decoder.byte_string().map(|_| ())
    }
}

/// An XmlElement: a fragment of XML as text, or null. Its XML is not checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct XmlElement(pub UaString);

impl std::fmt::Display for XmlElement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&str> for XmlElement {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Encode for XmlElement {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.encode(encoder)
    }
}

impl<'a> Decode<'a> for XmlElement {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        UaString::decode(decoder).map(Self)
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        UaString::skip(decoder)
    }
}

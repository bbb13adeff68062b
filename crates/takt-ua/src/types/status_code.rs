//! StatusCode (OPC 10000-4, 7.38; OPC 10000-6, 5.2.2.11).

use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use crate::generated::status_codes::STATUS_CODES;

/// The outcome of an operation, or the quality of a value.
///
/// The standard's codes are associated constants under their own names, for example
/// [`StatusCode::BadTimeout`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct StatusCode(pub u32);

impl StatusCode {
    /// Returns severity and code, without the flag bits (structure changed, semantics changed, info type ...).
    #[inline]
    pub const fn code(self) -> StatusCode {
        StatusCode(self.0 & 0xFFFF_0000)
    }

    /// Returns whether the severity is Good: the operation succeeded, the value may be used.
    #[inline]
    pub const fn is_good(self) -> bool {
        self.0 >> 30 == 0
    }

    /// Returns whether the severity is Uncertain: the value may be used with care.
    #[inline]
    pub const fn is_uncertain(self) -> bool {
        self.0 >> 30 == 1
    }

    /// Returns whether the severity is Bad: the operation failed, there is no usable value.
    #[inline]
    pub const fn is_bad(self) -> bool {
        self.0 >> 31 == 1
    }

    /// Returns the standard's name of the code, regardless of its flag bits.
    pub fn name(self) -> Option<&'static str> {
        let code = self.code().0;
        let index = STATUS_CODES
            .binary_search_by_key(&code, |entry| entry.0)
            .ok()?;
        STATUS_CODES.get(index).map(|entry| entry.1)
    }

    /// Returns the code with this name, for example `BadTimeout`.
    pub fn from_name(name: &str) -> Option<StatusCode> {
        STATUS_CODES
            .iter()
            .find(|entry| entry.1 == name)
            .map(|entry| StatusCode(entry.0))
    }
}

impl std::fmt::Debug for StatusCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for StatusCode {
    /// Writes the standard's name and the number, or the number alone.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (0x{:08X})", self.0),
            None => write!(f, "0x{:08X}", self.0),
        }
    }
}

impl std::error::Error for StatusCode {}

impl From<u32> for StatusCode {
    #[inline]
    fn from(code: u32) -> Self {
        Self(code)
    }
}

impl From<StatusCode> for u32 {
    #[inline]
    fn from(code: StatusCode) -> Self {
        code.0
    }
}

impl Encode for StatusCode {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u32(self.0)
    }
}

impl<'a> Decode<'a> for StatusCode {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.u32().map(Self)
    }
}

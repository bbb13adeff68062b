//! Writer of the values behind the records, placed so that their elements are at a multiple of 8.

use takt_ua::BuiltInType;
use takt_ua::binary::{Encode, EncodeError, Encoder};

use crate::span::{Span, put};

/// Zeros for the padding, and for clearing records.
pub(crate) const ZEROS: [u8; 512] = [0; 512];
/// Offset from a multiple of 8 at which an array begins: encoding byte and length come before its elements.
const ARRAY_PHASE: usize = 3;
/// Distance by which a number is moved: only the encoding byte comes before it.
const SHIFT: usize = 4;
/// Largest size of a number in bytes: a Guid and its encoding byte.
const LONGEST_NUMBER: usize = 17;

/// Writes values behind the records of a message.
#[derive(Debug)]
pub struct ValueWriter<'w, 'b> {
    pub(crate) encoder: &'w mut Encoder<'b>,
    pub(crate) start: usize,
}

/// # Errors
/// An error if there is not enough space.
impl<'b> ValueWriter<'_, 'b> {
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.encoder.position() - self.start
    }

    #[inline]
    pub(crate) fn span(&self, from: usize) -> Result<Span, EncodeError> {
        let number = |number: usize| u32::try_from(number).map_err(|_| EncodeError::LengthOverflow);
        Ok(Span {
            offset: number(from)?,
            length: number(self.position() - from)?,
        })
    }

    /// Appends a value without alignment.
    #[inline]
    pub(crate) fn append<T: Encode + ?Sized>(&mut self, what: &T) -> Result<Span, EncodeError> {
        let from = self.position();
        what.encode(self.encoder)?;
        self.span(from)
    }

    #[inline]
    pub(crate) fn append_text(&mut self, text: Option<&str>) -> Result<Span, EncodeError> {
        let from = self.position();
        self.encoder.bytes(text.unwrap_or_default().as_bytes())?;
        self.span(from)
    }

    /// Returns a table of spans.
    #[inline]
    pub(crate) fn append_spans(
        &mut self,
        spans: impl Iterator<Item = Span>,
    ) -> Result<Span, EncodeError> {
        self.align(0)?;
        let from = self.position();
        for span in spans {
            self.encoder.bytes(&span.to_bytes())?;
        }
        self.span(from)
    }

    /// Advances to `phase` bytes after a multiple of 8.
    #[inline]
    pub(crate) fn align(&mut self, phase: usize) -> Result<(), EncodeError> {
        // Wrapping changes nothing: the modulus of usize is a multiple of 8.
        let padding = phase.wrapping_sub(self.position()) % 8;
        self.encoder.bytes(ZEROS.get(..padding).unwrap_or_default())
    }

    /// Writes a Variant.
    #[inline]
    pub fn value<R, E: From<EncodeError>>(
        &mut self,
        encode: impl FnOnce(&mut Encoder<'b>) -> Result<R, E>,
    ) -> Result<(Span, R), E> {
        // The value is aligned as an array; a number is moved afterwards, because its type is only known once it is
        // written.
        self.align(ARRAY_PHASE)?;
        let from = self.position();
        let result = encode(self.encoder)?;
        let length = self.position() - from;
        if length > 1 && length <= LONGEST_NUMBER && self.is_number(from) {
            let mut number = [0; SHIFT + LONGEST_NUMBER];
            let written = self.encoder.written();
            let whole = written.get(self.start + from..).unwrap_or_default();
            put(&mut number, SHIFT, whole);
            self.encoder.truncate(self.start + from);
            self.encoder
                .bytes(number.get(..SHIFT + length).unwrap_or_default())?;
            return Ok((self.span(from + SHIFT)?, result));
        }
        Ok((self.span(from)?, result))
    }

    #[inline]
    fn is_number(&self, at: usize) -> bool {
        // The byte of an array has the bit for arrays, and is no BuiltInType (OPC 10000-6, 5.2.2.16).
        let first = self.encoder.written().get(self.start + at).copied();
        first
            .and_then(BuiltInType::from_u8)
            .is_some_and(|number| number.encoded_size().is_some())
    }
}

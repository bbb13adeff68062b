//! Values that break the encoding among others that do not, in messages of foreign applications.
//!
//! A tolerant decoder reads texts that are not UTF-8 with replacement characters, and bodies of ExtensionObjects without a
//! length by their type. A value that it cannot decode is skipped, if its end is known. Otherwise the rest is given up: the
//! decoder is lost. [`crate::foreign`] has the rules.

use std::borrow::Cow;

use super::{Decoder, PassStructure, saturated};
use crate::StatusCode;
use crate::binary::{DecodeError, DecodeErrorKind, Limits};

impl<'a> Decoder<'a> {
    /// Creates a tolerant decoder; see [`crate::foreign`].
    pub(crate) fn tolerant(
        bytes: &'a [u8],
        limits: Limits,
        is_cautious: bool,
        structures: PassStructure,
    ) -> Self {
        Self {
            is_cautious,
            structures: Some(structures),
            ..Self::with_limits(bytes, limits)
        }
    }

    /// Returns whether the decoder is tolerant.
    #[inline]
    pub(crate) fn is_tolerant(&self) -> bool {
        self.structures.is_some()
    }

    /// Reads past the structure with this `Default Binary` encoding, and returns its bytes; `None`, and no byte is read, if
    /// that fails.
    #[cold]
    pub(crate) fn structure(&mut self, encoding_id: u32) -> Option<&'a [u8]> {
        // Without a limit, each of many bodies could have the rest of the message read in vain.
        if self.wasted as usize > self.length {
            return None;
        }
        let mut attempt = self.clone();
        // A structure has no other reading than the one that its type tells.
        attempt.is_cautious = true;
        if self.structures?(encoding_id, &mut attempt).is_err() {
            let read = saturated(attempt.position() - self.position());
            self.wasted = attempt.wasted.saturating_add(read);
            return None;
        }
        let length = attempt.position() - self.position();
        // The bytes fit the type, which they may do by chance.
        self.has_doubt = true;
        self.wasted = attempt.wasted;
        self.bytes(length).ok()
    }

    /// Returns whether the decoder has given up the rest.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns whether the end of a value was not certain.
    pub(crate) fn has_doubt(&self) -> bool {
        self.has_doubt
    }

    /// Notes that the end of a value is not certain, or refuses the value.
    #[cold]
    pub(crate) fn doubt(&mut self, kind: DecodeErrorKind) -> Result<(), DecodeError> {
        self.has_doubt = true;
        match self.is_cautious {
            true => Err(self.error(kind)),
            false => Ok(()),
        }
    }

    /// Reads a String as [`string`](Self::string) does; replaces parts that are not UTF-8 by U+FFFD if the decoder is tolerant
    /// ([`crate::foreign`]).
    ///
    /// # Errors
    /// The errors are those of [`string`](Self::string).
    #[inline]
    pub fn text(&mut self) -> Result<Option<Cow<'a, str>>, DecodeError> {
        let Some(bytes) = self.byte_string()? else {
            return Ok(None);
        };
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(Cow::Borrowed(text))),
            Err(_) if self.structures.is_some() => Ok(Some(String::from_utf8_lossy(bytes))),
            Err(error) => Err(DecodeError::new(
                self.position() - bytes.len() + error.valid_up_to(),
                DecodeErrorKind::InvalidUtf8,
            )),
        }
    }

    /// Skips a value that could not be decoded because of `error`, and returns its StatusCode. `start` are the bytes from
    /// the value on, and `pass` finds its end without decoding it.
    ///
    /// Within another value it fails with `error`: the outer value is the bad one.
    #[cold]
    pub(crate) fn pass_unreadable(
        &mut self,
        start: &'a [u8],
        error: DecodeError,
        pass: fn(&mut Self) -> Result<(), DecodeError>,
    ) -> Result<StatusCode, DecodeError> {
        if self.structures.is_some() && self.depth == 0 && !self.is_lost {
            self.rest = start;
            if pass(self).is_ok() {
                return Ok(error.status_code());
            }
        }
        self.lose(error)
    }

    /// Gives up the rest because of `error`, and returns its StatusCode, or `BadUnknownResponse` for a value in the rest.
    /// Fails if the decoder tolerates nothing.
    #[cold]
    pub(crate) fn lose(&mut self, error: DecodeError) -> Result<StatusCode, DecodeError> {
        if self.structures.is_none() || self.depth > 0 {
            return Err(error);
        }
        if self.is_lost {
            return Ok(StatusCode::BadUnknownResponse);
        }
        // All values that follow fail for lack of bytes, and come here.
        self.is_lost = true;
        self.rest = &[];
        Ok(error.status_code())
    }
}

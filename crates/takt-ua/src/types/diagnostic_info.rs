//! DiagnosticInfo (OPC 10000-4, 7.12; OPC 10000-6, 5.2.2.12).

use super::UaString;
use crate::StatusCode;
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

const SYMBOLIC_ID: u8 = 0x01;
const NAMESPACE_URI: u8 = 0x02;
const LOCALIZED_TEXT: u8 = 0x04;
const LOCALE: u8 = 0x08;
const ADDITIONAL_INFO: u8 = 0x10;
const INNER_STATUS_CODE: u8 = 0x20;
const INNER_DIAGNOSTIC_INFO: u8 = 0x40;

/// Vendor-specific details of an error. The numbers are indexes into the StringTable of the response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiagnosticInfo {
    /// Vendor's name of the error.
    pub symbolic_id: Option<i32>,
    /// Namespace of the name.
    pub namespace_uri: Option<i32>,
    /// The locale of the text.
    pub locale: Option<i32>,
    /// A text that describes the error.
    pub localized_text: Option<i32>,
    /// Details, such as a stack trace.
    pub additional_info: Option<UaString>,
    /// StatusCode of the underlying operation.
    pub inner_status_code: Option<StatusCode>,
    /// Details of the underlying operation.
    pub inner_diagnostic_info: Option<Box<DiagnosticInfo>>,
}

impl DiagnosticInfo {
    /// Returns whether all fields are absent.
    pub fn is_empty(&self) -> bool {
        self.mask() == 0
    }

    fn mask(&self) -> u8 {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        bit(self.symbolic_id.is_some(), SYMBOLIC_ID)
            | bit(self.namespace_uri.is_some(), NAMESPACE_URI)
            | bit(self.localized_text.is_some(), LOCALIZED_TEXT)
            | bit(self.locale.is_some(), LOCALE)
            | bit(self.additional_info.is_some(), ADDITIONAL_INFO)
            | bit(self.inner_status_code.is_some(), INNER_STATUS_CODE)
            | bit(self.inner_diagnostic_info.is_some(), INNER_DIAGNOSTIC_INFO)
    }
}

impl Encode for DiagnosticInfo {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u8(self.mask())?;
        // Locale comes before LocalizedText, although its bit comes after.
        for index in [
            self.symbolic_id,
            self.namespace_uri,
            self.locale,
            self.localized_text,
        ]
        .into_iter()
        .flatten()
        {
            encoder.i32(index)?;
        }
        if let Some(text) = &self.additional_info {
            text.encode(encoder)?;
        }
        if let Some(code) = self.inner_status_code {
            code.encode(encoder)?;
        }
        match &self.inner_diagnostic_info {
            Some(inner) => inner.encode(encoder),
            None => Ok(()),
        }
    }
}

impl<'a> Decode<'a> for DiagnosticInfo {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = decoder.u8()?;
        if mask & 0x80 != 0 {
            let offset = decoder.position().saturating_sub(1);
            return Err(DecodeError::new(
                offset,
                DecodeErrorKind::InvalidEncodingByte(mask),
            ));
        }
        let has = |bit: u8| mask & bit != 0;
        Ok(Self {
            // In the order of the encoding, which is not that of the bits: Locale comes before LocalizedText.
            symbolic_id: has(SYMBOLIC_ID).then(|| decoder.i32()).transpose()?,
            namespace_uri: has(NAMESPACE_URI).then(|| decoder.i32()).transpose()?,
            locale: has(LOCALE).then(|| decoder.i32()).transpose()?,
            localized_text: has(LOCALIZED_TEXT).then(|| decoder.i32()).transpose()?,
            additional_info: has(ADDITIONAL_INFO).then(|| decoder.value()).transpose()?,
            inner_status_code: has(INNER_STATUS_CODE)
                .then(|| decoder.value())
                .transpose()?,
            // Box counts as one level of nesting.
            inner_diagnostic_info: has(INNER_DIAGNOSTIC_INFO)
                .then(|| decoder.value())
                .transpose()?,
        })
    }

    fn list_after_loss() -> Option<Vec<Self>> {
        // They explain results, and say nothing about those that cannot be read.
        Some(Vec::new())
    }

    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let mask = decoder.u8()?;
        if mask & 0x80 != 0 {
            let offset = decoder.position().saturating_sub(1);
            return Err(DecodeError::new(
                offset,
                DecodeErrorKind::InvalidEncodingByte(mask),
            ));
        }
        let indexes = mask & (SYMBOLIC_ID | NAMESPACE_URI | LOCALE | LOCALIZED_TEXT);
        decoder.bytes(4 * indexes.count_ones() as usize)?;
        if mask & ADDITIONAL_INFO != 0 {
            decoder.string()?;
        }
        if mask & INNER_STATUS_CODE != 0 {
            decoder.u32()?;
        }
        if mask & INNER_DIAGNOSTIC_INFO != 0 {
            decoder.nested(Self::skip)?;
        }
        Ok(())
    }
}

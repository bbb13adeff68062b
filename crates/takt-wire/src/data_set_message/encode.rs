//! Encoder of DataSetMessages.

use takt_ua::binary::{Encode, Encoder};

use super::fields::duplicates;
use super::{
    Action, ActionFields, DataSetContent, DataSetMessage, DeltaField, DeltaFields, Fields, flags,
    rules,
};
use crate::error::{WireEncodeError, count};
use crate::mark::{Mark, Marker};

impl DataSetMessage {
    /// Appends the message, padded to its configured size. Marks are offsets from `base`.
    pub(crate) fn encode(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        let start = encoder.position();
        marker(Mark::DataSetMessage, start - base);
        self.encode_header(encoder, base, marker)?;
        self.encode_content(encoder, base, marker)?;
        let configured = usize::from(self.configured_size);
        if configured == 0 {
            return Ok(());
        }
        if encoder.position() - start > configured {
            // OPC 10000-14, 6.3.1.3.3: the place of the message is kept, its content is not valid.
            encoder.truncate(start);
            encoder.u8(0)?;
        }
        let mut missing = configured.saturating_sub(encoder.position() - start);
        while missing > 0 {
            let padding = missing.min(64);
            encoder.bytes([0; 64].get(..padding).unwrap_or_default())?;
            missing -= padding;
        }
        Ok(())
    }

    fn encode_header(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        let (message_type, field_encoding) = match &self.content {
            DataSetContent::Invalid => return Ok(encoder.u8(0)?),
            DataSetContent::KeyFrame(fields) => (flags::KEY_FRAME, fields.encoding_bits()),
            DataSetContent::DeltaFrame(fields) => (flags::DELTA_FRAME, fields.encoding_bits()),
            DataSetContent::Event(_) => (flags::EVENT, 0),
            DataSetContent::KeepAlive => (flags::KEEP_ALIVE, 0),
            DataSetContent::ActionRequest(action) => {
                (flags::ACTION_REQUEST, action.fields.encoding_bits())
            }
            DataSetContent::ActionResponse(action) => {
                (flags::ACTION_RESPONSE, action.fields.encoding_bits())
            }
        };
        if self.pico_seconds.is_some() && self.timestamp.is_none() {
            return Err(WireEncodeError::Forbidden(rules::PICO_SECONDS));
        }
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        let flags2 = message_type
            | bit(self.timestamp.is_some(), flags::TIMESTAMP)
            | bit(self.pico_seconds.is_some(), flags::PICO_SECONDS);
        encoder.u8(flags::VALID
            | field_encoding
            | bit(self.sequence_number.is_some(), flags::SEQUENCE_NUMBER)
            | bit(self.status.is_some(), flags::STATUS)
            | bit(self.major_version.is_some(), flags::MAJOR_VERSION)
            | bit(self.minor_version.is_some(), flags::MINOR_VERSION)
            // The second byte is 0 for a key frame without a time, and is left out.
            | bit(flags2 != 0, flags::FLAGS2))?;
        if flags2 != 0 {
            encoder.u8(flags2)?;
        }
        if let Some(number) = self.sequence_number {
            marker(Mark::DataSetSequenceNumber, encoder.position() - base);
            encoder.u16(number)?;
        }
        if let Some(timestamp) = self.timestamp {
            marker(Mark::DataSetTimestamp, encoder.position() - base);
            timestamp.encode(encoder)?;
        }
        if let Some(pico_seconds) = self.pico_seconds {
            marker(Mark::DataSetPicoSeconds, encoder.position() - base);
            encoder.u16(pico_seconds)?;
        }
        if let Some(status) = self.status {
            marker(Mark::DataSetStatus, encoder.position() - base);
            // The upper 16 bits of the StatusCode, Table 162.
            encoder.u16((status.0 >> 16) as u16)?;
        }
        if let Some(version) = self.major_version {
            encoder.u32(version)?;
        }
        if let Some(version) = self.minor_version {
            encoder.u32(version)?;
        }
        Ok(())
    }

    fn encode_content(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        match &self.content {
            DataSetContent::Invalid | DataSetContent::KeepAlive => Ok(()),
            DataSetContent::KeyFrame(Fields::Variant(fields)) | DataSetContent::Event(fields) => {
                counted(fields, encoder, base, marker)
            }
            DataSetContent::KeyFrame(Fields::DataValue(fields)) => {
                counted(fields, encoder, base, marker)
            }
            DataSetContent::KeyFrame(Fields::RawData(bytes)) => {
                marker(Mark::Field, encoder.position() - base);
                Ok(encoder.bytes(bytes)?)
            }
            DataSetContent::DeltaFrame(DeltaFields::Variant(fields)) => {
                delta(fields, encoder, base, marker)
            }
            DataSetContent::DeltaFrame(DeltaFields::DataValue(fields)) => {
                delta(fields, encoder, base, marker)
            }
            DataSetContent::ActionRequest(action) | DataSetContent::ActionResponse(action) => {
                action.encode(encoder, base, marker)
            }
        }
    }
}

impl Fields {
    fn encoding_bits(&self) -> u8 {
        match self {
            Self::Variant(_) => 0,
            Self::DataValue(_) => flags::DATA_VALUE,
            Self::RawData(_) => flags::RAW_DATA,
        }
    }
}

impl DeltaFields {
    fn encoding_bits(&self) -> u8 {
        match self {
            Self::Variant(_) => 0,
            Self::DataValue(_) => flags::DATA_VALUE,
        }
    }
}

impl ActionFields {
    fn encoding_bits(&self) -> u8 {
        match self {
            Self::Variant(_) => 0,
            Self::RawData { .. } => flags::RAW_DATA,
        }
    }
}

impl Action {
    fn encode(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        encoder.u16(self.action_target_id)?;
        encoder.u16(self.request_id)?;
        let state = u8::try_from(self.action_state.0).map_err(|_| {
            WireEncodeError::Forbidden("an ActionState above 255 (OPC 10000-14, 7.2.4.5.9)")
        })?;
        encoder.u8(state)?;
        match &self.fields {
            ActionFields::Variant(fields) => counted(fields, encoder, base, marker),
            ActionFields::RawData { field_count, bytes } => {
                encoder.u16(*field_count)?;
                marker(Mark::Field, encoder.position() - base);
                Ok(encoder.bytes(bytes)?)
            }
        }
    }
}

/// Encodes FieldCount and fields.
fn counted<T: Encode>(
    fields: &[T],
    encoder: &mut Encoder<'_>,
    base: usize,
    marker: Marker<'_>,
) -> Result<(), WireEncodeError> {
    encoder.u16(count("fields", fields.len(), 65_535)?)?;
    for field in fields {
        marker(Mark::Field, encoder.position() - base);
        field.encode(encoder)?;
    }
    Ok(())
}

/// Encodes FieldCount and fields with their indexes.
fn delta<T: Encode>(
    fields: &[DeltaField<T>],
    encoder: &mut Encoder<'_>,
    base: usize,
    marker: Marker<'_>,
) -> Result<(), WireEncodeError> {
    if duplicates(fields.iter().map(|field| field.field_index)) {
        return Err(WireEncodeError::Forbidden(rules::DELTA_TWICE));
    }
    counted(fields, encoder, base, marker)
}

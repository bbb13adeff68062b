//! Places of values in a message of a fixed layout, and the cells that take them.

use std::sync::Arc;

use takt_cell::{Cell, EncodedScalar};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{FixedMessageRef, ScalarPlace};

use crate::subscriber::target::ReaderTarget;

/// Longest value that is stored in a cell on the fast path, in bytes.
pub(super) const MAX_VALUE: usize = 64 << 10;

/// Value of at most eight bytes, without a status and a time of its own, that is stored in a cell.
#[derive(Debug)]
pub(super) struct Number {
    cell: Arc<Cell>,
    place: ScalarPlace,
    built_in_type: BuiltInType,
    pub(super) field: usize,
    /// Index of the reader's target.
    pub(super) target: usize,
}

/// Any other value.
#[derive(Debug)]
pub(super) struct Other {
    /// Index of the reader's target.
    pub(super) target: usize,
    /// `None` if the value is not stored in a cell as it is in the message.
    pub(super) place: Option<Place>,
}

/// Form of a value in the message.
#[derive(Debug)]
pub(super) enum Place {
    /// An encoded Variant, as a cell takes it.
    Variant,
    /// RawData, and the bytes in front of it in its encoding as a Variant.
    RawData { head: [u8; 5], head_length: usize },
}

impl Place {
    /// Returns the place; `None` if the value is not stored in a cell as it is in the message.
    pub(super) fn of(
        message: &FixedMessageRef<'_>,
        data_set_message: usize,
        target: &ReaderTarget,
    ) -> Option<Self> {
        target.plain_cell()?;
        let value = message.variant(data_set_message, target.field)?;
        let built_in_type = value.built_in_type()?;
        // A StatusCode replaces the value of a Bad field.
        if built_in_type == BuiltInType::StatusCode {
            return None;
        }
        let is_variant = message.encoded_variant(data_set_message, target.field);
        if is_variant.is_some() {
            return Some(Self::Variant);
        }
        // A text that is RawData has a length and perhaps padding.
        let size = built_in_type.encoded_size()?;
        let encoded = message.encoded(data_set_message, target.field)?;
        let mut head = [built_in_type as u8, 0, 0, 0, 0];
        let head_length = match &value {
            Variant::Array(array) => {
                // The dimensions of a matrix follow its values in a Variant, but `head` only comes before them.
                let whole = array.len() * size == encoded.len() && array.dimensions.len() < 2;
                if !whole || encoded.len() + head.len() > MAX_VALUE {
                    return None;
                }
                let count = u32::try_from(array.len()).ok()?.to_le_bytes();
                let [mask, length @ ..] = &mut head;
                // This bit of the EncodingMask announces an array with its length.
                *mask |= 0x80;
                *length = count;
                5
            }
            _ => 1,
        };
        Some(Self::RawData { head, head_length })
    }

    /// Returns the encoded Variant of a field. `scratch` has room for RawData.
    #[inline]
    pub(super) fn encoded<'a>(
        &self,
        message: &FixedMessageRef<'a>,
        data_set_message: usize,
        field: usize,
        scratch: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        let Self::RawData { head, head_length } = self else {
            return message.encoded_variant(data_set_message, field);
        };
        let raw = message.encoded(data_set_message, field)?;
        let variant = scratch.get_mut(..head_length + raw.len())?;
        let (start, value) = variant.split_at_mut(*head_length);
        start.copy_from_slice(head.get(..*head_length)?);
        value.copy_from_slice(raw);
        Some(variant)
    }
}

impl Number {
    pub(super) fn of(
        message: &FixedMessageRef<'_>,
        data_set_message: usize,
        index: usize,
        target: &ReaderTarget,
    ) -> Option<Self> {
        let field = target.field;
        let bare = message.field_status(data_set_message, field).is_none()
            && message
                .field_source_timestamp(data_set_message, field)
                .is_none();
        let built_in_type = message.variant(data_set_message, field)?.built_in_type()?;
        // A StatusCode replaces the value of a Bad field.
        if !bare || built_in_type == BuiltInType::StatusCode {
            return None;
        }
        Some(Self {
            cell: target.plain_cell()?.clone(),
            place: message.scalar_place(data_set_message, field)?,
            built_in_type,
            field,
            target: index,
        })
    }

    #[inline]
    pub(super) fn store(
        &self,
        message: &FixedMessageRef<'_>,
        time: DateTime,
    ) -> Result<(), StatusCode> {
        let scalar = EncodedScalar {
            encoding_mask: self.built_in_type as u8,
            bytes: message.get_scalar(self.place),
        };
        let stored = self.cell.set_encoded_scalar(scalar, StatusCode::Good, time);
        stored.map_err(|error| error.status_code())
    }
}

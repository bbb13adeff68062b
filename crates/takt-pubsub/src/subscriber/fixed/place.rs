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
}

/// Any other value.
#[derive(Debug)]
pub(super) struct Other {
    /// Index of the reader's target.
    pub(super) target: usize,
    /// `None` if the value is not stored in a cell as it is in the message.
    pub(super) place: Option<Place>,
}

/// Bytes in front of a value in its encoding as a Variant.
#[derive(Debug)]
pub(super) struct Place {
    head: [u8; 5],
    head_length: usize,
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
        let encoded = message.encoded(data_set_message, target.field)?;
        // A StatusCode replaces the value of a Bad field.
        if built_in_type == BuiltInType::StatusCode {
            return None;
        }
        let mut head = [built_in_type as u8, 0, 0, 0, 0];
        let head_length = match &value {
            Variant::String(_) | Variant::ByteString(_) => {
                Self::set_length(&mut head, encoded.len())?
            }
            Variant::Array(array) => {
                let size = built_in_type.encoded_size()?;
                let whole = array.len() * size == encoded.len() && array.dimensions.len() < 2;
                if !whole {
                    return None;
                }
                let [mask, ..] = &mut head;
                *mask |= 0x80;
                Self::set_length(&mut head, array.len())?
            }
            _ => {
                built_in_type.encoded_size()?;
                1
            }
        };
        (encoded.len() + head.len() <= MAX_VALUE).then_some(Self { head, head_length })
    }

    /// Sets the length behind the encoding mask; returns the number of bytes of both.
    fn set_length(head: &mut [u8; 5], length: usize) -> Option<usize> {
        let [_, place @ ..] = head;
        *place = u32::try_from(length).ok()?.to_le_bytes();
        Some(5)
    }

    /// Returns the Variant of a value without its type.
    #[inline]
    pub(super) fn variant<'a>(&self, value: &[u8], scratch: &'a mut [u8]) -> Option<&'a [u8]> {
        let variant = scratch.get_mut(..self.head_length + value.len())?;
        let (head, room) = variant.split_at_mut(self.head_length);
        head.copy_from_slice(self.head.get(..self.head_length)?);
        room.copy_from_slice(value);
        Some(variant)
    }
}

impl Number {
    pub(super) fn of(
        message: &FixedMessageRef<'_>,
        data_set_message: usize,
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
        self.cell
            .set_encoded_scalar(scalar, StatusCode::Good, time)
            .map_err(|error| error.status_code())
    }
}

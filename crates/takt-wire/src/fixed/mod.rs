//! The fast path: messages whose layout never changes.
//!
//! Such a message is built once. Each cycle stores values at known offsets, and the result equals that of the general
//! encoder. A receiver compares the bytes that never change, and reads the values in place; a message with another
//! layout goes to the general decoder. Nothing is allocated after the layout was created.

mod layout;
mod reader;
mod several;
mod slot;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

use takt_ua::binary::Encoder;
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

use crate::network_message::NetworkMessage;
use crate::raw_data::{RawDataLayout, encode_field};
use crate::security::SecurityLayout;
use layout::{DataSetPlaces, FieldKind, FieldPlace, FixedLayout};

pub use layout::FixedMessageError;
pub use reader::{FixedMessageReader, FixedMessageRef};
pub use slot::{ScalarPlace, Slot, SlotSeries};
pub use value::FixedValue;

/// Bytes of an encoding mask and a length.
const LONGEST_HEAD: usize = 5;

/// A message that is built once; each cycle stores its values in it.
///
/// ```
/// use takt_ua::{DateTime, Variant};
/// use takt_wire::{
///     DataSetContent, DataSetMessage, Fields, FixedMessage, NetworkMessage, PublisherId,
/// };
///
/// let template = NetworkMessage {
///     timestamp: Some(DateTime::MIN),
///     ..NetworkMessage::data(
///         Some(PublisherId::UInt16(1)),
///         vec![DataSetMessage {
///             data_set_writer_id: Some(1),
///             ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
///                 Variant::Double(0.0),
///             ])))
///         }],
///     )
/// };
/// let mut message = FixedMessage::new(&template, &[])?;
/// let temperature = message.slot::<f64>(0, 0).ok_or("no such field")?;
///
/// message.set_timestamp(DateTime::now());
/// message.store(temperature, 21.5);
/// assert_eq!(message.bytes().len(), 27);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FixedMessage {
    layout: Arc<FixedLayout>,
    bytes: Vec<u8>,
}

/// Declares methods that set a value at its place in the message: in its headers, in a DataSetMessage, or in a DataValue.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident $([$($index:ident),*])? ($value:ty) => $place:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name(&mut self, $($($index: usize,)*)? value: $value) -> bool {
                setters!(@put self, value, $place $($(, $index)*)?)
            }
        )*
    };
    (@put $self:ident, $value:ident, $place:ident) => {
        put(&mut $self.bytes, $self.layout.$place, $value)
    };
    (@put $self:ident, $value:ident, $place:ident, $message:ident) => {
        $self.put_in_message($message, |places| places.$place, $value)
    };
    (@put $self:ident, $value:ident, $place:ident, $message:ident, $field:ident) => {{
        let place = $self.layout.field($message, $field);
        put(&mut $self.bytes, place.and_then(|place| place.$place), $value)
    }};
}

impl FixedMessage {
    /// Builds the message. Its DataSetMessages are key frames whose fields have a fixed size: scalars of such types,
    /// arrays of them, Strings and ByteStrings as Variant or DataValue, or RawData, whose layouts are at the indexes of
    /// their DataSetMessages. Arrays have one dimension; they, Strings and ByteStrings keep their lengths. With security,
    /// nonce and signature have their final lengths.
    pub fn new(
        message: &NetworkMessage,
        raw_data: &[Option<&RawDataLayout>],
    ) -> Result<Self, FixedMessageError> {
        let (layout, bytes) = FixedLayout::new(message, raw_data)?;
        Ok(Self {
            layout: Arc::new(layout),
            bytes,
        })
    }

    /// Returns the current message, neither encrypted nor signed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the ranges to encrypt and sign. This is done in a copy: the values stored here stay readable.
    #[inline]
    pub fn security_layout(&self) -> &SecurityLayout {
        &self.layout.security
    }

    /// Returns a reader of messages of this layout.
    pub fn reader(&self) -> FixedMessageReader {
        FixedMessageReader::of(self.layout.clone(), self.bytes.clone())
    }

    /// Returns the location of a field of a type with a fixed size; `None` if it has another type, or is an array.
    pub fn slot<T: FixedValue>(&self, data_set_message: usize, field: usize) -> Option<Slot<T>> {
        self.layout.slot(data_set_message, field)
    }

    /// Stores a value.
    #[inline]
    pub fn store<T: FixedValue>(&mut self, slot: Slot<T>, value: T) {
        put(&mut self.bytes, Some(slot.offset), value);
    }

    /// Stores a field of any type, encoded as in the message: an array, String or ByteString without its length; a
    /// RawData field as a whole with its padding. Returns `false`, and changes nothing, if it has another length.
    #[inline]
    pub fn store_encoded(&mut self, data_set_message: usize, field: usize, value: &[u8]) -> bool {
        let place = self.layout.field(data_set_message, field);
        let target = place.and_then(|place| self.bytes.get_mut(place.value.clone()));
        match target {
            Some(target) if target.len() == value.len() => {
                target.copy_from_slice(value);
                true
            }
            _ => false,
        }
    }

    /// Lets `store` overwrite a field as an encoded Variant (OPC 10000-6, 5.2.2.16), which saves a copy. The encoding mask and a length
    /// are restored afterwards. Returns `false` if `store` does, if it has changed these, or for RawData; the field is undefined then
    /// until it is stored again.
    #[inline]
    pub fn store_encoded_variant(
        &mut self,
        data_set_message: usize,
        field: usize,
        store: impl FnOnce(&mut [u8]) -> bool,
    ) -> bool {
        let place = self.layout.field(data_set_message, field);
        let Some((place, range)) = place.and_then(|place| Some((place, place.variant()?))) else {
            return false;
        };
        let head_length = place.value.start - range.start;
        let Some(variant) = self.bytes.get_mut(range) else {
            return false;
        };
        let mut head = [0; LONGEST_HEAD];
        let (Some(head), Some(start)) = (head.get_mut(..head_length), variant.get(..head_length))
        else {
            return false;
        };
        head.copy_from_slice(start);
        let is_stored = store(variant);
        // A value of another type or length has another head, which receivers of the layout do not expect.
        match variant.get_mut(..head_length) {
            Some(start) if *start == *head => is_stored,
            Some(start) => {
                start.copy_from_slice(head);
                false
            }
            None => false,
        }
    }

    /// Stores a field of any type. Returns `false` if the value does not fit the layout: it has another type, or
    /// another length. Then the message has to be encoded by the general encoder, and the field is
    /// undefined until it is stored again.
    pub fn store_variant(
        &mut self,
        data_set_message: usize,
        field: usize,
        value: &Variant,
    ) -> bool {
        let Some(place) = self.layout.field(data_set_message, field) else {
            return false;
        };
        match self.bytes.get_mut(place.value.clone()) {
            Some(target) => store_variant(place, value, target),
            None => false,
        }
    }

    setters! {
        /// Sets the NetworkMessageNumber of the GroupHeader; returns `false` if there is none.
        set_network_message_number(u16) => network_message_number;
        /// Sets the SequenceNumber of the GroupHeader; returns `false` if there is none.
        set_sequence_number(u16) => sequence_number;
        /// Sets the Timestamp of the NetworkMessage; returns `false` if there is none.
        set_timestamp(DateTime) => timestamp;
        /// Sets the PicoSeconds of the NetworkMessage, in units of 10 ps; returns `false` if there are none.
        set_pico_seconds(u16) => pico_seconds;
        /// Sets the SecurityTokenId; returns `false` if there is none.
        set_security_token_id(u32) => security_token_id;
    }

    /// Sets the MessageNonce; returns `false` if it has another length.
    #[inline]
    pub fn set_message_nonce(&mut self, nonce: &[u8]) -> bool {
        let range = self.layout.security.message_nonce.clone();
        match self.bytes.get_mut(range) {
            Some(target) if target.len() == nonce.len() => {
                target.copy_from_slice(nonce);
                true
            }
            _ => false,
        }
    }

    setters! {
        /// Sets the SequenceNumber of a DataSetMessage; returns `false` if there is none.
        set_data_set_sequence_number[data_set_message](u16) => sequence_number;
        /// Sets the Timestamp of a DataSetMessage; returns `false` if there is none.
        set_data_set_timestamp[data_set_message](DateTime) => timestamp;
        /// Sets the PicoSeconds of a DataSetMessage; returns `false` if there are none.
        set_data_set_pico_seconds[data_set_message](u16) => pico_seconds;
    }

    /// Sets the Status of a DataSetMessage, of which the upper 16 bits are sent; returns `false` if there is none.
    #[inline]
    pub fn set_status(&mut self, data_set_message: usize, status: StatusCode) -> bool {
        self.put_in_message(
            data_set_message,
            |places| places.status,
            (status.0 >> 16) as u16,
        )
    }

    setters! {
        /// Sets the StatusCode of a DataValue; returns `false` if the field has none.
        set_field_status[data_set_message, field](StatusCode) => status;
        /// Sets the SourceTimestamp of a DataValue; returns `false` if the field has none.
        set_field_source_timestamp[data_set_message, field](DateTime) => source_timestamp;
        /// Sets the ServerTimestamp of a DataValue; returns `false` if the field has none.
        set_field_server_timestamp[data_set_message, field](DateTime) => server_timestamp;
    }

    #[inline]
    fn put_in_message<T: FixedValue>(
        &mut self,
        data_set_message: usize,
        offset: impl FnOnce(&DataSetPlaces) -> Option<usize>,
        value: T,
    ) -> bool {
        let places = self.layout.data_set_messages.get(data_set_message);
        put(&mut self.bytes, places.and_then(offset), value)
    }
}

#[inline]
fn put<T: FixedValue>(bytes: &mut [u8], offset: Option<usize>, value: T) -> bool {
    match offset.and_then(|offset| bytes.get_mut(offset..offset + T::SIZE)) {
        Some(target) => {
            value.store(target);
            true
        }
        None => false,
    }
}

/// Stores a value that is not null if it has the length of its place.
fn copy(value: Option<&[u8]>, target: &mut [u8]) -> bool {
    match value {
        Some(value) if value.len() == target.len() => {
            target.copy_from_slice(value);
            true
        }
        _ => false,
    }
}

/// Stores a value if it fits its place.
fn store_variant(place: &FieldPlace, value: &Variant, target: &mut [u8]) -> bool {
    match (&place.kind, value) {
        (FieldKind::Raw(field), value) => {
            encode_field(field, value, &mut Encoder::fixed(target)).is_ok()
        }
        (FieldKind::Array(built_in_type), Variant::Array(array)) => {
            let size = built_in_type.encoded_size().unwrap_or(0);
            // The dimensions of a matrix would follow the elements, where the layout has no place for them.
            let fits = array.element_type() == *built_in_type
                && array.dimensions.len() < 2
                && array.len() * size == target.len();
            fits && array.elements.encode(&mut Encoder::fixed(target)).is_ok()
        }
        (FieldKind::Text(BuiltInType::ByteString), Variant::ByteString(bytes)) => {
            copy(bytes.as_option(), target)
        }
        (FieldKind::Text(BuiltInType::String), Variant::String(text)) => {
            copy(text.as_option().map(str::as_bytes), target)
        }
        (FieldKind::Scalar(built_in_type), value) => {
            let fits = !value.is_array() && value.built_in_type() == Some(*built_in_type);
            fits && value.encode_scalar(&mut Encoder::fixed(target)).is_ok()
        }
        _ => false,
    }
}

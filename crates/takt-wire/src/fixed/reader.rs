//! Reader of messages of a fixed layout.

use std::ops::Range;
use std::sync::Arc;

use takt_ua::binary::Decoder;
use takt_ua::{Array, ArrayRef, BuiltInType, ByteString, DateTime, Elements, StatusCode, Variant};

use super::layout::{DataSetPlaces, FieldKind, FixedLayout, FixedMessageError};
use super::slot::{Slot, SlotSeries};
use super::value::FixedValue;
use crate::network_message::NetworkMessage;
use crate::raw_data::{Rank, RawDataLayout, RawType, decode_field};

/// Recognizes messages of one layout by the bytes that never change.
///
/// Encrypted messages have to be decrypted first.
#[derive(Debug, Clone)]
pub struct FixedMessageReader {
    layout: Arc<FixedLayout>,
    template: Vec<u8>,
}

/// A message of a fixed layout; values are read in place.
#[derive(Debug, Clone, Copy)]
pub struct FixedMessageRef<'a> {
    pub(super) layout: &'a FixedLayout,
    pub(super) bytes: &'a [u8],
}

impl FixedMessageReader {
    /// Creates a reader of messages like this one; see [`FixedMessage::new`](super::FixedMessage::new).
    pub fn new(
        message: &NetworkMessage,
        raw_data: &[Option<&RawDataLayout>],
    ) -> Result<Self, FixedMessageError> {
        let (layout, bytes) = FixedLayout::new(message, raw_data)?;
        Ok(Self::of(Arc::new(layout), bytes))
    }

    pub(super) fn of(layout: Arc<FixedLayout>, template: Vec<u8>) -> Self {
        Self { layout, template }
    }

    /// Returns the location of a field of a type with a fixed size; `None` if it has another type, or is an array.
    pub fn slot<T: FixedValue>(&self, data_set_message: usize, field: usize) -> Option<Slot<T>> {
        self.layout.slot(data_set_message, field)
    }

    /// Returns the locations of consecutive fields; see [`FixedMessage::slots`](super::FixedMessage::slots).
    pub fn slots<T: FixedValue>(
        &self,
        data_set_message: usize,
        fields: Range<usize>,
    ) -> Option<SlotSeries<T>> {
        self.layout.slots(data_set_message, fields)
    }

    /// Returns the message if it has the layout; other messages need the general decoder. Unless it is signed, zeros
    /// may follow it, with which short Ethernet frames are padded.
    #[inline]
    pub fn read<'a>(&'a self, bytes: &'a [u8]) -> Option<FixedMessageRef<'a>> {
        let (bytes, padding) = bytes.split_at_checked(self.template.len())?;
        // The place of a signature is counted back from the end, so nothing may follow it.
        let signed = !self.layout.security.signature.is_empty();
        if !padding.is_empty() && (signed || padding.iter().any(|byte| *byte != 0)) {
            return None;
        }
        let mut parts = self.layout.compared.iter();
        let is_same = parts.all(|part| self.is_same(bytes, part.clone()));
        is_same.then_some(FixedMessageRef {
            layout: &self.layout,
            bytes,
        })
    }

    #[inline]
    fn is_same(&self, bytes: &[u8], part: Range<usize>) -> bool {
        let all = [bytes, &self.template, &self.layout.constant];
        let [Some(bytes), Some(template), Some(constant)] = all.map(|of| of.get(part.clone()))
        else {
            return false;
        };
        same(bytes, template, constant)
    }
}

/// Returns whether all bytes that are marked as constant are equal. There is no branch per byte, so that the compiler
/// can use wide instructions.
#[inline]
fn same(bytes: &[u8], template: &[u8], constant: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let (template_words, template_rest) = template.as_chunks::<8>();
    let (constant_words, constant_rest) = constant.as_chunks::<8>();
    let mut different = 0_u64;
    for ((word, template), constant) in words.iter().zip(template_words).zip(constant_words) {
        // Any byte order will do: only differences of bits count.
        let difference = u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*template);
        different |= difference & u64::from_ne_bytes(*constant);
    }
    for ((byte, template), constant) in rest.iter().zip(template_rest).zip(constant_rest) {
        different |= u64::from((byte ^ template) & constant);
    }
    different == 0
}

impl<'a> FixedMessageRef<'a> {
    #[inline]
    fn load<T: FixedValue>(&self, offset: usize) -> Option<T> {
        self.bytes.get(offset..offset + T::SIZE).map(T::load)
    }

    #[inline]
    fn load_of_message<T: FixedValue>(
        &self,
        data_set_message: usize,
        offset: impl FnOnce(&DataSetPlaces) -> Option<usize>,
    ) -> Option<T> {
        let places = self.layout.data_set_messages.get(data_set_message)?;
        self.load(offset(places)?)
    }

    /// Reads a value; the default value for a slot of another layout that lies outside of this one.
    #[inline]
    pub fn get<T: FixedValue + Default>(&self, slot: Slot<T>) -> T {
        self.load(slot.offset).unwrap_or_default()
    }

    /// Returns a field as encoded in the message: an array, String or ByteString without its length; a RawData field as a whole.
    #[inline]
    pub fn encoded(&self, data_set_message: usize, field: usize) -> Option<&'a [u8]> {
        let place = self.layout.field(data_set_message, field)?;
        self.bytes.get(place.value.clone())
    }

    /// Returns a field as an encoded Variant (OPC 10000-6, 5.2.2.16); `None` for RawData.
    #[inline]
    pub fn encoded_variant(&self, data_set_message: usize, field: usize) -> Option<&'a [u8]> {
        let place = self.layout.field(data_set_message, field)?;
        self.bytes.get(place.variant()?)
    }

    /// Returns an array, if the field is one that is encoded as Variant or DataValue.
    #[inline]
    pub fn array(&self, data_set_message: usize, field: usize) -> Option<ArrayRef<'a>> {
        let place = self.layout.field(data_set_message, field)?;
        match place.kind {
            FieldKind::Array(element_type) => {
                let bytes = self.bytes.get(place.value.clone())?;
                ArrayRef::from_encoded(element_type, bytes)
            }
            _ => None,
        }
    }

    /// Returns a field of any type, owned. `None` if there is no such field, or if RawData has an invalid length.
    pub fn variant(&self, data_set_message: usize, field: usize) -> Option<Variant> {
        let place = self.layout.field(data_set_message, field)?;
        let bytes = self.bytes.get(place.value.clone())?;
        let mut decoder = Decoder::new(bytes);
        match &place.kind {
            FieldKind::Scalar(built_in_type) => {
                Variant::decode_scalar(*built_in_type, &mut decoder).ok()
            }
            FieldKind::Array(element_type) => {
                let count = bytes.len() / element_type.encoded_size()?;
                let elements = Elements::decode(*element_type, count, &mut decoder).ok()?;
                Some(Array::new(elements).into())
            }
            FieldKind::Text(BuiltInType::ByteString) => Some(ByteString::from(bytes).into()),
            FieldKind::Text(_) => std::str::from_utf8(bytes).ok().map(Variant::from),
            FieldKind::Raw(field) => decode_field(field, &mut decoder).ok(),
        }
    }

    /// Returns the StatusCode in the place of a value: that of a Bad field that is encoded as Variant (OPC 10000-14, 6.2.4.2).
    pub fn bad_status(&self, data_set_message: usize, field: usize) -> Option<StatusCode> {
        let place = self.layout.field(data_set_message, field)?;
        let is_status = matches!(place.kind, FieldKind::Scalar(BuiltInType::StatusCode));
        let status: StatusCode = match is_status && !place.is_in_data_value {
            true => self.load(place.value.start)?,
            false => return None,
        };
        status.is_bad().then_some(status)
    }

    /// Returns false if a field cannot be decoded: a text that is not UTF-8, or RawData that breaks its metadata. Such a message
    /// needs the general decoder.
    #[inline]
    pub fn is_readable(&self) -> bool {
        let mut fallible = self.layout.fallible.iter();
        fallible.all(|(data_set_message, field)| self.can_decode(*data_set_message, *field))
    }

    fn can_decode(&self, data_set_message: usize, field: usize) -> bool {
        let Some(place) = self.layout.field(data_set_message, field) else {
            return false;
        };
        let bytes = self.bytes.get(place.value.clone()).unwrap_or_default();
        match &place.kind {
            FieldKind::Scalar(_) | FieldKind::Array(_) => true,
            FieldKind::Text(_) => std::str::from_utf8(bytes).is_ok(),
            // These two are checked without decoding the value, which would allocate.
            FieldKind::Raw(field) => match (&field.raw_type, &field.rank) {
                (RawType::Fixed(_), Rank::Array(max)) => {
                    // Only the number is checked: the place has room for the largest one.
                    let count = Decoder::new(bytes).array_length(0);
                    count.is_ok_and(|count| count.unwrap_or(0) <= *max)
                }
                (RawType::String(max), Rank::Scalar) => {
                    let text = Decoder::new(bytes).string();
                    text.is_ok_and(|text| text.map_or(0, str::len) <= *max)
                }
                _ => decode_field(field, &mut Decoder::new(bytes)).is_ok(),
            },
        }
    }

    /// Returns the SequenceNumber of the GroupHeader.
    #[inline]
    pub fn sequence_number(&self) -> Option<u16> {
        self.load(self.layout.sequence_number?)
    }

    /// Returns the Timestamp of the NetworkMessage.
    #[inline]
    pub fn timestamp(&self) -> Option<DateTime> {
        self.load(self.layout.timestamp?)
    }

    /// Returns the PicoSeconds of the NetworkMessage, in units of 10 ps.
    #[inline]
    pub fn pico_seconds(&self) -> Option<u16> {
        self.load(self.layout.pico_seconds?)
    }

    /// Returns the SequenceNumber of a DataSetMessage.
    #[inline]
    pub fn data_set_sequence_number(&self, data_set_message: usize) -> Option<u16> {
        self.load_of_message(data_set_message, |places| places.sequence_number)
    }

    /// Returns the Timestamp of a DataSetMessage.
    #[inline]
    pub fn data_set_timestamp(&self, data_set_message: usize) -> Option<DateTime> {
        self.load_of_message(data_set_message, |places| places.timestamp)
    }

    /// Returns the PicoSeconds of a DataSetMessage, in units of 10 ps.
    #[inline]
    pub fn data_set_pico_seconds(&self, data_set_message: usize) -> Option<u16> {
        self.load_of_message(data_set_message, |places| places.pico_seconds)
    }

    /// Returns the Status of a DataSetMessage; the lower 16 bits are 0.
    #[inline]
    pub fn status(&self, data_set_message: usize) -> Option<StatusCode> {
        self.load_of_message(data_set_message, |places| places.status)
            .map(upper_status)
    }

    /// Returns the StatusCode of a DataValue.
    #[inline]
    pub fn field_status(&self, data_set_message: usize, field: usize) -> Option<StatusCode> {
        self.load(self.layout.field(data_set_message, field)?.status?)
    }

    /// Returns the SourceTimestamp of a DataValue.
    #[inline]
    pub fn field_source_timestamp(
        &self,
        data_set_message: usize,
        field: usize,
    ) -> Option<DateTime> {
        self.load(
            self.layout
                .field(data_set_message, field)?
                .source_timestamp?,
        )
    }

    /// Returns the ServerTimestamp of a DataValue.
    #[inline]
    pub fn field_server_timestamp(
        &self,
        data_set_message: usize,
        field: usize,
    ) -> Option<DateTime> {
        self.load(
            self.layout
                .field(data_set_message, field)?
                .server_timestamp?,
        )
    }
}

/// Returns the StatusCode with these upper 16 bits.
fn upper_status(upper: u16) -> StatusCode {
    StatusCode(u32::from(upper) << 16)
}

//! Offsets of the fields in messages of one layout.

use std::ops::Range;

use takt_ua::binary::{Encode, Encoder};
use takt_ua::{BuiltInType, DataValue, Variant};

use crate::data_set_message::{DataSetContent, Fields};
use crate::error::WireEncodeError;
use crate::mark::Mark;
use crate::network_message::{NetworkMessage, Payload};
use crate::raw_data::{Rank, RawDataLayout, RawField, RawType};
use crate::security::SecurityLayout;

/// Reason for which messages like this one have no fixed layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixedMessageError {
    /// The message cannot be encoded.
    #[error(transparent)]
    Encode(#[from] WireEncodeError),
    /// A part of the message may change its size.
    #[error("DataSetMessage {data_set_message}: {what}")]
    NotFixed {
        /// Index of the DataSetMessage.
        data_set_message: usize,
        /// Description of that part.
        what: &'static str,
    },
}

/// Offsets in bytes from the start of the NetworkMessage.
#[derive(Debug, Default)]
pub(super) struct FixedLayout {
    /// Readers know a layout by its number, too, which therefore does not vary for them.
    pub(super) network_message_number: Option<usize>,
    pub(super) sequence_number: Option<usize>,
    pub(super) timestamp: Option<usize>,
    pub(super) pico_seconds: Option<usize>,
    pub(super) security_token_id: Option<usize>,
    pub(super) security: SecurityLayout,
    pub(super) data_set_messages: Vec<DataSetPlaces>,
    /// One byte for each byte of the message: 0xFF if it never changes, else 0.
    pub(super) constant: Vec<u8>,
    /// Parts of the message that contain all bytes that never change.
    pub(super) compared: Vec<Range<usize>>,
    /// Fields of which some bytes cannot be decoded, as pairs of DataSetMessage and field.
    pub(super) fallible: Vec<(usize, usize)>,
}

#[derive(Debug, Default)]
pub(super) struct DataSetPlaces {
    pub(super) sequence_number: Option<usize>,
    pub(super) timestamp: Option<usize>,
    pub(super) pico_seconds: Option<usize>,
    pub(super) status: Option<usize>,
    pub(super) fields: Vec<FieldPlace>,
}

/// Location of the value of a field.
#[derive(Debug)]
pub(super) struct FieldPlace {
    /// The value, without its type and number of elements; of RawData the whole field.
    pub(super) value: Range<usize>,
    pub(super) kind: FieldKind,
    /// StatusCode of a DataValue.
    pub(super) status: Option<usize>,
    /// Timestamps of a DataValue.
    pub(super) source_timestamp: Option<usize>,
    pub(super) server_timestamp: Option<usize>,
    picoseconds: [Option<usize>; 2],
    pub(super) is_in_data_value: bool,
}

#[derive(Debug)]
pub(super) enum FieldKind {
    /// A scalar of a type with a fixed size, encoded as Variant or in a DataValue.
    Scalar(BuiltInType),
    /// An array of such values, which always has the same number of elements.
    Array(BuiltInType),
    /// A String or ByteString, which always has the same length.
    Text(BuiltInType),
    /// A field without its type.
    Raw(RawField),
}

impl FixedLayout {
    /// Encodes a message and stores the positions of its parts. `raw_data` has the layout of each DataSetMessage that
    /// has RawData fields.
    pub(super) fn new(
        message: &NetworkMessage,
        raw_data: &[Option<&RawDataLayout>],
    ) -> Result<(Self, Vec<u8>), FixedMessageError> {
        let Payload::DataSetMessages(messages) = &message.payload else {
            return Err(not_fixed(0, "not a message with DataSetMessages"));
        };
        let mut bytes = Vec::new();
        let mut marks = Vec::new();
        let security = message.encode_marking(
            &mut Encoder::growing(&mut bytes, usize::MAX),
            &mut |mark, offset| marks.push((mark, offset)),
        )?;
        let mut layout = Self {
            security,
            ..Self::default()
        };
        let mut fields = Vec::new();
        for (mark, offset) in marks {
            layout.note(mark, offset, &mut fields);
        }
        for (index, message) in messages.iter().enumerate() {
            let (Some(offsets), Some(places)) =
                (fields.get(index), layout.data_set_messages.get_mut(index))
            else {
                continue;
            };
            // Bit 0 of DataSetFlags1, which the encoder clears if the message exceeds its ConfiguredSize.
            let valid = bytes.get(offsets.start).is_some_and(|flags| flags & 1 != 0);
            if !valid {
                return Err(not_fixed(
                    index,
                    "larger than its ConfiguredSize, or invalid",
                ));
            }
            let raw_data = raw_data.get(index).copied().flatten();
            places.fields = places_of(&message.content, &offsets.fields, raw_data)
                .map_err(|what| not_fixed(index, what))?;
        }
        layout.fallible = layout.fallible_fields();
        layout.constant = layout.constant_bytes(bytes.len());
        layout.compared = compared(&layout.constant);
        Ok((layout, bytes))
    }

    fn note(&mut self, mark: Mark, offset: usize, fields: &mut Vec<FieldOffsets>) {
        let last = self.data_set_messages.last_mut();
        match (mark, last) {
            (Mark::NetworkMessageNumber, _) => self.network_message_number = Some(offset),
            (Mark::SequenceNumber, _) => self.sequence_number = Some(offset),
            (Mark::Timestamp, _) => self.timestamp = Some(offset),
            (Mark::PicoSeconds, _) => self.pico_seconds = Some(offset),
            (Mark::SecurityTokenId, _) => self.security_token_id = Some(offset),
            (Mark::DataSetMessage, _) => {
                self.data_set_messages.push(DataSetPlaces::default());
                fields.push(FieldOffsets {
                    start: offset,
                    fields: Vec::new(),
                });
            }
            (Mark::DataSetSequenceNumber, Some(last)) => last.sequence_number = Some(offset),
            (Mark::DataSetTimestamp, Some(last)) => last.timestamp = Some(offset),
            (Mark::DataSetPicoSeconds, Some(last)) => last.pico_seconds = Some(offset),
            (Mark::DataSetStatus, Some(last)) => last.status = Some(offset),
            (Mark::Field, _) => {
                if let Some(last) = fields.last_mut() {
                    last.fields.push(offset);
                }
            }
            _ => {}
        }
    }

    /// Returns the fields of which some bytes cannot be decoded: DataSetMessage and field.
    fn fallible_fields(&self) -> Vec<(usize, usize)> {
        let is_fallible = |place: &FieldPlace| match &place.kind {
            // Every combination of bits is a value of these types.
            FieldKind::Scalar(_) | FieldKind::Array(_) => false,
            FieldKind::Text(built_in_type) => *built_in_type == BuiltInType::String,
            FieldKind::Raw(field) => !matches!(
                (&field.raw_type, &field.rank),
                (RawType::Fixed(_), Rank::Scalar)
            ),
        };
        let messages = self.data_set_messages.iter().enumerate();
        let fields = messages.flat_map(|(message, places)| {
            let fields = places.fields.iter().enumerate();
            fields.map(move |(field, place)| (message, field, place))
        });
        let fallible = fields.filter(|(_, _, place)| is_fallible(place));
        fallible
            .map(|(message, field, _)| (message, field))
            .collect()
    }

    fn constant_bytes(&self, length: usize) -> Vec<u8> {
        let mut constant = vec![0xFF; length];
        let mut vary = |range: Range<usize>| {
            if let Some(bytes) = constant.get_mut(range) {
                bytes.fill(0);
            }
        };
        let mut vary_at = |offset: Option<usize>, size: usize| {
            if let Some(offset) = offset {
                vary(offset..offset + size);
            }
        };
        vary_at(self.sequence_number, 2);
        vary_at(self.timestamp, 8);
        vary_at(self.pico_seconds, 2);
        vary_at(self.security_token_id, 4);
        for message in &self.data_set_messages {
            vary_at(message.sequence_number, 2);
            vary_at(message.timestamp, 8);
            vary_at(message.pico_seconds, 2);
            vary_at(message.status, 2);
            for field in &message.fields {
                vary_at(Some(field.value.start), field.value.len());
                vary_at(field.status, 4);
                vary_at(field.source_timestamp, 8);
                vary_at(field.server_timestamp, 8);
                field.picoseconds.iter().for_each(|at| vary_at(*at, 2));
            }
        }
        // These are new in each message.
        let security = &self.security;
        for range in [
            &security.message_nonce,
            &security.security_footer,
            &security.signature,
        ] {
            vary_at(Some(range.start), range.len());
        }
        constant
    }

    pub(super) fn field(&self, data_set_message: usize, field: usize) -> Option<&FieldPlace> {
        self.data_set_messages
            .get(data_set_message)?
            .fields
            .get(field)
    }
}

/// Returns the parts of a message that contain all bytes that never change. A long value between them is left out.
fn compared(constant: &[u8]) -> Vec<Range<usize>> {
    /// Bytes that are compared in less time than another part takes.
    const BLOCK: usize = 64;
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (index, block) in constant.chunks(BLOCK).enumerate() {
        if block.iter().all(|byte| *byte == 0) {
            continue;
        }
        let start = index * BLOCK;
        let end = start + block.len();
        match parts.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => parts.push(start..end),
        }
    }
    parts
}

struct FieldOffsets {
    /// Offset of the DataSetMessage.
    start: usize,
    fields: Vec<usize>,
}

fn not_fixed(data_set_message: usize, what: &'static str) -> FixedMessageError {
    FixedMessageError::NotFixed {
        data_set_message,
        what,
    }
}

fn places_of(
    content: &DataSetContent,
    offsets: &[usize],
    raw_data: Option<&RawDataLayout>,
) -> Result<Vec<FieldPlace>, &'static str> {
    match content {
        DataSetContent::KeyFrame(Fields::Variant(fields)) => fields
            .iter()
            .zip(offsets)
            .map(|(field, offset)| variant_place(field, *offset))
            .collect(),
        DataSetContent::KeyFrame(Fields::DataValue(fields)) => fields
            .iter()
            .zip(offsets)
            .map(|(field, offset)| data_value_place(field, *offset))
            .collect(),
        DataSetContent::KeyFrame(Fields::RawData(bytes)) => {
            let layout = raw_data.ok_or("RawData without a layout")?;
            let size = layout.fixed_size().ok_or("RawData of no fixed size")?;
            if bytes.len() < size {
                return Err("RawData that is shorter than its layout");
            }
            let start = offsets.first().copied().unwrap_or(0);
            let place = |(field, range): (&RawField, Range<usize>)| {
                FieldPlace::new(
                    start + range.start..start + range.end,
                    FieldKind::Raw(field.clone()),
                )
            };
            let fields = layout.fields.iter().zip(layout.fixed_positions());
            Ok(fields.map(place).collect())
        }
        _ => Err("not a key frame"),
    }
}

impl FieldPlace {
    /// Returns the place of the whole Variant, with its encoding mask and length; `None` for RawData.
    pub(super) fn variant(&self) -> Option<Range<usize>> {
        let head = match self.kind {
            FieldKind::Scalar(_) => 1,
            FieldKind::Array(_) | FieldKind::Text(_) => 5,
            FieldKind::Raw(_) => return None,
        };
        Some(self.value.start.checked_sub(head)?..self.value.end)
    }

    fn new(value: Range<usize>, kind: FieldKind) -> Self {
        Self {
            value,
            kind,
            status: None,
            source_timestamp: None,
            server_timestamp: None,
            picoseconds: [None; 2],
            is_in_data_value: false,
        }
    }
}

fn variant_place(value: &Variant, offset: usize) -> Result<FieldPlace, &'static str> {
    let what = "a field of a type without a fixed size";
    let built_in_type = value.built_in_type().ok_or(what)?;
    if let Some(length) = text_length(value) {
        // The encoding mask and the length come first.
        let start = offset + 5;
        let kind = FieldKind::Text(built_in_type);
        return Ok(FieldPlace::new(start..start + length, kind));
    }
    let size = built_in_type.encoded_size().ok_or(what)?;
    // The encoding mask and the number of elements come first.
    Ok(match value {
        // The dimensions follow the elements.
        Variant::Array(array) if array.dimensions.len() > 1 => {
            return Err("an array of several dimensions");
        }
        Variant::Array(array) => {
            let start = offset + 5;
            FieldPlace::new(
                start..start + array.len() * size,
                FieldKind::Array(built_in_type),
            )
        }
        _ => FieldPlace::new(
            offset + 1..offset + 1 + size,
            FieldKind::Scalar(built_in_type),
        ),
    })
}

/// Returns the number of bytes of a String or ByteString that is not null.
fn text_length(value: &Variant) -> Option<usize> {
    match value {
        Variant::String(text) => text.as_option().map(str::len),
        Variant::ByteString(bytes) => bytes.as_option().map(<[u8]>::len),
        _ => None,
    }
}

/// Returns the members of a DataValue, in the order of their encoding (OPC 10000-6, 5.2.2.17).
fn data_value_place(value: &DataValue, offset: usize) -> Result<FieldPlace, &'static str> {
    let variant = value.value.as_ref().ok_or("a DataValue without a value")?;
    // The encoding mask of the DataValue comes first.
    let mut place = variant_place(variant, offset + 1)?;
    place.is_in_data_value = true;
    let mut next = offset + 1 + variant.encode_to_vec().len();
    let mut member = |present: bool, size: usize| {
        let at = next;
        next += if present { size } else { 0 };
        present.then_some(at)
    };
    place.status = member(value.status.is_some(), 4);
    place.source_timestamp = member(value.source_timestamp.is_some(), 8);
    place.picoseconds[0] = member(value.source_picoseconds.is_some(), 2);
    place.server_timestamp = member(value.server_timestamp.is_some(), 8);
    place.picoseconds[1] = member(value.server_picoseconds.is_some(), 2);
    Ok(place)
}

//! Fast path: a message that always has the same layout is built once, and each interval only stores its values.

use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::binary::Encode;
use takt_ua::enumerations::DataSetFieldContentMask;
use takt_ua::{DataValue, StatusCode, Variant};
use takt_wire::{FixedMessage, NetworkMessage, ScalarPlace};

use super::data_set_writer::{DataSetWriter, FieldEncoding, Sample, SampleKind};
use super::source::FieldSource;
use crate::time::Now;

/// NetworkMessage that is built once. All of its fields come from cells.
#[derive(Debug)]
pub(super) struct FixedNetworkMessage {
    pub(super) message: FixedMessage,
    numbers: Vec<NumberField>,
    others: Vec<FixedField>,
    /// Buffer for the value of a field of RawData.
    scratch: Vec<u8>,
}

/// Field of at most eight bytes, without a status and times of its own: read and stored as a number.
#[derive(Debug)]
struct NumberField {
    cell: Arc<Cell>,
    place: ScalarPlace,
    /// First byte of the value in the cell, if it fits the layout.
    encoding_mask: u8,
    /// Length of the value in the cell, with the first byte, if it fits the layout.
    length: usize,
}

/// Field with a fixed place that is stored as encoded bytes.
#[derive(Debug)]
struct FixedField {
    cell: Arc<Cell>,
    /// Index of the field within the DataSetMessage.
    field: usize,
    /// Index of the DataSetMessage.
    data_set_message: usize,
    encoding: FieldEncoding,
    /// First byte of the value in the cell, if it fits the layout.
    encoding_mask: u8,
    /// Length of the value in the cell, with the first byte, if it fits the layout.
    length: usize,
}

impl FixedNetworkMessage {
    /// Creates the message; `None` if messages like this one have no fixed layout, or if not all of its fields come from cells.
    pub(super) fn new(
        message: &NetworkMessage,
        writers: &[DataSetWriter],
        indexes: &[usize],
    ) -> Option<Self> {
        let members = || indexes.iter().filter_map(|index| writers.get(*index));
        let layouts: Vec<_> = members().map(|writer| writer.raw_data.as_ref()).collect();
        let mut fixed = Self {
            message: FixedMessage::new(message, &layouts).ok()?,
            numbers: Vec::new(),
            others: Vec::new(),
            scratch: Vec::new(),
        };
        for (data_set_message, writer) in members().enumerate() {
            // Delta frames have other fields each time.
            if !writer.only_key_frames() {
                return None;
            }
            for (index, field) in writer.fields.iter().enumerate() {
                let FieldSource::Cell(cell) = &field.source else {
                    return None;
                };
                let value = writer.values.get(index)?.value.as_ref()?;
                if !field.substitute.is_empty() {
                    return None;
                }
                fixed.add(data_set_message, index, cell, value, writer.encoding)?;
            }
        }
        Some(fixed)
    }

    fn add(
        &mut self,
        data_set_message: usize,
        field: usize,
        cell: &Arc<Cell>,
        value: &Variant,
        encoding: FieldEncoding,
    ) -> Option<()> {
        if !keeps_layout(value, encoding) {
            return None;
        }
        let encoded = value.encode_to_vec();
        let encoding_mask = encoded.first().copied()?;
        let cell = cell.clone();
        let bare = !matches!(encoding, FieldEncoding::DataValue(_));
        match self.message.scalar_place(data_set_message, field) {
            Some(place) if bare => self.numbers.push(NumberField {
                cell,
                place,
                encoding_mask,
                length: encoded.len(),
            }),
            _ => {
                if encoding == FieldEncoding::RawData {
                    // A longer value does not fit the layout.
                    let longest = self.scratch.len().max(encoded.len());
                    self.scratch.resize(longest, 0);
                }
                self.others.push(FixedField {
                    cell,
                    field,
                    data_set_message,
                    encoding,
                    encoding_mask,
                    length: encoded.len(),
                });
            }
        }
        Some(())
    }

    /// Stores the values of all cells. Returns `false` if one of them does not fit the layout now, because it is Bad, longer, or
    /// of another type; the general encoder then makes the message.
    #[inline]
    pub(super) fn store(&mut self, now: Now) -> bool {
        for number in &self.numbers {
            let Ok((scalar, reading)) = number.cell.read_encoded_scalar() else {
                return false;
            };
            // If this one does not fit, those stored before do no harm: the next attempt overwrites them.
            let fits = reading.length == number.length
                && scalar.encoding_mask == number.encoding_mask
                && reading.status.is_good();
            if !fits {
                return false;
            }
            self.message.store_scalar(number.place, scalar.bytes);
        }
        self.others
            .iter()
            .all(|place| place.store(&mut self.message, &mut self.scratch, now))
    }
}

/// Returns true if a value is stored as it is in the cell. An array or a text that is RawData is padded, and a value of some types has
/// neither a size nor a length.
fn keeps_layout(value: &Variant, encoding: FieldEncoding) -> bool {
    let is_raw = encoding == FieldEncoding::RawData;
    match value {
        Variant::Empty => false,
        Variant::String(_) | Variant::ByteString(_) => !is_raw,
        Variant::Array(array) if is_raw || array.dimensions.len() > 1 => false,
        _ => value
            .built_in_type()
            .is_some_and(|built_in_type| built_in_type.encoded_size().is_some()),
    }
}

impl FixedField {
    #[inline]
    fn store(&self, message: &mut FixedMessage, scratch: &mut [u8], now: Now) -> bool {
        let (index, field) = (self.data_set_message, self.field);
        // A status that is not Good changes the DataSetMessage, or replaces the value: the general encoder makes such messages.
        let mut reading = None;
        let mut read = |target: &mut [u8]| {
            reading = self.cell.read_into(target).ok();
            let length = reading.map_or(0, |reading| reading.length);
            length == target.len() && reading.is_some_and(|reading| reading.status.is_good())
        };
        let is_stored = match self.encoding {
            FieldEncoding::RawData => {
                let room = scratch.get_mut(..self.length).unwrap_or_default();
                // The encoding mask is not a part of RawData.
                read(room)
                    && room.first() == Some(&self.encoding_mask)
                    && message.store_encoded(index, field, room.get(1..).unwrap_or_default())
            }
            _ => message.store_encoded_variant(index, field, read),
        };
        let (true, Some(reading)) = (is_stored, reading) else {
            return false;
        };
        let FieldEncoding::DataValue(members) = self.encoding else {
            return true;
        };
        let has = |bit: u32| members & bit != 0;
        let source_timestamp = match reading.source_timestamp.is_null() {
            true => now.date_time,
            false => reading.source_timestamp,
        };
        let server_timestamp = reading.server_timestamp.unwrap_or(now.date_time);
        use DataSetFieldContentMask as Mask;
        (!has(Mask::StatusCode) || message.set_field_status(index, field, reading.status))
            && (!has(Mask::SourceTimestamp)
                || message.set_field_source_timestamp(index, field, source_timestamp))
            && (!has(Mask::ServerTimestamp)
                || message.set_field_server_timestamp(index, field, server_timestamp))
    }
}

impl DataSetWriter {
    /// Returns a sample with the layout of key frames: every field has a Good value.
    pub(super) fn typical_sample(&mut self) -> Option<Sample> {
        let values: Option<Vec<DataValue>> = self
            .fields
            .iter()
            .map(|field| {
                let cell = field.source.cell()?;
                let value = cell.get().ok()?.value.or_else(|| zero(cell))?;
                Some(DataValue::good(value).with_status(StatusCode::Good))
            })
            .collect();
        self.values = values?;
        Some(Sample {
            sequence_number: 0,
            kind: SampleKind::KeyFrame,
        })
    }
}

/// Returns a zero for a cell that has not been set yet, if its values have a fixed size.
fn zero(cell: &Cell) -> Option<Variant> {
    let shape = cell.shape();
    let built_in_type = shape
        .data_type()
        .filter(|_| shape.is_array() == Some(false))?;
    built_in_type.encoded_size()?;
    Some(Variant::default_of(built_in_type))
}

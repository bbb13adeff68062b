//! Blocks: the encoding of consecutive records of one Variable.
//!
//! A block begins with its version and the number of records. Each record has a byte of flags, the difference of its source
//! timestamp to the one before, and only those other fields that differ from the record before. Numbers are LEB128;
//! signed ones are zigzag-encoded. Source timestamps increase strictly.

use takt_ua::{DateTime, StatusCode};

use crate::record::HistoryRecordRef;

const VERSION: u8 = 1;

/// Flags of a record.
mod flag {
    pub(super) const STATUS: u8 = 1;
    pub(super) const LENGTH: u8 = 2;
    pub(super) const DELAY: u8 = 4;
    /// The first byte of the value, which has its type, is the same as before and left out.
    pub(super) const SAME_TYPE: u8 = 8;
    pub(super) const ALL: u8 = 15;
}

/// Faults in an encoded block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The block ends within a record.
    #[error("a block ends early")]
    Truncated,
    /// The version or the flags are unknown.
    #[error("a block has an unknown version or flag")]
    Unknown,
    /// A number is too large, or timestamps do not increase.
    #[error("a block has a number out of range")]
    OutOfRange,
    /// Bytes follow the last record.
    #[error("bytes follow the last record of a block")]
    TrailingBytes,
}

/// A decoded block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    entries: Vec<Entry>,
    values: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    source_timestamp: DateTime,
    server_timestamp: DateTime,
    status: StatusCode,
    /// End of the value in `values`; it begins at the end of the one before.
    end: usize,
}

/// The fields of the record before.
#[derive(Default)]
struct Before {
    time: i64,
    delay: i64,
    status: u32,
    length: usize,
    first_byte: Option<u8>,
}

impl Block {
    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns a record by its index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<HistoryRecordRef<'_>> {
        let entry = self.entries.get(index)?;
        let start = match index.checked_sub(1) {
            Some(before) => self.entries.get(before)?.end,
            None => 0,
        };
        Some(HistoryRecordRef {
            source_timestamp: entry.source_timestamp,
            server_timestamp: entry.server_timestamp,
            status: entry.status,
            value: self.values.get(start..entry.end)?,
        })
    }

    /// Returns the records in their order.
    pub fn iter(&self) -> impl Iterator<Item = HistoryRecordRef<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the number of records before `time`.
    #[must_use]
    pub fn position(&self, time: DateTime) -> usize {
        self.entries
            .partition_point(|entry| entry.source_timestamp < time)
    }

    /// Appends a record, whose source timestamp has to be later than that of the last one.
    ///
    /// # Errors
    /// The source timestamp is not later.
    pub fn push(&mut self, record: &HistoryRecordRef<'_>) -> Result<(), BlockError> {
        let last = self.entries.last().map(|last| last.source_timestamp);
        if last.is_some_and(|last| last >= record.source_timestamp) {
            return Err(BlockError::OutOfRange);
        }
        self.values.extend_from_slice(record.value);
        self.entries.push(Entry {
            source_timestamp: record.source_timestamp,
            server_timestamp: record.server_timestamp,
            status: record.status,
            end: self.values.len(),
        });
        Ok(())
    }

    /// Decodes a block.
    ///
    /// # Errors
    /// The bytes are not those of a block.
    pub fn decode(bytes: &[u8]) -> Result<Self, BlockError> {
        let mut input = bytes;
        if byte(&mut input)? != VERSION {
            return Err(BlockError::Unknown);
        }
        let count = usize::try_from(number(&mut input)?).map_err(|_| BlockError::OutOfRange)?;
        // Each record takes two bytes or more.
        if count > input.len() {
            return Err(BlockError::Truncated);
        }
        let mut block = Self {
            entries: Vec::with_capacity(count),
            // A guess: values are most of a block, and SAME_TYPE leaves out a byte of each.
            values: Vec::with_capacity(input.len()),
        };
        let mut before = Before::default();
        for _ in 0..count {
            block.decode_record(&mut input, &mut before)?;
        }
        match input.is_empty() {
            true => Ok(block),
            false => Err(BlockError::TrailingBytes),
        }
    }

    fn decode_record(&mut self, input: &mut &[u8], before: &mut Before) -> Result<(), BlockError> {
        let flags = byte(input)?;
        if flags & !flag::ALL != 0 {
            return Err(BlockError::Unknown);
        }
        let step = signed(number(input)?);
        before.time = before
            .time
            .checked_add(step)
            .ok_or(BlockError::OutOfRange)?;
        if flags & flag::STATUS != 0 {
            before.status = u32::try_from(number(input)?).map_err(|_| BlockError::OutOfRange)?;
        }
        if flags & flag::DELAY != 0 {
            before.delay = signed(number(input)?);
        }
        if flags & flag::LENGTH != 0 {
            before.length = usize::try_from(number(input)?).map_err(|_| BlockError::OutOfRange)?;
        }
        let server_timestamp = before.time.checked_add(before.delay);
        let start = self.values.len();
        let mut rest = before.length;
        if flags & flag::SAME_TYPE != 0 {
            self.values
                .push(before.first_byte.ok_or(BlockError::OutOfRange)?);
            rest = rest.checked_sub(1).ok_or(BlockError::OutOfRange)?;
        }
        let (value, after) = input.split_at_checked(rest).ok_or(BlockError::Truncated)?;
        self.values.extend_from_slice(value);
        *input = after;
        // An empty value leaves the byte of the record before, as in the encoder.
        if let Some(first) = self.values.get(start) {
            before.first_byte = Some(*first);
        }
        let source_timestamp = DateTime(before.time);
        let last = self.entries.last().map(|last| last.source_timestamp);
        if last.is_some_and(|last| last >= source_timestamp) {
            return Err(BlockError::OutOfRange);
        }
        self.entries.push(Entry {
            source_timestamp,
            server_timestamp: DateTime(server_timestamp.ok_or(BlockError::OutOfRange)?),
            status: StatusCode(before.status),
            end: self.values.len(),
        });
        Ok(())
    }
}

/// Encoder of blocks, which says when a block is full.
#[derive(Default)]
pub(crate) struct BlockEncoder {
    records: Vec<u8>,
    count: u64,
    before: Before,
}

impl BlockEncoder {
    /// Appends a record if the block then has at most `max` bytes, or if it is the first one.
    pub(crate) fn push(&mut self, record: &HistoryRecordRef<'_>, max: usize) -> bool {
        let start = self.records.len();
        // A place for the flags, which are known after the other fields.
        self.records.push(0);
        let before = &mut self.before;
        let time = record.source_timestamp.0;
        // A server timestamp that is too far away to be a difference is not that of a clock.
        let delay = record.server_timestamp.0.checked_sub(time).unwrap_or(0);
        // `is_in_range` of the store keeps differences within 64 bits.
        let step = time.wrapping_sub(before.time);
        let status = record.status.0;
        let length = record.value.len();
        let mut flags = 0;
        put(&mut self.records, zigzag(step));
        if status != before.status {
            flags |= flag::STATUS;
            put(&mut self.records, u64::from(status));
        }
        if delay != before.delay {
            flags |= flag::DELAY;
            put(&mut self.records, zigzag(delay));
        }
        if length != before.length {
            flags |= flag::LENGTH;
            put(&mut self.records, length as u64);
        }
        let value = match (record.value, before.first_byte) {
            ([first, rest @ ..], Some(known)) if *first == known => {
                flags |= flag::SAME_TYPE;
                rest
            }
            (value, _) => value,
        };
        self.records.extend_from_slice(value);
        if let Some(place) = self.records.get_mut(start) {
            *place = flags;
        }
        if self.count > 0 && self.records.len() + HEADER > max {
            self.records.truncate(start);
            return false;
        }
        self.count += 1;
        *before = Before {
            time,
            delay,
            status,
            length,
            first_byte: record.value.first().copied().or(before.first_byte),
        };
        true
    }

    /// Returns the encoded block.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut block = Vec::with_capacity(self.records.len() + HEADER);
        block.push(VERSION);
        put(&mut block, self.count);
        block.extend_from_slice(&self.records);
        block
    }
}

/// Largest length of version and number of records of a block of less than 2 MiB.
const HEADER: usize = 4;

/// Encodes all records in one block.
#[must_use]
pub fn encode<'a>(records: impl IntoIterator<Item = HistoryRecordRef<'a>>) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    for record in records {
        encoder.push(&record, usize::MAX);
    }
    encoder.finish()
}

fn byte(input: &mut &[u8]) -> Result<u8, BlockError> {
    let (first, rest) = input.split_first().ok_or(BlockError::Truncated)?;
    *input = rest;
    Ok(*first)
}

fn number(input: &mut &[u8]) -> Result<u64, BlockError> {
    let mut result = 0_u64;
    for shift in (0..64).step_by(7) {
        let next = byte(input)?;
        let bits = u64::from(next & 0x7F);
        // The tenth byte has the last bit of 64.
        if shift == 63 && bits > 1 {
            return Err(BlockError::OutOfRange);
        }
        result |= bits << shift;
        if next & 0x80 == 0 {
            return Ok(result);
        }
    }
    Err(BlockError::OutOfRange)
}

fn put(output: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            output.push(low & 0x7F);
            return;
        }
        output.push(low | 0x80);
    }
}

fn zigzag(number: i64) -> u64 {
    (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()
}

fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::HistoryRecord;

    fn records() -> impl Strategy<Value = Vec<HistoryRecord>> {
        let value = proptest::collection::vec(any::<u8>(), 0..20);
        let record = (-1_i64 << 60..1 << 60, -5_i64..1000, 0_u32..3, value);
        proptest::collection::btree_map(-1_i64 << 61..1 << 61, record, 0..60).prop_map(|all| {
            let record = |(time, (_, delay, status, value)): (i64, (i64, i64, u32, Vec<u8>))| {
                HistoryRecord {
                    source_timestamp: DateTime(time),
                    server_timestamp: DateTime(time + delay),
                    status: StatusCode(status << 30),
                    value,
                }
            };
            all.into_iter().map(record).collect()
        })
    }

    proptest! {
        #[test]
        fn records_survive_encoding(records in records()) {
            let encoded = encode(records.iter().map(HistoryRecord::as_ref));
            let block = Block::decode(&encoded).unwrap();
            let decoded: Vec<_> = block.iter().map(|record| record.to_owned()).collect();
            prop_assert_eq!(decoded, records);
        }

        #[test]
        fn damage_is_an_error_or_another_block(
            records in records(), place in any::<prop::sample::Index>(), bit in 0_u32..8
        ) {
            let mut encoded = encode(records.iter().map(HistoryRecord::as_ref));
            let place = place.index(encoded.len());
            encoded[place] ^= 1_u8 << bit;
            if let Ok(block) = Block::decode(&encoded) {
                let times: Vec<_> = block.iter().map(|record| record.source_timestamp).collect();
                prop_assert!(times.is_sorted());
            }
            for length in 0..encoded.len() {
                let _ = Block::decode(&encoded[..length]);
            }
        }
    }

    #[test]
    fn a_number_of_8_bytes_takes_about_13_bytes() {
        let record = |index: i64| {
            let mut value = vec![11];
            value.extend_from_slice(&(index as f64 * 0.7).to_le_bytes());
            HistoryRecord {
                source_timestamp: DateTime(133_000_000_000_000_000 + index * 100_000),
                server_timestamp: DateTime(133_000_000_000_000_000 + index * 100_000 + 700),
                status: StatusCode::Good,
                value,
            }
        };
        let records: Vec<_> = (0..200).map(record).collect();
        let encoded = encode(records.iter().map(HistoryRecord::as_ref));
        assert!(encoded.len() < 200 * 13, "{}", encoded.len());
    }
}

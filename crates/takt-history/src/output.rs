//! Results of queries, and the limits of one slice.

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::{DateTime, NumericRange, StatusCode, Variant};

/// Bits of a StatusCode that say how a value was obtained (OPC 10000-4, 7.39.1).
pub(crate) mod bits {
    /// InfoType DataValue.
    const DATA_VALUE: u32 = 0x0400;
    pub(crate) const RAW: u32 = DATA_VALUE;
    pub(crate) const CALCULATED: u32 = DATA_VALUE | 0x01;
    pub(crate) const INTERPOLATED: u32 = DATA_VALUE | 0x02;
    pub(crate) const PARTIAL: u32 = DATA_VALUE | 0x04;
    pub(crate) const MULTI_VALUE: u32 = DATA_VALUE | 0x10;
}

/// Work that a query may do in one slice.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    records: usize,
}

impl Budget {
    /// Creates the budget of a slice: the number of records that are examined, about 50 to 500 ns each.
    #[must_use]
    pub const fn new(records: usize) -> Self {
        Self { records }
    }

    /// Counts one record.
    pub(crate) fn spend(&mut self) {
        self.records = self.records.saturating_sub(1);
    }

    /// Returns true if the slice is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.records == 0
    }
}

/// State of a query at the end of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryProgress {
    /// The query needs another slice.
    Unfinished,
    /// The output is full; the query has more results.
    Full,
    /// The query has no more results.
    Complete,
}

/// Form in which values are returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueForm {
    /// True if source timestamps are returned.
    pub source_timestamp: bool,
    /// True if server timestamps are returned.
    pub server_timestamp: bool,
    /// Part of each value that is returned; `None`: the whole value.
    pub index_range: Option<NumericRange>,
}

impl Default for ValueForm {
    fn default() -> Self {
        Self {
            source_timestamp: true,
            server_timestamp: true,
            index_range: None,
        }
    }
}

/// Encoded DataValues (OPC 10000-6, 5.2.2.17), up to a number and a size.
#[derive(Debug)]
pub struct QueryOutput {
    form: ValueForm,
    encoded: Vec<u8>,
    count: u32,
    max_count: u32,
    max_bytes: usize,
}

impl QueryOutput {
    /// Creates an output for at most `max_count` values. It is full from `max_bytes` bytes on.
    #[must_use]
    pub fn new(form: ValueForm, max_count: u32, max_bytes: usize) -> Self {
        Self {
            form,
            encoded: Vec::new(),
            count: 0,
            max_count,
            max_bytes,
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the encoded DataValues, one after another.
    #[must_use]
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    /// Returns true if no more values fit.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= self.max_count || self.encoded.len() >= self.max_bytes
    }

    /// Adds a value; an empty one is left out.
    pub(crate) fn push(
        &mut self,
        value: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
        server_timestamp: Option<DateTime>,
    ) {
        // Declared out here, because the part has to live until it is appended.
        let ranged;
        let (mut value, mut status) = (value, status);
        if let Some(range) = &self.form.index_range
            && !value.is_empty()
        {
            match in_range(value, range) {
                Ok(part) => {
                    ranged = part;
                    value = &ranged;
                }
                // With a Bad status there is no value (OPC 10000-4, 7.11).
                Err(error) => (value, status) = (&[], error),
            }
        }
        let server_timestamp = server_timestamp.filter(|_| self.form.server_timestamp);
        let mask = u8::from(!value.is_empty())
            | u8::from(status != StatusCode::Good) << 1
            | u8::from(self.form.source_timestamp) << 2
            | u8::from(server_timestamp.is_some()) << 3;
        self.encoded.push(mask);
        self.encoded.extend_from_slice(value);
        if status != StatusCode::Good {
            self.encoded.extend_from_slice(&status.0.to_le_bytes());
        }
        if self.form.source_timestamp {
            self.encoded
                .extend_from_slice(&source_timestamp.0.to_le_bytes());
        }
        if let Some(time) = server_timestamp {
            self.encoded.extend_from_slice(&time.0.to_le_bytes());
        }
        self.count += 1;
    }
}

fn in_range(value: &[u8], range: &NumericRange) -> Result<Vec<u8>, StatusCode> {
    let value = Variant::decode(&mut Decoder::new(value));
    let value = value.map_err(|_| StatusCode::BadInternalError)?;
    Ok(range.read(&value)?.encode_to_vec())
}

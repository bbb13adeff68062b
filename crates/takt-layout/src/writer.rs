//! Writer of messages, directly into the memory that the receiver reads.

use takt_ua::binary::{EncodeError, Encoder};
use takt_ua::views::ReadValueIdRef;
use takt_ua::{AsVariant, DateTime, NodeIdRef, StatusCode};

use crate::head::{
    COUNT, DATA_VALUE, HEAD_LENGTH, MARK, MAX_AGE, REQUEST_HANDLE, RequestHead, Service,
    TIMEOUT_HINT, TIMESTAMP, TIMESTAMPS, TOKEN, VERSION, i64_at, u16_at,
};
use crate::span::{Span, put};
use crate::values::{ValueWriter, ZEROS};

/// The times of a DataValue (OPC 10000-4, 7.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Time at which the source had the value.
    pub source_timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps.
    pub source_picoseconds: Option<u16>,
    /// Time at which the server had the value.
    pub server_timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps.
    pub server_picoseconds: Option<u16>,
}

const SOURCE_TIMESTAMP: u8 = 1;
const SERVER_TIMESTAMP: u8 = 2;
const SOURCE_PICOSECONDS: u8 = 4;
const SERVER_PICOSECONDS: u8 = 8;

impl Times {
    /// Returns the times of the DataValue at `at`.
    #[inline]
    pub(crate) fn parse(bytes: &[u8], at: usize) -> Self {
        let present = bytes.get(at + 12).copied().unwrap_or(0);
        let has = |bit: u8| present & bit != 0;
        Self {
            source_timestamp: has(SOURCE_TIMESTAMP).then(|| DateTime(i64_at(bytes, at + 16))),
            server_timestamp: has(SERVER_TIMESTAMP).then(|| DateTime(i64_at(bytes, at + 24))),
            source_picoseconds: has(SOURCE_PICOSECONDS).then(|| u16_at(bytes, at + 32)),
            server_picoseconds: has(SERVER_PICOSECONDS).then(|| u16_at(bytes, at + 34)),
        }
    }

    fn present(&self) -> u8 {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        bit(self.source_timestamp.is_some(), SOURCE_TIMESTAMP)
            | bit(self.server_timestamp.is_some(), SERVER_TIMESTAMP)
            | bit(self.source_picoseconds.is_some(), SOURCE_PICOSECONDS)
            | bit(self.server_picoseconds.is_some(), SERVER_PICOSECONDS)
    }
}

/// Returns a DataValue in the form of a record.
#[inline]
fn data_value(value: Span, status: StatusCode, times: &Times) -> [u8; DATA_VALUE] {
    let mut record = [0; DATA_VALUE];
    let mut put = |at: usize, bytes: &[u8]| put(&mut record, at, bytes);
    put(0, &value.to_bytes());
    put(8, &status.0.to_le_bytes());
    put(12, &[times.present()]);
    put(
        16,
        &times
            .source_timestamp
            .map_or(0, |time| time.0)
            .to_le_bytes(),
    );
    put(
        24,
        &times
            .server_timestamp
            .map_or(0, |time| time.0)
            .to_le_bytes(),
    );
    put(32, &times.source_picoseconds.unwrap_or(0).to_le_bytes());
    put(34, &times.server_picoseconds.unwrap_or(0).to_le_bytes());
    record
}

/// A message that is being written.
#[derive(Debug)]
struct Writer<'e, 'b> {
    encoder: &'e mut Encoder<'b>,
    start: usize,
    /// Offset of the next record.
    record: usize,
}

impl<'e, 'b> Writer<'e, 'b> {
    /// Writes a head, and records that are zero.
    #[inline]
    fn begin(
        encoder: &'e mut Encoder<'b>,
        head: &[u8; HEAD_LENGTH],
        records: usize,
    ) -> Result<Self, EncodeError> {
        let start = encoder.position();
        encoder.bytes(head)?;
        // The records come first, so that a reader finds each by its number. Values are appended behind them.
        let mut left = records;
        while left > 0 {
            let now = left.min(ZEROS.len());
            encoder.bytes(ZEROS.get(..now).unwrap_or_default())?;
            left -= now;
        }
        Ok(Self {
            encoder,
            start,
            record: HEAD_LENGTH,
        })
    }

    /// Returns the writer of the values behind the records.
    #[inline]
    fn values(&mut self) -> ValueWriter<'_, 'b> {
        ValueWriter {
            encoder: self.encoder,
            start: self.start,
        }
    }

    /// Writes the next record.
    #[inline]
    fn record(&mut self, record: &[u8]) {
        // The record was reserved; records beyond the reserved number are not written.
        self.encoder.patch(self.start + self.record, record);
        self.record += record.len();
    }
}

/// Writes a request.
#[derive(Debug)]
pub struct RequestWriter<'e, 'b>(Writer<'e, 'b>);

/// # Errors
/// An error if there is not enough space.
impl<'e, 'b> RequestWriter<'e, 'b> {
    /// Begins a request with `count` items, each of which is then written by the method of its service.
    #[inline]
    pub fn begin(
        encoder: &'e mut Encoder<'b>,
        service: Service,
        count: u32,
        head: &RequestHead<'_>,
    ) -> Result<Self, EncodeError> {
        let mut bytes = head_bytes(
            service.request_kind(),
            count,
            head.request_handle,
            head.timestamp,
        );
        put(&mut bytes, TIMEOUT_HINT, &head.timeout_hint.to_le_bytes());
        put(&mut bytes, MAX_AGE, &head.max_age.to_le_bytes());
        put(
            &mut bytes,
            TIMESTAMPS,
            &head.timestamps_to_return.0.to_le_bytes(),
        );
        let records = (count as usize).checked_mul(service.request_record());
        let records = records.ok_or(EncodeError::LengthOverflow)?;
        let mut writer = Writer::begin(encoder, &bytes, records)?;
        let token = writer.values().append(&head.authentication_token)?;
        writer
            .encoder
            .patch(writer.start + TOKEN, &token.to_bytes());
        Ok(Self(writer))
    }

    /// Writes the next item of a Read.
    #[inline]
    pub fn read(&mut self, item: &ReadValueIdRef<'_>) -> Result<(), EncodeError> {
        let mut record = [0; Service::Read.request_record()];
        let node_id = self.0.values().append(&item.node_id)?;
        put(&mut record, 0, &node_id.to_bytes());
        let index_range = self.0.values().append_text(item.index_range)?;
        put(&mut record, 8, &index_range.to_bytes());
        if !item.data_encoding.is_null() {
            let data_encoding = self.0.values().append(&item.data_encoding)?;
            put(&mut record, 16, &data_encoding.to_bytes());
        }
        put(&mut record, 24, &item.attribute_id.to_le_bytes());
        self.0.record(&record);
        Ok(())
    }

    /// Writes the next item of a Write. `value` encodes a Variant (OPC 10000-6, 5.2.2.16).
    #[inline]
    pub fn write(
        &mut self,
        node_id: NodeIdRef<'_>,
        attribute_id: u32,
        index_range: Option<&str>,
        value: impl FnOnce(&mut Encoder<'b>) -> Result<(), EncodeError>,
        status: StatusCode,
        times: &Times,
    ) -> Result<(), EncodeError> {
        let mut record = [0; Service::Write.request_record()];
        let node_id = self.0.values().append(&node_id)?;
        put(&mut record, 0, &node_id.to_bytes());
        let index_range = self.0.values().append_text(index_range)?;
        put(&mut record, 8, &index_range.to_bytes());
        put(&mut record, 16, &attribute_id.to_le_bytes());
        let (value, ()) = self.0.values().value(value)?;
        put(
            &mut record,
            crate::head::WRITTEN,
            &data_value(value, status, times),
        );
        self.0.record(&record);
        Ok(())
    }

    /// Writes the next item of a Call.
    #[inline]
    pub fn call<T: AsVariant>(
        &mut self,
        object_id: NodeIdRef<'_>,
        method_id: NodeIdRef<'_>,
        input_arguments: &[T],
    ) -> Result<(), EncodeError> {
        let mut record = [0; Service::Call.request_record()];
        let object_id = self.0.values().append(&object_id)?;
        put(&mut record, 0, &object_id.to_bytes());
        let method_id = self.0.values().append(&method_id)?;
        put(&mut record, 8, &method_id.to_bytes());
        // The table comes before its targets: a reader wants spans in ascending order.
        let table = self
            .0
            .values()
            .append_spans(input_arguments.iter().map(|_| Span::NONE))?;
        for (index, argument) in input_arguments.iter().enumerate() {
            let (span, ()) = self.0.values().value(|encoder| argument.encode(encoder))?;
            let at = self.0.start + table.offset as usize + 8 * index;
            self.0.encoder.patch(at, &span.to_bytes());
        }
        put(&mut record, 16, &table.to_bytes());
        self.0.record(&record);
        Ok(())
    }
}

/// Writes a response.
#[derive(Debug)]
pub struct ResponseWriter<'e, 'b>(Writer<'e, 'b>);

/// # Errors
/// An error if there is not enough space.
impl<'e, 'b> ResponseWriter<'e, 'b> {
    /// Begins a response with `count` results, each of which is then written by the method of its service.
    #[inline]
    pub fn begin(
        encoder: &'e mut Encoder<'b>,
        service: Service,
        count: usize,
        request_handle: u32,
        timestamp: DateTime,
    ) -> Result<Self, EncodeError> {
        let number = u32::try_from(count).map_err(|_| EncodeError::LengthOverflow)?;
        let head = head_bytes(service.response_kind(), number, request_handle, timestamp);
        let records = count.checked_mul(service.response_record());
        let records = records.ok_or(EncodeError::LengthOverflow)?;
        Writer::begin(encoder, &head, records).map(Self)
    }

    /// Continues a response that begins at `start` and has `results` results so far.
    #[inline]
    pub fn resume(
        encoder: &'e mut Encoder<'b>,
        start: usize,
        service: Service,
        results: usize,
    ) -> Self {
        Self(Writer {
            encoder,
            start,
            record: HEAD_LENGTH + results * service.response_record(),
        })
    }

    /// Returns the number of bytes of the response so far.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.0.encoder.position() - self.0.start
    }

    /// Returns the writer of values for the next result.
    #[inline]
    pub fn values(&mut self) -> ValueWriter<'_, 'b> {
        self.0.values()
    }

    /// Removes the last written value and everything behind it.
    #[inline]
    pub fn take_back(&mut self, value: Span) {
        // The span of an absent value has the offset 0: it would remove the whole response.
        if value.length > 0 {
            self.0
                .encoder
                .truncate(self.0.start + value.offset as usize);
        }
    }

    /// Writes the next result of a Read.
    #[inline]
    pub fn data_value(&mut self, value: Span, status: StatusCode, times: &Times) {
        self.0.record(&data_value(value, status, times));
    }

    /// Writes the next result of a Write.
    #[inline]
    pub fn status(&mut self, status: StatusCode) {
        self.0.record(&status.0.to_le_bytes());
    }

    /// Writes the next result of a Call; the output arguments were [written](Self::values) before.
    #[inline]
    pub fn call_result(
        &mut self,
        status: StatusCode,
        input_argument_results: &[StatusCode],
        output_arguments: impl Iterator<Item = Span>,
    ) -> Result<(), EncodeError> {
        let mut record = [0; Service::Call.response_record()];
        put(&mut record, 0, &status.0.to_le_bytes());
        self.0.values().align(0)?;
        let from = self.0.values().position();
        for status in input_argument_results {
            self.0.encoder.u32(status.0)?;
        }
        put(&mut record, 8, &self.0.values().span(from)?.to_bytes());
        let outputs = self.0.values().append_spans(output_arguments)?;
        put(&mut record, 16, &outputs.to_bytes());
        self.0.record(&record);
        Ok(())
    }
}

#[inline]
fn head_bytes(
    kind: u16,
    count: u32,
    request_handle: u32,
    timestamp: DateTime,
) -> [u8; HEAD_LENGTH] {
    let mut head = [0; HEAD_LENGTH];
    put(&mut head, 0, &[MARK, VERSION]);
    put(&mut head, 2, &kind.to_le_bytes());
    put(&mut head, COUNT, &count.to_le_bytes());
    put(&mut head, REQUEST_HANDLE, &request_handle.to_le_bytes());
    put(&mut head, TIMESTAMP, &timestamp.0.to_le_bytes());
    head
}

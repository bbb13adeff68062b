//! Reader of responses in the memory where the server wrote them, and which it could still change: checks are made on
//! copies, and values are returned as [`SharedBytes`].

use std::ops::Range;

use takt_rt::shared_bytes::SharedBytes;
use takt_ua::{DateTime, StatusCode};

use crate::error::LayoutError;
use crate::head::{
    COUNT, DATA_VALUE, HEAD_LENGTH, MARK, REQUEST_HANDLE, Service, TIMESTAMP, VERSION, i64_at,
    u16_at, u32_at,
};
use crate::writer::Times;

/// A response whose head has been checked.
#[derive(Debug, Clone, Copy)]
pub struct ResponseReader<'a> {
    message: SharedBytes<'a>,
    service: Service,
    count: usize,
    /// RequestHandle of the request.
    pub request_handle: u32,
    /// Time at which the server sent the response.
    pub timestamp: DateTime,
}

/// A result of a Read (DataValue, OPC 10000-4, 7.11).
#[derive(Debug, Clone)]
pub struct DataValueRecord {
    /// Range of the value in the message, as a Variant (OPC 10000-6, 5.2.2.16); empty if there is none.
    pub value: Range<usize>,
    /// Quality of the value.
    pub status: StatusCode,
    /// Timestamps of the value.
    pub times: Times,
}

/// A result of a Call (CallMethodResult, OPC 10000-4, 5.12.2.2).
#[derive(Debug, Clone)]
pub struct CallResult<'a> {
    message: SharedBytes<'a>,
    /// Result of the Call.
    pub status: StatusCode,
    input_argument_results: Range<usize>,
    output_arguments: Range<usize>,
}

impl<'a> ResponseReader<'a> {
    /// Checks the head of a response; the results are checked when they are read. Returns `None` if the message does
    /// not begin with the mark, and so is a ServiceFault in the binary DataEncoding.
    ///
    /// # Errors
    /// An error if it is not a response of that service.
    #[inline]
    pub fn parse(message: SharedBytes<'a>, service: Service) -> Result<Option<Self>, LayoutError> {
        let Some(head) = message.array::<HEAD_LENGTH>(0) else {
            // A ServiceFault may be shorter than a head.
            return match message.array::<1>(0) {
                Some([MARK]) => Err(LayoutError::Head),
                _ => Ok(None),
            };
        };
        let [mark, version, ..] = head;
        if mark != MARK {
            return Ok(None);
        }
        if version != VERSION {
            return Err(LayoutError::Version(version));
        }
        let kind = u16_at(&head, 2);
        if kind != service.response_kind() {
            return Err(LayoutError::Kind(kind));
        }
        let count = u32_at(&head, COUNT);
        (count as usize)
            .checked_mul(service.response_record())
            .and_then(|records| records.checked_add(HEAD_LENGTH))
            .filter(|end| *end <= message.len())
            .ok_or(LayoutError::Records { count })?;
        Ok(Some(Self {
            message,
            service,
            count: count as usize,
            request_handle: u32_at(&head, REQUEST_HANDLE),
            timestamp: DateTime(i64_at(&head, TIMESTAMP)),
        }))
    }

    /// Returns the number of results.
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns a result of a Read.
    ///
    /// # Errors
    /// An error if there is no such result, or its value exceeds the message.
    #[inline]
    pub fn data_value(&self, index: usize) -> Result<DataValueRecord, LayoutError> {
        let record = self.record::<DATA_VALUE>(Service::Read, index)?;
        Ok(DataValueRecord {
            value: range(&self.message, &record, 0)?,
            status: StatusCode(u32_at(&record, 8)),
            times: Times::parse(&record, 0),
        })
    }

    /// Returns a result of a Write.
    ///
    /// # Errors
    /// An error if there is no such result.
    #[inline]
    pub fn status(&self, index: usize) -> Result<StatusCode, LayoutError> {
        let record = self.record::<4>(Service::Write, index)?;
        Ok(StatusCode(u32_at(&record, 0)))
    }

    /// Returns a result of a Call.
    ///
    /// # Errors
    /// An error if there is no such result, or a part of it exceeds the message.
    #[inline]
    pub fn call_result(&self, index: usize) -> Result<CallResult<'a>, LayoutError> {
        let record = self.record::<24>(Service::Call, index)?;
        Ok(CallResult {
            message: self.message,
            status: StatusCode(u32_at(&record, 0)),
            input_argument_results: range(&self.message, &record, 8)?,
            output_arguments: range(&self.message, &record, 16)?,
        })
    }

    /// Returns a range of the message.
    #[must_use]
    #[inline]
    pub fn bytes(&self, range: Range<usize>) -> SharedBytes<'a> {
        self.message.get(range).unwrap_or(SharedBytes::EMPTY)
    }

    #[inline]
    fn record<const N: usize>(
        &self,
        service: Service,
        index: usize,
    ) -> Result<[u8; N], LayoutError> {
        if self.service != service || index >= self.count {
            return Err(LayoutError::NoRecord(index));
        }
        // This cannot overflow: `parse` has found all records within the message.
        let record = self.message.array(HEAD_LENGTH + index * N);
        record.ok_or(LayoutError::NoRecord(index))
    }
}

impl CallResult<'_> {
    /// Returns the result of each input argument; empty if there are no errors in them.
    pub fn input_argument_results(&self) -> impl Iterator<Item = StatusCode> + '_ {
        let places = self.input_argument_results.clone().step_by(4);
        // `step_by` rounds up: a rest of less than 4 bytes is no result.
        let places = places.take(self.input_argument_results.len() / 4);
        places.map_while(|at| {
            let status = self.message.array(at)?;
            Some(StatusCode(u32::from_le_bytes(status)))
        })
    }

    /// Returns the number of output arguments.
    #[must_use]
    #[inline]
    pub fn output_count(&self) -> usize {
        self.output_arguments.len() / 8
    }

    /// Returns the range of an output argument in the message, as a Variant.
    ///
    /// # Errors
    /// An error if there is no such argument, or it exceeds the message.
    #[inline]
    pub fn output(&self, index: usize) -> Result<Range<usize>, LayoutError> {
        if index >= self.output_count() {
            return Err(LayoutError::NoRecord(index));
        }
        let at = self.output_arguments.start + 8 * index;
        let span: [u8; 8] = self.message.array(at).ok_or(LayoutError::NoRecord(index))?;
        range(&self.message, &span, 0)
    }
}

/// Returns the span at `at` of bytes that were copied out of the message.
#[inline]
fn range(message: &SharedBytes<'_>, copied: &[u8], at: usize) -> Result<Range<usize>, LayoutError> {
    let (offset, length) = (u32_at(copied, at), u32_at(copied, at + 4));
    if length == 0 {
        return Ok(0..0);
    }
    let start = offset as usize;
    start
        .checked_add(length as usize)
        .filter(|end| *end <= message.len())
        .map(|end| start..end)
        .ok_or(LayoutError::Span { offset, length })
}

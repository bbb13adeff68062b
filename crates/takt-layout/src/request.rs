//! Reader of requests, in memory that only the server writes, because a server copies a request before it checks it.

use takt_ua::binary::{Decode, Decoder, Limits};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{DateTime, NodeIdRef, QualifiedNameRef, StatusCode, VariantRef};

use crate::error::LayoutError;
use crate::head::{
    COUNT, HEAD_LENGTH, MARK, MAX_AGE, REQUEST_HANDLE, RequestHead, Service, TIMEOUT_HINT,
    TIMESTAMP, TIMESTAMPS, TOKEN, VERSION, WRITTEN, array, i64_at, u16_at, u32_at,
};
use crate::writer::Times;

/// A request whose head has been checked.
#[derive(Debug, Clone, Copy)]
pub struct RequestReader<'a> {
    message: &'a [u8],
    limits: Limits,
    service: Service,
    count: usize,
    head: RequestHead<'a>,
    /// Smallest start of the first span of an item.
    first: usize,
}

impl<'a> RequestReader<'a> {
    /// Checks the head of a request; the items are checked when they are read.
    ///
    /// # Errors
    /// An error if it is not a request.
    #[inline]
    pub fn parse(message: &'a [u8], limits: Limits) -> Result<Self, LayoutError> {
        let (head, _) = message
            .split_first_chunk::<HEAD_LENGTH>()
            .ok_or(LayoutError::Head)?;
        let [mark, version, ..] = *head;
        if mark != MARK {
            return Err(LayoutError::Head);
        }
        if version != VERSION {
            return Err(LayoutError::Version(version));
        }
        let kind = u16_at(head, 2);
        let service = Service::of_request(kind).ok_or(LayoutError::Kind(kind))?;
        // The count is the client's: the product may overflow where usize has 32 bits.
        let count = u32_at(head, COUNT);
        let records = (count as usize)
            .checked_mul(service.request_record())
            .and_then(|records| records.checked_add(HEAD_LENGTH))
            .filter(|end| *end <= message.len())
            .ok_or(LayoutError::Records { count })?;
        if count as usize > limits.max_array_length {
            return Err(LayoutError::Limit("arrays"));
        }
        let mut spans = Spans {
            message,
            limits,
            free: records,
            memory: 0,
        };
        let authentication_token = spans.decode_or(TOKEN, NodeIdRef::NULL)?;
        Ok(Self {
            message,
            limits,
            service,
            count: count as usize,
            head: RequestHead {
                authentication_token,
                timestamp: DateTime(i64_at(head, TIMESTAMP)),
                request_handle: u32_at(head, REQUEST_HANDLE),
                timeout_hint: u32_at(head, TIMEOUT_HINT),
                max_age: array(head, MAX_AGE).map_or(0.0, f64::from_le_bytes),
                timestamps_to_return: TimestampsToReturn(u32_at(head, TIMESTAMPS).cast_signed()),
            },
            first: spans.free,
        })
    }

    /// Returns the requested service.
    #[must_use]
    #[inline]
    pub fn service(&self) -> Service {
        self.service
    }

    /// Returns the number of items.
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the contents apart from the items.
    #[must_use]
    #[inline]
    pub fn head(&self) -> &RequestHead<'a> {
        &self.head
    }

    /// Returns the items, which are read one after another with the method of the [service](Self::service); other
    /// methods return an error.
    #[must_use]
    #[inline]
    pub fn items(&self) -> Items<'a> {
        Items {
            service: self.service,
            next: 0,
            count: self.count,
            spans: Spans {
                message: self.message,
                limits: self.limits,
                free: self.first,
                memory: 0,
            },
        }
    }
}

/// Position of the next item of a request, with the smallest start of its first span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    next: usize,
    free: usize,
}

/// The items of a request, from the first to the last.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    service: Service,
    next: usize,
    count: usize,
    spans: Spans<'a>,
}

/// # Errors
/// An error if a record or the target of its spans is invalid, or if there are no more items.
impl<'a> Items<'a> {
    /// Returns the number of all items of the request.
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the position of the next item, to [continue](Self::set_place) there later.
    #[must_use]
    #[inline]
    pub fn place(&self) -> Place {
        Place {
            next: self.next,
            free: self.spans.free,
        }
    }

    /// Goes on at a [place](Self::place) of the same request.
    #[inline]
    pub fn set_place(&mut self, place: Place) {
        self.next = place.next;
        // The default place has 0 here, but no value begins before the end of the records.
        self.spans.free = self.spans.free.max(place.free);
    }

    /// Returns the number of bytes of the message up to the end of the last item that was read.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.spans.free
    }

    /// Returns the memory of the elements of the values that were read since the last call, in bytes ([`Limits::max_memory`]).
    #[must_use]
    #[inline]
    pub fn take_memory(&mut self) -> usize {
        std::mem::take(&mut self.spans.memory)
    }

    /// Takes the next item of a Read.
    #[inline]
    pub fn read(&mut self) -> Result<ReadValueIdRef<'a>, LayoutError> {
        let at = self.record(Service::Read)?;
        let spans = &mut self.spans;
        Ok(ReadValueIdRef {
            node_id: spans.decode_or(at, NodeIdRef::NULL)?,
            index_range: spans.text(at + 8)?,
            data_encoding: spans.decode_or(at + 16, QualifiedNameRef::default())?,
            attribute_id: u32_at(spans.message, at + 24),
        })
    }

    /// Takes the next item of a Write.
    #[inline]
    pub fn write(&mut self) -> Result<WriteItem<'a>, LayoutError> {
        let at = self.record(Service::Write)?;
        let spans = &mut self.spans;
        let node_id = spans.decode_or(at, NodeIdRef::NULL)?;
        let index_range = spans.text(at + 8)?;
        let attribute_id = u32_at(spans.message, at + 16);
        let (encoded, offset) = spans.bytes(at + WRITTEN)?;
        let value = match encoded {
            [] => None,
            encoded => Some((spans.decode(encoded, offset)?, encoded)),
        };
        Ok(WriteItem {
            node_id,
            attribute_id,
            index_range,
            value,
            status: StatusCode(u32_at(spans.message, at + WRITTEN + 8)),
            times: Times::parse(spans.message, at + WRITTEN),
        })
    }

    /// Takes the next item of a Call.
    #[inline]
    pub fn call(&mut self) -> Result<CallItem<'a>, LayoutError> {
        let at = self.record(Service::Call)?;
        let spans = &mut self.spans;
        let object_id = spans.decode_or(at, NodeIdRef::NULL)?;
        let method_id = spans.decode_or(at + 8, NodeIdRef::NULL)?;
        let (table, offset) = spans.bytes(at + 16)?;
        if !table.len().is_multiple_of(8) {
            let length = u32::try_from(table.len()).unwrap_or(u32::MAX);
            return Err(LayoutError::Trailing { offset, length });
        }
        if table.len() / 8 > spans.limits.max_array_length {
            return Err(LayoutError::Limit("arrays"));
        }
        let arguments = Arguments {
            message: spans.message,
            table,
            limits: spans.limits,
        };
        // All arguments are checked now, so that reading them later cannot fail.
        for index in 0..arguments.len() {
            let (encoded, offset) = spans.bytes(offset as usize + 8 * index)?;
            spans.decode::<VariantRef<'_>>(encoded, offset)?;
        }
        Ok(CallItem {
            object_id,
            method_id,
            input_arguments: arguments,
        })
    }

    /// Returns the offset of the next record.
    #[inline]
    fn record(&mut self, service: Service) -> Result<usize, LayoutError> {
        if self.service != service || self.next >= self.count {
            return Err(LayoutError::NoRecord(self.next));
        }
        // This cannot overflow: `parse` has found all records within the message.
        let at = HEAD_LENGTH + self.next * service.request_record();
        self.next += 1;
        Ok(at)
    }
}

/// An item of a Write (WriteValue, OPC 10000-4, 5.11.4.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteItem<'a> {
    /// The node.
    pub node_id: NodeIdRef<'a>,
    /// The attribute.
    pub attribute_id: u32,
    /// The part of the value; `None` for all of it.
    pub index_range: Option<&'a str>,
    /// The value, decoded and encoded (OPC 10000-6, 5.2.2.16).
    pub value: Option<(VariantRef<'a>, &'a [u8])>,
    /// Quality of the value.
    pub status: StatusCode,
    /// Timestamps of the value.
    pub times: Times,
}

/// An item of a Call (CallMethodRequest, OPC 10000-4, 5.12.2.2).
#[derive(Debug, Clone, Copy)]
pub struct CallItem<'a> {
    /// The Object.
    pub object_id: NodeIdRef<'a>,
    /// Its Method.
    pub method_id: NodeIdRef<'a>,
    /// The input arguments.
    pub input_arguments: Arguments<'a>,
}

/// The input arguments of a Method; they have been checked.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    message: &'a [u8],
    table: &'a [u8],
    limits: Limits,
}

impl<'a> Arguments<'a> {
    /// Returns the number of arguments.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.table.len() / 8
    }

    /// Returns whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the argument at `index`; `None` if there are fewer.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<VariantRef<'a>> {
        let at = index.checked_mul(8).filter(|at| *at < self.table.len())?;
        let start = u32_at(self.table, at) as usize;
        let length = u32_at(self.table, at + 4) as usize;
        let encoded = self.message.get(start..start.checked_add(length)?)?;
        VariantRef::decode(&mut Decoder::with_limits(encoded, self.limits)).ok()
    }
}

/// The bytes behind the records, to which spans point in ascending order.
#[derive(Debug, Clone)]
struct Spans<'a> {
    message: &'a [u8],
    limits: Limits,
    /// Smallest allowed start of the next span.
    free: usize,
    /// Memory of the decoded elements, in bytes.
    memory: usize,
}

impl<'a> Spans<'a> {
    /// Returns the target of the span at `at`, and its offset.
    #[inline]
    fn bytes(&mut self, at: usize) -> Result<(&'a [u8], u32), LayoutError> {
        let (offset, length) = (u32_at(self.message, at), u32_at(self.message, at + 4));
        // The offset of an absent value means nothing, so it is not checked.
        if length == 0 {
            return Ok((&[], offset));
        }
        let (start, wrong) = (offset as usize, LayoutError::Span { offset, length });
        let end = start.checked_add(length as usize).ok_or(wrong)?;
        if start < self.free {
            return Err(wrong);
        }
        let bytes = self.message.get(start..end).ok_or(wrong)?;
        self.free = end;
        Ok((bytes, offset))
    }

    #[inline]
    fn decode_or<T: Decode<'a>>(&mut self, at: usize, nothing: T) -> Result<T, LayoutError> {
        match self.bytes(at)? {
            ([], _) => Ok(nothing),
            (bytes, offset) => self.decode(bytes, offset),
        }
    }

    /// Decodes a value that fills a span.
    #[inline]
    fn decode<T: Decode<'a>>(&mut self, bytes: &'a [u8], offset: u32) -> Result<T, LayoutError> {
        let mut decoder = Decoder::with_limits(bytes, self.limits);
        let value = T::decode(&mut decoder);
        self.memory = self.memory.saturating_add(decoder.memory());
        let value = value.map_err(|error| LayoutError::Decode { offset, error })?;
        if decoder.remaining() > 0 {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            return Err(LayoutError::Trailing { offset, length });
        }
        Ok(value)
    }

    #[inline]
    fn text(&mut self, at: usize) -> Result<Option<&'a str>, LayoutError> {
        let (bytes, offset) = self.bytes(at)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.len() > self.limits.max_string_length {
            return Err(LayoutError::Limit("strings"));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| LayoutError::Decode {
            offset,
            error: takt_ua::binary::DecodeError::new(
                error.valid_up_to(),
                takt_ua::binary::DecodeErrorKind::InvalidUtf8,
            ),
        })?;
        Ok(Some(text))
    }
}

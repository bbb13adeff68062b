//! One pass over the operations of a Read, Write or Call, which continues in the next slice where the last one ended.

use takt_layout::ResponseWriter;
use takt_ua::binary::{Decoder, Encoder};

use crate::responses::fault::Fault;
use crate::services::body::Items;
use crate::services::request::Request;
use crate::slices::work::{ELEMENT_COST, Work};

/// Progress of a pass over the operations of a request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Index of the next operation.
    index: usize,
    /// Offset of the next operation in the message, in the binary DataEncoding.
    offset: usize,
    /// Position of the next operation in the fixed layout.
    laid_out: takt_layout::Place,
}

/// One slice of a pass.
pub(super) struct Pass<'p> {
    pub(super) place: &'p mut Place,
    /// Position at which the response message begins in its encoder.
    pub(super) start: usize,
    pub(super) work: &'p mut Work,
}

impl Pass<'_> {
    /// Returns true if the pass begins with this slice.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.place.index == 0
    }

    /// Goes on with the items at the place; `items` are all items of the request.
    #[inline]
    pub(super) fn set_place<'a>(&self, request: &Request<'a>, items: &mut Items<'a>) {
        if self.is_first() {
            return;
        }
        match items {
            Items::Encoded(items) => {
                let rest = request.message.get(self.place.offset..);
                let limits = request.server.budgets.encoding;
                *items = Decoder::with_limits(rest.unwrap_or_default(), limits);
            }
            Items::LaidOut(items) => items.set_place(self.place.laid_out),
        }
    }

    /// Returns the writer of the response in the fixed layout, which begins in the first slice.
    #[inline]
    pub(super) fn writer<'e, 'b>(
        &self,
        request: &Request<'_>,
        response: &'e mut Encoder<'b>,
        service: takt_layout::Service,
        count: usize,
    ) -> Result<ResponseWriter<'e, 'b>, Fault> {
        let (handle, now) = (request.header.request_handle, request.now);
        Ok(match self.is_first() {
            true => ResponseWriter::begin(response, service, count, handle, now)?,
            false => ResponseWriter::resume(response, self.start, service, self.place.index),
        })
    }

    /// Calls `take` with the items from the place on, each with its index, until none is left or the slice is over. Returns
    /// true if none is left. `take` returns the number of bytes that have been encoded in this slice.
    #[inline]
    pub(super) fn each_item<'a>(
        &mut self,
        request: &Request<'a>,
        items: &mut Items<'a>,
        count: usize,
        mut take: impl FnMut(usize, &mut Items<'a>) -> Result<usize, Fault>,
    ) -> Result<bool, Fault> {
        let remaining = |items: &Items<'_>| match items {
            Items::Encoded(items) => items.remaining(),
            Items::LaidOut(items) => request.message.len().saturating_sub(items.position()),
        };
        let take_memory = |items: &mut Items<'_>| match items {
            Items::Encoded(items) => items.take_memory(),
            Items::LaidOut(items) => items.take_memory(),
        };
        let first = remaining(items);
        let mut elements = 0_usize;
        let done = self.each(count, |index| {
            let encoded = take(index, items)?;
            elements += take_memory(items).saturating_mul(ELEMENT_COST);
            Ok(encoded + first - remaining(items) + elements)
        });
        match items {
            Items::Encoded(items) => self.place.offset = request.offset(items),
            Items::LaidOut(items) => self.place.laid_out = items.place(),
        }
        done
    }

    /// Calls `step` with the indices of the operations, until none is left or the slice is over. Returns true if none is left.
    /// `step` returns the number of bytes that have been encoded and decoded in this slice.
    #[inline]
    fn each(
        &mut self,
        count: usize,
        mut step: impl FnMut(usize) -> Result<usize, Fault>,
    ) -> Result<bool, Fault> {
        let (first, allowed) = (self.place.index, self.work.left());
        let (mut index, mut units) = (first, 0);
        let mut result = Ok(());
        while index < count {
            match step(index) {
                Ok(bytes) => units = (index - first + 1 + (bytes >> 10)) as u64,
                Err(fault) => {
                    result = Err(fault);
                    break;
                }
            }
            index += 1;
            // This is checked after the operation: each slice does at least one, so every request comes to an end.
            if units >= allowed {
                break;
            }
        }
        self.work.spend(units);
        self.place.index = index;
        result.map(|()| index == count)
    }
}

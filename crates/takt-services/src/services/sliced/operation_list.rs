//! Services that execute a list of operations, one after another, in slices.
//!
//! The whole list is decoded once before the first operation, so a malformed request changes nothing.

use std::marker::PhantomData;
use std::sync::Arc;

use takt_rt::memory_budget::Charge;
use takt_ua::binary::{Decode, Decoder, Encoder};

use super::first_slice;
use super::service::{Progress, Service, Turn, response_size};
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::services::request::{Handled, Request, check_count};
use crate::session::Session;
use crate::slices::gate::Gate;

/// Items of a list in a request message that have not been decoded yet.
pub(crate) struct Items<T> {
    /// Offset of the next item in the message.
    offset: usize,
    remaining: usize,
    item: PhantomData<fn() -> T>,
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self {
            item: PhantomData,
            ..*self
        }
    }
}

impl<T: for<'d> Decode<'d>> Items<T> {
    /// Takes the next list in the message, with at least one item and at most `limit`.
    pub(crate) fn take(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
        limit: u32,
    ) -> Result<Self, Fault> {
        let count = body.array_length(T::MIN_SIZE)?.unwrap_or(0);
        check_count(count, limit)?;
        Ok(Self {
            offset: request.offset(body),
            remaining: count,
            item: PhantomData,
        })
    }

    /// Returns the number of remaining items.
    pub(crate) fn len(&self) -> usize {
        self.remaining
    }

    /// Decodes the next item, unless the slice is over.
    pub(crate) fn next(&mut self, turn: &mut Turn<'_, '_>) -> Result<Option<T>, Fault> {
        if self.remaining == 0 || turn.work.is_over() {
            return Ok(None);
        }
        let mut decoder = turn.decoder(self.offset);
        let item = T::decode(&mut decoder)?;
        let end = turn.offset(&decoder);
        turn.work.spend(1);
        turn.work.spend_bytes(end - self.offset);
        // Decoded elements may take far more memory than the message has bytes.
        turn.work.spend_memory(decoder.memory());
        self.offset = end;
        self.remaining -= 1;
        Ok(Some(item))
    }
}

/// The execution of the items of a list.
pub(crate) trait Operations: Send + Sized + 'static {
    type Item: for<'d> Decode<'d>;
    /// Bytes of each result, if operations change something: memory for all results is available before the first operation.
    const RESULT_SIZE: usize = 0;
    /// Units of work of each operation beside its decoding.
    const COST: u64 = 0;

    /// Decodes and checks the parameters of a request, up to its list.
    fn parse(
        request: &Request<'_>,
        session: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<Self::Item>), Fault>;

    /// Looks at an item, before the first operation begins.
    fn check(&mut self, _: &Self::Item) {}

    /// Runs before the first operation: makes checks, and encodes the beginning of the response.
    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault>;

    /// Executes items, one after another, until none is left or the slice is over.
    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<Self::Item>,
    ) -> Result<(), Fault>;

    /// Returns true if an operation has begun and is not finished.
    fn is_busy(&self) -> bool {
        false
    }

    /// Takes the memory that was reserved so that the request can wait: it is about to be deferred.
    fn take_reserved(&mut self) -> Option<Charge> {
        None
    }

    /// Takes the gate at which the next operation waits.
    fn take_gate(&mut self) -> Option<Arc<Gate>> {
        None
    }

    /// Runs after the last operation: encodes the end of the response, unless it has to wait.
    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault>;

    /// Handles the end of a request before all operations are done.
    fn abandon(&mut self, _server: &Server, _session: &Session) {}
}

/// A request in progress.
struct List<O: Operations> {
    operations: O,
    /// Items that have not been checked.
    unchecked: Items<O::Item>,
    items: Items<O::Item>,
    has_begun: bool,
    count: usize,
}

/// Handles a request of a service with a list of operations.
pub(crate) fn handle<O: Operations>(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let (operations, items) = O::parse(request, session, &mut body)?;
    let list = List {
        operations,
        unchecked: items.clone(),
        count: items.len(),
        items,
        has_begun: false,
    };
    first_slice::start(request, connection, session, list, response)
}

impl<O: Operations> Service for List<O> {
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        while let Some(item) = self.unchecked.next(turn)? {
            self.operations.check(&item);
        }
        if self.unchecked.len() > 0 {
            return Ok(Progress::Unfinished);
        }
        if !self.has_begun {
            let bytes = turn.request.message.len() >> 10;
            let needed = self.count as u64 * (O::COST + 1) + bytes as u64;
            if turn.is_inline && O::RESULT_SIZE > 0 && needed > turn.work.left() {
                // Nothing is changed before memory for the task is available.
                return Ok(Progress::Unfinished);
            }
            self.has_begun = true;
            self.operations.begin(turn, self.items.len())?;
        }
        self.operations.operate(turn, &mut self.items)?;
        if self.items.len() > 0 || self.operations.is_busy() {
            return Ok(Progress::Unfinished);
        }
        self.operations.end(turn)
    }

    fn response_size(&self) -> usize {
        response_size(self.count, O::RESULT_SIZE)
    }

    fn take_reserved(&mut self) -> Option<Charge> {
        self.operations.take_reserved()
    }

    fn take_gate(&mut self) -> Option<Arc<Gate>> {
        self.operations.take_gate()
    }

    fn abandon(&mut self, server: &Server, session: &Session) {
        if self.has_begun {
            self.operations.abandon(server, session);
        }
    }
}

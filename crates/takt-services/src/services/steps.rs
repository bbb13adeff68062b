//! Read, Write and Call in slices: one unit of work for each operation, and for each KiB that is encoded or decoded with it.
//!
//! A request takes up to three passes over its operations. The first decodes all operations, if the service changes something.
//! The second finds the operations of remote sources, if there are such sources. The third executes all operations. A pass that
//! is not finished at the end of a slice continues at its [`Place`] in the next one. A request that fits into one slice
//! allocates nothing.

use std::marker::PhantomData;
use std::sync::Arc;

use takt_layout::ResponseWriter;
use takt_ua::binary::{Decoder, Encoder};

use super::body::{self, Body, Items};
use super::deferred::{self, RemoteResults};
use super::request::{Handled, Request};
use super::service::{Progress, Service, Turn};
use super::slices;
use crate::connection::{Connection, Outcome};
use crate::fault::Fault;
use crate::session::Session;
use crate::work::Work;

/// Maximum number of bytes of a response beside its results.
const RESPONSE_SIZE: usize = 64;

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
    place: &'p mut Place,
    /// Position at which the response message begins in its encoder.
    start: usize,
    work: &'p mut Work,
}

impl Pass<'_> {
    /// Returns true if the pass begins with this slice.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.place.index == 0
    }

    /// Returns the items from the place on; `first` are all items of the request.
    #[inline]
    pub(super) fn items<'a>(&self, request: &Request<'a>, first: Items<'a>) -> Items<'a> {
        if self.is_first() {
            return first;
        }
        match first {
            Items::Encoded(_) => {
                let rest = request.message.get(self.place.offset..);
                let limits = request.server.limits.encoding;
                Items::Encoded(Decoder::with_limits(rest.unwrap_or_default(), limits))
            }
            Items::LaidOut(first) => Items::LaidOut(first.from(self.place.laid_out)),
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
        let first = remaining(items);
        let done = self.each(count, |index| {
            let encoded = take(index, items)?;
            Ok(encoded + first - remaining(items))
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
            if units >= allowed {
                break;
            }
        }
        self.work.spend(units);
        self.place.index = index;
        result.map(|()| index == count)
    }
}

/// One of the services Read, Write and Call.
pub(super) trait Steps: Send + 'static {
    /// True if operations change something. Then all are decoded first, and the first one is executed only when memory for the
    /// rest of the request is available.
    const HAS_EFFECTS: bool;
    /// Bytes of one result, if all have the same size.
    const RESULT_SIZE: usize = 0;

    /// Returns the number of operations of the request, checked against the limits.
    fn count(request: &Request<'_>, body: &Body<'_>) -> Result<usize, Fault>;

    /// Decodes operations.
    fn check(_: &Request<'_>, _: &Body<'_>, _: &mut Pass<'_>) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Finds the operations of remote sources.
    fn search(
        request: &Request<'_>,
        body: &Body<'_>,
        found: &mut deferred::Operations,
        pass: &mut Pass<'_>,
    ) -> Result<bool, Fault>;

    /// Executes operations, with the results of remote sources, and encodes their results.
    fn respond(
        request: &Request<'_>,
        session: &Session,
        body: &Body<'_>,
        response: &mut Encoder<'_>,
        remote: Option<&RemoteResults>,
        pass: &mut Pass<'_>,
    ) -> Result<bool, Fault>;
}

/// The pass that a request is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Check,
    Search,
    Respond,
}

/// A Read, Write or Call in progress.
struct InSteps<S> {
    phase: Phase,
    place: Place,
    count: usize,
    found: Option<deferred::Operations>,
    service: PhantomData<fn() -> S>,
}

/// Handles a request.
#[inline]
pub(super) fn handle<S: Steps>(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let tasks = &request.server.tasks;
    let count = S::count(request, &body)?;
    let mut steps = InSteps::<S> {
        phase: match S::HAS_EFFECTS {
            true => Phase::Check,
            false => Phase::Search,
        },
        place: Place::default(),
        count,
        found: None,
        service: PhantomData,
    };
    let from = (response.position(), response.available());
    let mut work = tasks.inline_slice(connection.channel, count);
    if !work.is_over() {
        let place = (from.0, true);
        let progress = steps.go_on(request, session, &body, response, place, &mut work);
        tasks.note(&work);
        match progress? {
            Progress::Complete => return Ok(Outcome::Complete),
            Progress::Remote(found) => return found.defer(request, connection, session),
            Progress::Unfinished => {}
        }
    }
    slices::queue(request, connection, session, steps, response, from, &work)
}

/// Answers a request without slices, with the results of remote sources.
fn respond<S: Steps>(
    request: &Request<'_>,
    session: &Session,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    remote: &RemoteResults,
) -> Result<(), Fault> {
    let mut place = Place::default();
    let mut pass = Pass {
        place: &mut place,
        start: response.position(),
        work: &mut Work::new(u64::MAX, 0, u64::MAX),
    };
    S::respond(request, session, &body, response, Some(remote), &mut pass).map(drop)
}

impl<S: Steps> InSteps<S> {
    /// Runs one slice. The response begins at `start`; `is_inline` is true if the request has no task yet.
    #[inline]
    fn go_on(
        &mut self,
        request: &Request<'_>,
        session: &Session,
        body: &Body<'_>,
        response: &mut Encoder<'_>,
        (start, is_inline): (usize, bool),
        work: &mut Work,
    ) -> Result<Progress, Fault> {
        if self.phase == Phase::Check {
            let done = S::check(request, body, &mut self.pass(start, work))?;
            if !done {
                return Ok(Progress::Unfinished);
            }
            self.enter(Phase::Search);
        }
        if self.phase == Phase::Search {
            if request.server.space.has_remotes() {
                let done = self.search(request, body, start, work)?;
                if !done {
                    return Ok(Progress::Unfinished);
                }
            }
            if let Some(found) = self.found.take().filter(|found| !found.is_empty()) {
                return Ok(Progress::Remote(found));
            }
            self.enter(Phase::Respond);
            let needed = self.count + (request.message.len() >> 10);
            if S::HAS_EFFECTS && is_inline && self.count > 1 && needed as u64 > work.left() {
                return Ok(Progress::Unfinished);
            }
        }
        let mut pass = self.pass(start, work);
        let done = S::respond(request, session, body, response, None, &mut pass)?;
        Ok(match done {
            true => Progress::Complete,
            false => Progress::Unfinished,
        })
    }

    #[inline]
    fn pass<'p>(&'p mut self, start: usize, work: &'p mut Work) -> Pass<'p> {
        Pass {
            place: &mut self.place,
            start,
            work,
        }
    }

    #[inline]
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.place = Place::default();
    }

    /// Finds remote operations. Returns true if all operations have been checked. Called only if there are remote sources.
    #[inline(never)]
    fn search(
        &mut self,
        request: &Request<'_>,
        body: &Body<'_>,
        start: usize,
        work: &mut Work,
    ) -> Result<bool, Fault> {
        let mut pass = Pass {
            place: &mut self.place,
            start,
            work,
        };
        let found = self
            .found
            .get_or_insert_with(|| deferred::Operations::new(request, respond::<S>));
        S::search(request, body, found, &mut pass)
    }
}

impl<S: Steps> Service for InSteps<S> {
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        let request = turn.request;
        let limits = request.server.limits.encoding;
        body::parse(request.message, limits, |_, body| {
            let place = (turn.start, turn.is_inline);
            self.go_on(
                request,
                turn.session,
                &body,
                turn.response,
                place,
                turn.work,
            )
        })
    }

    fn response_size(&self) -> usize {
        match S::RESULT_SIZE {
            0 => 0,
            size => RESPONSE_SIZE + self.count * size,
        }
    }
}

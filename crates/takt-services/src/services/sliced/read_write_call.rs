//! Read, Write and Call in slices: one unit of work for each operation, and for each KiB that is encoded or decoded with it.
//!
//! A request takes up to three passes over its operations. The first decodes all operations, if the service changes something.
//! The second finds the operations of remote sources, if there are such sources. The third executes all operations. A pass that
//! is not finished at the end of a slice continues at its [`Place`] in the next one. A request that fits into one slice
//! allocates nothing.
//!
//! A small request with a single operation has no first pass: the operation is decoded before it is executed.
//!
//! A service that changes nothing begins with the third pass. It is searched for operations of remote sources only when it meets
//! one, so values in memory are read as fast as on a server without such sources.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use takt_layout::ResponseWriter;
use takt_space::{AddressSpace, Caller, View};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::{DateTime, StatusCode};

use super::first_slice;
use super::pass::{Pass, Place};
use super::service::{Progress, Service, Turn, response_size};
use crate::budgets::OperationLimits;
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::services::body::{self, Body, Items};
use crate::services::deferred::{self, RemoteResults};
use crate::services::request::{Handled, Request, check_count};
use crate::session::Session;
use crate::slices::work::Work;

/// One of the services Read, Write and Call.
pub(crate) trait Steps: Send + Sized + 'static {
    /// True if operations change something. Then all are decoded first, and the first one is executed only when memory for the
    /// rest of the request is available. A service that changes nothing reports a remote source by [`Context::met_remote`].
    const HAS_EFFECTS: bool;
    /// Bytes of one result, if all have the same size.
    const RESULT_SIZE: usize = 0;
    /// TypeId of the response in the binary DataEncoding.
    const RESPONSE: u32;
    /// The service in the fixed layout.
    const SERVICE: takt_layout::Service;

    /// Parameters of a request beside its operations.
    type Options: Copy;
    /// One operation.
    type Item<'a>;

    /// Reads what comes before the operations, and returns the parameters of a request and the number of its operations.
    /// `items` are those of `body`: they are not returned, because a result of that size would be copied.
    fn parse(body: Body<'_>, items: &mut Items<'_>) -> Result<(Self::Options, usize), Fault>;

    /// Returns the maximum number of operations of a request.
    fn limit(limits: &OperationLimits) -> u32;

    /// Checks the parameters of a request beside its operations.
    #[inline]
    fn check(_: Self::Options) -> Result<(), Fault> {
        Ok(())
    }

    /// Decodes the next operation.
    fn next<'a>(items: &mut Items<'a>) -> Result<Self::Item<'a>, Fault>;

    /// Checks that the next operation can be decoded. Called only for services that change something.
    fn skip(items: &mut Items<'_>) -> Result<(), Fault> {
        Self::next(items).map(drop)
    }

    /// Returns true if there may be operations of remote sources. Called only for services that change something.
    #[inline]
    fn has_remotes(_: &AddressSpace) -> bool {
        true
    }

    /// Adds an operation to those of remote sources, if its source is remote.
    fn find_remote(
        context: &Context<'_, Self::Options>,
        index: usize,
        item: &Self::Item<'_>,
        found: &mut deferred::Operations,
    );

    /// Executes operations and encodes their results in the binary DataEncoding. Returns true if none is left.
    fn encode(run: Run<'_, '_, '_, Self>, response: &mut Encoder<'_>) -> Result<bool, Fault>;

    /// Executes operations and encodes their results in the fixed layout. Returns true if none is left.
    fn lay_out(run: Run<'_, '_, '_, Self>, response: ResponseWriter<'_, '_>)
    -> Result<bool, Fault>;
}

/// Circumstances in which the operations of a request are executed.
#[derive(Clone, Copy)]
pub(crate) struct Context<'r, O> {
    pub(crate) view: &'r View<'r>,
    pub(crate) caller: &'r Caller,
    pub(crate) now: DateTime,
    pub(crate) options: O,
    /// Results of remote sources, if they were asked.
    pub(crate) remote: Option<&'r RemoteResults>,
    /// Set when an operation needs a remote source that was not asked.
    pub(crate) met_remote: &'r Cell<bool>,
}

/// The operations of a request in one slice of a pass.
pub(crate) struct Run<'r, 'a, 'p, S: Steps> {
    pub(crate) context: Context<'r, S::Options>,
    pub(crate) request: &'r Request<'a>,
    count: usize,
    items: &'r mut Items<'a>,
    pass: &'r mut Pass<'p>,
}

impl<'a, S: Steps> Run<'_, 'a, '_, S> {
    /// Calls `take` with the items, each with its index, until none is left or the slice is over. Returns true if none is left.
    /// `take` returns the number of bytes that have been encoded in this slice.
    #[inline]
    pub(crate) fn each(
        self,
        take: impl FnMut(usize, &mut Items<'a>) -> Result<usize, Fault>,
    ) -> Result<bool, Fault> {
        self.pass
            .each_item(self.request, self.items, self.count, take)
    }
}

/// Decodes operations. Returns true if none is left.
#[inline]
fn check<S: Steps>(
    request: &Request<'_>,
    body: Body<'_>,
    pass: &mut Pass<'_>,
) -> Result<bool, Fault> {
    let mut items = body.items();
    let (_, count) = parse_from::<S>(request, body, &mut items, pass)?;
    pass.each_item(request, &mut items, count, |_, items| {
        S::skip(items)?;
        Ok(0)
    })
}

/// Finds the operations of remote sources. Returns true if none is left.
#[inline(never)]
fn search<S: Steps>(
    request: &Request<'_>,
    body: Body<'_>,
    found: &mut deferred::Operations,
    pass: &mut Pass<'_>,
) -> Result<bool, Fault> {
    let view = request.server.space.view();
    let met_remote = Cell::new(false);
    let mut items = body.items();
    let (options, count) = parse_from::<S>(request, body, &mut items, pass)?;
    let context = context::<S>(request, options, (None, &met_remote), &view);
    pass.each_item(request, &mut items, count, |index, items| {
        S::find_remote(&context, index, &S::next(items)?, found);
        Ok(0)
    })
}

/// Executes operations, with the results of remote sources, and encodes their results. Returns true if none is left.
#[inline(never)]
fn execute<S: Steps>(
    request: &Request<'_>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    remote: Remotes<'_>,
    pass: &mut Pass<'_>,
) -> Result<bool, Fault> {
    let is_first = pass.is_first();
    let view = request.server.space.view();
    let mut items = body.items();
    let (options, count) = parse_from::<S>(request, body, &mut items, pass)?;
    let context = context::<S>(request, options, remote, &view);
    let items = &mut items;
    match body {
        Body::Encoded(_) => {
            if is_first {
                request.respond(S::RESPONSE, response)?;
                response.array_length(Some(count))?;
                // Room for the response is checked first: after an operation with effects, the client must get its result.
                let needed = count.saturating_mul(S::RESULT_SIZE).saturating_add(4);
                if S::RESULT_SIZE > 0 && response.available() < needed {
                    return Err(Fault(StatusCode::BadResponseTooLarge));
                }
            }
            let run = Run {
                context,
                request,
                count,
                items,
                pass,
            };
            let done = S::encode(run, response)?;
            if done {
                // No DiagnosticInfos.
                response.array_length(None)?;
            }
            Ok(done)
        }
        Body::LaidOut(_) => {
            let writer = pass.writer(request, response, S::SERVICE, count)?;
            S::lay_out(
                Run {
                    context,
                    request,
                    count,
                    items,
                    pass,
                },
                writer,
            )
        }
    }
}

/// Results of remote sources, and the sign that they have to be asked first.
type Remotes<'r> = (Option<&'r RemoteResults>, &'r Cell<bool>);

/// Reads past what comes before the operation at the place of a pass. Returns the parameters of a request and the number of all its
/// operations.
#[inline]
fn parse_from<'a, S: Steps>(
    request: &Request<'a>,
    body: Body<'a>,
    items: &mut Items<'a>,
    pass: &Pass<'_>,
) -> Result<(S::Options, usize), Fault> {
    let parsed = S::parse(body, items)?;
    pass.set_place(request, items);
    Ok(parsed)
}

#[inline]
fn context<'r, S: Steps>(
    request: &'r Request<'_>,
    options: S::Options,
    (remote, met_remote): Remotes<'r>,
    view: &'r View<'r>,
) -> Context<'r, S::Options> {
    Context {
        view,
        caller: request.caller,
        now: request.now,
        options,
        remote,
        met_remote,
    }
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
    /// True if the operations of remote sources have been looked for.
    is_searched: bool,
    service: PhantomData<fn() -> S>,
}

/// Size of a request, in bytes, up to which a single operation is not decoded before the pass that executes it. In a larger one,
/// decoding may take a slice of its own.
const DECODED_ONCE: usize = 16 << 10;

/// Handles a request.
#[inline]
pub(crate) fn handle<S: Steps>(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let tasks = &request.server.tasks;
    let (options, count) = S::parse(body, &mut body.items())?;
    check_count(count, S::limit(&request.server.budgets.operations))?;
    S::check(options)?;
    let mut steps = InSteps::<S> {
        phase: match S::HAS_EFFECTS {
            true if count == 1 && request.message.len() <= DECODED_ONCE => Phase::Search,
            true => Phase::Check,
            false => Phase::Respond,
        },
        place: Place::default(),
        count,
        found: None,
        is_searched: false,
        service: PhantomData,
    };
    let from = (response.position(), response.available());
    let mut work = tasks.inline_slice(connection.channel, count);
    if !work.is_over() {
        let place = (from.0, true);
        let progress = steps.go_on(request, body, response, place, &mut work);
        tasks.note(&work);
        match progress? {
            Progress::Complete => return Ok(RequestOutcome::Complete),
            Progress::Remote(found) => return found.defer(request, connection, session),
            Progress::Settling(settling) => return settling.defer(request, connection, session),
            Progress::Unfinished => {}
        }
    }
    first_slice::queue(request, connection, session, steps, response, from, &work)
}

/// Answers a request without slices, with the results of remote sources.
fn respond<S: Steps>(
    request: &Request<'_>,
    _: &Session,
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
    let remotes = (Some(remote), &Cell::new(false));
    execute::<S>(request, body, response, remotes, &mut pass).map(drop)
}

impl<S: Steps> InSteps<S> {
    /// Runs one slice. The response begins at `start`; `is_inline` is true if the request has no task yet.
    #[inline]
    fn go_on(
        &mut self,
        request: &Request<'_>,
        body: Body<'_>,
        response: &mut Encoder<'_>,
        (start, is_inline): (usize, bool),
        work: &mut Work,
    ) -> Result<Progress, Fault> {
        if S::HAS_EFFECTS && self.phase == Phase::Check {
            let done = check::<S>(request, body, &mut self.pass(start, work))?;
            if !done {
                return Ok(Progress::Unfinished);
            }
            self.enter(Phase::Search);
            if self.has_many_elements(request, is_inline, work) {
                return Ok(Progress::Unfinished);
            }
        }
        if self.phase == Phase::Search {
            if (!S::HAS_EFFECTS || S::has_remotes(&request.server.space))
                && let Some(progress) = self.search(request, body, start, work)?
            {
                return Ok(progress);
            }
            self.enter(Phase::Respond);
            // The search decodes elements, too.
            if S::HAS_EFFECTS && self.has_many_elements(request, is_inline, work) {
                return Ok(Progress::Unfinished);
            }
            let needed = self.count + (request.message.len() >> 10);
            // A single operation is not divided, so it needs no task.
            if S::HAS_EFFECTS && is_inline && self.count > 1 && needed as u64 > work.left() {
                return Ok(Progress::Unfinished);
            }
        }
        let met_remote = Cell::new(false);
        // A search without a finding accepted the age of all kept values.
        let asked = (!S::HAS_EFFECTS && self.is_searched).then(RemoteResults::default);
        let remotes = (asked.as_ref(), &met_remote);
        let mut pass = self.pass(start, work);
        let done = execute::<S>(request, body, response, remotes, &mut pass)?;
        if !S::HAS_EFFECTS && met_remote.get() {
            // The results so far are read again, when those of the remote sources are there.
            response.truncate(start);
            self.enter(Phase::Search);
            let progress = self.search(request, body, start, work)?;
            if progress.is_none() {
                self.enter(Phase::Respond);
            }
            return Ok(progress.unwrap_or(Progress::Unfinished));
        }
        Ok(match done {
            true => Progress::Complete,
            false => Progress::Unfinished,
        })
    }

    /// Returns true if checking the operations took the slice, so that another one decodes their elements again. Bytes that are
    /// only copied are no reason to keep the message for another slice: a large value would need its memory twice.
    #[inline]
    fn has_many_elements(&self, request: &Request<'_>, is_inline: bool, work: &Work) -> bool {
        if !work.is_over() {
            return false;
        }
        let copied = (request.message.len() >> 10) as u64;
        let slice = u64::from(request.server.budgets.work_per_slice);
        !is_inline || work.spent().saturating_sub(copied) >= slice
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

    /// Finds remote operations. Returns `None` if there are none. Called only if there are remote sources.
    #[inline(never)]
    fn search(
        &mut self,
        request: &Request<'_>,
        body: Body<'_>,
        start: usize,
        work: &mut Work,
    ) -> Result<Option<Progress>, Fault> {
        let mut pass = Pass {
            place: &mut self.place,
            start,
            work,
        };
        let found = self
            .found
            .get_or_insert_with(|| deferred::Operations::new(request, respond::<S>));
        if !search::<S>(request, body, found, &mut pass)? {
            return Ok(Some(Progress::Unfinished));
        }
        self.is_searched = true;
        let found = self.found.take().filter(|found| !found.is_empty());
        Ok(found.map(Progress::Remote))
    }
}

impl<S: Steps> Service for InSteps<S> {
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        let request = turn.request;
        let limits = request.server.budgets.encoding;
        body::parse(request.message, limits, |_, body| {
            let place = (turn.start, turn.is_inline);
            self.go_on(request, body, turn.response, place, turn.work)
        })
    }

    fn response_size(&self) -> usize {
        response_size(self.count, S::RESULT_SIZE)
    }
}

//! Requests with remote operations: forwarded to their sources, answered when all results have arrived.
//!
//! The request is searched for remote operations, which are grouped by source. When every group has its results, the whole
//! request is handled as usual, on the thread that answered last, with these results.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_rt::memory_budget::Charge;
use takt_space::{
    Caller, RemoteCall, RemoteHistoryRead, RemoteOperations, RemoteRead, RemoteReply,
    RemoteRequest, RemoteSource, RemoteWrite, SourceKey,
};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{CallMethodResult, HistoryReadResult};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DataValue, DateTime, StatusCode};

use super::body::{self, Body};
use super::request::{Handled, Request};
use crate::responses::fault::Fault;
use crate::responses::message::fault_message;
use crate::responses::pending::Pending;
use crate::responses::timeouts;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::session::Session;

/// Results of remote sources, by the position of the operation in its request.
#[derive(Default)]
pub(crate) struct RemoteResults {
    reads: HashMap<usize, DataValue>,
    writes: HashMap<usize, StatusCode>,
    calls: HashMap<usize, CallMethodResult>,
    histories: HashMap<usize, HistoryReadResult>,
}

impl RemoteResults {
    pub(crate) fn read(&self, index: usize) -> Option<&DataValue> {
        self.reads.get(&index)
    }

    pub(crate) fn write(&self, index: usize) -> Option<StatusCode> {
        self.writes.get(&index).copied()
    }

    pub(crate) fn call(&self, index: usize) -> Option<&CallMethodResult> {
        self.calls.get(&index)
    }

    pub(crate) fn history(&self, index: usize) -> Option<&HistoryReadResult> {
        self.histories.get(&index)
    }
}

/// The remote operations of one request.
pub(crate) struct Operations {
    groups: HashMap<SourceKey, Group>,
    /// Results of operations that no source has to be asked for.
    known: Option<Box<RemoteResults>>,
    patience: Patience,
    respond: Respond,
}

/// Encodes the response of a service, with the results of remote sources.
pub(crate) type Respond =
    fn(&Request<'_>, &Session, Body<'_>, &mut Encoder<'_>, &RemoteResults) -> Result<(), Fault>;

/// Bytes that are reserved for the values of one source in a HistoryRead. A source returns about this much at most, and continuation
/// points for the rest.
const HISTORY_RESULTS: usize = 2 << 20;

/// Request whose operations are about to be submitted.
pub(crate) struct DeferredRequest<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) session: &'a Arc<Session>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) pending: Arc<Pending>,
    /// Message of the request, which is handled again with the results.
    pub(crate) message: Vec<u8>,
}

/// The operations for one source, with their positions in the request.
struct Group {
    source: Arc<dyn RemoteSource>,
    positions: Vec<usize>,
    operations: RemoteOperations,
}

/// Declares a method that adds an operation of one kind, the one at `index` of the request, to those of its source.
macro_rules! add_operation {
    ($name:ident, $kind:ident, $operation:ty) => {
        pub(crate) fn $name(
            &mut self,
            source: Arc<dyn RemoteSource>,
            index: usize,
            operation: $operation,
        ) {
            let none = RemoteOperations::$kind(Vec::new());
            // A request has operations of one kind only.
            if let RemoteOperations::$kind(operations) = self.group(source, index, none) {
                operations.push(operation);
            }
        }
    };
}

impl Operations {
    /// Creates an empty list of operations for a request that has just arrived. `respond` is called when all of them have
    /// results.
    pub(crate) fn new(request: &Request<'_>, respond: Respond) -> Self {
        Self {
            groups: HashMap::new(),
            known: None,
            patience: Patience::of(request),
            respond,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    add_operation!(read, Read, RemoteRead);
    add_operation!(write, Write, RemoteWrite);
    add_operation!(call, Call, RemoteCall);
    add_operation!(history, History, RemoteHistoryRead);

    /// Sets the result of a history operation that no source has to be asked for.
    pub(crate) fn know_history(&mut self, index: usize, result: HistoryReadResult) {
        let known = self.known.get_or_insert_default();
        known.histories.insert(index, result);
    }

    /// Returns the results that are known without any source.
    pub(crate) fn into_known(self) -> RemoteResults {
        self.known.map(|known| *known).unwrap_or_default()
    }

    /// Returns the operations for a source, to which that at `index` of the request is about to be added.
    fn group(
        &mut self,
        source: Arc<dyn RemoteSource>,
        index: usize,
        operations: RemoteOperations,
    ) -> &mut RemoteOperations {
        let group = self.groups.entry(source.key()).or_insert_with(|| Group {
            source,
            positions: Vec::new(),
            operations,
        });
        group.positions.push(index);
        &mut group.operations
    }

    /// Returns the bytes of memory that the operations hold, which were decoded from a message of this length.
    fn memory(&self, message: usize) -> usize {
        let operations = |group: &Group| {
            let size = match &group.operations {
                RemoteOperations::Read(_) => size_of::<RemoteRead>(),
                RemoteOperations::Write(_) => size_of::<RemoteWrite>(),
                RemoteOperations::Call(_) => size_of::<RemoteCall>(),
                RemoteOperations::History(_) => size_of::<RemoteHistoryRead>(),
            };
            let results = match &group.operations {
                RemoteOperations::History(_) => HISTORY_RESULTS,
                _ => 0,
            };
            results + group.positions.len() * (size + size_of::<usize>())
        };
        // The operations hold copies of strings and values of the message.
        message + self.groups.values().map(operations).sum::<usize>()
    }

    /// Submits the operations of a request that has not been deferred before.
    pub(crate) fn defer(
        self,
        request: &Request<'_>,
        connection: &Connection,
        session: &Arc<Session>,
    ) -> Handled {
        let completed = Arc::clone(&connection.completed);
        let handle = request.header.request_handle;
        let (id, length) = (request.request_id, request.message.len());
        let pending = Pending::new(id, handle, completed, &session.memory, length)?;
        // Memory is reserved before the request is kept: a request that fails here is answered at once.
        let charge = self.charge(session, length)?;
        let pending = session.keep_pending(pending);
        let deferred = DeferredRequest {
            server: request.server,
            session,
            caller: Arc::clone(&connection.caller),
            pending,
            message: request.message.to_vec(),
        };
        self.submit_charged(deferred, charge);
        Ok(RequestOutcome::Deferred)
    }

    /// Submits the operations of a deferred request.
    pub(crate) fn submit(self, request: DeferredRequest<'_>) -> Result<(), Fault> {
        let charge = self.charge(request.session, request.message.len())?;
        self.submit_charged(request, charge);
        Ok(())
    }

    fn charge(&self, session: &Session, message: usize) -> Result<Charge, Fault> {
        let charge = session.memory.charge_message(self.memory(message));
        charge.map_err(|_| Fault(StatusCode::BadOutOfMemory))
    }

    /// Submits the operations to their sources.
    fn submit_charged(self, request: DeferredRequest<'_>, charge: Charge) {
        let DeferredRequest {
            server,
            session,
            caller,
            pending,
            message,
        } = request;
        let patience = self.patience;
        let timeouts = &server.timeouts;
        let (client, size) = (caller.channel.id, message.len());
        let deferred = Arc::new(Deferred {
            server: Arc::clone(server),
            timeout: patience
                .deadline
                .map(|deadline| timeouts.add(deadline, Arc::clone(&pending))),
            session: Arc::clone(session),
            caller,
            message,
            pending,
            respond: self.respond,
            results: Mutex::new(self.known.map(|known| *known).unwrap_or_default()),
            outstanding: AtomicUsize::new(self.groups.len()),
            _charge: charge,
        });
        let now = Instant::now();
        let hint = patience.hint(now);
        let longest = now + patience.longest;
        let deadline = hint.map_or(longest, |hint| hint.min(longest));
        // The sources are asked in the order of the request.
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_unstable_by_key(|group| group.positions.first().copied());
        for group in groups {
            let turn = Turn {
                deferred: Arc::clone(&deferred),
                positions: group.positions,
            };
            group.source.forward(RemoteRequest {
                operations: group.operations,
                client,
                caller: Some(Arc::clone(&deferred.caller)),
                size,
                deadline,
                hint,
                reply: Box::new(turn),
            });
        }
    }
}

/// Time that a request waits for its sources.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// End of the client's TimeoutHint, which includes the time in queues.
    deadline: Option<Instant>,
    /// Longest time that a source may take, independent of the client's TimeoutHint.
    longest: Duration,
}

impl Patience {
    fn of(request: &Request<'_>) -> Self {
        let deadline = match request.header.timeout_hint {
            0 => None,
            hint => Some(Instant::now() + Duration::from_millis(u64::from(hint))),
        };
        Self {
            deadline,
            longest: request.server.budgets.max_remote_timeout,
        }
    }

    /// Returns the time at which the answer of a source that is asked at `now` is too late for the client. A part of the client's
    /// time is kept for the answer: results that would arrive too late are `BadTimeout`, and the results of the other
    /// sources are sent in time.
    fn hint(&self, now: Instant) -> Option<Instant> {
        let left = |deadline: Instant| deadline.saturating_duration_since(now);
        self.deadline.map(|deadline| now + left(deadline) / 8 * 7)
    }
}

/// A request that waits for remote sources.
struct Deferred {
    server: Arc<Server>,
    session: Arc<Session>,
    caller: Arc<Caller>,
    message: Vec<u8>,
    pending: Arc<Pending>,
    /// Key of the request in the table of timeouts, if the client set a TimeoutHint.
    timeout: Option<timeouts::Key>,
    respond: Respond,
    results: Mutex<RemoteResults>,
    /// Number of groups that have no results yet.
    outstanding: AtomicUsize,
    /// Memory of the operations; the memory of the message counts in `pending`.
    _charge: Charge,
}

/// The execution of one group. It ends when this is dropped, for any reason; operations without a result at that time are
/// answered with `BadNoCommunication`.
struct Turn {
    deferred: Arc<Deferred>,
    positions: Vec<usize>,
}

impl RemoteReply for Turn {
    fn is_awaited(&self) -> bool {
        !self.deferred.pending.is_answered()
    }

    fn answer(mut self: Box<Self>, answer: takt_space::RemoteResults) {
        use takt_space::RemoteResults::{Call, History, Read, Write};
        let positions = std::mem::take(&mut self.positions).into_iter();
        let results = &self.deferred.results;
        // The lock ends before `self` is dropped, which may take it to answer the request.
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Read(values) => results.reads.extend(positions.zip(values)),
            Write(statuses) => results.writes.extend(positions.zip(statuses)),
            Call(called) => results.calls.extend(positions.zip(called)),
            History(read) => results.histories.extend(positions.zip(read)),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.deferred.outstanding.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.deferred.finish();
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        if let Some(timeout) = self.timeout {
            self.server.timeouts.remove(timeout);
        }
    }
}

impl Deferred {
    /// Answers the request: all results have arrived.
    fn finish(&self) {
        // Cancel or the TimeoutHint was faster.
        if self.pending.is_answered() {
            return;
        }
        let mut message = Vec::new();
        let mut response = Encoder::growing(&mut message, self.server.budgets.max_response_size);
        if let Err(fault) = self.respond(&mut response) {
            message = fault_message(self.pending.request_handle, fault);
        }
        self.pending.answer(message);
        self.session.forget_answered();
    }

    fn respond(&self, response: &mut Encoder<'_>) -> Result<(), Fault> {
        if self.session.is_closed() {
            return Err(Fault(StatusCode::BadSessionClosed));
        }
        let limits = self.server.budgets.encoding;
        body::parse(&self.message, limits, |header, body| {
            self.respond_to(header, body, response)
        })
    }

    fn respond_to(
        &self,
        header: &RequestHeaderRef<'_>,
        body: Body<'_>,
        response: &mut Encoder<'_>,
    ) -> Result<(), Fault> {
        let request = Request {
            server: &self.server,
            header,
            caller: &self.caller,
            now: DateTime::now(),
            // The response goes through `pending`, which has the id.
            request_id: 0,
            message: &self.message,
            is_refusal_told: Cell::default(),
        };
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        (self.respond)(&request, &self.session, body, response, &results)
    }
}

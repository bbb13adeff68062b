//! Requests with remote operations: executed on worker threads, answered when all results have arrived.
//!
//! The request is searched for remote operations, which are grouped by source. When every group has its results, the whole
//! request is handled as usual, on the thread that finished last, with these results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_rt::memory_budget::Charge;
use takt_space::{Caller, RemoteCall, RemoteRead, RemoteSource, RemoteWrite};
use takt_ua::binary::Encoder;
use takt_ua::structures::CallMethodResult;
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DataValue, DateTime, StatusCode};

use super::body::{self, Body};
use super::request::{Handled, Request};
use crate::connection::{Connection, Outcome};
use crate::fault::Fault;
use crate::message::fault_message;
use crate::pending::Pending;
use crate::server::Server;
use crate::session::Session;
use crate::timeouts;

/// Results of remote sources, by the position of the operation in its request.
#[derive(Default)]
pub(crate) struct RemoteResults {
    reads: HashMap<usize, DataValue>,
    writes: HashMap<usize, StatusCode>,
    calls: HashMap<usize, CallMethodResult>,
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
}

/// The remote operations of one request.
pub(crate) struct Operations {
    groups: HashMap<u64, Group>,
    patience: Patience,
    respond: Respond,
}

/// Encodes the response of a service, with the results of remote sources.
pub(crate) type Respond =
    fn(&Request<'_>, &Session, Body<'_>, &mut Encoder<'_>, &RemoteResults) -> Result<(), Fault>;

/// The operations for one source, with their positions in the request.
struct Group {
    source: Arc<dyn RemoteSource>,
    reads: Vec<(usize, RemoteRead)>,
    writes: Vec<(usize, RemoteWrite)>,
    calls: Vec<(usize, RemoteCall)>,
}

impl Operations {
    /// Creates an empty list of operations for a request that has just arrived. `respond` is called when all of them have
    /// results.
    pub(crate) fn new(request: &Request<'_>, respond: Respond) -> Self {
        Self {
            groups: HashMap::new(),
            patience: Patience::of(request),
            respond,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn read(&mut self, source: Arc<dyn RemoteSource>, index: usize, read: RemoteRead) {
        self.group(source).reads.push((index, read));
    }

    pub(crate) fn write(
        &mut self,
        source: Arc<dyn RemoteSource>,
        index: usize,
        write: RemoteWrite,
    ) {
        self.group(source).writes.push((index, write));
    }

    pub(crate) fn call(&mut self, source: Arc<dyn RemoteSource>, index: usize, call: RemoteCall) {
        self.group(source).calls.push((index, call));
    }

    fn group(&mut self, source: Arc<dyn RemoteSource>) -> &mut Group {
        self.groups.entry(source.key()).or_insert_with(|| Group {
            source,
            reads: Vec::new(),
            writes: Vec::new(),
            calls: Vec::new(),
        })
    }

    /// Returns the bytes of memory that the operations hold, which were decoded from a message of this length.
    fn memory(&self, message: usize) -> usize {
        let operations = |group: &Group| {
            group.reads.len() * size_of::<RemoteRead>()
                + group.writes.len() * size_of::<RemoteWrite>()
                + group.calls.len() * size_of::<RemoteCall>()
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
        let message = request.message.to_vec();
        let caller = Arc::clone(&connection.caller);
        self.submit_charged(request.server, session, caller, pending, message, charge);
        Ok(Outcome::Deferred)
    }

    /// Submits the operations of a deferred request.
    pub(crate) fn submit(
        self,
        server: &Arc<Server>,
        session: &Arc<Session>,
        caller: Arc<Caller>,
        pending: Arc<Pending>,
        message: Vec<u8>,
    ) -> Result<(), Fault> {
        let charge = self.charge(session, message.len())?;
        self.submit_charged(server, session, caller, pending, message, charge);
        Ok(())
    }

    fn charge(&self, session: &Session, message: usize) -> Result<Charge, Fault> {
        let charge = session.memory.charge(self.memory(message));
        charge.map_err(|_| Fault(StatusCode::BadOutOfMemory))
    }

    /// Submits the operations to worker threads.
    fn submit_charged(
        self,
        server: &Arc<Server>,
        session: &Arc<Session>,
        caller: Arc<Caller>,
        pending: Arc<Pending>,
        message: Vec<u8>,
        charge: Charge,
    ) {
        let patience = self.patience;
        let timeouts = &server.timeouts;
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
            results: Mutex::default(),
            outstanding: AtomicUsize::new(self.groups.len()),
            _charge: charge,
        });
        for (key, group) in self.groups {
            let mut turn = Turn {
                deferred: Arc::clone(&deferred),
                group,
            };
            // If the queue has no room, the job is dropped together with the turn, whose drop answers.
            let job = Box::new(move || turn.take(patience));
            let _ = server.workers.submit(key, job);
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
            longest: request.server.limits.max_remote_timeout,
        }
    }

    /// Returns the time that a source may take if it is asked at `now`. A part of the client's time is kept for the answer:
    /// results that arrive too late are missing, and the results of the other sources are sent in time.
    fn at(&self, now: Instant) -> Duration {
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now) / 8 * 7);
        left.map_or(self.longest, |left| left.min(self.longest))
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
    group: Group,
}

impl Turn {
    fn take(&mut self, patience: Patience) {
        let timeout = patience.at(Instant::now());
        if self.deferred.pending.is_answered() || timeout.is_zero() {
            // The request was cancelled or its time is over.
            return;
        }
        let source = &self.group.source;
        let (read_at, reads): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.group.reads).into_iter().unzip();
        let (write_at, writes): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.group.writes).into_iter().unzip();
        let (call_at, calls): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.group.calls).into_iter().unzip();
        let mut values = if reads.is_empty() {
            Vec::new()
        } else {
            source.read(&reads, timeout)
        };
        let mut statuses = if writes.is_empty() {
            Vec::new()
        } else {
            source.write(&writes, timeout)
        };
        let mut called = if calls.is_empty() {
            Vec::new()
        } else {
            source.call(&calls, timeout)
        };
        values.resize(
            reads.len(),
            DataValue::status(StatusCode::BadNoCommunication),
        );
        statuses.resize(writes.len(), StatusCode::BadNoCommunication);
        called.resize(calls.len(), no_communication());
        let mut results = self
            .deferred
            .results
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        results.reads.extend(read_at.into_iter().zip(values));
        results.writes.extend(write_at.into_iter().zip(statuses));
        results.calls.extend(call_at.into_iter().zip(called));
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

fn no_communication() -> CallMethodResult {
    CallMethodResult {
        status_code: StatusCode::BadNoCommunication,
        ..CallMethodResult::default()
    }
}

impl Deferred {
    /// Answers the request: all results have arrived.
    fn finish(&self) {
        if self.pending.is_answered() {
            return;
        }
        let mut message = Vec::new();
        let mut response = Encoder::growing(&mut message, self.server.limits.max_response_size);
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
        let limits = self.server.limits.encoding;
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
            request_id: 0,
            message: &self.message,
        };
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        (self.respond)(&request, &self.session, body, response, &results)
    }
}

//! Thread that answers HistoryRead from a store.
//!
//! Clients take turns: after a slice of one client's request, the next client is served. A request ends when it is answered
//! otherwise, for example because its time is over.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

use takt_history::{Budget, QueryOutput, QueryProgress, StoredRecords};
use takt_space::{
    AddressSpace, RemoteHistoryRead, RemoteOperations, RemoteRequest, RemoteResults, RemoteSource,
    SourceKey,
};
use takt_ua::structures::{HistoryReadResult, ReadEventDetails};
use takt_ua::{ByteString, ExtensionObject, ExtensionObjectBody, NodeId, StatusCode, ids};

use super::event_query::EventsQuery;
use super::history_file::OpenReader;
use super::namespaces::ServerRecords;
use super::query::{Begun, Query};
use super::recorded::RecordedVariables;

/// Requests that wait, of all clients; more get BadTooManyOperations.
const MAX_WAITING: usize = 256;

/// Records that are examined in one slice: a few milliseconds.
const SLICE: usize = 10_000;

/// Bytes of values in one response, from which on Variables get continuation points.
const MAX_BYTES: usize = 1 << 20;

/// The queue to the thread. Dropping it ends the thread.
pub(super) struct Reader {
    /// Requests for all Variables of one history are forwarded together.
    key: SourceKey,
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The clients with their requests; the first one is served next.
    clients: VecDeque<(u64, VecDeque<Job>)>,
    count: usize,
    is_ending: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job, and takes that of the next client; `None` at the end.
    fn take(&self) -> Option<(u64, Job)> {
        let mut state = self.state();
        loop {
            if state.is_ending {
                return None;
            }
            if let Some((client, mut jobs)) = state.clients.pop_front() {
                let job = jobs.pop_front();
                if !jobs.is_empty() {
                    // Clients take turns: many requests of one do not delay the first request of another.
                    state.clients.push_back((client, jobs));
                }
                if let Some(job) = job {
                    state.count -= 1;
                    return Some((client, job));
                }
                continue;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a job: behind those of its client, or before them if it has begun. At the end it is refused.
    fn put(&self, client: u64, job: Job) {
        let mut state = self.state();
        if state.is_ending {
            drop(state);
            // Without the lock, because this encodes the answer.
            return job.refuse(StatusCode::BadShutdown);
        }
        state.count += 1;
        let has_begun = job.has_begun();
        let known = state.clients.iter_mut().find(|(known, _)| *known == client);
        match known {
            Some((_, jobs)) if has_begun => jobs.push_front(job),
            Some((_, jobs)) => jobs.push_back(job),
            None => state.clients.push_back((client, VecDeque::from([job]))),
        }
        drop(state);
        self.changed.notify_one();
    }
}

impl Reader {
    pub(super) fn start(
        store: OpenReader,
        space: &Arc<AddressSpace>,
        (variables, notifiers): (Arc<RecordedVariables>, Arc<RecordedVariables>),
    ) -> io::Result<Arc<Self>> {
        let queue = Arc::new(Queue::default());
        let thread = std::thread::Builder::new().name("history reader".to_owned());
        let worker = Worker {
            queue: Arc::clone(&queue),
            store,
            space: Arc::downgrade(space),
            variables,
            notifiers,
        };
        let thread = thread.spawn(move || worker.run())?;
        Ok(Arc::new(Self {
            key: SourceKey::new(),
            queue,
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// Ends the thread after its slice, and answers all requests.
    pub(super) fn end(&self) {
        let mut state = self.queue.state();
        state.is_ending = true;
        let clients = std::mem::take(&mut state.clients);
        drop(state);
        self.queue.changed.notify_one();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
        // Dropped replies are answers without results.
        drop(clients);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.end();
    }
}

impl RemoteSource for Reader {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let is_full = self.queue.state().count >= MAX_WAITING;
        let (client, job) = (request.client, Job::new(request));
        match is_full {
            true => job.refuse(StatusCode::BadTooManyOperations),
            false => self.queue.put(client, job),
        }
    }
}

/// A request in progress.
struct Job {
    request: RemoteRequest,
    results: Vec<HistoryReadResult>,
    /// Bytes of values that may follow.
    bytes: usize,
    running: Option<Running>,
}

/// The operation in progress.
enum Running {
    Values {
        query: Query,
        records: Box<ServerRecords>,
        output: QueryOutput,
    },
    Events {
        query: Box<EventsQuery>,
        records: StoredRecords,
    },
}

impl Job {
    fn new(request: RemoteRequest) -> Self {
        Self {
            results: Vec::with_capacity(request.operations.len()),
            request,
            bytes: MAX_BYTES,
            running: None,
        }
    }

    /// Answers the request: none of its operations has a result.
    fn refuse(self, status: StatusCode) {
        let results = self.request.operations.failed(status);
        self.request.reply.answer(results);
    }

    fn has_begun(&self) -> bool {
        self.running.is_some() || !self.results.is_empty()
    }
}

struct Worker {
    queue: Arc<Queue>,
    store: OpenReader,
    space: Weak<AddressSpace>,
    variables: Arc<RecordedVariables>,
    notifiers: Arc<RecordedVariables>,
}

impl Worker {
    fn run(self) {
        while let Some((client, mut job)) = self.queue.take() {
            if !job.request.reply.is_awaited() {
                continue;
            }
            if job.request.deadline <= Instant::now() {
                job.refuse(StatusCode::BadTimeout);
                continue;
            }
            match self.slice(&mut job) {
                true => job
                    .request
                    .reply
                    .answer(RemoteResults::History(job.results)),
                false => self.queue.put(client, job),
            }
        }
    }

    /// Runs one slice. Returns true if all operations have results.
    fn slice(&self, job: &mut Job) -> bool {
        let mut budget = Budget::new(SLICE);
        let RemoteOperations::History(reads) = &job.request.operations else {
            return true;
        };
        while let Some(read) = reads.get(job.results.len()) {
            let running = match job.running.take() {
                Some(running) => Ok(running),
                None => self.begin(read, &job.request, job.bytes),
            };
            let result = match running {
                Ok(running) => self.run_one(running, &mut job.bytes, &mut budget),
                Err(status) => Ok(refused(status)),
            };
            match result {
                Ok(result) => job.results.push(result),
                Err(running) => {
                    job.running = Some(*running);
                    return false;
                }
            }
        }
        true
    }

    /// Runs one slice of an operation. Returns the operation if it is unfinished.
    fn run_one(
        &self,
        mut running: Running,
        bytes: &mut usize,
        budget: &mut Budget,
    ) -> Result<HistoryReadResult, Box<Running>> {
        let found = match &mut running {
            Running::Values {
                query,
                records,
                output,
            } => query.run(records.as_mut(), output, budget).map(|progress| {
                let is_done = progress != QueryProgress::Unfinished;
                is_done.then(|| (output.encoded().len(), result_of(query, output)))
            }),
            Running::Events { query, records } => match self.space.upgrade() {
                Some(space) => query
                    .run(records, &space.view())
                    .map(|is_done| is_done.then(|| (query.bytes(), query.result()))),
                None => return Ok(refused(StatusCode::BadShutdown)),
            },
        };
        match found {
            Ok(Some((used, result))) => {
                *bytes = bytes.saturating_sub(used);
                Ok(result)
            }
            Ok(None) => Err(Box::new(running)),
            Err(error) => {
                tracing::warn!(%error, "history cannot be read");
                Ok(refused(error.status_code()))
            }
        }
    }

    fn begin(
        &self,
        read: &RemoteHistoryRead,
        request: &RemoteRequest,
        bytes: usize,
    ) -> Result<Running, StatusCode> {
        let node = &read.node.node_id;
        // The file is being checked, or damaged.
        let open = self.store.get();
        let open = open.ok_or(StatusCode::BadResourceUnavailable)?;
        let space = self.space.upgrade().ok_or(StatusCode::BadShutdown)?;
        let to_server = open.namespaces.to_server(&space);
        if read.details.is::<ReadEventDetails>() {
            let notifier = self.notifiers.get(node);
            let notifier = notifier.ok_or(StatusCode::BadHistoryOperationUnsupported)?;
            let caller = request.caller.as_ref();
            let query = EventsQuery::begin(read, caller, &space.view(), (bytes, to_server))?;
            let records = open.store.records(notifier.key);
            return Ok(Running::Events {
                query: Box::new(query),
                records: records.map_err(|error| error.status_code())?,
            });
        }
        let recorded = self.variables.get(node);
        let recorded = recorded.ok_or(StatusCode::BadHistoryOperationUnsupported)?;
        let Begun {
            query,
            form,
            max_values,
        } = Query::begin(read, recorded.stepped)?;
        let records = open.store.records(recorded.key);
        let records = records.map_err(|error| error.status_code())?;
        Ok(Running::Values {
            query,
            records: Box::new(ServerRecords::new(records, to_server)),
            output: QueryOutput::new(form, max_values, bytes),
        })
    }
}

fn refused(status_code: StatusCode) -> HistoryReadResult {
    HistoryReadResult {
        status_code,
        ..HistoryReadResult::default()
    }
}

/// Returns the result of a query, whose output is full or which is complete.
fn result_of(query: &Query, output: &QueryOutput) -> HistoryReadResult {
    let point = query.continuation_point();
    let is_empty = output.count() == 0 && point.is_empty() && query.may_be_empty();
    // HistoryData is an array of DataValues (OPC 10000-11, 6.6.2).
    let mut body = Vec::with_capacity(output.encoded().len() + 4);
    body.extend_from_slice(&output.count().to_le_bytes());
    body.extend_from_slice(output.encoded());
    HistoryReadResult {
        status_code: match is_empty {
            true => StatusCode::GoodNoData,
            false => StatusCode::Good,
        },
        continuation_point: match point.is_empty() {
            true => ByteString::default(),
            false => ByteString::from(point),
        },
        history_data: ExtensionObject {
            type_id: NodeId::numeric(0, ids::HISTORY_DATA_ENCODING_DEFAULT_BINARY),
            body: ExtensionObjectBody::Binary(body),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use takt_space::RemoteReply;
    use takt_ua::enumerations::TimestampsToReturn;
    use takt_ua::structures::HistoryReadValueId;

    use super::*;

    struct Reply(Sender<RemoteResults>);

    impl RemoteReply for Reply {
        fn is_awaited(&self) -> bool {
            true
        }

        fn answer(self: Box<Self>, results: RemoteResults) {
            // The test may not wait for it any more.
            let _ = self.0.send(results);
        }
    }

    #[test]
    fn a_job_that_is_put_back_at_the_end_is_refused() {
        let queue = Queue::default();
        let (answer, answered) = channel();
        queue.put(
            1,
            Job::new(RemoteRequest {
                operations: RemoteOperations::History(vec![RemoteHistoryRead {
                    node: HistoryReadValueId::default(),
                    details: Arc::new(ExtensionObject::NULL),
                    timestamps: TimestampsToReturn::Both,
                }]),
                client: 1,
                caller: None,
                size: 0,
                deadline: Instant::now() + Duration::from_secs(60),
                hint: None,
                reply: Box::new(Reply(answer)),
            }),
        );
        let (client, job) = queue.take().unwrap();
        queue.state().is_ending = true;
        queue.put(client, job);
        let refused = RemoteResults::History(vec![refused(StatusCode::BadShutdown)]);
        assert_eq!(answered.try_recv(), Ok(refused));
        assert!(queue.take().is_none());
    }
}

//! Requests that take more than one slice: a queue per connection, of which one after another gets a turn.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_rt::memory_budget::Charge;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DateTime, NodeIdRef, StatusCode};

use crate::connection::Connection;
use crate::limits::ServerLimits;
use crate::server::Server;
use crate::services::{Fault, Progress, Request, Service, Turn, body, fault_message};
use crate::session::Session;
use crate::work::Work;
use crate::worker::Pending;

/// Requests of one connection that may wait here; more are answered with `BadTooManyOperations`.
const MAX_PER_CONNECTION: usize = 64;

/// While tasks wait, a request gets this fraction of a slice inline: many connections may send one at once.
const INLINE_SHARE: u64 = 8;

/// A request with at most so many operations does not wait for the others of its connection, and takes no lock.
const FEW: usize = 64;

/// Stands for no connection: work of the application itself.
const OWN: u64 = 0;

/// Work of the application itself: called with one slice at a time until it says that nothing remains.
type OwnWork = Box<dyn FnMut(&mut Work) -> bool + Send>;

/// The tasks of a server.
pub(crate) struct Tasks {
    queue: Mutex<Queue>,
    /// How many there are; looked at after each poll of the transports.
    count: AtomicUsize,
    longest_slice: AtomicU64,
    work_per_slice: u64,
    max_work: u64,
}

#[derive(Default)]
struct Queue {
    /// The connections whose turn it is, one after another. The one that is being served is not among them.
    turns: VecDeque<u64>,
    by_channel: HashMap<u64, VecDeque<Job>>,
}

enum Job {
    Request(Box<Task>),
    Own(OwnWork),
}

impl Tasks {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        Self {
            queue: Mutex::default(),
            count: AtomicUsize::new(0),
            longest_slice: AtomicU64::new(0),
            work_per_slice: u64::from(limits.work_per_slice.max(1)),
            max_work: limits.max_work_per_request,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much a request may do before its handler returns: a slice, less while others wait, and nothing while requests
    /// of its own connection do, unless it consists of few operations.
    #[inline]
    pub(crate) fn inline_slice(&self, channel: u64, operations: usize) -> Work {
        let slice = if self.count.load(Ordering::Relaxed) == 0 {
            self.work_per_slice
        } else if operations > FEW && self.lock().by_channel.contains_key(&channel) {
            0
        } else {
            self.work_per_slice / INLINE_SHARE
        };
        Work::new(slice, 0, self.max_work)
    }

    /// A slice is over.
    #[inline]
    pub(crate) fn note(&self, work: &Work) {
        self.note_units(work.spent());
    }

    /// A slice of so many units is over.
    #[inline]
    pub(crate) fn note_units(&self, units: u64) {
        // Looked at first: most slices are short, and a read costs the hot path less.
        if units > self.longest_slice() {
            self.longest_slice.fetch_max(units, Ordering::Relaxed);
        }
    }

    /// The longest slice so far, in units of work.
    #[inline]
    pub(crate) fn longest_slice(&self) -> u64 {
        self.longest_slice.load(Ordering::Relaxed)
    }

    /// Queues a task behind the others of its connection, or answers it if there are too many.
    pub(crate) fn push(&self, server: &Server, channel: u64, task: Box<Task>) {
        let refused = self.queue(channel, Job::Request(task), MAX_PER_CONNECTION);
        if let Some(Job::Request(mut task)) = refused {
            task.abandon(server);
            task.fail(Fault(StatusCode::BadTooManyOperations));
        }
    }

    fn queue(&self, channel: u64, job: Job, most: usize) -> Option<Job> {
        let mut queue = self.lock();
        let is_new = !queue.by_channel.contains_key(&channel);
        let jobs = queue.by_channel.entry(channel).or_default();
        if jobs.len() >= most {
            return Some(job);
        }
        jobs.push_back(job);
        if is_new {
            queue.turns.push_back(channel);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// The connection whose turn it is, and its first task.
    fn next(&self) -> Option<(u64, Job)> {
        let mut queue = self.lock();
        let channel = queue.turns.pop_front()?;
        let job = queue.by_channel.get_mut(&channel)?.pop_front()?;
        Some((channel, job))
    }

    /// After a turn: what is left of the task is first again when its connection has the next one.
    fn put_back(&self, channel: u64, unfinished: Option<Job>) -> Option<Job> {
        let mut queue = self.lock();
        let Some(jobs) = queue.by_channel.get_mut(&channel) else {
            // The channel was closed meanwhile.
            self.count.fetch_sub(1, Ordering::Relaxed);
            return unfinished;
        };
        match unfinished {
            Some(job) => jobs.push_front(job),
            None => {
                self.count.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if jobs.is_empty() {
            queue.by_channel.remove(&channel);
        } else {
            queue.turns.push_back(channel);
        }
        None
    }

    /// Ends the tasks of a channel that is closed.
    pub(crate) fn channel_closed(&self, server: &Server, channel: u64) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let jobs = {
            let mut queue = self.lock();
            queue.turns.retain(|waiting| *waiting != channel);
            queue.by_channel.remove(&channel).unwrap_or_default()
        };
        self.count.fetch_sub(jobs.len(), Ordering::Relaxed);
        for job in jobs {
            job.abandon(server);
        }
    }
}

impl Job {
    fn abandon(self, server: &Server) {
        if let Self::Request(mut task) = self {
            task.abandon(server);
        }
    }
}

impl Server {
    /// Does one slice of the requests that take longer, of one connection after another; whether more remains.
    ///
    /// To be called between polls of the transports, without sleeping while it returns `true`.
    pub fn work(self: &Arc<Self>) -> bool {
        let tasks = &self.tasks;
        if tasks.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let Some((channel, mut job)) = tasks.next() else {
            // Another thread is at it.
            return false;
        };
        let is_finished = match &mut job {
            Job::Request(task) => task.run(self),
            Job::Own(own) => {
                let mut work = Work::new(tasks.work_per_slice, 0, u64::MAX);
                let more = own(&mut work);
                tasks.note(&work);
                !more
            }
        };
        if let Some(job) = tasks.put_back(channel, (!is_finished).then_some(job)) {
            job.abandon(self);
        }
        tasks.count.load(Ordering::Relaxed) > 0
    }

    /// Adds work of the application itself. It is called with one slice at a time, between the slices of requests, until it
    /// returns `false`.
    ///
    /// To be called on the thread that calls [`work`](Self::work): no other thread is woken.
    pub fn add_work(&self, work: impl FnMut(&mut Work) -> bool + Send + 'static) {
        // There is no limit, so it is not refused.
        let _ = self.tasks.queue(OWN, Job::Own(Box::new(work)), usize::MAX);
    }

    /// The longest slice so far, in units of work.
    pub fn longest_slice(&self) -> u64 {
        self.tasks.longest_slice()
    }
}

/// A request that has taken more than its first slice.
pub(crate) struct Task {
    session: Arc<Session>,
    pending: Arc<Pending>,
    message: Vec<u8>,
    response: Vec<u8>,
    /// Largest response that the transport takes, in bytes.
    max_response: usize,
    /// Memory of the response; that of the message counts in `pending`.
    charge: Charge,
    /// Units of work so far.
    spent: u64,
    service: Option<Box<dyn Service>>,
}

impl Task {
    /// Copies what a request needs to go on later. Its memory counts in the budget of the Session.
    pub(crate) fn new(
        request: &Request<'_>,
        connection: &Connection,
        session: &Arc<Session>,
        response: Vec<u8>,
        max_response: usize,
        work: &Work,
    ) -> Result<Box<Self>, Fault> {
        let server = request.server;
        let charge = session
            .memory
            .charge(response.capacity())
            .map_err(|_| Fault(StatusCode::BadOutOfMemory))?;
        let pending = Pending::new(
            request.request_id,
            request.header.request_handle,
            Arc::clone(&connection.completed),
            &session.memory,
            request.message.len(),
        )?;
        Ok(Box::new(Self {
            pending: session.keep_pending(pending),
            session: Arc::clone(session),
            message: request.message.to_vec(),
            response,
            max_response: max_response.min(server.limits.max_response_size),
            charge,
            spent: work.total(),
            service: None,
        }))
    }

    /// Sets the service that goes on.
    pub(crate) fn with(mut self: Box<Self>, service: Box<dyn Service>) -> Box<Self> {
        self.service = Some(service);
        self
    }

    /// Runs one slice; whether the task is over.
    fn run(&mut self, server: &Arc<Server>) -> bool {
        if self.pending.is_answered() {
            self.abandon(server);
            return true;
        }
        if self.session.is_closed() {
            self.abandon(server);
            self.fail(Fault(StatusCode::BadSessionClosed));
            return true;
        }
        let mut work = Work::new(
            server.tasks.work_per_slice,
            self.spent,
            server.tasks.max_work,
        );
        let progress = self.slice(server, &mut work);
        server.tasks.note(&work);
        self.spent = work.total();
        match progress {
            Ok(Progress::Unfinished) => false,
            Ok(Progress::Remote(operations)) => {
                // The answers of remote sources complete the response, which begins anew then.
                self.charge.force(0);
                self.response = Vec::new();
                let message = std::mem::take(&mut self.message);
                let pending = Arc::clone(&self.pending);
                if let Err(fault) = operations.submit(server, &self.session, pending, message) {
                    self.fail(fault);
                }
                true
            }
            Ok(Progress::Complete) => {
                // It counts with the answer from now on.
                self.charge.force(0);
                self.pending.answer(std::mem::take(&mut self.response));
                self.session.forget_answered();
                true
            }
            Err(fault) => {
                self.abandon(server);
                self.fail(fault);
                true
            }
        }
    }

    fn slice(&mut self, server: &Arc<Server>, work: &mut Work) -> Result<Progress, Fault> {
        let Some(service) = &mut self.service else {
            return Err(Fault(StatusCode::BadInternalError));
        };
        let limits = server.limits.encoding;
        let laid_out;
        let header = if takt_layout::is_layout(&self.message) {
            laid_out = takt_layout::Request::parse(&self.message, limits)?;
            body::header(&laid_out)
        } else {
            let mut decoder = Decoder::with_limits(&self.message, limits);
            NodeIdRef::decode(&mut decoder)?;
            RequestHeaderRef::decode(&mut decoder)?
        };
        let request = Request {
            server,
            header: &header,
            now: DateTime::now(),
            request_id: self.pending.request_id,
            message: &self.message,
        };
        let memory = self.charge.bytes() + self.session.memory.available();
        let mut response = Encoder::continuing(&mut self.response, self.max_response.min(memory));
        let progress = service.run(&mut Turn {
            request: &request,
            session: &self.session,
            response: &mut response,
            start: 0,
            is_inline: false,
            work,
        });
        let progress = progress.map_err(|fault| match fault {
            // It is too large for the memory that is left, not for the client.
            Fault(StatusCode::BadResponseTooLarge) if memory < self.max_response => {
                Fault(StatusCode::BadOutOfMemory)
            }
            fault => fault,
        })?;
        if self.charge.resize(self.response.capacity()).is_err() {
            // It grew ahead of what it holds.
            self.response.shrink_to_fit();
            self.charge
                .resize(self.response.capacity())
                .map_err(|_| Fault(StatusCode::BadOutOfMemory))?;
        }
        Ok(progress)
    }

    fn abandon(&mut self, server: &Server) {
        if let Some(mut service) = self.service.take() {
            service.abandon(server, &self.session);
        }
    }

    fn fail(&mut self, fault: Fault) {
        let handle = self.pending.request_handle;
        self.pending.answer(fault_message(handle, fault));
        self.session.forget_answered();
    }
}

//! Requests that take more than one slice: a queue per connection, of which one after another gets a turn.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::ServerLimits;
use crate::work::Work;

/// Requests of one connection that may wait here; more are answered with `BadTooManyOperations`.
const MAX_PER_CONNECTION: usize = 64;

/// While tasks wait, a request gets this fraction of a slice inline: many connections may send one at once.
const INLINE_SHARE: u64 = 8;

/// A request with at most so many operations does not wait for the others of its connection, and takes no lock.
const FEW: usize = 64;

/// Stands for no connection: work of the application itself.
const OWN: u64 = 0;

/// Work of the application itself: called with one slice at a time until it says that nothing remains.
pub(crate) type OwnWork = Box<dyn FnMut(&mut Work) -> bool + Send>;

/// A request in progress. Its slices run in a context: the server.
pub(crate) trait Task<C>: Send {
    /// Runs one slice; whether the task is over.
    fn run(&mut self, context: &Arc<C>) -> bool;

    /// Answers the request, which has to wait behind too many others.
    fn refuse(&mut self, context: &C);

    /// Ends the task without an answer: its channel is closed.
    fn abandon(&mut self, context: &C);
}

/// The tasks of a server.
pub(crate) struct Tasks<C> {
    queue: Mutex<Queue<C>>,
    /// How many there are; looked at after each poll of the transports.
    count: AtomicUsize,
    longest_slice: AtomicU64,
    work_per_slice: u64,
    max_work: u64,
}

struct Queue<C> {
    /// The connections whose turn it is, one after another. The one that is being served is not among them.
    turns: VecDeque<u64>,
    by_channel: HashMap<u64, VecDeque<Job<C>>>,
}

enum Job<C> {
    Request(Box<dyn Task<C>>),
    Own(OwnWork),
}

impl<C> Tasks<C> {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        Self {
            queue: Mutex::new(Queue {
                turns: VecDeque::new(),
                by_channel: HashMap::new(),
            }),
            count: AtomicUsize::new(0),
            longest_slice: AtomicU64::new(0),
            work_per_slice: u64::from(limits.work_per_slice.max(1)),
            max_work: limits.max_work_per_request,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<C>> {
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
    pub(crate) fn push(&self, context: &C, channel: u64, task: Box<dyn Task<C>>) {
        let refused = self.queue(channel, Job::Request(task), MAX_PER_CONNECTION);
        if let Some(Job::Request(mut task)) = refused {
            task.refuse(context);
        }
    }

    /// Adds work of the application itself.
    pub(crate) fn add_work(&self, work: OwnWork) {
        // There is no limit, so it is not refused.
        let _ = self.queue(OWN, Job::Own(work), usize::MAX);
    }

    fn queue(&self, channel: u64, job: Job<C>, most: usize) -> Option<Job<C>> {
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
    fn next(&self) -> Option<(u64, Job<C>)> {
        let mut queue = self.lock();
        let channel = queue.turns.pop_front()?;
        let job = queue.by_channel.get_mut(&channel)?.pop_front()?;
        Some((channel, job))
    }

    /// After a turn: what is left of the task is first again when its connection has the next one.
    fn put_back(&self, channel: u64, unfinished: Option<Job<C>>) -> Option<Job<C>> {
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

    /// Runs one slice of the task whose turn it is; whether more remains.
    pub(crate) fn run_next(&self, context: &Arc<C>) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let Some((channel, mut job)) = self.next() else {
            // Another thread is at it.
            return false;
        };
        let is_finished = match &mut job {
            Job::Request(task) => task.run(context),
            Job::Own(own) => {
                let mut work = Work::new(self.work_per_slice, 0, u64::MAX);
                let more = own(&mut work);
                self.note(&work);
                !more
            }
        };
        if let Some(job) = self.put_back(channel, (!is_finished).then_some(job)) {
            job.abandon(context);
        }
        self.count.load(Ordering::Relaxed) > 0
    }

    /// A slice of a task that has spent so many units before.
    pub(crate) fn slice_after(&self, spent: u64) -> Work {
        Work::new(self.work_per_slice, spent, self.max_work)
    }

    /// Ends the tasks of a channel that is closed.
    pub(crate) fn channel_closed(&self, context: &C, channel: u64) {
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
            job.abandon(context);
        }
    }
}

impl<C> Job<C> {
    fn abandon(self, context: &C) {
        if let Self::Request(mut task) = self {
            task.abandon(context);
        }
    }
}

//! Requests that take more than one slice: one queue per connection; the queues are served in turn.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_ua::request_handler::CompletionWaker;

use super::gate::Gate;
use super::work::Work;
use crate::budgets::ServerBudgets;

/// Maximum number of requests of one connection that wait here; more are answered with `BadTooManyOperations`.
const MAX_PER_CONNECTION: usize = 64;

/// Inverse of the fraction of a slice that a request gets inline while tasks wait: many connections may send a request at once.
const INLINE_SHARE: u64 = 8;

/// Maximum number of operations of a request that takes no lock and does not wait for the others of its connection.
const FEW: usize = 64;

/// State of a task after a slice.
pub(crate) enum Ran {
    /// The task is over.
    Finished,
    /// The task needs another slice.
    Unfinished,
    /// The task needs another slice when the gate is open. The waker makes the server run it.
    Waiting(Arc<Gate>, CompletionWaker),
}

/// A request in progress. Its slices run in a context, which is the server.
pub(crate) trait Task<C>: Send {
    /// Runs one slice.
    fn run(&mut self, context: &Arc<C>) -> Ran;

    /// Answers a request that cannot be queued because too many others are waiting.
    fn refuse(&mut self, context: &C);

    /// Ends the task without an answer: its channel is closed.
    fn abandon(&mut self, context: &C);
}

/// The tasks of a server.
pub(crate) struct Tasks<C> {
    queue: Mutex<Queue<C>>,
    /// Number of tasks, read after each poll of the transports.
    count: AtomicUsize,
    longest_slice: AtomicU64,
    /// Units that requests took before their handlers returned, since the last slice of a task.
    inline: AtomicU64,
    work_per_slice: u64,
    max_work: u64,
}

struct Queue<C> {
    /// The connections that wait for a turn, in order. Not among them are the connection that is being served, and those whose
    /// first task waits at a gate.
    turns: VecDeque<u64>,
    by_channel: HashMap<u64, VecDeque<Box<dyn Task<C>>>>,
}

impl<C> Tasks<C> {
    pub(crate) fn new(budgets: &ServerBudgets) -> Self {
        Self {
            queue: Mutex::new(Queue {
                turns: VecDeque::new(),
                by_channel: HashMap::new(),
            }),
            count: AtomicUsize::new(0),
            longest_slice: AtomicU64::new(0),
            inline: AtomicU64::new(0),
            work_per_slice: u64::from(budgets.work_per_slice.max(1)),
            max_work: budgets.max_work_per_request,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<C>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the work that a request may do before its handler returns. This is one slice, a part of it while others wait,
    /// and nothing while requests of its own connection wait, unless it has few operations.
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

    /// Records the end of a slice.
    #[inline]
    pub(crate) fn note(&self, work: &Work) {
        self.note_units(work.spent());
    }

    /// Records the end of a slice of `units` units.
    #[inline]
    pub(crate) fn note_units(&self, units: u64) {
        // One thread handles the requests; if there are several, a lost sum makes a turn longer.
        let inline = self.inline.load(Ordering::Relaxed);
        self.inline
            .store(inline.saturating_add(units), Ordering::Relaxed);
        // The value is read first: most slices are short, and a read costs less on the hot path.
        if units > self.longest_slice() {
            self.longest_slice.fetch_max(units, Ordering::Relaxed);
        }
    }

    /// Returns true if requests have taken a whole slice since the last slice of a task.
    #[inline]
    pub(crate) fn is_turn_over(&self) -> bool {
        self.inline.load(Ordering::Relaxed) >= self.work_per_slice
    }

    /// Returns the longest slice so far, in units of work.
    #[inline]
    pub(crate) fn longest_slice(&self) -> u64 {
        self.longest_slice.load(Ordering::Relaxed)
    }

    /// Queues a task behind the others of its connection, or answers it if there are too many.
    pub(crate) fn push(&self, context: &C, channel: u64, mut task: Box<dyn Task<C>>) {
        let mut queue = self.lock();
        let is_new = !queue.by_channel.contains_key(&channel);
        let tasks = queue.by_channel.entry(channel).or_default();
        if tasks.len() >= MAX_PER_CONNECTION {
            // An answer calls a waker.
            drop(queue);
            task.refuse(context);
            return;
        }
        tasks.push_back(task);
        if is_new {
            queue.turns.push_back(channel);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the next connection, and its first task.
    fn next(&self) -> Option<(u64, Box<dyn Task<C>>)> {
        let mut queue = self.lock();
        let channel = queue.turns.pop_front()?;
        let task = queue.by_channel.get_mut(&channel)?.pop_front()?;
        Some((channel, task))
    }

    /// Gives a turn to a connection whose first task has waited.
    fn give_turn(&self, channel: u64) {
        let mut queue = self.lock();
        if queue.by_channel.contains_key(&channel) {
            queue.turns.push_back(channel);
        }
    }

    /// Ends a turn: an unfinished task is first in the next turn of its connection. Returns the task if the channel was closed
    /// meanwhile.
    fn put_back(
        &self,
        channel: u64,
        unfinished: Option<Box<dyn Task<C>>>,
        is_waiting: bool,
    ) -> Option<Box<dyn Task<C>>> {
        let mut queue = self.lock();
        let Some(tasks) = queue.by_channel.get_mut(&channel) else {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return unfinished;
        };
        match unfinished {
            Some(task) => tasks.push_front(task),
            None => {
                self.count.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if tasks.is_empty() {
            queue.by_channel.remove(&channel);
        } else if !is_waiting {
            queue.turns.push_back(channel);
        }
        None
    }

    /// Runs one slice of the next task, and begins a turn of the transports. Returns true if more remains.
    pub(crate) fn run_next(self: &Arc<Self>, context: &Arc<C>) -> bool
    where
        C: 'static,
    {
        let more = self.run_one(context);
        self.inline.store(0, Ordering::Relaxed);
        more
    }

    fn run_one(self: &Arc<Self>, context: &Arc<C>) -> bool
    where
        C: 'static,
    {
        if self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let Some((channel, mut task)) = self.next() else {
            // Another thread is running tasks, or all of them wait.
            return false;
        };
        let (unfinished, gate) = match task.run(context) {
            Ran::Finished => (None, None),
            Ran::Unfinished => (Some(task), None),
            Ran::Waiting(gate, waker) => (Some(task), Some((gate, waker))),
        };
        // Before the gate: it may be open, and then the task has to be in its queue.
        if let Some(mut task) = self.put_back(channel, unfinished, gate.is_some()) {
            task.abandon(context);
        } else if let Some((gate, waker)) = gate {
            let tasks = Arc::downgrade(self);
            gate.pass(move || {
                if let Some(tasks) = tasks.upgrade() {
                    tasks.give_turn(channel);
                    waker();
                }
            });
        }
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Returns the slice of a task that has spent `spent` units before.
    pub(crate) fn slice_after(&self, spent: u64) -> Work {
        Work::new(self.work_per_slice, spent, self.max_work)
    }

    /// Ends the tasks of a channel that is closed.
    pub(crate) fn channel_closed(&self, context: &C, channel: u64) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let tasks = {
            let mut queue = self.lock();
            queue.turns.retain(|waiting| *waiting != channel);
            queue.by_channel.remove(&channel).unwrap_or_default()
        };
        // A task that is running at the moment is not among them: `put_back` subtracts it.
        self.count.fetch_sub(tasks.len(), Ordering::Relaxed);
        for mut task in tasks {
            task.abandon(context);
        }
    }
}

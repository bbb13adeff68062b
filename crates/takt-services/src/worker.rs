//! Worker threads for requests that may block.
//!
//! Jobs are queued by key. One job of a key runs at a time, so a slow source occupies only one worker and its own queue, which
//! is bounded. Threads are started on demand and end after a period without jobs.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time after which an idle worker thread ends.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// Error: the queue of a key is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// The worker threads of a server.
pub(crate) struct WorkerPool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    max_threads: usize,
    max_queued: usize,
}

#[derive(Default)]
struct State {
    queues: HashMap<u64, Queue>,
    /// Keys that have jobs of which none is running.
    ready: VecDeque<u64>,
    threads: usize,
    idle: usize,
    closed: bool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: bool,
}

impl WorkerPool {
    /// Creates a pool without threads.
    pub(crate) fn new(max_threads: usize, max_queued: usize) -> Self {
        let shared = Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            max_threads: max_threads.max(1),
            max_queued: max_queued.max(1),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Queues a job behind the others of its key.
    pub(crate) fn submit(&self, key: u64, job: Job) -> Result<(), QueueFull> {
        let mut state = self.shared.state();
        let queue = state.queues.entry(key).or_default();
        if queue.jobs.len() >= self.shared.max_queued {
            return Err(QueueFull);
        }
        queue.jobs.push_back(job);
        if queue.running || queue.jobs.len() > 1 {
            // The job runs after the job before it.
            return Ok(());
        }
        state.ready.push_back(key);
        if state.idle < state.ready.len() && state.threads < self.shared.max_threads {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name(String::from("takt-remote"));
            if thread.spawn(move || shared.work()).is_ok() {
                state.threads += 1;
            } else if state.threads == 0 {
                // No thread would ever take it.
                state.ready.pop_back();
                state.queues.remove(&key);
                return Err(QueueFull);
            }
        }
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            let Some(key) = state.ready.pop_front() else {
                if state.closed {
                    break;
                }
                state.idle += 1;
                let (woken, timeout) = self
                    .wake
                    .wait_timeout(state, IDLE)
                    .unwrap_or_else(PoisonError::into_inner);
                state = woken;
                state.idle -= 1;
                if timeout.timed_out() && state.ready.is_empty() {
                    break;
                }
                continue;
            };
            let Some(job) = state.queues.get_mut(&key).and_then(|queue| {
                queue.running = true;
                queue.jobs.pop_front()
            }) else {
                continue;
            };
            drop(state);
            // A panic of a source loses only its own answer; the job's guards send one.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a remote source panicked; its operations get BadNoCommunication");
            }
            state = self.state();
            match state.queues.get_mut(&key) {
                Some(queue) if !queue.jobs.is_empty() => {
                    queue.running = false;
                    state.ready.push_back(key);
                }
                _ => {
                    state.queues.remove(&key);
                }
            }
        }
        state.threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_blocked_key_does_not_delay_others() {
        let pool = WorkerPool::new(4, 2);
        let (release, released) = mpsc::channel::<()>();
        let (done, results) = mpsc::channel();
        pool.submit(1, Box::new(move || released.recv().unwrap_or_default()))
            .unwrap();
        for number in 0..10 {
            let done = done.clone();
            pool.submit(2 + number, Box::new(move || done.send(number).unwrap()))
                .unwrap();
        }
        let mut finished: Vec<u64> = (0..10)
            .map(|_| results.recv_timeout(IDLE).unwrap())
            .collect();
        finished.sort_unstable();
        assert_eq!(finished, (0..10).collect::<Vec<_>>());
        release.send(()).unwrap();
    }

    #[test]
    fn jobs_of_a_key_run_in_order_and_their_number_is_bounded() {
        let pool = WorkerPool::new(4, 3);
        let (release, released) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel();
        let (done, results) = mpsc::channel();
        let begin = move || {
            started.send(()).unwrap();
            released.recv().unwrap_or_default();
        };
        pool.submit(7, Box::new(begin)).unwrap();
        starts.recv_timeout(IDLE).unwrap();
        for number in 0..3 {
            let done = done.clone();
            pool.submit(7, Box::new(move || done.send(number).unwrap()))
                .unwrap();
        }
        assert_eq!(pool.submit(7, Box::new(|| ())), Err(QueueFull));
        release.send(()).unwrap();
        let order: Vec<i32> = (0..3)
            .map(|_| results.recv_timeout(IDLE).unwrap())
            .collect();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn a_panicking_job_does_not_affect_later_jobs() {
        let pool = WorkerPool::new(1, 8);
        let (done, results) = mpsc::channel();
        pool.submit(1, Box::new(|| panic!("for the test"))).unwrap();
        pool.submit(1, Box::new(move || done.send(()).unwrap()))
            .unwrap();
        results.recv_timeout(IDLE).unwrap();
    }
}

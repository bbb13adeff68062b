//! A bounded number of threads with a bounded queue of jobs.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Work for a thread of the pool.
pub(super) trait Job: Send + 'static {
    /// Does the work. It may take any time.
    fn run(self);
}

/// A job for which there is no room.
pub(super) struct Refused<J>(pub(super) J);

/// The threads and their queue. Dropping it stops them.
pub(super) struct Pool<J: Job> {
    shared: Arc<Shared<J>>,
}

struct Shared<J> {
    state: Mutex<State<J>>,
    /// Notified of each new job, and of the end.
    changed: Condvar,
    max_threads: usize,
    /// Largest number of jobs, those that run included.
    max_jobs: usize,
}

struct State<J> {
    queue: VecDeque<J>,
    running: usize,
    threads: usize,
    is_stopped: bool,
}

impl<J: Job> Pool<J> {
    pub(super) fn new(threads: usize, queue: usize) -> Self {
        let max_threads = threads.max(1);
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State {
                    queue: VecDeque::new(),
                    running: 0,
                    threads: 0,
                    is_stopped: false,
                }),
                changed: Condvar::new(),
                max_threads,
                max_jobs: max_threads.saturating_add(queue),
            }),
        }
    }

    /// Queues a job, and starts a thread if all threads have something to do.
    pub(super) fn submit(&self, job: J) -> Result<(), Refused<J>> {
        let mut state = self.shared.state();
        let jobs = state.running + state.queue.len();
        if state.is_stopped || jobs >= self.shared.max_jobs {
            return Err(Refused(job));
        }
        if state.threads <= jobs && state.threads < self.shared.max_threads {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("worker".to_owned());
            match thread.spawn(move || shared.work()) {
                Ok(_) => state.threads += 1,
                // The threads that exist do the work.
                Err(_) if state.threads > 0 => {}
                Err(_) => return Err(Refused(job)),
            }
        }
        state.queue.push_back(job);
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Ends the threads, each after its current job, and drops the waiting jobs.
    pub(super) fn stop(&self) {
        let waiting = {
            let mut state = self.shared.state();
            state.is_stopped = true;
            std::mem::take(&mut state.queue)
        };
        self.shared.changed.notify_all();
        drop(waiting);
    }
}

impl<J: Job> Drop for Pool<J> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<J: Job> Shared<J> {
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until the pool is stopped.
    fn work(&self) {
        while let Some(job) = self.next() {
            job.run();
            self.state().running -= 1;
        }
    }

    /// Waits for the next job; `None` if the pool is stopped.
    fn next(&self) -> Option<J> {
        let state = self.state();
        let mut state = self
            .changed
            .wait_while(state, |state| state.queue.is_empty() && !state.is_stopped)
            .unwrap_or_else(PoisonError::into_inner);
        let job = state.queue.pop_front()?;
        state.running += 1;
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A job that says that it runs, and ends when it may.
    struct Gated {
        started: Sender<usize>,
        gate: Receiver<()>,
        number: usize,
    }

    impl Job for Gated {
        fn run(self) {
            self.started.send(self.number).unwrap();
            let _ = self.gate.recv();
        }
    }

    #[test]
    fn jobs_beyond_the_threads_wait_and_those_beyond_the_queue_are_refused() {
        let pool = Pool::new(2, 3);
        let (started, runs) = channel();
        let mut gates = Vec::new();
        let mut submit = |number| {
            let (open, gate) = channel();
            gates.push(open);
            let started = started.clone();
            let job = Gated {
                started,
                gate,
                number,
            };
            pool.submit(job).is_ok()
        };
        assert!((0..5).all(&mut submit), "two run and three wait");
        assert!(!submit(5));
        let mut first = [runs.recv().unwrap(), runs.recv().unwrap()];
        first.sort_unstable();
        assert_eq!(first, [0, 1]);
        assert!(runs.try_recv().is_err(), "two threads");
        drop(gates);
        let mut rest: Vec<_> = (2..5).map(|_| runs.recv().unwrap()).collect();
        rest.sort_unstable();
        assert_eq!(rest, [2, 3, 4]);
    }

    #[test]
    fn a_stopped_pool_drops_what_waits() {
        let pool = Pool::new(1, 1);
        let (started, runs) = channel();
        let (open, gate) = channel();
        let first = Gated {
            started: started.clone(),
            gate,
            number: 0,
        };
        assert!(pool.submit(first).is_ok());
        runs.recv().unwrap();
        let (_open, gate) = channel();
        let second = Gated {
            started,
            gate,
            number: 1,
        };
        assert!(pool.submit(second).is_ok());
        drop(pool);
        drop(open);
        assert!(runs.recv().is_err(), "all senders are gone");
    }
}

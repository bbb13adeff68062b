//! A bounded number of threads, and the jobs that wait for them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Work for a thread of the pool.
pub(super) trait Job: Send + Sync {
    /// Does the work, or a part of it. It may take any time, and does not panic.
    fn run(&self) -> Rest;
}

/// Rest of the work of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The job is done.
    None,
    /// The job queues again, behind the others.
    Queued,
}

/// The threads and their queue. Dropping it stops them.
pub(super) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified of each new job, and of the end.
    changed: Condvar,
    max_threads: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<dyn Job>>,
    running: usize,
    threads: usize,
    is_stopped: bool,
}

impl Pool {
    pub(super) fn new(max_threads: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Condvar::new(),
                max_threads,
            }),
        }
    }

    /// Queues a job, and starts a thread if all threads have something to do. Returns false if the pool is stopped, or no thread
    /// can be started.
    pub(super) fn submit(&self, job: Arc<dyn Job>) -> bool {
        let mut state = self.shared.state();
        if state.is_stopped {
            return false;
        }
        let jobs = state.running + state.queue.len();
        // A thread for each job, as far as possible: a job that blocks does not delay the others.
        if state.threads <= jobs && state.threads < self.shared.max_threads {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("worker".to_owned());
            match thread.spawn(move || shared.work()) {
                Ok(_) => state.threads += 1,
                // The threads that exist do the work.
                Err(_) if state.threads > 0 => {}
                Err(_) => return false,
            }
        }
        state.queue.push_back(job);
        drop(state);
        // After the lock is free: the thread would only wait for it.
        self.shared.changed.notify_one();
        true
    }

    /// Ends the threads, each after its current job, and drops the waiting jobs.
    pub(super) fn stop(&self) {
        let waiting = {
            let mut state = self.shared.state();
            state.is_stopped = true;
            std::mem::take(&mut state.queue)
        };
        self.shared.changed.notify_all();
        // Without the lock, because the end of a job runs code of its owner.
        drop(waiting);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until the pool is stopped.
    fn work(&self) {
        while let Some(job) = self.next() {
            let rest = job.run();
            let mut state = self.state();
            state.running -= 1;
            // At the end of the queue, so that a busy job does not hold back the others.
            if rest == Rest::Queued && !state.is_stopped {
                state.queue.push_back(job);
            }
        }
    }

    /// Waits for the next job; `None` if the pool is stopped.
    fn next(&self) -> Option<Arc<dyn Job>> {
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A job that says that it runs, and ends when it may.
    struct Gated {
        started: Sender<usize>,
        gate: Mutex<Receiver<()>>,
        number: usize,
        /// Number of times that it still runs after this.
        rest: AtomicUsize,
    }

    impl Job for Gated {
        fn run(&self) -> Rest {
            self.started.send(self.number).unwrap();
            let _ = self.gate.lock().unwrap().recv();
            let less = |rest: usize| rest.checked_sub(1);
            match self
                .rest
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            {
                Ok(_) => Rest::Queued,
                Err(_) => Rest::None,
            }
        }
    }

    /// Submits jobs that run once, or more often. Each ends when its gate is dropped.
    fn submit(pool: &Pool, started: &Sender<usize>, rests: &[usize]) -> Vec<Sender<()>> {
        let gated = |(number, rest): (usize, &usize)| {
            let (open, gate) = channel();
            let job = Gated {
                started: started.clone(),
                gate: Mutex::new(gate),
                number,
                rest: AtomicUsize::new(*rest),
            };
            assert!(pool.submit(Arc::new(job)));
            open
        };
        rests.iter().enumerate().map(gated).collect()
    }

    #[test]
    fn jobs_beyond_the_threads_wait() {
        let pool = Pool::new(2);
        let (started, runs) = channel();
        let gates = submit(&pool, &started, &[0; 5]);
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
    fn a_job_with_a_rest_queues_behind_the_others() {
        let pool = Pool::new(1);
        let (started, runs) = channel();
        let gates = submit(&pool, &started, &[1, 0]);
        drop(gates);
        let order = [(); 3].map(|()| runs.recv().unwrap());
        assert_eq!(order, [0, 1, 0]);
    }

    #[test]
    fn a_stopped_pool_drops_what_waits() {
        let pool = Pool::new(1);
        let (started, runs) = channel();
        let gates = submit(&pool, &started, &[1, 0]);
        runs.recv().unwrap();
        drop(pool);
        drop((gates, started));
        assert!(runs.recv().is_err(), "all senders are gone");
    }
}

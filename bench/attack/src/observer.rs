//! The second client: it uses the server at a steady rate during an attack, and reports latencies and failures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::{Client, ClientOptions, Endpoint, Waiting};
use takt_statistics::TimeHistogram;
use takt_ua::{NodeId, ids};

use crate::error::AttackError;
use crate::target::AttackTarget;

/// Timeout of a request. A request that takes longer is an error.
const HANG: Duration = Duration::from_secs(60);

/// Interval at which new clients connect.
const NEWCOMERS: Duration = Duration::from_millis(250);

/// Observations of the second client.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Latency of its Reads. A Read that was delayed by the missing answer to the previous one counts from the time at
    /// which it was due.
    pub latency: TimeHistogram,
    /// Failures: of requests, of the Session, or of new connections.
    pub failures: Vec<String>,
    /// Number of new clients that connected, read and left.
    pub newcomers: u64,
}

#[derive(Debug)]
struct Seen {
    latency: TimeHistogram,
    failures: Vec<String>,
    newcomers: u64,
    /// Number of Reads that were sent when they were due.
    in_time: u64,
}

impl Seen {
    fn nothing() -> Self {
        Self {
            latency: TimeHistogram::of_a_minute(),
            failures: Vec::new(),
            newcomers: 0,
            in_time: 0,
        }
    }

    fn fail(&mut self, failure: String) {
        // Ten messages are enough.
        if self.failures.len() < 10 {
            self.failures.push(failure);
        }
    }
}

/// A second client over one transport. Dropping it ends the client.
#[derive(Debug)]
pub struct AttackObserver {
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl AttackObserver {
    /// Starts to read a Value at `endpoint`, one of the endpoints of `target`, this many times per second.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn start(
        target: &AttackTarget,
        endpoint: &str,
        per_second: u32,
        with_newcomers: bool,
    ) -> Result<Self, AttackError> {
        let failed = "the second client";
        let endpoint: Endpoint = endpoint.parse().map_err(AttackError::start(failed))?;
        let options = ClientOptions {
            timeout: HANG,
            waiting: Waiting::Sleep,
            runtime_directory: target.runtime_directory.clone(),
            ..ClientOptions::named("TaktBenchObserver")
        };
        let seen = Arc::new(Mutex::new(Seen::nothing()));
        let stop = Arc::new(AtomicBool::new(false));
        let mut observer = Self {
            seen,
            stop,
            threads: Vec::new(),
        };
        let interval = Duration::from_secs(1) / per_second.max(1);
        let (ready, is_ready) = std::sync::mpsc::channel();
        observer.spawn({
            let (endpoint, options) = (endpoint.clone(), options.clone());
            // A client over shared memory stays on its thread.
            move |seen, stop| match Client::connect(&endpoint, options) {
                Ok(client) => {
                    let _ = ready.send(Ok(()));
                    observe(client, interval, seen, stop);
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        });
        is_ready
            .recv()
            .map_err(AttackError::start(failed))?
            .map_err(AttackError::start(failed))?;
        if with_newcomers {
            observer.spawn(move |seen, stop| welcome(&endpoint, &options, seen, stop));
        }
        Ok(observer)
    }

    fn spawn(&mut self, work: impl FnOnce(&Mutex<Seen>, &AtomicBool) + Send + 'static) {
        let (seen, stop) = (Arc::clone(&self.seen), Arc::clone(&self.stop));
        self.threads
            .push(std::thread::spawn(move || work(&seen, &stop)));
    }

    /// Returns the observations since the last call.
    #[must_use]
    pub fn take(&self) -> Observation {
        let seen = std::mem::replace(&mut *lock(&self.seen), Seen::nothing());
        Observation {
            latency: seen.latency,
            failures: seen.failures,
            newcomers: seen.newcomers,
        }
    }

    /// Waits until the server has answered its backlog. Returns true if that happens within `patience`.
    #[must_use]
    pub fn catches_up(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let count = || lock(&self.seen).in_time;
        let before = count();
        while count() < before + 2 {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }
}

impl Drop for AttackObserver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads once in each `interval`. Overdue Reads are sent at once.
fn observe(mut client: Client, interval: Duration, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let node = NodeId::numeric(0, ids::SERVER_SERVER_STATUS_STATE);
    let mut epoch = client.epoch();
    let mut due = Instant::now();
    while !stop.load(Ordering::Acquire) {
        let now = Instant::now();
        let is_late = now > due;
        if !is_late {
            std::thread::sleep(due - now);
        }
        // A late wake-up is not the server's fault.
        let begun = if is_late { due } else { Instant::now() };
        let read = client.read_good(&node);
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        due += interval;
        let mut seen = lock(seen);
        seen.latency.record(took);
        seen.in_time += u64::from(!is_late);
        if let Err(error) = read {
            seen.fail(format!("a Read failed: {error}"));
        }
        if client.epoch() != epoch {
            epoch = client.epoch();
            seen.fail("the Session was lost".to_owned());
        }
    }
}

/// Connects, reads and disconnects, repeatedly.
fn welcome(endpoint: &Endpoint, options: &ClientOptions, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let node = NodeId::numeric(0, ids::SERVER_SERVER_STATUS_STATE);
    while !stop.load(Ordering::Acquire) {
        let read = Client::connect(endpoint, options.clone())
            .and_then(|mut client| client.read_good(&node));
        {
            let mut seen = lock(seen);
            match read {
                Ok(_) => seen.newcomers += 1,
                Err(error) => seen.fail(format!("a new client: {error}")),
            }
        }
        std::thread::sleep(NEWCOMERS);
    }
}

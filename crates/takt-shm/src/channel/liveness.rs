//! Liveness of the process at the other end of a socket, without a system call for each check.
//!
//! Reading a current value takes a tenth of a microsecond, in which a system call has no place. So one thread of the process
//! waits for all such sockets to close, and notes it in memory. It begins with the first watched socket, and sleeps until one
//! closes: at once when a process dies, in whatever way.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use takt_rt::readiness::{Events, Interest, Readiness};

use crate::error::ShmError;

/// Liveness of a connection.
#[derive(Debug, Clone)]
pub struct Liveness(Arc<AtomicBool>);

impl Liveness {
    /// Returns true if the connection is still open.
    #[must_use]
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Watches a socket.
    pub(crate) fn watch(socket: &OwnedFd) -> Result<Self, ShmError> {
        let failed = |e| ShmError::io("watch a connection", e);
        let watcher = Watcher::get()?;
        // A copy, because the owner may close the socket while the thread waits for it.
        let socket = socket.try_clone().map_err(failed)?;
        let alive = Arc::new(AtomicBool::new(true));
        let key = watcher.next_key.fetch_add(1, Ordering::Relaxed);
        // It is held until the entry exists: the thread may be woken at once.
        let mut watched = watcher.watched();
        // Hang-ups are always reported.
        watcher
            .readiness
            .add(socket.as_fd(), key, Interest::NONE)
            .map_err(failed)?;
        watched.insert(key, (socket, Arc::downgrade(&alive)));
        Ok(Self(alive))
    }
}

type Watched = HashMap<u64, (OwnedFd, Weak<AtomicBool>)>;

/// Thread, and the sockets that it watches.
struct Watcher {
    readiness: Readiness,
    watched: Mutex<Watched>,
    next_key: AtomicU64,
}

impl Watcher {
    fn get() -> Result<&'static Self, ShmError> {
        static WATCHER: OnceLock<&Watcher> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        let failed = |e| ShmError::io("start a thread that watches connections", e);
        // `OnceLock` has no initialization that can fail, so the first callers wait for each other here.
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = WATCHER.get() {
            return Ok(watcher);
        }
        // The watcher lives as long as the process, as its thread does.
        let watcher: &Self = Box::leak(Box::new(Self {
            readiness: Readiness::new().map_err(failed)?,
            watched: Mutex::default(),
            next_key: AtomicU64::new(0),
        }));
        std::thread::Builder::new()
            .name("takt-liveness".to_owned())
            .spawn(|| watcher.run())
            .map_err(failed)?;
        Ok(WATCHER.get_or_init(|| watcher))
    }

    fn watched(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut events = Events::with_capacity(64);
        while self.readiness.wait(&mut events, None).is_ok() {
            for event in events.iter() {
                if let Some((_closed, alive)) = self.watched().remove(&event.key)
                    && let Some(alive) = alive.upgrade()
                {
                    alive.store(false, Ordering::Relaxed);
                }
            }
        }
    }
}

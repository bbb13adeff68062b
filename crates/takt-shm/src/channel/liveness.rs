//! Whether the process at the other end of a socket is still there, without asking the kernel each time.
//!
//! Whoever reads a current value in a tenth of a microsecond cannot afford a system call for this. So one thread of the process
//! waits for all such sockets to close, and says so in memory. It begins with the first that is watched, and sleeps until
//! one closes: at once when a process dies, however it dies.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use takt_rt::readiness::{Events, Interest, Readiness};

use crate::error::ShmError;

/// Says whether a connection is still there.
#[derive(Debug, Clone)]
pub struct Liveness(Arc<AtomicBool>);

impl Liveness {
    /// Whether it is.
    #[must_use]
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Watches a socket.
    pub(crate) fn watch(socket: &OwnedFd) -> Result<Self, ShmError> {
        let failed = |e| ShmError::io("watch a connection", e);
        let watcher = Watcher::get()?;
        let socket = socket.try_clone().map_err(failed)?;
        let alive = Arc::new(AtomicBool::new(true));
        let key = watcher.next_key.fetch_add(1, Ordering::Relaxed);
        let mut watched = watcher.watched();
        // Hang-ups are reported without being asked for.
        watcher
            .readiness
            .add(socket.as_fd(), key, Interest::NONE)
            .map_err(failed)?;
        watched.insert(key, (socket, Arc::downgrade(&alive)));
        Ok(Self(alive))
    }
}

type Watched = HashMap<u64, (OwnedFd, Weak<AtomicBool>)>;

/// The thread and what it watches.
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
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = WATCHER.get() {
            return Ok(watcher);
        }
        // For the life of the process, as its thread.
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

//! File of the durable Subscriptions of a server, for its next run (OPC 10000-4, 6.8).
//!
//! A thread writes the file while there are such Subscriptions: soon after one begins, changes or ends, and every [`INTERVAL`]. The
//! end of the server writes it for the last time. A crash loses the values of the last seconds, and repeats those that clients have
//! received in them.

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_client::prepare_state_directory;
use takt_services::{Saving, Server};

use crate::private_file;

/// Time between two states of the file while values change.
const INTERVAL: Duration = Duration::from_secs(10);

/// Time after a Subscription or its items have changed. More changes follow usually.
const SETTLING: Duration = Duration::from_millis(500);

/// File of the durable Subscriptions of a server. A thread keeps it up to date, which starts with the first Subscription.
pub(super) struct DurableFile {
    path: PathBuf,
    server: Arc<Server>,
    /// The thread, if the server serves.
    saver: Option<Arc<Saver>>,
}

impl DurableFile {
    /// Restores the Subscriptions of a file, if there is one. The server does not serve yet.
    pub(super) fn restore(path: &Path, server: &Arc<Server>) -> Self {
        if path.exists() {
            match read(path, server) {
                Ok(subscriptions) => tracing::info!(subscriptions, "durable Subscriptions go on"),
                Err(error) => {
                    tracing::warn!(%error, file = %path.display(), "durable Subscriptions are lost");
                }
            }
        }
        Self {
            path: path.to_owned(),
            server: Arc::clone(server),
            saver: None,
        }
    }

    /// Keeps the file up to date: the server serves. The file of an earlier end is replaced at once, because its numbers are used
    /// from now on.
    pub(super) fn serves(&mut self) {
        let saver = Arc::new(Saver::default());
        if self.path.exists() {
            let mut file = SavedFile::new(&self.path, &self.server);
            file.save(Saving::WhileServing);
            if file.exists {
                saver.start(file);
            }
        }
        // The server owns the observer, so a strong reference would keep it for ever.
        let (path, server) = (self.path.clone(), Arc::downgrade(&self.server));
        let observer = Arc::clone(&saver);
        self.server.set_durable_observer(Some(Box::new(move || {
            if !observer.wake()
                && let Some(server) = server.upgrade()
            {
                observer.start(SavedFile::new(&path, &server));
            }
        })));
        self.saver = Some(saver);
    }
}

impl Drop for DurableFile {
    fn drop(&mut self) {
        let Some(saver) = &self.saver else {
            return;
        };
        // Before the thread ends: a change would start another one.
        self.server.set_durable_observer(None);
        if let Some(mut file) = saver.stop() {
            file.save(Saving::AtEnd);
        }
    }
}

/// Restores the Subscriptions of a file, and returns their number. The folder is checked: another user who can write it could give
/// a Subscription any roles.
fn read(path: &Path, server: &Server) -> Result<usize, Box<dyn Error>> {
    prepare_state_directory(folder(path))?;
    Ok(server.restore_subscriptions(&fs::read(path)?)?)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Place of the thread that saves, once there is something to save.
#[derive(Default)]
struct Saver(Mutex<Option<SaverThread>>);

struct SaverThread {
    thread: JoinHandle<SavedFile>,
    /// Wakes the thread; a full queue wakes it as well.
    wake: SyncSender<()>,
    ends: Arc<AtomicBool>,
}

impl Saver {
    fn lock(&self) -> MutexGuard<'_, Option<SaverThread>> {
        // Each change is complete when the lock is released.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread, which saves soon.
    fn start(&self, file: SavedFile) {
        // The first entry has the thread save without waiting for a change.
        let (wake, changes) = mpsc::sync_channel(1);
        let _ = wake.try_send(());
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        let thread = std::thread::Builder::new().name("durable".to_owned());
        match thread.spawn(move || keep_up_to_date(file, &changes, &until)) {
            Ok(thread) => *self.lock() = Some(SaverThread { thread, wake, ends }),
            Err(error) => tracing::error!(%error, "durable Subscriptions are not saved"),
        }
    }

    /// Has the thread save soon. Returns false if there is none.
    fn wake(&self) -> bool {
        let thread = self.lock();
        if let Some(thread) = &*thread {
            // An entry that waits already wakes the thread as well.
            let _ = thread.wake.try_send(());
        }
        thread.is_some()
    }

    /// Ends the thread, and returns its file.
    fn stop(&self) -> Option<SavedFile> {
        let thread = self.lock().take()?;
        thread.ends.store(true, Ordering::Release);
        let _ = thread.wake.try_send(());
        // After a panic, the file stays as it is.
        thread.thread.join().ok()
    }
}

/// Saves after each change and in each interval, until the end.
fn keep_up_to_date(mut file: SavedFile, changes: &Receiver<()>, ends: &AtomicBool) -> SavedFile {
    let has_ended = || ends.load(Ordering::Acquire);
    while !has_ended() {
        if changes.recv_timeout(INTERVAL).is_ok() {
            // Further changes end the wait early, but do not prolong the time.
            let settled = Instant::now() + SETTLING;
            while !has_ended()
                && let left = settled.saturating_duration_since(Instant::now())
                && !left.is_zero()
            {
                let _ = changes.recv_timeout(left);
            }
        }
        if !has_ended() {
            file.save(Saving::WhileServing);
        }
    }
    file
}

/// The file, as it was saved last.
struct SavedFile {
    path: PathBuf,
    server: Arc<Server>,
    exists: bool,
    /// Hash of the content.
    content: Option<u64>,
    has_failed: bool,
}

impl SavedFile {
    fn new(path: &Path, server: &Arc<Server>) -> Self {
        Self {
            path: path.to_owned(),
            server: Arc::clone(server),
            exists: path.exists(),
            content: None,
            has_failed: false,
        }
    }

    /// Writes the durable Subscriptions if they have changed, and removes the file if there are none.
    fn save(&mut self, occasion: Saving) {
        let Some(bytes) = self.server.saved_subscriptions(occasion) else {
            if self.exists {
                let _ = fs::remove_file(&self.path);
            }
            (self.exists, self.content) = (false, None);
            return;
        };
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let content = Some(hasher.finish());
        if content == self.content {
            return;
        }
        match self.write(&bytes) {
            Ok(()) => (self.exists, self.content, self.has_failed) = (true, content, false),
            // Once, while the cause lasts; the last time anyway.
            Err(error) if occasion == Saving::AtEnd || !self.has_failed => {
                self.has_failed = true;
                let file = self.path.display();
                tracing::error!(%error, %file, "durable Subscriptions cannot be saved");
            }
            Err(_) => {}
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        prepare_state_directory(folder(&self.path))?;
        Ok(private_file::write(&self.path, bytes)?)
    }
}

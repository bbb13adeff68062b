//! Thread of the database: the only place that waits for the disk.
//!
//! Changes are handed over in the order in which they were made, and written into one transaction. It is committed for the
//! first request that waits for it. Changes and requests that come during a commit share the next one.
//!
//! If the database cannot be written, all changes since the last commit are lost, including those that wait to be written.
//! They are taken back, the last one first. Until that is done, no other change is accepted, because it might depend on them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use takt_rt::memory_budget::Charge;

use super::error::DatabaseError;
use super::store::{Store, Write};

/// Takes back a change that is lost.
pub(crate) type Undo = Box<dyn FnOnce() + Send>;

/// Follows up a change that has become durable, before those who wait for it are told.
pub(super) type Done = Box<dyn FnOnce() + Send>;

/// Receives the result of a commit.
pub(crate) type Then = Box<dyn FnOnce(Result<(), Arc<DatabaseError>>) + Send>;

/// Uses the file between two changes, and passes its own result on.
type Look = Box<dyn FnOnce(&mut Store) + Send>;

/// A change that is handed over.
pub(super) struct Entry {
    pub(super) write: Write,
    /// Rest of the change when it is written.
    pub(super) rest: Rest,
}

/// A change that is handed over, without what writes it.
#[derive(Default)]
pub(super) struct Rest {
    pub(super) undo: Option<Undo>,
    pub(super) done: Option<Done>,
    /// Memory of the change, until it is durable.
    pub(super) charge: Option<Charge>,
}

/// A part of the queue to the thread.
enum Item {
    Write(Entry),
    Settle { losses: Option<u64>, then: Then },
    Look(Look),
}

/// Queue to the thread. Dropping it ends the thread, as [`end`](Journal::end) does.
pub(super) struct Journal {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified of items, and of the end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    /// Grows when changes are lost, and again when they are taken back.
    losses: u64,
    /// True while lost changes are being taken back.
    is_reverting: bool,
    /// Reason of the latest loss, until [`Journal::take_failure`].
    failure: Option<Arc<DatabaseError>>,
    is_ending: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete when the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for items and takes all of them; `None` at the end.
    fn take(&self) -> Option<VecDeque<Item>> {
        let mut state = self.state();
        while state.items.is_empty() {
            if state.is_ending {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        // All of them at once: they share one commit, which takes the most time.
        Some(std::mem::take(&mut state.items))
    }
}

impl Journal {
    /// Starts the thread with an open file.
    pub(super) fn start(store: Store) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut writer = Writer {
            shared: Arc::clone(&shared),
            store,
            written: Vec::new(),
            settling: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn(move || {
            while let Some(items) = writer.shared.take() {
                writer.work_on(items);
            }
            writer.end();
        })?;
        Ok(Self {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Returns a number that grows when changes are lost, and again when they are taken back.
    pub(super) fn losses(&self) -> u64 {
        self.shared.state().losses
    }

    /// Returns the reason of the latest loss since the previous call.
    pub(super) fn take_failure(&self) -> Option<Arc<DatabaseError>> {
        self.shared.state().failure.take()
    }

    /// Hands over a change. `losses` are the [`losses`](Self::losses) when its request began; if they have grown, it may depend
    /// on lost changes and is refused.
    pub(super) fn enter(&self, entry: Entry, losses: Option<u64>) -> Result<(), DatabaseError> {
        let mut state = self.shared.state();
        let depends_on_lost = losses.is_some_and(|losses| losses != state.losses);
        if depends_on_lost || state.is_reverting || state.is_ending {
            return Err(DatabaseError::Lost);
        }
        state.items.push_back(Item::Write(entry));
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Calls `then` when all changes that were handed over so far are durable, or lost. Returns at once.
    pub(super) fn settle(&self, losses: Option<u64>, then: Then) {
        let mut state = self.shared.state();
        if state.is_ending {
            drop(state);
            // Without the lock: `then` may hand over something itself, and would wait for ever.
            return then(Err(Arc::new(DatabaseError::Lost)));
        }
        state.items.push_back(Item::Settle { losses, then });
        drop(state);
        self.shared.changed.notify_one();
    }

    /// Runs `look` with the file, after all changes that were handed over so far, and waits for it.
    pub(super) fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store) -> Result<R, DatabaseError> + Send + 'static,
    ) -> Result<R, DatabaseError> {
        let (send, seen) = mpsc::sync_channel(1);
        let look = move |store: &mut Store| {
            // The receiver waits for it.
            let _ = send.send(look(store));
        };
        let mut state = self.shared.state();
        if state.is_ending {
            return Err(DatabaseError::Lost);
        }
        state.items.push_back(Item::Look(Box::new(look)));
        drop(state);
        self.shared.changed.notify_one();
        // The thread drops what it does not get to.
        seen.recv().unwrap_or(Err(DatabaseError::Lost))
    }

    /// Ends the thread after everything that was handed over is durable, or lost, and closes the file.
    pub(super) fn end(&self) {
        self.shared.state().is_ending = true;
        self.shared.changed.notify_one();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take()
            // The last owner may be dropped in a callback of the thread, which cannot wait for itself.
            && thread.thread().id() != std::thread::current().id()
        {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.end();
    }
}

/// State of the thread.
struct Writer {
    shared: Arc<Shared>,
    store: Store,
    /// Changes since the last commit.
    written: Vec<Rest>,
    /// Requests that wait for the next commit.
    settling: Vec<(Option<u64>, Then)>,
}

impl Writer {
    /// Writes changes, and commits them if somebody waits for that.
    fn work_on(&mut self, items: VecDeque<Item>) {
        let mut outcome = Ok(());
        for item in items {
            match item {
                Item::Write(Entry { write, rest }) => {
                    // After a failure nothing more is written: all of it is taken back.
                    outcome = outcome.and_then(|()| self.store.write(write));
                    self.written.push(rest);
                }
                Item::Settle { losses, then } => self.settling.push((losses, then)),
                Item::Look(look) => look(&mut self.store),
            }
        }
        match outcome {
            Ok(()) if self.settling.is_empty() => {}
            Ok(()) => self.commit(),
            Err(error) => self.failed(error),
        }
    }

    /// Commits changes that nobody waits for.
    fn end(&mut self) {
        if !self.written.is_empty() {
            self.commit();
        }
    }

    fn commit(&mut self) {
        match self.store.commit() {
            Ok(()) => self.settled(),
            Err(error) => self.failed(error),
        }
    }

    /// Follows up changes that are durable, and tells all who wait.
    fn settled(&mut self) {
        // Memory is free before its owners go on.
        for Rest { done, charge, .. } in self.written.drain(..) {
            drop(charge);
            if let Some(done) = done {
                shielded(done);
            }
        }
        let lost = self.shared.state().losses;
        for (losses, then) in self.settling.drain(..) {
            let result = match losses {
                Some(losses) if losses != lost => Err(Arc::new(DatabaseError::Lost)),
                _ => Ok(()),
            };
            shielded(|| then(result));
        }
    }

    /// Takes back all changes since the last commit, and tells all who wait.
    fn failed(&mut self, error: DatabaseError) {
        tracing::error!(%error, "the database cannot be written: changes that waited for it are taken back");
        let waiting = {
            let mut state = self.shared.state();
            state.losses += 1;
            // Until everything is taken back, a new change could depend on what is lost.
            state.is_reverting = true;
            std::mem::take(&mut state.items)
        };
        let mut looks = Vec::new();
        for item in waiting {
            match item {
                Item::Write(Entry { rest, .. }) => self.written.push(rest),
                Item::Settle { losses, then } => self.settling.push((losses, then)),
                Item::Look(look) => looks.push(look),
            }
        }
        // The last change first: each `undo` restores the state before its own change.
        while let Some(lost) = self.written.pop() {
            if let Some(undo) = lost.undo {
                shielded(undo);
            }
        }
        let error = Arc::new(error);
        {
            let mut state = self.shared.state();
            // Changes that a request saw in the meantime may be taken back, too.
            state.losses += 1;
            state.is_reverting = false;
            state.failure = Some(Arc::clone(&error));
        }
        for (_, then) in self.settling.drain(..) {
            shielded(|| then(Err(Arc::clone(&error))));
        }
        for look in looks {
            look(&mut self.store);
        }
    }
}

/// Calls back. A panic there is reported on standard error as usual, and does not end the thread of the database.
fn shielded(call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        tracing::error!("a request that waited for the database could not be continued");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // If the thread panicked, nobody waits for it any more.
        let left = {
            let mut state = self.shared.state();
            state.is_ending = true;
            std::mem::take(&mut state.items)
        };
        drop(left);
    }
}

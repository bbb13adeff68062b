//! A disk that tests hold back or break.

use std::fs::OpenOptions;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use takt_database::DatabaseOpener;

/// A disk; all clones are the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestDisk(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    is_held: bool,
    is_broken: bool,
    /// The contents that survive a broken sync.
    synced: Vec<u8>,
    /// A sync waits for the end of `is_held`.
    is_waiting: bool,
    syncs: u64,
}

impl TestDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.0.1.notify_all();
    }

    /// From now on each sync waits.
    pub(crate) fn hold(&self) {
        self.change(|state| state.is_held = true);
    }

    /// Lets syncs go on.
    pub(crate) fn release(&self) {
        self.change(|state| state.is_held = false);
    }

    /// From now on each sync fails and loses what was written since the last one, or none.
    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.change(|state| state.is_broken = is_broken);
    }

    /// Waits until a sync is held.
    pub(crate) fn wait_for_sync(&self) {
        let waited = self.0.1.wait_while(self.state(), |state| !state.is_waiting);
        drop(waited.unwrap());
    }

    /// Returns the number of syncs that have ended.
    pub(crate) fn syncs(&self) -> u64 {
        self.state().syncs
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state();
        state.is_waiting = true;
        self.0.1.notify_all();
        let mut state = self.0.1.wait_while(state, |state| state.is_held).unwrap();
        state.is_waiting = false;
        state.syncs += 1;
        match state.is_broken {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(()),
        }
    }

    /// Opens an existing file on this disk.
    pub(super) fn opener(&self) -> DatabaseOpener {
        let disk = self.clone();
        Arc::new(move |path, builder| {
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            let file = FileBackend::new(file)?;
            let disk = disk.clone();
            let opened = OnDisk { file, disk };
            let synced = opened.contents()?;
            opened.disk.state().synced = synced;
            builder.create_with_backend(opened)
        })
    }
}

#[derive(Debug)]
struct OnDisk {
    file: FileBackend,
    disk: TestDisk,
}

impl OnDisk {
    fn contents(&self) -> io::Result<Vec<u8>> {
        let mut contents = vec![0; self.file.len()? as usize];
        self.file.read(0, &mut contents)?;
        Ok(contents)
    }
}

impl StorageBackend for OnDisk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        // Before the wait: what is written meanwhile does not belong to this sync.
        let contents = self.contents()?;
        match self.disk.sync() {
            Ok(()) => {
                self.disk.state().synced = contents;
                self.file.sync_data()
            }
            Err(error) => {
                let synced = self.disk.state().synced.clone();
                self.file.set_len(synced.len() as u64)?;
                self.file.write(0, &synced)?;
                Err(error)
            }
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }
}

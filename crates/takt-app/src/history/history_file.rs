//! The file of a history: open, or to be checked before it is used.
//!
//! Each page of the file is verified before the first use. A small file is checked when the server starts, which is refused if it is
//! damaged. The check of a large one takes its time on the thread of the recorder, while the server serves.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use takt_history::{HistoryError, HistoryStoreOptions, Store, StoreReader};

use super::namespaces::FileNamespaces;

/// Largest file in bytes that is checked before the server serves: a fraction of a second.
const CHECKED_AT_START: u64 = 64 << 20;

/// The open file, for readers.
pub(super) struct OpenHistory {
    pub(super) store: StoreReader,
    pub(super) namespaces: Arc<FileNamespaces>,
}

/// The open file, once its pages are verified.
pub(super) type OpenReader = Arc<OnceLock<OpenHistory>>;

/// Lets readers use the store.
fn publish(store: &Store, reader: &OpenReader) -> Result<(), HistoryError> {
    let namespaces = FileNamespaces::default();
    namespaces.load(store)?;
    let _ = reader.set(OpenHistory {
        store: store.reader(),
        namespaces: Arc::new(namespaces),
    });
    Ok(())
}

/// The file of a history.
pub(super) struct HistoryFile {
    state: State,
    reader: OpenReader,
}

enum State {
    Open(Box<Store>),
    Unchecked {
        path: PathBuf,
        options: HistoryStoreOptions,
        bytes: u64,
    },
}

impl HistoryFile {
    /// Opens a small file, or creates one. A large one is only looked at.
    pub(super) fn new(path: &Path, options: HistoryStoreOptions) -> Result<Self, HistoryError> {
        Self::with_limit(path, options, CHECKED_AT_START)
    }

    /// Opens a file of at most `limit` bytes; otherwise like [`new`](Self::new).
    pub(super) fn with_limit(
        path: &Path,
        options: HistoryStoreOptions,
        limit: u64,
    ) -> Result<Self, HistoryError> {
        let bytes = Store::glance(path)?;
        let reader = OpenReader::default();
        let state = if bytes <= limit {
            let store = Store::open(path, options)?;
            publish(&store, &reader)?;
            State::Open(Box::new(store))
        } else {
            State::Unchecked {
                path: path.to_owned(),
                options,
                bytes,
            }
        };
        Ok(Self { state, reader })
    }

    /// Returns the place of the reader.
    pub(super) fn reader(&self) -> &OpenReader {
        &self.reader
    }

    /// Returns true if the file is open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Returns the store, after the check of a large file. A damaged one is logged; it stays as it is, and there is no history.
    pub(super) fn open(self) -> Option<(Store, Arc<FileNamespaces>)> {
        let namespaces = |reader: &OpenReader| Some(Arc::clone(&reader.get()?.namespaces));
        let (path, options, bytes) = match self.state {
            State::Open(store) => return Some((*store, namespaces(&self.reader)?)),
            State::Unchecked {
                path,
                options,
                bytes,
            } => (path, options, bytes),
        };
        let (file, mebibytes) = (path.display().to_string(), bytes >> 20);
        tracing::info!(
            file,
            mebibytes,
            "history: the file is checked; until then values are not recorded, and HistoryRead is answered with BadResourceUnavailable"
        );
        let begin = Instant::now();
        let opened = Store::open(&path, options).and_then(|store| {
            publish(&store, &self.reader)?;
            Ok(store)
        });
        match opened {
            Ok(store) => {
                let milliseconds = begin.elapsed().as_millis();
                tracing::info!(file, milliseconds, "history: the file is checked");
                Some((store, namespaces(&self.reader)?))
            }
            Err(error) => {
                tracing::error!(%error, "history: nothing is recorded, and HistoryRead is answered with BadResourceUnavailable");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use takt_history::{HistoryRecord, StoreTime};
    use takt_ua::{DateTime, StatusCode};

    use super::*;

    /// Makes a file with records on many pages.
    fn fill(path: &Path) {
        let mut store = Store::open(path, HistoryStoreOptions::default()).unwrap();
        let key = store.variable("Level", None).unwrap();
        let records = (0..10_000_i64).map(|number| {
            let record = HistoryRecord {
                source_timestamp: DateTime(1_000 + number),
                server_timestamp: DateTime(1_000 + number),
                status: StatusCode::Good,
                value: [&[11][..], &(number as f64).sin().to_le_bytes()].concat(),
            };
            (key, record)
        });
        store.append(records.collect(), StoreTime::now()).unwrap();
    }

    #[test]
    fn a_large_file_is_checked_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.redb");
        let options = HistoryStoreOptions::default();
        let file = |limit| HistoryFile::with_limit(&path, options, limit).unwrap();
        // A new file is small.
        assert!(file(0).is_open());
        fill(&path);
        assert!(file(1 << 30).is_open());
        let large = file(0);
        let reader = Arc::clone(large.reader());
        assert!(!large.is_open() && reader.get().is_none());
        let (store, _) = large.open().unwrap();
        assert!(reader.get().is_some());
        drop(store);

        // One page after the other is damaged. The start sees faults of the file's own pages; no other page is read then.
        let healthy = fs::read(&path).unwrap();
        let is_full = |at: &usize| {
            let page = healthy[*at..].iter().take(4096);
            page.filter(|byte| **byte != 0).count() > 3000
        };
        let mut found_later = 0;
        for page in (0..healthy.len()).step_by(4096).filter(is_full) {
            let mut bytes = healthy.clone();
            bytes[page + 2000] ^= 0x55;
            fs::write(&path, &bytes).unwrap();
            let Ok(damaged) = HistoryFile::with_limit(&path, options, 0) else {
                continue;
            };
            let reader = Arc::clone(damaged.reader());
            // A page that the file does not use any more may have any bytes.
            if damaged.open().is_some() {
                continue;
            }
            found_later += 1;
            // Nothing is read from the file, and the page stays as it is.
            assert!(reader.get().is_none());
            let left = fs::read(&path).unwrap();
            assert!(left[page..page + 4096] == bytes[page..page + 4096]);
            assert!(Store::open(&path, options).is_err());
        }
        assert!(found_later > 0, "no fault was found by the check");

        // Other faults are seen at the start.
        fs::write(&path, "").unwrap();
        assert!(HistoryFile::with_limit(&path, options, 0).is_err());
    }
}

//! History of Variables and Events of a server: recorded in a [`takt_history::Store`], and read with HistoryRead.
//!
//! * [`recorder`]: the thread that samples values and commits records, [`COMMIT_INTERVAL`] after the first of them; [`worker`]: its
//!   state; [`recorded_values`] and [`recorded_events`]: what it records.
//! * [`reader`]: the thread that answers HistoryRead, in slices, one client after another. Neither the serving thread nor the
//!   writers of values wait for the disk.
//! * [`query`]: HistoryReadDetails as queries over the store.
//! * [`history_file`]: the file, whose pages are verified before the first use.

mod event_query;
mod event_tap;
mod event_times;
mod excess;
mod gaps;
mod history_file;
mod inbox;
mod limits;
mod namespaces;
mod query;
mod reader;
mod recorded;
mod recorded_events;
mod recorded_values;
mod recorder;
mod recording;
mod sampled;
mod worker;

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use takt_history::{Aggregate, HistoryError, HistoryStoreOptions};
use takt_services::{Historian, Server};
use takt_space::{AddressSpaceError, RemoteSource, RoleSet};
use takt_ua::NodeId;

use event_tap::EventTap;
use history_file::{HistoryFile, OpenReader};
pub use limits::{COMMIT_INTERVAL, MAX_RECORDED, MAX_RETURN_DATA_VALUES, MAX_RETURN_EVENT_VALUES};
use reader::Reader;
pub use recorded::HistoryCounts;
use recorded::RecordedVariables;
use recorder::Recorder;
pub use recording::Recording;

/// Error of a history that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum HistoryStartError {
    /// The file cannot be used.
    #[error(transparent)]
    Store(#[from] HistoryError),
    /// A thread could not be started.
    #[error("no thread could be started: {0}")]
    Thread(#[source] io::Error),
    /// The capabilities could not be shown.
    #[error(transparent)]
    AddressSpace(#[from] AddressSpaceError),
}

/// The running history of a server. Dropping it commits what was recorded.
pub struct History {
    /// Reading ends before the file is closed.
    reader: Arc<Reader>,
    recorder: Recorder,
    server: Weak<Server>,
    kept: Arc<Kept>,
}

impl Drop for History {
    fn drop(&mut self) {
        self.reader.end();
    }
}

impl History {
    /// Opens the file, or creates it, and lets the server answer HistoryRead from it. Nothing is recorded yet. A file of more than
    /// 64 MiB is checked in the background: until then HistoryRead is answered with BadResourceUnavailable.
    ///
    /// # Errors
    /// The file cannot be used, or a thread cannot be started.
    pub fn start(
        server: &Arc<Server>,
        path: &Path,
        options: HistoryStoreOptions,
    ) -> Result<Self, HistoryStartError> {
        Self::with_file(server, HistoryFile::new(path, options)?)
    }

    fn with_file(server: &Arc<Server>, file: HistoryFile) -> Result<Self, HistoryStartError> {
        let variables = Arc::new(RecordedVariables::default());
        let notifiers = Arc::new(RecordedVariables::default());
        let recorded = (Arc::clone(&variables), Arc::clone(&notifiers));
        let store = Arc::clone(file.reader());
        let reader = Reader::start(Arc::clone(&store), server.address_space(), recorded);
        let reader = reader.map_err(HistoryStartError::Thread)?;
        let recorded = (Arc::clone(&variables), Arc::clone(&notifiers));
        let recorder = Recorder::start(server.address_space(), file, recorded);
        let recorder = recorder.map_err(HistoryStartError::Thread)?;
        let kept = Arc::new(Kept {
            reader: Arc::clone(&reader),
            store,
            variables,
            notifiers,
            event_roles: OnceLock::new(),
        });
        server.set_historian(Arc::clone(&kept) as _)?;
        Ok(Self {
            reader,
            recorder,
            server: Arc::downgrade(server),
            kept,
        })
    }

    /// Records a Variable from now on. `name` is its name in the file: the same after each start. The thread of the history begins
    /// with it; its AccessLevel then has HistoryRead. More than [`MAX_RECORDED`] Variables are not recorded, with a warning that has
    /// their number.
    pub fn record(&self, node: NodeId, name: impl Into<String>, recording: Recording) {
        self.kept.variables.want(node.clone());
        self.recorder.add(node, name.into(), recording);
    }

    /// Records the Events that clients receive at a notifier from now on, but no audit Events. `name` is its name in the file: the
    /// same after each start. Its EventNotifier then has HistoryRead, and the server has the capability AccessHistoryEvents.
    ///
    /// # Errors
    /// A node of namespace 0 cannot be changed.
    pub fn record_events(
        &self,
        notifier: NodeId,
        name: impl Into<String>,
    ) -> Result<(), AddressSpaceError> {
        let Some(server) = self.server.upgrade() else {
            return Ok(());
        };
        server.show_event_history(MAX_RETURN_EVENT_VALUES)?;
        self.kept.notifiers.want(notifier.clone());
        server.events().set_recorder(Arc::new(EventTap {
            inbox: Arc::clone(self.recorder.inbox()),
            notifiers: Arc::clone(&self.kept.notifiers),
        }));
        self.recorder.add_notifier(notifier, name.into());
        Ok(())
    }

    /// Lets only callers with one of these Roles read Events; others get BadUserAccessDenied. Only the first call has an effect.
    pub fn let_read_events(&self, roles: RoleSet) {
        let _ = self.kept.event_roles.set(roles);
    }

    /// Returns the numbers of records since the start.
    #[must_use]
    pub fn counts(&self) -> HistoryCounts {
        self.recorder.inbox().counts()
    }
}

/// Lets a server forward HistoryRead to the servers of its values, without a history of its own.
///
/// # Errors
/// A node of namespace 0 cannot be changed.
pub fn forward_history(server: &Server) -> Result<(), AddressSpaceError> {
    server.set_historian(Arc::new(Forwarding))
}

/// A history in a store.
struct Kept {
    reader: Arc<Reader>,
    /// Set once the file is checked.
    store: OpenReader,
    variables: Arc<RecordedVariables>,
    notifiers: Arc<RecordedVariables>,
    /// Roles that may read Events; without them, every Role with the permission ReadHistory may.
    event_roles: OnceLock<RoleSet>,
}

impl Kept {
    /// Returns true for a node that is recorded, and for one that will be as soon as the file is checked.
    fn has(&self, recorded: &RecordedVariables, node: &NodeId) -> bool {
        match self.store.get() {
            Some(_) => recorded.get(node).is_some(),
            None => recorded.is_wanted(node),
        }
    }
}

impl Historian for Kept {
    fn event_source(&self, notifier: &NodeId) -> Option<Arc<dyn RemoteSource>> {
        self.has(&self.notifiers, notifier)
            .then(|| Arc::clone(&self.reader) as _)
    }

    fn may_read_events(&self, roles: RoleSet) -> bool {
        let readers = self.event_roles.get();
        readers.is_none_or(|readers| readers.iter().any(|role| roles.contains(role)))
    }

    fn source(&self, node_id: &NodeId) -> Option<Arc<dyn RemoteSource>> {
        self.has(&self.variables, node_id)
            .then(|| Arc::clone(&self.reader) as _)
    }

    fn aggregates(&self) -> Vec<u32> {
        aggregates()
    }

    fn max_return_data_values(&self) -> u32 {
        MAX_RETURN_DATA_VALUES
    }
}

/// The history of other servers.
struct Forwarding;

impl Historian for Forwarding {
    fn source(&self, _: &NodeId) -> Option<Arc<dyn RemoteSource>> {
        None
    }

    fn aggregates(&self) -> Vec<u32> {
        aggregates()
    }

    fn max_return_data_values(&self) -> u32 {
        MAX_RETURN_DATA_VALUES
    }
}

fn aggregates() -> Vec<u32> {
    Aggregate::ALL.iter().map(|(_, id, _)| *id).collect()
}

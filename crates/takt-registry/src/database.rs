//! Database of the registry, which survives its end in any way: namespaces, Providers, their nodes and references,
//! SecurityGroups and their keys.
//!
//! One `redb` file. Nodes and references are kept as the standard's own structures in UA binary, numbered in the
//! order of their arrival, so that a restart applies them again, parents before children. The changes of a request
//! are on the disk before the client gets the response.
//!
//! * [`journal`]: the thread that writes and commits changes. Nobody else waits for the disk.
//! * [`group_on_its_way`]: a queued SecurityGroup, which later states replace.
//! * [`store`]: the file and its transaction; [`tables`], [`owners`], [`instantiated`], [`push_targets`] and [`records`]: its contents,
//!   which are plain data in [`contents`].
//!
//! All use of `redb` goes through `takt_database`, where a damaged file becomes an error.

mod contents;
mod error;
mod group_on_its_way;
mod instantiated;
mod journal;
#[cfg(test)]
mod journal_tests;
mod owners;
mod push_targets;
mod records;
mod store;
mod tables;
#[cfg(test)]
pub(crate) mod test_disk;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::mpsc;

use redb::WriteTransaction;
use takt_database::DatabaseFile;
use takt_rt::memory_budget::Charge;
use takt_space::Change;
use takt_ua::NodeId;
use takt_ua::structures::PubSubKeyPushTargetDataType;

use crate::names::Owner;
pub(crate) use contents::{
    AddedNamespace, Contents, NewProvider, ProviderRecord, Registration, SecurityGroupRecord,
};
pub use error::DatabaseError;
pub(crate) use group_on_its_way::GroupOnItsWay;
use journal::{Entry, Journal, Rest};
pub(crate) use journal::{Then, Undo};
pub(crate) use records::decode_any;
use store::Store;

/// Additional parts of a change of a client.
pub(crate) struct OfClient {
    /// [`Database::losses`] when the request began.
    pub(crate) losses: u64,
    /// Takes back the change if it is lost.
    pub(crate) undo: Undo,
    /// Memory of the change.
    pub(crate) charge: Charge,
}

/// The registry's database. Changes are handed over to its thread in the order of the calls.
pub(crate) struct Database {
    journal: Journal,
}

impl Database {
    /// Opens the database at `path` and checks all of it, or creates an empty one if there is no file.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        Self::open_file(DatabaseFile::new(tables::kind(), path))
    }

    fn open_file(file: DatabaseFile) -> Result<Self, DatabaseError> {
        if let Some(directory) = file.path().parent() {
            takt_app::prepare_state_directory(directory).map_err(DatabaseError::Directory)?;
        }
        let journal = Journal::start(Store::open(file)?);
        Ok(Self {
            journal: journal.map_err(DatabaseError::Thread)?,
        })
    }

    /// Opens a database on a test's disk.
    #[cfg(test)]
    pub(crate) fn on(disk: &test_disk::TestDisk, path: &Path) -> Self {
        // New files are not created there.
        drop(Self::open(path).unwrap());
        let file = DatabaseFile::new(tables::kind(), path);
        Self::open_file(file.with_opener(disk.opener())).unwrap()
    }

    /// Returns a number that grows whenever changes are lost.
    pub(crate) fn losses(&self) -> u64 {
        self.journal.losses()
    }

    /// Calls `then`, from the thread of the database, when all changes so far are on the disk, or lost. `losses` are the
    /// [`losses`](Self::losses) when the request began whose changes they are.
    pub(crate) fn settle(&self, losses: Option<u64>, then: Then) {
        self.journal.settle(losses, then);
    }

    /// Waits until all changes so far are on the disk. It is an error if a change since the previous call was lost, even
    /// before this call.
    pub(crate) fn settle_now(&self) -> Result<(), DatabaseError> {
        let (send, settled) = mpsc::sync_channel(1);
        let then = move |result| {
            // The receiver waits for it.
            let _ = send.send(result);
        };
        self.settle(None, Box::new(then));
        let settled = settled.recv();
        if let Some(failure) = self.journal.take_failure() {
            return Err(DatabaseError::Commit(failure));
        }
        settled.map_or(Err(DatabaseError::Lost), |result| {
            result.map_err(DatabaseError::Commit)
        })
    }

    /// Makes all changes so far durable, and closes the file. Later changes are refused.
    pub(crate) fn end(&self) {
        self.journal.end();
    }

    /// Reads everything that is on the disk.
    pub(crate) fn load(&self) -> Result<Contents, DatabaseError> {
        self.journal.look(Store::load)
    }

    /// Hands over a change of the registry's own, such as one step of the removal of a Provider: their number is bounded.
    fn enter(
        &self,
        write: impl FnOnce(&WriteTransaction) -> Result<(), DatabaseError> + Send + 'static,
    ) -> Result<(), DatabaseError> {
        let entry = Entry {
            write: Box::new(write),
            rest: Rest::default(),
        };
        self.journal.enter(entry, None)
    }

    /// Hands over a change that `undo` takes back if it is lost. `charge` is the memory of both.
    fn enter_with(
        &self,
        write: impl FnOnce(&WriteTransaction) -> Result<(), DatabaseError> + Send + 'static,
        undo: Undo,
        charge: Charge,
    ) -> Result<(), DatabaseError> {
        let entry = Entry {
            write: Box::new(write),
            rest: Rest {
                undo: Some(undo),
                done: None,
                charge: Some(charge),
            },
        };
        self.journal.enter(entry, None)
    }

    /// Records nodes and references.
    pub(crate) fn record(
        &self,
        registration: Registration,
        of_client: Option<OfClient>,
    ) -> Result<(), DatabaseError> {
        let is_operation = of_client.is_some();
        let write = move |transaction: &WriteTransaction| {
            tables::record(transaction, &registration)?;
            // A client adds one node in an operation; all others are there because a type requires them.
            let required = Change::instantiated(&registration.changes).filter(|_| is_operation);
            for node in required {
                instantiated::add(transaction, node)?;
            }
            Ok(())
        };
        match of_client {
            Some(of_client) => self.enter_of_client(write, of_client),
            None => self.enter(write),
        }
    }

    /// Hands over a change of a client.
    fn enter_of_client(
        &self,
        write: impl FnOnce(&WriteTransaction) -> Result<(), DatabaseError> + Send + 'static,
        of_client: OfClient,
    ) -> Result<(), DatabaseError> {
        let entry = Entry {
            write: Box::new(write),
            rest: Rest {
                undo: Some(of_client.undo),
                done: None,
                charge: Some(of_client.charge),
            },
        };
        self.journal.enter(entry, Some(of_client.losses))
    }

    /// Records the owner of a namespace; `None` frees it.
    pub(crate) fn set_owner(
        &self,
        namespace: u16,
        owner: Option<Owner>,
    ) -> Result<(), DatabaseError> {
        self.enter(move |transaction| owners::set(transaction, namespace, owner.as_ref()))
    }

    /// Records a namespace that a Provider has added beside its own, or that it gets because it belongs to nobody: its URI, the
    /// Provider and the owner at once.
    pub(crate) fn add_namespace(
        &self,
        added: AddedNamespace,
        of_client: OfClient,
    ) -> Result<(), DatabaseError> {
        let write =
            move |transaction: &WriteTransaction| tables::add_namespace(transaction, &added);
        self.enter_of_client(write, of_client)
    }

    /// Removes the URIs and owners of these namespaces, so that their indexes can be reused.
    pub(crate) fn free_namespaces(&self, namespaces: Vec<u16>) -> Result<(), DatabaseError> {
        self.enter(move |transaction| tables::free_namespaces(transaction, &namespaces))
    }

    /// Removes a Provider's record. Its nodes are deleted separately; its namespace stays.
    pub(crate) fn remove_provider(&self, name: &str) -> Result<(), DatabaseError> {
        let name = name.to_owned();
        self.enter(move |transaction| tables::remove_provider(transaction, &name))
    }

    /// Deletes up to `most` nodes of some namespaces, with their references. The thread of the database calls `deleted` with
    /// these nodes, then `done` when the deletion is on the disk, or `undo` if it is lost.
    pub(crate) fn delete_some(
        &self,
        namespaces: Vec<u16>,
        most: usize,
        deleted: impl FnOnce(Vec<NodeId>) + Send + 'static,
        done: impl FnOnce() + Send + 'static,
        undo: impl FnOnce() + Send + 'static,
    ) -> Result<(), DatabaseError> {
        let write = move |transaction: &WriteTransaction| {
            deleted(tables::delete_some(transaction, &namespaces, most)?);
            Ok(())
        };
        let entry = Entry {
            write: Box::new(write),
            rest: Rest {
                undo: Some(Box::new(undo)),
                done: Some(Box::new(done)),
                // A removal has one such change at a time, and its Provider was charged when it registered.
                charge: None,
            },
        };
        self.journal.enter(entry, None)
    }

    /// Stores the present state of a SecurityGroup, and the highest token of all groups so far. The returned state can be
    /// replaced until it is written; `charge` is the memory of the largest one, and of `undo`.
    pub(crate) fn keep_security_group(
        &self,
        record: SecurityGroupRecord,
        last_token: u32,
        undo: Undo,
        charge: Charge,
    ) -> Result<GroupOnItsWay, DatabaseError> {
        let kept = GroupOnItsWay::new(record, last_token);
        let written = kept.clone();
        let write = move |transaction: &WriteTransaction| match written.take() {
            Some((record, last_token)) => {
                tables::keep_security_group(transaction, &record, last_token)
            }
            None => Ok(()),
        };
        self.enter_with(write, undo, charge)?;
        Ok(kept)
    }

    /// Stores the present state of a push target; `None` removes it.
    pub(crate) fn keep_push_target(
        &self,
        application_uri: &str,
        target: Option<PubSubKeyPushTargetDataType>,
        undo: Undo,
        charge: Charge,
    ) -> Result<(), DatabaseError> {
        let uri = application_uri.to_owned();
        let write = move |transaction: &WriteTransaction| {
            push_targets::set(transaction, &uri, target.as_ref())
        };
        self.enter_with(write, undo, charge)
    }

    /// Removes a SecurityGroup.
    pub(crate) fn remove_security_group(
        &self,
        name: &str,
        undo: Undo,
        charge: Charge,
    ) -> Result<(), DatabaseError> {
        let name = name.to_owned();
        let write =
            move |transaction: &WriteTransaction| tables::remove_security_group(transaction, &name);
        self.enter_with(write, undo, charge)
    }
}

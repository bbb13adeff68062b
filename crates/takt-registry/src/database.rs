//! Database of the registry, which survives its end in any way: namespaces, Providers, their nodes and references,
//! SecurityGroups and their keys.
//!
//! One `redb` file. Nodes and references are kept as the standard's own structures in UA binary, numbered in the
//! order of their arrival, so that a restart applies them again, parents before children. The changes of a request
//! are on the disk before the client gets the response: they are one transaction, which begins with the first change
//! and is committed when it is settled.
//!
//! All use of `redb` goes through [`file`], where a damaged file becomes an error.

mod file;
mod owners;
mod records;
mod tables;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use redb::WriteTransaction;
use takt_app::StateDirectoryError;
use takt_space::Change;
use takt_ua::structures::SecurityGroupDataType;
use takt_ua::{DateTime, NodeId};
use zeroize::Zeroizing;

use crate::names::Owner;
pub(crate) use records::decode_any;
use tables::FORMAT;

/// Error of a database that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The folder of the database is not safe to use, or cannot be created.
    #[error(transparent)]
    Directory(StateDirectoryError),
    /// Another registry has opened the database.
    #[error("the database {} is in use by another registry", path.display())]
    InUse {
        /// Path of the database.
        path: PathBuf,
    },
    /// The file is empty: it was truncated, or its contents were lost.
    #[error("the database {} is empty (0 bytes): all registrations are lost", path.display())]
    Empty {
        /// Path of the database.
        path: PathBuf,
    },
    /// The file is not a database, or parts of it were changed.
    #[error("the database {} is damaged: {reason}", path.display())]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// Description of the error.
        reason: String,
    },
    /// The file was written by a version with another layout.
    #[error("the database {} has format {found}, this version reads format {FORMAT}", path.display())]
    Format {
        /// Path of the database.
        path: PathBuf,
        /// The format in the file.
        found: u64,
    },
    /// A record cannot be decoded, or contradicts the others.
    #[error(
        "the database is damaged: the record of {record} in the table `{table}` cannot be read: {reason}"
    )]
    Record {
        /// The table.
        table: &'static str,
        /// Subject of the record: a NodeId, or a name.
        record: String,
        /// Description of the error.
        reason: String,
    },
    /// The storage failed: a full disk, for example.
    #[error("the database failed: {0}")]
    Storage(Box<redb::Error>),
}

impl<E: Into<redb::Error>> From<E> for DatabaseError {
    fn from(error: E) -> Self {
        Self::Storage(Box::new(error.into()))
    }
}

/// Permanent record of a Provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderRecord {
    /// ApplicationName of the Provider.
    pub(crate) name: String,
    /// The Unix user that registered it over shared memory.
    pub(crate) user: Option<u32>,
    /// SHA-256 of the secret that was issued to it over `opc.tcp`; empty if there is none.
    pub(crate) secret_digest: Vec<u8>,
}

/// A Provider that is recorded for the first time.
pub(crate) struct NewProvider<'a> {
    pub(crate) record: &'a ProviderRecord,
    /// Index of its namespace.
    pub(crate) namespace: u16,
    /// URI of its namespace.
    pub(crate) uri: &'a str,
    /// Owner that is charged with the namespace.
    pub(crate) charged: &'a Owner,
}

/// A SecurityGroup with its keys.
#[derive(Clone)]
pub(crate) struct SecurityGroupRecord {
    /// Configuration without folders, permissions and properties.
    pub(crate) configuration: SecurityGroupDataType,
    /// The Unix user that added it.
    pub(crate) user: u32,
    /// SecurityTokenId of the first key.
    pub(crate) first_token_id: u32,
    /// SecurityTokenId of the current key.
    pub(crate) current_token_id: u32,
    /// Time at which the next key becomes current.
    pub(crate) next_key_at: DateTime,
    /// Concatenated key data of all tokens.
    pub(crate) key_data: Zeroizing<Vec<u8>>,
}

/// Contents of the database.
#[derive(Default)]
pub(crate) struct Contents {
    /// Index and URI of each namespace.
    pub(crate) namespaces: Vec<(u16, String)>,
    /// Owner of each namespace of a Provider.
    pub(crate) owners: Vec<(u16, Owner)>,
    /// The Providers.
    pub(crate) providers: Vec<ProviderRecord>,
    /// Owner and change, in the order in which they were recorded.
    pub(crate) changes: Vec<(String, Change)>,
    /// The SecurityGroups.
    pub(crate) security_groups: Vec<SecurityGroupRecord>,
    /// The highest token that any SecurityGroup ever had.
    pub(crate) last_token: u32,
}

/// The registry's database.
pub(crate) struct Database {
    path: PathBuf,
    /// The open file; `None` after a failure: the next use opens the file again in its last settled state.
    open: Mutex<Option<Open>>,
}

/// The open file.
struct Open {
    /// Recorded changes that are not settled. The field precedes the file, because it has to be dropped first.
    unsettled: Option<WriteTransaction>,
    redb: redb::Database,
}

impl Open {
    fn transaction(&mut self) -> Result<&WriteTransaction, DatabaseError> {
        let transaction = match self.unsettled.take() {
            Some(transaction) => transaction,
            None => self.redb.begin_write()?,
        };
        Ok(self.unsettled.insert(transaction))
    }
}

impl Database {
    /// Opens the database at `path` and checks all of it, or creates an empty one if there is no file.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        if let Some(directory) = path.parent() {
            takt_app::prepare_state_directory(directory).map_err(DatabaseError::Directory)?;
        }
        let redb = file::open_or_make(path)?;
        Ok(Self {
            path: path.to_owned(),
            open: Mutex::new(Some(Open {
                unsettled: None,
                redb,
            })),
        })
    }

    /// Runs `use_it` with the open database. After a failure the file is closed, and unsettled changes are lost.
    fn with<R>(
        &self,
        use_it: impl FnOnce(&mut Open) -> Result<R, DatabaseError>,
    ) -> Result<R, DatabaseError> {
        let mut place = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = match place.take() {
            Some(open) => open,
            None => Open {
                unsettled: None,
                redb: file::open_again(&self.path)?,
            },
        };
        match file::guarded(&self.path, || use_it(&mut open)) {
            Ok(result) => {
                *place = Some(open);
                Ok(result)
            }
            Err(error) => {
                // Closing the file may find the same damage.
                let closed = file::guarded(&self.path, || {
                    drop(open);
                    Ok(())
                });
                if let Err(error) = closed {
                    tracing::error!(%error, "the database could not be closed");
                }
                Err(error)
            }
        }
    }

    /// Waits until all recorded changes are on the disk.
    pub(crate) fn settle(&self) -> Result<(), DatabaseError> {
        self.with(|open| match open.unsettled.take() {
            Some(transaction) => Ok(transaction.commit()?),
            None => Ok(()),
        })
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<Contents, DatabaseError> {
        self.with(|open| tables::load(&open.redb))
    }

    /// Records changes of `owner`, with its own record if it is new: all of them or none. They are durable after
    /// [`settle`](Self::settle).
    pub(crate) fn record(
        &self,
        owner: &str,
        newcomer: Option<&NewProvider<'_>>,
        changes: &[Change],
    ) -> Result<(), DatabaseError> {
        self.with(|open| tables::record(open.transaction()?, owner, newcomer, changes))
    }

    /// Records the owner of a namespace; `None` frees it.
    pub(crate) fn set_owner(
        &self,
        namespace: u16,
        owner: Option<&Owner>,
    ) -> Result<(), DatabaseError> {
        self.with(|open| owners::set(open.transaction()?, namespace, owner))
    }

    /// Removes the URIs of these namespaces, so that their indexes can be reused.
    pub(crate) fn free_namespaces(&self, namespaces: &[u16]) -> Result<(), DatabaseError> {
        self.with(|open| tables::free_namespaces(open.transaction()?, namespaces))
    }

    /// Removes a Provider's record. Its nodes are deleted separately; its namespace stays.
    pub(crate) fn remove_provider(&self, name: &str) -> Result<(), DatabaseError> {
        self.with(|open| tables::remove_provider(open.transaction()?, name))
    }

    /// Deletes up to `most` nodes of a namespace, with their references, and returns them.
    pub(crate) fn delete_some(
        &self,
        namespace: u16,
        most: usize,
    ) -> Result<Vec<NodeId>, DatabaseError> {
        self.with(|open| tables::delete_some(open.transaction()?, namespace, most))
    }

    /// Stores the present state of a SecurityGroup, and the highest token of all groups so far.
    pub(crate) fn keep_security_group(
        &self,
        record: &SecurityGroupRecord,
        last_token: u32,
    ) -> Result<(), DatabaseError> {
        self.with(|open| tables::keep_security_group(open.transaction()?, record, last_token))
    }

    /// Removes a SecurityGroup.
    pub(crate) fn remove_security_group(&self, name: &str) -> Result<(), DatabaseError> {
        self.with(|open| tables::remove_security_group(open.transaction()?, name))
    }
}

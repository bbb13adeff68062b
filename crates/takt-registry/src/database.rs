//! What the registry must still know after it was ended in any way: namespaces, Providers, their nodes and
//! references, SecurityGroups and their keys.
//!
//! One `redb` file. Nodes and references are kept as the standard's own structures in UA binary, numbered in the order
//! of their arrival, so that a restart applies them again, parents before children. What one request changes is on the
//! disk before its client hears of it: one transaction, which begins with the first change and is committed when it
//! is settled.
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
use takt_ua::DateTime;
use takt_ua::structures::SecurityGroupDataType;
use zeroize::Zeroizing;

use crate::names::Owner;
pub(crate) use records::decode_any;
use tables::FORMAT;

/// The database could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The folder of the database is not safe to use, or cannot be made.
    #[error(transparent)]
    Directory(StateDirectoryError),
    /// Another registry has it open.
    #[error("the database {} is in use by another registry", path.display())]
    InUse {
        /// The database's path.
        path: PathBuf,
    },
    /// The file is there and has no content: it was truncated, or its content was lost.
    #[error("the database {} is empty (0 bytes): what was registered is lost", path.display())]
    Empty {
        /// The database's path.
        path: PathBuf,
    },
    /// The file is no database, or parts of it are not what was written.
    #[error("the database {} is damaged: {reason}", path.display())]
    Damaged {
        /// The database's path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a version with another layout.
    #[error("the database {} has format {found}, this version reads format {FORMAT}", path.display())]
    Format {
        /// The database's path.
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
        /// What the record is about: a NodeId, or a name.
        record: String,
        /// What is wrong with it.
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

/// A Provider as it is known for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderRecord {
    /// Its ApplicationName.
    pub(crate) name: String,
    /// The Unix user that registered it over shared memory.
    pub(crate) user: Option<u32>,
    /// SHA-256 of the secret that was issued to it over `opc.tcp`; empty without.
    pub(crate) secret_digest: Vec<u8>,
}

/// A Provider that is recorded for the first time.
pub(crate) struct NewProvider<'a> {
    pub(crate) record: &'a ProviderRecord,
    /// The index of its namespace.
    pub(crate) namespace: u16,
    /// The URI of its namespace.
    pub(crate) uri: &'a str,
    /// Who is charged with the namespace.
    pub(crate) charged: &'a Owner,
}

/// A SecurityGroup with its keys.
#[derive(Clone)]
pub(crate) struct SecurityGroupRecord {
    /// What it is; without folders, permissions and properties.
    pub(crate) configuration: SecurityGroupDataType,
    /// The Unix user that added it.
    pub(crate) user: u32,
    /// The token of the first key.
    pub(crate) first_token_id: u32,
    /// The token that is current.
    pub(crate) current_token_id: u32,
    /// When the next one will be.
    pub(crate) next_key_at: DateTime,
    /// The key data of all tokens, one behind the other.
    pub(crate) key_data: Zeroizing<Vec<u8>>,
}

/// Everything in the database.
#[derive(Default)]
pub(crate) struct Contents {
    /// Index and URI of each namespace.
    pub(crate) namespaces: Vec<(u16, String)>,
    /// Whose each namespace of a Provider is.
    pub(crate) owners: Vec<(u16, Owner)>,
    /// The Providers.
    pub(crate) providers: Vec<ProviderRecord>,
    /// Owner and change, in the order in which they were made.
    pub(crate) changes: Vec<(String, Change)>,
    /// The SecurityGroups.
    pub(crate) security_groups: Vec<SecurityGroupRecord>,
    /// The highest token that any SecurityGroup ever had.
    pub(crate) last_token: u32,
}

/// The registry's database.
pub(crate) struct Database {
    path: PathBuf,
    /// `None` after a failure: the next use opens the file again, as it was when it was last settled.
    open: Mutex<Option<Open>>,
}

/// The open file.
struct Open {
    /// What has been recorded and is not settled. Before the file, which it needs.
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
    /// Opens the database at `path` and checks all of it, or makes an empty one where no file is.
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

    /// Runs `use_it` with the open database. After a failure the file is closed: whatever was not settled is gone.
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
                // Closing it may meet the same damage.
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

    /// Waits until everything that was recorded is on the disk.
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

    /// Records changes of `owner`, with its own record where it is new: all of it or nothing. It is durable after
    /// [`settle`](Self::settle).
    pub(crate) fn record(
        &self,
        owner: &str,
        newcomer: Option<&NewProvider<'_>>,
        changes: &[Change],
    ) -> Result<(), DatabaseError> {
        self.with(|open| tables::record(open.transaction()?, owner, newcomer, changes))
    }

    /// Records whose a namespace is; `None` frees it.
    pub(crate) fn set_owner(
        &self,
        namespace: u16,
        owner: Option<&Owner>,
    ) -> Result<(), DatabaseError> {
        self.with(|open| owners::set(open.transaction()?, namespace, owner))
    }

    /// Takes the URIs away from these namespaces, so that their indices can stand for others.
    pub(crate) fn free_namespaces(&self, namespaces: &[u16]) -> Result<(), DatabaseError> {
        self.with(|open| tables::free_namespaces(open.transaction()?, namespaces))
    }

    /// Removes a Provider's record. Its nodes are deleted as nodes are; its namespace stays.
    pub(crate) fn remove_provider(&self, name: &str) -> Result<(), DatabaseError> {
        self.with(|open| tables::remove_provider(open.transaction()?, name))
    }

    /// Keeps a SecurityGroup as it is now, and the highest token that any ever had.
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

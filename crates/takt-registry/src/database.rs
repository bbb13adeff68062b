//! What the registry must still know after it was ended in any way: namespaces, Providers, their nodes and
//! references, SecurityGroups and their keys.
//!
//! One `redb` file. Nodes and references are kept as the standard's own structures in UA binary, numbered in the order
//! of their arrival, so that a restart applies them again, parents before children. What one request changes is on the
//! disk before its client hears of it: one transaction, which begins with the first change and is committed when it is settled.

mod tables;

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use redb::WriteTransaction;
use takt_services::Change;
use takt_ua::DateTime;
use takt_ua::structures::SecurityGroupDataType;
use zeroize::Zeroizing;

use tables::FORMAT;

/// The database could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The directory could not be made.
    #[error("cannot make the directory of the database {path}: {source}")]
    Directory {
        /// The database's path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another registry has it open.
    #[error("the database {path} is in use by another registry")]
    InUse {
        /// The database's path.
        path: PathBuf,
    },
    /// The file was written by a version with another layout.
    #[error("the database {path} has format {found}, this version reads format {FORMAT}")]
    Format {
        /// The database's path.
        path: PathBuf,
        /// The format in the file.
        found: u64,
    },
    /// A record cannot be understood.
    #[error("the database holds a record that cannot be decoded: {0}")]
    Corrupt(takt_ua::binary::DecodeError),
    /// The storage failed: a full disk, for example.
    #[error("the database failed: {0}")]
    Storage(Box<redb::Error>),
}

impl DatabaseError {
    fn corrupt(error: takt_ua::binary::DecodeError) -> Self {
        Self::Corrupt(error)
    }
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
    /// Opens the database at `path`, or makes an empty one.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(|source| DatabaseError::Directory {
                path: path.to_owned(),
                source,
            })?;
        }
        let redb = open_file(path)?;
        let transaction = redb.begin_write()?;
        let found = tables::make(&transaction)?;
        if found != FORMAT {
            return Err(DatabaseError::Format {
                path: path.to_owned(),
                found,
            });
        }
        transaction.commit()?;
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
                redb: open_file(&self.path)?,
            },
        };
        let result = use_it(&mut open)?;
        *place = Some(open);
        Ok(result)
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
        newcomer: Option<&ProviderRecord>,
        changes: &[Change],
    ) -> Result<(), DatabaseError> {
        self.with(|open| tables::record(open.transaction()?, owner, newcomer, changes))
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

/// The file is for this user alone: keys are in it.
fn open_file(path: &Path) -> Result<redb::Database, DatabaseError> {
    let made = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    made.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)))
        .map_err(redb::Error::Io)?;
    redb::Database::create(path).map_err(|error| match error {
        redb::DatabaseError::DatabaseAlreadyOpen => DatabaseError::InUse {
            path: path.to_owned(),
        },
        error => error.into(),
    })
}

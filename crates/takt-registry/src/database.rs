//! What the registry must still know after it was ended in any way: namespaces, Providers, their nodes and references.
//!
//! One `redb` file. Nodes and references are kept as the standard's own structures in UA binary, numbered in the order
//! of their arrival, so that a restart applies them again, parents before children. What one request changes is on the
//! disk before its client hears of it: one transaction, which begins with the first change and is committed when it is settled.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use redb::{
    MultimapTableDefinition, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use takt_services::Change;
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::structures::{AddNodesItem, AddReferencesItem, DeleteReferencesItem};
use takt_ua::{ExpandedNodeId, NodeId};

/// The layout of the tables below; another number in the file is refused.
const FORMAT: u64 = 1;

const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const NAMESPACES: TableDefinition<u16, &str> = TableDefinition::new("namespaces");
/// ApplicationName → Unix user, or `NOBODY`; digest of the secret, or empty.
const PROVIDERS: TableDefinition<&str, (u32, &[u8])> = TableDefinition::new("providers");
/// Number → owner, AddNodesItem.
const NODES: TableDefinition<u64, (&str, &[u8])> = TableDefinition::new("nodes");
const NUMBER_OF_NODE: TableDefinition<&[u8], u64> = TableDefinition::new("number of node");
/// Number → owner, ADDED or DELETED, AddReferencesItem or DeleteReferencesItem.
const REFERENCES: TableDefinition<u64, (&str, u8, &[u8])> = TableDefinition::new("references");
/// Node at either end → numbers in `REFERENCES`.
const REFERENCES_OF: MultimapTableDefinition<&[u8], u64> =
    MultimapTableDefinition::new("references of node");

const ADDED: u8 = 0;
const DELETED: u8 = 1;
/// A Provider that no Unix user vouches for.
const NOBODY: u32 = u32::MAX;

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

/// Everything in the database.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Index and URI of each namespace.
    pub(crate) namespaces: Vec<(u16, String)>,
    /// The Providers.
    pub(crate) providers: Vec<ProviderRecord>,
    /// Owner and change, in the order in which they were made.
    pub(crate) changes: Vec<(String, Change)>,
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
        let found = {
            let mut meta = transaction.open_table(META)?;
            let found = meta.get("format")?.map(|format| format.value());
            if found.is_none() {
                meta.insert("format", FORMAT)?;
            }
            // Every table exists from now on, so that reading needs no special case.
            transaction.open_table(NAMESPACES)?;
            transaction.open_table(PROVIDERS)?;
            transaction.open_table(NODES)?;
            transaction.open_table(NUMBER_OF_NODE)?;
            transaction.open_table(REFERENCES)?;
            transaction.open_multimap_table(REFERENCES_OF)?;
            found.unwrap_or(FORMAT)
        };
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
        self.with(|open| load(&open.redb))
    }

    /// Records changes of `owner`, with its own record where it is new: all of it or nothing. It is durable after
    /// [`settle`](Self::settle).
    pub(crate) fn record(
        &self,
        owner: &str,
        newcomer: Option<&ProviderRecord>,
        changes: &[Change],
    ) -> Result<(), DatabaseError> {
        self.with(|open| record(open.transaction()?, owner, newcomer, changes))
    }

    /// Removes a Provider's record. Its nodes are deleted as nodes are; its namespace stays.
    pub(crate) fn remove_provider(&self, name: &str) -> Result<(), DatabaseError> {
        self.with(|open| {
            open.transaction()?.open_table(PROVIDERS)?.remove(name)?;
            Ok(())
        })
    }
}

fn open_file(path: &Path) -> Result<redb::Database, DatabaseError> {
    redb::Database::create(path).map_err(|error| match error {
        redb::DatabaseError::DatabaseAlreadyOpen => DatabaseError::InUse {
            path: path.to_owned(),
        },
        error => error.into(),
    })
}

fn load(redb: &redb::Database) -> Result<Contents, DatabaseError> {
    let transaction = redb.begin_read()?;
    let mut contents = Contents::default();
    for row in transaction.open_table(NAMESPACES)?.iter()? {
        let (index, uri) = row?;
        contents
            .namespaces
            .push((index.value(), uri.value().to_owned()));
    }
    for row in transaction.open_table(PROVIDERS)?.iter()? {
        let (name, record) = row?;
        let (user, secret_digest) = record.value();
        contents.providers.push(ProviderRecord {
            name: name.value().to_owned(),
            user: (user != NOBODY).then_some(user),
            secret_digest: secret_digest.to_vec(),
        });
    }
    let mut numbered = Vec::new();
    for row in transaction.open_table(NODES)?.iter()? {
        let (number, node) = row?;
        let (owner, item) = node.value();
        let item = AddNodesItem::decode(&mut Decoder::new(item)).map_err(DatabaseError::corrupt)?;
        numbered.push((
            number.value(),
            owner.to_owned(),
            Change::AddNode(Box::new(item)),
        ));
    }
    for row in transaction.open_table(REFERENCES)?.iter()? {
        let (number, reference) = row?;
        let (owner, kind, item) = reference.value();
        let mut decoder = Decoder::new(item);
        let change = match kind {
            ADDED => Change::AddReference(
                AddReferencesItem::decode(&mut decoder).map_err(DatabaseError::corrupt)?,
            ),
            _ => Change::DeleteReference(
                DeleteReferencesItem::decode(&mut decoder).map_err(DatabaseError::corrupt)?,
            ),
        };
        numbered.push((number.value(), owner.to_owned(), change));
    }
    numbered.sort_by_key(|(number, ..)| *number);
    contents.changes = numbered
        .into_iter()
        .map(|(_, owner, change)| (owner, change))
        .collect();
    Ok(contents)
}

fn record(
    transaction: &WriteTransaction,
    owner: &str,
    newcomer: Option<&ProviderRecord>,
    changes: &[Change],
) -> Result<(), DatabaseError> {
    if let Some(record) = newcomer {
        transaction.open_table(PROVIDERS)?.insert(
            record.name.as_str(),
            (
                record.user.unwrap_or(NOBODY),
                record.secret_digest.as_slice(),
            ),
        )?;
    }
    let mut number = next_number(transaction)?;
    for change in changes {
        match change {
            Change::AddNamespace { index, uri } => {
                transaction
                    .open_table(NAMESPACES)?
                    .insert(index, uri.as_str())?;
            }
            Change::AddNode(item) => {
                number += 1;
                let node = key(&item.requested_new_node_id.node_id);
                transaction
                    .open_table(NODES)?
                    .insert(number, (owner, item.encode_to_vec().as_slice()))?;
                transaction
                    .open_table(NUMBER_OF_NODE)?
                    .insert(node.as_slice(), number)?;
            }
            Change::DeleteNode(item) => delete_node(transaction, &item.node_id)?,
            Change::AddReference(item) => {
                number += 1;
                let ends = [&item.source_node_id, local(&item.target_node_id)];
                add_reference(
                    transaction,
                    number,
                    owner,
                    ADDED,
                    &item.encode_to_vec(),
                    ends,
                )?;
            }
            Change::DeleteReference(item) => {
                number += 1;
                let ends = [&item.source_node_id, local(&item.target_node_id)];
                // Kept beside what it deletes: the reference may be one that came with a node.
                add_reference(
                    transaction,
                    number,
                    owner,
                    DELETED,
                    &item.encode_to_vec(),
                    ends,
                )?;
            }
        }
    }
    transaction.open_table(META)?.insert("number", number)?;
    Ok(())
}

fn next_number(transaction: &WriteTransaction) -> Result<u64, DatabaseError> {
    let meta = transaction.open_table(META)?;
    let number = meta.get("number")?.map_or(0, |number| number.value());
    Ok(number)
}

fn add_reference(
    transaction: &WriteTransaction,
    number: u64,
    owner: &str,
    kind: u8,
    item: &[u8],
    ends: [&NodeId; 2],
) -> Result<(), DatabaseError> {
    transaction
        .open_table(REFERENCES)?
        .insert(number, (owner, kind, item))?;
    let mut references_of = transaction.open_multimap_table(REFERENCES_OF)?;
    for end in ends {
        references_of.insert(key(end).as_slice(), number)?;
    }
    Ok(())
}

fn delete_node(transaction: &WriteTransaction, node: &NodeId) -> Result<(), DatabaseError> {
    let key = key(node);
    let mut number_of_node = transaction.open_table(NUMBER_OF_NODE)?;
    if let Some(number) = number_of_node.remove(key.as_slice())? {
        transaction.open_table(NODES)?.remove(number.value())?;
    }
    let mut references = transaction.open_table(REFERENCES)?;
    let mut references_of = transaction.open_multimap_table(REFERENCES_OF)?;
    let numbers: Vec<u64> = references_of
        .remove_all(key.as_slice())?
        .map(|number| Ok(number?.value()))
        .collect::<Result<_, DatabaseError>>()?;
    for number in numbers {
        let Some((kind, item)) = references
            .remove(number)?
            .map(|reference| (reference.value().1, reference.value().2.to_vec()))
        else {
            continue;
        };
        let (source, target) = ends(kind, &item)?;
        for end in [source, target] {
            references_of.remove(self::key(&end).as_slice(), number)?;
        }
    }
    Ok(())
}

/// The nodes at the ends of a reference that `REFERENCES` holds.
fn ends(kind: u8, item: &[u8]) -> Result<(NodeId, NodeId), DatabaseError> {
    let mut decoder = Decoder::new(item);
    Ok(match kind {
        ADDED => {
            let item = AddReferencesItem::decode(&mut decoder).map_err(DatabaseError::corrupt)?;
            (item.source_node_id, item.target_node_id.node_id)
        }
        _ => {
            let item =
                DeleteReferencesItem::decode(&mut decoder).map_err(DatabaseError::corrupt)?;
            (item.source_node_id, item.target_node_id.node_id)
        }
    })
}

fn key(node: &NodeId) -> Vec<u8> {
    node.encode_to_vec()
}

fn local(node: &ExpandedNodeId) -> &NodeId {
    &node.node_id
}

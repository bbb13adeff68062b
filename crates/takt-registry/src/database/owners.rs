//! Owners of namespaces in the database.

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use super::error::DatabaseError;
use super::records::NOBODY;
use crate::names::Owner;

/// Table: index of a namespace → Unix user, or `NOBODY`; IP address, or empty.
const OWNERS: TableDefinition<u16, (u32, &str)> = TableDefinition::new("owners of namespaces");

/// Creates the table if it is missing.
pub(super) fn make(transaction: &WriteTransaction) -> Result<(), DatabaseError> {
    transaction.open_table(OWNERS)?;
    Ok(())
}

/// Records the owner of a namespace; `None` frees it.
pub(super) fn set(
    transaction: &WriteTransaction,
    namespace: u16,
    owner: Option<&Owner>,
) -> Result<(), DatabaseError> {
    let mut owners = transaction.open_table(OWNERS)?;
    match owner {
        Some(Owner::User(user)) => owners.insert(namespace, (*user, ""))?,
        Some(Owner::Address(address)) => {
            owners.insert(namespace, (NOBODY, address.to_string().as_str()))?
        }
        None => owners.remove(namespace)?,
    };
    Ok(())
}

/// Reads all owners.
pub(super) fn load(transaction: &ReadTransaction) -> Result<Vec<(u16, Owner)>, DatabaseError> {
    let mut owners = Vec::new();
    for row in transaction.open_table(OWNERS)?.iter()? {
        let (namespace, owner) = row?;
        let namespace = namespace.value();
        let owner = match owner.value() {
            (NOBODY, address) => {
                Owner::Address(address.parse().map_err(|_| DatabaseError::Record {
                    table: "owners of namespaces",
                    record: format!("namespace {namespace}"),
                    reason: format!("`{address}` is not an IP address"),
                })?)
            }
            (user, _) => Owner::User(user),
        };
        owners.push((namespace, owner));
    }
    Ok(owners)
}

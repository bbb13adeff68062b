//! Owners of namespaces in the database.

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use super::error::DatabaseError;
use super::records::NOBODY;
use crate::names::Owner;

/// Table: index of a namespace → Unix user, or `NOBODY`; IP address, or empty.
const OWNERS: TableDefinition<u16, (u32, &str)> = TableDefinition::new("owners of namespaces");

/// Table: index of a namespace → name of the Provider that has added it beside its own; empty once that one is forgotten.
const ADDITIONAL: TableDefinition<u16, &str> = TableDefinition::new("additional namespaces");

/// Creates the tables if they are missing.
pub(super) fn make(transaction: &WriteTransaction) -> Result<(), DatabaseError> {
    transaction.open_table(OWNERS)?;
    transaction.open_table(ADDITIONAL)?;
    Ok(())
}

/// Records the Provider that has added a namespace beside its own.
pub(super) fn set_additional(
    transaction: &WriteTransaction,
    namespace: u16,
    provider: &str,
) -> Result<(), DatabaseError> {
    transaction
        .open_table(ADDITIONAL)?
        .insert(namespace, provider)?;
    Ok(())
}

/// Reads the namespaces that Providers have added beside their own.
pub(super) fn load_additional(
    transaction: &ReadTransaction,
) -> Result<Vec<(u16, String)>, DatabaseError> {
    let table = transaction.open_table(ADDITIONAL)?;
    let mut additional = Vec::new();
    for row in table.iter()? {
        let (namespace, provider) = row?;
        additional.push((namespace.value(), provider.value().to_owned()));
    }
    Ok(additional)
}

/// Removes all that is recorded of the owner of a namespace.
pub(super) fn remove(transaction: &WriteTransaction, namespace: u16) -> Result<(), DatabaseError> {
    transaction.open_table(OWNERS)?.remove(namespace)?;
    transaction.open_table(ADDITIONAL)?.remove(namespace)?;
    Ok(())
}

/// Records the owner of a namespace; `None` frees it, and then one that a Provider has added belongs to nobody.
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
        None => {
            let mut additional = transaction.open_table(ADDITIONAL)?;
            if additional.get(namespace)?.is_some() {
                additional.insert(namespace, "")?;
            }
            owners.remove(namespace)?
        }
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

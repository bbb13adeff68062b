//! Push targets in the database.

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use takt_ua::binary::Encode;
use takt_ua::structures::PubSubKeyPushTargetDataType;

use super::error::DatabaseError;
use super::records::decode;

/// Table: ApplicationUri → PubSubKeyPushTargetDataType.
const PUSH_TARGETS: TableDefinition<&str, &[u8]> = TableDefinition::new("push targets");

/// Creates the table if it is missing.
pub(super) fn make(transaction: &WriteTransaction) -> Result<(), DatabaseError> {
    transaction.open_table(PUSH_TARGETS)?;
    Ok(())
}

/// Records a push target; `None` removes it.
pub(super) fn set(
    transaction: &WriteTransaction,
    application_uri: &str,
    target: Option<&PubSubKeyPushTargetDataType>,
) -> Result<(), DatabaseError> {
    let mut targets = transaction.open_table(PUSH_TARGETS)?;
    match target {
        Some(target) => targets.insert(application_uri, target.encode_to_vec().as_slice())?,
        None => targets.remove(application_uri)?,
    };
    Ok(())
}

/// Reads all push targets.
pub(super) fn load(
    transaction: &ReadTransaction,
) -> Result<Vec<PubSubKeyPushTargetDataType>, DatabaseError> {
    let mut targets = Vec::new();
    for row in transaction.open_table(PUSH_TARGETS)?.iter()? {
        let (uri, target) = row?;
        let target = decode(target.value());
        targets.push(
            target.map_err(|error| {
                error.of("push targets", format!("push target {}", uri.value()))
            })?,
        );
    }
    Ok(targets)
}

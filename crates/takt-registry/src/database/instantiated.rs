//! Nodes in the database that were added only because the type of their parent requires them. A client may add such a node itself
//! afterwards, also after a restart.

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use takt_ua::NodeId;
use takt_ua::binary::Encode;

use super::error::DatabaseError;
use super::records::decode;

/// Table: the nodes.
const INSTANTIATED: TableDefinition<&[u8], ()> = TableDefinition::new("instantiated nodes");

/// Creates the table if it is missing.
pub(super) fn make(transaction: &WriteTransaction) -> Result<(), DatabaseError> {
    transaction.open_table(INSTANTIATED)?;
    Ok(())
}

/// Records one of these nodes.
pub(super) fn add(transaction: &WriteTransaction, node: &NodeId) -> Result<(), DatabaseError> {
    let mut table = transaction.open_table(INSTANTIATED)?;
    table.insert(node.encode_to_vec().as_slice(), ())?;
    Ok(())
}

/// Removes a node, which need not be one of them. `key` is its encoding.
pub(super) fn remove(transaction: &WriteTransaction, key: &[u8]) -> Result<(), DatabaseError> {
    transaction.open_table(INSTANTIATED)?.remove(key)?;
    Ok(())
}

/// Reads all of these nodes.
pub(super) fn load(transaction: &ReadTransaction) -> Result<Vec<NodeId>, DatabaseError> {
    let mut nodes = Vec::new();
    for row in transaction.open_table(INSTANTIATED)?.iter()? {
        let (key, ()) = row.map(|(key, _)| (key, ()))?;
        let node = decode::<NodeId>(key.value());
        nodes.push(
            node.map_err(|error| error.of("instantiated nodes", format!("{:02x?}", key.value())))?,
        );
    }
    Ok(nodes)
}

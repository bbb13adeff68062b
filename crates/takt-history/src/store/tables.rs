//! Tables of the file, and the blocks in them.

use redb::TableDefinition;

use crate::block::{Block, BlockEncoder, BlockError};
use crate::record::HistoryRecord;

/// Blocks by Variable and time of the first record.
pub(super) const BLOCKS: TableDefinition<'static, (u32, i64), &[u8]> =
    TableDefinition::new("blocks");

/// Keys of Variables by their names.
pub(super) const VARIABLES: TableDefinition<'static, &str, u32> = TableDefinition::new("variables");

/// Sizes of Variables.
pub(super) const SIZES: TableDefinition<'static, u32, u64> = TableDefinition::new("sizes");

/// Boot of the system, time since it in milliseconds, and the time from which ages count then.
pub(super) const AGE: TableDefinition<'static, (), (&str, u64, i64)> = TableDefinition::new("age");

/// NamespaceArray by which the NodeIds in records are meant.
pub(super) const NAMESPACES: TableDefinition<'static, u16, &str> =
    TableDefinition::new("namespaces");

/// Format of the file.
pub(super) const FORMAT_TABLE: TableDefinition<'static, (), u32> = TableDefinition::new("format");

/// Format that this version writes.
pub(super) const FORMAT: u32 = 1;

/// Largest block in bytes, unless one record is larger: a page of the database has one block.
const MAX_BLOCK: usize = 3_900;

/// Bytes of a page of the database.
const PAGE: usize = 4096;

/// Returns the bytes of the pages that a block takes.
pub(super) fn size(block: &[u8]) -> i64 {
    // A page has 64 bytes at most beside the block.
    let pages = (block.len() + 64).div_ceil(PAGE);
    i64::try_from(pages * PAGE).unwrap_or(i64::MAX)
}

/// Decodes the records of a block.
pub(super) fn decode(block: &[u8]) -> Result<Vec<HistoryRecord>, BlockError> {
    let block = Block::decode(block)?;
    Ok(block.iter().map(|record| record.to_owned()).collect())
}

/// Encodes sorted records as blocks, each with the time of its first record.
pub(super) fn divide(records: Vec<HistoryRecord>) -> Vec<(i64, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut encoder = BlockEncoder::default();
    let mut start = None;
    for record in records {
        if !encoder.push(&record.as_ref(), MAX_BLOCK) {
            let full = std::mem::take(&mut encoder).finish();
            blocks.extend(start.take().map(|start| (start, full)));
            // An empty encoder takes any record.
            encoder.push(&record.as_ref(), MAX_BLOCK);
        }
        start.get_or_insert(record.source_timestamp.0);
    }
    blocks.extend(start.map(|start| (start, encoder.finish())));
    blocks
}

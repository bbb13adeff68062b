//! Reading of the store.

use std::sync::Arc;

use redb::ReadOnlyTable;
use takt_ua::DateTime;

use super::file::{Failure, Shared};
use super::options::VariableKey;
use super::tables::BLOCKS;
use crate::block::Block;
use crate::error::HistoryError;
use crate::record::HistoryRecordRef;
use crate::records::Records;

/// Reader of a store, for any thread.
#[derive(Debug, Clone)]
pub struct StoreReader {
    shared: Arc<Shared>,
}

impl StoreReader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Returns the records of a Variable as of now. The records that are added meanwhile are not seen; their pages are kept as long
    /// as this is.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn records(&self, key: VariableKey) -> Result<StoredRecords, HistoryError> {
        let table = self
            .shared
            .read(|transaction| Ok(transaction.open_table(BLOCKS)?))?;
        Ok(StoredRecords {
            shared: Arc::clone(&self.shared),
            table,
            key,
            block: Block::default(),
            span: None,
        })
    }
}

/// Records of one Variable in the store.
pub struct StoredRecords {
    shared: Arc<Shared>,
    table: ReadOnlyTable<(u32, i64), &'static [u8]>,
    key: VariableKey,
    /// The last used block.
    block: Block,
    /// Times that the last used block answers for: from its first record up to that of the next block.
    span: Option<(i64, i64)>,
}

impl StoredRecords {
    /// Loads the block that begins at or before `time`. Returns false if there is none.
    fn load(&mut self, time: i64) -> Result<bool, HistoryError> {
        // Queries mostly read records in a row, so that the next one is in the same block.
        if self
            .span
            .is_some_and(|(start, end)| start <= time && time < end)
        {
            return Ok(true);
        }
        let (table, key) = (&self.table, self.key.0);
        let found = self.shared.guarded(|| {
            let before = table.range((key, i64::MIN)..=(key, time))?.next_back();
            let Some((place, block)) = before.transpose()? else {
                return Ok(None);
            };
            let next = match time.checked_add(1) {
                Some(after) => table.range((key, after)..=(key, i64::MAX))?.next(),
                None => None,
            };
            let end = next
                .transpose()?
                .map_or(i64::MAX, |(place, _)| place.value().1);
            let block = Block::decode(block.value()).map_err(Failure::Block)?;
            Ok(Some((block, (place.value().1, end))))
        })?;
        match found {
            Some((block, span)) => {
                self.block = block;
                self.span = Some(span);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Returns the start of the first block after `time`.
    fn next_start(&self, time: i64) -> Result<Option<i64>, HistoryError> {
        let (table, key) = (&self.table, self.key.0);
        self.shared.guarded(|| {
            let next = table.range((key, time)..=(key, i64::MAX))?.next();
            Ok(next.transpose()?.map(|(place, _)| place.value().1))
        })
    }
}

impl Records for StoredRecords {
    fn at_or_after(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        if self.load(time.0)? {
            let index = self.block.position(time);
            if index < self.block.len() {
                return Ok(self.block.get(index));
            }
        }
        // The first record of the next block.
        let Some(start) = self.next_start(time.0)? else {
            return Ok(None);
        };
        match self.load(start)? {
            true => Ok(self.block.get(0)),
            false => Ok(None),
        }
    }

    fn at_or_before(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        if !self.load(time.0)? {
            return Ok(None);
        }
        let end = match time.0.checked_add(1) {
            Some(after) => self.block.position(DateTime(after)),
            None => self.block.len(),
        };
        Ok(end.checked_sub(1).and_then(|index| self.block.get(index)))
    }
}

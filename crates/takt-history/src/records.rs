//! Access to the records of one Variable by time.

use takt_ua::DateTime;

use crate::error::HistoryError;
use crate::record::{HistoryRecord, HistoryRecordRef};

/// The records of one Variable.
pub trait Records {
    /// Returns the first record at or after `time`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn at_or_after(&mut self, time: DateTime)
    -> Result<Option<HistoryRecordRef<'_>>, HistoryError>;

    /// Returns the last record at or before `time`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn at_or_before(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError>;
}

/// Records in memory, sorted by their source timestamps.
#[derive(Debug, Clone, Default)]
pub struct MemoryRecords(Vec<HistoryRecord>);

impl MemoryRecords {
    /// Takes records in any order. Of records with the same source timestamp, the last one counts.
    #[must_use]
    pub fn new(mut records: Vec<HistoryRecord>) -> Self {
        // The sort is stable, and of equal times the first one stays: in reverse order, that is the last one given.
        records.reverse();
        records.sort_by_key(|record| record.source_timestamp);
        records.dedup_by_key(|record| record.source_timestamp);
        Self(records)
    }
}

impl Records for MemoryRecords {
    fn at_or_after(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        let index = self
            .0
            .partition_point(|record| record.source_timestamp < time);
        Ok(self.0.get(index).map(HistoryRecord::as_ref))
    }

    fn at_or_before(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        let end = self
            .0
            .partition_point(|record| record.source_timestamp <= time);
        let last = end.checked_sub(1).and_then(|index| self.0.get(index));
        Ok(last.map(HistoryRecord::as_ref))
    }
}

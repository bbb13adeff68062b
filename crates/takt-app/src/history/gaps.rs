//! Times from which on nothing is known of a Variable, because records were lost.

use std::collections::HashMap;

use takt_history::{HistoryRecord, VariableKey};
use takt_ua::{DateTime, StatusCode};

/// Variables of which records were lost, and the time of the first of these since the last commit.
#[derive(Debug, Default)]
pub(super) struct Gaps(HashMap<VariableKey, DateTime>);

impl Gaps {
    /// Takes note of a lost record.
    pub(super) fn note(&mut self, key: VariableKey, time: DateTime) {
        let first = self.0.entry(key).or_insert(time);
        *first = time.min(*first);
    }

    /// Takes note of records that a commit may lose.
    pub(super) fn note_all<'a>(
        &mut self,
        records: impl Iterator<Item = &'a (VariableKey, HistoryRecord)>,
    ) {
        for (key, record) in records {
            self.note(*key, record.source_timestamp);
        }
    }

    /// Returns the records that mark the gaps.
    pub(super) fn records(&self) -> impl Iterator<Item = (VariableKey, HistoryRecord)> + '_ {
        self.0.iter().map(|(key, time)| (*key, no_data(*time)))
    }
}

/// Returns the record of a time from which on nothing is known (OPC 10000-11, 4.3).
pub(super) fn no_data(time: DateTime) -> HistoryRecord {
    HistoryRecord {
        source_timestamp: time,
        server_timestamp: time,
        status: StatusCode::BadNoData,
        value: Vec::new(),
    }
}

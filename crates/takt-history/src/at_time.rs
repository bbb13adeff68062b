//! Values at given times (OPC 10000-11, 6.5.5).

use takt_ua::DateTime;

use crate::bounds::{interpolated, simple};
use crate::configuration::AggregateSettings;
use crate::error::HistoryError;
use crate::output::{Budget, QueryOutput, QueryProgress};
use crate::records::Records;

/// A query of values at given times.
#[derive(Debug, Clone)]
pub struct AtTimeQuery {
    times: Vec<DateTime>,
    next: usize,
    use_simple_bounds: bool,
    settings: AggregateSettings,
}

impl AtTimeQuery {
    /// Creates a query of the values at `times`, in this order.
    #[must_use]
    pub fn new(times: Vec<DateTime>, use_simple_bounds: bool, settings: AggregateSettings) -> Self {
        Self {
            times,
            next: 0,
            use_simple_bounds,
            settings,
        }
    }

    /// Continues with the time of this index.
    pub fn resume(&mut self, next: usize) {
        self.next = next;
    }

    /// Returns the index of the next time; `None` if none follows.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        (self.next < self.times.len()).then_some(self.next)
    }

    /// Runs one slice.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn run(
        &mut self,
        records: &mut impl Records,
        output: &mut QueryOutput,
        budget: &mut Budget,
    ) -> Result<QueryProgress, HistoryError> {
        while let Some(time) = self.times.get(self.next).copied() {
            if output.is_full() {
                return Ok(QueryProgress::Full);
            }
            if budget.is_over() {
                return Ok(QueryProgress::Unfinished);
            }
            budget.spend();
            self.next += 1;
            // A record at this time is returned as it is, whatever its quality.
            if let Some(record) = records.at_or_before(time)?
                && record.source_timestamp == time
            {
                let server_timestamp = Some(record.server_timestamp);
                output.push(record.value, record.status, time, server_timestamp);
                continue;
            }
            let bound = match self.use_simple_bounds {
                true => simple(records, time, &self.settings)?,
                false => interpolated(records, time, &self.settings)?,
            };
            output.push(&bound.value, bound.status, time, None);
        }
        Ok(QueryProgress::Complete)
    }
}

//! Raw values of a time range (OPC 10000-11, 6.5.3).

use takt_ua::{DateTime, StatusCode};

use crate::TICKS_PER_SECOND;
use crate::bounds::moved;
use crate::error::HistoryError;
use crate::output::{Budget, QueryOutput, QueryProgress};
use crate::records::Records;

/// Stage of a [`RawQuery`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawStage {
    /// The bound at the beginning follows.
    StartBound,
    /// Records follow, from the time of the position on.
    Records,
    /// The bound at the end follows.
    EndBound,
    /// Nothing follows.
    Over,
}

/// Position from which a [`RawQuery`] continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawPosition {
    /// Kind of the next value.
    pub stage: RawStage,
    /// Time from which the next record is searched, in the direction of the query.
    pub time: DateTime,
    /// Number of values that are still wanted, if only one time and a number were given.
    pub left: u32,
}

/// A query of raw values.
#[derive(Debug, Clone)]
pub struct RawQuery {
    is_forward: bool,
    /// Time at which the query begins: the later one if it runs backwards.
    begin: DateTime,
    /// Time at which the query ends, which is not part of it; `None`: after a number of values.
    end: Option<DateTime>,
    has_bounds: bool,
    position: RawPosition,
    /// Time of the last value, for the bound behind the last record.
    last: Option<DateTime>,
}

impl RawQuery {
    /// Creates a query from the parameters of ReadRawModifiedDetails. Two of `start`, `end` and a `number` other than 0 are needed.
    ///
    /// # Errors
    /// `BadHistoryOperationInvalid`: fewer than two are given.
    pub fn new(
        start: Option<DateTime>,
        end: Option<DateTime>,
        number: u32,
        has_bounds: bool,
    ) -> Result<Self, StatusCode> {
        let (is_forward, begin, end) = match (start, end, number) {
            (Some(start), Some(end), _) => (start <= end, start, Some(end)),
            (Some(start), None, 1..) => (true, start, None),
            (None, Some(end), 1..) => (false, end, None),
            _ => return Err(StatusCode::BadHistoryOperationInvalid),
        };
        // One point in time is a range that contains it.
        let end = match end {
            Some(end) if end == begin && !has_bounds => Some(moved(end, 1)),
            end => end,
        };
        let stage = match has_bounds {
            true => RawStage::StartBound,
            false => RawStage::Records,
        };
        Ok(Self {
            is_forward,
            begin,
            end,
            has_bounds,
            position: RawPosition {
                stage,
                time: begin,
                left: match end {
                    Some(_) => u32::MAX,
                    None => number,
                },
            },
            last: None,
        })
    }

    /// Continues a query from a position of an earlier one with the same parameters.
    pub fn resume(&mut self, position: RawPosition) {
        self.position = position;
    }

    /// Returns the position from which the query continues; `None` if nothing follows.
    #[must_use]
    pub fn position(&self) -> Option<RawPosition> {
        let is_over = self.position.stage == RawStage::Over || self.position.left == 0;
        (!is_over).then_some(self.position)
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
        loop {
            if self.position().is_none() {
                return Ok(QueryProgress::Complete);
            }
            if output.is_full() && !self.is_at_end(records)? {
                return Ok(QueryProgress::Full);
            }
            if budget.is_over() {
                return Ok(QueryProgress::Unfinished);
            }
            budget.spend();
            match self.position.stage {
                RawStage::StartBound => self.start_bound(records, output)?,
                RawStage::Records => self.record(records, output)?,
                RawStage::EndBound => self.end_bound(records, output)?,
                RawStage::Over => return Ok(QueryProgress::Complete),
            }
        }
    }

    /// Returns true if no record and no bound follows: a client gets no continuation point for nothing.
    fn is_at_end(&mut self, records: &mut impl Records) -> Result<bool, HistoryError> {
        if self.has_bounds || self.position.stage != RawStage::Records {
            return Ok(false);
        }
        let time = self.position.time;
        let next = self
            .next(records, time)?
            .map(|record| record.source_timestamp);
        let is_over = next.is_none_or(|time| !self.is_inside(time));
        if is_over {
            self.position.stage = RawStage::Over;
        }
        Ok(is_over)
    }

    fn is_inside(&self, time: DateTime) -> bool {
        match (self.end, self.is_forward) {
            (None, _) => true,
            (Some(end), true) => time < end,
            (Some(end), false) => time > end,
        }
    }

    /// Returns the next record from `time` on, in the direction of the query.
    fn next<'r>(
        &self,
        records: &'r mut impl Records,
        time: DateTime,
    ) -> Result<Option<crate::HistoryRecordRef<'r>>, HistoryError> {
        match self.is_forward {
            true => records.at_or_after(time),
            false => records.at_or_before(time),
        }
    }

    /// Returns the nearest record at `time` or behind it, against the direction of the query.
    fn previous<'r>(
        &self,
        records: &'r mut impl Records,
        time: DateTime,
    ) -> Result<Option<crate::HistoryRecordRef<'r>>, HistoryError> {
        match self.is_forward {
            true => records.at_or_before(time),
            false => records.at_or_after(time),
        }
    }

    fn step(&self, time: DateTime, ticks: i64) -> DateTime {
        moved(time, if self.is_forward { ticks } else { -ticks })
    }

    fn taken(&mut self, time: DateTime) {
        self.last = Some(time);
        if self.end.is_none() {
            // At least 1 was left: `run` stops at 0.
            self.position.left -= 1;
        }
    }

    /// Adds the value at the beginning, or the nearest one before.
    fn start_bound(
        &mut self,
        records: &mut impl Records,
        output: &mut QueryOutput,
    ) -> Result<(), HistoryError> {
        let begin = self.begin;
        match self.previous(records, begin)? {
            Some(record) => push(output, &record),
            None => output.push(&[], StatusCode::BadBoundNotFound, begin, None),
        }
        self.position.stage = RawStage::Records;
        self.position.time = self.step(begin, 1);
        // The bound is one of the values that the client wants, whether it was found or not.
        self.taken(begin);
        // Both bounds of a range without length are the same.
        if self.end == Some(begin) {
            self.position.stage = RawStage::Over;
        }
        Ok(())
    }

    fn record(
        &mut self,
        records: &mut impl Records,
        output: &mut QueryOutput,
    ) -> Result<(), HistoryError> {
        let time = self.position.time;
        let found = match self.next(records, time)? {
            Some(record) if self.is_inside(record.source_timestamp) => {
                push(output, &record);
                Some(record.source_timestamp)
            }
            _ => None,
        };
        match found {
            Some(time) => {
                self.position.time = self.step(time, 1);
                self.taken(time);
            }
            None if self.has_bounds => self.position.stage = RawStage::EndBound,
            None => self.position.stage = RawStage::Over,
        }
        Ok(())
    }

    /// Adds the value at the end, or the nearest one behind.
    fn end_bound(
        &mut self,
        records: &mut impl Records,
        output: &mut QueryOutput,
    ) -> Result<(), HistoryError> {
        self.position.stage = RawStage::Over;
        let Some(end) = self.end else {
            // Without an end, the bound is one second behind the last record.
            let last = self.last.unwrap_or(self.begin);
            let time = self.step(last, TICKS_PER_SECOND);
            output.push(&[], StatusCode::BadBoundNotFound, time, None);
            return Ok(());
        };
        match self.next(records, end)? {
            Some(record) => push(output, &record),
            None => output.push(&[], StatusCode::BadBoundNotFound, end, None),
        }
        Ok(())
    }
}

fn push(output: &mut QueryOutput, record: &crate::HistoryRecordRef<'_>) {
    let server_timestamp = Some(record.server_timestamp);
    output.push(
        record.value,
        record.status,
        record.source_timestamp,
        server_timestamp,
    );
}

//! Queries of aggregates: their intervals, and the records of each (OPC 10000-11, 6.5.4, and OPC 10000-13, 5).

use takt_ua::{DateTime, StatusCode};

use crate::aggregate::{Accumulator, Aggregate, Calculation, Outcome, ticks};
use crate::bounds::{self, Bound, interpolated, moved};
use crate::configuration::AggregateSettings;
use crate::error::HistoryError;
use crate::output::{Budget, QueryOutput, QueryProgress, bits};
use crate::records::Records;

/// A query of one aggregate.
#[derive(Debug, Clone)]
pub struct ProcessedQuery {
    aggregate: Aggregate,
    settings: AggregateSettings,
    start: DateTime,
    end: DateTime,
    /// Length of the intervals in ticks.
    length: i64,
    next: u64,
    /// Time up to which the last record holds, if that is known.
    known_until: Option<DateTime>,
    /// Times at which data begins and ends.
    data: Option<Option<(DateTime, DateTime)>>,
    /// The interval in progress, and the time from which its next record is searched.
    current: Option<(Accumulator, DateTime)>,
}

/// One interval.
struct Interval {
    low: DateTime,
    high: DateTime,
    /// First and last time of records that belong to the interval.
    first: DateTime,
    last: DateTime,
    /// Timestamp of the result.
    timestamp: DateTime,
    is_partial: bool,
}

impl ProcessedQuery {
    /// Creates a query of an aggregate between two times, for intervals of `interval` milliseconds; 0: one interval. If `end` is
    /// before `start`, the intervals follow each other backwards.
    ///
    /// # Errors
    /// `BadHistoryOperationInvalid`: the times are the same, or the interval is not a length of time.
    /// `BadAggregateInvalidInputs`: the percentages of the settings contradict each other.
    pub fn new(
        aggregate: Aggregate,
        start: DateTime,
        end: DateTime,
        interval: f64,
        settings: AggregateSettings,
    ) -> Result<Self, StatusCode> {
        settings.check()?;
        let span = end.0.saturating_sub(start.0).saturating_abs();
        if start == end || !interval.is_finite() || interval < 0.0 {
            return Err(StatusCode::BadHistoryOperationInvalid);
        }
        #[allow(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        let length = (interval * 10_000.0).round() as i64;
        Ok(Self {
            aggregate,
            settings,
            start,
            end,
            // Both times differ, so the span is at least 1.
            length: match interval {
                0.0 => span,
                _ => length.clamp(1, span),
            },
            next: 0,
            known_until: None,
            data: None,
            current: None,
        })
    }

    /// Continues the last record up to this time, if it is a value: only changes are recorded, and there was none since then.
    #[must_use]
    pub fn known_until(mut self, time: DateTime) -> Self {
        self.known_until = Some(time);
        self
    }

    /// Continues with the interval of this index.
    pub fn resume(&mut self, next: u64) {
        self.next = next;
    }

    /// Returns the index of the next interval; `None` if none follows.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        self.interval().map(|_| self.next)
    }

    /// Returns the next interval.
    fn interval(&self) -> Option<Interval> {
        // An offset beyond 64 bits is behind the end in any case.
        let offset = i64::try_from(self.next).ok()?.checked_mul(self.length)?;
        let span = self.end.0.saturating_sub(self.start.0).saturating_abs();
        let length = self.length.min(span.checked_sub(offset)?);
        if length <= 0 {
            return None;
        }
        let is_forward = self.start < self.end;
        let (low, high) = match is_forward {
            true => (
                moved(self.start, offset),
                moved(self.start, offset + length),
            ),
            false => (
                moved(self.start, -offset - length),
                moved(self.start, -offset),
            ),
        };
        // The later end belongs to an interval only if time runs backwards.
        let shift = i64::from(!is_forward);
        Some(Interval {
            low,
            high,
            first: moved(low, shift),
            last: moved(high, shift - 1),
            timestamp: if is_forward { low } else { high },
            is_partial: length < self.length,
        })
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
        // Searched once, so that all slices of the query have the same partial intervals.
        let data = match self.data {
            Some(data) => data,
            None => {
                let start = bounds::start_of_data(records)?;
                let end = bounds::end_of_data(records, self.known_until)?;
                *self.data.insert(start.zip(end))
            }
        };
        while let Some(interval) = self.interval() {
            if output.is_full() {
                return Ok(QueryProgress::Full);
            }
            if budget.is_over() {
                return Ok(QueryProgress::Unfinished);
            }
            // An interval without records costs work as well: a query may have millions of them.
            budget.spend();
            let Some(outcome) = self.outcome(records, &interval, data, budget)? else {
                return Ok(QueryProgress::Unfinished);
            };
            output.push(&outcome.value, outcome.status, outcome.timestamp, None);
            self.current = None;
            self.next += 1;
        }
        Ok(QueryProgress::Complete)
    }

    /// Returns the result for an interval; `None` if the slice is over.
    fn outcome(
        &mut self,
        records: &mut impl Records,
        interval: &Interval,
        data: Option<(DateTime, DateTime)>,
        budget: &mut Budget,
    ) -> Result<Option<Outcome>, HistoryError> {
        let none = Outcome {
            value: Vec::new(),
            status: StatusCode::BadNoData,
            timestamp: interval.timestamp,
        };
        let Some((data_start, data_end)) = data else {
            return Ok(Some(none));
        };
        if self.aggregate == Aggregate::Interpolative {
            let Bound { value, status, .. } =
                interpolated(records, interval.timestamp, &self.settings)?;
            return Ok(Some(Outcome {
                value,
                status,
                ..none
            }));
        }
        if interval.last < data_start || interval.first > data_end {
            return Ok(Some(none));
        }
        let (mut accumulator, mut time) = match self.current.take() {
            // The slice before ended within this interval.
            Some(current) => current,
            None => {
                let bound = interpolated(records, interval.low, &self.settings)?;
                let before = records.at_or_before(interval.low)?;
                let quality = before.map_or(StatusCode::BadNoData, |record| record.status);
                let accumulator = Accumulator::new(interval.low, &bound, quality);
                // Records BadNoData before the first value are not data.
                (accumulator, interval.first.max(data_start))
            }
        };
        while let Some(record) = records.at_or_after(time)? {
            if record.source_timestamp > interval.last {
                break;
            }
            accumulator.add(&record, &self.settings);
            time = moved(record.source_timestamp, 1);
            budget.spend();
            if budget.is_over() {
                self.current = Some((accumulator, time));
                return Ok(None);
            }
        }
        let bound = interpolated(records, interval.high, &self.settings)?;
        accumulator.end(interval.high, &bound, &self.settings);
        let is_partial =
            interval.is_partial || interval.low < data_start || interval.high > data_end;
        let calculation = Calculation {
            aggregate: self.aggregate,
            settings: &self.settings,
            sums: &accumulator,
            length: ticks(interval.low, interval.high),
            timestamp: interval.timestamp,
        };
        Ok(Some(match calculation.result() {
            Some(mut outcome) => {
                if is_partial && self.aggregate != Aggregate::Average {
                    outcome.status.0 |= bits::PARTIAL;
                }
                outcome
            }
            None => none,
        }))
    }
}

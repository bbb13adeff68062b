//! Sums over the records of one interval, from which all aggregates follow.

use takt_ua::{DateTime, StatusCode};

use crate::bounds::Bound;
use crate::configuration::AggregateSettings;
use crate::number;
use crate::record::{HistoryRecord, HistoryRecordRef};

/// Ticks between two times.
#[allow(
    clippy::cast_precision_loss,
    reason = "sums are calculated with Doubles"
)]
pub(crate) fn ticks(from: DateTime, to: DateTime) -> f64 {
    to.0.saturating_sub(from.0) as f64
}

/// The smallest or largest Good value.
#[derive(Debug, Clone)]
pub(crate) struct Extreme {
    pub(crate) number: f64,
    pub(crate) record: HistoryRecord,
    /// True if several records have this value.
    pub(crate) is_multiple: bool,
}

/// Records of one interval, in the order of time.
#[derive(Debug, Clone)]
pub(crate) struct Accumulator {
    pub(crate) good: u64,
    pub(crate) uncertain: u64,
    pub(crate) bad: u64,
    /// Mean, and sum of the squares of the distances to it, of the Good numbers.
    pub(crate) mean: f64,
    pub(crate) squares: f64,
    pub(crate) minimum: Option<Extreme>,
    pub(crate) maximum: Option<Extreme>,
    /// Smallest and largest Uncertain number.
    pub(crate) uncertain_range: Option<(f64, f64)>,
    pub(crate) first: Option<HistoryRecord>,
    pub(crate) last: Option<HistoryRecord>,
    pub(crate) first_good: Option<HistoryRecord>,
    pub(crate) last_good: Option<HistoryRecord>,
    /// A value that is used is not a number.
    pub(crate) has_other_values: bool,
    /// Area below the values, in units times ticks, and the ticks that it covers.
    area: f64,
    covered: f64,
    point: Option<(DateTime, f64)>,
    is_bound_doubtful: bool,
    /// Ticks with Good and Bad quality.
    pub(crate) good_ticks: f64,
    pub(crate) bad_ticks: f64,
    quality: (DateTime, StatusCode),
}

impl Accumulator {
    /// Begins an interval at `low`. `bound` is the interpolated bounding value there, `quality` that of the record at or before it.
    pub(crate) fn new(low: DateTime, bound: &Bound, quality: StatusCode) -> Self {
        let point = number::decode(&bound.value).map(|number| (low, number));
        Self {
            good: 0,
            uncertain: 0,
            bad: 0,
            mean: 0.0,
            squares: 0.0,
            minimum: None,
            maximum: None,
            uncertain_range: None,
            first: None,
            last: None,
            first_good: None,
            last_good: None,
            has_other_values: point.is_none() && !bound.value.is_empty(),
            area: 0.0,
            covered: 0.0,
            is_bound_doubtful: point.is_some() && !bound.status.is_good(),
            point,
            good_ticks: 0.0,
            bad_ticks: 0.0,
            quality: (low, quality),
        }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &HistoryRecordRef<'_>, settings: &AggregateSettings) {
        let number = number::decode(record.value);
        let time = record.source_timestamp;
        // Before the quality changes: the time up to this record has the quality of the record before.
        self.pass(time, settings);
        self.quality.1 = record.status;
        if self.first.is_none() {
            self.first = Some(record.to_owned());
        }
        self.last = Some(record.to_owned());
        if record.status.is_good() {
            self.good += 1;
            if self.first_good.is_none() {
                self.first_good = Some(record.to_owned());
            }
            self.last_good = Some(record.to_owned());
            match number {
                Some(number) => self.add_number(number, record),
                None => self.has_other_values = true,
            }
        } else if record.status.is_uncertain() {
            self.uncertain += 1;
            if let Some(number) = number {
                let (low, high) = self.uncertain_range.unwrap_or((number, number));
                self.uncertain_range = Some((low.min(number), high.max(number)));
            }
        } else {
            self.bad += 1;
        }
        if settings.is_usable(record.status)
            && let Some(number) = number
        {
            self.reach(time, number, settings);
        }
        if record.status == StatusCode::BadNoData {
            self.begin_gap(time, settings);
        }
    }

    /// Ends the area: nothing is known from `time` on.
    fn begin_gap(&mut self, time: DateTime, settings: &AggregateSettings) {
        if let Some((_, before)) = self.point {
            // No later value is known, so the last one holds until the gap.
            self.reach(time, before, settings);
        }
        self.point = None;
    }

    fn add_number(&mut self, number: f64, record: &HistoryRecordRef<'_>) {
        #[allow(clippy::cast_precision_loss, reason = "the mean is a Double")]
        let count = self.good as f64;
        // Welford's method: a sum of squares would lose the digits of values that are large and vary little.
        let distance = number - self.mean;
        self.mean += distance / count;
        self.squares += distance * (number - self.mean);
        keep(&mut self.minimum, number, record, |new, known| new < known);
        keep(&mut self.maximum, number, record, |new, known| new > known);
    }

    /// Counts the time up to `time` with the quality of the record before.
    fn pass(&mut self, time: DateTime, settings: &AggregateSettings) {
        let (from, status) = self.quality;
        let passed = ticks(from, time).max(0.0);
        if status.is_good() {
            self.good_ticks += passed;
        } else if status.is_bad() || settings.treat_uncertain_as_bad {
            self.bad_ticks += passed;
        }
        self.quality.0 = time.max(from);
    }

    /// Adds the area up to a point.
    fn reach(&mut self, time: DateTime, number: f64, settings: &AggregateSettings) {
        if let Some((from, before)) = self.point {
            let width = ticks(from, time);
            self.area += width
                * if settings.stepped {
                    before
                } else {
                    f64::midpoint(before, number)
                };
            self.covered += width;
        }
        self.point = Some((time, number));
    }

    /// Ends the interval at `high`, where the interpolated bounding value is `bound`.
    pub(crate) fn end(&mut self, high: DateTime, bound: &Bound, settings: &AggregateSettings) {
        self.pass(high, settings);
        if let Some(number) = number::decode(&bound.value) {
            // A record at the end of the interval counts with its own status already.
            let is_new = self.point.is_none_or(|(time, _)| time < high);
            self.is_bound_doubtful |= is_new && !bound.status.is_good();
            self.reach(high, number, settings);
        }
    }

    /// Returns the area below the values in units times seconds, and the covered seconds; `None` if there are no values.
    pub(crate) fn area(&self) -> Option<(f64, f64)> {
        let seconds = |ticks: f64| ticks / 1e7;
        (self.covered > 0.0).then(|| (seconds(self.area), seconds(self.covered)))
    }

    /// Returns true if the area depends on values that are not Good.
    pub(crate) fn is_area_doubtful(&self) -> bool {
        self.bad > 0 || self.uncertain > 0 || self.is_bound_doubtful
    }

    /// Returns the quality of a result from the share of Good and Bad values (OPC 10000-13, 5.3).
    pub(crate) fn quality_of_values(&self, settings: &AggregateSettings) -> StatusCode {
        let bad = match settings.treat_uncertain_as_bad {
            true => self.bad + self.uncertain,
            false => self.bad,
        };
        let total = u128::from(self.good + self.uncertain + self.bad);
        // In 128 bits, so that no number of records can overflow.
        let reaches =
            |count: u64, percent: u8| u128::from(count) * 100 >= total * u128::from(percent);
        // A Count of 0 is a Good result: no value contradicts it.
        if total == 0 || reaches(self.good, settings.percent_data_good) {
            StatusCode::Good
        } else if reaches(bad, settings.percent_data_bad) {
            StatusCode::Bad
        } else {
            StatusCode::UncertainDataSubNormal
        }
    }
}

fn keep(
    extreme: &mut Option<Extreme>,
    number: f64,
    record: &HistoryRecordRef<'_>,
    is_beyond: impl Fn(f64, f64) -> bool,
) {
    match extreme {
        Some(known) if is_beyond(number, known.number) => {}
        // NaN is neither smaller nor larger than a number: it is the extreme of an interval without numbers only.
        Some(known) if known.number.is_nan() && !number.is_nan() => {}
        // Of equal values the first one stays, so that its time is the time of the extreme.
        Some(known) => {
            #[allow(clippy::float_cmp, reason = "equal values are the same extreme")]
            let is_same = known.number == number;
            known.is_multiple |= is_same;
            return;
        }
        None => {}
    }
    *extreme = Some(Extreme {
        number,
        record: record.to_owned(),
        is_multiple: false,
    });
}

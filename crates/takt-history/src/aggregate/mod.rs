//! The aggregates (OPC 10000-13, 5), each calculated from the sums of an interval. A new one is an arm of [`Calculation::result`], a
//! variant of `takt_ua::Aggregate` with its name, as clients and servers share it, and sums in `accumulator` if those that are there do
//! not suffice.

mod accumulator;

use takt_ua::binary::Encode;
use takt_ua::{DateTime, StatusCode, Variant};

pub(crate) use accumulator::{Accumulator, ticks};
pub(crate) use takt_ua::Aggregate;

use self::accumulator::Extreme;
use crate::configuration::AggregateSettings;
use crate::number;
use crate::output::bits;
use crate::record::HistoryRecord;

/// Result for an interval.
pub(crate) struct Outcome {
    pub(crate) value: Vec<u8>,
    pub(crate) status: StatusCode,
    pub(crate) timestamp: DateTime,
}

/// Calculation of one aggregate for an interval.
pub(crate) struct Calculation<'a> {
    pub(crate) aggregate: Aggregate,
    pub(crate) settings: &'a AggregateSettings,
    /// Sums over all records of the interval.
    pub(crate) sums: &'a Accumulator,
    /// Length of the interval in ticks.
    pub(crate) length: f64,
    /// Timestamp of the result.
    pub(crate) timestamp: DateTime,
}

impl Calculation<'_> {
    /// Returns the result from the sums of an interval; `None` if there is no data for it.
    pub(crate) fn result(&self) -> Option<Outcome> {
        use Aggregate as A;
        let sums = self.sums;
        let numeric = !matches!(
            self.aggregate,
            A::Count
                | A::Start
                | A::End
                | A::DurationGood
                | A::DurationBad
                | A::PercentGood
                | A::PercentBad
        );
        let at = |value: Vec<u8>, status: StatusCode, bits: u32| Outcome {
            value,
            status: StatusCode(status.0 | bits),
            timestamp: self.timestamp,
        };
        if numeric && sums.has_other_values {
            return Some(at(Vec::new(), StatusCode::BadAggregateInvalidInputs, 0));
        }
        let calculated =
            |number: f64, status| at(number::encode_double(number), status, bits::CALCULATED);
        let good = StatusCode::Good;
        let has_good = || (sums.good > 0).then_some(());
        let milliseconds = |ticks: f64| ticks / 10_000.0;
        #[allow(clippy::cast_precision_loss, reason = "the results are Doubles")]
        let count = sums.good as f64;
        // One value has no distance to others, and the divisor would be 0.
        let sample = match sums.good {
            0 | 1 => 0.0,
            _ => sums.squares / (count - 1.0),
        };
        Some(match self.aggregate {
            // `ProcessedQuery` calculates it from the bounds alone; no records are summed for it.
            A::Interpolative => return None,
            A::Average => {
                has_good()?;
                match sums.quality_of_values(self.settings) {
                    status if status.is_bad() => at(Vec::new(), status, bits::CALCULATED),
                    status => calculated(sums.mean, status),
                }
            }
            A::TimeAverage | A::Total => {
                let (area, seconds) = sums.area()?;
                let status = match sums.is_area_doubtful() {
                    true => StatusCode::UncertainDataSubNormal,
                    false => good,
                };
                match self.aggregate {
                    A::Total => calculated(area, status),
                    _ => calculated(area / seconds, status),
                }
            }
            A::Minimum => self.extreme(sums.minimum.as_ref()?, true),
            A::Maximum => self.extreme(sums.maximum.as_ref()?, false),
            A::MinimumActualTime => self.actual_time(sums.minimum.as_ref()?, true),
            A::MaximumActualTime => self.actual_time(sums.maximum.as_ref()?, false),
            A::Range => {
                let (low, high) = (sums.minimum.as_ref()?, sums.maximum.as_ref()?);
                let range = number::encode_like(&low.record.value, high.number - low.number);
                let doubtful = self.is_extreme_doubtful(low.number, true)
                    || self.is_extreme_doubtful(high.number, false);
                at(range, quality(doubtful), bits::CALCULATED)
            }
            A::Count => {
                // The standard has an Int32 as the result, while an interval may have more records.
                let value = Variant::Int32(i32::try_from(sums.good).unwrap_or(i32::MAX));
                let status = sums.quality_of_values(self.settings);
                at(value.encode_to_vec(), status, bits::CALCULATED)
            }
            A::Start => raw(sums.first.as_ref()?),
            A::End => raw(sums.last.as_ref()?),
            A::Delta => {
                let (first, last) = (sums.first_good.as_ref()?, sums.last_good.as_ref()?);
                let delta = number::decode(&last.value)? - number::decode(&first.value)?;
                let is_doubtful =
                    sums.first.as_ref() != Some(first) || sums.last.as_ref() != Some(last);
                at(
                    number::encode_like(&first.value, delta),
                    quality(is_doubtful),
                    bits::CALCULATED,
                )
            }
            A::DurationGood => calculated(milliseconds(sums.good_ticks), good),
            A::DurationBad => calculated(milliseconds(sums.bad_ticks), good),
            A::PercentGood => calculated(sums.good_ticks / self.length * 100.0, good),
            A::PercentBad => calculated(sums.bad_ticks / self.length * 100.0, good),
            A::VarianceSample => {
                has_good()?;
                calculated(sample, good)
            }
            A::StandardDeviationSample => {
                has_good()?;
                calculated(sample.sqrt(), good)
            }
            A::VariancePopulation => {
                // Without a Good value the divisor is 0.
                has_good()?;
                calculated(sums.squares / count, good)
            }
            A::StandardDeviationPopulation => {
                has_good()?;
                calculated((sums.squares / count).sqrt(), good)
            }
        })
    }

    /// Returns true if a Bad value exists, or an Uncertain one beyond the extreme.
    fn is_extreme_doubtful(&self, extreme: f64, is_minimum: bool) -> bool {
        let sums = self.sums;
        let is_beyond = sums
            .uncertain_range
            .is_some_and(|(low, high)| match is_minimum {
                true => low < extreme,
                false => high > extreme,
            });
        sums.bad > 0 || (self.settings.treat_uncertain_as_bad && sums.uncertain > 0) || is_beyond
    }

    fn extreme(&self, extreme: &Extreme, is_minimum: bool) -> Outcome {
        let status = quality(self.is_extreme_doubtful(extreme.number, is_minimum));
        // At the time of the result the extreme is the record itself; elsewhere its value is given with another time.
        let is_at_start = extreme.record.source_timestamp == self.timestamp;
        let bits = if is_at_start {
            bits::RAW
        } else {
            bits::CALCULATED
        };
        Outcome {
            value: extreme.record.value.clone(),
            status: StatusCode(status.0 | bits),
            timestamp: self.timestamp,
        }
    }

    fn actual_time(&self, extreme: &Extreme, is_minimum: bool) -> Outcome {
        let is_doubtful = self.is_extreme_doubtful(extreme.number, is_minimum);
        let multiple = if extreme.is_multiple {
            bits::MULTI_VALUE
        } else {
            0
        };
        let bits = if is_doubtful {
            bits::CALCULATED
        } else {
            bits::RAW
        };
        Outcome {
            value: extreme.record.value.clone(),
            status: StatusCode(quality(is_doubtful).0 | bits | multiple),
            timestamp: extreme.record.source_timestamp,
        }
    }
}

fn quality(is_doubtful: bool) -> StatusCode {
    match is_doubtful {
        true => StatusCode::UncertainDataSubNormal,
        false => StatusCode::Good,
    }
}

fn raw(record: &HistoryRecord) -> Outcome {
    Outcome {
        value: record.value.clone(),
        status: record.status,
        timestamp: record.source_timestamp,
    }
}

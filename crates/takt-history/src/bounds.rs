//! Values between records: interpolated and simple bounding values (OPC 10000-13, 3.1.8, 3.1.9 and 5.4.2).

use takt_ua::{DateTime, StatusCode};

use crate::configuration::AggregateSettings;
use crate::error::HistoryError;
use crate::number;
use crate::output::bits;
use crate::record::{HistoryRecord, HistoryRecordRef};
use crate::records::Records;

/// Largest number of records that are skipped in the search of one that is usable.
const MAX_SKIPPED: usize = 10_000;

/// The value of a Variable at a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// Encoded Variant; empty if there is none.
    pub(crate) value: Vec<u8>,
    pub(crate) status: StatusCode,
    /// True if there is no usable record at the time or after it.
    pub(crate) is_extrapolated: bool,
}

impl Bound {
    fn none() -> Self {
        Self {
            value: Vec::new(),
            status: StatusCode::BadNoData,
            is_extrapolated: false,
        }
    }
}

/// Returns the same time, moved by some ticks.
pub(crate) fn moved(time: DateTime, ticks: i64) -> DateTime {
    DateTime(time.0.saturating_add(ticks))
}

/// The nearest usable record in one direction.
struct Nearest {
    record: HistoryRecord,
    /// True if it is Uncertain, or if records that are not Good lie between.
    is_doubtful: bool,
}

/// Returns the interpolated bounding value at `time`: records that are not usable are ignored.
pub(crate) fn interpolated(
    records: &mut impl Records,
    time: DateTime,
    settings: &AggregateSettings,
) -> Result<Bound, HistoryError> {
    let Usable::Found(before) = usable_before(records, time, settings)? else {
        return Ok(Bound::none());
    };
    if before.record.source_timestamp == time {
        return Ok(Bound {
            value: before.record.value,
            status: before.record.status,
            is_extrapolated: false,
        });
    }
    let after = match usable_after(records, moved(time, 1), settings)? {
        Usable::Found(after) => Some(after),
        // A value that is stepped holds until the gap.
        Usable::Gap if settings.stepped && !before.is_doubtful => {
            return Ok(Bound {
                value: before.record.value,
                status: StatusCode(StatusCode::Good.0 | bits::INTERPOLATED),
                is_extrapolated: false,
            });
        }
        Usable::Gap | Usable::None => None,
    };
    between(records, before, after, time, settings)
}

/// Returns the simple bounding value at `time`: the nearest records count, whatever their quality.
pub(crate) fn simple(
    records: &mut impl Records,
    time: DateTime,
    settings: &AggregateSettings,
) -> Result<Bound, HistoryError> {
    let before = records.at_or_before(time)?.map(|record| record.to_owned());
    let Some(before) = before else {
        return Ok(Bound::none());
    };
    if before.source_timestamp == time {
        return Ok(Bound {
            value: before.value,
            status: before.status,
            is_extrapolated: false,
        });
    }
    if !settings.is_usable(before.status) {
        return Ok(Bound::none());
    }
    let after = records.at_or_after(moved(time, 1))?;
    let after = after.map(|record| record.to_owned());
    let is_bad = |after: &HistoryRecord| !settings.is_usable(after.status);
    if !settings.stepped && after.as_ref().is_some_and(is_bad) {
        // The value is not known between the two records: the first one is continued.
        return Ok(Bound {
            value: before.value,
            status: StatusCode(StatusCode::UncertainDataSubNormal.0 | bits::INTERPOLATED),
            is_extrapolated: false,
        });
    }
    let nearest = |record: HistoryRecord| Nearest {
        is_doubtful: !record.status.is_good(),
        record,
    };
    between(records, nearest(before), after.map(nearest), time, settings)
}

/// Returns the value at a time after `before`, and before `after`.
fn between(
    records: &mut impl Records,
    before: Nearest,
    after: Option<Nearest>,
    time: DateTime,
    settings: &AggregateSettings,
) -> Result<Bound, HistoryError> {
    let from = before.record;
    let Some(after) = after else {
        let mut value = from.value;
        if settings.use_sloped_extrapolation && !settings.stepped {
            let earlier = moved(from.source_timestamp, -1);
            if let Usable::Found(earlier) = usable_before(records, earlier, settings)?
                && let Some(sloped) =
                    on_line(&earlier.record, (from.source_timestamp, &value), time)
            {
                value = sloped;
            }
        }
        return Ok(Bound {
            value,
            status: StatusCode(StatusCode::UncertainDataSubNormal.0 | bits::INTERPOLATED),
            is_extrapolated: true,
        });
    };
    let to = (after.record.source_timestamp, after.record.value.as_slice());
    let sloped = match settings.stepped {
        true => None,
        false => on_line(&from, to, time),
    };
    // A value that is stepped does not depend on the record after it.
    let is_doubtful = before.is_doubtful || (sloped.is_some() && after.is_doubtful);
    let status = match is_doubtful {
        true => StatusCode::UncertainDataSubNormal,
        false => StatusCode::Good,
    };
    Ok(Bound {
        value: sloped.unwrap_or(from.value),
        status: StatusCode(status.0 | bits::INTERPOLATED),
        is_extrapolated: false,
    })
}

/// Returns the value at `time` on the line through two points; `None` if they have no numbers.
fn on_line(from: &HistoryRecord, to: (DateTime, &[u8]), time: DateTime) -> Option<Vec<u8>> {
    let start = number::decode(&from.value)?;
    let end = number::decode(to.1)?;
    let share = fraction(from.source_timestamp, time, to.0);
    Some(number::encode_like(
        &from.value,
        start + (end - start) * share,
    ))
}

/// Returns the place of `time` between two times: 0 at the first one, 1 at the second one.
#[allow(clippy::cast_precision_loss, reason = "the result is a fraction")]
fn fraction(from: DateTime, time: DateTime, to: DateTime) -> f64 {
    let whole = to.0.saturating_sub(from.0);
    if whole == 0 {
        return 0.0;
    }
    time.0.saturating_sub(from.0) as f64 / whole as f64
}

fn usable_before(
    records: &mut impl Records,
    time: DateTime,
    settings: &AggregateSettings,
) -> Result<Usable, HistoryError> {
    usable(time, -1, settings, |time| {
        let found = records.at_or_before(time)?;
        Ok(found.map(|record| record.to_owned()))
    })
}

fn usable_after(
    records: &mut impl Records,
    time: DateTime,
    settings: &AggregateSettings,
) -> Result<Usable, HistoryError> {
    usable(time, 1, settings, |time| {
        let found = records.at_or_after(time)?;
        Ok(found.map(|record| record.to_owned()))
    })
}

/// Result of the search of a usable record.
enum Usable {
    Found(Nearest),
    /// A record BadNoData is nearer: nothing is known of the time behind it.
    Gap,
    None,
}

/// Returns the nearest usable record from `time` on. `step` is 1 or -1: the direction of `find`.
fn usable(
    mut time: DateTime,
    step: i64,
    settings: &AggregateSettings,
    mut find: impl FnMut(DateTime) -> Result<Option<HistoryRecord>, HistoryError>,
) -> Result<Usable, HistoryError> {
    let mut is_doubtful = false;
    // The budget of a slice does not count this search, so it has a bound of its own.
    for _ in 0..MAX_SKIPPED {
        let Some(record) = find(time)? else {
            return Ok(Usable::None);
        };
        if record.status == StatusCode::BadNoData {
            return Ok(Usable::Gap);
        }
        if settings.is_usable(record.status) && !record.value.is_empty() {
            is_doubtful |= !record.status.is_good();
            return Ok(Usable::Found(Nearest {
                record,
                is_doubtful,
            }));
        }
        is_doubtful = true;
        time = moved(record.source_timestamp, step);
    }
    Ok(Usable::None)
}

/// Time at which data begins: that of the first record that is not BadNoData; `None` if there is none.
pub(crate) fn start_of_data(records: &mut impl Records) -> Result<Option<DateTime>, HistoryError> {
    // Bounded like the search of a usable record: the budget of a slice does not count it either.
    let mut time = DateTime(i64::MIN);
    for _ in 0..MAX_SKIPPED {
        match records.at_or_after(time)? {
            Some(HistoryRecordRef {
                source_timestamp,
                status,
                ..
            }) if status == StatusCode::BadNoData => time = moved(source_timestamp, 1),
            found => return Ok(found.map(|record| record.source_timestamp)),
        }
    }
    Ok(Some(time))
}

/// Time at which data ends: that of the last record, or a later one up to which it is known to hold. BadNoData tells that nothing is
/// known from then on.
pub(crate) fn end_of_data(
    records: &mut impl Records,
    known_until: Option<DateTime>,
) -> Result<Option<DateTime>, HistoryError> {
    let last = records.at_or_before(DateTime(i64::MAX))?;
    Ok(last.map(|record| match known_until {
        Some(known) if record.status != StatusCode::BadNoData => known.max(record.source_timestamp),
        _ => record.source_timestamp,
    }))
}

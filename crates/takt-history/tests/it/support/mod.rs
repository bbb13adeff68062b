//! Records and queries for tests. Times are seconds after an epoch.

use takt_history::*;
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

/// Time 0, as ticks.
pub(crate) const EPOCH: i64 = 133_000_000_000_000_000;

pub(crate) fn time(seconds: f64) -> DateTime {
    DateTime(EPOCH + (seconds * 1e7).round() as i64)
}

/// A moment at which both clocks are right.
pub(crate) fn moment(seconds: f64) -> StoreTime {
    StoreTime {
        date_time: time(seconds),
        since_boot: std::time::Duration::from_secs_f64(1000. + seconds),
    }
}

pub(crate) fn seconds(time: DateTime) -> f64 {
    (time.0 - EPOCH) as f64 / 1e7
}

pub(crate) fn record(at: f64, value: &Variant, status: u32) -> HistoryRecord {
    HistoryRecord {
        source_timestamp: time(at),
        server_timestamp: time(at),
        status: StatusCode(status),
        value: value.encode_to_vec(),
    }
}

pub(crate) fn with_status(records: &[(f64, f64, u32)]) -> MemoryRecords {
    let record =
        |(at, value, status): &(f64, f64, u32)| record(*at, &Variant::Double(*value), *status);
    MemoryRecords::new(records.iter().map(record).collect())
}

pub(crate) fn good(records: &[(f64, f64)]) -> MemoryRecords {
    let all: Vec<_> = records.iter().map(|(at, value)| (*at, *value, 0)).collect();
    with_status(&all)
}

pub(crate) fn of_values(records: &[(f64, Variant)]) -> MemoryRecords {
    let all = records.iter().map(|(at, value)| record(*at, value, 0));
    MemoryRecords::new(all.collect())
}

const BAD: u32 = 0x8000_0000;
const UNCERTAIN: u32 = 0x4000_0000;

/// Historian 1 of OPC 10000-13, A.1.1.
pub(crate) fn historian_1() -> MemoryRecords {
    with_status(&[
        (0., 0., 0x809B_0000),
        (10., 10., 0),
        (20., 20., 0),
        (30., 30., 0),
        (40., 40., BAD),
        (50., 50., 0),
        (60., 60., 0),
        (70., 70., UNCERTAIN),
        (80., 80., 0),
        (90., 90., 0),
    ])
}

/// Historian 2 of OPC 10000-13, A.1.2.
pub(crate) fn historian_2() -> MemoryRecords {
    with_status(&[
        (0., 0., 0x809B_0000),
        (2., 10., 0),
        (25., 20., 0),
        (28., 25., 0),
        (39., 30., 0),
        (42., 0., BAD),
        (48., 40., 0),
        (52., 50., 0),
        (72., 60., 0),
        (77., 70., UNCERTAIN),
        (83., 70., 0),
        (86., 80., 0),
        (90., 90., 0),
    ])
}

pub(crate) fn sloped(treat_uncertain_as_bad: bool) -> AggregateSettings {
    AggregateSettings {
        treat_uncertain_as_bad,
        ..AggregateSettings::new(false)
    }
}

pub(crate) fn stepped() -> AggregateSettings {
    AggregateSettings::new(true)
}

pub(crate) fn decode(output: &QueryOutput) -> Vec<DataValue> {
    let mut decoder = Decoder::new(output.encoded());
    let values: Vec<_> = (0..output.count())
        .map(|_| DataValue::decode(&mut decoder).unwrap())
        .collect();
    assert!(decoder.rest().is_empty());
    values
}

pub(crate) fn unlimited() -> QueryOutput {
    QueryOutput::new(ValueForm::default(), u32::MAX, usize::MAX)
}

pub(crate) fn processed(
    records: &mut impl Records,
    aggregate: Aggregate,
    start: f64,
    end: f64,
    interval: f64,
    settings: AggregateSettings,
) -> Vec<DataValue> {
    let query = ProcessedQuery::new(aggregate, time(start), time(end), interval, settings);
    let mut query = query.unwrap();
    let mut output = unlimited();
    // Small slices, so that each test covers their ends.
    while query
        .run(records, &mut output, &mut Budget::new(2))
        .unwrap()
        != QueryProgress::Complete
    {}
    decode(&output)
}

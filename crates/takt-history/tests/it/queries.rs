//! Raw values and values at given times; queries over the store against a naive evaluation.

use crate::support::*;
use proptest::prelude::*;
use takt_history::*;
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

/// Runs a query with outputs of `page` values, each from the position of the one before.
fn raw(
    records: &mut impl Records,
    (start, end, number, bounds): (Option<DateTime>, Option<DateTime>, u32, bool),
    page: u32,
) -> Vec<DataValue> {
    let mut query = RawQuery::new(start, end, number, bounds).unwrap();
    let mut values = Vec::new();
    loop {
        // With both times given, the number is the size of a page and not that of the query.
        let page = if number > 0 && end.is_some() && start.is_some() {
            number
        } else {
            page
        };
        let mut output = QueryOutput::new(ValueForm::default(), page, usize::MAX);
        while query
            .run(records, &mut output, &mut Budget::new(3))
            .unwrap()
            == QueryProgress::Unfinished
        {}
        values.extend(decode(&output));
        let Some(position) = query.position() else {
            return values;
        };
        query = RawQuery::new(start, end, number, bounds).unwrap();
        query.resume(position);
    }
}

fn times(values: &[DataValue]) -> Vec<f64> {
    values
        .iter()
        .map(|value| seconds(value.source_timestamp.unwrap()))
        .collect()
}

fn at(seconds: f64) -> Option<DateTime> {
    Some(time(seconds))
}

/// The examples of bounding values of OPC 10000-11, with 5:00, 5:02, 5:03, 5:05 and 5:06 as 0, 2, 3, 5 and 6.
#[test]
fn ranges_and_bounds() {
    let mut records = good(&[(0., 0.), (2., 2.), (3., 3.), (5., 5.), (6., 6.)]);
    let mut read =
        |start, end, number, bounds| times(&raw(&mut records, (start, end, number, bounds), 100));
    assert_eq!(read(at(0.), at(5.), 0, false), [0., 2., 3.]);
    assert_eq!(read(at(0.), at(5.), 0, true), [0., 2., 3., 5.]);
    assert_eq!(read(at(1.), at(4.), 0, false), [2., 3.]);
    assert_eq!(read(at(1.), at(4.), 0, true), [0., 2., 3., 5.]);
    assert_eq!(read(at(5.), at(0.), 0, false), [5., 3., 2.]);
    assert_eq!(read(at(5.), at(0.), 0, true), [5., 3., 2., 0.]);
    assert_eq!(read(at(4.), at(1.), 0, true), [5., 3., 2., 0.]);
    assert_eq!(
        read(at(-1.), at(7.), 0, true),
        [-1., 0., 2., 3., 5., 6., 7.]
    );
    assert_eq!(read(at(1.), None, 3, false), [2., 3., 5.]);
    assert_eq!(read(at(1.), None, 3, true), [0., 2., 3.]);
    assert_eq!(read(None, at(4.), 2, false), [3., 2.]);
    assert_eq!(read(at(5.), None, 9, true), [5., 6., 7.]);
    assert_eq!(read(at(3.), at(3.), 0, false), [3.]);
    assert_eq!(read(at(4.), at(4.), 0, false), [] as [f64; 0]);
    let bounds = raw(&mut good(&[]), (at(0.), at(1.), 0, true), 100);
    let statuses: Vec<_> = bounds.iter().map(DataValue::status_code).collect();
    assert_eq!(statuses, [StatusCode::BadBoundNotFound; 2]);
    for (start, end, number) in [
        (None, None, 5),
        (at(0.), None, 0),
        (None, at(0.), 0),
        (None, None, 0),
    ] {
        let refused = RawQuery::new(start, end, number, false).unwrap_err();
        assert_eq!(refused, StatusCode::BadHistoryOperationInvalid);
    }
}

#[test]
fn a_query_that_ends_with_its_output_has_no_position() {
    let mut records = good(&[(0., 0.), (1., 1.), (2., 2.)]);
    let mut query = RawQuery::new(at(0.), at(9.), 3, false).unwrap();
    let mut output = QueryOutput::new(ValueForm::default(), 3, usize::MAX);
    let progress = query
        .run(&mut records, &mut output, &mut Budget::new(100))
        .unwrap();
    assert_eq!(
        (progress, query.position(), output.count()),
        (QueryProgress::Complete, None, 3)
    );
}

#[test]
fn values_at_given_times() {
    let mut records = with_status(&[
        (0., 0., 0),
        (10., 10., 0),
        (20., 20., 0x8000_0000),
        (30., 30., 0),
    ]);
    let mut read = |seconds: &[f64], simple| {
        let times = seconds.iter().map(|at| time(*at)).collect();
        let mut query = AtTimeQuery::new(times, simple, sloped(true));
        let mut output = unlimited();
        while query
            .run(&mut records, &mut output, &mut Budget::new(1))
            .unwrap()
            != QueryProgress::Complete
        {}
        let row = |value: &DataValue| (value.value.clone(), value.status_code().0);
        decode(&output).iter().map(row).collect::<Vec<_>>()
    };
    let double = |value| Some(Variant::Double(value));
    let doubtful = 0x40A4_0402;
    assert_eq!(
        read(&[10., 5., -1., 20., 15., 40.], false),
        [
            (double(10.), 0),
            (double(5.), 0x402),
            (None, 0x809B_0000),
            (double(20.), 0x8000_0000),
            (double(15.), doubtful),
            (double(30.), doubtful),
        ]
    );
    // Between a Good record and a Bad one, the Good one is continued; after a Bad one there is nothing.
    assert_eq!(
        read(&[15., 25.], true),
        [(double(10.), doubtful), (None, 0x809B_0000)]
    );
}

#[derive(Debug, Clone)]
struct Stored {
    at: u16,
    value: i32,
    bad: bool,
}

fn stored() -> impl Strategy<Value = Vec<Vec<Stored>>> {
    let record = (0_u16..400, any::<i32>(), prop::bool::weighted(0.1));
    let record = record.prop_map(|(at, value, bad)| Stored { at, value, bad });
    prop::collection::vec(prop::collection::vec(record, 0..60), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// The store with its blocks, in batches of any order, is the same as a sorted list.
    #[test]
    fn the_store_agrees_with_a_list(
        batches in stored(), size in 1_usize..2000,
        (start, end) in (0_u16..420, 0_u16..420), (number, page) in (0_u32..40, 1_u32..50), bounds: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.redb");
        let mut store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
        let key = store.variable("A", None).unwrap();
        let other = store.variable("B", None).unwrap();
        let mut all = Vec::new();
        for batch in &batches {
            let mut appended = Vec::new();
            for stored in batch {
                // Long values make blocks of few records.
                let value = Variant::from(vec![stored.value; size.min(400)]);
                let status = if stored.bad { 0x8000_0000 } else { 0 };
                let record = record(f64::from(stored.at), &value, status);
                all.push(record.clone());
                // A second Variable with the same times: its records are no records of the first one.
                appended.push((other, crate::support::record(f64::from(stored.at), &Variant::from(1), 0)));
                appended.push((key, record));
            }
            store.append(appended, moment(1000.)).unwrap();
        }
        let mut memory = MemoryRecords::new(all);
        let mut stored = store.reader().records(key).unwrap();
        let query = (at(f64::from(start)), at(f64::from(end)), number, bounds);
        let expected = raw(&mut memory, query, 10_000);
        prop_assert_eq!(raw(&mut stored, query, page), expected);
        for seconds in 0..420 {
            let time = time(f64::from(seconds));
            let found = stored.at_or_before(time).unwrap().map(|record| record.to_owned());
            prop_assert_eq!(found, memory.at_or_before(time).unwrap().map(|record| record.to_owned()));
            let found = stored.at_or_after(time).unwrap().map(|record| record.to_owned());
            prop_assert_eq!(found, memory.at_or_after(time).unwrap().map(|record| record.to_owned()));
        }
        drop((stored, store));
        let mut again = Store::open(&path, HistoryStoreOptions::default()).unwrap();
        let key = again.variable("A", None).unwrap();
        let mut stored = again.reader().records(key).unwrap();
        prop_assert_eq!(raw(&mut stored, query, page), raw(&mut memory, query, 10_000));
    }

    /// Sums of an interval are those of a simple loop.
    #[test]
    fn aggregates_agree_with_a_loop(
        values in prop::collection::btree_map(0_u16..200, (-100_i32..100, 0_u32..3), 1..60),
        (start, length) in (0_u16..150, 1_u16..80),
    ) {
        let list: Vec<_> = values.iter()
            // The two highest bits are the severity: Good, Uncertain, Bad.
            .map(|(at, (value, status))| (f64::from(*at), f64::from(*value), status << 30))
            .collect();
        let mut records = with_status(&list);
        let (start, end) = (f64::from(start), f64::from(start + length));
        let inside: Vec<_> = list.iter().filter(|(at, ..)| (start..end).contains(at)).collect();
        let good: Vec<f64> = inside.iter().filter(|row| row.2 == 0).map(|row| row.1).collect();
        let mut one = |aggregate| {
            let values = processed(&mut records, aggregate, start, end, 0., sloped(true));
            match values[0].value {
                Some(Variant::Double(number)) => Some(number),
                Some(Variant::Int32(number)) => Some(f64::from(number)),
                _ => None,
            }
        };
        let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-6);
        if good.is_empty() {
            prop_assert_eq!(one(Aggregate::Minimum), None);
        } else {
            let count = good.len() as f64;
            let mean = good.iter().sum::<f64>() / count;
            let variance = good.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            let minimum = good.iter().copied().fold(f64::INFINITY, f64::min);
            let maximum = good.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(close(one(Aggregate::Count), count));
            prop_assert!(close(one(Aggregate::Average), mean));
            prop_assert!(close(one(Aggregate::Minimum), minimum));
            prop_assert!(close(one(Aggregate::Maximum), maximum));
            prop_assert!(close(one(Aggregate::Range), maximum - minimum));
            prop_assert!(close(one(Aggregate::VariancePopulation), variance));
            // The area, in steps of 1 ms, of the line through the Good points.
            let points: Vec<_> = list.iter().filter(|row| row.2 == 0).collect();
            if points[0].0 <= start && points[points.len() - 1].0 >= end {
                let value = |at: f64| {
                    let right = points.iter().position(|point| point.0 >= at).unwrap();
                    let (right, left) = (points[right], points[right.saturating_sub(1)]);
                    if right.0 == left.0 { right.1 } else { left.1 + (right.1 - left.1) * (at - left.0) / (right.0 - left.0) }
                };
                // Corners lie on whole seconds, so the trapezes are exact.
                let area: f64 = (start as u32..end as u32)
                    .map(|at| f64::midpoint(value(f64::from(at)), value(f64::from(at + 1))))
                    .sum();
                prop_assert!(close(one(Aggregate::Total), area), "{:?} {}", one(Aggregate::Total), area);
            }
        }
    }
}

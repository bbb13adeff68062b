//! Size, age, order of time, and values that are too large.

use std::time::Duration;

use crate::support::*;
use takt_history::*;
use takt_ua::{DateTime, StatusCode, Variant};

fn numbers(from: u32, to: u32) -> impl Iterator<Item = HistoryRecord> {
    (from..to).map(|index| {
        record(
            f64::from(index),
            &Variant::Double(f64::from(index) * 0.7),
            0,
        )
    })
}

fn count(store: &Store, key: VariableKey) -> (usize, Option<f64>) {
    let mut records = store.reader().records(key).unwrap();
    let (mut count, mut at, mut first) = (0, DateTime(0), None);
    while let Some(record) = records.at_or_after(at).unwrap() {
        first.get_or_insert(seconds(record.source_timestamp));
        at = DateTime(record.source_timestamp.0 + 1);
        count += 1;
    }
    (count, first)
}

#[test]
fn the_variable_with_most_records_gives_up_its_oldest_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let options = HistoryStoreOptions {
        max_size: 1 << 20,
        max_age: None,
    };
    let mut store = Store::open(&path, options).unwrap();
    let rare = store.variable("rare", None).unwrap();
    let often = store.variable("often", None).unwrap();
    store
        .append(
            numbers(0, 100).map(|record| (rare, record)).collect(),
            moment(0.),
        )
        .unwrap();
    for step in 0..100 {
        let records = numbers(step * 2000, (step + 1) * 2000);
        store
            .append(records.map(|record| (often, record)).collect(), moment(0.))
            .unwrap();
        assert!(store.size() <= 1 << 20);
    }
    assert_eq!(count(&store, rare), (100, Some(0.)));
    let (kept, first) = count(&store, often);
    assert!((60_000..100_000).contains(&kept), "{kept}");
    assert_eq!(
        first,
        Some(f64::from(200_000 - u32::try_from(kept).unwrap()))
    );
    // The pages of removed records are used again.
    let used = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(&path).unwrap()) * 512;
    assert!(used < 3 << 20, "{used}");
    // The limits hold after a restart, too.
    let size = store.size();
    drop(store);
    let store = Store::open(&path, options).unwrap();
    assert_eq!(store.size(), size);
}

#[test]
fn old_records_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let options = HistoryStoreOptions {
        max_age: Some(Duration::from_secs(10_000)),
        ..HistoryStoreOptions::default()
    };
    let mut store = Store::open(&folder.path().join("history.redb"), options).unwrap();
    let all = store.variable("all", None).unwrap();
    let short = store
        .variable("short", Some(Duration::from_secs(2_000)))
        .unwrap();
    let records = numbers(0, 20_000).flat_map(|record| [(all, record.clone()), (short, record)]);
    store.append(records.collect(), moment(20_000.)).unwrap();
    // A block has at most 400 of these records.
    let (kept, first) = count(&store, all);
    assert!((10_000..10_400).contains(&kept), "{kept}");
    assert!(first.unwrap() <= 10_000.);
    let (kept, _) = count(&store, short);
    assert!((2_000..2_400).contains(&kept), "{kept}");
    // Without new records, the last block stays.
    store.append(Vec::new(), moment(90_000.)).unwrap();
    assert!(count(&store, all).0 > 0);
}

#[test]
fn a_jump_of_the_clock_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let options = HistoryStoreOptions {
        max_age: Some(Duration::from_secs(10_000)),
        ..HistoryStoreOptions::default()
    };
    // The same boot, and a real-time clock that is wrong from the given time on.
    let at = |seconds: f64, jump: f64| StoreTime {
        date_time: time(seconds + jump),
        ..moment(seconds)
    };
    let records = |from, to, key| numbers(from, to).map(move |record| (key, record)).collect();
    let mut store = Store::open(&path, options).unwrap();
    let key = store.variable("A", None).unwrap();
    store
        .append(records(0, 5_000, key), at(5_000., 0.))
        .unwrap();
    let far = 12. * 365. * 86_400.;
    for (step, jump) in [far, 86_400., 3_600., -3_600., -86_400., -far]
        .into_iter()
        .enumerate()
    {
        let start = 5_000 + 100 * u32::try_from(step).unwrap();
        for second in [0, 30, 60] {
            let now = at(f64::from(start + second), jump);
            let written = numbers(start + second, start + second + 1);
            let written = written.map(|record| HistoryRecord {
                source_timestamp: DateTime(record.source_timestamp.0 + (jump * 1e7) as i64),
                ..record
            });
            store
                .append(written.map(|record| (key, record)).collect(), now)
                .unwrap();
        }
        let back = at(f64::from(start + 90), 0.);
        store.append(Vec::new(), back).unwrap();
        let kept = records_in(&store, key, 0., 5_000.);
        assert_eq!(kept, 5_000, "a jump of {jump} s");
    }
    // The age holds over a restart, at which the clock is wrong again.
    drop(store);
    let mut store = Store::open(&path, options).unwrap();
    let key = store.variable("A", None).unwrap();
    store.append(Vec::new(), at(6_000., far)).unwrap();
    assert_eq!(records_in(&store, key, 0., 5_000.), 5_000);
    // A clock that has been right for an hour counts.
    for seconds in [6_010., 10_000., 14_000.] {
        store.append(Vec::new(), at(seconds, 0.)).unwrap();
    }
    let kept = records_in(&store, key, 0., 5_000.);
    assert!((1_000..1_500).contains(&kept), "{kept}");
}

/// Returns the number of records in a range of seconds.
fn records_in(store: &Store, key: VariableKey, from: f64, to: f64) -> usize {
    let mut records = store.reader().records(key).unwrap();
    let (mut at, mut count) = (time(from), 0);
    while let Some(record) = records.at_or_after(at).unwrap() {
        if record.source_timestamp >= time(to) {
            break;
        }
        at = DateTime(record.source_timestamp.0 + 1);
        count += 1;
    }
    count
}

#[test]
fn a_clock_that_is_set_back_keeps_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(
        &folder.path().join("history.redb"),
        HistoryStoreOptions::default(),
    )
    .unwrap();
    let key = store.variable("A", None).unwrap();
    // The second batch begins before the first one and ends within it, and the third one replaces its last record.
    for (from, to) in [(1000, 3000), (0, 1500), (2999, 3001)] {
        let records = numbers(from, to).map(|record| (key, record)).collect();
        store.append(records, moment(0.)).unwrap();
    }
    assert_eq!(count(&store, key), (3001, Some(0.)));
}

#[test]
fn a_record_that_cannot_be_kept_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(
        &folder.path().join("history.redb"),
        HistoryStoreOptions::default(),
    )
    .unwrap();
    let key = store.variable("A", None).unwrap();
    // With its type and length, the encoded array is a few bytes longer than MAX_VALUE.
    let large = record(0., &Variant::from(vec![0_u8; MAX_VALUE]), 0);
    let early = HistoryRecord {
        source_timestamp: DateTime(-1),
        ..record(1., &Variant::from(1), 0)
    };
    let fits = record(2., &Variant::from(vec![0_u8; MAX_VALUE - 100]), 0);
    let records = vec![(key, large), (key, early), (key, fits)];
    let appended = store.append(records, moment(0.)).unwrap();
    assert_eq!(
        appended,
        Appended {
            recorded: 1,
            refused: 2
        }
    );
    // At the time of the large value nothing is known.
    let mut records = store.reader().records(key).unwrap();
    let unknown = records.at_or_before(time(1.)).unwrap().unwrap();
    assert_eq!(unknown.status, StatusCode::BadNoData);
    assert!(unknown.value.is_empty());
    assert_eq!(count(&store, key), (2, Some(0.)));
}

#[test]
fn a_store_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let _store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
    let second = Store::open(&path, HistoryStoreOptions::default()).unwrap_err();
    let is_in_use =
        matches!(&second, HistoryError::File(error) if matches!(error.fault, DatabaseFault::InUse));
    assert!(is_in_use, "{second}");
}

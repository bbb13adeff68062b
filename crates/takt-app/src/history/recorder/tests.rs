//! Gaps: times in which nothing was recorded, by a clock of the tests.

use std::sync::Weak;

use takt_history::{
    Aggregate, AggregateSettings, AtTimeQuery, Budget, HistoryStoreOptions, ProcessedQuery,
    QueryOutput, Records, Store, ValueForm, VariableKey,
};
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

use super::super::inbox::Sample;
use super::super::sampled::Sampled;
use super::super::worker::MAX_ATTEMPT;
use super::*;

/// Start of the tests in ticks: some day of 2026.
const START: i64 = 134_000_000_000_000_000;

struct Test {
    _folder: tempfile::TempDir,
    worker: Worker,
    key: VariableKey,
    start: Instant,
}

impl Test {
    fn new(recording: Recording) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.redb");
        let mut store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
        let key = store.variable("Level", None).unwrap();
        let recorded = (Arc::default(), Arc::default());
        let store = (store, Arc::default());
        let mut worker = Worker::new(Weak::new(), store, recorded, Arc::default());
        worker.by_key.insert(key, 0);
        let sampled = Sampled::new(NodeId::string(1, "Level"), (key, recording), None);
        worker.sampled.push(sampled);
        Self {
            _folder: folder,
            worker,
            key,
            start: Instant::now(),
        }
    }

    /// Takes a sample at a time of both clocks, in seconds.
    fn take(&mut self, at: f64, shown: f64, value: f64) {
        let time = DateTime(START + (shown * 1e7) as i64);
        let sample = Sample {
            value: Variant::Double(value).encode_to_vec(),
            status: StatusCode::Good,
            source_timestamp: None,
            arrived: time,
            at: self.start + Duration::from_secs_f64(at),
        };
        self.worker.take(0, sample);
    }

    /// Returns the records: times in seconds, and values; `None` is BadNoData.
    fn records(&mut self) -> Vec<(f64, Option<f64>)> {
        self.worker.commit();
        let mut records = self.worker.store.reader().records(self.key).unwrap();
        let (mut at, mut all) = (DateTime(0), Vec::new());
        while let Some(record) = records.at_or_after(at).unwrap() {
            at = DateTime(record.source_timestamp.0 + 1);
            let value = match record.status {
                StatusCode::BadNoData => None,
                _ => match Variant::decode(&mut Decoder::new(record.value)).unwrap() {
                    Variant::Double(value) => Some(value),
                    other => panic!("{other:?}"),
                },
            };
            let seconds = (record.source_timestamp.0 - START) as f64 / 1e7;
            all.push(((seconds * 1e3).round() / 1e3, value));
        }
        all
    }

    /// Returns the StatusCodes of the time-weighted average of a range, and of the value in its middle.
    fn statuses(&self, from: f64, to: f64) -> (StatusCode, StatusCode) {
        let time = |seconds: f64| DateTime(START + (seconds * 1e7) as i64);
        let mut records = self.worker.store.reader().records(self.key).unwrap();
        let settings = AggregateSettings::new(true);
        let query =
            ProcessedQuery::new(Aggregate::TimeAverage, time(from), time(to), 0.0, settings);
        let mut output = QueryOutput::new(ValueForm::default(), 10, 1 << 20);
        let budget = &mut Budget::new(1 << 20);
        query
            .unwrap()
            .run(&mut records, &mut output, budget)
            .unwrap();
        let mut at_time = AtTimeQuery::new(vec![time(f64::midpoint(from, to))], true, settings);
        at_time.run(&mut records, &mut output, budget).unwrap();
        let mut decoder = Decoder::new(output.encoded());
        let mut next = || DataValue::decode(&mut decoder).unwrap().status_code();
        (next(), next())
    }
}

#[test]
fn lost_records_are_a_gap() {
    let mut test = Test::new(Recording::changes());
    for second in 0..10 {
        let second = f64::from(second);
        test.take(second, second, second);
    }
    assert_eq!(test.records().len(), 10);
    // While commits fail, less may wait.
    test.worker.failing = true;
    test.worker.waiting_bytes = MAX_ATTEMPT;
    for second in 10..30 {
        let second = f64::from(second);
        test.take(second, second, second);
    }
    assert_eq!(test.worker.inbox.counts().lost, 20);
    test.worker.waiting_bytes = 0;
    let records = test.records();
    assert_eq!(records[9..], [(9., Some(9.)), (10., None)]);
    // The present value is recorded, although it is the last lost one.
    assert!(test.worker.sampled[0].is_missing);
    test.take(30., 30., 29.);
    let records = test.records();
    assert_eq!(records[10..], [(10., None), (30., Some(29.))]);
    let bad = StatusCode::BadNoData;
    assert_eq!(test.statuses(12., 28.), (bad, bad));
    let (average, value) = test.statuses(2., 8.);
    assert!(average.is_good() && value.is_good(), "{average} {value}");
    test.take(31., 31., 31.);
    assert_eq!(test.records().len(), 13, "a gap is recorded once");
}

#[test]
fn the_time_that_a_clock_skips_is_a_gap() {
    for (jump, recording) in [
        (3600., Recording::changes()),
        (86_400., Recording::sampled(Duration::from_secs(1))),
        (12. * 365. * 86_400., Recording::changes()),
    ] {
        let mut test = Test::new(recording);
        test.take(0., 0., 1.);
        test.take(1., 1., 2.);
        test.take(2., 2. + jump, 2.);
        test.take(3., 3. + jump, 3.);
        let expected = [
            (0., Some(1.)),
            (1., Some(2.)),
            (2., None),
            (2. + jump, Some(2.)),
            (3. + jump, Some(3.)),
        ];
        assert_eq!(test.records(), expected);
        let bad = StatusCode::BadNoData;
        assert_eq!(test.statuses(10., 1000.), (bad, bad));
    }
    // A clock that is set back skips nothing: its records are inserted.
    let mut test = Test::new(Recording::changes());
    for (at, shown, value) in [(0., 0., 1.), (1., -3600., 2.), (2., -3599., 3.)] {
        test.take(at, shown, value);
    }
    let expected = [(-3600., Some(2.)), (-3599., Some(3.)), (0., Some(1.))];
    assert_eq!(test.records(), expected);
}

#[test]
fn a_time_without_samples_is_a_gap() {
    let mut test = Test::new(Recording::changes().interval(Duration::from_millis(100)));
    for (at, value) in [(0., 1.), (0.1, 1.), (2., 1.), (21., 1.), (21.1, 2.)] {
        test.take(at, at, value);
    }
    let expected = [
        (0., Some(1.)),
        (2., None),
        (21., Some(1.)),
        (21.1, Some(2.)),
    ];
    assert_eq!(test.records(), expected);
    let bad = StatusCode::BadNoData;
    assert_eq!(test.statuses(3., 20.), (bad, bad));
}

#[test]
fn a_start_with_a_clock_that_is_behind_marks_the_last_record() {
    let mut test = Test::new(Recording::changes());
    test.take(0., 0., 1.);
    let far = 20. * 365. * 86_400.;
    test.worker.sampled[0].seen = None;
    test.take(1., far, 2.);
    assert_eq!(test.records().len(), 2);
    // Now is between the two records.
    let time = test.worker.mark_gap(test.key).unwrap();
    let (first, last) = (START + 1, START + (far * 1e7) as i64 + 1);
    assert_eq!(time, DateTime(first));
    let marked: Vec<_> = test.worker.waiting.iter().collect();
    let times: Vec<_> = marked
        .iter()
        .map(|(_, record)| record.source_timestamp.0)
        .collect();
    assert_eq!(times, [last, first]);
    test.worker.commit();
    assert_eq!(test.worker.mark_gap(test.key), Some(DateTime(first)));
    assert!(test.worker.waiting.is_empty(), "marked once");
}

//! Samples that an observer gets.

use takt_analysis::{AnalysisOptions, DelaySample, RunAnalysis, SampleObserver};
use takt_control::TracePoint::{self, T1, T4, T5, T8};

use crate::runs::files::Files;

/// Counter, beginning, delay, and whether the sample is counted, of each interval between two trace points.
#[derive(Default)]
struct Samples(Vec<(TracePoint, TracePoint, u64, i64, i64, bool)>);

impl SampleObserver for Samples {
    fn delay(&mut self, it: &DelaySample) {
        let (from, to) = (it.interval.from, it.interval.to);
        let sample = (from, to, it.counter, it.began, it.nanos, it.is_counted);
        self.0.push(sample);
    }
}

#[test]
fn each_delay_is_passed_on_with_its_beginning() {
    let mut files = Files::new();
    let publisher = [
        (T1, 1, 1_000),
        (T8, 1, 1_400),
        (T1, 2, 2_000),
        // Message 3 comes back before message 2, and again after it.
        (T1, 3, 3_000),
        (T8, 3, 3_200),
        (T8, 2, 3_300),
        (T8, 3, 3_400),
        (T1, 4, 4_000),
        // The clock was set back.
        (T8, 4, 3_900),
        (T1, 5, 5_000),
        (T8, 5, 5_700),
    ];
    files.trace("publisher.trace", 0, &publisher);
    files.trace("loopback.trace", 0, &[(T4, 2, 90), (T5, 2, 99)]);
    let options = AnalysisOptions {
        trim: 1,
        synchronized: false,
    };
    let mut samples = Samples::default();
    let run = RunAnalysis::observed(&files.files, &options, &mut samples).unwrap();
    let mut round_trips = samples.0.clone();
    round_trips.retain(|it| it.0 == T1);
    let expected = [
        (T1, T8, 1, 1_000, 400, false),
        (T1, T8, 3, 3_000, 200, true),
        (T1, T8, 2, 2_000, 1_300, true),
        (T1, T8, 5, 5_000, 700, false),
    ];
    round_trips.sort_by_key(|it| it.3 + it.4);
    assert_eq!(round_trips, expected);
    assert!(samples.0.contains(&(T4, T5, 2, 90, 9, true)));
    let counted = samples.0.iter().filter(|it| it.5).count() as u64;
    let delays = run.intervals.iter().map(|it| it.delay.count());
    assert_eq!(counted, delays.sum::<u64>());
}

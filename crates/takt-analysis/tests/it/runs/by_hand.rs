//! Runs of a few messages, computed by hand.

use takt_analysis::{AnalysisError, CapturePort, SentStamp};
use takt_control::TracePoint::{T1, T2, T3, T4, T5, T6, T7, T8};
use takt_ua::Variant;

use crate::runs::files::{Files, loopback_port};
use crate::runs::{analyze, counters, interval, losses, point, summary};

fn counter(value: u64) -> Variant {
    Variant::UInt64(value)
}

#[test]
fn a_capture_of_both_directions_has_the_wire_round_trip() {
    let mut files = Files::new();
    // The loopback sends 0 before it receives something, and its last counter again when nothing has come.
    files.capture(
        "a.pcap",
        CapturePort::default(),
        &[
            (2, counter(0), 900),
            (1, counter(1), 1_000),
            (1, counter(2), 251_000),
            (2, counter(1), 501_500),
            (1, counter(3), 501_600),
            (2, counter(1), 751_000),
            (1, counter(4), 751_200),
            (2, counter(3), 1_001_000),
        ],
    );
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!((run.first_counter, run.last_counter), (1, 4));
    let trip = interval(&run, T2, T7);
    assert_eq!(trip.interval.name, "wire round trip");
    // Counter 1: 500 500 ns; counter 3: 499 400 ns.
    let found = summary(&trip.delay);
    assert_eq!(found, (2, Some([499_400, 499_400, 500_500]), 999_900));
    assert_eq!(trip.delay.mean(), Some(499_950.0));
    assert_eq!(summary(&trip.jitter), (1, Some([1_100; 3]), 1_100));
    assert_eq!(counters(&run, T2), [0, 0, 0]);
    assert_eq!(counters(&run, T7), [1, 1, 0]);
    let spacing = summary(&point(&run, T2).spacing);
    assert_eq!(spacing, (3, Some([249_600, 250_000, 250_600]), 750_200));
    assert_eq!(run.messages, 4);
    assert_eq!(losses(&run), Some(vec![(T2, 2)]));
}

#[test]
fn the_loopback_is_known_by_its_counters_not_by_its_place() {
    let frames = [
        (9, counter(5), 100),
        (7, counter(6), 200),
        (9, counter(6), 400),
        (7, counter(7), 500),
        (9, counter(7), 800),
    ];
    let mut files = Files::new();
    files.capture("a.pcap", loopback_port(), &frames);
    let run = analyze(&files, 0, false).unwrap();
    let found = summary(&interval(&run, T3, T6).delay);
    assert_eq!(found, (2, Some([200, 200, 300]), 500));
    // The PublisherIds may also be given.
    let mut files = Files::new();
    let port = CapturePort {
        publisher_id: Some("9".to_owned()),
        ..CapturePort::default()
    };
    files.capture("a.pcap", port, &frames);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(point(&run, T2).counters.messages, 3);
    assert_eq!((run.points.len(), run.intervals.len()), (1, 0));
}

#[test]
fn two_hosts_and_their_captures_have_all_intervals() {
    let mut files = Files::new();
    let utc = 1_000_000_000_000_i64;
    let at = |nanos: i64| utc + nanos;
    let tai = |offset: i64, nanos: i64| utc + offset * 1_000_000_000 + nanos;
    let (mut publisher, mut loopback) = (Vec::new(), Vec::new());
    let (mut port, mut other_port) = (Vec::new(), Vec::new());
    for number in 0..3_u64 {
        let start = i64::try_from(number).unwrap() * 1_000;
        publisher.extend([
            (T1, number, tai(37, start)),
            (T8, number, tai(37, start + 360)),
        ]);
        port.extend([
            (1, counter(number), at(start + 10)),
            (2, counter(number), at(start + 280)),
        ]);
        other_port.extend([
            (1, counter(number), at(start + 30)),
            (2, counter(number), at(start + 210)),
        ]);
        // This host does not know the offset of TAI from UTC.
        loopback.extend([
            (T4, number, tai(0, start + 60)),
            (T5, number, tai(0, start + 150)),
        ]);
    }
    files.trace("publisher.trace", 37, &publisher);
    files.capture("publisher.pcap", CapturePort::default(), &port);
    files.trace("loopback.trace", 0, &loopback);
    files.capture("loopback.pcap", loopback_port(), &other_port);
    let run = analyze(&files, 0, true).unwrap();
    let mean = |from, to| interval(&run, from, to).delay.mean().unwrap();
    let steps = [T1, T2, T3, T4, T5, T6, T7, T8];
    let means: Vec<f64> = steps.windows(2).map(|it| mean(it[0], it[1])).collect();
    assert_eq!(means, [10.0, 20.0, 30.0, 90.0, 60.0, 70.0, 80.0]);
    assert_eq!((mean(T1, T8), mean(T2, T7)), (360.0, 270.0));
    assert_eq!(
        (mean(T3, T6), mean(T1, T4), mean(T5, T8)),
        (180.0, 60.0, 210.0)
    );
    // Without synchronized clocks, no time of one host is compared with one of the other.
    let run = analyze(&files, 0, false).unwrap();
    assert!(run.intervals.iter().all(|it| !it.interval.crosses_hosts()));
    let intervals = run
        .intervals
        .iter()
        .map(|it| (it.interval.from, it.interval.to));
    let expected = [
        (T1, T8),
        (T2, T7),
        (T1, T2),
        (T3, T4),
        (T4, T5),
        (T5, T6),
        (T7, T8),
        (T3, T6),
    ];
    assert_eq!(intervals.collect::<Vec<_>>(), expected);
}

#[test]
fn the_time_of_a_sent_frame_is_that_of_the_capture() {
    let mut files = Files::new();
    let publisher = [(7, counter(1), 100), (9, counter(1), 300)];
    let port = CapturePort {
        sent_stamp: SentStamp::FirstBit,
        ..CapturePort::default()
    };
    files.capture("publisher.pcap", port, &publisher);
    let loopback = [(7, counter(1), 150), (9, counter(1), 250)];
    files.capture("loopback.pcap", loopback_port(), &loopback);
    let run = analyze(&files, 0, true).unwrap();
    let stamps = run.points.iter().map(|it| (it.point, it.sent_stamp));
    let expected = [
        (T2, Some(SentStamp::FirstBit)),
        (T3, None),
        (T6, Some(SentStamp::Unknown)),
        (T7, None),
    ];
    assert_eq!(stamps.collect::<Vec<_>>(), expected);
    assert_eq!(run.sent_stamp(), Some(SentStamp::FirstBit));

    let mut files = Files::new();
    files.trace("publisher.trace", 37, &[(T1, 1, 100), (T8, 1, 300)]);
    assert_eq!(analyze(&files, 0, true).unwrap().sent_stamp(), None);
}

#[test]
fn both_ends_are_left_out() {
    let mut files = Files::new();
    let mut records = Vec::new();
    for number in 10..20_u64 {
        let time = i64::try_from(number).unwrap() * 1_000;
        let late = if (13..17).contains(&number) { 5 } else { 900 };
        records.extend([(T1, number, time), (T8, number, time + late)]);
    }
    files.trace("publisher.trace", 37, &records);
    let run = analyze(&files, 3, false).unwrap();
    assert_eq!(
        (run.first_counter, run.last_counter, run.messages),
        (13, 16, 4)
    );
    assert_eq!(
        summary(&interval(&run, T1, T8).delay),
        (4, Some([5; 3]), 20)
    );
    assert_eq!(summary(&point(&run, T1).spacing).0, 3);
    let error = analyze(&files, 5, false).unwrap_err();
    assert!(
        matches!(
            error,
            AnalysisError::TooShort {
                messages: 10,
                trim: 5
            }
        ),
        "{error}"
    );
    assert!(analyze(&files, u64::MAX, false).is_err());
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    let mut files = Files::new();
    files.trace("a.trace", 0, &[(T1, 1, 1)]);
    files.trace("b.trace", 0, &[(T1, 1, 1)]);
    let error = analyze(&files, 0, false).unwrap_err().to_string();
    assert!(error.ends_with("b.trace both have trace point T1: they are of different runs"));

    let mut files = Files::new();
    let frames = [1, 2, 2, 3].map(|id| (id, counter(1), 1));
    files.capture("a.pcap", CapturePort::default(), &frames);
    let error = analyze(&files, 0, false).unwrap_err().to_string();
    let senders = "PublisherId 2, WriterGroupId -, DataSetWriterId 1: 2";
    assert!(
        error.contains("messages of 3 senders") && error.contains(senders),
        "{error}"
    );

    let mut files = Files::new();
    files.write("a.txt", b"TAKTTRC", CapturePort::default());
    let error = analyze(&files, 0, false).unwrap_err();
    assert!(
        matches!(error, AnalysisError::UnknownFormat { .. }),
        "{error}"
    );

    let mut files = Files::new();
    files.trace("a.trace", 0, &[]);
    let error = analyze(&files, 0, false).unwrap_err();
    assert!(matches!(error, AnalysisError::NoMessages), "{error}");
}

//! Times from the thread to the port that no message can have.

use takt_analysis::{CapturePort, ImpossibleDelays, RunAnalysis};
use takt_control::TracePoint::{T1, T2, T5, T6, T8};
use takt_control::{Trace, TracePoint, trace_file};
use takt_ua::Variant;

use crate::runs::analyze;
use crate::runs::files::{Files, loopback_port};

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;
const UTC: i64 = 1_000 * SECOND;
const MESSAGES: u64 = 5;

/// Adds a trace with these times after the beginning of each cycle.
fn trace(files: &mut Files, name: &str, cycle: i64, points: &[(TracePoint, i64)]) {
    let mut trace = Trace::with_capacity(100);
    for (counter, start) in (0..MESSAGES).zip((UTC..).step_by(cycle as usize)) {
        for (point, after) in points {
            trace.add(*point, counter, start + after);
        }
    }
    let description = [
        ("tai_offset_s", "0".to_owned()),
        ("cycle_ns", cycle.to_string()),
    ];
    let mut bytes = Vec::new();
    trace_file::write(&mut bytes, &description, &trace).unwrap();
    files.write(name, &bytes, CapturePort::default());
}

/// Adds a capture of one sender, whose messages leave this time after the beginning of each cycle.
fn capture(files: &mut Files, name: &str, port: CapturePort, cycle: i64, after: i64) {
    let starts = (UTC..).step_by(cycle as usize);
    let frames = (0..MESSAGES)
        .zip(starts)
        .map(|(counter, start)| (1, Variant::UInt64(counter), start + after));
    files.capture(name, port, &frames.collect::<Vec<_>>());
}

fn impossible(files: &Files) -> (RunAnalysis, Vec<ImpossibleDelays>) {
    let run = analyze(files, 0, false).unwrap();
    let found = run.impossible_delays(0);
    (run, found)
}

/// ETF without offload hands a frame to the driver at its launch time: in the next cycle, however long that is.
#[test]
fn a_message_waits_for_its_launch_time_in_a_long_cycle() {
    let cycle = 2 * SECOND;
    let mut files = Files::new();
    let publisher = [(T1, 6 * SECOND / 5), (T8, 6 * SECOND)];
    trace(&mut files, "publisher.trace", cycle, &publisher);
    capture(
        &mut files,
        "publisher.pcap",
        CapturePort::default(),
        cycle,
        5 * SECOND / 2,
    );
    trace(&mut files, "loopback.trace", cycle, &[(T5, 3 * SECOND)]);
    capture(
        &mut files,
        "loopback.pcap",
        loopback_port(),
        cycle,
        9 * SECOND / 2,
    );
    let (run, found) = impossible(&files);
    assert_eq!(found, []);
    let doubts = run.doubts();
    assert!(!doubts.iter().any(|it| it.contains("clocks")), "{doubts:?}");
}

/// A clock that is ahead by less than a second is found, too.
#[test]
fn no_message_takes_longer_to_the_port_than_its_round_trip() {
    let cycle = MILLISECOND;
    let publisher = [(T1, 0), (T8, 700_000)];
    let mut files = Files::new();
    trace(&mut files, "publisher.trace", cycle, &publisher);
    let ahead = 300 * MILLISECOND;
    capture(
        &mut files,
        "publisher.pcap",
        CapturePort::default(),
        cycle,
        ahead,
    );
    let (run, found) = impossible(&files);
    let [only] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((only.long, only.limited, only.limit_nanos), (5, 5, None));
    assert!(only.are_most());
    let expected =
        "5 of 5 times are longer than the round trip of their message, T1 to T2, sending";
    let doubts = run.doubts();
    assert!(
        doubts.iter().any(|it| it.starts_with(expected)),
        "{doubts:?}"
    );
    // The loopback, whose host has a clock of its own.
    let mut files = Files::new();
    trace(&mut files, "publisher.trace", cycle, &publisher);
    trace(&mut files, "loopback.trace", cycle, &[(T5, 0)]);
    let frames: Vec<_> = (0..MESSAGES)
        .zip((UTC + ahead..).step_by(cycle as usize))
        .flat_map(|(counter, time)| {
            [(1, time - 1000), (2, time)]
                .map(|(publisher, at)| (publisher, Variant::UInt64(counter), at))
        })
        .collect();
    files.capture("loopback.pcap", loopback_port(), &frames);
    let (_, found) = impossible(&files);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].interval.from, found[0].interval.to), (T5, T6));
}

#[test]
fn without_answers_two_cycles_or_a_second_are_the_limit() {
    for (cycle, after, is_possible) in [
        (MILLISECOND, SECOND, true),
        (MILLISECOND, SECOND + 1, false),
        (2 * SECOND, 4 * SECOND, true),
        (2 * SECOND, 4 * SECOND + 1, false),
    ] {
        let mut files = Files::new();
        trace(&mut files, "publisher.trace", cycle, &[(T1, 0)]);
        capture(
            &mut files,
            "publisher.pcap",
            CapturePort::default(),
            cycle,
            after,
        );
        let (_, found) = impossible(&files);
        assert_eq!(found.is_empty(), is_possible, "{cycle} {after}: {found:?}");
        let points = found.iter().map(|it| (it.interval.from, it.interval.to));
        assert!(points.into_iter().all(|it| it == (T1, T2)));
    }
}

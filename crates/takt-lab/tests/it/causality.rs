//! Times of runs made by hand that contradict each other, and clocks of two hosts.

use std::path::PathBuf;

use takt_analysis::SentStamp;
use takt_lab::collect::{CollectError, CollectRequest, CollectedRun, collect};
use takt_lab::{CaseRecord, ClockAgreement, LoopEnd, StampClock, UnfinishedDirectory};
use takt_scenario::ScenarioFile;

use crate::files::{Files, RUN, START, TAI, TEXT, Wanted, wanted};

const MILLISECOND: i64 = 1_000_000;

fn collected(
    files: &Files,
    paths: &[PathBuf],
    card_stamps: &[PathBuf],
    is_synchronized: bool,
) -> Result<CollectedRun, CollectError> {
    let scenario = files.path("two.toml").display().to_string();
    let scenario = ScenarioFile::parse(TEXT, &scenario).unwrap();
    let request = CollectRequest {
        scenario: &scenario,
        text: TEXT,
        files: paths,
        at_loopback: &[],
        card_stamps,
        is_synchronized,
    };
    collect(&request, &UnfinishedDirectory::new(&files.path("run")))
}

/// Returns the trace of a loopback on another host, whose clock is ahead by some nanoseconds.
fn on_other_host(ahead: i64) -> Wanted {
    let mut other = wanted(LoopEnd::Loopback);
    other.boot = "b";
    other.start += ahead;
    other
}

fn ptp(host: &mut Vec<(String, String)>, grandmaster: &str, offset: &str) {
    for (name, value) in [
        ("PTP grandmaster", grandmaster),
        ("PTP steers", "system clock"),
        ("PTP offset", offset),
        ("PTP offset at the end", "0 ns"),
    ] {
        host.push((name.to_owned(), value.to_owned()));
    }
}

/// Messages that arrive before they are sent tell that the clocks are not synchronized, whatever the option says.
#[test]
fn clocks_that_contradict_the_order_of_a_message_are_not_synchronized() {
    let files = Files::new();
    let publisher = files.trace("publisher.trace", &wanted(LoopEnd::Publisher));
    // A message takes 0.2 ms there. With this clock, it arrives 0.3 ms before it is sent.
    let loopback = files.trace("loopback.trace", &on_other_host(-MILLISECOND / 2));
    let all = [publisher, loopback];
    let refused = collected(&files, &all, &[], true).unwrap_err();
    assert!(
        matches!(refused, CollectError::NotSynchronized { .. }),
        "{refused}"
    );
    let text = refused.to_string();
    for part in [
        "400 of 400 times are negative, down to -300.000 \u{b5}s",
        "(T1 to T4, one way between applications)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!files.path("run").exists());
    // Round trips need no common clock.
    let run = collected(&files, &all, &[], false).unwrap();
    assert!(!run.description.cases[0].synchronized);
    assert_eq!(
        run.description.cases[0].clocks,
        Some(ClockAgreement::Unknown)
    );
}

#[test]
fn clocks_of_two_hosts_are_known_by_their_facts_only() {
    let files = Files::new();
    let mut publisher = wanted(LoopEnd::Publisher);
    let mut loopback = on_other_host(0);
    let run = |files: &Files, publisher: &Wanted, loopback: &Wanted, is_synchronized| {
        let all = [
            files.trace("publisher.trace", publisher),
            files.trace("loopback.trace", loopback),
        ];
        let run = collected(files, &all, &[], is_synchronized).unwrap();
        std::fs::remove_dir_all(files.path("run")).unwrap();
        let case = &run.description.cases[0];
        (case.synchronized, case.clocks.unwrap())
    };
    assert_eq!(
        run(&files, &publisher, &loopback, true),
        (true, ClockAgreement::Unknown)
    );
    ptp(&mut publisher.host, "a", "0 ns");
    assert_eq!(
        run(&files, &publisher, &loopback, false),
        (false, ClockAgreement::Unknown)
    );
    ptp(&mut loopback.host, "a", "-900 ns");
    let margin_nanos = 900;
    let within = ClockAgreement::Within { margin_nanos };
    assert_eq!(run(&files, &publisher, &loopback, false), (true, within));
    // 300 ns of a message that arrives before it was sent are within the margin, 3 \u{b5}s of a few are not.
    loopback.start -= 200_300;
    assert_eq!(run(&files, &publisher, &loopback, false), (true, within));
    let mut other = on_other_host(0);
    ptp(&mut other.host, "b", "0 ns");
    assert_eq!(
        run(&files, &publisher, &other, true),
        (true, ClockAgreement::Unknown)
    );
}

/// Stamps of a network card are usually in TAI, 37 s ahead of the kernel's.
#[test]
fn captures_with_another_clock_are_refused_unless_the_caller_tells_it() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    // The distance to the trace is less than the run's length, so only the order of a message tells.
    let ahead = files.capture("eth.pcapng", 1, RUN, START - MILLISECOND);
    let all = [publisher.clone(), loopback.clone(), ahead];
    let refused = collected(&files, &all, &[], false).unwrap_err();
    assert!(
        matches!(refused, CollectError::OtherClock { .. }),
        "{refused}"
    );
    let text = refused.to_string();
    assert!(
        text.contains("have different clocks: 400 of 400 times are negative (T1 to T2, sending)"),
        "{text}"
    );
    let card = files.capture("card.pcapng", 1, RUN, START + TAI);
    let mut with_clock = wanted(LoopEnd::Publisher);
    let clock = ("PTP clock".to_owned(), "/dev/ptp3".to_owned());
    with_clock.host.push(clock);
    let publisher = files.trace("publisher.trace", &with_clock);
    let all = [publisher, loopback];
    let run = collected(&files, &all, std::slice::from_ref(&card), false).unwrap();
    assert_eq!(
        run.description.cases[0].applications[0].card_stamps,
        [true, false]
    );
    let record = CaseRecord::read(&files.path("run/001")).unwrap();
    assert_eq!(record.sent_stamp, SentStamp::FirstBit);
    let [capture] = record.captures.as_slice() else {
        panic!("{record:?}");
    };
    assert_eq!(capture.clock, StampClock::Card { ptp: Some(3) });
    assert_eq!(capture.resolution_nanos, 1);
    assert_eq!(
        capture.clock.to_string(),
        "hardware, clock of the network card (/dev/ptp3)"
    );
}

/// tcpdump on the loopback's host has the card's time for received frames, and the kernel's for sent ones.
#[test]
fn sent_frames_of_the_loopback_need_stamps_of_the_card_too() {
    for (there, back, refusal) in [
        (TAI, TAI, None),
        (
            TAI,
            0,
            Some("the time from T4 to T5 is not within that from T3 to T6"),
        ),
        (
            0,
            TAI,
            Some("the time from T3 to T6 is not within that from T1 to T8"),
        ),
        // 0.35 ms less: T6 would be before T5.
        (TAI, TAI - 350_000, Some("the time from T4 to T5 is not")),
    ] {
        let files = Files::new();
        let [publisher, loopback] = files.pair();
        let starts = [START + there, START + back];
        let card = files.capture_of_two_clocks("loopback.pcapng", (1, RUN), starts, |_, _| {});
        let stamped = std::slice::from_ref(&card);
        let run = collected(&files, &[publisher, loopback], stamped, false);
        match (run, refusal) {
            (Ok(run), None) => {
                let application = &run.description.cases[0].applications[0];
                assert_eq!(application.card_stamps, [false, true]);
            }
            (Err(error), Some(refusal)) => {
                let text = error.to_string();
                assert!(
                    text.contains("loopback.pcapng") && text.contains(refusal),
                    "{text}"
                );
                assert!(text.contains("400 of 400 messages"), "{text}");
            }
            (run, _) => panic!("{run:?} {refusal:?}"),
        }
    }
}

#[test]
fn records_that_are_missing_in_the_middle_are_named() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    // tcpdump has lost ten packets of the Publisher: they are of another protocol here.
    let capture = files.capture_with("eth.pcapng", 1, RUN, START, |counter, frame| {
        if (100..110).contains(&counter) {
            frame[16] = 0;
        }
    });
    let run = collected(&files, &[publisher, loopback, capture], &[], false).unwrap();
    let expected =
        "control: 10 messages have no record at T2, but at a later trace point: its file lost them";
    assert!(
        run.doubts.iter().any(|doubt| doubt == expected),
        "{:?}",
        run.doubts
    );
}

#[test]
fn strangers_with_the_same_publisher_id_are_named() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let capture = files.capture_with("eth.pcapng", 1, RUN, START, |counter, frame| {
        if counter % 2 == 0 {
            frame[11] = 0xEE;
        }
    });
    let all = [publisher, loopback, capture];
    let text = files.refused(&all);
    for part in [
        "eth.pcapng has messages with PublisherId 1 of 2 senders: 02:00:00:00:ab:cd (",
        "02:00:00:00:ab:ee (PublisherId 1, WriterGroupId 1, DataSetWriterId 1)",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

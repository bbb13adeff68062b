//! Runs with disturbances at known places.

use takt_analysis::CapturePort;
use takt_control::TracePoint::{self, T1, T2, T4, T5, T7, T8};
use takt_ua::Variant;

use crate::runs::files::{Files, capture, remove_bytes};
use crate::runs::{analyze, counters, interval, losses, point, summary};

/// Records of a publisher that sends every 1000 ns and has each answer 300 ns later.
fn publisher(counters: impl Iterator<Item = u64>) -> Vec<(TracePoint, u64, i64)> {
    let numbered = counters.zip(0_i64..);
    numbered
        .flat_map(|(counter, number)| {
            let time = number * 1_000;
            [(T1, counter, time), (T8, counter, time + 300)]
        })
        .collect()
}

fn is(wanted: TracePoint, counter: u64) -> impl Fn(&(TracePoint, u64, i64)) -> bool {
    move |(point, found, _)| (*point, *found) == (wanted, counter)
}

#[test]
fn lost_messages_are_known_by_their_last_trace_point() {
    let mut files = Files::new();
    let mut records = publisher(1..101);
    records.retain(|it| !(is(T8, 7)(it) || is(T8, 8)(it) || is(T8, 50)(it)));
    files.trace("publisher.trace", 0, &records);
    let at = |point, counter| {
        (
            point,
            counter,
            i64::try_from(counter).unwrap() * 1_000 - 900,
        )
    };
    let mut loopback: Vec<_> = (1..101).flat_map(|it| [at(T4, it), at(T5, it)]).collect();
    // 7 is lost on the way there, 8 is overwritten in the loopback, 50 is lost on the way back.
    loopback.retain(|it| !(it.1 == 7 || is(T5, 8)(it)));
    files.trace("loopback.trace", 0, &loopback);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(losses(&run), Some(vec![(T1, 1), (T4, 1), (T5, 1)]));
    assert_eq!((run.messages, run.lost()), (100, Some(3)));
    assert_eq!(run.missing_records, []);
    assert_eq!(counters(&run, T8), [3, 0, 0]);
    assert_eq!(counters(&run, T4), [1, 0, 0]);
    assert_eq!(
        summary(&interval(&run, T1, T8).delay),
        (97, Some([300; 3]), 29_100)
    );
}

#[test]
fn missing_records_are_no_losses() {
    let mut files = Files::new();
    let mut records = publisher(1..11);
    records.retain(|it| !is(T1, 4)(it));
    files.trace("publisher.trace", 0, &records);
    files.trace("loopback.trace", 0, &[(T4, 1, 0), (T4, 2, 0), (T4, 10, 0)]);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(run.missing_records, [(T1, 1), (T4, 7)]);
    assert_eq!((run.messages, run.lost()), (10, Some(0)));
    assert_eq!(interval(&run, T1, T8).delay.count(), 9);
    // A file that lost records says nothing about lost messages.
    let mut files = Files::new();
    files.trace_with_room("publisher.trace", 0, &publisher(1..11), 15);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!((run.files[0].lost, run.lost()), (5, None));
}

#[test]
fn duplicates_and_reordered_messages_count_once() {
    let mut files = Files::new();
    let records = [
        (T1, 1, 0),
        (T1, 2, 1_000),
        (T8, 2, 1_400),
        (T8, 1, 1_500),
        (T8, 2, 1_900),
        (T1, 3, 2_000),
        (T8, 3, 2_350),
        (T8, 3, 2_600),
    ];
    files.trace("publisher.trace", 0, &records);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(counters(&run, T8), [0, 2, 1]);
    let trip = interval(&run, T1, T8);
    assert_eq!(summary(&trip.delay), (3, Some([350, 400, 1_500]), 2_250));
    // In the order of arrival: 400, 1500, 350.
    assert_eq!(
        summary(&trip.jitter),
        (2, Some([1_100, 1_100, 1_150]), 2_250)
    );
    assert_eq!(run.lost(), Some(0));
}

#[test]
fn counters_may_wrap_around() {
    let mut files = Files::new();
    let counters_of = (0..50).map(|it| u64::MAX.wrapping_sub(24).wrapping_add(it));
    files.trace("publisher.trace", 0, &publisher(counters_of));
    let run = analyze(&files, 5, false).unwrap();
    assert_eq!(counters(&run, T1), [0, 0, 0]);
    assert_eq!((run.messages, run.last_counter), (40, 19));
    assert_eq!(interval(&run, T1, T8).delay.count(), 40);

    // A UInt16 wraps three times, and the answers come three messages later.
    let mut files = Files::new();
    let mut frames = Vec::new();
    for number in 0_u32..200_000 {
        let time = i64::from(number) * 1_000;
        let value = |number: u32| Variant::UInt16((number & 0xFFFF) as u16);
        frames.push((1, value(number), time));
        if let Some(answer) = number.checked_sub(3) {
            frames.push((2, value(answer), time + 10));
        }
    }
    files.capture("a.pcap", CapturePort::default(), &frames);
    let run = analyze(&files, 20_000, false).unwrap();
    assert_eq!(
        (run.messages, run.lost(), run.late_records),
        (160_000, Some(0), 0)
    );
    let trip = interval(&run, T2, T7);
    assert_eq!(
        summary(&trip.delay),
        (160_000, Some([3_010; 3]), 3_010 * 160_000)
    );
    assert_eq!(summary(&trip.jitter), (159_999, Some([0; 3]), 0));
    assert_eq!((counters(&run, T2), counters(&run, T7)), ([0; 3], [0; 3]));
}

#[test]
fn a_step_of_the_clock_is_reported() {
    let mut files = Files::new();
    let mut records = publisher(1..101);
    // The clock is set back by 5000 ns between T1 and T8 of counter 40.
    for (_, _, time) in records.iter_mut().skip(79) {
        *time -= 5_000;
    }
    files.trace("publisher.trace", 0, &records);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(point(&run, T1).clock_steps, 1);
    assert_eq!(point(&run, T8).clock_steps, 1);
    let trip = interval(&run, T1, T8);
    assert_eq!(trip.negative, 1);
    assert_eq!(summary(&trip.delay), (99, Some([300; 3]), 29_700));
    assert_eq!(summary(&trip.jitter), (97, Some([0; 3]), 0));
    assert_eq!(
        summary(&point(&run, T1).spacing),
        (98, Some([1_000; 3]), 98_000)
    );
}

#[test]
fn clocks_of_two_hosts_may_differ_a_little() {
    let mut files = Files::new();
    files.trace("publisher.trace", 0, &[(T1, 1, 1_000), (T1, 2, 2_000)]);
    files.trace("loopback.trace", 0, &[(T4, 1, 990), (T4, 2, 2_030)]);
    let run = analyze(&files, 0, true).unwrap();
    let one_way = interval(&run, T1, T4);
    assert_eq!(one_way.negative, 1);
    assert_eq!(summary(&one_way.delay), (2, Some([-10, -10, 30]), 20));
    assert_eq!(summary(&one_way.jitter), (1, Some([40; 3]), 40));
}

#[test]
fn a_damaged_file_is_used_up_to_the_damage() {
    let mut files = Files::new();
    files.trace("publisher.trace", 0, &publisher(1..11));
    remove_bytes(&files.path("publisher.trace"), 20);
    let run = analyze(&files, 0, false).unwrap();
    let damage = run.files[0].damage.as_deref().unwrap();
    assert_eq!(damage, "the trace is incomplete: it ends within record 18");
    assert_eq!(
        (run.files[0].points.as_slice(), run.lost()),
        (&[(T1, 9), (T8, 9)][..], None)
    );

    let mut files = Files::new();
    let frames: Vec<_> = (1..6)
        .map(|it| (1, Variant::UInt32(it), i64::from(it)))
        .collect();
    files.capture("a.pcap", CapturePort::default(), &frames);
    remove_bytes(&files.path("a.pcap"), 3);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(
        run.files[0].damage.as_deref(),
        Some("it ends within a packet")
    );
    assert_eq!((point(&run, T2).counters.messages, run.lost()), (4, None));
}

#[test]
fn packets_without_a_counter_are_skipped() {
    let mut files = Files::new();
    let text = Variant::from("no counter");
    let frames = [
        (1, Variant::UInt64(1), 5),
        (1, text, 6),
        (1, Variant::UInt64(2), 7),
    ];
    files.capture("a.pcap", CapturePort::default(), &frames);
    let run = analyze(&files, 0, false).unwrap();
    assert_eq!(
        (run.files[0].skipped, point(&run, T2).counters.messages),
        (1, 2)
    );
    assert!(run.points.iter().all(|it| it.point != T7));
}

#[test]
fn any_bytes_are_analyzed_or_refused() {
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let frames: Vec<_> = (1..9)
        .map(|it| (1, Variant::UInt64(it), i64::try_from(it).unwrap()))
        .collect();
    let mut files = Files::new();
    files.trace("valid.trace", 0, &publisher(1..9));
    let trace = std::fs::read(files.path("valid.trace")).unwrap();
    for valid in [trace, capture(&frames)] {
        for _ in 0..300 {
            let mut bytes = valid.clone();
            for _ in 0..1 + random() % 4 {
                let place = usize::try_from(random()).unwrap() % bytes.len();
                bytes[place] = random().to_le_bytes()[0];
            }
            let mut files = Files::new();
            files.write("damaged", &bytes, CapturePort::default());
            if let Ok(run) = analyze(&files, 0, true) {
                assert!(run.messages > 0 && !run.points.is_empty());
            }
        }
    }
}

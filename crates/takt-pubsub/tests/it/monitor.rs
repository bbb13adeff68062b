//! Watched flows: shares of proven times, with times that the test chooses.

use std::time::{Duration, Instant};

use takt_pubsub::monitor::{
    ArrivedMessage, CommonClock, FlowCause, FlowDescription, FlowDirection, FlowFigures, FlowLog,
    ReaderWatches, ReceivingWatch, SendingWatch, WatchedFlows, WatchedQuantity, WatchingObserver,
};
use takt_pubsub::subscriber::DataSetKind;
use takt_pubsub::{Now, PublishError, ReceiveError};
use takt_ua::enumerations::{MessageSecurityMode, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::support::{Buffer, Setup};

const MS: Duration = Duration::from_millis(1);

/// A flow with a cycle of 10 ms, a jitter of 4 ms and a delay of 5 ms.
fn description(direction: FlowDirection) -> FlowDescription {
    FlowDescription {
        name: "press".to_owned(),
        component: "In/Reader".to_owned(),
        direction,
        longest_message: 100,
        cycle: 10 * MS,
        is_cyclic: true,
        delay: Some(5 * MS),
        interval: Some(4 * MS),
        sending: Some(2 * MS),
        clocks: None,
        reservations: Vec::new(),
        share: 0.8,
    }
}

fn receiving(clocks: Option<CommonClock>) -> (WatchedFlows, ReceivingWatch) {
    let flows = WatchedFlows::new([FlowDescription {
        clocks,
        ..description(FlowDirection::Receiving)
    }]);
    let flow = flows.iter().next().unwrap().clone();
    (flows, ReceivingWatch::new(flow))
}

/// Returns a key frame without a sequence number.
fn message(missing: u32, timestamp: Option<DateTime>) -> ArrivedMessage {
    ArrivedMessage {
        kind: DataSetKind::KeyFrame,
        sequence_number: None,
        missing,
        timestamp,
    }
}

/// Clocks of a test.
struct Clocks {
    instant: Instant,
    unix_nanos: i64,
}

impl Clocks {
    fn new() -> Self {
        Self {
            instant: Instant::now(),
            unix_nanos: 1_800_000_000_000_000_000,
        }
    }

    /// Returns the moment so many microseconds after the beginning.
    fn at(&self, micros: u64) -> Now {
        Now {
            instant: self.instant + Duration::from_micros(micros),
            date_time: self.date(micros as i64),
        }
    }

    fn date(&self, micros: i64) -> DateTime {
        DateTime::from_unix_nanos(self.unix_nanos + 1000 * micros)
    }
}

#[test]
fn an_interval_is_compared_with_its_cycles_and_the_jitter() {
    let (flows, mut watch) = receiving(None);
    let clocks = Clocks::new();
    let mut step = |micros, missing| {
        watch.received(clocks.at(micros), message(missing, None));
        let figures = flows.iter().next().unwrap().figures();
        let time = figures.times[0];
        assert_eq!(time.quantity, WatchedQuantity::Interval);
        (time.share(), time.near, time.late, figures.early)
    };
    // The first message has none before it.
    assert_eq!(step(0, 0), (None, 0, 0, 0));
    // In time, 1 ms late of 4, and 1 ms early.
    assert_eq!(step(10_000, 0), (Some(0.0), 0, 0, 0));
    assert_eq!(step(21_000, 0), (Some(0.25), 0, 0, 0));
    assert_eq!(step(30_000, 0), (Some(0.25), 0, 0, 0));
    // 3.2 ms late is the share of 0.8.
    assert_eq!(step(43_200, 0), (Some(0.8), 1, 0, 0));
    assert_eq!(step(50_000, 0), (Some(0.8), 1, 0, 0));
    // Two messages are missing: their cycles have passed, too.
    assert_eq!(step(80_000, 2), (Some(0.8), 1, 0, 0));
    // 5 ms late is above the bound. The next one in time is not early: the one before was late.
    assert_eq!(step(95_000, 0), (Some(1.25), 2, 1, 0));
    assert_eq!(step(100_000, 0), (Some(1.25), 2, 1, 0));
    // 5 ms after a message in time, one comes that the cycle does not permit.
    assert_eq!(step(105_000, 0), (Some(1.25), 2, 1, 1));
    let figures = flows.iter().next().unwrap().figures();
    assert_eq!((figures.messages, figures.missing), (10, 2));
}

#[test]
fn a_delay_needs_clocks_that_agree() {
    let (unknown, mut watch) = receiving(None);
    let clocks = Clocks::new();
    watch.received(clocks.at(1_000), message(0, Some(clocks.date(0))));
    let figures = unknown.iter().next().unwrap().figures();
    let quantities = figures.times.iter().map(|time| time.quantity);
    assert_eq!(quantities.collect::<Vec<_>>(), [WatchedQuantity::Interval]);

    let stated = Some(CommonClock::Stated(MS));
    let (flows, mut watch) = receiving(stated);
    let mut step = |arrives: u64, sent: i64| {
        watch.received(clocks.at(arrives), message(0, Some(clocks.date(sent))));
        let figures = flows.iter().next().unwrap().figures();
        let time = figures.times[0];
        assert_eq!(time.quantity, WatchedQuantity::Delay);
        (time.share(), time.late, figures.from_the_future)
    };
    assert_eq!(step(3_000, 2_000), (Some(0.2), 0, 0));
    assert_eq!(step(17_500, 12_500), (Some(1.0), 0, 0));
    assert_eq!(step(26_000, 20_000), (Some(1.2), 1, 0));
    // Within the stated difference, a message may seem to come from the future; not beyond it.
    assert_eq!(step(30_000, 31_000), (Some(1.2), 1, 0));
    assert_eq!(step(40_000, 41_001), (Some(1.2), 1, 1));
    // A message without a Timestamp has no delay.
    watch.received(clocks.at(50_000), message(0, None));
    let figures = flows.iter().next().unwrap().figures();
    assert_eq!((figures.messages, figures.times[0].count), (6, 4));
}

/// Returns the numbers of a single flow.
fn figures(flows: &WatchedFlows) -> FlowFigures {
    flows.iter().next().unwrap().figures()
}

#[test]
fn messages_that_waited_behind_a_late_one_are_not_early() {
    let (flows, mut watch) = receiving(None);
    let clocks = Clocks::new();
    watch.received(clocks.at(0), message(0, None));
    // The receiver does not run for 60 ms. Then it has the five messages that waited at once, and the next one in time.
    for micros in [60_000, 60_010, 60_020, 60_030, 60_040, 60_050, 70_000] {
        watch.received(clocks.at(micros), message(0, None));
    }
    let told = figures(&flows);
    assert_eq!((told.times[0].late, told.early), (1, 0));
    // Another Publisher with the identity is early in spite of it.
    watch.received(clocks.at(71_000), message(0, None));
    assert_eq!(figures(&flows).early, 1);
}

#[test]
fn a_publisher_twice_as_fast_is_early_after_a_stall_too() {
    let (flows, mut watch) = receiving(None);
    let clocks = Clocks::new();
    watch.received(clocks.at(0), message(0, None));
    watch.received(clocks.at(40_000), message(0, None));
    for place in 1..=20 {
        watch.received(clocks.at(40_000 + 5_000 * place), message(0, None));
    }
    let told = figures(&flows);
    // The stall of 30 ms explains six of them.
    assert_eq!((told.times[0].late, told.early), (1, 14));
}

#[test]
fn messages_that_waited_for_the_receiver_are_neither_early_nor_late() {
    let (flows, mut watch) = receiving(Some(CommonClock::SameHost));
    let clocks = Clocks::new();
    // The link was open for 35 ms, with four messages, before the receiver began.
    watch.begin(clocks.at(0).instant, clocks.at(35_000));
    for (number, sent) in [0, 10_000, 20_000, 30_000].into_iter().enumerate() {
        let at = clocks.at(35_000 + number as u64);
        watch.received(at, message(0, Some(clocks.date(sent))));
    }
    watch.received(clocks.at(41_000), message(0, Some(clocks.date(40_000))));
    let told = figures(&flows);
    assert_eq!((told.messages, told.early, told.late()), (5, 0, 0));
    let delay = told.times[0];
    assert_eq!((delay.quantity, delay.count), (WatchedQuantity::Delay, 5));
    assert_eq!(delay.greatest, MS);
    // A message that is older than the link was certainly late.
    watch.received(clocks.at(50_000), message(0, Some(clocks.date(-5_000))));
    let told = figures(&flows);
    assert_eq!((told.times[0].late, told.times[0].greatest), (1, 20 * MS));
    // From the beginning, a Publisher that is twice as fast is early, once the waiting is made up for.
    let (flows, mut watch) = receiving(None);
    watch.begin(clocks.at(0).instant, clocks.at(35_000));
    for place in 0..20 {
        watch.received(clocks.at(35_000 + 5_000 * place), message(0, None));
    }
    assert_eq!(figures(&flows).early, 12);
}

#[test]
fn a_clock_that_is_set_makes_no_message_late() {
    for step in [3_600_000_000_i64, -3_600_000_000] {
        let (flows, mut watch) = receiving(Some(CommonClock::SameHost));
        let mut clocks = Clocks::new();
        watch.begin(clocks.at(0).instant, clocks.at(0));
        watch.received(clocks.at(1_000), message(0, Some(clocks.date(0))));
        let made = clocks.date(10_000);
        clocks.unix_nanos += 1000 * step;
        // Made before the clock was set, and received after.
        watch.received(clocks.at(11_000), message(0, Some(made)));
        watch.received(clocks.at(22_000), message(0, Some(clocks.date(20_000))));
        let told = figures(&flows);
        assert_eq!((told.late(), told.from_the_future), (0, 0), "{step}");
        assert_eq!((told.clock_steps, told.times[0].count), (1, 2), "{step}");
        assert_eq!(told.times[0].greatest, 2 * MS);
        // A late message is late again.
        watch.received(clocks.at(32_000), message(0, Some(clocks.date(26_000))));
        assert_eq!(figures(&flows).times[0].late, 1);
    }
    // A clock that `chronyd` slews was not set.
    let (flows, mut watch) = receiving(Some(CommonClock::SameHost));
    let mut clocks = Clocks::new();
    for cycle in 0..100 {
        let sent = clocks.date(10_000 * cycle);
        watch.received(
            clocks.at(10_000 * cycle as u64 + 1_000),
            message(0, Some(sent)),
        );
        clocks.unix_nanos += 800_000;
    }
    assert_eq!(figures(&flows).clock_steps, 0);
}

#[test]
fn numbers_that_wrap_go_on_and_a_restart_begins_anew() {
    let (flows, mut watch) = receiving(None);
    let clocks = Clocks::new();
    let numbered = |number, missing| ArrivedMessage {
        sequence_number: Some(number),
        ..message(missing, None)
    };
    for (micros, number, missing) in [
        (0, 65_534, 0),
        (10_000, 65_535, 0),
        (21_000, 0, 0),
        (42_000, 2, 1),
    ] {
        watch.received(clocks.at(micros), numbered(number, missing));
    }
    let interval = figures(&flows).times[0];
    assert_eq!((interval.count, interval.greatest), (3, MS));
    // The Publisher was away for a minute, and counts from 0 again. No message of it was late.
    watch.received(clocks.at(60_000_000), numbered(0, 0));
    watch.received(clocks.at(60_010_000), numbered(1, 0));
    let told = figures(&flows);
    assert_eq!((told.times[0].count, told.late(), told.early), (4, 0, 0));
    // It goes on after a pause: this message is late.
    watch.received(clocks.at(60_050_000), numbered(2, 0));
    assert_eq!(figures(&flows).late(), 1);
}

#[test]
fn messages_that_are_not_sent_in_each_cycle_have_no_interval() {
    let clocks = Clocks::new();
    let of_kind = |kind| ArrivedMessage {
        kind,
        ..message(0, None)
    };
    let (flows, mut watch) = receiving(None);
    let kinds = [
        DataSetKind::KeyFrame,
        DataSetKind::DeltaFrame,
        DataSetKind::KeepAlive,
        DataSetKind::Event,
        DataSetKind::KeyFrame,
    ];
    for (place, kind) in kinds.into_iter().enumerate() {
        watch.received(clocks.at(50_000 * place as u64), of_kind(kind));
    }
    let told = figures(&flows);
    assert_eq!((told.messages, told.times[0].count, told.late()), (5, 0, 0));
    // A Publisher of delta frames sends nothing while nothing changes.
    let flows = WatchedFlows::new([FlowDescription {
        is_cyclic: false,
        ..description(FlowDirection::Receiving)
    }]);
    assert!(figures(&flows).times.is_empty());
}

#[test]
fn intervals_without_a_message_make_the_next_one_late() {
    let flows = WatchedFlows::new([description(FlowDirection::Sending)]);
    let mut watch = SendingWatch::new(flows.iter().next().unwrap().clone());
    watch.sent(1, 50_000, 0);
    assert_eq!(figures(&flows).late(), 0);
    // Three cycles of 10 ms were skipped.
    watch.sent(1, 50_000, 3);
    let sending = figures(&flows).times[0];
    assert_eq!(
        (sending.late, sending.greatest),
        (1, Duration::from_micros(30_050))
    );
}

#[test]
fn a_cause_is_said_once_and_then_less_and_less_often() {
    let flows = WatchedFlows::new([description(FlowDirection::Sending)]);
    let flow = flows.iter().next().unwrap().clone();
    let mut watch = SendingWatch::new(flow);
    let mut log = FlowLog::new(&flows);
    let start = Instant::now();
    let said = |log: &mut FlowLog, seconds: u64| {
        let reports = log.due(start + Duration::from_secs(seconds));
        let texts = reports
            .iter()
            .map(|it| (it.cause, it.count, it.to_string()));
        texts.collect::<Vec<_>>()
    };
    watch.sent(1, 1_599_999, 0);
    assert!(said(&mut log, 0).is_empty());
    // 1.6 of 2 ms.
    watch.sent(1, 1_600_000, 0);
    let near = FlowCause::Near(WatchedQuantity::Sending);
    let text = "press (In/Reader): the greatest lateness of sending is 0.800 of its bound, 1600.0 of 2000.0 \u{b5}s, and nothing is late \
                yet; 1 message reached 0.8 of it";
    assert_eq!(said(&mut log, 0), [(near, 1, text.to_owned())]);
    assert!(said(&mut log, 1).is_empty());
    // Further ones wait for ten seconds, and are told together.
    watch.sent(1, 1_700_000, 0);
    watch.sent(1, 1_800_000, 0);
    assert!(said(&mut log, 9).is_empty());
    let text = "press (In/Reader): the greatest lateness of sending is 0.900 of its bound, 1800.0 of 2000.0 \u{b5}s, and nothing is late \
                yet; 2 messages reached 0.8 of it";
    assert_eq!(said(&mut log, 10), [(near, 2, text.to_owned())]);
    watch.sent(1, 1_600_000, 0);
    assert!(said(&mut log, 29).is_empty(), "20 s have not passed");
    assert_eq!(said(&mut log, 30).len(), 1);
    // A late message is another cause, which is told at once. That it is near its bound, too, is not said.
    watch.sent(1, 2_500_000, 0);
    let above = FlowCause::Above(WatchedQuantity::Sending);
    let text = "press (In/Reader): 1 message above the bound: the greatest lateness of sending is 1.250 of it, 2500.0 of 2000.0 \u{b5}s";
    assert_eq!(said(&mut log, 31), [(above, 1, text.to_owned())]);
    // After a quiet time, the next occurrence is a first one. A message near the bound is then not told as if none was late.
    assert!(said(&mut log, 5_000).is_empty());
    assert!(said(&mut log, 10_000).is_empty());
    watch.sent(1, 1_900_000, 0);
    let text = "press (In/Reader): the greatest lateness of sending is 1.250 of its bound, 2500.0 of 2000.0 \u{b5}s, with 1 above it; \
                1 message reached 0.8 of it";
    assert_eq!(said(&mut log, 10_000), [(near, 1, text.to_owned())]);
    watch.sent(1, 2_500_000, 0);
    assert_eq!(said(&mut log, 10_001).len(), 1);
    watch.sent(1, 2_500_000, 0);
    assert!(said(&mut log, 10_010).is_empty());
    assert_eq!(said(&mut log, 10_011).len(), 1);
}

#[test]
fn the_flow_with_the_greatest_share_is_found() {
    let named = |name: &str| FlowDescription {
        name: name.to_owned(),
        component: name.to_owned(),
        ..description(FlowDirection::Sending)
    };
    let flows = WatchedFlows::new(["a", "b", "c"].map(named));
    assert!(flows.greatest().is_none());
    for (name, nanos) in [("a", 500_000), ("b", 2_500_000), ("c", 1_000_000)] {
        let flow = flows.of(FlowDirection::Sending, name).unwrap();
        SendingWatch::new(flow.clone()).sent(1, nanos, 0);
    }
    let (flow, share) = flows.greatest().unwrap();
    assert_eq!((flow.description().name.as_str(), share), ("b", 1.25));
    assert_eq!((flows.len(), flows.late()), (3, 1));
    assert!(flows.of(FlowDirection::Receiving, "a").is_none());
}

/// A Publisher with a text, whose messages change their length.
fn with_text() -> Setup {
    Setup::new(&[Variant::from("abcd"), Variant::UInt32(0)])
}

#[test]
fn a_message_that_is_too_long_is_not_sent() {
    for mode in [
        MessageSecurityMode::None,
        MessageSecurityMode::SignAndEncrypt,
    ] {
        let mut setup = with_text();
        setup.protect(mode);
        let mut group = setup.build();
        group.set_keys(&crate::support::keys(1, Instant::now()));
        let publish = |setup: &Setup,
                       group: &mut takt_pubsub::publisher::WriterGroup,
                       text: &str| {
            let value = Variant::from(text);
            let cell = setup.cell(0);
            cell.set(&value, StatusCode::Good, DateTime::now()).unwrap();
            let mut messages: Vec<Vec<u8>> = Vec::new();
            let outcome = group.publish_all(Now::read(), PubSubState::Operational, &mut messages);
            (messages, outcome)
        };
        let (messages, _) = publish(&setup, &mut group, "abcd");
        let length = messages[0].len();
        group.set_longest_message(Some(length));
        // On the fast path, and, with another length, through the general encoder.
        let (messages, (published, _)) = publish(&setup, &mut group, "efgh");
        assert_eq!((messages.len(), published.failed), (1, 0));
        for text in ["efghi", "efghijk"] {
            let (messages, (published, error)) = publish(&setup, &mut group, text);
            assert_eq!((messages.len(), published.network_messages), (0, 0));
            let Some(PublishError::Length { longest, found }) = error else {
                panic!("{error:?}");
            };
            assert_eq!((longest, found), (length, length + text.len() - 4));
        }
        for text in ["abcd", "a"] {
            let (messages, (published, _)) = publish(&setup, &mut group, text);
            assert_eq!((messages.len(), published.failed), (1, 0));
        }
    }
}

#[test]
fn a_received_message_that_is_too_long_is_refused_and_counted() {
    for mode in [
        MessageSecurityMode::None,
        MessageSecurityMode::SignAndEncrypt,
    ] {
        let mut setup = with_text();
        setup.protect(mode);
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let ring = crate::support::keys(1, Instant::now());
        group.set_keys(&ring);
        subscriber.set_keys("Keys", &ring);
        let flows = WatchedFlows::new([description(FlowDirection::Receiving)]);
        let mut watches = ReaderWatches::default();
        let reader = subscriber.readers()[0].name().to_owned();
        watches.add(&reader, flows.iter().next().unwrap().clone());
        let mut exchange =
            |subscriber: &mut takt_pubsub::subscriber::Subscriber, text: &str, zeros: usize| {
                let value = Variant::from(text);
                let cell = setup.cell(0);
                cell.set(&value, StatusCode::Good, DateTime::now()).unwrap();
                let mut messages: Vec<Vec<u8>> = Vec::new();
                let now = Now::read();
                group
                    .publish(now, PubSubState::Operational, &mut messages)
                    .unwrap();
                let length = messages[0].len() + zeros;
                messages[0].resize(length, 0);
                let mut nobody = ();
                let mut observer = WatchingObserver::new(&mut nobody, &mut watches, now);
                let outcome = subscriber.receive(
                    now,
                    PubSubState::Operational,
                    &mut messages[0],
                    &mut observer,
                );
                if let Err(error) = &outcome {
                    watches.refused(error);
                }
                (length, outcome)
            };
        let (length, _) = exchange(&mut subscriber, "abcd", 0);
        subscriber.set_longest_message(0, Some(length));
        let (_, outcome) = exchange(&mut subscriber, "efgh", 0);
        assert_eq!(outcome.unwrap().accepted, 1);
        let (found, outcome) = exchange(&mut subscriber, "longer", 0);
        assert_eq!(
            outcome,
            Err(ReceiveError::Length {
                reader,
                longest: length,
                found,
            })
        );
        assert_eq!(found, length + 2);
        if mode == MessageSecurityMode::None {
            // The fast path takes zeros behind a message as padding, also where they make it too long.
            let (found, outcome) = exchange(&mut subscriber, "ijkl", 9);
            let too_long =
                matches!(outcome, Err(ReceiveError::Length { found: it, .. }) if it == found);
            assert!(too_long, "{outcome:?}");
        }
        // The value of the refused message is nowhere.
        let value = setup.target(0).get().unwrap().value;
        assert_eq!(value, Some(Variant::from("efgh")));
        let figures = flows.iter().next().unwrap().figures();
        let refused = match mode {
            MessageSecurityMode::None => 2,
            _ => 1,
        };
        assert_eq!((figures.messages, figures.refused), (2, refused));
    }
}

#[test]
fn a_message_of_another_writer_is_not_too_long() {
    let mut setup = with_text();
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let now = Now::read();
    let mut group = setup.build();
    group
        .publish(now, PubSubState::Operational, &mut messages)
        .unwrap();
    for (writer, is_for) in [(7, true), (0, true), (8, false)] {
        setup.reader.data_set_writer_id = writer;
        let mut subscriber = setup.build_subscriber();
        subscriber.set_longest_message(0, Some(10));
        let mut message = messages[0].clone();
        let outcome = subscriber.receive(now, PubSubState::Operational, &mut message, &mut ());
        let is_refused = matches!(outcome, Err(ReceiveError::Length { .. }));
        assert_eq!(is_refused, is_for, "{writer}: {outcome:?}");
    }
}

/// Each message costs no allocation, whether its flow is watched or not.
#[test]
fn a_watched_flow_allocates_nothing() {
    const CYCLES: u32 = 10_000;
    takt_malloc::alone(|| {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let same_host = Some(CommonClock::SameHost);
        let received = FlowDescription {
            clocks: same_host,
            ..description(FlowDirection::Receiving)
        };
        let flows = WatchedFlows::new([description(FlowDirection::Sending), received]);
        let mut all = flows.iter().cloned();
        let mut sending = SendingWatch::new(all.next().unwrap());
        let mut watches = ReaderWatches::default();
        watches.add(subscriber.readers()[0].name(), all.next().unwrap());
        let mut output = Buffer::default();
        let now = crate::support::now();
        group
            .publish(now, PubSubState::Operational, &mut output)
            .unwrap();
        let longest = Some(output.message().len());
        group.set_longest_message(longest);
        subscriber.set_longest_message(0, longest);
        let mut nobody = ();
        let mut cycle = || {
            let now = crate::support::now();
            group
                .publish(now, PubSubState::Operational, &mut output)
                .unwrap();
            sending.sent(1, 1_700_000, 0);
            let message = output.message();
            let mut observer = WatchingObserver::new(&mut nobody, &mut watches, now);
            let reception =
                subscriber.receive(now, PubSubState::Operational, message, &mut observer);
            assert_eq!(reception.unwrap().accepted, 1);
        };
        // The layout is learned from the first message.
        cycle();
        let ((), allocations) = takt_malloc::count(|| (0..CYCLES).for_each(|_| cycle()));
        assert_eq!(allocations, 0);
        let counted: Vec<u64> = flows.iter().map(|it| it.figures().messages).collect();
        assert_eq!(counted, [u64::from(CYCLES) + 1; 2]);
    });
}

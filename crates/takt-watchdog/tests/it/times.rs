//! Proven times of flows, and those that are not proven.

use std::time::Duration;

use takt_calculus::Realisation;
use takt_pubsub::monitor::{CommonClock, FlowDescription, FlowDirection};
use takt_watchdog::{WatchError, WatchOptions, watched_flows};

use crate::support::{configuration, flows, scenario};

const MICRO: Duration = Duration::from_micros(1);

fn received(options: &WatchOptions, address: &str) -> FlowDescription {
    let configuration = configuration(&[("ADDRESS", address)]);
    let flows = watched_flows(&configuration, &scenario(&[("46 B", "60 B")]), options).unwrap();
    let flow = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
    flow.description().clone()
}

#[test]
fn times_follow_from_bound_and_threads() {
    let flows = flows(&[], &[]).unwrap();
    let sent = flows.of(FlowDirection::Sending, "Out/Spindle").unwrap();
    let sent = sent.description();
    assert_eq!(sent.sending, Some(100 * MICRO));
    assert_eq!((sent.delay, sent.interval, sent.clocks), (None, None, None));
    assert_eq!(sent.cycle, Duration::from_millis(10));
    let received = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
    let received = received.description();
    // The frame of 88 B takes 704 ns on each of two links, without anything in its way. The threads are late by 100 µs, always, and by
    // 10 to 60 µs; a Timestamp has 100 ns.
    let delay = Duration::from_nanos(2 * 704 + 100_000 + 60_000 + 100);
    assert_eq!(received.delay, Some(delay));
    // Threads may also be in time.
    assert_eq!(received.interval, Some(160 * MICRO));
    assert_eq!((received.sending, received.clocks), (None, None));
    assert!(received.reservations.is_empty());
}

#[test]
fn times_of_several_subscribers_hold_for_each_of_them() {
    let several = [
        (
            "subscriber = \"robot\"",
            "subscribers = [\"robot\", \"camera\"]",
        ),
        (
            "{ name = \"bridge\", kind",
            "{ name = \"camera\", wake_up_latency = \"90 us\" },\n    { name = \"bridge\", kind",
        ),
        (
            "links = [",
            "links = [{ ends = [\"bridge\", \"camera\"] }, ",
        ),
    ];
    let received = |flow: Option<&str>| {
        let options = WatchOptions {
            names: flow
                .into_iter()
                .map(|flow| ("In/Spindle".to_owned(), flow.to_owned()))
                .collect(),
            ..WatchOptions::default()
        };
        let flows = watched_flows(&configuration(&[]), &scenario(&several), &options).unwrap();
        let sent = flows.of(FlowDirection::Sending, "Out/Spindle").unwrap();
        assert_eq!(sent.description().name, "Spindle");
        let flow = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
        let description = flow.description();
        (
            description.name.clone(),
            description.delay,
            description.interval,
        )
    };
    let times = |receiver: u32| {
        let delay = Duration::from_nanos(2 * 704 + 100_000 + 100) + receiver * MICRO;
        (Some(delay), Some((100 + receiver) * MICRO))
    };
    for (flow, name, latency) in [
        // Nobody says at which of them this reader is.
        (None, "Spindle", 90),
        (Some("Spindle to robot"), "Spindle \u{2192} robot", 60),
        (
            Some("Spindle \u{2192} camera"),
            "Spindle \u{2192} camera",
            90,
        ),
    ] {
        let (delay, interval) = times(latency);
        assert_eq!(received(flow), (name.to_owned(), delay, interval));
    }
}

#[test]
fn a_message_is_protected_before_it_is_sent() {
    let secured = [(
        "payload = \"46 B\"",
        "payload = \"46 B\"\nsecurity = { mode = \"Sign\", protect = \"4 us\", verify = \"5 us\" }",
    )];
    let flows = flows(&[], &secured).unwrap();
    let sent = flows.of(FlowDirection::Sending, "Out/Spindle").unwrap();
    assert_eq!(sent.description().sending, Some(104 * MICRO));
    // Security has 46 bytes: the frame of 134 B takes 1072 ns on each of two links.
    let received = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
    let delay = Duration::from_nanos(2 * 1072 + 104_000 + 60_000 + 100);
    assert_eq!(received.description().delay, Some(delay));
}

#[test]
fn clocks_agree_on_one_host_or_as_stated() {
    let usual = WatchOptions::default();
    let stated = WatchOptions {
        clocks_within: Some(2 * MICRO),
        ..WatchOptions::default()
    };
    let ethernet = crate::support::ETHERNET;
    assert_eq!(received(&usual, ethernet).clocks, None);
    let found = received(&stated, ethernet);
    assert_eq!(found.clocks, Some(CommonClock::Stated(2 * MICRO)));
    // The bound has room for the difference.
    let without = received(&usual, ethernet).delay.unwrap();
    assert_eq!(found.delay, Some(without + 2 * MICRO));
    let local = "opc.udp://127.0.0.1:4840";
    for options in [&usual, &stated] {
        let found = received(options, local);
        assert_eq!(found.clocks, Some(CommonClock::SameHost));
    }
    assert_eq!(received(&usual, "opc.udp://239.0.0.1:4840").clocks, None);
    let lo = "opc.udp://239.0.0.1:4840\"\nnetwork_interface = \"lo";
    assert_eq!(received(&usual, lo).clocks, Some(CommonClock::SameHost));
}

#[test]
fn messages_that_are_not_sent_in_each_cycle_have_no_interval() {
    let writer_and_reader = [(
        "data_set_writer_id = 1",
        "data_set_writer_id = 1\nkey_frame_count = 10",
    )];
    let flows = flows(&writer_and_reader, &[("46 B", "100 B")]).unwrap();
    assert!(flows.iter().all(|it| !it.description().is_cyclic));
    let reader = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
    assert!(reader.figures().times.is_empty());
}

/// Returns the reasons why a scenario proves nothing, and checks that they are reservations if the user wants no proof.
fn unproven(replaced: &[(&str, &str)]) -> Vec<String> {
    let error = flows(&[], replaced).unwrap_err();
    let WatchError::Unproven { reasons, .. } = error else {
        panic!("{error}");
    };
    let options = WatchOptions {
        allow_unproven: true,
        ..WatchOptions::default()
    };
    let flows = watched_flows(&configuration(&[]), &scenario(replaced), &options).unwrap();
    let flow = flows.iter().next().unwrap();
    assert_eq!(flow.description().reservations, reasons);
    reasons
}

#[test]
fn threads_that_are_never_late_prove_nothing() {
    let never = [("wake_up_latency = \"100 us\"", "wake_up_latency = \"0 us\"")];
    assert_eq!(
        unproven(&never),
        ["the scenario says that threads on press are never late (wake_up_latency is 0)"]
    );
}

#[test]
fn an_infinite_bound_is_refused_with_its_reason() {
    let overload = "[[cross_traffic]]\nname = \"more\"\nfrom = \"press\"\nto = \"robot\"\npayload = \"1500 B\"\nrate = \"1.1 Gbit/s\"\npcp = 3\n\n[[applications]]";
    let reasons = unproven(&[("[[applications]]", overload)]);
    assert_eq!(reasons.len(), 1);
    assert!(
        reasons[0].starts_with("its delay has no bound: "),
        "{reasons:?}"
    );
}

#[test]
fn gates_of_the_kernel_are_not_those_of_the_proof() {
    let gates = "[disciplines.strict]\nscheduler = \"taprio\"\nentries = [{ gates = [\"A\"], interval = \"200 us\" }, { gates = [\"B\"], interval = \"300 us\" }]\n";
    let replaced = [("[disciplines.strict]\nscheduler = \"mqprio\"\n", gates)];
    let reasons = unproven(&replaced);
    assert!(
        reasons[0].starts_with("gates: sch_taprio in software"),
        "{reasons:?}"
    );
    let options = WatchOptions {
        realisation: Realisation::Software { driver_queue: 1 },
        ..WatchOptions::default()
    };
    let flows = watched_flows(&configuration(&[]), &scenario(&replaced), &options).unwrap();
    let flow = flows.of(FlowDirection::Receiving, "In/Spindle").unwrap();
    assert!(flow.description().interval > Some(300 * MICRO));
}

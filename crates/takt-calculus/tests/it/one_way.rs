//! Times of messages on one way.

use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds};
use takt_scenario::{Analysis, ApplicationIndex, BoundsModel, FlowSource, Frame, Scenario};

const PUBLISH: FlowSource = FlowSource::Publish(ApplicationIndex(0));
const RETURN: FlowSource = FlowSource::Return(ApplicationIndex(0));

/// Returns a scenario over one bridge, and its bounds. The receiver is a `subscriber` or a `loopback`.
fn bounded(receiver: &str) -> (Scenario, ScenarioBounds) {
    let text = format!(
        r#"version = 1
        discipline = "strict"
        nodes = [
            {{ name = "a", wake_up_latency = {{ least = "2 us", most = "30 us" }} }},
            {{ name = "b", kind = "bridge", forwarding_delay = {{ least = "1 us", most = "4 us" }} }},
            {{ name = "c", wake_up_latency = "50 us" }},
        ]
        links = [{{ ends = ["a", "b"], length = "10 m" }}, {{ ends = ["b", "c"] }}]
        [disciplines.strict]
        scheduler = "mqprio"
        classes = [{{ name = "A", priorities = [3] }}, {{ name = "B" }}]
        [[applications]]
        name = "control"
        publisher = "a"
        {receiver} = "c"
        cycle = "1 ms"
        payload = "100 B"
        [[cross_traffic]]
        name = "other"
        from = "a"
        to = "c"
        payload = "1500 B"
        rate = "100 Mbit/s"
        "#
    );
    let scenario = Scenario::parse(&text, "one-way.toml").unwrap();
    let bounds = scenario_bounds(&scenario, BoundsModel::Sound, &Analysis::ALL).unwrap();
    (scenario, bounds)
}

/// Returns the frame of the application.
fn frame() -> Frame {
    Frame::new(100).unwrap()
}

fn nanos(count: u32) -> Rational {
    Rational::from_parts(count.into(), 1_000_000_000u32.into())
}

#[test]
fn without_a_way_back_the_times_are_those_of_the_flow() {
    let (scenario, bounds) = bounded("subscriber");
    let times = bounds.one_way(&scenario, PUBLISH, frame()).unwrap();
    // Two links of 1 Gbit/s with a frame of 142 B, 10 m of cable, the bridge, and the thread.
    assert_eq!(times.least, nanos(2 * 8 * 142 + 50 + 1_000 + 2_000));
    let flow = &bounds.flows[0];
    assert_eq!((&times.delay, &times.least), (&flow.delay, &flow.best_case));
    assert_eq!(times.jitter, flow.jitter);
    assert_eq!(times.cycle, nanos(1_000_000));
    // A shorter frame can be earlier by 54 bytes on each link.
    let shorter = bounds.one_way(&scenario, PUBLISH, Frame::SHORTEST).unwrap();
    assert_eq!(shorter.delay, times.delay);
    assert_eq!(&times.least - &shorter.least, nanos(2 * 8 * 54));
    // At least one frame of the other class delays it at each port.
    let Extended::Finite(jitter) = times.jitter else {
        panic!("{:?}", times.jitter);
    };
    assert!(jitter >= nanos(28_000 + 3_000 + 2 * 8 * 1542));
}

#[test]
fn each_way_of_a_round_trip_has_times_of_its_own() {
    let (scenario, bounds) = bounded("loopback");
    let there = bounds.one_way(&scenario, PUBLISH, frame()).unwrap();
    let back = bounds.one_way(&scenario, RETURN, frame()).unwrap();
    assert!(there.delay < bounds.flows[0].delay);
    // On the way back, the thread of c is late by exactly 50 µs.
    assert_eq!(back.least, nanos(2 * 8 * 142 + 50 + 1_000 + 50_000));
    assert!(back.delay > Extended::Finite(back.least.clone()));
}

#[test]
fn other_flows_have_no_times_of_messages() {
    let (scenario, bounds) = bounded("subscriber");
    let cross = scenario
        .flows()
        .iter()
        .find(|it| matches!(it.source, FlowSource::Cross(_)));
    assert_eq!(
        bounds.one_way(&scenario, cross.unwrap().source, frame()),
        None
    );
    assert_eq!(bounds.one_way(&scenario, RETURN, frame()), None);
}

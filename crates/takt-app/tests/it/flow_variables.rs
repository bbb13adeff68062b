//! Variables with the numbers of watched flows.

use std::time::Duration;

use takt_app::pubsub::monitor::{FlowDescription, FlowDirection, SendingWatch, WatchedFlows};
use takt_app::{Provider, flow_variables};
use takt_ua::{StatusCode, Variant};

use crate::support::{connect, node, options};

fn description(name: &str, component: &str, sending: Option<Duration>) -> FlowDescription {
    FlowDescription {
        name: name.to_owned(),
        component: component.to_owned(),
        direction: FlowDirection::Sending,
        longest_message: 100,
        cycle: Duration::from_millis(1),
        is_cyclic: true,
        delay: None,
        interval: None,
        sending,
        clocks: None,
        reservations: Vec::new(),
        share: 0.8,
    }
}

#[test]
fn a_provider_serves_the_numbers_of_flows() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let proven = Some(Duration::from_micros(200));
    // Two flows have one name, with a slash. Another one has no proven time, and one the name of a Variable.
    let flows = WatchedFlows::new([
        description("press/Fast #1", "A/Fast", proven),
        description("press/Fast #1", "B/Fast", proven),
        description("Count", "C/Slow", None),
    ]);
    let _provider = Provider::builder("Current")
        .without_registry()
        .variables(flow_variables(&flows))
        .serve(options(directory.path()))
        .start()
        .unwrap();
    let mut client = connect(directory.path());
    let mut read = |path: &str| client.read(&node(path)).unwrap();
    assert_eq!(read("Flows/Count").value, Some(Variant::UInt64(3)));
    let first = read("Flows/GreatestShare");
    assert_eq!(first.status_code(), StatusCode::UncertainInitialValue);

    for (component, nanos) in [("A/Fast", 50_000), ("B/Fast", 250_000), ("C/Slow", 7_000)] {
        let flow = flows.of(FlowDirection::Sending, component).unwrap();
        SendingWatch::new(flow.clone()).sent(1, nanos, 0);
    }
    for (path, expected) in [
        ("Flows/GreatestShare", Variant::Double(1.25)),
        ("Flows/GreatestFlow", Variant::from("press/Fast #1")),
        ("Flows/Late", Variant::UInt64(1)),
        ("Flows/press.Fast .1/Component", Variant::from("A/Fast")),
        ("Flows/press.Fast .1/Messages", Variant::UInt64(1)),
        (
            "Flows/press.Fast .1/Sending/Greatest",
            Variant::Double(50.0),
        ),
        ("Flows/press.Fast .1/Sending/Proven", Variant::Double(200.0)),
        ("Flows/press.Fast .1/Sending/Share", Variant::Double(0.25)),
        ("Flows/press.Fast .1/Sending/Near", Variant::UInt64(0)),
        ("Flows/press.Fast .1 2/Component", Variant::from("B/Fast")),
        ("Flows/press.Fast .1 2/Sending/Share", Variant::Double(1.25)),
        ("Flows/press.Fast .1 2/Sending/Late", Variant::UInt64(1)),
        ("Flows/Count 2/Sending/Greatest", Variant::Double(7.0)),
    ] {
        let value = read(path);
        assert!(value.status_code().is_good(), "{path}: {value:?}");
        assert_eq!(value.value, Some(expected), "{path}");
    }
    let none = read("Flows/Count 2/Sending/Share");
    assert_eq!(none.status_code(), StatusCode::BadNodeIdUnknown);
}

//! Checks of a case's files: each message is captured at each port on its way, with its tag, and all counts agree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use takt_control::TracePoint;
use takt_scenario::{Flow, FlowSource, PortIndex, Scenario};
use takt_tests::{Sandbox, process};

use crate::cases::Case;
use crate::recorded::{RecordedCase, TaggedFrame, number};
use crate::{PATIENCE, TestedBackend};

/// Returns the name of the capture at a port of a topology of the suite.
fn capture_of(scenario: &Scenario, port: PortIndex) -> String {
    let port = &scenario.ports[port.0];
    let [node, to] = [port.node, port.to].map(|node| &scenario.nodes[node.0].name);
    format!("{node}-to-{to}.pcapng")
}

/// Returns the ports whose captures must have a flow, each with its opposite.
fn ports_of(flow: &Flow) -> BTreeSet<PortIndex> {
    let both = |port: &PortIndex| [*port, PortIndex(port.0 ^ 1)];
    flow.ports.iter().flat_map(both).collect()
}

pub fn all(case: &Case, scenario: &Scenario, recorded: &RecordedCase, backend: &TestedBackend) {
    let captures: BTreeMap<PortIndex, Vec<TaggedFrame>> = (0..scenario.ports.len())
        .map(PortIndex)
        .map(|port| (port, recorded.capture(&capture_of(scenario, port))))
        .collect();
    for capture in recorded.record["captures"].as_array().unwrap() {
        assert_eq!(number(capture, "lost"), 0, "{capture}");
    }
    for (index, application) in scenario.applications.iter().enumerate() {
        let name = &application.name;
        if application.receiver.loopback().is_none() {
            let id = takt_scenario::ApplicationIndex(index);
            one_way(case, scenario, recorded, &captures, id);
            continue;
        }
        let files = recorded.files(name);
        let publisher = recorded.trace(&files["publisher_trace"]);
        let loopback = recorded.trace(&files["loopback_trace"]);
        let sent: Vec<u64> = publisher[&TracePoint::T1].iter().map(|it| it.0).collect();
        assert_eq!(sent, (1..=case.messages).collect::<Vec<_>>(), "{name}");
        for end in ["publisher", "loopback"] {
            let end = recorded.end(name, end);
            assert_eq!(number(end, "refused"), 0, "{end}");
            assert_eq!(number(end, "send_errors"), 0, "{end}");
        }
        let there = frames(
            scenario,
            &captures,
            FlowSource::Publish(takt_scenario::ApplicationIndex(index)),
        );
        let back = frames(
            scenario,
            &captures,
            FlowSource::Return(takt_scenario::ApplicationIndex(index)),
        );
        for frame in there.iter().chain(&back) {
            assert_eq!((frame.vlan, frame.pcp), (application.vlan, application.pcp));
        }
        assert_eq!(there.len() as u64, case.messages, "{name}");
        assert_eq!(
            back.len() as u64,
            number(recorded.end(name, "loopback"), "sent")
        );
        // No two applications share an address.
        assert_ne!(there[0].destination, back[0].destination);
        let taken = &loopback[&TracePoint::T4];
        assert_eq!(
            taken.len() as u64,
            case.messages,
            "{name}: all messages reach the loopback"
        );
        let returned: BTreeSet<u64> = publisher[&TracePoint::T8]
            .iter()
            .map(|it| it.0)
            .filter(|counter| *counter > 0)
            .collect();
        assert!(returned.iter().all(|counter| *counter <= case.messages));
        // A loopback that wakes up late overwrites a message. Without latency, none is lost.
        let least = match backend.is_host() {
            true => case.messages / 2,
            false => case.messages,
        };
        assert!(
            returned.len() as u64 >= least,
            "{name}: {} returned",
            returned.len()
        );
    }
    cross_traffic(scenario, recorded);
}

/// Checks an application without a loopback: each message is on each link of its tree once, on no other link, and reaches each subscriber.
fn one_way(
    case: &Case,
    scenario: &Scenario,
    recorded: &RecordedCase,
    captures: &BTreeMap<PortIndex, Vec<TaggedFrame>>,
    id: takt_scenario::ApplicationIndex,
) {
    let application = &scenario.applications[id.0];
    let flows = scenario.flows().iter();
    let branches: Vec<&Flow> = flows
        .filter(|flow| flow.source.application() == Some(id))
        .collect();
    assert_eq!(branches.len(), application.receiver.nodes().len());
    let on_tree: BTreeSet<PortIndex> = branches.iter().flat_map(|flow| ports_of(flow)).collect();
    let of_tree = |port: &PortIndex| -> Vec<&TaggedFrame> {
        let frames = captures[port].iter();
        frames
            .filter(|frame| frame.destination == application.group)
            .collect()
    };
    let first = of_tree(&branches[0].ports[0]);
    for port in captures.keys() {
        let here = of_tree(port);
        let expected = if on_tree.contains(port) {
            case.messages
        } else {
            0
        };
        let name = scenario.port_name(*port);
        assert_eq!(here.len() as u64, expected, "{name}, {}", application.name);
        for (frame, sent) in here.iter().zip(&first) {
            assert_eq!(frame.payload, sent.payload, "{name}");
            assert_eq!((frame.vlan, frame.pcp), (application.vlan, application.pcp));
        }
    }
    for flow in branches {
        let name = scenario.flow_name(flow.source);
        let files = recorded.files(&name);
        assert_eq!(files["one_way"], true);
        let publisher = recorded.trace(&files["publisher_trace"]);
        let sent: Vec<u64> = publisher[&TracePoint::T1].iter().map(|it| it.0).collect();
        assert_eq!(sent, (1..=case.messages).collect::<Vec<_>>(), "{name}");
        let subscriber = recorded.trace(&files["loopback_trace"]);
        let taken: Vec<u64> = subscriber[&TracePoint::T4].iter().map(|it| it.0).collect();
        assert_eq!(taken, sent, "{name}");
        let end = recorded.end(&name, "subscriber");
        assert_eq!(
            (number(end, "sent"), number(end, "refused")),
            (0, 0),
            "{end}"
        );
    }
    let publisher = recorded.end(&application.name, "publisher");
    assert_eq!(number(publisher, "sent"), case.messages);
    assert_eq!(number(publisher, "send_errors"), 0, "{publisher}");
}

/// Returns the frames of a flow at the first port of its way, after a check that all ports on its way have the same frames, in this
/// order, and no other port has one.
fn frames(
    scenario: &Scenario,
    captures: &BTreeMap<PortIndex, Vec<TaggedFrame>>,
    source: FlowSource,
) -> Vec<TaggedFrame> {
    let flow = scenario
        .flows()
        .iter()
        .find(|flow| flow.source == source)
        .unwrap();
    let number = match source {
        FlowSource::Publish(application) | FlowSource::Branch(application, _) => {
            2 * application.0 + 1
        }
        FlowSource::Return(application) => 2 * application.0 + 2,
        FlowSource::Cross(_) => unreachable!("applications only"),
    };
    let address = [0x01, 0x00, 0x5E, 0x00, 0x54, u8::try_from(number).unwrap()];
    let of_flow = |port: &PortIndex| -> Vec<&TaggedFrame> {
        let frames = captures[port].iter();
        frames
            .filter(|frame| frame.destination == address)
            .collect()
    };
    let first = of_flow(&flow.ports[0]);
    let on_way = ports_of(flow);
    for port in captures.keys() {
        let here = of_flow(port);
        let name = scenario.port_name(*port);
        if !on_way.contains(port) {
            assert!(here.is_empty(), "{name} has frames of {source:?}");
            continue;
        }
        let payloads = |frames: &[&TaggedFrame]| -> Vec<Vec<u8>> {
            frames.iter().map(|frame| frame.payload.clone()).collect()
        };
        assert_eq!(
            payloads(&here).len(),
            payloads(&first).len(),
            "{name} of {source:?}"
        );
        assert_eq!(payloads(&here), payloads(&first), "{name} of {source:?}");
    }
    // Times rise along the way.
    for pair in flow.ports.windows(2) {
        let (before, after) = (of_flow(&pair[0]), of_flow(&pair[1]));
        for (before, after) in before.iter().zip(&after) {
            assert!(before.nanos <= after.nanos, "{source:?}");
            assert_eq!((before.vlan, before.pcp), (after.vlan, after.pcp));
        }
    }
    first.into_iter().cloned().collect()
}

/// Checks that messages leave at their launch time where the device keeps it: to the nanosecond, but for the clock that the kernel reads.
pub fn launches(scenario: &Scenario, recorded: &RecordedCase) {
    let stamp = match recorded.record["device"].as_str() {
        Some("takt_link") => "first_bit",
        _ => "driver",
    };
    assert_eq!(recorded.record["sent_stamp"], stamp);
    if recorded.record["has_offloads"] != true {
        return;
    }
    let beginning = recorded.record["beginning_nanos"].as_i64().unwrap();
    let offset = recorded.record["tai_offset_seconds"].as_i64().unwrap();
    let beginning = i128::from(beginning) - i128::from(offset) * 1_000_000_000;
    for flow in scenario.flows() {
        let Some(id) = flow.source.application() else {
            continue;
        };
        let application = &scenario.applications[id.0];
        let first = flow.ports[0];
        let queue = scenario.ports[first.0].discipline.queue_of(flow.pcp);
        let launches = queue
            .and_then(|queue| queue.launch())
            .is_some_and(|etf| etf.offload);
        if application.txtime.is_none() || !launches {
            continue;
        }
        let cycle = i128::from(application.cycle.picos() / 1000);
        let launch = i128::from(application.offset.picos() / 1000) % cycle;
        let number = match flow.source {
            FlowSource::Return(_) => 2 * id.0 + 2,
            _ => 2 * id.0 + 1,
        };
        let mut frames = recorded.capture(&capture_of(scenario, first));
        frames.retain(|frame| usize::from(frame.destination[5]) == number);
        assert!(!frames.is_empty());
        for frame in frames {
            let left = (i128::try_from(frame.nanos).unwrap() - beginning).rem_euclid(cycle);
            assert_eq!(left, launch, "{:?}", flow.source);
        }
    }
}

fn cross_traffic(scenario: &Scenario, recorded: &RecordedCase) {
    let records = recorded.record["cross_traffic"].as_array().unwrap();
    assert_eq!(records.len(), scenario.cross_traffic.len());
    for (index, (flow, record)) in scenario.cross_traffic.iter().zip(records).enumerate() {
        assert_eq!(record["name"], *flow.name);
        let sent = number(record, "sent");
        assert!(sent > 100, "{record}");
        assert_eq!(number(record, "received"), sent, "{record}");
        let source = FlowSource::Cross(takt_scenario::CrossTrafficIndex(index));
        let on_way = scenario
            .flows()
            .iter()
            .find(|it| it.source == source)
            .unwrap();
        let on_way = ports_of(on_way);
        for port in (0..scenario.ports.len()).map(PortIndex) {
            let name = scenario.port_name(port);
            let captures = recorded.record["captures"].as_array().unwrap().iter();
            let mut here = captures.filter(|capture| capture["port"] == *name);
            let flows = here.next().unwrap()["flows"].as_array().unwrap().iter();
            let counted: u64 = flows
                .filter(|pair| pair[0] == *flow.name)
                .map(|pair| pair[1].as_u64().unwrap())
                .sum();
            let expected = if on_way.contains(&port) { sent } else { 0 };
            assert_eq!(counted, expected, "{name}: {}", flow.name);
        }
    }
}

/// Checks that `takt analyze` finds the same round trips in traces and captures.
pub fn analysis(sandbox: &Sandbox, recorded: &RecordedCase, application: &str) {
    let directory = recorded.directory.to_str().unwrap();
    let arguments = [
        "analyze",
        directory,
        "--application",
        application,
        "--trim",
        "0",
        "--synchronized",
        "--json",
    ];
    let mut command = sandbox.takt(&arguments);
    let printed = process::run("takt analyze", &mut command, PATIENCE).expect_success();
    let found: Value = serde_json::from_str(&printed).unwrap();
    let stamp = &recorded.record["sent_stamp"];
    assert!(stamp.is_string(), "{:?}", recorded.record);
    assert_eq!(&found["sent_stamp"], stamp, "{printed}");
    for point in found["points"].as_array().unwrap() {
        let is_sent = point["point"] == "T2" || point["point"] == "T6";
        let expected = if is_sent { stamp } else { &Value::Null };
        assert_eq!(&point["sent_stamp"], expected, "{point}");
    }
    let interval = |from: &str, to: &str| {
        let intervals = found["intervals"].as_array().unwrap().iter();
        let mut found = intervals.filter(|it| it["from"] == *from && it["to"] == *to);
        found
            .next()
            .unwrap_or_else(|| panic!("no {from} to {to}: {printed}"))
            .clone()
    };
    let (application, wire) = match recorded.files(application)["one_way"] == true {
        true => (interval("T1", "T4"), interval("T2", "T3")),
        false => (interval("T1", "T8"), interval("T2", "T7")),
    };
    let count = |interval: &Value| interval["delay"]["count"].as_u64().unwrap();
    let least = |interval: &Value| interval["delay"]["min_ns"].as_f64().unwrap();
    assert!(count(&application) > 0, "{printed}");
    // An answer whose cycle ended before it came is on the wire only.
    assert!(count(&wire) >= count(&application), "{printed}");
    // The wire is a part of the way of the application.
    assert!(
        least(&wire) > 0.0 && least(&wire) <= least(&application),
        "{printed}"
    );
}

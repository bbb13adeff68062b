//! The scenarios that come with Takt.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use takt_scenario::{FlowSource, NodeKind, Queue, Rate, ScenarioFile};

fn shipped(name: &str) -> ScenarioFile {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    ScenarioFile::parse(&text, &path.to_string_lossy()).unwrap()
}

#[test]
fn the_papers_line() {
    let file = shipped("line.toml");
    let scenario = file.scenario();
    assert_eq!(scenario.nodes.len(), 8);
    let bridges = scenario
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Bridge);
    assert_eq!(bridges.count(), 6);
    let [out, back] = scenario.flows() else {
        panic!("one flow out and one back")
    };
    assert_eq!([out.ports.len(), back.ports.len()], [7, 7]);
    assert_eq!(scenario.port_name(out.ports[0]), "host1 \u{2192} bridge1");
    assert_eq!(scenario.port_name(back.ports[0]), "host2 \u{2192} bridge6");
    assert!(
        matches!(back.source, FlowSource::Return(id) if scenario.applications[id.0].name == "control")
    );
    let variants = file.variants().unwrap();
    assert_eq!(variants.len(), 56);
    let last = &variants[55];
    assert_eq!(
        last.settings[0],
        ("topology.hops".to_owned(), "7".to_owned())
    );
    assert_eq!(last.scenario.flows()[0].frame.payload(), 1481);
    // 1523 B on the wire every 250 us.
    let class = &last.scenario.ports[0].discipline.classes[0];
    let Queue::Cbs {
        idle_slope,
        send_slope,
        ..
    } = class.queue
    else {
        panic!("a shaper")
    };
    assert_eq!(
        [idle_slope, send_slope],
        [Rate(48_736_000), Rate(951_264_000)]
    );
    assert_eq!(variants[0].scenario.flows()[0].ports.len(), 1);
}

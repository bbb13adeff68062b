//! Tests of network plans: routes, devices and commands of all topologies.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use takt_scenario::{NodeIndex, NodeKind, Scenario};

use super::plan::opposite;
use super::*;

/// Returns the scenario of a topology with an application from the first to the last host, and cross traffic back.
fn scenario(topology: &str, last: usize) -> Scenario {
    let text = format!(
        r#"
        version = 1
        topology = {{ {topology} }}
        [[applications]]
        name = "first"
        publisher = "host1"
        loopback = "host{last}"
        cycle = "1 ms"
        payload = "100 B"
        vlan = 5
        [[applications]]
        name = "second"
        publisher = "host{last}"
        loopback = "host1"
        cycle = "1 ms"
        payload = "100 B"
        [[cross_traffic]]
        name = "load"
        from = "host{last}"
        to = "host1"
        payload = "1500 B"
        rate = "1 Mbit/s"
        vlan = 9
        "#
    );
    Scenario::parse(&text, "topology.toml").unwrap()
}

/// Follows a frame through the planned network, as the bridges forward it. Returns the devices that it enters, as node and device.
fn follow(plan: &NetworkPlan, flow: &FlowPlan) -> Vec<(usize, usize)> {
    let peers: BTreeMap<_, _> = plan
        .links
        .iter()
        .flat_map(|link| {
            let [(a, b), (c, d)] = link.ends.map(|(node, device)| (node.0, device));
            [((a, b), (c, d)), ((c, d), (a, b))]
        })
        .collect();
    let mut entered = Vec::new();
    let mut sending = vec![(flow.from.0.0, flow.from.1)];
    while let Some(sender) = sending.pop() {
        let receiver = peers[&sender];
        entered.push(receiver);
        assert!(entered.len() <= 100, "the frame loops");
        let node = &plan.nodes[receiver.0];
        let here = &node.devices[receiver.1].name;
        for entry in &node.forwarding {
            let leaves = entry.address == flow.address && entry.device != *here;
            let mut devices = node.devices.iter();
            let device = devices.position(|device| device.name == entry.device);
            sending.extend(leaves.then(|| (receiver.0, device.unwrap())));
        }
    }
    entered
}

/// Checks that each flow passes the ports of its route and no others.
fn check(scenario: &Scenario) {
    let plan = NetworkPlan::of(scenario).unwrap();
    assert_eq!(plan.links.len(), scenario.links.len());
    for (planned, flow) in plan.flows.iter().zip(scenario.flows()) {
        assert_eq!(planned.source, flow.source);
        let expected = flow.ports.iter().map(|port| {
            let (node, device) = plan.device_of(opposite(*port)).unwrap();
            (node.0, device)
        });
        let expected: Vec<_> = expected.collect();
        assert_eq!(follow(&plan, planned), expected, "{:?}", flow.source);
        assert_eq!((planned.to.0.0, planned.to.1), *expected.last().unwrap());
    }
    let captures: BTreeSet<&str> = plan
        .nodes
        .iter()
        .flat_map(|node| &node.devices)
        .map(|device| device.capture.as_str())
        .collect();
    assert_eq!(captures.len(), scenario.ports.len());
    for node in &plan.nodes {
        assert!(node.kind == NodeKind::Bridge || node.forwarding.is_empty());
        for device in &node.devices {
            assert!(takt_tsn::is_interface_name(&device.name));
        }
    }
}

#[test]
fn each_flow_passes_its_route_in_every_topology() {
    check(&scenario(r#"kind = "p2p""#, 2));
    check(&scenario(r#"kind = "bridged""#, 2));
    for hops in 1..=7 {
        check(&scenario(&format!(r#"kind = "line", hops = {hops}"#), 2));
    }
    for bridges in 3..=6 {
        for last in 2..=bridges {
            let ring = format!(r#"kind = "ring", bridges = {bridges}"#);
            check(&scenario(&ring, last));
        }
    }
    check(&scenario(r#"kind = "star", hosts = 5"#, 4));
}

proptest! {
    #[test]
    fn a_ring_has_no_loop_on_any_path(bridges in 3_usize..8, last in 2_usize..8, turn: bool) {
        prop_assume!(last <= bridges);
        let ring = |to: usize, is_forward: bool| -> Vec<String> {
            // Bridges from the first to the last one, in one direction or the other.
            let forward: Vec<usize> = (1..=to).collect();
            let backward: Vec<usize> = std::iter::once(1).chain((to..=bridges).rev()).collect();
            let on_way = if is_forward { forward } else { backward };
            on_way.iter().map(|number| format!("bridge{number}")).collect()
        };
        let path = |is_forward| {
            let mut path = vec!["host1".to_owned()];
            path.extend(ring(last, is_forward));
            path.push(format!("host{last}"));
            path
        };
        let (there, mut back) = (path(turn), path(!turn));
        back.reverse();
        let text = format!(
            r#"
            version = 1
            topology = {{ kind = "ring", bridges = {bridges} }}
            [[applications]]
            name = "around"
            publisher = "host1"
            loopback = "host{last}"
            cycle = "1 ms"
            payload = "100 B"
            path = {there:?}
            return_path = {back:?}
            "#
        );
        check(&Scenario::parse(&text, "ring.toml").unwrap());
    }
}

#[test]
fn a_bridge_has_these_commands() {
    let plan = NetworkPlan::of(&scenario(r#"kind = "bridged""#, 2)).unwrap();
    let bridge = &plan.nodes[2];
    assert_eq!(bridge.name, "bridge1");
    let text = |commands: Vec<takt_tsn::ShellCommand>| {
        let lines = commands.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>()
    };
    let port = "learning off flood off mcast_flood off bcast_flood off";
    assert_eq!(
        text(bridge_commands(bridge, true)),
        [
            "ip link add bridge0 type bridge stp_state 0 mcast_snooping 1 mcast_querier 0 vlan_filtering 1 vlan_default_pvid 0",
            "ip link set eth0 master bridge0",
            &format!("bridge link set dev eth0 {port}"),
            "bridge vlan add dev eth0 vid 1",
            "bridge vlan add dev eth0 vid 5",
            "bridge vlan add dev eth0 vid 9",
            "ip link set eth1 master bridge0",
            &format!("bridge link set dev eth1 {port}"),
            "bridge vlan add dev eth1 vid 1",
            "bridge vlan add dev eth1 vid 5",
            "bridge vlan add dev eth1 vid 9",
            "ip link set bridge0 up",
        ]
    );
    assert_eq!(
        text(forwarding_commands(bridge, true)),
        [
            "bridge mdb add dev bridge0 port eth1 grp 01:00:5e:00:54:01 permanent vid 5",
            "bridge mdb add dev bridge0 port eth0 grp 01:00:5e:00:54:02 permanent vid 5",
            "bridge mdb add dev bridge0 port eth0 grp 01:00:5e:00:54:03 permanent vid 1",
            "bridge mdb add dev bridge0 port eth1 grp 01:00:5e:00:54:04 permanent vid 1",
            "bridge fdb add 02:54:4c:00:00:01 dev eth0 master static vlan 9",
        ]
    );
    let unaware = text(forwarding_commands(bridge, false)).join("\n");
    assert!(!unaware.contains("vid") && !unaware.contains("vlan"));
    assert!(
        !text(bridge_commands(bridge, false))
            .join("\n")
            .contains("vlan")
    );
}

#[test]
fn queues_follow_from_the_classes() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/line-multiflow.toml"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let scenario = Scenario::parse(&text, path).unwrap();
    let plan = NetworkPlan::of(&scenario).unwrap();
    for device in plan.nodes.iter().flat_map(|node| &node.devices) {
        let classes = scenario.ports[device.port.0].discipline.classes.len();
        assert_eq!(usize::from(device.queues), classes);
    }
    assert_eq!(plan.links[0].rate, scenario.links[0].rate);
}

#[test]
fn networks_that_cannot_be_built_are_refused() {
    let text = r#"
        version = 1
        topology = { kind = "bridged" }
        [[applications]]
        name = "one way"
        publisher = "host1"
        subscriber = "bridge1"
        cycle = "1 ms"
        payload = "100 B"
        "#;
    let refused = NetworkPlan::of(&Scenario::parse(text, "x.toml").unwrap());
    let (application, node) = ("one way".to_owned(), "bridge1".to_owned());
    assert_eq!(
        refused,
        Err(NetworkPlanError::AtBridge { application, node })
    );
    let two_homed = r#"
        version = 1
        nodes = [{ name = "a" }, { name = "b" }, { name = "x", kind = "bridge" }, { name = "y", kind = "bridge" }]
        links = [{ ends = ["a", "x"] }, { ends = ["x", "b"] }, { ends = ["b", "y"] }, { ends = ["y", "a"] }]
        [[applications]]
        name = "around"
        publisher = "a"
        loopback = "b"
        cycle = "1 ms"
        payload = "100 B"
        path = ["a", "x", "b"]
        return_path = ["b", "y", "a"]
        "#;
    let refused = NetworkPlan::of(&Scenario::parse(two_homed, "x.toml").unwrap());
    let (application, node) = ("around".to_owned(), "a".to_owned());
    assert_eq!(
        refused,
        Err(NetworkPlanError::DifferentPorts { application, node })
    );
    let long = scenario(r#"kind = "line", hops = 64"#, 2);
    assert_eq!(NetworkPlan::of(&long), Err(NetworkPlanError::TooLarge(65)));
    let empty = Scenario::parse("version = 1\ntopology = { kind = \"p2p\" }", "x.toml").unwrap();
    assert_eq!(
        NetworkPlan::of(&empty),
        Err(NetworkPlanError::NoApplication)
    );
}

/// A bridge has one entry for a group at each port on the way to some subscriber, and none elsewhere.
#[test]
fn messages_to_several_subscribers_are_replicated_by_bridges() {
    let text = r#"
        version = 1
        topology = { kind = "ring", bridges = 4 }
        [[applications]]
        name = "state"
        publisher = "host1"
        subscribers = ["host2", "host3", "host1b"]
        cycle = "1 ms"
        payload = "100 B"
        [[nodes]]
        name = "host1b"
        [[links]]
        ends = ["host1b", "bridge1"]
        "#;
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let plan = NetworkPlan::of(&scenario).unwrap();
    let mut entries = Vec::new();
    for node in &plan.nodes {
        for entry in &node.forwarding {
            let device = node.devices.iter().find(|it| it.name == entry.device);
            entries.push(scenario.port_name(device.unwrap().port));
            assert_eq!(entry.address.0, scenario.applications[0].group);
        }
    }
    entries.sort_unstable();
    let expected = [
        "bridge1 \u{2192} bridge2",
        "bridge1 \u{2192} host1b",
        "bridge2 \u{2192} bridge3",
        "bridge2 \u{2192} host2",
        "bridge3 \u{2192} host3",
    ];
    assert_eq!(entries, expected);
    let ends = plan.flows.iter().map(|flow| (flow.from.0, flow.to.0));
    let node = |name: &str| {
        let nodes = scenario.nodes.iter();
        NodeIndex(
            nodes
                .map(|it| it.name.as_str())
                .position(|it| it == name)
                .unwrap(),
        )
    };
    let expected = ["host2", "host3", "host1b"].map(|to| (node("host1"), node(to)));
    assert_eq!(ends.collect::<Vec<_>>(), expected);
}

/// Applications that share a group share the entries.
#[test]
fn a_shared_group_has_one_entry_at_a_port() {
    let text = r#"
        version = 1
        topology = { kind = "star", hosts = 3 }
        [[applications]]
        name = "one"
        publisher = "host1"
        subscribers = ["host2", "host3"]
        group = "239.0.0.1"
        cycle = "1 ms"
        payload = "100 B"
        [[applications]]
        name = "other"
        publisher = "host2"
        subscribers = ["host1", "host3"]
        group = "239.0.0.1"
        cycle = "1 ms"
        payload = "100 B"
        "#;
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let plan = NetworkPlan::of(&scenario).unwrap();
    let commands = plan
        .nodes
        .iter()
        .flat_map(|node| forwarding_commands(node, true));
    let mut commands: Vec<String> = commands.map(|it| it.to_string()).collect();
    commands.sort_unstable();
    let expected = ["eth0", "eth1", "eth2"].map(|port| {
        format!("bridge mdb add dev bridge0 port {port} grp 01:00:5e:00:00:01 permanent vid 1")
    });
    assert_eq!(commands, expected);
}

#[test]
fn names_of_captures_are_safe_and_unique() {
    let text = r#"
        version = 1
        nodes = [{ name = "../a" }, { name = "..·a" }, { name = "b/c" }]
        links = [{ ends = ["../a", "b/c"] }, { ends = ["..·a", "b/c"] }]
        [[applications]]
        name = "control"
        publisher = "../a"
        loopback = "b/c"
        cycle = "1 ms"
        payload = "100 B"
        "#;
    let plan = NetworkPlan::of(&Scenario::parse(text, "x.toml").unwrap()).unwrap();
    let devices = plan.nodes.iter().flat_map(|node| &node.devices);
    let mut names: Vec<&str> = devices.map(|device| device.capture.as_str()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.contains('/') && !name.starts_with('.'))
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4);
}

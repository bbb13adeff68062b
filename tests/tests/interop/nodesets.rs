//! The companion specifications load into the registry and browse the same as in node-opcua.

use takt_tests::interop::{CompanionNodeSets, assert_same_nodes};
use takt_tests::{Peer, PeerClient, Registry, Sandbox};

#[test]
fn companion_nodesets_browse_the_same_as_in_node_opcua() {
    let companions = CompanionNodeSets::load();
    assert!(companions.files.len() >= 30, "{:?}", companions.files);
    for wanted in ["Di.", "Machinery.", "MachineTool.", "Robotics."] {
        assert!(
            companions.files.iter().any(|file| file.contains(wanted)),
            "{wanted}"
        );
    }
    let sandbox = Sandbox::new();
    let arguments: Vec<&str> = companions
        .files
        .iter()
        .flat_map(|file| ["--nodeset", file.as_str()])
        .collect();
    let registry = Registry::start(&sandbox, &arguments);
    let mut session = PeerClient::connect(Peer::Open62541, &registry.endpoint).unwrap();
    assert_same_nodes(&mut session, &companions.nodes);
}

//! A Provider may change and delete only what it created.

use takt_app::{Client, ClientError, Identity, RegistryState, model};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, StatusCode, ids};

use crate::registry::{
    PATIENCE, available, client, client_as, consumer, eventually, node_ids, tank,
    wait_until_available,
};

fn add(client: &mut Client, parent: NodeId, node: ExpandedNodeId) -> StatusCode {
    add_named(client, parent, node, QualifiedName::new(0, "Intruder"))
}

/// Adds an Object.
pub(crate) fn add_named(
    client: &mut Client,
    parent: NodeId,
    node: ExpandedNodeId,
    browse_name: QualifiedName,
) -> StatusCode {
    let response = client.call(AddNodesRequest {
        nodes_to_add: vec![AddNodesItem {
            parent_node_id: parent.into(),
            reference_type_id: NodeId::from(ids::HAS_COMPONENT),
            requested_new_node_id: node,
            browse_name,
            node_class: NodeClass::Object,
            node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
            type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
        }],
        ..AddNodesRequest::default()
    });
    response.unwrap().results[0].status_code
}

/// Adds the Object of a Provider.
pub(crate) fn add_provider(client: &mut Client, name: &str) -> StatusCode {
    let index = client
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    let response = client.call(AddNodesRequest {
        nodes_to_add: vec![AddNodesItem {
            parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
            reference_type_id: NodeId::from(ids::ORGANIZES),
            requested_new_node_id: ExpandedNodeId {
                node_id: NodeId::numeric(0, model::provider::OBJECT),
                namespace_uri: model::provider_uri(name).as_str().into(),
                server_index: 0,
            },
            browse_name: QualifiedName::new(index, name),
            node_class: NodeClass::Object,
            node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
            type_definition: NodeId::numeric(index, model::PROVIDER_TYPE).into(),
        }],
        ..AddNodesRequest::default()
    });
    response.unwrap().results[0].status_code
}

pub(crate) fn delete(client: &mut Client, node_id: &NodeId) -> StatusCode {
    let response = client.call(DeleteNodesRequest {
        nodes_to_delete: vec![DeleteNodesItem {
            node_id: node_id.clone(),
            delete_target_references: true,
        }],
        ..DeleteNodesRequest::default()
    });
    response.unwrap().results[0]
}

fn refer(client: &mut Client, source: &NodeId, target: &NodeId) -> StatusCode {
    let response = client.call(AddReferencesRequest {
        references_to_add: vec![AddReferencesItem {
            source_node_id: source.clone(),
            reference_type_id: NodeId::from(ids::ORGANIZES),
            is_forward: true,
            target_node_id: target.clone().into(),
            target_node_class: NodeClass::Object,
            ..AddReferencesItem::default()
        }],
        ..AddReferencesRequest::default()
    });
    response.unwrap().results[0]
}

fn unrefer(client: &mut Client, source: &NodeId, target: &NodeId) -> StatusCode {
    let response = client.call(DeleteReferencesRequest {
        references_to_delete: vec![DeleteReferencesItem {
            source_node_id: source.clone(),
            reference_type_id: NodeId::from(ids::HAS_COMPONENT),
            is_forward: true,
            target_node_id: target.clone().into(),
            delete_bidirectional: true,
        }],
        ..DeleteReferencesRequest::default()
    });
    response.unwrap().results[0]
}

/// Checks that `client`, with any identity, cannot change nodes of the Provider `name`.
fn cannot_touch(client: &mut Client, name: &str) {
    let denied = StatusCode::BadUserAccessDenied;
    let object = client.find(name).unwrap().node_id.node_id;
    let level = client
        .find(&format!("{name}/Level"))
        .unwrap()
        .node_id
        .node_id;
    let new = NodeId::string(object.namespace, "Intruder");
    assert_eq!(add(client, object.clone(), new.into()), denied);
    assert_eq!(delete(client, &level), denied);
    assert_eq!(delete(client, &object), denied);
    let server = NodeId::from(ids::SERVER);
    assert_eq!(refer(client, &object, &server), denied);
    assert_eq!(unrefer(client, &object, &level), denied);
    assert!(add_provider(client, name).is_bad());
    let index = client
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    let registry = NodeId::numeric(index, model::REGISTRY);
    let secret = NodeId::numeric(index, model::REGISTRY_ISSUE_SECRET);
    let issued = client.call_method(&registry, &secret, Vec::new());
    assert_eq!(issued.unwrap_err().status_code(), denied);
}

#[test]
fn a_provider_cannot_change_nodes_of_another() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--allow-tcp-registration"]);
    let mut consumer = consumer(&sandbox, &registry);
    // One Provider registered over shared memory, one over opc.tcp.
    let local = sandbox.application("Local");
    let remote = sandbox.application("Remote");
    let _local = tank(&sandbox, &local, &registry.shared_memory()).unwrap();
    let distant = sandbox.elsewhere();
    let _remote = tank(&distant, &remote, &registry.endpoint).unwrap();
    for name in [&local, &remote] {
        wait_until_available(&mut consumer, name);
    }
    let before = (
        node_ids(&mut consumer, &local),
        node_ids(&mut consumer, &remote),
    );
    for name in [&local, &remote] {
        let uri = model::provider_uri(name);
        for claimed in ["urn:somebody", &uri] {
            let mut client = client_as(&sandbox, &registry.endpoint, claimed, Identity::Anonymous);
            cannot_touch(&mut client, name);
        }
    }
    // Over shared memory the Unix user authenticates only Providers that registered there.
    let mut neighbour = client_as(
        &sandbox,
        &registry.shared_memory(),
        &model::provider_uri(&remote),
        Identity::Anonymous,
    );
    cannot_touch(&mut neighbour, &remote);
    let mut neighbour = client(&sandbox, &registry.shared_memory());
    cannot_touch(&mut neighbour, &local);

    let after = (
        node_ids(&mut consumer, &local),
        node_ids(&mut consumer, &remote),
    );
    assert_eq!(after, before);
    assert_eq!(available(&mut consumer, &local), Some(true));
    // No client may change the registry's own model or the standard's nodes.
    let mut client = client_as(
        &sandbox,
        &registry.endpoint,
        &model::provider_uri("Other"),
        Identity::Anonymous,
    );
    let index = client
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    for node in [
        NodeId::numeric(index, model::PROVIDER_TYPE),
        NodeId::numeric(index, model::REGISTRY_FORGET),
        NodeId::from(ids::SERVER),
    ] {
        assert!(delete(&mut client, &node).is_bad(), "{node}");
    }
    // Names that would not be reachable, or would be the path of another Provider.
    for name in ["../etc", "a/b", "", "x\0y", "."] {
        let uri = model::provider_uri(name);
        let mut client = client_as(&sandbox, &registry.endpoint, &uri, Identity::Anonymous);
        assert!(add_provider(&mut client, name).is_bad(), "`{name}`");
    }
}

fn rejected(result: Result<takt_ua::Variant, ClientError>) -> bool {
    let status = result.unwrap_err().status_code();
    [
        StatusCode::BadUserAccessDenied,
        StatusCode::BadIdentityTokenRejected,
    ]
    .contains(&status)
}

#[test]
fn a_secret_makes_a_provider_known_over_tcp() {
    let sandbox = Sandbox::new();
    let allowed = ["--allow-tcp-registration"];
    let mut registry = Registry::start(&sandbox, &allowed);
    let distant = sandbox.elsewhere();
    let mut consumer = consumer(&sandbox, &registry);
    let name = sandbox.application("Remote");
    let secret_file = distant
        .data_directory()
        .join(format!("state/{name}.secret"));
    {
        let tank = tank(&distant, &name, &registry.endpoint).unwrap();
        eventually("registered", PATIENCE, || tank.is_registered());
    }
    let secret = std::fs::read_to_string(&secret_file).unwrap();
    assert!(secret.len() >= 32);
    let nodes = node_ids(&mut consumer, &name);

    // It works again, after a restart of the registry too.
    for _ in 0..2 {
        let tank = tank(&distant, &name, &registry.endpoint).unwrap();
        eventually("registered again", PATIENCE, || tank.is_registered());
        assert_eq!(available(&mut consumer, &name), Some(true));
        drop(tank);
        eventually("gone", PATIENCE, || {
            available(&mut consumer, &name) == Some(false)
        });
        registry.process.kill();
        registry = Registry::start_at(&sandbox, &registry.endpoint, &allowed);
    }
    assert_eq!(node_ids(&mut consumer, &name), nodes);

    // A wrong secret is refused, and so is a missing one.
    let as_user = |password: &str| {
        let identity = Identity::UserName {
            name: name.clone(),
            password: password.to_owned(),
        };
        client_as(&sandbox, &registry.endpoint, "", identity)
    };
    let state = NodeId::from(ids::SERVER_SERVER_STATUS_STATE);
    for wrong in ["wrong", "", &secret[1..], &secret.to_uppercase()] {
        assert!(rejected(as_user(wrong).read_good(&state)), "{wrong}");
    }
    assert!(as_user(&secret).read_good(&state).is_ok());
    for wrong in [Some("wrong"), None] {
        match wrong {
            Some(wrong) => std::fs::write(&secret_file, wrong).unwrap(),
            None => std::fs::remove_file(&secret_file).unwrap(),
        }
        let impostor = tank(&distant, &name, &registry.endpoint).unwrap();
        eventually("refused", PATIENCE, || {
            let state = impostor.registry_state();
            matches!(state, RegistryState::NotRegistered { reason: Some(_) })
        });
        assert_eq!(available(&mut consumer, &name), Some(false));
    }
    assert_eq!(node_ids(&mut consumer, &name), nodes);
    std::fs::write(&secret_file, &secret).unwrap();
    let tank = tank(&distant, &name, &registry.endpoint).unwrap();
    eventually("registered as ever", PATIENCE, || tank.is_registered());
}

#[test]
fn a_name_is_taken_once() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &machine.name);
    let address = registry.shared_memory();
    let twin = sandbox.run(&[
        "provider",
        "machine",
        "--name",
        &machine.name,
        "--registry",
        &address,
    ]);
    let says = twin.expect_failure();
    // Lines may be broken anywhere between words.
    let says: Vec<&str> = says.split_whitespace().collect();
    let says = says.join(" ");
    for part in ["running under the name", &machine.name, "--name"] {
        assert!(says.contains(part), "`{part}` is missing: {says}");
    }
    match tank(&sandbox, &machine.name, &address) {
        Err(error) => assert!(error.to_string().contains(&machine.name), "{error}"),
        Ok(_) => panic!("two Providers have one name"),
    }
    // The name of a registry is taken as well.
    assert!(tank(&sandbox, &registry.name, &address).is_err());
    assert_eq!(available(&mut consumer, &machine.name), Some(true));
    let item = consumer
        .find(&format!("{}/Spindle/SpeedSetpoint", machine.name))
        .unwrap();
    assert_eq!(consumer.read(&item).unwrap().value, Some(6_000.0.into()));
}

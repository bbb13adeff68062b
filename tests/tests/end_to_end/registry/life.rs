//! Persistence of registrations when registries and Providers end and restart.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_app::client::Follow;
use takt_app::{Consumer, Endpoint, Identity, model};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::NodeId;
use takt_ua::StatusCode;
use takt_ua::structures::{DeleteNodesItem, DeleteNodesRequest};

use crate::registry::{
    PATIENCE, available, client, client_as, consumer, eventually, node_ids, tank,
    wait_until_available,
};

fn namespaces(consumer: &mut Consumer) -> Vec<String> {
    consumer.registry().namespace_array().unwrap()
}

#[test]
fn nodes_keep_their_ids_and_namespaces_their_indexes() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &machine.name);
    let nodes = node_ids(&mut consumer, &machine.name);
    assert!(nodes.len() > 5);
    let mut known = namespaces(&mut consumer);
    let uri = model::provider_uri(&machine.name);
    assert!(known.contains(&uri));

    for round in 0..4 {
        let endpoint = registry.endpoint.clone();
        if round % 2 == 0 {
            registry.process.kill();
        } else {
            registry.process.signal(Signal::TERM);
            assert!(registry.process.wait(PATIENCE).success());
        }
        registry = Registry::start_at(&sandbox, &endpoint, &[]);
        // They exist before the Provider is back too, because the registry keeps the nodes.
        assert_eq!(node_ids(&mut consumer, &machine.name), nodes);
        // A Provider that registers in between gets an index above all others.
        let name = sandbox.application(&format!("Tank{round}"));
        let _tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
        wait_until_available(&mut consumer, &name);
        wait_until_available(&mut consumer, &machine.name);
        let now = namespaces(&mut consumer);
        assert_eq!(now[..known.len()], known);
        assert_eq!(now[known.len()..], [model::provider_uri(&name)]);
        known = now;
    }
    assert_eq!(node_ids(&mut consumer, &machine.name), nodes);
    assert_eq!(consumer.providers().unwrap().len(), 5);
}

#[test]
fn a_provider_that_starts_first_serves_and_registers_when_it_can() {
    let sandbox = Sandbox::new();
    let name = sandbox.application("Tank");
    let registry_name = sandbox.application("Registry");
    let tank = tank(&sandbox, &name, &format!("opc.iox2://{registry_name}")).unwrap();
    for endpoint in tank.endpoints() {
        let mut client = client(&sandbox, &endpoint.to_string());
        let level = client.read_good(&NodeId::string(1, "Level")).unwrap();
        assert_eq!(level, 40.0.into());
        // Browse names the registry, which has the model.
        let pointer = client
            .find(&format!("{name}/SemanticRegistry"))
            .unwrap()
            .node_id
            .node_id;
        assert_eq!(
            client.read_good(&pointer).unwrap(),
            format!("opc.iox2://{registry_name}").as_str().into()
        );
    }
    assert!(!tank.is_registered());
    let registry = Registry::start(&sandbox, &[]);
    assert_eq!(registry.name, registry_name);
    eventually("registered", PATIENCE, || tank.is_registered());
    let mut consumer = consumer(&sandbox, &registry);
    assert_eq!(available(&mut consumer, &name), Some(true));
    let level = consumer.find(&format!("{name}/Level")).unwrap();
    assert_eq!(consumer.read(&level).unwrap().value, Some(40.0.into()));
}

#[test]
fn a_provider_is_forgotten_when_asked_and_gone() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut machine = Provider::start(&sandbox, &registry, "machine");
    let name = machine.name.clone();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let known = namespaces(&mut consumer);
    let nodes = node_ids(&mut consumer, &name);

    let address = registry.shared_memory();
    let forget = |name: &str, registry: &str| {
        sandbox.run(&["registry", "forget", name, "--registry", registry])
    };
    let refused = forget(&name, &address).expect_failure();
    assert!(
        refused.contains("is connected to the registry"),
        "{refused}"
    );
    machine.process.kill();
    eventually("not available", PATIENCE, || {
        available(&mut consumer, &name) == Some(false)
    });
    // Not from another connection, and not an unknown Provider.
    let refused = forget(&name, &registry.endpoint).expect_failure();
    assert!(refused.contains("BadUserAccessDenied"), "{refused}");
    let unknown = forget("Nobody", &address).expect_failure();
    assert!(unknown.contains("knows no Provider"), "{unknown}");
    let _ = forget(&name, &address).expect_success();

    assert_eq!(available(&mut consumer, &name), None);
    assert!(consumer.find(&format!("{name}/Start")).is_err());
    for (path, node) in &nodes {
        let read = consumer.registry().read(node).unwrap();
        assert_eq!(read.status_code(), StatusCode::BadNodeIdUnknown, "{path}");
    }
    assert_eq!(namespaces(&mut consumer), known);
    // The Provider does not return on its own.
    let mut registry = registry;
    registry.process.kill();
    let registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    assert_eq!(available(&mut consumer, &name), None);
    assert_eq!(namespaces(&mut consumer), known);
    // When it registers again, it is unchanged.
    let _machine = Provider::start(&sandbox, &registry, "machine");
    wait_until_available(&mut consumer, &name);
    assert_eq!(node_ids(&mut consumer, &name), nodes);
}

#[test]
fn deleting_its_nodes_undoes_a_registration() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Tank");
    let tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let nodes = node_ids(&mut consumer, &name);
    drop(tank);
    eventually("not available", PATIENCE, || {
        available(&mut consumer, &name) == Some(false)
    });

    // The owner registers again without data.
    let uri = model::provider_uri(&name);
    let mut owner = client_as(
        &sandbox,
        &registry.shared_memory(),
        &uri,
        Identity::Anonymous,
    );
    let object = owner.find(&name).unwrap().node_id.node_id;
    let delete = |node_id: NodeId| DeleteNodesItem {
        node_id,
        delete_target_references: true,
    };
    let mut nodes_to_delete: Vec<_> = nodes.iter().map(|(_, node)| delete(node.clone())).collect();
    nodes_to_delete.push(delete(object.clone()));
    let response = owner
        .call(DeleteNodesRequest {
            nodes_to_delete,
            ..DeleteNodesRequest::default()
        })
        .unwrap();
    assert!(
        response.results.iter().all(|status| status.is_good()),
        "{:?}",
        response.results
    );
    drop(owner);
    for _ in 0..2 {
        assert_eq!(available(&mut consumer, &name), None);
        let objects = NodeId::from(takt_ua::ids::OBJECTS_FOLDER);
        let children = consumer
            .registry()
            .browse(&objects, &Follow::children())
            .unwrap();
        assert!(
            children
                .iter()
                .all(|child| child.browse_name.name.as_str() != name)
        );
        for (path, node) in &nodes {
            let read = consumer.registry().read(node).unwrap();
            assert_eq!(read.status_code(), StatusCode::BadNodeIdUnknown, "{path}");
        }
        // The same after a restart.
        registry.process.kill();
        registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    }
}

#[test]
fn connected_applications_continue_without_the_registry() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &machine.name);
    let item = consumer
        .find(&format!("{}/Spindle/SpeedSetpoint", machine.name))
        .unwrap();
    let start = consumer.find(&format!("{}/Start", machine.name)).unwrap();
    let ways = [item.via("opc.iox2").unwrap(), item.via("opc.tcp").unwrap()];
    for item in &ways {
        consumer.read(item).unwrap();
    }
    consumer.read(&start).unwrap();
    registry.process.kill();
    let until = Instant::now() + Duration::from_secs(3);
    let mut written = 6_000.0;
    while Instant::now() < until {
        for item in &ways {
            assert_eq!(consumer.read(item).unwrap().value, Some(written.into()));
            written = if written > 5_000.0 { 4_000.0 } else { 6_000.0 };
            consumer.write(item, written).unwrap();
        }
    }
    consumer.call(&start, Vec::new()).unwrap();
    // A Consumer that has not used the Provider yet can still connect to it.
    let mut direct = client(&sandbox, &machine.shared_memory());
    let node = NodeId::string(1, "Spindle/SpeedSetpoint");
    assert_eq!(direct.read_good(&node).unwrap(), written.into());
    let _registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    eventually("registered again", PATIENCE, || {
        available(&mut consumer, &machine.name) == Some(true)
    });
    assert_eq!(consumer.read(&ways[0]).unwrap().value, Some(written.into()));
}

#[test]
fn the_registry_names_the_endpoints_of_today() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Tank");
    let mut consumer = consumer(&sandbox, &registry);
    for _ in 0..3 {
        let tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
        let endpoints: Vec<Endpoint> = tank.endpoints().to_vec();
        eventually("the endpoints", PATIENCE, || {
            let providers = consumer.providers().unwrap_or_default();
            providers
                .iter()
                .any(|provider| provider.available && provider.endpoints == endpoints)
        });
        let level = consumer.find(&format!("{name}/Level")).unwrap();
        let by_tcp = level.via("opc.tcp").unwrap();
        assert_eq!(consumer.read(&by_tcp).unwrap().value, Some(40.0.into()));
    }
}

//! Servers that come back with other NamespaceIndexes, and registries that start again.

use takt_app::client::Follow;
use takt_app::{Client, ClientOptions};
use takt_space::AddressSpace;
use takt_ua::{DataValue, Identifier, NodeId, QualifiedName, StatusCode, Variant, ids};

use crate::mirror::foreign::{Foreign, object, object_type, property};
use crate::mirror::support::{PATIENCE, eventually, find, mirror, port, registry, wait_for};

/// Adds two machines, each in its own namespace: equal identifiers, names in namespace 0, and other values.
fn machines(space: &AddressSpace, order: [&str; 2]) {
    for name in order {
        let namespace = space.namespaces().register(&format!("urn:test:{name}"));
        let namespace = namespace.unwrap();
        let machine = NodeId::numeric(namespace, 1);
        object(space, &machine, name, ids::BASE_OBJECT_TYPE);
        for (identifier, of_name) in [(5001, namespace), (6001, 0)] {
            let node = NodeId::numeric(namespace, identifier);
            let of_node = QualifiedName::new(of_name, format!("Value{identifier}").as_str());
            property(space, &machine, &node, of_node, value_of(name, identifier));
        }
    }
}

/// Returns the value of a node, which tells the machine.
fn value_of(name: &str, identifier: u32) -> f64 {
    f64::from(identifier) + if name == "A" { 0.25 } else { 0.75 }
}

#[test]
fn values_are_those_of_their_nodes_when_the_server_has_other_namespace_indexes() {
    let directory = tempfile::tempdir().unwrap();
    let start =
        |port, order| Foreign::start(directory.path(), port, |space| machines(space, order));
    let server = start(0, ["A", "B"]);
    let endpoint = server.endpoint();
    let (_registry, mut client) = registry(directory.path(), vec![mirror("M", &endpoint)]);
    let mut expected: Vec<(NodeId, Variant)> = Vec::new();
    for name in ["A", "B"] {
        for identifier in [5001, 6001] {
            let path = format!("M/{name}/Value{identifier}");
            let value = value_of(name, identifier).into();
            wait_for(&mut client, &path, &value);
            expected.push((find(&mut client, &path).unwrap(), value));
        }
    }
    let is_good = |value: &DataValue| value.status_code() == StatusCode::Good;
    drop(server);
    eventually("the end is noticed", PATIENCE, || {
        let value = client.read(&expected[0].0).unwrap();
        (!is_good(&value)).then_some(())
    });
    let server = start(port(&endpoint), ["B", "A"]);
    // The rescan comes after the values.
    let mut rounds_after = 0;
    eventually("all values are good", PATIENCE, || {
        let mut all_good = true;
        for (node, value) in &expected {
            let read = client.read(node).unwrap();
            all_good &= is_good(&read);
            if is_good(&read) {
                assert_eq!(read.value.as_ref(), Some(value), "{node}");
            }
        }
        rounds_after += u32::from(all_good);
        (rounds_after > 300).then_some(())
    });
    // A Write goes to the same machine, and the change comes from there.
    let (node, _) = &expected[1];
    client.write(node, 1.5.into()).unwrap();
    eventually("the change", PATIENCE, || {
        (client.read(node).unwrap().value == Some(1.5.into())).then_some(())
    });
    let mut direct = Client::connect(&server.endpoint(), ClientOptions::named("Direct")).unwrap();
    let at_server = NodeId::numeric(3, 6001);
    assert_eq!(direct.read_good(&at_server).unwrap(), 1.5.into());
}

/// Returns the type of an Object.
fn of_type(client: &mut Client, object: &NodeId) -> NodeId {
    let follow = Follow::forward(ids::HAS_TYPE_DEFINITION);
    let references = client.browse(object, &follow).unwrap();
    references[0].node_id.node_id.clone()
}

#[test]
fn namespace_indexes_of_mirrors_stay_when_the_registry_starts_again() {
    let directory = tempfile::tempdir().unwrap();
    let type_of = |space: &AddressSpace| {
        let namespace = space.namespaces().register("urn:test:types").unwrap();
        let node = NodeId::numeric(namespace, 9);
        object_type(space, &node, "PartType");
        node
    };
    let start = |port, name: &str| {
        Foreign::start(directory.path(), port, |space| {
            let namespace = space.namespaces().register("urn:test:machine").unwrap();
            let machine = NodeId::numeric(namespace, 1);
            object(space, &machine, name, type_of(space));
        })
    };
    let (first, second) = (start(0, "First"), start(0, "Second"));
    let ends = [first.endpoint(), second.endpoint()];
    let mirrors = || vec![mirror("A", &ends[0]), mirror("B", &ends[1])];
    let nodes = |client: &mut Client| {
        let of =
            |client: &mut Client, path: &str| eventually(path, PATIENCE, || find(client, path));
        [of(client, "A/First"), of(client, "B/Second")]
    };
    drop(second);
    let (running, mut client) = registry(directory.path(), mirrors());
    eventually("the first server", PATIENCE, || {
        find(&mut client, "A/First")
    });
    let second = start(port(&ends[1]), "Second");
    let before = nodes(&mut client);
    let type_before = of_type(&mut client, &before[0]);
    assert_eq!(type_before.identifier, Identifier::Numeric(9));
    drop((running, client, first));

    // The other server answers first now.
    let (_running, mut client) = registry(directory.path(), mirrors());
    eventually("the second server", PATIENCE, || {
        find(&mut client, "B/Second")
    });
    let _first = start(port(&ends[0]), "First");
    assert_eq!(nodes(&mut client), before);
    // Types of a namespace that the database has are mirrored again.
    assert_eq!(of_type(&mut client, &before[0]), type_before);
    drop(second);
}

//! Types that several mirrors use.

use takt_app::client::Follow;
use takt_app::{Attribute, Client};
use takt_space::AddressSpace;
use takt_ua::{NodeId, QualifiedName, Variant, ids};

use crate::mirror::foreign::{Foreign, object, object_type, property};
use crate::mirror::support::{PATIENCE, eventually, find, mirror, port, registry};

/// Adds a machine, and with `limit` its type, with a Property that has this value.
fn machine(space: &AddressSpace, name: &str, limit: Option<f64>) {
    let types = space.namespaces().register("urn:test:types").unwrap();
    let namespace = space.namespaces().register("urn:test:machine").unwrap();
    let machine = NodeId::numeric(namespace, 1);
    let Some(limit) = limit else {
        return object(space, &machine, name, ids::BASE_OBJECT_TYPE);
    };
    let machine_type = NodeId::numeric(types, 1);
    object_type(space, &machine_type, "MachineType");
    let name_of_limit = QualifiedName::new(types, "Limit");
    property(
        space,
        &machine_type,
        &NodeId::numeric(types, 2),
        name_of_limit,
        limit,
    );
    object(space, &machine, name, machine_type);
}

/// Returns the paths of the machines of the type.
fn instances(client: &mut Client) -> Vec<String> {
    let found = client.find_by_type("MachineType").unwrap_or_default();
    let mut paths: Vec<String> = found.into_iter().map(|node| node.path).collect();
    paths.sort();
    paths
}

#[test]
fn a_type_stays_while_a_mirror_uses_it() {
    let directory = tempfile::tempdir().unwrap();
    let start = |port, name: &str, limit| {
        Foreign::start(directory.path(), port, |space| machine(space, name, limit))
    };
    let left = start(0, "Left", Some(1.0));
    let ends = [left.endpoint()];
    let right = start(0, "Right", Some(2.0));
    let ends = [ends[0].clone(), right.endpoint()];
    drop(right);
    let mirrors = vec![mirror("L", &ends[0]), mirror("R", &ends[1])];
    let (_registry, mut client) = registry(directory.path(), mirrors);
    eventually("the first", PATIENCE, || {
        (instances(&mut client) == ["L/Left"]).then_some(())
    });
    // The type has the values of the server that had it first.
    let right = start(port(&ends[1]), "Right", Some(2.0));
    eventually("both", PATIENCE, || {
        (instances(&mut client) == ["L/Left", "R/Right"]).then_some(())
    });
    let instance = find(&mut client, "R/Right").unwrap();
    let type_of = Follow::forward(ids::HAS_TYPE_DEFINITION);
    let machine_type = client.browse(&instance, &type_of).unwrap();
    let machine_type = machine_type[0].node_id.node_id.clone();
    let limit = NodeId::numeric(machine_type.namespace, 2);
    let reads = |client: &mut Client, expected: f64| {
        eventually("the value of the type", PATIENCE, || {
            (client.read_good(&limit).ok() == Some(Variant::Double(expected))).then_some(())
        });
    };
    reads(&mut client, 1.0);

    // The first server loses the type.
    drop(left);
    let left = start(port(&ends[0]), "Left", None);
    eventually("only the second is an instance", PATIENCE, || {
        (instances(&mut client) == ["R/Right"]).then_some(())
    });
    reads(&mut client, 2.0);
    assert_eq!(instances(&mut client), ["R/Right"]);

    // The last one loses it.
    drop(right);
    let _right = start(port(&ends[1]), "Right", None);
    eventually("the type is gone", PATIENCE, || {
        let class = (machine_type.clone(), Attribute::NodeClass);
        let read = client.read_attributes(&[class]).unwrap();
        read[0].value.is_none().then_some(())
    });
    drop(left);
}

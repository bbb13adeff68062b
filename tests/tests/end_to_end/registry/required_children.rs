//! Children that a type requires: a client may add them itself after their parent, also if the registry ended in between.

use takt_app::{Attribute, Client, Identity, model};
use takt_tests::{Registry, Sandbox};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddNodesRequest};
use takt_ua::{NodeId, QualifiedName, StatusCode, ids};

use crate::registry::client_as;
use crate::registry::ownership::add_provider;

const NAME: &str = "Importer";

fn importer(sandbox: &Sandbox, registry: &Registry) -> Client {
    let uri = model::provider_uri(NAME);
    client_as(
        sandbox,
        &registry.shared_memory(),
        &uri,
        Identity::Anonymous,
    )
}

/// Adds a Variable of AnalogItemType, which requires an EURange, or the EURange itself.
fn add(client: &mut Client, number: u32, parent: NodeId, is_range: bool) -> StatusCode {
    let namespace = client.namespace_index(&model::provider_uri(NAME));
    let namespace = namespace.unwrap().unwrap();
    let (browse_name, reference, of_type) = match is_range {
        true => (
            QualifiedName::new(0, "EURange"),
            ids::HAS_PROPERTY,
            ids::PROPERTY_TYPE,
        ),
        false => (
            QualifiedName::new(namespace, format!("Temperature{number}")),
            ids::HAS_COMPONENT,
            ids::ANALOG_ITEM_TYPE,
        ),
    };
    let response = client.call(AddNodesRequest {
        nodes_to_add: vec![AddNodesItem {
            parent_node_id: parent.into(),
            reference_type_id: NodeId::from(reference),
            requested_new_node_id: NodeId::numeric(namespace, number).into(),
            browse_name,
            node_class: NodeClass::Variable,
            type_definition: NodeId::from(of_type).into(),
            ..AddNodesItem::default()
        }],
        ..AddNodesRequest::default()
    });
    response.unwrap().results[0].status_code
}

#[test]
fn a_required_child_is_added_after_a_restart_between_it_and_its_parent() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let mut client = importer(&sandbox, &registry);
    assert_eq!(add_provider(&mut client, NAME), StatusCode::Good);
    let namespace = client.namespace_index(&model::provider_uri(NAME));
    let namespace = namespace.unwrap().unwrap();
    let provider = NodeId::numeric(namespace, model::provider::OBJECT);
    let variable = |number| NodeId::numeric(namespace, number);
    for number in [100, 200] {
        let added = add(&mut client, number, provider.clone(), false);
        assert_eq!(added, StatusCode::Good);
    }
    // This one is the client's own before the restart.
    assert_eq!(add(&mut client, 201, variable(200), true), StatusCode::Good);

    registry.process.kill();
    registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    let mut client = importer(&sandbox, &registry);
    assert_eq!(add(&mut client, 101, variable(100), true), StatusCode::Good);
    let name = client.read_attribute(&variable(101), Attribute::BrowseName);
    assert_eq!(name.unwrap().status_code(), StatusCode::Good);
    // Each has one that the client has added.
    for number in [100, 200] {
        let again = add(&mut client, number + 2, variable(number), true);
        assert_eq!(again, StatusCode::BadBrowseNameDuplicated);
    }

    registry.process.kill();
    registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    let mut client = importer(&sandbox, &registry);
    for number in [100, 200] {
        let again = add(&mut client, number + 2, variable(number), true);
        assert_eq!(again, StatusCode::BadBrowseNameDuplicated);
        let own = client.read_attribute(&variable(number + 1), Attribute::NodeClass);
        assert_eq!(own.unwrap().status_code(), StatusCode::Good);
    }
}

//! Nodes of a Provider at the registry.

use takt_app::client::Follow;
use takt_app::{Attribute, Client, model};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::enumerations::BrowseDirection;
use takt_ua::structures::{Argument, EUInformation, Range, ReferenceDescription};
use takt_ua::{Elements, NodeId, Variant, ids};

use crate::registry::{client, consumer, wait_until_available};

fn names(references: &[ReferenceDescription]) -> Vec<&str> {
    let names = references.iter();
    names
        .map(|reference| reference.browse_name.name.as_str())
        .collect()
}

fn follow(reference_type: NodeId, direction: BrowseDirection) -> Follow {
    Follow {
        reference_type,
        direction,
    }
}

fn property(client: &mut Client, path: &str) -> Variant {
    let node = client.find(path).unwrap().node_id.node_id;
    client.read_good(&node).unwrap()
}

#[test]
fn a_provider_is_shown_with_its_tree_and_its_endpoints() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let name = machine.name.as_str();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, name);

    let providers = consumer.providers().unwrap();
    assert_eq!(providers.len(), 1);
    let endpoints: Vec<String> = providers[0]
        .endpoints
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        endpoints,
        [machine.shared_memory(), machine.endpoint.clone()]
    );

    // Everything else as any client sees it, over opc.tcp.
    let mut client = client(&sandbox, &registry.endpoint);
    let index = client
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    let of_model = |identifier| NodeId::numeric(index, identifier);
    let provider = client.find(name).unwrap();
    assert_eq!(
        provider.type_definition.node_id,
        of_model(model::PROVIDER_TYPE)
    );
    let provider = provider.node_id.node_id;
    let children = client.browse(&provider, &Follow::children()).unwrap();
    for expected in [
        "ServerEndpoint",
        "ServerEndpoint2",
        "Available",
        "Spindle",
        "Start",
        "Stop",
    ] {
        assert!(names(&children).contains(&expected), "{children:#?}");
    }
    assert_eq!(
        property(&mut client, &format!("{name}/ServerEndpoint")),
        machine.shared_memory().as_str().into()
    );
    assert_eq!(
        property(&mut client, &format!("{name}/ServerEndpoint2")),
        machine.endpoint.as_str().into()
    );
    assert_eq!(
        property(&mut client, &format!("{name}/Available")),
        true.into()
    );

    // The creator of a node, and its endpoints: for a Variable and for a Method.
    let created_by = of_model(model::CREATED_BY);
    let interaction_via = of_model(model::INTERACTION_VIA);
    for path in ["Spindle/Speed", "Start"] {
        let node = client.find(&format!("{name}/{path}")).unwrap();
        let node = node.node_id.node_id;
        let creator = client
            .browse(&node, &follow(created_by.clone(), BrowseDirection::Forward))
            .unwrap();
        assert_eq!(creator.len(), 1);
        assert_eq!(creator[0].node_id.node_id, provider);
        let ways = client
            .browse(
                &node,
                &follow(interaction_via.clone(), BrowseDirection::Forward),
            )
            .unwrap();
        let mut ways = names(&ways);
        ways.sort_unstable();
        assert_eq!(ways, ["ServerEndpoint", "ServerEndpoint2"], "{path}");
    }
    let created = client
        .browse(&provider, &follow(created_by, BrowseDirection::Inverse))
        .unwrap();
    for expected in ["Speed", "Start", "ServerEndpoint", "Spindle"] {
        assert!(names(&created).contains(&expected), "{created:#?}");
    }
}

#[test]
fn data_has_its_types_units_and_ranges_at_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let host = Provider::start(&sandbox, &registry, "host");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &machine.name);
    wait_until_available(&mut consumer, &host.name);
    let mut client = client(&sandbox, &registry.endpoint);

    let speed = format!("{}/Spindle/Speed", machine.name);
    let node = client.find(&speed).unwrap();
    let node = node.node_id.node_id;
    let mut read = |attribute| client.read_attribute(&node, attribute).unwrap().value;
    assert_eq!(
        read(Attribute::DataType),
        Some(Variant::NodeId(Box::new(NodeId::from(ids::DOUBLE))))
    );
    assert_eq!(read(Attribute::ValueRank), Some((-1_i32).into()));
    let structure = |value: Variant| match value {
        Variant::ExtensionObject(object) => object,
        other => panic!("no structure: {other:?}"),
    };
    let units = structure(property(&mut client, &format!("{speed}/EngineeringUnits")));
    let units: EUInformation = units.decode_as().unwrap();
    assert!(!units.display_name.text.is_empty());
    assert_eq!(
        units.namespace_uri.as_str(),
        "http://www.opcfoundation.org/UA/units/un/cefact"
    );
    let range = structure(property(&mut client, &format!("{speed}/EURange")));
    let range: Range = range.decode_as().unwrap();
    assert!(range.low < range.high);

    let samples = client
        .find(&format!("{}/ContextSwitches/Samples", host.name))
        .unwrap();
    let value_type = client.value_type(&samples.node_id.node_id).unwrap();
    assert_eq!(value_type.built_in_type, Some(takt_ua::BuiltInType::UInt32));
    assert_eq!(value_type.value_rank, 1);
    let method = format!("{}/SetSamplingInterval", host.name);
    for (list, expected) in [("InputArguments", 1), ("OutputArguments", 1)] {
        let Variant::Array(array) = property(&mut client, &format!("{method}/{list}")) else {
            panic!("{list} is no array");
        };
        let Elements::ExtensionObject(arguments) = array.elements else {
            panic!("{list} holds no structures");
        };
        assert_eq!(arguments.len(), expected);
        let argument: Argument = arguments[0].decode_as().unwrap();
        assert_eq!(argument.data_type, NodeId::from(ids::DURATION));
    }
}

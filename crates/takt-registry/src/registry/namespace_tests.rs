//! Tests of namespaces that Providers add to the NamespaceArray.

use std::path::Path;

use takt_app::Client;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::AddNodesItem;
use takt_ua::{QualifiedName, UaString, ids};

use super::attribute_tests::{DATA_TYPE_DEFINITION, add_enumeration, append, definition, write};
use super::tests::*;
use super::*;

const DENIED: StatusCode = StatusCode::BadUserAccessDenied;

fn index(client: &mut Client, uri: &str) -> u16 {
    client.namespace_index(uri).unwrap().unwrap()
}

/// Ends the Session of a Provider, and forgets it.
fn forget(provider: Client, client: &mut Client) {
    let name = provider.options().application_name.clone();
    drop(provider);
    let model = index(client, model::NAMESPACE_URI);
    let [object, method] = [model::REGISTRY, model::REGISTRY_FORGET]
        .map(|identifier| NodeId::numeric(model, identifier));
    // It is forgotten when the registry has noticed the end.
    while client
        .call_method(&object, &method, vec![name.as_str().into()])
        .is_err()
    {
        std::thread::yield_now();
    }
}

fn start(folder: &Path) -> Registry {
    Registry::start(options(folder)).unwrap()
}

#[test]
fn the_object_of_a_provider_is_only_in_the_namespace_that_is_named_after_it() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    assert_eq!(append(&mut own, &["urn:plant"]), StatusCode::Good);
    let (plant, named) = (index(&mut own, "urn:plant"), namespace(&mut own));
    let object = NodeId::numeric(named, model::provider::OBJECT);
    assert_eq!(delete(&mut own, &object), StatusCode::Good);
    let model = index(&mut own, model::NAMESPACE_URI);
    let object = AddNodesItem {
        parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
        reference_type_id: NodeId::from(ids::ORGANIZES),
        requested_new_node_id: NodeId::numeric(plant, model::provider::OBJECT).into(),
        browse_name: QualifiedName::new(model, "P"),
        node_class: NodeClass::Object,
        type_definition: NodeId::numeric(model, model::PROVIDER_TYPE).into(),
        ..AddNodesItem::default()
    };
    let added = loop {
        match add(&mut own, vec![object.clone()])[0] {
            // Its nodes are being removed.
            StatusCode::BadInvalidState => std::thread::yield_now(),
            added => break added,
        }
    };
    assert_eq!(added, StatusCode::BadNodeIdRejected);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, registry));
    let registry = start(folder.path());
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(register(&mut own), StatusCode::Good);
    assert_eq!(namespace(&mut own), named);
    assert_eq!(
        add_enumeration(&mut own, &NodeId::numeric(plant, 2)),
        StatusCode::Good
    );
}

#[test]
fn a_namespace_that_was_lost_is_stored_with_its_first_node() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    setting.disk.set_broken(true);
    let lost = append(&mut own, &["urn:plant"]);
    assert_eq!(lost, StatusCode::BadResourceUnavailable);
    setting.disk.set_broken(false);
    let plant = index(&mut own, "urn:plant");
    let node = NodeId::numeric(plant, 2);
    assert_eq!(add_enumeration(&mut own, &node), StatusCode::Good);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, registry));
    let registry = start(folder.path());
    let mut other = client(&registry, folder.path(), "Q");
    assert_eq!(register(&mut other), StatusCode::Good);
    assert_ne!(namespace(&mut other), plant);
    assert_eq!(index(&mut other, "urn:plant"), plant);
    assert_eq!(delete(&mut other, &node), DENIED);
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(delete(&mut own, &node), StatusCode::Good);
}

#[test]
fn a_namespace_that_was_lost_belongs_to_nobody() {
    let setting = Setting::new();
    let (mut own, mut other) = (setting.provider("P"), setting.provider("Q"));
    setting.disk.set_broken(true);
    let lost = append(&mut own, &["urn:plant"]);
    assert_eq!(lost, StatusCode::BadResourceUnavailable);
    let node = NodeId::numeric(index(&mut own, "urn:plant"), 2);
    // What it takes with this node is lost, too.
    let lost = add_enumeration(&mut own, &node);
    assert_eq!(lost, StatusCode::BadResourceUnavailable);
    setting.disk.set_broken(false);
    assert_eq!(add_enumeration(&mut other, &node), StatusCode::Good);
    assert_eq!(delete(&mut own, &node), DENIED);
}

const NODESET: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>http://plant.example/</Uri></NamespaceUris>
  <Models><Model ModelUri="http://plant.example/" Version="1.0.0" PublicationDate="2024-01-01T00:00:00Z">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/" />
  </Model></Models>
  <UADataType NodeId="ns=1;i=1" BrowseName="1:Kept"><DisplayName>Kept</DisplayName>
    <References><Reference ReferenceType="i=45" IsForward="false">i=29</Reference></References>
  </UADataType>
</UANodeSet>"#;

#[test]
fn nodes_of_a_nodeset_belong_to_no_provider() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let uri = "http://plant.example/";
    assert_eq!(append(&mut own, &[uri]), StatusCode::Good);
    let plant = index(&mut own, uri);
    let nodes = [1, 2].map(|number| NodeId::numeric(plant, number));
    for node in &nodes {
        assert_eq!(add_enumeration(&mut own, node), StatusCode::Good);
        let written = write(&mut own, node, DATA_TYPE_DEFINITION, definition("P"));
        assert_eq!(written, StatusCode::Good);
    }
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, registry));
    let path = folder.path().join("plant.xml");
    std::fs::write(&path, NODESET).unwrap();
    let mut with_nodeset = options(folder.path());
    with_nodeset.nodesets.push(path);
    let registry = Registry::start(with_nodeset).unwrap();
    let [of_nodeset, of_provider] = &nodes;
    let mut own = client(&registry, folder.path(), "P");
    let read = own.read_attribute(of_nodeset, takt_app::Attribute::DataTypeDefinition);
    assert_eq!(read.unwrap().value, None);
    let write = |client: &mut Client, node| {
        write(client, node, DATA_TYPE_DEFINITION, definition("Changed"))
    };
    assert!(write(&mut own, of_nodeset).is_bad());
    assert_eq!(delete(&mut own, of_nodeset), DENIED);
    assert_eq!(write(&mut own, of_provider), StatusCode::Good);
    // Neither when the namespace has been freed, and belongs to another Provider.
    let mut other = client(&registry, folder.path(), "Q");
    assert_eq!(register(&mut other), StatusCode::Good);
    forget(own, &mut other);
    while exists(&mut other, of_provider) {
        std::thread::yield_now();
    }
    assert!(exists(&mut other, of_nodeset));
    let _ = add_enumeration(&mut other, of_provider);
    assert_eq!(delete(&mut other, of_nodeset), DENIED);
    assert!(write(&mut other, of_nodeset).is_bad());
    assert!(exists(&mut other, of_nodeset));
}

#[test]
fn a_registry_with_mirrors_gives_away_forgotten_namespaces_too() {
    let setting = Setting::new();
    let (mut own, mut other) = (setting.provider("P"), setting.provider("Q"));
    assert_eq!(append(&mut own, &["urn:plant"]), StatusCode::Good);
    let node = NodeId::numeric(index(&mut own, "urn:plant"), 2);
    let Setting {
        folder, registry, ..
    } = setting;
    forget(own, &mut other);
    drop((other, registry));
    let mut with_mirror = options(folder.path());
    let mirror = "M=opc.tcp://127.0.0.1:9".parse().unwrap();
    with_mirror.mirrors.push(mirror);
    let registry = Registry::start(with_mirror).unwrap();
    let mut other = client(&registry, folder.path(), "Q");
    assert_eq!(add_enumeration(&mut other, &node), StatusCode::Good);
    drop((other, registry));
    let registry = start(folder.path());
    let mut other = client(&registry, folder.path(), "Q");
    assert!(exists(&mut other, &node));
    assert_eq!(delete(&mut other, &node), StatusCode::Good);
}

#[test]
fn namespaces_are_appended_although_forgotten_ones_are_free() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    assert_eq!(append(&mut own, &["urn:a"]), StatusCode::Good);
    let freed = [namespace(&mut own), index(&mut own, "urn:a")];
    let mut other = setting.provider("Q");
    let Setting {
        folder, registry, ..
    } = setting;
    forget(own, &mut other);
    let length = registry.server().address_space().namespaces().all().len();
    drop((other, registry));
    let mut small = options(folder.path());
    small.budgets.max_namespaces = 2 * length - 2;
    let registry = Registry::start(small).unwrap();
    let namespaces = registry.server().address_space().namespaces();
    assert_eq!(freed.map(|index| namespaces.is_free(index)), [true; 2]);
    let mut other = client(&registry, folder.path(), "Q");
    assert_eq!(append(&mut other, &["urn:c"]), StatusCode::Good);
    assert_eq!(usize::from(index(&mut other, "urn:c")), length);
    // A node in a place that is free has no namespace.
    let rejected = add_enumeration(&mut other, &NodeId::numeric(freed[0], 2));
    assert_eq!(rejected, StatusCode::BadNodeIdRejected);
    // The next Provider gets the first free place, with its URI.
    let mut next = client(&registry, folder.path(), "R");
    assert_eq!(register(&mut next), StatusCode::Good);
    assert!(freed.contains(&namespace(&mut next)));
}

#[test]
fn required_children_are_in_the_namespace_of_their_parent() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    assert_eq!(append(&mut own, &["urn:plant"]), StatusCode::Good);
    let plant = index(&mut own, "urn:plant");
    for namespace in [plant, namespace(&mut own)] {
        let node = NodeId::string(namespace, "Limit");
        let item = AddNodesItem {
            parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
            reference_type_id: NodeId::from(ids::ORGANIZES),
            requested_new_node_id: node.clone().into(),
            browse_name: QualifiedName::new(namespace, "Limit"),
            node_class: NodeClass::Object,
            type_definition: NodeId::from(ids::FILE_TYPE).into(),
            ..AddNodesItem::default()
        };
        assert_eq!(add(&mut own, vec![item]), [StatusCode::Good]);
        let view = setting.registry.server().address_space().view();
        let children = view.children(&node, ids::HAS_PROPERTY);
        assert!(!children.is_empty());
        assert!(
            children.iter().all(|child| child.namespace == namespace),
            "{children:?}"
        );
    }
}

#[test]
fn only_new_uris_are_appended() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let array = NodeId::from(ids::SERVER_NAMESPACE_ARRAY);
    let present = own.read_good(&array).unwrap();
    let known = Vec::<UaString>::try_from(present).unwrap();
    for uri in [known[0].as_str(), known[1].as_str(), ""] {
        assert!(append(&mut own, &[uri]).is_bad(), "{uri}");
    }
}

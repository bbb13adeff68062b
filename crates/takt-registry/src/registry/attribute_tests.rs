//! Tests of attributes and namespaces that Providers write.

use takt_app::{Attribute, Client};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, EnumDefinition, EnumField, WriteRequest, WriteValue};
use takt_ua::{DataValue, ExtensionObject, QualifiedName, UaString, ids};

use super::tests::*;
use super::*;

pub(super) const DATA_TYPE_DEFINITION: u32 = 23;
const VALUE: u32 = 13;

pub(super) fn definition(name: &str) -> Variant {
    let definition = EnumDefinition {
        fields: vec![EnumField {
            value: 1,
            name: name.into(),
            ..EnumField::default()
        }],
    };
    ExtensionObject::from_structure(&definition).into()
}

pub(super) fn write(
    client: &mut Client,
    node: &NodeId,
    attribute_id: u32,
    value: Variant,
) -> StatusCode {
    let response = client.call(WriteRequest {
        nodes_to_write: vec![WriteValue {
            node_id: node.clone(),
            attribute_id,
            value: DataValue::good(value),
            ..WriteValue::default()
        }],
        ..WriteRequest::default()
    });
    response.unwrap().results[0]
}

fn read(client: &mut Client, node: &NodeId) -> Option<Variant> {
    let read = client.read_attribute(node, Attribute::DataTypeDefinition);
    read.unwrap().value
}

/// Adds an enumeration with this NodeId.
pub(super) fn add_enumeration(client: &mut Client, node: &NodeId) -> StatusCode {
    let item = AddNodesItem {
        parent_node_id: NodeId::from(ids::ENUMERATION).into(),
        reference_type_id: NodeId::from(ids::HAS_SUBTYPE),
        requested_new_node_id: node.clone().into(),
        browse_name: QualifiedName::new(node.namespace, node.to_string()),
        node_class: NodeClass::DataType,
        ..AddNodesItem::default()
    };
    add(client, vec![item])[0]
}

/// Appends URIs to the NamespaceArray.
pub(super) fn append(client: &mut Client, uris: &[&str]) -> StatusCode {
    let array = NodeId::from(ids::SERVER_NAMESPACE_ARRAY);
    let present = client.read_good(&array).unwrap();
    let mut all = Vec::<UaString>::try_from(present).unwrap();
    all.extend(uris.iter().map(|uri| UaString::from(*uri)));
    write(client, &array, VALUE, all.into())
}

#[test]
fn a_provider_writes_attributes_of_its_own_nodes_which_last() {
    let setting = Setting::new();
    let (mut own, mut other) = (setting.provider("P"), setting.provider("Q"));
    let node = NodeId::string(namespace(&mut own), "State");
    assert_eq!(add_enumeration(&mut own, &node), StatusCode::Good);
    let write = |client: &mut Client, value| write(client, &node, DATA_TYPE_DEFINITION, value);
    assert_eq!(write(&mut own, definition("First")), StatusCode::Good);
    assert_eq!(write(&mut own, definition("Second")), StatusCode::Good);
    for mut stranger in [setting.client("Stranger"), setting.client("Q")] {
        let refused = write(&mut stranger, definition("Third"));
        assert_eq!(refused, StatusCode::BadUserAccessDenied);
    }
    assert_eq!(write(&mut own, 7_i32.into()), StatusCode::BadTypeMismatch);
    let masks = |client: &mut Client| {
        [Attribute::WriteMask, Attribute::UserWriteMask]
            .map(|mask| client.read_attribute(&node, mask).unwrap().value)
    };
    let mask = Some(Variant::UInt32(0x40_0060));
    assert_eq!(masks(&mut own), [mask.clone(), mask.clone()]);
    assert_eq!(masks(&mut other), [mask, Some(Variant::UInt32(0))]);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, other, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(read(&mut own, &node), Some(definition("Second")));
    // What was written goes with the node.
    assert_eq!(delete(&mut own, &node), StatusCode::Good);
    assert_eq!(add_enumeration(&mut own, &node), StatusCode::Good);
    assert_eq!(read(&mut own, &node), None);
    drop((own, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut own = client(&registry, folder.path(), "P");
    assert!(exists(&mut own, &node));
    assert_eq!(read(&mut own, &node), None);
}

#[test]
fn an_attribute_that_is_lost_has_its_value_before() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let node = NodeId::string(namespace(&mut own), "State");
    assert_eq!(add_enumeration(&mut own, &node), StatusCode::Good);
    let written = write(&mut own, &node, DATA_TYPE_DEFINITION, definition("First"));
    assert_eq!(written, StatusCode::Good);
    setting.disk.set_broken(true);
    let lost = write(&mut own, &node, DATA_TYPE_DEFINITION, definition("Second"));
    assert_eq!(lost, StatusCode::BadResourceUnavailable);
    assert_eq!(read(&mut own, &node), Some(definition("First")));
    setting.disk.set_broken(false);
    let written = write(&mut own, &node, DATA_TYPE_DEFINITION, definition("Third"));
    assert_eq!(written, StatusCode::Good);
    assert_eq!(read(&mut own, &node), Some(definition("Third")));
}

#[test]
fn a_provider_has_the_namespaces_that_it_adds_until_it_is_forgotten() {
    let setting = Setting::new();
    let (mut own, mut other) = (setting.provider("P"), setting.provider("Q"));
    let mut stranger = setting.client("Stranger");
    let denied = StatusCode::BadUserAccessDenied;
    assert_eq!(append(&mut stranger, &["urn:plant"]), denied);
    assert_eq!(append(&mut own, &["urn:plant"]), StatusCode::Good);
    assert_eq!(append(&mut own, &["urn:takt:provider:R"]), denied);
    assert_eq!(append(&mut own, &["urn:plant"]), StatusCode::BadOutOfRange);
    // It only gets longer.
    let array = NodeId::from(ids::SERVER_NAMESPACE_ARRAY);
    let changed: Variant = vec![UaString::from("urn:other")].into();
    let written = write(&mut own, &array, VALUE, changed);
    assert_eq!(written, StatusCode::BadOutOfRange);

    let index = own.namespace_index("urn:plant").unwrap().unwrap();
    let node = NodeId::numeric(index, 2);
    assert_eq!(add_enumeration(&mut other, &node), denied);
    assert_eq!(add_enumeration(&mut own, &node), StatusCode::Good);
    let written = write(&mut own, &node, DATA_TYPE_DEFINITION, definition("A"));
    assert_eq!(written, StatusCode::Good);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, other, stranger, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut other = client(&registry, folder.path(), "Q");
    assert_eq!(read(&mut other, &node), Some(definition("A")));
    assert_eq!(delete(&mut other, &node), denied);
    // The nodes go with the Provider, and the namespace is that of the next one.
    let model = other
        .namespace_index(model::NAMESPACE_URI)
        .unwrap()
        .unwrap();
    let forgotten = other.call_method(
        &NodeId::numeric(model, model::REGISTRY),
        &NodeId::numeric(model, model::REGISTRY_FORGET),
        vec!["P".into()],
    );
    assert!(forgotten.is_ok(), "{forgotten:?}");
    assert!(!exists(&mut other, &node));
    assert_eq!(add_enumeration(&mut other, &node), StatusCode::Good);
    drop((other, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(register(&mut own), StatusCode::Good);
    assert_eq!(
        add_enumeration(&mut own, &NodeId::numeric(index, 3)),
        denied
    );
}

#[test]
fn namespaces_of_a_provider_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = options(folder.path());
    limited.name_budget.namespaces = 3;
    let registry = Registry::start(limited).unwrap();
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(register(&mut own), StatusCode::Good);
    assert_eq!(append(&mut own, &["urn:a", "urn:b"]), StatusCode::Good);
    let full = StatusCode::BadResourceUnavailable;
    assert_eq!(append(&mut own, &["urn:c"]), full);
    let long = "x".repeat(2000);
    assert_eq!(append(&mut own, &[&long]), StatusCode::BadUserAccessDenied);
}

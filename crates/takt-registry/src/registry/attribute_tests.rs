//! Tests of attributes and namespaces that Providers write.

use takt_app::{Attribute, Client};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{
    AddNodesItem, EnumDefinition, EnumField, VariableAttributes, WriteRequest, WriteValue,
};
use takt_ua::{DataValue, DateTime, ExtensionObject, LocalizedText, QualifiedName, UaString, ids};

use super::tests::*;
use super::*;

pub(super) const DATA_TYPE_DEFINITION: u32 = 23;
const VALUE: u32 = 13;
const ACCESS_LEVEL: u32 = 17;

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
    write_with(client, node, attribute_id, DataValue::good(value))
}

fn write_with(
    client: &mut Client,
    node: &NodeId,
    attribute_id: u32,
    value: DataValue,
) -> StatusCode {
    let response = client.call(WriteRequest {
        nodes_to_write: vec![WriteValue {
            node_id: node.clone(),
            attribute_id,
            value,
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
    // The deletion of a node deletes its written attributes.
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

#[test]
fn a_value_of_the_registry_is_read_only() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let model = own.namespace_index(model::NAMESPACE_URI);
    let model = model.unwrap().unwrap();
    let namespace = namespace(&mut own);
    let available = NodeId::numeric(namespace, model::provider::AVAILABLE);
    let level = |client: &mut Client| {
        let read = client.read_attribute(&available, Attribute::AccessLevel);
        read.unwrap().value
    };
    let read_only = Some(Variant::Byte(1));
    assert_eq!(level(&mut own), read_only);
    let refused = write(&mut own, &available, ACCESS_LEVEL, 3_u8.into());
    assert_eq!(refused, StatusCode::BadNotWritable);
    // With the node, and with another name than that of the model.
    for browse_name in [
        QualifiedName::new(model, "Available"),
        QualifiedName::new(namespace, "Mine"),
    ] {
        assert_eq!(delete(&mut own, &available), StatusCode::Good);
        let attributes = VariableAttributes {
            // AccessLevel and DataType.
            specified_attributes: 0x11,
            access_level: 3,
            data_type: NodeId::from(ids::BOOLEAN),
            ..VariableAttributes::default()
        };
        let item = AddNodesItem {
            parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
            reference_type_id: NodeId::from(ids::HAS_PROPERTY),
            requested_new_node_id: available.clone().into(),
            browse_name,
            node_class: NodeClass::Variable,
            node_attributes: ExtensionObject::from_structure(&attributes),
            type_definition: NodeId::from(ids::PROPERTY_TYPE).into(),
        };
        assert_eq!(add(&mut own, vec![item]), [StatusCode::Good]);
        assert_eq!(level(&mut own), read_only);
        let refused = write(&mut own, &available, ACCESS_LEVEL, 3_u8.into());
        assert_eq!(refused, StatusCode::BadNotWritable);
        let refused = write(&mut own, &available, VALUE, true.into());
        assert_eq!(refused, StatusCode::BadNotWritable);
    }
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    let mut own = client(&registry, folder.path(), "P");
    assert_eq!(level(&mut own), read_only);
}

/// Adds a Variable with a Double, which clients only read, and an Object below the client's Provider.
fn add_variable_and_object(client: &mut Client) -> [NodeId; 2] {
    let namespace = namespace(client);
    let nodes = ["Variable", "Object"].map(|name| NodeId::string(namespace, name));
    let attributes = VariableAttributes {
        // DataType and Value.
        specified_attributes: 0x20_0010,
        data_type: NodeId::from(ids::DOUBLE),
        value: 1.5.into(),
        ..VariableAttributes::default()
    };
    let item = |node: &NodeId, name: &str| AddNodesItem {
        parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
        reference_type_id: NodeId::from(ids::HAS_COMPONENT),
        requested_new_node_id: node.clone().into(),
        browse_name: QualifiedName::new(namespace, name),
        ..AddNodesItem::default()
    };
    let variable = AddNodesItem {
        node_class: NodeClass::Variable,
        node_attributes: ExtensionObject::from_structure(&attributes),
        type_definition: NodeId::from(ids::BASE_DATA_VARIABLE_TYPE).into(),
        ..item(&nodes[0], "Variable")
    };
    let object = AddNodesItem {
        node_class: NodeClass::Object,
        type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
        ..item(&nodes[1], "Object")
    };
    let added = add(client, vec![variable, object]);
    assert_eq!(added, [StatusCode::Good; 2]);
    nodes
}

#[test]
fn each_attribute_that_a_provider_writes_lasts() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let mut other = setting.provider("Q");
    let [variable, object] = add_variable_and_object(&mut own);
    let text = |text: &str| Variant::from(LocalizedText::from(text));
    let written = [
        (&variable, VALUE, Attribute::Value, 2.5.into()),
        (&variable, ACCESS_LEVEL, Attribute::AccessLevel, 5_u8.into()),
        (&variable, 4, Attribute::DisplayName, text("Shown")),
        (&object, 5, Attribute::Description, text("What it is")),
        (&object, 12, Attribute::EventNotifier, 1_u8.into()),
    ];
    for (node, attribute_id, _, value) in &written {
        let refused = match *attribute_id {
            VALUE => StatusCode::BadNotWritable,
            _ => StatusCode::BadUserAccessDenied,
        };
        let status = write(&mut other, node, *attribute_id, value.clone());
        assert_eq!(status, refused, "{attribute_id}");
        let status = write(&mut own, node, *attribute_id, value.clone());
        assert_eq!(status, StatusCode::Good, "{attribute_id}");
        let wrong = write(&mut own, node, *attribute_id, Variant::from(7_i64));
        assert_eq!(wrong, StatusCode::BadTypeMismatch, "{attribute_id}");
    }
    // UserAccessLevel follows from AccessLevel.
    for (level, status) in [(5_u8, StatusCode::Good), (1, StatusCode::BadNotWritable)] {
        assert_eq!(write(&mut own, &variable, 18, level.into()), status);
    }
    let check = |client: &mut Client| {
        for (node, id, attribute, value) in &written {
            let read = client.read_attribute(node, *attribute).unwrap();
            assert_eq!(read.value.as_ref(), Some(value), "{id}");
        }
    };
    check(&mut other);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, other, registry));
    let registry = Registry::start(options(folder.path())).unwrap();
    check(&mut client(&registry, folder.path(), "P"));
}

#[test]
fn a_value_keeps_its_timestamp_and_a_lost_one_that_before() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let [variable, _] = add_variable_and_object(&mut own);
    let at = |value: f64, ticks: i64| DataValue {
        source_timestamp: Some(DateTime::from_unix_nanos(ticks)),
        ..DataValue::good(value)
    };
    let write = |client: &mut Client, value| write_with(client, &variable, VALUE, value);
    let read = |client: &mut Client| {
        let read = client.read_attribute(&variable, Attribute::Value).unwrap();
        (read.value, read.source_timestamp)
    };
    let first = at(2.5, 100);
    assert_eq!(write(&mut own, first.clone()), StatusCode::Good);
    let expected = (first.value.clone(), first.source_timestamp);
    assert_eq!(read(&mut own), expected);
    // Status and picoseconds are not kept.
    for value in [
        DataValue {
            status: Some(StatusCode::Uncertain),
            ..first.clone()
        },
        DataValue {
            source_picoseconds: Some(1),
            ..first
        },
    ] {
        let status = write(&mut own, value);
        assert_eq!(status, StatusCode::BadWriteNotSupported);
    }
    setting.disk.set_broken(true);
    let lost = write(&mut own, at(3.5, 200));
    assert_eq!(lost, StatusCode::BadResourceUnavailable);
    assert_eq!(read(&mut own), expected);
}

#[test]
fn an_attribute_that_a_node_does_not_have_is_not_written() {
    let setting = Setting::new();
    let (mut own, mut other) = (setting.provider("P"), setting.provider("Q"));
    let [variable, object] = add_variable_and_object(&mut own);
    for client in [&mut own, &mut other] {
        for (node, attribute_id) in [
            (&object, 0),
            (&object, 99),
            (&object, VALUE),
            (&object, ACCESS_LEVEL),
            (&object, DATA_TYPE_DEFINITION),
            (&variable, DATA_TYPE_DEFINITION),
            (&variable, 12),
        ] {
            let status = write(client, node, attribute_id, 1_u8.into());
            assert_eq!(status, StatusCode::BadAttributeIdInvalid, "{attribute_id}");
        }
    }
    // A NodeId exists and never changes.
    let status = write(&mut own, &object, 1, object.clone().into());
    assert_eq!(status, StatusCode::BadNotWritable);
}

#[test]
fn a_replaced_required_child_whose_deletion_was_lost_does_not_come_back() {
    let setting = Setting::new();
    let mut own = setting.provider("P");
    let namespace = namespace(&mut own);
    let level = NodeId::string(namespace, "Level");
    let of_type = |data_type: u32| VariableAttributes {
        // DataType.
        specified_attributes: 0x10,
        data_type: NodeId::from(data_type),
        ..VariableAttributes::default()
    };
    let analog = AddNodesItem {
        parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
        reference_type_id: NodeId::from(ids::HAS_COMPONENT),
        requested_new_node_id: level.clone().into(),
        browse_name: QualifiedName::new(namespace, "Level"),
        node_class: NodeClass::Variable,
        node_attributes: ExtensionObject::from_structure(&of_type(ids::DOUBLE)),
        type_definition: NodeId::from(ids::ANALOG_ITEM_TYPE).into(),
    };
    assert_eq!(add(&mut own, vec![analog]), [StatusCode::Good]);
    let chosen = NodeId::string(namespace, "Chosen");
    let range = AddNodesItem {
        parent_node_id: level.clone().into(),
        reference_type_id: NodeId::from(ids::HAS_PROPERTY),
        requested_new_node_id: chosen.clone().into(),
        browse_name: QualifiedName::new(0, "EURange"),
        node_class: NodeClass::Variable,
        node_attributes: ExtensionObject::from_structure(&of_type(ids::RANGE)),
        type_definition: NodeId::from(ids::PROPERTY_TYPE).into(),
    };
    setting.disk.set_broken(true);
    let lost = add(&mut own, vec![range.clone()]);
    assert_eq!(lost, [StatusCode::BadResourceUnavailable]);
    setting.disk.set_broken(false);
    assert_eq!(add(&mut own, vec![range]), [StatusCode::Good]);
    let Setting {
        folder, registry, ..
    } = setting;
    drop((own, registry));
    // The second start finds what the first one has stored.
    for _ in 0..2 {
        let registry = Registry::start(options(folder.path())).unwrap();
        let view = registry.server.address_space().view();
        let ranges = view.children(&level, ids::HAS_PROPERTY);
        assert_eq!(ranges, std::slice::from_ref(&chosen));
    }
}

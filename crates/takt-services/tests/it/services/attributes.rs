//! The attributes of nodes, and the changing values of the Server object (OPC 10000-3, 5; OPC 10000-5, 6.3).

use std::sync::Arc;

use crate::common::{Client, VALUE, read_id, server};
use takt_space::Value;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{BuildInfo, EnumDefinition, ServerStatusDataType, StructureDefinition};
use takt_ua::{
    BuiltInType, DateTime, Elements, LocalizedText, NodeId, QualifiedName, StatusCode, Structure,
    Variant, ids,
};

#[test]
fn every_attribute_of_every_standard_node_can_be_asked_for() {
    let mut client = Client::new(&server());
    let mandatory = |class: NodeClass| -> &[u32] {
        match class {
            NodeClass::Object => &[1, 2, 3, 4, 6, 7, 12],
            NodeClass::Variable => &[1, 2, 3, 4, 14, 15, 17, 18, 20],
            NodeClass::Method => &[1, 2, 3, 4, 21, 22],
            NodeClass::ObjectType | NodeClass::DataType => &[1, 2, 3, 4, 8],
            NodeClass::VariableType => &[1, 2, 3, 4, 8, 14, 15],
            NodeClass::ReferenceType => &[1, 2, 3, 4, 8, 9],
            _ => &[1, 2, 3, 4],
        }
    };
    for node in takt_space::namespace0::Namespace0::nodes() {
        let items = (0..=28)
            .map(|attribute| read_id(node.id(), attribute))
            .collect();
        let results = client.read(items).unwrap();
        // Only administrators of security see it.
        if node.id() == 3708 {
            assert!(results.iter().all(|result| result.value.is_none()));
            continue;
        }
        for attribute in mandatory(node.node_class()) {
            let result = &results[*attribute as usize];
            assert!(
                result.value.is_some(),
                "attribute {attribute} of {}: {result:?}",
                node.id()
            );
        }
        // Arrays of all clients have RolePermissions of their own.
        let has_permissions = [2290, 3707].contains(&node.id());
        for attribute in [0, 24, 25, 26, 28] {
            if has_permissions && (24..=26).contains(&attribute) {
                continue;
            }
            assert_eq!(
                results[attribute].status,
                Some(StatusCode::BadAttributeIdInvalid)
            );
        }
        let invalid = results[VALUE as usize].status == Some(StatusCode::BadAttributeIdInvalid);
        match node.node_class() {
            NodeClass::Variable => assert!(!invalid, "{}", node.id()),
            // A default value is optional.
            NodeClass::VariableType => {}
            _ => assert!(invalid, "{}", node.id()),
        }
    }
}

#[test]
fn attributes_of_the_standard() {
    let mut client = Client::new(&server());
    let mut read = |id: u32, attribute| client.read_attribute(id, attribute).value;
    assert_eq!(
        read(ids::SERVER, 3),
        Some(Variant::from(QualifiedName::new(0, "Server")))
    );
    assert_eq!(
        read(ids::SERVER, 4),
        Some(Variant::from(LocalizedText::from("Server")))
    );
    assert_eq!(read(ids::SERVER, 2), Some(Variant::from(1_i32)));
    assert_eq!(read(ids::SERVER, 12), Some(Variant::from(1_u8)));
    assert_eq!(
        read(ids::ORGANIZES, 10),
        Some(Variant::from(LocalizedText::from("OrganizedBy")))
    );
    assert_eq!(read(ids::ORGANIZES, 9), Some(Variant::from(false)));
    assert_eq!(read(ids::BASE_DATA_TYPE, 8), Some(Variant::from(true)));
    assert_eq!(
        read(ids::SERVER_SERVER_STATUS, 14),
        Some(Variant::from(NodeId::from(862_u32)))
    );
    assert_eq!(
        read(ids::SERVER_NAMESPACE_ARRAY, 15),
        Some(Variant::from(1_i32))
    );
    assert_eq!(
        read(ids::SERVER_NAMESPACE_ARRAY, 16),
        Some(Variant::from(vec![0_u32]))
    );
    assert_eq!(
        read(ids::SERVER_GET_MONITORED_ITEMS, 21),
        Some(Variant::from(true))
    );
    assert_eq!(
        read(ids::SERVER_REQUEST_SERVER_STATE_CHANGE, 21),
        Some(Variant::from(false)),
        "nothing is behind it"
    );

    fn definition<T: Structure>(value: Option<Variant>) -> T {
        match value {
            Some(Variant::ExtensionObject(object)) => object.decode_as().unwrap(),
            other => panic!("no definition: {other:?}"),
        }
    }
    let structure: StructureDefinition = definition(read(ids::ARGUMENT, 23));
    assert_eq!(structure.fields.len(), 5);
    let enumeration: EnumDefinition = definition(read(ids::NODE_CLASS, 23));
    assert_eq!(enumeration.fields.len(), 9);
}

#[test]
fn values_of_the_standard() {
    let mut client = Client::new(&server());
    let value = client.read_value(ids::NODE_CLASS_ENUM_VALUES);
    assert!(value.value.is_some_and(|value| value.is_array()));
    // A declaration within a type has no value, which is not an error.
    let declaration = client.read_value(ids::SERVER_TYPE_SERVER_ARRAY);
    assert_eq!(
        (declaration.value, declaration.status),
        (Some(Variant::Empty), None)
    );
}

#[test]
fn the_server_object_is_alive() {
    let before = DateTime::now();
    let server = server();
    let mut client = Client::new(&server);
    let status = |client: &mut Client| -> ServerStatusDataType {
        match client.read_value(ids::SERVER_SERVER_STATUS).value {
            Some(Variant::ExtensionObject(object)) => object.decode_as().unwrap(),
            other => panic!("no ServerStatus: {other:?}"),
        }
    };
    let first = status(&mut client);
    assert!(first.start_time >= before && first.current_time >= first.start_time);
    assert_eq!(first.build_info.manufacturer_name, "Takt");
    assert!(status(&mut client).current_time > first.current_time);
    let read = |client: &mut Client, id: u32| client.read_value(id).value.unwrap();
    assert_eq!(
        read(&mut client, ids::SERVER_SERVER_STATUS_STATE),
        Variant::from(0_i32)
    );
    assert_eq!(
        read(&mut client, ids::SERVER_SERVER_STATUS_START_TIME),
        Variant::from(first.start_time)
    );
    let build_info = read(&mut client, ids::SERVER_SERVER_STATUS_BUILD_INFO);
    let Variant::ExtensionObject(build_info) = build_info else {
        panic!("no BuildInfo")
    };
    assert_eq!(
        build_info.decode_as::<BuildInfo>().unwrap(),
        first.build_info
    );
    assert_eq!(
        read(&mut client, ids::SERVER_SERVICE_LEVEL),
        Variant::from(255_u8)
    );
    assert_eq!(
        read(&mut client, ids::SERVER_SERVER_DIAGNOSTICS_ENABLED_FLAG),
        Variant::from(true)
    );

    let namespaces =
        |client: &mut Client| match client.read_value(ids::SERVER_NAMESPACE_ARRAY).value {
            Some(Variant::Array(array)) => match array.elements {
                Elements::String(uris) => uris
                    .iter()
                    .map(|uri| uri.as_str().to_owned())
                    .collect::<Vec<_>>(),
                other => panic!("no strings: {other:?}"),
            },
            other => panic!("no NamespaceArray: {other:?}"),
        };
    assert_eq!(
        namespaces(&mut client),
        ["http://opcfoundation.org/UA/", "urn:test:server"]
    );
    server
        .address_space()
        .namespaces()
        .register("urn:later")
        .unwrap();
    assert_eq!(namespaces(&mut client)[2], "urn:later");

    server.announce_shutdown(DateTime(DateTime::now().0 + 50_000_000), "maintenance");
    let last = status(&mut client);
    assert_eq!(last.state.0, 4);
    assert!((3..=5).contains(&last.seconds_till_shutdown));
    assert_eq!(last.shutdown_reason.text, "maintenance");
}

#[test]
fn the_type_of_a_builder_follows_the_value() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let node = space
        .add_variable("texts")
        .value(Value::stored(vec!["a".to_owned()]))
        .add()
        .unwrap();
    let data_type = client.read_attribute(node.clone(), 14).value;
    assert_eq!(
        data_type,
        Some(Variant::from(NodeId::from(BuiltInType::String as u32)))
    );
    assert_eq!(
        client.read_attribute(node, 15).value,
        Some(Variant::from(1_i32))
    );
}

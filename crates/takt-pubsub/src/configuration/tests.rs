//! Configuration files read and written.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::enumerations::{
    DataSetOrderingType, MessageSecurityMode, OverrideValueHandling, PubSubState,
    UadpNetworkMessageContentMask,
};
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, ExtensionObjectBody, Guid, NodeId, Variant};

use super::*;
use crate::Now;
use crate::publisher::WriterGroup;
use crate::subscriber::{Subscriber, SubscriberObserver};

const PUBLISHER: &str = include_str!("../../../../examples/pubsub/publisher.toml");
const SUBSCRIBER: &str = include_str!("../../../../examples/pubsub/subscriber.toml");

struct Nothing;

impl SubscriberObserver for Nothing {}

/// Writes and reads the file as TOML and as binary, and checks that it stays the same.
fn round_trip(file: &ConfigurationFile) -> String {
    let bytes = to_binary_file(file).unwrap();
    assert_eq!(from_binary_file(&bytes).unwrap(), *file);
    let text = to_toml(file).unwrap();
    let read = from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, *file, "{text}");
    text
}

#[test]
fn the_examples_have_the_documented_values() {
    let file = from_toml(PUBLISHER).unwrap();
    round_trip(&file);
    let configuration = &file.configuration;
    assert!(configuration.enabled);
    assert_eq!(file.namespaces[1].as_str(), "urn:takt:provider:Machine");
    let data_set = &configuration.published_data_sets[0];
    let state = &data_set.data_set_meta_data.fields[2];
    assert_eq!((state.built_in_type, state.value_rank), (7, -1));
    assert_eq!(state.data_type, NodeId::numeric(0, 7));
    let items: PublishedDataItemsDataType = data_set.data_set_source.decode_as().unwrap();
    assert_eq!(
        items.published_data[0].published_variable,
        NodeId::string(1, "Spindle/Speed")
    );
    assert_eq!(items.published_data[0].attribute_id, 13);

    let connection = &configuration.connections[0];
    assert_eq!(connection.publisher_id, Variant::UInt16(5));
    let profile = "http://opcfoundation.org/UA-Profile/Transport/pubsub-udp-uadp";
    assert_eq!(connection.transport_profile_uri.as_str(), profile);
    let address: NetworkAddressUrlDataType = connection.address.decode_as().unwrap();
    assert_eq!(address.url.as_str(), "opc.udp://239.0.0.1:4840");
    assert_eq!(address.network_interface.as_str(), "lo");
    let group = &connection.writer_groups[0];
    assert_eq!(
        (group.publishing_interval, group.keep_alive_time),
        (10.0, 1000.0)
    );
    assert_eq!(group.security_mode, MessageSecurityMode::None);
    let settings: UadpWriterGroupMessageDataType = group.message_settings.decode_as().unwrap();
    assert_eq!(settings.network_message_content_mask, 0x3F);
    assert_eq!(settings.publishing_offset, [2.0]);
    let writer = &group.data_set_writers[0];
    assert_eq!(
        (writer.key_frame_count, writer.data_set_field_content_mask),
        (1, 0x20)
    );
    let settings: UadpDataSetWriterMessageDataType = writer.message_settings.decode_as().unwrap();
    assert_eq!(settings.data_set_message_content_mask, 0x24);

    let file = from_toml(SUBSCRIBER).unwrap();
    round_trip(&file);
    let reader = &file.configuration.connections[0].reader_groups[0].data_set_readers[0];
    let targets: TargetVariablesDataType = reader.subscribed_data_set.decode_as().unwrap();
    let first = &targets.target_variables[0];
    assert_eq!(
        first.override_value_handling,
        OverrideValueHandling::OverrideValue
    );
    assert_eq!(first.override_value, Variant::Double(0.0));
    assert_eq!(first.target_node_id, NodeId::string(1, "Spindle/Speed"));
}

#[test]
fn the_examples_fit_together() {
    let values = [
        ("Spindle/Speed", Variant::Double(1200.5)),
        ("Spindle/Load", Variant::Double(0.5)),
        ("Spindle/State", Variant::UInt32(1)),
    ];
    let cells = |zero: bool| -> HashMap<NodeId, Arc<Cell>> {
        let cell = |(name, value): &(&str, Variant)| {
            let cell = Arc::new(Cell::of(value));
            if zero {
                cell.set_status(takt_ua::StatusCode::Bad, takt_ua::DateTime::now())
                    .unwrap();
            }
            (NodeId::string(1, name), cell)
        };
        values.iter().map(cell).collect()
    };
    let publisher = from_toml(PUBLISHER).unwrap().configuration;
    let connection = &publisher.connections[0];
    let group = &connection.writer_groups[0];
    let mut source = cells(false);
    let mut group = WriterGroup::new(
        connection,
        group,
        &publisher.published_data_sets,
        &mut source,
    )
    .unwrap();
    let mut messages: Vec<Vec<u8>> = Vec::new();
    group
        .publish(Now::read(), PubSubState::Operational, &mut messages)
        .unwrap();
    assert_eq!(messages.len(), 1);

    let subscriber = from_toml(SUBSCRIBER).unwrap().configuration;
    let mut received = cells(true);
    let mut subscriber = Subscriber::new(&subscriber.connections[0], &[], &mut received).unwrap();
    subscriber
        .receive(
            Now::read(),
            PubSubState::Operational,
            &mut messages[0].clone(),
            &mut Nothing,
        )
        .unwrap();
    for (name, value) in values {
        let found = received[&NodeId::string(1, name)].get().unwrap();
        assert_eq!(
            (found.status_code(), found.value),
            (takt_ua::StatusCode::Good, Some(value)),
            "{name}"
        );
    }
}

#[test]
fn a_short_file_is_enough() {
    let file = from_toml(
        "[[connections]]\npublisher_id = { UInt64 = 7 }\naddress = \"opc.eth://01-00-5E-00-00-01\"\n\
         [[connections.writer_groups]]\nwriter_group_id = 1\npublishing_interval = \"250us\"\n\
         [[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = 3\nfield_encoding = \"DataValue\"\n",
    )
    .unwrap();
    round_trip(&file);
    let connection = &file.configuration.connections[0];
    assert_eq!(connection.publisher_id, Variant::UInt64(7));
    let group = &connection.writer_groups[0];
    assert_eq!(group.publishing_interval, 0.25);
    let settings: UadpWriterGroupMessageDataType = group.message_settings.decode_as().unwrap();
    use UadpNetworkMessageContentMask as Mask;
    assert_ne!(
        settings.network_message_content_mask & Mask::PayloadHeader,
        0
    );
    assert_eq!(group.data_set_writers[0].data_set_field_content_mask, 3);
}

#[test]
fn a_connection_to_a_broker_speaks_json() {
    let file = from_toml(
        "[[connections]]\npublisher_id = \"Cell 4\"\naddress = \"mqtts://broker:8883\"\njson = true\n\
         [[connections.writer_groups]]\nwriter_group_id = 1\npublishing_interval = 500\n\
         broker = { queue_name = \"opcua/json\", requested_delivery_guarantee = \"AtLeastOnce\" }\n\
         [[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = 3\n\
         broker = { meta_data_queue_name = \"opcua/meta\", meta_data_update_time = \"1min\" }\n",
    )
    .unwrap();
    let text = round_trip(&file);
    assert!(
        text.contains("json = true") && !text.contains("mask"),
        "{text}"
    );
    let connection = &file.configuration.connections[0];
    assert!(
        connection
            .transport_profile_uri
            .as_str()
            .ends_with("pubsub-mqtt-json")
    );
    let group = &connection.writer_groups[0];
    let settings: BrokerWriterGroupTransportDataType =
        group.transport_settings.decode_as().unwrap();
    assert_eq!(settings.queue_name.as_str(), "opcua/json");
    assert!(
        group
            .message_settings
            .is::<JsonWriterGroupMessageDataType>()
    );
    let writer = &group.data_set_writers[0];
    assert!(
        writer
            .message_settings
            .is::<JsonDataSetWriterMessageDataType>()
    );
    let settings: BrokerDataSetWriterTransportDataType =
        writer.transport_settings.decode_as().unwrap();
    assert_eq!(settings.meta_data_update_time, 60_000.0);
}

#[test]
fn mistakes_have_positions() {
    let group = "[[connections]]\n[[connections.writer_groups]]\nwriter_group_id = 1\n";
    for (text, line, part, marked) in [
        ("enabeld = true", 1, "unknown field `enabeld`", "enabeld"),
        (
            "[[connections]]\nname = \"A\"\npublisher_id = 70000",
            3,
            "UInt64",
            "70000",
        ),
        (
            "[[connections]]\naddress = \"239.0.0.1\"",
            2,
            "opc.udp://",
            "\"239.0.0.1\"",
        ),
        ("enabled = ", 1, "", ""),
        (
            &format!("{group}publishing_interval = \"10\""),
            4,
            "10ms",
            "\"10\"",
        ),
        (
            &format!(
                "{group}publishing_interval = 1\nuadp = {{ network_message_content_mask = [\"Publisher\"] }}"
            ),
            5,
            "PayloadHeader",
            "[\"Publisher\"]",
        ),
        (
            &format!("{group}publishing_interval = 1\nheader_layout = \"Fixed\""),
            5,
            "UADP-Dynamic",
            "\"Fixed\"",
        ),
        (
            &format!("{group}publishing_interval = 1\nsecurity_mode = \"Encrypt\""),
            5,
            "SignAndEncrypt",
            "\"Encrypt\"",
        ),
        (
            &format!(
                "{group}publishing_interval = 1\nmessage_settings = {{ \"$type\" = \"Nope\" }}"
            ),
            5,
            "Nope",
            "{",
        ),
        (group, 2, "publishing_interval", "[["),
        (
            "[[published_data_sets]]\nname = \"A\"\n[[published_data_sets.fields]]\nname = \"x\"\ndata_type = \"Real\"",
            5,
            "Double",
            "\"Real\"",
        ),
        (
            "[[published_data_sets]]\n[[published_data_sets.fields]]\ndata_type = \"ns=1;i=5\"",
            3,
            "built_in_type",
            "\"ns=1;i=5\"",
        ),
        (
            "[[published_data_sets]]\n[[published_data_sets.fields]]\ndata_type = \"Byte\"\npublished_variable = \"i=1\"\nsubstitute_value = 300",
            5,
            "255",
            "300",
        ),
        (
            "[[published_data_sets]]\nfields = [{ name = \"a\" },\n{ name = \"b\", published_variable = \"i=1\" }]",
            3,
            "come first",
            "{ name = \"b\"",
        ),
        (
            "[[published_data_sets]]\nfields = [{ name = \"a\", override_value = 1 }]",
            2,
            "target_node_id",
            "{ name",
        ),
    ] {
        let error = from_toml(text).unwrap_err();
        assert_eq!(error.line, Some(line), "{error}: {text}");
        assert!(error.message.contains(part), "{error}: {text}");
        let span = error.span.clone().unwrap();
        assert!(text[span].starts_with(marked), "{error}: {text}");
    }
}

/// Targets name their fields by id when one field of several has a target, since there is no position then.
#[test]
fn targets_name_their_fields() {
    let file = from_toml(
        "[[connections]]\n[[connections.reader_groups]]\n[[connections.reader_groups.data_set_readers]]\n\
         fields = [{ name = \"a\", data_type = \"Byte\" }, { name = \"b\", data_type = \"Byte\", target_node_id = \"i=9\" }]",
    )
    .unwrap();
    round_trip(&file);
    let reader = &file.configuration.connections[0].reader_groups[0].data_set_readers[0];
    let targets: TargetVariablesDataType = reader.subscribed_data_set.decode_as().unwrap();
    let id = targets.target_variables[0].data_set_field_id;
    assert_ne!(id, Guid::NULL);
    assert_eq!(reader.data_set_meta_data.fields[1].data_set_field_id, id);
}

#[test]
fn parameters_without_short_form_are_kept() {
    let mut file = from_toml(PUBLISHER).unwrap();
    file.schema_location = "urn:x".into();
    file.file_header = vec![KeyValuePair {
        key: takt_ua::QualifiedName::new(1, "Tool"),
        value: Variant::from("a"),
    }];
    let configuration = &mut file.configuration;
    configuration.security_groups = vec![SecurityGroupDataType {
        name: "G".into(),
        key_lifetime: 3_600_000.0,
        role_permissions: vec![RolePermissionType {
            role_id: NodeId::numeric(0, 15644),
            permissions: 3,
        }],
        ..SecurityGroupDataType::default()
    }];
    configuration.data_set_classes = vec![DataSetMetaDataType {
        name: "Class".into(),
        fields: vec![FieldMetaData::default()],
        ..DataSetMetaDataType::default()
    }];
    configuration.default_security_key_services = vec![EndpointDescription {
        endpoint_url: "opc.tcp://keys:4840".into(),
        ..EndpointDescription::default()
    }];
    configuration.pub_sub_key_push_targets = vec![PubSubKeyPushTargetDataType::default()];
    configuration.configuration_properties = [
        Variant::Empty,
        Variant::UInt64(u64::MAX),
        Variant::Int64(-1),
        Variant::Double(f64::INFINITY),
        Variant::from(vec![1_u32, 2]),
        Variant::String(takt_ua::UaString::null()),
        Variant::from(ExtensionObject::from_structure(
            &BrokerConnectionTransportDataType::default(),
        )),
    ]
    .into_iter()
    .map(|value| KeyValuePair {
        key: takt_ua::QualifiedName::new(0, "P"),
        value,
    })
    .collect();
    let connection = &mut configuration.connections[0];
    connection.transport_profile_uri = takt_ua::UaString::null();
    connection.transport_settings =
        ExtensionObject::from_structure(&DatagramConnectionTransport2DataType {
            discovery_address: connection.address.clone(),
            discovery_announce_rate: 5,
            ..DatagramConnectionTransport2DataType::default()
        });
    let group = &mut connection.writer_groups[0];
    group.message_settings = ExtensionObject::from_structure(&UadpWriterGroupMessageDataType {
        data_set_ordering: DataSetOrderingType(77),
        network_message_content_mask: 1 << 31,
        ..UadpWriterGroupMessageDataType::default()
    });
    group.data_set_writers[0].message_settings = ExtensionObject::NULL;
    // A structure of another vendor, and one that is not encoded as usual.
    group.transport_settings = ExtensionObject {
        type_id: NodeId::numeric(3, 5),
        body: ExtensionObjectBody::Binary(vec![1, 2, 3]),
    };
    configuration.published_data_sets[0].data_set_meta_data.name = takt_ua::UaString::null();
    configuration.published_data_sets[0].data_set_source.body =
        ExtensionObjectBody::Binary(vec![9]);
    let text = round_trip(&file);
    assert!(
        text.contains("DatagramConnectionTransport2DataType"),
        "{text}"
    );
}

/// A property has a name that TOML texts cannot represent.
#[test]
fn lost_information_is_an_error() {
    let mut file = from_toml(PUBLISHER).unwrap();
    file.configuration.connections[0].writer_groups[0].locale_ids = vec![takt_ua::UaString::null()];
    let error = to_toml(&file).unwrap_err();
    assert!(
        matches!(&error, UnrepresentableError::Lost(part) if part.contains("WriterGroup 'Fast'")),
        "{error}"
    );
}

/// Every example in the reference is a valid configuration.
#[test]
fn every_example_of_the_reference_is_valid() {
    let reference = include_str!("../../../../docs/pubsub.md");
    let examples = reference.split("```toml\n").skip(1);
    let examples: Vec<&str> = examples
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(examples.len(), 6);
    let whole = examples.concat();
    round_trip(&from_toml(&whole).unwrap_or_else(|error| panic!("{error}\n{whole}")));
}

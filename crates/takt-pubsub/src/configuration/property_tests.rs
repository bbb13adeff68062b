//! Round trips of random configurations through both files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use takt_ua::enumerations::{MessageSecurityMode, OverrideValueHandling};
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, Guid, NodeId, QualifiedName, Structure, UaString, Variant};

use super::*;

fn string() -> impl Strategy<Value = UaString> {
    prop_oneof![
        Just(UaString::null()),
        "[a-zA-Z/#é\"'\\\\\n ]{0,8}".prop_map(UaString::from),
        Just(UaString::from("opc.udp://239.0.0.1:4840")),
        Just(UaString::from(
            "http://opcfoundation.org/UA/PubSub-Layouts/UADP-Dynamic"
        )),
        Just(UaString::from(
            "http://opcfoundation.org/UA-Profile/Transport/pubsub-mqtt-json"
        )),
    ]
}

fn node_id() -> impl Strategy<Value = NodeId> {
    prop_oneof![
        (0..3_u16, 0..30_u32).prop_map(|(namespace, id)| NodeId::numeric(namespace, id)),
        (0..3_u16, "[a-z;=\n ]{0,6}").prop_map(|(namespace, id)| NodeId::string(namespace, &id)),
    ]
}

fn variant() -> impl Strategy<Value = Variant> {
    prop_oneof![
        Just(Variant::Empty),
        any::<bool>().prop_map(Variant::Boolean),
        any::<u8>().prop_map(Variant::Byte),
        any::<u16>().prop_map(Variant::UInt16),
        any::<i64>().prop_map(Variant::Int64),
        any::<u64>().prop_map(Variant::UInt64),
        any::<f32>()
            .prop_filter("one NaN is like another", |it| !it.is_nan())
            .prop_map(Variant::Float),
        any::<f64>()
            .prop_filter("one NaN is like another", |it| !it.is_nan())
            .prop_map(Variant::Double),
        string().prop_map(Variant::String),
        node_id().prop_map(|id| Variant::NodeId(Box::new(id))),
        vec(any::<i32>(), 0..3).prop_map(Variant::from),
        vec(string(), 0..3).prop_map(|texts| Variant::from(
            texts.iter().map(UaString::as_str).collect::<Vec<_>>()
        )),
    ]
}

/// Returns an ExtensionObject: with one of these structures, without a body, or with another body.
fn object<T: Structure + std::fmt::Debug + Clone + 'static>(
    known: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<ExtensionObject> {
    prop_oneof![
        5 => known.prop_map(|known| ExtensionObject::from_structure(&known)),
        1 => Just(ExtensionObject::NULL),
        1 => (node_id(), vec(any::<u8>(), 0..4)).prop_map(|(type_id, body)| ExtensionObject {
            type_id,
            body: takt_ua::ExtensionObjectBody::Binary(body),
        }),
    ]
    .boxed()
}

fn guid() -> impl Strategy<Value = Guid> {
    (0..3_u32).prop_map(|data1| Guid {
        data1,
        ..Guid::NULL
    })
}

fn properties() -> impl Strategy<Value = Vec<KeyValuePair>> {
    let pair =
        (0..3_u16, "[a-z:0-9]{0,4}", variant()).prop_map(|(namespace, name, value)| KeyValuePair {
            key: QualifiedName::new(namespace, &name),
            value,
        });
    vec(pair, 0..3)
}

fn field() -> impl Strategy<Value = FieldMetaData> {
    let kind = (0..27_u8, 0..27_u32, -3..3_i32, vec(0..4_u32, 0..3));
    (string(), kind, guid(), 0..3_u16, 0..2_u32, properties()).prop_map(
        |(name, kind, id, flags, length, properties)| FieldMetaData {
            name,
            built_in_type: kind.0,
            data_type: NodeId::numeric(0, if kind.1 < 20 { kind.0.into() } else { kind.1 }),
            value_rank: kind.2,
            array_dimensions: kind.3,
            data_set_field_id: id,
            field_flags: flags,
            max_string_length: length,
            properties,
            ..FieldMetaData::default()
        },
    )
}

fn meta_data() -> impl Strategy<Value = DataSetMetaDataType> {
    (string(), vec(field(), 0..4), 0..3_u32).prop_map(|(name, fields, minor_version)| {
        DataSetMetaDataType {
            name,
            fields,
            configuration_version: ConfigurationVersionDataType {
                major_version: 0,
                minor_version,
            },
            ..DataSetMetaDataType::default()
        }
    })
}

fn published() -> impl Strategy<Value = PublishedDataSetDataType> {
    let variable = (node_id(), 12..14_u32, -1.0..3.0_f64, string(), variant()).prop_map(
        |(published_variable, attribute_id, hint, index_range, substitute_value)| {
            PublishedVariableDataType {
                published_variable,
                attribute_id,
                sampling_interval_hint: hint,
                index_range,
                substitute_value,
                ..PublishedVariableDataType::default()
            }
        },
    );
    let items = vec(variable, 0..4)
        .prop_map(|published_data| PublishedDataItemsDataType { published_data });
    (string(), meta_data(), object(items), properties()).prop_map(
        |(name, meta_data, source, extension_fields)| PublishedDataSetDataType {
            name,
            data_set_meta_data: meta_data,
            data_set_source: source,
            extension_fields,
            ..PublishedDataSetDataType::default()
        },
    )
}

fn writer_group() -> impl Strategy<Value = WriterGroupDataType> {
    let message = (0..1_u32 << 12, -2.0..2.0_f64).prop_map(|(mask, sampling_offset)| {
        UadpWriterGroupMessageDataType {
            network_message_content_mask: mask,
            sampling_offset,
            ..UadpWriterGroupMessageDataType::default()
        }
    });
    let writer_message = (0..1_u32 << 7).prop_map(|mask| UadpDataSetWriterMessageDataType {
        data_set_message_content_mask: mask,
        ..UadpDataSetWriterMessageDataType::default()
    });
    let writer = (string(), 0..40_u32, 0..3_u32, object(writer_message)).prop_map(
        |(name, mask, count, message)| DataSetWriterDataType {
            name,
            data_set_field_content_mask: mask,
            key_frame_count: count,
            message_settings: message,
            ..DataSetWriterDataType::default()
        },
    );
    let transport = string().prop_map(|queue_name| BrokerWriterGroupTransportDataType {
        queue_name,
        ..BrokerWriterGroupTransportDataType::default()
    });
    let of_group = (
        string(),
        any::<bool>(),
        any::<f64>().prop_filter("no NaN", |it| !it.is_nan()),
        string(),
        0..5_i32,
    );
    (
        of_group,
        object(message),
        object(transport),
        vec(writer, 0..3),
    )
        .prop_map(
            |((name, enabled, interval, layout, mode), message, transport, data_set_writers)| {
                WriterGroupDataType {
                    name,
                    enabled,
                    publishing_interval: interval,
                    header_layout_uri: layout,
                    security_mode: MessageSecurityMode(mode),
                    message_settings: message,
                    transport_settings: transport,
                    data_set_writers,
                    ..WriterGroupDataType::default()
                }
            },
        )
}

fn reader() -> impl Strategy<Value = DataSetReaderDataType> {
    let target = (guid(), node_id(), 12..14_u32, 0..4_i32, variant()).prop_map(
        |(data_set_field_id, target_node_id, attribute_id, handling, override_value)| {
            FieldTargetDataType {
                data_set_field_id,
                target_node_id,
                attribute_id,
                override_value_handling: OverrideValueHandling(handling),
                override_value,
                ..FieldTargetDataType::default()
            }
        },
    );
    let targets =
        vec(target, 0..4).prop_map(|target_variables| TargetVariablesDataType { target_variables });
    let message = (0..1_u32 << 12).prop_map(|mask| JsonDataSetReaderMessageDataType {
        network_message_content_mask: mask,
        ..JsonDataSetReaderMessageDataType::default()
    });
    (variant(), meta_data(), object(targets), object(message)).prop_map(
        |(id, meta_data, targets, message)| DataSetReaderDataType {
            publisher_id: id,
            data_set_meta_data: meta_data,
            subscribed_data_set: targets,
            message_settings: message,
            ..DataSetReaderDataType::default()
        },
    )
}

fn connection() -> impl Strategy<Value = PubSubConnectionDataType> {
    let address =
        (string(), string()).prop_map(|(network_interface, url)| NetworkAddressUrlDataType {
            network_interface,
            url,
        });
    let groups = (vec(writer_group(), 0..3), vec(reader(), 0..3));
    (string(), variant(), string(), object(address), groups).prop_map(
        |(name, publisher_id, profile, address, (writer_groups, data_set_readers))| {
            PubSubConnectionDataType {
                name,
                publisher_id,
                transport_profile_uri: profile,
                address,
                writer_groups,
                reader_groups: vec![ReaderGroupDataType {
                    data_set_readers,
                    ..ReaderGroupDataType::default()
                }],
                ..PubSubConnectionDataType::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_configuration_comes_back(
        published_data_sets in vec(published(), 0..3),
        connections in vec(connection(), 0..3),
        configuration_properties in properties(),
    ) {
        let file = ConfigurationFile::new(PubSubConfiguration2DataType {
            published_data_sets,
            connections,
            configuration_properties,
            ..PubSubConfiguration2DataType::default()
        });
        let bytes = to_binary_file(&file).unwrap();
        prop_assert_eq!(&from_binary_file(&bytes).unwrap(), &file);
        let text = to_toml(&file).unwrap();
        prop_assert_eq!(&from_toml(&text).unwrap(), &file, "{}", text);
    }
}

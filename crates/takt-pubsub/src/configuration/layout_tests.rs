//! Header layouts of JSON (OPC 10000-14, A.3).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::enumerations::{
    JsonDataSetMessageContentMask as DataSetMask, JsonNetworkMessageContentMask as Mask,
    PubSubState,
};
use takt_ua::structures::{
    JsonDataSetReaderMessageDataType, JsonDataSetWriterMessageDataType,
    JsonWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_ua::{NodeId, Variant};

use super::{ConfigurationFile, from_toml, to_toml};
use crate::publisher::WriterGroup;
use crate::time::Now;

/// Masks of the DataSetMessage header in Tables A.19 and A.21.
const HEADER: u32 = DataSetMask::DataSetWriterId
    | DataSetMask::SequenceNumber
    | DataSetMask::Timestamp
    | DataSetMask::Status
    | DataSetMask::MinorVersion
    | DataSetMask::FieldEncoding2;

/// Returns a configuration with this layout; `more` are further keys of writer and reader.
fn file(layout: &str, more: &str) -> ConfigurationFile {
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Data"
        fields = [{{ name = "Speed", data_type = "UInt32", published_variable = "ns=1;s=Speed" }}]

        [[connections]]
        publisher_id = 5
        address = "opc.udp://127.0.0.1:4840"

        [[connections.writer_groups]]
        name = "Group"
        writer_group_id = 1
        publishing_interval = 10
        header_layout = "{layout}"

        [[connections.writer_groups.data_set_writers]]
        name = "Writer"
        data_set_writer_id = 7
        data_set_name = "Data"
        {more}

        [[connections.reader_groups]]
        [[connections.reader_groups.data_set_readers]]
        header_layout = "{layout}"
        {more}
        "#
    );
    let file = from_toml(&text).unwrap();
    let written = to_toml(&file).unwrap();
    assert!(!written.contains("mask"), "{written}");
    assert_eq!(from_toml(&written).unwrap(), file);
    file
}

fn group(file: &ConfigurationFile) -> &WriterGroupDataType {
    &file.configuration.connections[0].writer_groups[0]
}

/// Returns the masks of NetworkMessages and DataSetMessages; those of the reader are the same.
fn masks(file: &ConfigurationFile) -> (u32, u32) {
    let group = group(file);
    let network: JsonWriterGroupMessageDataType = group.message_settings.decode_as().unwrap();
    let writer = &group.data_set_writers[0].message_settings;
    let data_set: JsonDataSetWriterMessageDataType = writer.decode_as().unwrap();
    let reader = &file.configuration.connections[0].reader_groups[0].data_set_readers[0];
    let reader: JsonDataSetReaderMessageDataType = reader.message_settings.decode_as().unwrap();
    let masks = (
        network.network_message_content_mask,
        data_set.data_set_message_content_mask,
    );
    assert_eq!(
        masks,
        (
            reader.network_message_content_mask,
            reader.data_set_message_content_mask
        )
    );
    masks
}

#[test]
fn the_masks_are_those_of_the_layout() {
    let single = Mask::DataSetMessageHeader | Mask::SingleDataSetMessage;
    let several = Mask::NetworkMessageHeader | Mask::DataSetMessageHeader | Mask::PublisherId;
    let expected = [
        ("JSON-Minimal", Mask::SingleDataSetMessage, 0),
        (
            "JSON-DataSetMessage",
            single,
            HEADER | DataSetMask::PublisherId,
        ),
        ("JSON-NetworkMessage", several, HEADER),
    ];
    for (layout, network, data_set) in expected {
        assert_eq!(masks(&file(layout, "")), (network, data_set), "{layout}");
        // Delta frames differ from key frames by their MessageType.
        let deltas = file(layout, "key_frame_count = 10");
        let message_type = match data_set {
            0 => 0,
            _ => DataSetMask::MessageType,
        };
        let with_type = (network, data_set | message_type);
        assert_eq!(masks(&deltas), with_type, "{layout}");
    }
}

#[test]
fn a_single_data_set_message_has_its_own_header_only() {
    let file = file("JSON-DataSetMessage", "");
    let speed = Arc::new(Cell::of(&Variant::UInt32(1500)));
    let mut source = HashMap::from([(NodeId::string(1, "Speed"), speed)]);
    let configuration = &file.configuration;
    let connection = &configuration.connections[0];
    let data_sets = &configuration.published_data_sets;
    let mut group = WriterGroup::new(connection, group(&file), data_sets, &mut source).unwrap();
    let mut messages: Vec<Vec<u8>> = Vec::new();
    group
        .publish(Now::read(), PubSubState::Operational, &mut messages)
        .unwrap();
    let message: serde_json::Value = serde_json::from_slice(&messages[0]).unwrap();
    assert_eq!(message["PublisherId"], "5");
    assert_eq!(message["DataSetWriterId"], 7);
    assert!(message["Payload"].to_string().contains("1500"), "{message}");
    for absent in ["MessageId", "Messages", "MessageType"] {
        assert!(message.get(absent).is_none(), "{absent} in {message}");
    }
}

//! Binary files of other products, and invalid ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use takt_ua::binary::Encode;
use takt_ua::structures::{ActionTargetDataType, PubSubConfigurationDataType};
use takt_ua::{ExtensionObject, ExtensionObjectBody, NodeId, Variant};

use super::*;

const PUBLISHER: &str = include_str!("../../../../examples/pubsub/publisher.toml");

/// Reads the bytes that open62541 writes: an ExtensionObject (i=15422) with the UABinaryFileDataType, whose body is a Variant
/// with an ExtensionObject of the older PubSubConfigurationDataType (i=21154).
#[test]
fn files_of_the_older_type_are_read() {
    let configuration = from_toml(PUBLISHER).unwrap().configuration;
    let older = PubSubConfigurationDataType {
        published_data_sets: configuration.published_data_sets.clone(),
        connections: configuration.connections.clone(),
        enabled: configuration.enabled,
    };
    let older = older.encode_to_vec();
    let mut body = Vec::new();
    // Five null arrays and strings of the header, and the FileHeader.
    for _ in 0..6 {
        body.extend((-1_i32).to_le_bytes());
    }
    // Variant: ExtensionObject; four-byte NodeId i=21154, binary body.
    body.extend([22, 0x01, 0, 0xA2, 0x52, 1]);
    body.extend((older.len() as u32).to_le_bytes());
    body.extend(older);
    let mut bytes = vec![0x01, 0, 0x3E, 0x3C, 1];
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(body);
    let file = from_binary_file(&bytes).unwrap();
    assert_eq!(file, ConfigurationFile::new(configuration));
}

#[test]
fn other_files_are_refused_with_their_reason() {
    let file = from_toml(PUBLISHER).unwrap();
    let bytes = to_binary_file(&file).unwrap();
    assert_eq!(bytes[..5], [0x01, 0, 0x3E, 0x3C, 1]);
    for end in 0..bytes.len() {
        assert!(from_binary_file(&bytes[..end]).is_err(), "{end}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(
        from_binary_file(&longer),
        Err(BinaryFileError::TrailingBytes(bytes.len()))
    );
    let xml = from_binary_file(b"<PubSubConfigurationDataType/>");
    assert_eq!(xml, Err(BinaryFileError::Xml("file")));
    let other = ExtensionObject::from_structure(&PubSubConfigurationDataType::default());
    let mut encoded = other.encode_to_vec();
    let refused = from_binary_file(&encoded);
    assert_eq!(
        refused,
        Err(BinaryFileError::NoBinaryFile(NodeId::numeric(0, 21154)))
    );
    for (body, what) in [
        (Variant::Empty, "null"),
        (Variant::from("text"), "String"),
        (
            Variant::from(ExtensionObject::from_structure(
                &ActionTargetDataType::default(),
            )),
            "i=18598",
        ),
    ] {
        encoded = ExtensionObject::from_structure(&file.to_structure(body)).encode_to_vec();
        let refused = from_binary_file(&encoded).unwrap_err();
        assert!(
            matches!(&refused, BinaryFileError::NoConfiguration(found) if found.contains(what)),
            "{refused}"
        );
    }
    let body = ExtensionObject {
        type_id: NodeId::numeric(0, 23853),
        body: ExtensionObjectBody::Xml("<a/>".to_owned()),
    };
    encoded =
        ExtensionObject::from_structure(&file.to_structure(Variant::from(body))).encode_to_vec();
    assert_eq!(
        from_binary_file(&encoded),
        Err(BinaryFileError::Xml("body of the file"))
    );
}

use takt_ua::Variant;

use super::{MessageTree, TreeNode, TreeParameters, lua_dissector};
use crate::{
    DataSetContent, DataSetMessage, Fields, NetworkMessage, PayloadParameters, PublisherId,
    SecurityHeader, WireErrorKind,
};

fn read(bytes: &[u8]) -> MessageTree {
    MessageTree::read(bytes, &TreeParameters::default())
}

/// Name, offset, length and text of each leaf.
fn leaves(tree: &MessageTree) -> Vec<(&'static str, usize, usize, String)> {
    let part = |leaf: &'_ TreeNode| (leaf.name, leaf.offset, leaf.length, leaf.text());
    tree.leaves().into_iter().map(part).collect()
}

fn key_frame(value: Variant) -> DataSetMessage {
    DataSetMessage {
        data_set_writer_id: Some(1),
        ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![value])))
    }
}

#[test]
fn every_byte_has_its_field() {
    let messages = vec![
        key_frame(Variant::Int16(-2)),
        key_frame(vec![1.5_f32].into()),
    ];
    let message = NetworkMessage::data(Some(PublisherId::String("p".into())), messages);
    let tree = read(&message.encode_to_vec().unwrap());
    assert_eq!(tree.errors, []);
    let expected = [
        ("UADPFlags", 0, 1, "0xD1"),
        ("ExtendedFlags1", 1, 1, "0x04"),
        ("PublisherId", 2, 5, "\"p\""),
        ("Count", 7, 1, "2"),
        ("DataSetWriterId", 8, 2, "1"),
        ("DataSetWriterId", 10, 2, "1"),
        ("Size", 12, 2, "6"),
        ("Size", 14, 2, "12"),
        ("DataSetFlags1", 16, 1, "0x01"),
        ("FieldCount", 17, 2, "1"),
        ("EncodingMask", 19, 1, "0x04"),
        ("Value", 20, 2, "-2"),
        ("DataSetFlags1", 22, 1, "0x01"),
        ("FieldCount", 23, 2, "1"),
        ("EncodingMask", 25, 1, "0x8A"),
        ("ArrayLength", 26, 4, "1"),
        ("Value", 30, 4, "1.5"),
    ];
    let expected = expected.map(|(name, at, length, text)| (name, at, length, text.to_owned()));
    assert_eq!(leaves(&tree), expected);
    let bits: Vec<_> = tree.nodes[1]
        .bits
        .iter()
        .map(|bits| (bits.name, bits.value))
        .collect();
    assert_eq!(
        bits[..2],
        [("PublisherIdType", 4), ("DataSetClassIdEnabled", 0)]
    );
    assert_eq!(tree.nodes[1].bits[0].meaning, Some("String"));
}

#[test]
fn an_error_in_one_data_set_message_leaves_the_others() {
    let messages = vec![key_frame(Variant::Byte(1)), key_frame(Variant::Byte(7))];
    let mut bytes = NetworkMessage::data(None, messages)
        .encode_to_vec()
        .unwrap();
    // The type of the first value.
    assert_eq!(bytes[13], 3);
    bytes[13] = 0x3F;
    let tree = read(&bytes);
    let leaves = leaves(&tree);
    assert!(
        leaves.contains(&("Undecoded", 14, 1, "01".to_owned())),
        "{leaves:?}"
    );
    assert_eq!(leaves.last(), Some(&("Value", 19, 1, "7".to_owned())));
    assert_eq!(tree.errors.len(), 1, "{:?}", tree.errors);
}

#[test]
fn forbidden_but_readable_messages_are_reported() {
    let tree = read(&[0x91, 0x40, 7, 1, 0, 1, 0]);
    assert!(
        matches!(tree.errors[..], [error, ..] if matches!(error.kind, WireErrorKind::Forbidden(_)))
    );
    assert!(leaves(&tree).contains(&("PublisherId", 2, 1, "7".to_owned())));
    let tree = read(&[0x02, 1, 2]);
    assert_eq!(leaves(&tree)[1], ("Undecoded", 1, 2, "0102".to_owned()));
    assert!(!read(&[]).errors.is_empty());
}

#[test]
fn an_encrypted_payload_is_bytes_until_it_has_been_decrypted() {
    let message = NetworkMessage {
        security_header: Some(SecurityHeader {
            signed: true,
            encrypted: true,
            security_token_id: 1,
            message_nonce: vec![9; 8],
            security_footer: Some(vec![5; 3]),
            ..SecurityHeader::default()
        }),
        signature: vec![6; 32],
        ..NetworkMessage::data(None, vec![key_frame(Variant::Byte(1))])
    };
    let bytes = message.encode_to_vec().unwrap();
    let payload = PayloadParameters {
        signature_length: 32,
        ..PayloadParameters::default()
    };
    for (decrypted, name) in [(false, "EncryptedPayload"), (true, "DataSetFlags1")] {
        let tree = MessageTree::read(
            &bytes,
            &TreeParameters {
                payload,
                decrypted,
                ..TreeParameters::default()
            },
        );
        assert_eq!(tree.errors, []);
        let names: Vec<_> = tree.leaves().iter().map(|leaf| leaf.name).collect();
        let at = names
            .iter()
            .position(|name| *name == "SecurityFooterSize")
            .unwrap();
        assert_eq!(names[at + 1], name);
        assert_eq!(names[names.len() - 2..], ["SecurityFooter", "Signature"]);
    }
}

#[test]
fn values_nested_too_deeply_are_refused() {
    let mut bytes = vec![0x01, 0x01, 1, 0];
    // A DataValue that holds a Variant that holds a DataValue ...
    for _ in 0..1000 {
        bytes.extend([23, 0x01]);
    }
    let tree = read(&bytes);
    assert!(!tree.errors.is_empty());
    let covered: usize = tree.leaves().iter().map(|leaf| leaf.length).sum();
    assert_eq!(covered, bytes.len());
}

/// A structure with the length -1 has no body (OPC 10000-6, 5.2.2.15), also behind one that has.
#[test]
fn a_structure_without_a_body_takes_no_bytes() {
    let object = |body: Option<&[u8]>| {
        let length = body.map_or(-1, |body| i32::try_from(body.len()).unwrap());
        let head = [&[22, 1, 1, 200, 3, 1][..], &length.to_le_bytes()].concat();
        [&head, body.unwrap_or_default()].concat()
    };
    let mut bytes = vec![0x01, 0x01, 3, 0];
    bytes.extend(object(Some(&[9, 9])));
    bytes.extend(object(None));
    bytes.extend([3, 7]);
    let tree = read(&bytes);
    assert_eq!(tree.errors, []);
    let leaves = leaves(&tree);
    let bodies = leaves.iter().filter(|(name, ..)| *name == "Body");
    assert_eq!(bodies.count(), 1, "{leaves:?}");
    let last = ("Value", bytes.len() - 1, 1, "7".to_owned());
    assert_eq!(leaves.last(), Some(&last));
}

#[test]
fn the_dissector_has_the_tables() {
    let script = lua_dissector();
    for part in [
        "{name = \"WriterGroupId\", when = \"GroupFlags\", set = 1, kind = \"BuiltIn\", type = \"UInt16\"}",
        "[14523] = {name = \"DataSetMetaDataType\"",
        "[2148139008] = \"BadTimeout\"",
        "function uadp.dissector(",
    ] {
        assert!(script.contains(part), "{part}");
    }
}

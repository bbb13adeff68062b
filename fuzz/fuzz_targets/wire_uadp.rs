//! UADP NetworkMessages: every accepted message can be read to its last field, and is encoded and decoded again
//! unchanged.

use std::sync::LazyLock;

use takt_fuzz::choice;
use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, FixedMessage, FixedMessageReader, GroupHeader,
    HeaderLayout, MessageTree, NetworkMessage, NetworkMessageRef, PayloadParameters, PayloadRef,
    PublisherId, TreeParameters,
};

/// Reader that recognizes messages of one layout.
static READER: LazyLock<FixedMessageReader> = LazyLock::new(|| {
    let message = NetworkMessage {
        group_header: Some(GroupHeader {
            sequence_number: Some(0),
            ..GroupHeader::default()
        }),
        timestamp: Some(DateTime::MIN),
        ..NetworkMessage::data(
            Some(PublisherId::Byte(1)),
            vec![DataSetMessage {
                status: Some(StatusCode::Good),
                ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
                    Variant::UInt32(0),
                    vec![0_u16; 2].into(),
                ])))
            }],
        )
    };
    FixedMessage::new(&message, &[])
        .expect("a fixed layout")
        .reader()
});

fn look_through(message: &NetworkMessageRef<'_>, parameters: &PayloadParameters<'_>) {
    for layout in [HeaderLayout::UadpPeriodicFixed, HeaderLayout::UadpDynamic] {
        let _ = layout.check(message);
    }
    if let Ok(layout) = message.security_layout(parameters.signature_length) {
        assert!(layout.encrypted.end <= layout.security_footer.end);
        assert_eq!(layout.signature.end, message.as_bytes().len());
    }
    let _ = message
        .data_set_message_at(7, parameters.signature_length)
        .map(|read| read.to_owned());
    if let Ok(PayloadRef::DataSetMessages(messages)) = message.payload(parameters) {
        assert_eq!(messages.iter().count(), messages.len());
        for (index, read) in messages.iter().enumerate() {
            assert_eq!(
                messages.get(index).map(|read| read.is_ok()),
                Some(read.is_ok())
            );
            if let Ok(read) = read {
                let _ = HeaderLayout::UadpPeriodicFixed.check_data_set_message(&read);
                let _ = read.to_owned();
            }
        }
    }
}

/// Checks that every byte is in one leaf of the tree, and that invalid messages have an error.
fn look_at_tree(bytes: &[u8], payload: PayloadParameters<'_>) {
    for decrypted in [false, true] {
        let tree = MessageTree::read(
            bytes,
            &TreeParameters {
                payload,
                decrypted,
                ..TreeParameters::default()
            },
        );
        let end = tree.leaves().into_iter().fold(0, |end, leaf| {
            assert_eq!(leaf.offset, end, "{leaf:?}");
            let _ = leaf.text();
            end + leaf.length
        });
        assert_eq!(end, bytes.len());
        assert!(!tree.errors.is_empty() || NetworkMessageRef::new_checked(bytes).is_ok());
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((signature_length, bytes)) = choice(data) else {
        return;
    };
    if let Some(read) = READER.read(bytes) {
        assert!(read.variant(0, 0).is_some() && read.variant(0, 1).is_some());
        assert!(
            NetworkMessage::decode(&bytes[..bytes.len()], &PayloadParameters::default()).is_ok()
        );
    }
    let parameters = PayloadParameters {
        signature_length: usize::from(signature_length % 40) + 1,
        ..PayloadParameters::default()
    };
    look_at_tree(bytes, parameters);
    let Ok(message) = NetworkMessageRef::new_checked(bytes) else {
        return;
    };
    look_through(&message, &parameters);
    look_through(
        &message,
        &PayloadParameters {
            data_set_message_sizes: &[5, 17, 3],
            ..parameters
        },
    );
    let Ok(owned) = NetworkMessage::decode(bytes, &parameters) else {
        return;
    };
    // Fields that a Publisher has to leave out are read, but not written.
    let Ok(encoded) = owned.encode_to_vec() else {
        return;
    };
    let again = NetworkMessage::decode(&encoded, &parameters).expect("encoded and not decodable");
    assert_eq!(again.encode_to_vec().as_ref(), Ok(&encoded));
}

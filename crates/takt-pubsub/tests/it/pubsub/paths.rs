//! Damaged messages have the same values on the fast path as on the general one.

use takt_pubsub::ReceiveError;
use takt_pubsub::subscriber::{Reception, Subscriber};
use takt_ua::enumerations::{
    DataSetFieldContentMask as FieldMask, PubSubState, UadpDataSetMessageContentMask as Mask,
    UadpNetworkMessageContentMask as NetworkMask,
};
use takt_ua::structures::{
    UadpDataSetReaderMessageDataType, UadpDataSetWriterMessageDataType,
    UadpWriterGroupMessageDataType,
};
use takt_ua::{DataValue, ExtensionObject, Variant};

use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

/// Returns a setup without sequence numbers, so that each message is accepted.
fn setup(fields: u32) -> Setup {
    let network = NetworkMask::PublisherId
        | NetworkMask::GroupHeader
        | NetworkMask::WriterGroupId
        | NetworkMask::PayloadHeader;
    let values = [
        Variant::UInt32(5),
        "abcde".into(),
        Variant::Double(1.5),
        vec![1_u16, 2, 3].into(),
        Variant::Boolean(true),
    ];
    let mut setup = Setup::new(&values);
    for meta_data in [
        &mut setup.data_set.data_set_meta_data,
        &mut setup.reader.data_set_meta_data,
    ] {
        meta_data.fields[1].max_string_length = 8;
        meta_data.fields[3].array_dimensions = vec![3];
    }
    setup.writer().data_set_field_content_mask = fields;
    setup.writer().message_settings =
        ExtensionObject::from_structure(&UadpDataSetWriterMessageDataType {
            data_set_message_content_mask: Mask::Status,
            ..UadpDataSetWriterMessageDataType::default()
        });
    setup.group.message_settings =
        ExtensionObject::from_structure(&UadpWriterGroupMessageDataType {
            network_message_content_mask: network,
            ..UadpWriterGroupMessageDataType::default()
        });
    setup.reader.message_settings =
        ExtensionObject::from_structure(&UadpDataSetReaderMessageDataType {
            network_message_content_mask: network,
            data_set_message_content_mask: Mask::Status,
            ..UadpDataSetReaderMessageDataType::default()
        });
    setup
}

fn receive(subscriber: &mut Subscriber, message: &[u8]) -> Result<Reception, ReceiveError> {
    subscriber.receive(now(), UP, &mut message.to_vec(), &mut ())
}

/// Returns the received values as texts, because NaN equals nothing. Those without a time of their own have that of reception.
fn values(setup: &Setup, has_times: bool) -> Vec<String> {
    let values = (0..5).map(|index| setup.target(index).get().unwrap());
    values
        .map(|value| DataValue {
            source_timestamp: value.source_timestamp.filter(|_| has_times),
            ..value
        })
        .map(|value| format!("{value:?}"))
        .collect()
}

/// Returns messages that differ from a good one at this position, or behind it.
fn damage(good: &[u8], position: usize) -> Vec<Vec<u8>> {
    let (before, behind) = good.split_at(position);
    let flipped = (0..8).map(|bit| good[position] ^ 1 << bit);
    let others = flipped.chain([0, 0x7F, 0x80, 0xFF]);
    let mut damaged: Vec<_> = others
        .map(|byte| [before, &[byte], &behind[1..]].concat())
        .collect();
    for count in [1, 4] {
        damaged.push([before, behind.get(count..).unwrap_or_default()].concat());
        damaged.push([before, &vec![0xFF; count], behind].concat());
        damaged.push([before, &vec![0; count], behind].concat());
    }
    damaged.push(before.to_vec());
    damaged
}

#[test]
fn damaged_messages_have_the_same_values_on_both_paths() {
    let stamped = FieldMask::StatusCode | FieldMask::SourceTimestamp;
    let mut compared = 0;
    for fields in [0, stamped, FieldMask::RawData] {
        let (mut one, mut other) = (setup(fields), setup(fields));
        let mut sent: Vec<Vec<u8>> = Vec::new();
        one.build().publish(now(), UP, &mut sent).unwrap();
        let good = sent.remove(0);
        let mut fast = one.build_subscriber();
        receive(&mut fast, &good).unwrap();
        assert!(receive(&mut fast, &good).unwrap().fixed);
        for position in 0..good.len() {
            for damaged in damage(&good, position) {
                receive(&mut fast, &good).unwrap();
                let outcome = receive(&mut fast, &damaged);
                // A subscriber takes the first message on the general path.
                receive(&mut other.build_subscriber(), &good).unwrap();
                let expected = receive(&mut other.build_subscriber(), &damaged);
                let place = format!("{fields}: {position} {damaged:x?} {outcome:?} {expected:?}");
                let accepted = |outcome: &Result<Reception, ReceiveError>| match outcome {
                    Ok(reception) => Some(reception.accepted),
                    Err(ReceiveError::Target { .. }) => Some(1),
                    Err(_) => None,
                };
                assert_eq!(accepted(&outcome), accepted(&expected), "{place}");
                if accepted(&outcome).is_some_and(|accepted| accepted > 0) {
                    let is_stamped = fields == stamped;
                    assert_eq!(
                        values(&one, is_stamped),
                        values(&other, is_stamped),
                        "{place}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

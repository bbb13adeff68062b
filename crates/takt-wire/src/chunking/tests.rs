//! Tests of writing and reassembling chunks.

use std::time::{Duration, Instant};

use takt_ua::structures::DataSetMetaDataType;
use takt_ua::{StatusCode, Variant};

use super::*;
use crate::chunk::Chunk;
use crate::data_set_message::{DataSetContent, DataSetMessage, Fields};
use crate::discovery::{AnnouncementContent, DiscoveryAnnouncement};
use crate::network_message::PayloadRef;
use crate::network_message::{NetworkMessage, NetworkMessageRef, Payload, PayloadParameters};
use crate::network_message_type::NetworkMessageType;
use crate::publisher_id::PublisherId;

fn long(publisher: u8, sequence_number: u16) -> NetworkMessage {
    let values = (0..100_u8).map(Variant::Byte).collect();
    NetworkMessage::data(
        Some(PublisherId::Byte(publisher)),
        vec![DataSetMessage {
            data_set_writer_id: Some(7),
            sequence_number: Some(sequence_number),
            ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
        }],
    )
}

/// Returns the NetworkMessages of the chunks of a long message.
fn messages(long: &NetworkMessage, size: usize) -> Vec<Vec<u8>> {
    let chunks = ChunkWriter::new(long, size, 0).unwrap();
    let expected = chunks.len();
    let messages: Vec<_> = chunks
        .map(|chunk| {
            let message = NetworkMessage {
                payload: Payload::Chunk(chunk),
                ..long.clone()
            };
            message.encode_to_vec().unwrap()
        })
        .collect();
    assert_eq!(messages.len(), expected);
    messages
}

fn push(
    reassembler: &mut ChunkReassembler,
    bytes: &[u8],
    now: Instant,
) -> Result<Option<NetworkMessage>, ReassemblyError> {
    let message = NetworkMessageRef::new_checked(bytes).unwrap();
    let payload = message.payload(&PayloadParameters::default()).unwrap();
    let PayloadRef::Chunk(chunk) = payload else {
        panic!("{payload:?}")
    };
    let complete = reassembler.push(&message, &chunk, now)?;
    Ok(complete.map(|complete| {
        let payload = message.reassembled_payload(&complete.bytes).unwrap();
        let PayloadRef::DataSetMessages(messages) = payload else {
            panic!("{payload:?}")
        };
        let first = messages.get(0).unwrap().unwrap().to_owned();
        NetworkMessage::data(message.publisher_id.map(|id| id.to_owned()), vec![first])
    }))
}

#[test]
fn a_chunk_as_bytes() {
    let message = NetworkMessage {
        publisher_id: Some(PublisherId::Byte(3)),
        ..NetworkMessage::new(Payload::Chunk(Chunk {
            network_message_type: NetworkMessageType::DataSetMessage,
            data_set_writer_id: Some(7),
            message_sequence_number: 1,
            chunk_offset: 2,
            total_size: 4,
            chunk_data: vec![8, 9],
        }))
    };
    let bytes = message.encode_to_vec().unwrap();
    let expected = [
        0xD1, 0x80, 0x01, 3, 7, 0, 1, 0, 2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 8, 9,
    ];
    assert_eq!(bytes, expected);
    let decoded = NetworkMessage::decode(&bytes, &PayloadParameters::default());
    assert_eq!(decoded, Ok(message));
    for (at, value) in [(8, 3), (12, 3), (16, 0)] {
        let mut wrong = expected;
        wrong[at] = value;
        assert!(NetworkMessage::decode(&wrong, &PayloadParameters::default()).is_err());
    }
}

#[test]
fn chunks_in_any_order_give_the_message() {
    let (long, now) = (long(1, 5), Instant::now());
    let sent = messages(&long, 64);
    assert!(sent.len() > 3);
    assert!(sent.iter().all(|message| message.len() <= 64));
    let mut orders = vec![sent.clone(), sent.iter().rev().cloned().collect()];
    orders.push([sent[1..].to_vec(), vec![sent[1].clone(), sent[0].clone()]].concat());
    for order in orders {
        let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
        let (last, before) = order.split_last().unwrap();
        for bytes in before {
            assert_eq!(push(&mut reassembler, bytes, now), Ok(None));
        }
        assert_eq!(push(&mut reassembler, last, now), Ok(Some(long.clone())));
        // A repeated chunk does not return the payload again.
        assert_eq!(push(&mut reassembler, last, now), Ok(None));
        assert_eq!(reassembler.memory(), 0);
    }
}

#[test]
fn one_chunk_is_enough_if_it_is_all() {
    let (long, now) = (long(1, 5), Instant::now());
    let sent = messages(&long, 4000);
    let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
    assert_eq!(sent.len(), 1);
    assert_eq!(push(&mut reassembler, &sent[0], now), Ok(Some(long)));
}

#[test]
fn a_newer_payload_replaces_an_older_one() {
    let now = Instant::now();
    let (old, new) = (messages(&long(1, 65_535), 64), messages(&long(1, 0), 64));
    let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
    push(&mut reassembler, &old[0], now).unwrap();
    push(&mut reassembler, &new[0], now).unwrap();
    let stale = ReassemblyError::Stale {
        found: 65_535,
        current: 0,
    };
    assert_eq!(push(&mut reassembler, &old[1], now), Err(stale));
    let other = messages(&long(2, 65_535), 64);
    assert_eq!(push(&mut reassembler, &other[0], now), Ok(None));
    assert_eq!(reassembler.memory(), 2 * 205);
}

#[test]
fn memory_and_time_are_bounded() {
    let now = Instant::now();
    let limits = ReassemblyLimits {
        max_payload_size: 205,
        max_memory: 500,
        ..ReassemblyLimits::default()
    };
    let mut reassembler = ChunkReassembler::new(limits);
    for publisher in 1..10 {
        let sent = messages(&long(publisher, 1), 64);
        push(&mut reassembler, &sent[0], now).unwrap();
        assert!(reassembler.memory() <= 500);
    }
    assert_eq!(reassembler.memory(), 2 * 205);
    assert_eq!(reassembler.next_timeout(), Some(now + limits.timeout));
    reassembler.handle_timeout(now + limits.timeout - Duration::from_nanos(1));
    assert_eq!(reassembler.memory(), 2 * 205);
    reassembler.handle_timeout(now + limits.timeout);
    assert_eq!(reassembler.memory(), 0);
    assert_eq!(reassembler.next_timeout(), None);

    let mut small = ChunkReassembler::new(ReassemblyLimits {
        max_payload_size: 204,
        ..limits
    });
    let sent = messages(&long(1, 1), 64);
    assert!(matches!(
        push(&mut small, &sent[0], now),
        Err(ReassemblyError::TooLarge {
            total_size: 205,
            limit: 204
        })
    ));
    let mut few = ChunkReassembler::new(ReassemblyLimits {
        max_chunks: 2,
        ..limits
    });
    assert!(matches!(
        push(&mut few, &sent[0], now),
        Err(ReassemblyError::TooManyChunks { limit: 2, .. })
    ));
    let mut single = ChunkReassembler::new(ReassemblyLimits {
        max_payloads: 1,
        ..limits
    });
    for publisher in 1..4 {
        push(&mut single, &messages(&long(publisher, 1), 64)[0], now).unwrap();
    }
    assert_eq!(single.memory(), 205);
}

#[test]
fn chunks_that_do_not_fit_each_other_are_refused() {
    let now = Instant::now();
    let chunk = |chunk_offset, total_size, length| {
        let message = NetworkMessage::new(Payload::Chunk(Chunk {
            network_message_type: NetworkMessageType::DataSetMessage,
            data_set_writer_id: Some(7),
            message_sequence_number: 1,
            chunk_offset,
            total_size,
            chunk_data: vec![0; length],
        }));
        message.encode_to_vec().unwrap()
    };
    for (first, second) in [
        (chunk(0, 10, 4), chunk(4, 11, 4)),
        (chunk(0, 10, 4), chunk(4, 10, 3)),
        (chunk(0, 10, 4), chunk(3, 10, 4)),
        (chunk(8, 10, 2), chunk(7, 10, 3)),
        (chunk(7, 10, 3), chunk(0, 10, 4)),
        (chunk(4, 10, 6), chunk(4, 10, 4)),
        (chunk(4, 10, 4), chunk(4, 10, 6)),
    ] {
        let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
        assert_eq!(push(&mut reassembler, &first, now), Ok(None));
        let error = push(&mut reassembler, &second, now).unwrap_err();
        assert!(
            matches!(error, ReassemblyError::Inconsistent { .. }),
            "{error}"
        );
        assert_eq!(reassembler.memory(), 0);
    }
}

/// Some devices divide a payload by two, and put the odd byte into the last chunk.
#[test]
fn the_last_chunk_may_be_longer() {
    let (long, now) = (long(1, 5), Instant::now());
    let [whole] = &messages(&long, 10_000)[..] else {
        panic!("one chunk")
    };
    let message = NetworkMessageRef::new_checked(whole).unwrap();
    let PayloadRef::Chunk(chunk) = message.payload(&PayloadParameters::default()).unwrap() else {
        panic!("a chunk")
    };
    let half = chunk.chunk_data.len() / 3;
    let parts = [0..half, half..chunk.chunk_data.len()].map(|range| {
        let payload = Payload::Chunk(Chunk {
            chunk_offset: u32::try_from(range.start).unwrap(),
            chunk_data: chunk.chunk_data[range].to_vec(),
            ..chunk.to_owned()
        });
        NetworkMessage {
            payload,
            ..long.clone()
        }
        .encode_to_vec()
        .unwrap()
    });
    for order in [[0, 1], [1, 0]] {
        let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
        assert_eq!(push(&mut reassembler, &parts[order[0]], now), Ok(None));
        let found = push(&mut reassembler, &parts[order[1]], now).unwrap();
        assert_eq!(found.unwrap().payload, long.payload);
    }
}

#[test]
fn unchunkable_messages_are_refused() {
    let mut two = long(1, 1);
    let Payload::DataSetMessages(messages) = &mut two.payload else {
        panic!()
    };
    messages.push(messages[0].clone());
    assert!(ChunkWriter::new(&two, 100, 0).is_err());
    assert!(ChunkWriter::new(&long(1, 1), 20, 0).is_err());
}

/// Protection relays send metadata in chunks with a PayloadHeader: they are read, and the broken rule is named.
#[test]
fn chunks_of_announcements_are_read_with_a_payload_header() {
    let announcement = DiscoveryAnnouncement {
        sequence_number: 1,
        content: AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 1000,
            meta_data: Box::new(DataSetMetaDataType {
                name: "Feeder".into(),
                ..DataSetMetaDataType::default()
            }),
            status_code: StatusCode::Good,
        },
    };
    let long = NetworkMessage::discovery(
        PublisherId::Byte(1),
        Payload::DiscoveryAnnouncement(Box::new(announcement.clone())),
    );
    let mut reassembler = ChunkReassembler::new(ReassemblyLimits::default());
    let mut found = None;
    for chunk in ChunkWriter::new(&long, 64, 0).unwrap() {
        let with_header = Chunk {
            data_set_writer_id: Some(0),
            ..chunk
        };
        let sent = NetworkMessage {
            payload: Payload::Chunk(with_header),
            ..long.clone()
        };
        let bytes = sent.encode_to_vec().unwrap();
        let message = NetworkMessageRef::new_checked(&bytes).unwrap();
        let rule = message.broken_rule().unwrap();
        assert!(rule.contains("PayloadHeader"), "{rule}");
        let PayloadRef::Chunk(chunk) = message.payload(&PayloadParameters::default()).unwrap()
        else {
            panic!("a chunk")
        };
        if let Some(whole) = reassembler.push(&message, &chunk, Instant::now()).unwrap() {
            let payload = message.reassembled_payload(&whole.bytes).unwrap();
            assert_eq!(
                payload,
                PayloadRef::DiscoveryAnnouncement(Box::new(announcement.clone()))
            );
            found = Some(());
        }
    }
    assert!(found.is_some());
}

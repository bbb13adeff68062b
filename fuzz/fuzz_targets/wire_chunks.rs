//! Chunks of several payloads in any order, consistent or not: memory stays within its limit, and a payload is
//! complete when all its chunks were received.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use takt_wire::{
    Chunk, ChunkReassembler, NetworkMessage, NetworkMessageRef, NetworkMessageType, Payload,
    PayloadParameters, PayloadRef, PublisherId, ReassemblyLimits,
};

const LIMITS: ReassemblyLimits = ReassemblyLimits {
    max_payload_size: 200,
    max_memory: 500,
    max_payloads: 4,
    max_chunks: 20,
    timeout: Duration::from_millis(50),
};

/// Returns the byte at an offset of a payload, so that a payload shows whether it equals the sent one.
fn content(source: u8, sequence_number: u16, offset: u32) -> u8 {
    (offset as u8).wrapping_mul(7) ^ source ^ sequence_number as u8
}

pub(crate) fn run(data: &[u8]) {
    let start = Instant::now();
    let mut now = start;
    let mut reassembler = ChunkReassembler::new(LIMITS);
    let mut covered: HashMap<(u8, u16, u32), Vec<bool>> = HashMap::new();
    for [control, sequence_number, offset, total, length] in data.as_chunks::<5>().0 {
        let (source, sequence_number) = (control & 7, u16::from(*sequence_number) << 8);
        now += Duration::from_millis(u64::from(control >> 5));
        let (offset, total) = (u32::from(*offset), u32::from(*total));
        let bytes: Vec<u8> = (offset..offset + u32::from(*length))
            .map(|at| content(source, sequence_number, at))
            .collect();
        let message = NetworkMessage {
            publisher_id: Some(PublisherId::Byte(source)),
            ..NetworkMessage::new(Payload::Chunk(Chunk {
                network_message_type: NetworkMessageType::DataSetMessage,
                data_set_writer_id: Some(1),
                message_sequence_number: sequence_number,
                chunk_offset: offset,
                total_size: total,
                chunk_data: bytes,
            }))
        };
        let Ok(encoded) = message.encode_to_vec() else {
            continue;
        };
        let view = NetworkMessageRef::new_checked(&encoded).expect("a header that was encoded");
        let Ok(PayloadRef::Chunk(chunk)) = view.payload(&PayloadParameters::default()) else {
            panic!("no chunk");
        };
        let seen = covered
            .entry((source, sequence_number, total))
            .or_insert_with(|| vec![false; total as usize]);
        seen[offset as usize..][..chunk.chunk_data.len()].fill(true);
        if let Ok(Some(complete)) = reassembler.push(&view, &chunk, now) {
            assert_eq!(complete.bytes.len(), total as usize);
            assert!(seen.iter().all(|seen| *seen), "complete without all of it");
            for (at, byte) in (0..).zip(&complete.bytes) {
                assert_eq!(*byte, content(source, sequence_number, at));
            }
            let _ = view.reassembled_payload(&complete.bytes);
        }
        assert!(reassembler.memory() <= LIMITS.max_memory);
    }
    reassembler.handle_timeout(now + LIMITS.timeout);
    assert_eq!(reassembler.memory(), 0);
}

//! Benchmark of messages of fixed layout and of the general codec. `open62541-pubsub-bench` (peers/open62541)
//! compares open62541 with both.
//!
//! ```text
//! cargo bench -p takt-wire --bench messages
//! ```

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use takt_ua::binary::Encoder;
use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, FixedMessage, GroupHeader, NetworkMessage,
    PayloadParameters, PublisherId, Slot,
};

const FIELDS: [usize; 2] = [10, 100];

/// Returns a message of UInt32s as Variants, with the headers of a cyclic publisher.
fn message(fields: usize) -> NetworkMessage {
    let values = (0..fields as u32).map(Variant::UInt32).collect();
    NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(2),
            sequence_number: Some(0),
            ..GroupHeader::default()
        }),
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(5)),
            vec![DataSetMessage {
                data_set_writer_id: Some(3),
                sequence_number: Some(0),
                timestamp: Some(DateTime::MIN),
                status: Some(StatusCode::Good),
                ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
            }],
        )
    }
}

fn fixed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fixed");
    for fields in FIELDS {
        let mut message = FixedMessage::new(&message(fields), &[]).unwrap();
        let slots: Vec<Slot<u32>> = (0..fields)
            .map(|field| message.slot(0, field).unwrap())
            .collect();
        let values: Vec<u32> = (0..fields as u32).collect();
        let mut number = 0_u16;
        group.bench_function(format!("store/{fields}"), |bencher| {
            bencher.iter(|| {
                number = number.wrapping_add(1);
                message.set_sequence_number(number);
                message.set_data_set_sequence_number(0, number);
                message.set_data_set_timestamp(0, black_box(DateTime(77)));
                message.set_status(0, StatusCode::Good);
                for (slot, value) in slots.iter().zip(black_box(&values)) {
                    message.store(*slot, *value);
                }
                black_box(message.bytes());
            });
        });
        let reader = message.reader();
        let bytes = message.bytes().to_vec();
        group.bench_function(format!("read/{fields}"), |bencher| {
            bencher.iter(|| {
                let read = reader.read(black_box(&bytes)).unwrap();
                slots
                    .iter()
                    .fold(0_u32, |sum, slot| sum.wrapping_add(read.get(*slot)))
            });
        });
    }
}

fn general(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("general");
    for fields in FIELDS {
        let message = message(fields);
        let mut bytes = [0; 1500];
        group.bench_function(format!("encode/{fields}"), |bencher| {
            bencher.iter(|| {
                let mut encoder = Encoder::fixed(&mut bytes);
                black_box(&message).encode(&mut encoder).unwrap();
                black_box(encoder.position())
            });
        });
        let bytes = message.encode_to_vec().unwrap();
        let parameters = PayloadParameters::default();
        group.bench_function(format!("decode/{fields}"), |bencher| {
            bencher.iter(|| NetworkMessage::decode(black_box(&bytes), &parameters).unwrap());
        });
    }
}

criterion_group!(benches, fixed, general);
criterion_main!(benches);

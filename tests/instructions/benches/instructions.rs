//! Instruction counts of the hot paths, counted with callgrind. Unlike times, they are the same on every run, so each has a
//! limit. `./test instructions` runs the benchmark; a count above its limit is a failure.
//!
//! Limits are a quarter above the measured counts, because other compilers give other counts. Lower them when a path becomes
//! faster.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![allow(missing_docs, reason = "the macros make public functions")]

#[path = "../../../crates/takt-pubsub/tests/it/support.rs"]
mod support;

use std::hint::black_box;
use std::time::Instant;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::subscriber::Subscriber;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::{DataSetFieldContentMask, MessageSecurityMode, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, FixedMessage, FixedMessageReader, NetworkMessage,
    PayloadParameters, PublisherId, SlotSeries,
};

use support::{Buffer, Setup};

/// Returns a configuration that fails above this number of instructions.
fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    LibraryBenchmarkConfig::default()
        .tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]))
        .clone()
}

// ---- messages

fn message(fields: u32) -> NetworkMessage {
    let values = Fields::Variant((0..fields).map(Variant::UInt32).collect());
    let message = DataSetMessage {
        data_set_writer_id: Some(3),
        sequence_number: Some(0),
        timestamp: Some(DateTime::MIN),
        status: Some(StatusCode::Good),
        ..DataSetMessage::new(DataSetContent::KeyFrame(values))
    };
    NetworkMessage::data(Some(PublisherId::UInt16(5)), vec![message])
}

/// Message of fixed layout, the places of its fields, and values for them.
struct Fixed {
    message: FixedMessage,
    slots: SlotSeries<u32>,
    reader: FixedMessageReader,
    values: Vec<u32>,
}

fn fixed(fields: u32) -> Fixed {
    let message = FixedMessage::new(&message(fields), &[]).unwrap();
    Fixed {
        slots: message.slots(0, 0..fields as usize).unwrap(),
        reader: message.reader(),
        message,
        values: (0..fields).collect(),
    }
}

#[library_benchmark]
#[bench::of_10(args = (10), setup = fixed, config = limit(300))]
#[bench::of_100(args = (100), setup = fixed, config = limit(1_450))]
fn store(mut fixed: Fixed) -> Fixed {
    fixed.message.set_data_set_sequence_number(0, black_box(1));
    fixed
        .message
        .set_data_set_timestamp(0, black_box(DateTime(77)));
    fixed.message.set_status(0, StatusCode::Good);
    fixed.message.store_all(fixed.slots, &fixed.values);
    fixed
}

#[library_benchmark]
#[bench::of_10(args = (10), setup = fixed, config = limit(370))]
#[bench::of_100(args = (100), setup = fixed, config = limit(1_900))]
fn read(mut fixed: Fixed) -> Fixed {
    let read = fixed.reader.read(black_box(fixed.message.bytes())).unwrap();
    assert!(read.get_all(fixed.slots, &mut fixed.values));
    fixed
}

/// Returns a message, its bytes, and a buffer for them.
fn general(fields: u32) -> (NetworkMessage, Vec<u8>, Vec<u8>) {
    let message = message(fields);
    let bytes = message.encode_to_vec().unwrap();
    let room = vec![0; bytes.len()];
    (message, bytes, room)
}

#[library_benchmark]
#[bench::of_10(args = (10), setup = general, config = limit(2_050))]
fn encode(mut general: (NetworkMessage, Vec<u8>, Vec<u8>)) -> (NetworkMessage, Vec<u8>, Vec<u8>) {
    let mut encoder = Encoder::fixed(&mut general.2);
    black_box(&general.0).encode(&mut encoder).unwrap();
    general
}

#[library_benchmark]
#[bench::of_10(args = (10), setup = general, config = limit(5_700))]
fn decode(general: (NetworkMessage, Vec<u8>, Vec<u8>)) -> (NetworkMessage, Vec<u8>, Vec<u8>) {
    let decoded = NetworkMessage::decode(black_box(&general.1), &PayloadParameters::default());
    black_box(decoded.unwrap());
    general
}

// ---- publishers and subscribers

/// Both ends of a connection that is warm: the Publisher has built the layout, and the Subscriber has learned it.
struct Ends {
    group: WriterGroup,
    subscriber: Subscriber,
    buffer: Buffer,
}

fn ends(fields: u32, mode: MessageSecurityMode) -> Ends {
    let values: Vec<_> = (0..fields).map(Variant::UInt32).collect();
    let mut setup = Setup::new(&values);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    setup.protect(mode);
    let mut ends = Ends {
        group: setup.build(),
        subscriber: setup.build_subscriber(),
        buffer: Buffer::default(),
    };
    let keys = support::keys(1, Instant::now());
    ends.group.set_keys(&keys);
    ends.subscriber.set_keys("Keys", &keys);
    for _ in 0..3 {
        ends = receive(publish(ends));
    }
    ends
}

fn published(fields: u32, mode: MessageSecurityMode) -> Ends {
    publish(ends(fields, mode))
}

fn publish(mut ends: Ends) -> Ends {
    let now = support::now();
    let published = ends
        .group
        .publish(now, PubSubState::Operational, &mut ends.buffer);
    assert_eq!(published.unwrap().fixed, 1);
    ends
}

fn receive(mut ends: Ends) -> Ends {
    let message = ends.buffer.message();
    let reception =
        ends.subscriber
            .receive(support::now(), PubSubState::Operational, message, &mut ());
    assert_eq!(reception.unwrap().accepted, 1);
    ends
}

#[library_benchmark(setup = ends)]
#[bench::of_10(args = (10, MessageSecurityMode::None), config = limit(1_700))]
#[bench::of_100(args = (100, MessageSecurityMode::None), config = limit(11_800))]
#[bench::of_10_encrypted(args = (10, MessageSecurityMode::SignAndEncrypt), config = limit(15_500))]
fn publish_from_cells(ends: Ends) -> Ends {
    publish(ends)
}

#[library_benchmark(setup = published)]
#[bench::of_10(args = (10, MessageSecurityMode::None), config = limit(2_850))]
#[bench::of_100(args = (100, MessageSecurityMode::None), config = limit(19_200))]
#[bench::of_10_encrypted(args = (10, MessageSecurityMode::SignAndEncrypt), config = limit(18_600))]
fn receive_into_cells(ends: Ends) -> Ends {
    receive(ends)
}

library_benchmark_group!(name = messages, benchmarks = [store, read, encode, decode]);
library_benchmark_group!(
    name = groups,
    benchmarks = [publish_from_cells, receive_into_cells]
);
main!(library_benchmark_groups = [messages, groups]);

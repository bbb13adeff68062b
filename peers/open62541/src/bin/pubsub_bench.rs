//! PubSub messages of Takt beside open62541's, in turns: what is stored each cycle in a message of fixed layout, and the codecs.
//!
//! ```text
//! cargo run --release -p takt-peer-open62541 --bin open62541-pubsub-bench
//! ```
//!
//! Timestamps are passed in on both sides. Store is RawData, for which open62541 has its offset table; the codecs have Variants.

use std::hint::black_box;
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use takt_peer_open62541::message::{FixedPublisher, NetworkMessage as Foreign};
use takt_peer_open62541::pubsub::PubSub;
use takt_ua::binary::Encoder;
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, FixedMessage, GroupHeader, NetworkMessage,
    PayloadParameters, PublisherId, RawDataLayout, Slot,
};

/// Number of alternating measurements of both; the smallest time of each counts.
const TURNS: u32 = 15;

/// Number of operations in a measurement.
const ROUNDS: u32 = 100_000;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    println!(
        "{:34} {:>9} {:>12} {:>7} {:>6}",
        "ns", "Takt", "open62541", "ratio", "goal"
    );
    store(10, Some(1.0))?;
    store(100, Some(0.5))?;
    for fields in [10, 100] {
        encode(fields)?;
        decode(fields)?;
    }
    Ok(())
}

/// The smallest time of one call of each, in nanoseconds.
fn in_turns(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        best.0 = best.0.min(time(&mut ours));
        best.1 = best.1.min(time(&mut theirs));
    }
    best
}

fn time(work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        work();
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
}

fn report(what: &str, (ours, theirs): (f64, f64), goal: Option<f64>) {
    let goal = goal.map_or(String::new(), |goal| format!("{goal:.2}"));
    println!(
        "{what:34} {ours:9.1} {theirs:12.1} {:7.3} {goal:>6}",
        ours / theirs
    );
}

/// Compares the time to store the fields of a message of fixed layout, as in each cycle.
fn store(fields: usize, goal: Option<f64>) -> Result<(), String> {
    let foreign = PubSub::start("publish", description(fields)?)?;
    let table = foreign.offset_table().map_err(|error| error.to_string())?;
    let mut theirs = FixedPublisher::new(table, fields);

    let meta_data = FieldMetaData {
        built_in_type: BuiltInType::UInt32 as u8,
        value_rank: -1,
        ..FieldMetaData::default()
    };
    let meta_data = DataSetMetaDataType {
        fields: vec![meta_data; fields],
        ..DataSetMetaDataType::default()
    };
    let layout = RawDataLayout::new(&meta_data).map_err(|error| error.to_string())?;
    let template = message(Fields::RawData(vec![0; 4 * fields]));
    let mut ours =
        FixedMessage::new(&template, &[Some(&layout)]).map_err(|error| error.to_string())?;
    let slots: Option<Vec<Slot<u32>>> = (0..fields).map(|field| ours.slot(0, field)).collect();
    let slots = slots.ok_or("a field has no slot")?;
    let series = ours.slots::<u32>(0, 0..fields);
    let series = series.ok_or("the fields are not at equal distances")?;

    let values: Vec<u32> = (0..).map(|value| 7 * value).take(fields).collect();
    let now = DateTime(132_000_000_000_000_000);
    let mut number = 0_u16;
    theirs.set(&values);
    let mut store_headers = |ours: &mut FixedMessage| {
        number = number.wrapping_add(1);
        ours.set_sequence_number(number);
        ours.set_data_set_sequence_number(0, number);
        ours.set_data_set_timestamp(0, black_box(now));
        ours.set_status(0, StatusCode::Good);
    };
    let mut their_store = || {
        theirs.store(black_box(now.0));
        black_box(theirs.bytes());
    };
    let at_once = in_turns(
        || {
            store_headers(&mut ours);
            ours.store_all(series, black_box(&values));
            black_box(ours.bytes());
        },
        &mut their_store,
    );
    let one_by_one = in_turns(
        || {
            store_headers(&mut ours);
            for (slot, value) in slots.iter().zip(black_box(&values)) {
                ours.store(*slot, *value);
            }
            black_box(ours.bytes());
        },
        &mut their_store,
    );
    // Both have done the same, as often.
    if ours.bytes() != theirs.bytes() {
        let (ours, theirs) = (ours.bytes(), theirs.bytes());
        return Err(format!("the messages differ:\n{ours:02x?}\n{theirs:02x?}"));
    }
    report(&format!("store {fields} × UInt32, at once"), at_once, goal);
    report(
        &format!("store {fields} × UInt32, one by one"),
        one_by_one,
        goal,
    );
    Ok(())
}

fn encode(fields: usize) -> Result<(), String> {
    let message = message(variants(fields));
    let bytes = message.encode_to_vec().map_err(|error| error.to_string())?;
    let mut foreign = Foreign::empty();
    foreign.decode(&bytes).map_err(|error| error.to_string())?;
    let mut buffers = ([0; 1500], [0; 1500]);
    let length = foreign.encode(&mut buffers.1);
    let length = length.map_err(|error| error.to_string())?;
    if buffers.1.get(..length) != Some(&bytes[..]) {
        return Err("the encoded messages differ".to_owned());
    }
    let times = in_turns(
        || {
            let mut encoder = Encoder::fixed(&mut buffers.0);
            black_box(message.encode(&mut encoder).is_ok());
        },
        || {
            black_box(foreign.encode(&mut buffers.1).is_ok());
        },
    );
    report(&format!("encode {fields} × UInt32"), times, None);
    Ok(())
}

/// Both of our decoders beside the one of open62541.
fn decode(fields: usize) -> Result<(), String> {
    let message = message(variants(fields));
    let fixed = FixedMessage::new(&message, &[]).map_err(|error| error.to_string())?;
    let bytes = fixed.bytes();
    let reader = fixed.reader();
    let slots: Option<Vec<Slot<u32>>> = (0..fields).map(|field| reader.slot(0, field)).collect();
    let slots = slots.ok_or("a field has no slot")?;
    let mut foreign = Foreign::empty();
    foreign.decode(bytes).map_err(|error| error.to_string())?;
    let mut foreign_decode = || {
        black_box(foreign.decode(black_box(bytes)).is_ok());
    };
    let times = in_turns(
        || {
            let read = reader.read(black_box(bytes));
            let sum = read.map(|read| {
                let values = slots.iter().map(|slot| read.get(*slot));
                values.fold(0_u32, u32::wrapping_add)
            });
            black_box(sum);
        },
        &mut foreign_decode,
    );
    let goal = (fields == 10).then_some(0.25);
    report(&format!("read {fields} × UInt32, fixed"), times, goal);
    let parameters = PayloadParameters::default();
    let times = in_turns(
        || {
            black_box(NetworkMessage::decode(black_box(bytes), &parameters).is_ok());
        },
        &mut foreign_decode,
    );
    report(&format!("decode {fields} × UInt32, general"), times, None);
    Ok(())
}

fn variants(fields: usize) -> Fields {
    Fields::Variant((0..).map(Variant::UInt32).take(fields).collect())
}

/// The message that open62541 makes of the description.
fn message(fields: Fields) -> NetworkMessage {
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
                ..DataSetMessage::new(DataSetContent::KeyFrame(fields))
            }],
        )
    }
}

fn description(fields: usize) -> Result<Value, String> {
    let socket = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = socket.map_err(|error| format!("no free port: {error}"))?;
    let field = |index| json!({"name": format!("F{index}"), "type": "UInt32", "value": index, "array": false});
    Ok(json!({
        "url": format!("opc.udp://{address}"),
        "publisherId": 5, "writerGroupId": 2, "dataSetWriterId": 3,
        "encoding": "RawData", "keyFrameCount": 1, "interval": 1000,
        "fields": (0..fields).map(field).collect::<Vec<_>>(),
        "security": null,
    }))
}

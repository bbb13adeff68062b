//! Write (OPC 10000-4, 5.11.4): types, ranks, index ranges, access levels.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is a test"
)]

mod common;

use std::sync::{Arc, Mutex};

use common::{Client, VALUE, server, write_of};
use takt_cell::Cell;
use takt_services::{AddressSpace, Value, ValueSource, access_level, value_rank};
use takt_ua::structures::{Argument, Range, WriteValue};
use takt_ua::{
    Array, ByteString, DataValue, DateTime, ExtensionObject, NodeId, StatusCode, Variant,
    XmlElement, ids,
};

fn good(client: &mut Client, node: &NodeId, value: impl Into<Variant>) {
    let value = value.into();
    assert_eq!(
        client.write_value(node.clone(), value.clone()),
        StatusCode::Good,
        "{value:?}"
    );
    assert_eq!(client.read_value(node.clone()).value, Some(value));
}

fn refused(client: &mut Client, node: &NodeId, value: impl Into<Variant>, status: StatusCode) {
    let value = value.into();
    let before = client.read_value(node.clone()).value;
    assert_eq!(
        client.write_value(node.clone(), value.clone()),
        status,
        "{value:?}"
    );
    assert_eq!(
        client.read_value(node.clone()).value,
        before,
        "what is refused changes nothing"
    );
}

fn variable(space: &AddressSpace, name: &str, data_type: u32, value: impl Into<Variant>) -> NodeId {
    space
        .add_variable(name)
        .data_type(data_type)
        .value(Value::stored(value))
        .writable()
        .add()
        .unwrap()
}

fn wrong(client: &mut Client, node: &NodeId, value: impl Into<Variant>) {
    refused(client, node, value, StatusCode::BadTypeMismatch);
}

#[test]
fn types_must_match() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let double = variable(&space, "double", ids::DOUBLE, 1.0_f64);
    good(&mut client, &double, 2.5_f64);
    wrong(&mut client, &double, 1_i32);
    wrong(&mut client, &double, "1.0");
    wrong(&mut client, &double, vec![1.0_f64]);
    wrong(&mut client, &double, Variant::Empty);

    // Duration is a Double, an enumeration an Int32 (OPC 10000-3, 8).
    let duration = variable(&space, "duration", ids::DURATION, 1.0_f64);
    good(&mut client, &duration, 500.0_f64);
    let state = variable(&space, "state", ids::SERVER_STATE, 0_i32);
    good(&mut client, &state, 3_i32);
    wrong(&mut client, &state, 3_u32);

    let number = variable(&space, "number", ids::NUMBER, 0_u8);
    good(&mut client, &number, 1_i64);
    good(&mut client, &number, 1.5_f32);
    wrong(&mut client, &number, "one");
    let unsigned = variable(&space, "unsigned", ids::UINTEGER, 0_u8);
    good(&mut client, &unsigned, 1_u64);
    wrong(&mut client, &unsigned, 1_i8);
    let signed = variable(&space, "signed", ids::INTEGER, 0_i8);
    good(&mut client, &signed, -1_i16);
    wrong(&mut client, &signed, 1.0_f64);
    let anything = variable(&space, "anything", ids::BASE_DATA_TYPE, 0_i8);
    good(&mut client, &anything, "text");
    good(&mut client, &anything, XmlElement::from("<a/>"));
    assert_eq!(
        client.write_value(anything, Variant::Empty),
        StatusCode::Good
    );
    let nowhere = variable(&space, "unknown DataType", 999_999, 0_i8);
    wrong(&mut client, &nowhere, 1_i8);
}

#[test]
fn structures_must_be_of_the_data_type() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let range = ExtensionObject::from_structure(&Range {
        low: 0.0,
        high: 1.0,
    });
    let argument = ExtensionObject::from_structure(&Argument::default());
    let node = variable(&space, "range", ids::RANGE, range.clone());
    good(&mut client, &node, range.clone());
    wrong(&mut client, &node, argument.clone());
    let unknown = ExtensionObject {
        type_id: NodeId::numeric(1, 5),
        ..range.clone()
    };
    wrong(&mut client, &node, unknown);
    let any = variable(&space, "any", ids::STRUCTURE, range.clone());
    good(&mut client, &any, argument.clone());
    let several = space
        .add_variable("ranges")
        .data_type(ids::RANGE)
        .array(0)
        .value(Value::stored(vec![range.clone()]))
        .writable()
        .add()
        .unwrap();
    good(&mut client, &several, vec![range.clone(), range.clone()]);
    wrong(&mut client, &several, vec![range, argument]);
}

#[test]
fn ranks_and_dimensions_must_match() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let matrix = || Variant::from(Array::matrix(vec![1_u32, 2, 3, 4], &[2, 2]).unwrap());
    let with_rank = |rank: i32, dimensions: &[u32], value: Variant| {
        space
            .add_variable(format!("rank {rank} {dimensions:?}").as_str())
            .data_type(ids::UINT32)
            .value(Value::stored(value))
            .value_rank(rank, dimensions)
            .writable()
            .add()
            .unwrap()
    };
    let any = with_rank(value_rank::ANY, &[], 1_u32.into());
    good(&mut client, &any, vec![1_u32]);
    good(&mut client, &any, matrix());
    let list = with_rank(value_rank::ONE_DIMENSION, &[3], vec![1_u32].into());
    good(&mut client, &list, vec![1_u32, 2, 3]);
    refused(
        &mut client,
        &list,
        vec![1_u32, 2, 3, 4],
        StatusCode::BadOutOfRange,
    );
    wrong(&mut client, &list, 1_u32);
    wrong(&mut client, &list, matrix());
    let either = with_rank(value_rank::SCALAR_OR_ONE_DIMENSION, &[], 1_u32.into());
    good(&mut client, &either, vec![7_u32]);
    good(&mut client, &either, 7_u32);
    wrong(&mut client, &either, matrix());
    let arrays = with_rank(value_rank::ONE_OR_MORE_DIMENSIONS, &[], vec![1_u32].into());
    good(&mut client, &arrays, matrix());
    wrong(&mut client, &arrays, 7_u32);
    let two = with_rank(2, &[2, 0], matrix());
    good(&mut client, &two, matrix());
    let tall = Array::matrix(vec![1_u32, 2, 3], &[3, 1]).unwrap();
    refused(&mut client, &two, tall, StatusCode::BadOutOfRange);
    wrong(&mut client, &two, vec![1_u32]);
}

#[test]
fn byte_strings_and_byte_arrays_stand_for_each_other() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let bytes = space
        .add_variable("bytes")
        .data_type(ids::BYTE)
        .array(0)
        .value(Value::stored(vec![1_u8]))
        .writable()
        .add()
        .unwrap();
    let string = Variant::ByteString(ByteString::from(&[1, 2, 3]));
    assert_eq!(
        client.write_value(bytes.clone(), string.clone()),
        StatusCode::Good
    );
    assert_eq!(
        client.read_value(bytes).value,
        Some(Variant::from(vec![1_u8, 2, 3]))
    );
    let text = variable(&space, "byte string", ids::BYTE_STRING, string.clone());
    assert_eq!(
        client.write_value(text.clone(), vec![9_u8, 8]),
        StatusCode::Good
    );
    assert_eq!(
        client.read_value(text).value,
        Some(Variant::ByteString(ByteString::from(&[9, 8])))
    );
}

#[test]
fn index_ranges_replace_parts() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let numbers = vec![0_u32, 1, 2, 3];
    let cell = Value::Cell(Arc::new(Cell::of(&Variant::from(numbers.clone()))));
    for (name, value) in [("stored", Value::stored(numbers)), ("cell", cell)] {
        let node = space
            .add_variable(name)
            .value(value)
            .writable()
            .add()
            .unwrap();
        let mut write = |range: &str, value: Variant| {
            let value = DataValue::good(value);
            let item = WriteValue {
                index_range: range.into(),
                ..write_of(node.clone(), value)
            };
            client.write(vec![item]).unwrap().remove(0)
        };
        assert_eq!(write("1:2", vec![10_u32, 20].into()), StatusCode::Good);
        assert_eq!(write("3", vec![30_u32].into()), StatusCode::Good);
        assert_eq!(
            write("1:2", vec![10_u32].into()),
            StatusCode::BadIndexRangeDataMismatch
        );
        assert_eq!(
            write("3:4", vec![1_u32, 2].into()),
            StatusCode::BadIndexRangeNoData
        );
        assert_eq!(
            write("2:1", vec![1_u32, 2].into()),
            StatusCode::BadIndexRangeInvalid
        );
        assert_eq!(
            write("1:2", vec![1_i32, 2].into()),
            StatusCode::BadTypeMismatch
        );
        assert_eq!(
            client.read_value(node).value,
            Some(Variant::from(vec![0_u32, 10, 20, 30]))
        );
    }
}

#[test]
fn access_levels_decide() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let level = |level: u32| {
        let name = format!("level {level}");
        let variable = space
            .add_variable(name.as_str())
            .value(Value::stored(1_u32))
            .access_level(level);
        variable.add().unwrap()
    };
    let read_only = level(access_level::CURRENT_READ);
    refused(&mut client, &read_only, 2_u32, StatusCode::BadNotWritable);
    let plain = level(access_level::CURRENT_READ | access_level::CURRENT_WRITE);
    let full = level(
        access_level::CURRENT_READ
            | access_level::CURRENT_WRITE
            | access_level::STATUS_WRITE
            | access_level::TIMESTAMP_WRITE,
    );
    let mut write = |node: &NodeId, value: DataValue| {
        client
            .write(vec![write_of(node.clone(), value)])
            .unwrap()
            .remove(0)
    };
    let value = || DataValue::good(3_u32);
    let uncertain = || value().with_status(StatusCode::UncertainInitialValue);
    let dated = || value().with_source_timestamp(DateTime(4711));
    assert_eq!(
        write(&plain, value().with_status(StatusCode::Good)),
        StatusCode::Good
    );
    assert_eq!(write(&plain, uncertain()), StatusCode::BadWriteNotSupported);
    assert_eq!(write(&plain, dated()), StatusCode::BadWriteNotSupported);
    assert_eq!(write(&full, uncertain()), StatusCode::Good);
    assert_eq!(write(&full, dated()), StatusCode::Good);
    let stamped = value().with_server_timestamp(DateTime(4711));
    assert_eq!(write(&full, stamped), StatusCode::BadWriteNotSupported);
    assert_eq!(
        client.read_value(full).source_timestamp,
        Some(DateTime(4711))
    );
}

#[test]
fn what_cannot_be_written() {
    let mut client = Client::new(&server());
    let item = |node: NodeId, attribute_id: u32| WriteValue {
        attribute_id,
        ..write_of(node, DataValue::good(1_u32))
    };
    for (node, attribute, status) in [
        (NodeId::NULL, VALUE, StatusCode::BadNodeIdInvalid),
        (NodeId::numeric(3, 1), VALUE, StatusCode::BadNodeIdUnknown),
        (
            NodeId::from(ids::SERVER),
            VALUE,
            StatusCode::BadAttributeIdInvalid,
        ),
        (NodeId::from(ids::SERVER), 4, StatusCode::BadNotWritable),
        (
            NodeId::from(ids::SERVER),
            99,
            StatusCode::BadAttributeIdInvalid,
        ),
        (
            NodeId::from(ids::SERVER_SERVICE_LEVEL),
            VALUE,
            StatusCode::BadNotWritable,
        ),
        (
            NodeId::from(ids::BASE_DATA_VARIABLE_TYPE),
            VALUE,
            StatusCode::BadNotWritable,
        ),
    ] {
        let result = client
            .write(vec![item(node.clone(), attribute)])
            .unwrap()
            .remove(0);
        assert_eq!(result, status, "{node} {attribute}");
    }
}

#[test]
fn cells_take_what_they_have_room_for() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let cell = Arc::new(Cell::of(&Variant::from(1_u32)));
    let number = space
        .add_variable("number")
        .value(Value::Cell(Arc::clone(&cell)))
        .writable()
        .add()
        .unwrap();
    good(&mut client, &number, 7_u32);
    assert_eq!(cell.get().unwrap().value, Some(Variant::from(7_u32)));
    let text = Arc::new(Cell::of_with_capacity(&Variant::from("abc"), 64));
    let text = space
        .add_variable("text")
        .value(Value::Cell(text))
        .writable()
        .add()
        .unwrap();
    good(&mut client, &text, "longer");
    refused(
        &mut client,
        &text,
        "x".repeat(2000).as_str(),
        StatusCode::BadOutOfRange,
    );
}

struct Override(Mutex<f64>);

impl ValueSource for Override {
    fn read(&self) -> DataValue {
        DataValue::good(*self.0.lock().unwrap())
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match value.value {
            Some(Variant::Double(percent)) if (0.0..=150.0).contains(&percent) => {
                *self.0.lock().unwrap() = percent;
                StatusCode::Good
            }
            _ => StatusCode::BadOutOfRange,
        }
    }
}

#[test]
fn a_callback_decides_for_itself() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let source = Value::Callback(Arc::new(Override(Mutex::new(100.0))));
    let node = space
        .add_variable("override")
        .data_type(ids::DOUBLE)
        .value(source)
        .writable()
        .add()
        .unwrap();
    good(&mut client, &node, 120.0_f64);
    refused(&mut client, &node, 200.0_f64, StatusCode::BadOutOfRange);
    wrong(&mut client, &node, 1_u32);
    let constant = Value::callback(|| DataValue::good(1.0_f64));
    let node = space
        .add_variable("constant")
        .data_type(ids::DOUBLE)
        .value(constant)
        .writable()
        .add()
        .unwrap();
    refused(&mut client, &node, 2.0_f64, StatusCode::BadNotWritable);
}

#[test]
fn the_status_of_a_value_can_be_set_by_the_application() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let cell = Value::Cell(Arc::new(Cell::of(&Variant::from(5_u32))));
    for (name, value) in [("stored", Value::stored(5_u32)), ("cell", cell)] {
        let node = space.add_variable(name).value(value).add().unwrap();
        space
            .set_status(&node, StatusCode::UncertainLastUsableValue)
            .unwrap();
        let value = client.read_value(node.clone());
        assert_eq!(value.value, Some(Variant::from(5_u32)));
        assert_eq!(value.status, Some(StatusCode::UncertainLastUsableValue));
        space.set_status(&node, StatusCode::Good).unwrap();
        assert_eq!(client.read_value(node).status, None);
    }
}

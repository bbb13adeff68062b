//! Write (OPC 10000-4, 5.11.4): index ranges, access levels, and targets of values.

use std::sync::{Arc, Mutex};

use crate::common::{Client, VALUE, server, write_of};
use takt_cell::Cell;
use takt_space::{AddressSpace, Value, ValueSource, access_level};
use takt_ua::structures::WriteValue;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant, ids};

pub(crate) fn good(client: &mut Client, node: &NodeId, value: impl Into<Variant>) {
    let value = value.into();
    assert_eq!(
        client.write_value(node.clone(), value.clone()),
        StatusCode::Good,
        "{value:?}"
    );
    assert_eq!(client.read_value(node.clone()).value, Some(value));
}

pub(crate) fn refused(
    client: &mut Client,
    node: &NodeId,
    value: impl Into<Variant>,
    status: StatusCode,
) {
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

pub(crate) fn variable(
    space: &AddressSpace,
    name: &str,
    data_type: u32,
    value: impl Into<Variant>,
) -> NodeId {
    space
        .add_variable(name)
        .data_type(data_type)
        .value(Value::stored(value))
        .writable()
        .add()
        .unwrap()
}

pub(crate) fn wrong(client: &mut Client, node: &NodeId, value: impl Into<Variant>) {
    refused(client, node, value, StatusCode::BadTypeMismatch);
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
    assert_eq!(
        client.read_value(full).source_timestamp,
        Some(DateTime(4711))
    );
}

#[test]
fn stored_values_and_cells_keep_the_status_and_the_time_of_a_write() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let cell = Value::Cell(Arc::new(Cell::of(&Variant::from(1_u32))));
    for (name, source) in [("stored", Value::stored(1_u32)), ("cell", cell)] {
        let variable = space.add_variable(name).value(source).writable();
        let node = variable.add().unwrap();
        let mut write = |value: DataValue| {
            let result = client.write(vec![write_of(node.clone(), value)]).unwrap();
            assert_eq!(result, [StatusCode::Good], "{name}");
            client.read_value(node.clone())
        };
        // Many clients send a status, both timestamps, and picoseconds of 0 with each value.
        let complete = DataValue {
            status: Some(StatusCode::Good),
            source_timestamp: Some(DateTime(4711)),
            source_picoseconds: Some(0),
            server_timestamp: Some(DateTime(4712)),
            server_picoseconds: Some(0),
            ..DataValue::good(2_u32)
        };
        let read = write(complete);
        assert_eq!(read.value, Some(Variant::from(2_u32)));
        assert_eq!(read.source_timestamp, Some(DateTime(4711)));
        let read = write(DataValue::good(3_u32).with_server_timestamp(DateTime(4713)));
        assert_eq!(read.source_timestamp, Some(DateTime(4713)));
        let read = write(DataValue::good(4_u32).with_source_timestamp(DateTime::MIN));
        assert!(read.source_timestamp.unwrap() > DateTime(4713), "now");
        let uncertain = StatusCode::UncertainInitialValue;
        let read = write(DataValue::good(5_u32).with_status(uncertain));
        assert_eq!(read.value, Some(Variant::from(5_u32)));
        assert_eq!(read.status, Some(uncertain));
        let failed = DataValue::status(StatusCode::BadSensorFailure);
        let read = write(failed.with_source_timestamp(DateTime(4714)));
        assert_eq!(read.value, None);
        assert_eq!(read.status, Some(StatusCode::BadSensorFailure));
        assert_eq!(read.source_timestamp, Some(DateTime(4714)));
        let read = write(DataValue::good(6_u32));
        assert_eq!(
            (read.value, read.status),
            (Some(Variant::from(6_u32)), None)
        );

        let precise = DataValue {
            source_picoseconds: Some(1),
            ..DataValue::good(7_u32).with_source_timestamp(DateTime(4715))
        };
        let result = client.write(vec![write_of(node.clone(), precise)]);
        assert_eq!(result.unwrap(), [StatusCode::BadWriteNotSupported]);
    }
}

#[test]
fn invalid_writes_are_refused() {
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
fn cells_accept_values_up_to_their_capacity() {
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
    // It stores the value only.
    for whole in [
        DataValue::good(130.0_f64).with_source_timestamp(DateTime(4711)),
        DataValue::good(130.0_f64).with_status(StatusCode::UncertainInitialValue),
    ] {
        let result = client.write(vec![write_of(node.clone(), whole)]).unwrap();
        assert_eq!(result, [StatusCode::BadWriteNotSupported]);
    }
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

#[test]
fn nodes_of_the_standard_are_read_only() {
    let mut client = Client::new(&server());
    for id in [
        ids::SERVER_SERVER_DIAGNOSTICS_ENABLED_FLAG,
        ids::WELL_KNOWN_ROLE_OPERATOR_APPLICATIONS_EXCLUDE,
        ids::WELL_KNOWN_ROLE_OPERATOR_ENDPOINTS_EXCLUDE,
    ] {
        // AccessLevel, UserAccessLevel and AccessLevelEx.
        for (attribute, expected) in [(17, 1_u8.into()), (18, 1_u8.into()), (27, 1_u32.into())] {
            let level = client.read_attribute(id, attribute).value;
            assert_eq!(level, Some(expected), "i={id}, attribute {attribute}");
        }
        refused(
            &mut client,
            &NodeId::from(id),
            false,
            StatusCode::BadNotWritable,
        );
    }
}

//! Write (OPC 10000-4, 5.11.4).

use takt_app::{Attribute, Client};
use takt_ua::structures::{WriteRequest, WriteValue};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

use crate::conformance::plant::{MAX_OPERATIONS, fault, node, value, write_range};

fn write(client: &mut Client, items: Vec<WriteValue>) -> Vec<StatusCode> {
    let expected = items.len();
    let response = client.call(WriteRequest {
        nodes_to_write: items,
        ..WriteRequest::default()
    });
    let results = response.unwrap().results;
    assert_eq!(results.len(), expected);
    results
}

fn item(node_id: NodeId, value: impl Into<Variant>) -> WriteValue {
    WriteValue {
        node_id,
        attribute_id: Attribute::Value as u32,
        value: DataValue {
            value: Some(value.into()),
            ..DataValue::default()
        },
        ..WriteValue::default()
    }
}

pub(crate) fn a_value_is_written(client: &mut Client) {
    let written = DateTime::now();
    let results = write(
        client,
        vec![
            item(node("UInt32"), 43_u32),
            item(node("Nobody"), 1_u32),
            item(node("String"), "Grüß Gott, 世界"),
            item(node("Array"), vec![1_u32, 2]),
        ],
    );
    assert_eq!(
        results,
        [
            StatusCode::Good,
            StatusCode::BadNodeIdUnknown,
            StatusCode::Good,
            StatusCode::Good
        ]
    );
    let read = client.read(&node("UInt32")).unwrap();
    assert_eq!(read.value, Some(43_u32.into()));
    assert!(read.source_timestamp.unwrap() >= written);
    assert_eq!(value(client, "String"), "Grüß Gott, 世界".into());
    assert_eq!(value(client, "Array"), vec![1_u32, 2].into());

    // A client's own source timestamp stays with the value.
    let stamped = WriteValue {
        value: DataValue {
            source_timestamp: Some(DateTime(132_000_000_000_000_000)),
            ..DataValue::good(44_u32)
        },
        ..item(node("UInt32"), 44_u32)
    };
    assert_eq!(write(client, vec![stamped]), [StatusCode::Good]);
    let read = client.read(&node("UInt32")).unwrap();
    assert_eq!(
        read.source_timestamp,
        Some(DateTime(132_000_000_000_000_000))
    );
    // Many clients send a status and both timestamps with each value.
    let complete = WriteValue {
        value: DataValue {
            status: Some(StatusCode::UncertainInitialValue),
            source_timestamp: Some(DateTime(132_000_000_000_000_001)),
            source_picoseconds: Some(0),
            server_timestamp: Some(DateTime::now()),
            server_picoseconds: Some(0),
            ..DataValue::good(45_u32)
        },
        ..item(node("UInt32"), 45_u32)
    };
    assert_eq!(write(client, vec![complete]), [StatusCode::Good]);
    let read = client.read(&node("UInt32")).unwrap();
    assert_eq!(read.value, Some(45_u32.into()));
    assert_eq!(read.status, Some(StatusCode::UncertainInitialValue));
    assert_eq!(
        read.source_timestamp,
        Some(DateTime(132_000_000_000_000_001))
    );
    // If the DataType allows any type, a value of another type may follow.
    assert_eq!(
        write(client, vec![item(node("Any"), vec!["a", "b"])]),
        [StatusCode::Good]
    );
    assert_eq!(value(client, "Any"), vec!["a", "b"].into());
}

pub(crate) fn values_of_another_type_are_refused(client: &mut Client) {
    let mismatch: [(&str, Variant); 8] = [
        ("UInt32", 1.0_f64.into()),
        ("UInt32", 1_i32.into()),
        ("UInt32", "1".into()),
        ("UInt32", vec![1_u32].into()),
        ("UInt32", Variant::Empty),
        ("Array", 1_u32.into()),
        ("Array", vec![1.0_f64].into()),
        ("Matrix", vec![1_i32, 2].into()),
    ];
    for (name, wrong) in mismatch {
        let before = value(client, name);
        assert_eq!(
            write(client, vec![item(node(name), wrong.clone())]),
            [StatusCode::BadTypeMismatch],
            "{name} = {wrong:?}"
        );
        assert_eq!(value(client, name), before, "{name} = {wrong:?}");
    }
    // The array is longer than its ArrayDimensions allow.
    let too_long = write(client, vec![item(node("Array"), vec![0_u32; 5])]);
    assert!(too_long[0].is_bad(), "{too_long:?}");
    // The source of the value can refuse it.
    let results = write(
        client,
        vec![
            item(node("Percent"), 101.0_f64),
            item(node("Percent"), 99.0_f64),
            item(node("Percent"), f64::NAN),
        ],
    );
    assert_eq!(
        results,
        [
            StatusCode::BadOutOfRange,
            StatusCode::Good,
            StatusCode::BadOutOfRange
        ]
    );
    assert_eq!(value(client, "Percent"), 99.0_f64.into());
}

pub(crate) fn writes_to_read_only_nodes_are_refused(client: &mut Client) {
    let other = |attribute_id: u32| WriteValue {
        attribute_id,
        ..item(node("UInt32"), 1_u32)
    };
    // The source of this value stores neither a status nor a time.
    let with_status = WriteValue {
        value: DataValue::good(1.0_f64).with_status(StatusCode::UncertainInitialValue),
        ..item(node("Percent"), 1.0_f64)
    };
    let with_server_time = WriteValue {
        value: DataValue::good(1.0_f64).with_server_timestamp(DateTime::now()),
        ..item(node("Percent"), 1.0_f64)
    };
    let results = write(
        client,
        vec![
            item(node("ReadOnly"), 1_i16),
            item(node("Plant"), 1_u32),
            other(Attribute::DisplayName as u32),
            other(99),
            with_status,
            with_server_time,
            item(NodeId::NULL, 1_u32),
            item(
                NodeId::numeric(0, takt_ua::ids::SERVER_NAMESPACE_ARRAY),
                "x",
            ),
            item(node("WriteOnly"), 8_i16),
        ],
    );
    assert_eq!(
        results,
        [
            StatusCode::BadNotWritable,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadNotWritable,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadWriteNotSupported,
            StatusCode::BadWriteNotSupported,
            StatusCode::BadNodeIdInvalid,
            StatusCode::BadNotWritable,
            StatusCode::Good,
        ]
    );
    assert_eq!(value(client, "UInt32"), 42_u32.into());
    assert_eq!(value(client, "ReadOnly"), 7_i16.into());

    assert_eq!(
        fault(client.call(WriteRequest::default())),
        StatusCode::BadNothingToDo
    );
    let too_many = client.call(WriteRequest {
        nodes_to_write: vec![item(node("UInt32"), 5_u32); MAX_OPERATIONS as usize + 1],
        ..WriteRequest::default()
    });
    assert_eq!(fault(too_many), StatusCode::BadTooManyOperations);
    assert_eq!(value(client, "UInt32"), 42_u32.into());
}

pub(crate) fn an_index_range_is_written(client: &mut Client) {
    let good = StatusCode::Good;
    assert_eq!(write_range(client, "Array", "1:2", vec![7_u32, 8]), good);
    assert_eq!(value(client, "Array"), vec![10_u32, 7, 8, 13].into());
    assert_eq!(write_range(client, "Array", "0", vec![9_u32]), good);
    assert_eq!(write_range(client, "String", "0:1", "Ba"), good);
    assert_eq!(value(client, "String"), "Bakt".into());
    let before = value(client, "Array");
    for (range, part, expected) in [
        ("1:2", vec![7_u32], StatusCode::BadIndexRangeDataMismatch),
        ("8:9", vec![7_u32, 8], StatusCode::BadIndexRangeNoData),
        ("2:1", vec![7_u32, 8], StatusCode::BadIndexRangeInvalid),
    ] {
        let status = write_range(client, "Array", range, part);
        assert_eq!(status, expected, "{range}");
    }
    let mismatch = write_range(client, "Array", "1:2", vec![7.0_f64, 8.0]);
    assert_eq!(mismatch, StatusCode::BadTypeMismatch);
    assert!(write_range(client, "UInt32", "0", 1_u32).is_bad());
    assert_eq!(value(client, "Array"), before);
}

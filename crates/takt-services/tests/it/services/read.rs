//! Read (OPC 10000-4, 5.11.2): timestamps, index ranges, data encodings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{Client, VALUE, read_id, server};
use takt_cell::Cell;
use takt_space::{ChannelSecurity, Peer, Value, access_level};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{
    Range, ReadRequest, ReadResponse, ReadValueId, ServerDiagnosticsSummaryDataType,
};
use takt_ua::{
    Array, BuiltInType, DataValue, DateTime, ExtensionObject, NodeId, QualifiedName, StatusCode,
    Variant, ids,
};

fn ranged(node: &NodeId, range: &str) -> ReadValueId {
    ReadValueId {
        index_range: range.into(),
        ..read_id(node.clone(), VALUE)
    }
}

fn encoded(node: &NodeId, encoding: &str) -> ReadValueId {
    ReadValueId {
        data_encoding: QualifiedName::new(0, encoding),
        ..read_id(node.clone(), VALUE)
    }
}

fn one(client: &mut Client, item: ReadValueId) -> DataValue {
    client.read(vec![item]).unwrap().remove(0)
}

fn with_timestamps(
    client: &mut Client,
    timestamps_to_return: TimestampsToReturn,
    nodes_to_read: Vec<ReadValueId>,
) -> Result<Vec<DataValue>, StatusCode> {
    let request_header = client.header();
    let read = ReadRequest {
        request_header,
        timestamps_to_return,
        nodes_to_read,
        ..ReadRequest::default()
    };
    client
        .call::<_, ReadResponse>(read)
        .map(|response| response.results)
}

#[test]
fn values_of_every_kind() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let cell = Arc::new(Cell::of(&Variant::from(1.5_f64)));
    let from_cell = space
        .add_variable("cell")
        .value(Value::Cell(Arc::clone(&cell)))
        .add()
        .unwrap();
    let stored = space
        .add_variable("stored")
        .value(Value::stored("text"))
        .add()
        .unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let read = move || DataValue::good(counter.fetch_add(1, Ordering::Relaxed));
    let callback = space
        .add_variable("callback")
        .value(Value::callback(read))
        .add()
        .unwrap();
    let unset = space.add_variable("unset").add().unwrap();

    assert_eq!(
        client.read_value(from_cell.clone()).value,
        Some(Variant::from(1.5_f64))
    );
    cell.set_f64(2.5, StatusCode::UncertainLastUsableValue, DateTime(42))
        .unwrap();
    let value = client.read_value(from_cell);
    assert_eq!(value.value, Some(Variant::from(2.5_f64)));
    assert_eq!(value.status, Some(StatusCode::UncertainLastUsableValue));
    assert_eq!(value.source_timestamp, Some(DateTime(42)));
    assert_eq!(client.read_value(stored).value, Some(Variant::from("text")));
    assert_eq!(
        client.read_value(callback.clone()).value,
        Some(Variant::from(0_u32))
    );
    let again = client.read_value(callback);
    assert_eq!(again.value, Some(Variant::from(1_u32)));
    assert_eq!(
        again.source_timestamp, again.server_timestamp,
        "it was read just now"
    );
    let unset = client.read_value(unset);
    assert_eq!(
        (unset.value, unset.status),
        (None, Some(StatusCode::BadWaitingForInitialData))
    );
}

#[test]
fn timestamps_are_those_requested() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let items: Vec<ReadValueId> = [
        Value::Cell(Arc::new(Cell::of(&Variant::from(1_u32)))),
        Value::stored(1_u32),
        Value::callback(|| DataValue::good(1_u32)),
    ]
    .into_iter()
    .enumerate()
    .map(|(number, value)| {
        let node = space
            .add_variable(format!("V{number}").as_str())
            .value(value)
            .add()
            .unwrap();
        read_id(node, VALUE)
    })
    .collect();
    for (timestamps, source, server) in [
        (TimestampsToReturn::Source, true, false),
        (TimestampsToReturn::Server, false, true),
        (TimestampsToReturn::Both, true, true),
        (TimestampsToReturn::Neither, false, false),
    ] {
        for value in with_timestamps(&mut client, timestamps, items.clone()).unwrap() {
            assert_eq!(value.value, Some(Variant::from(1_u32)));
            assert_eq!(value.source_timestamp.is_some(), source, "{timestamps:?}");
            assert_eq!(value.server_timestamp.is_some(), server, "{timestamps:?}");
        }
        let name = read_id(ids::SERVER, 3);
        let name = with_timestamps(&mut client, timestamps, vec![name])
            .unwrap()
            .remove(0);
        assert_eq!(name.source_timestamp, None, "only values have one");
        assert_eq!(name.server_timestamp.is_some(), server);
    }
    for timestamps in [
        TimestampsToReturn::Invalid,
        TimestampsToReturn(-1),
        TimestampsToReturn(9),
    ] {
        let refused = with_timestamps(&mut client, timestamps, items.clone());
        assert_eq!(
            refused.unwrap_err(),
            StatusCode::BadTimestampsToReturnInvalid
        );
    }
}

#[test]
fn a_negative_max_age_is_refused() {
    let mut client = Client::new(&server());
    for (max_age, result) in [
        (-1.0, Some(StatusCode::BadMaxAgeInvalid)),
        (f64::NAN, Some(StatusCode::BadMaxAgeInvalid)),
        (0.0, None),
        (1e9, None),
    ] {
        let request_header = client.header();
        let read = ReadRequest {
            request_header,
            max_age,
            nodes_to_read: vec![read_id(ids::SERVER_SERVICE_LEVEL, VALUE)],
            ..ReadRequest::default()
        };
        assert_eq!(
            client.call::<_, ReadResponse>(read).err(),
            result,
            "{max_age}"
        );
    }
}

#[test]
fn index_ranges_select_parts() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let numbers: Vec<u32> = (0..10).collect();
    let array = space
        .add_variable("array")
        .value(Value::stored(numbers.clone()))
        .add()
        .unwrap();
    let cell = Value::Cell(Arc::new(Cell::of(&Variant::from(numbers))));
    let in_cell = space.add_variable("cell").value(cell).add().unwrap();
    let text = space
        .add_variable("text")
        .value(Value::stored("abcdef"))
        .add()
        .unwrap();
    let matrix = Array::matrix(vec![1_i16, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    let matrix = space
        .add_variable("matrix")
        .value(Value::stored(matrix))
        .value_rank(2, &[0, 0])
        .add()
        .unwrap();
    for node in [&array, &in_cell] {
        let part = one(&mut client, ranged(node, "2:4"));
        assert_eq!(part.value, Some(Variant::from(vec![2_u32, 3, 4])));
        assert!(part.source_timestamp.is_some());
        assert_eq!(
            one(&mut client, ranged(node, "9")).value,
            Some(Variant::from(vec![9_u32]))
        );
        let end = one(&mut client, ranged(node, "8:20"));
        assert_eq!(end.value, Some(Variant::from(vec![8_u32, 9])));
    }
    assert_eq!(
        one(&mut client, ranged(&text, "1:2")).value,
        Some(Variant::from("bc"))
    );
    let column = one(&mut client, ranged(&matrix, "0:1,1")).value.unwrap();
    let expected = Array::matrix(vec![2_i16, 5], &[2, 1]).unwrap();
    assert_eq!(column, Variant::from(expected));

    for (node, range, status) in [
        (&array, "10:12", StatusCode::BadIndexRangeNoData),
        (&array, "1,1", StatusCode::BadIndexRangeNoData),
        (&array, "4:2", StatusCode::BadIndexRangeInvalid),
        (&array, "x", StatusCode::BadIndexRangeInvalid),
        (&array, "-1", StatusCode::BadIndexRangeInvalid),
    ] {
        assert_eq!(
            one(&mut client, ranged(node, range)).status,
            Some(status),
            "{range}"
        );
    }
    let scalar = ranged(&NodeId::from(ids::SERVER_SERVICE_LEVEL), "0");
    assert_eq!(
        one(&mut client, scalar).status,
        Some(StatusCode::BadIndexRangeNoData)
    );
}

#[test]
fn data_encodings_are_for_structures() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let range = ExtensionObject::from_structure(&Range {
        low: 0.0,
        high: 1.0,
    });
    let range = space
        .add_variable("range")
        .value(Value::stored(range))
        .add()
        .unwrap();
    let number = space
        .add_variable("number")
        .value(Value::stored(1_u32))
        .add()
        .unwrap();
    assert!(
        one(&mut client, encoded(&range, "Default Binary"))
            .value
            .is_some()
    );
    for (node, encoding, status) in [
        (
            &range,
            "Default XML",
            StatusCode::BadDataEncodingUnsupported,
        ),
        (
            &range,
            "Default JSON",
            StatusCode::BadDataEncodingUnsupported,
        ),
        (&range, "Default Morse", StatusCode::BadDataEncodingInvalid),
        (
            &number,
            "Default Binary",
            StatusCode::BadDataEncodingInvalid,
        ),
    ] {
        assert_eq!(
            one(&mut client, encoded(node, encoding)).status,
            Some(status),
            "{encoding}"
        );
    }
    let name = ReadValueId {
        data_encoding: QualifiedName::new(0, "Default Binary"),
        ..read_id(ids::SERVER, 3)
    };
    assert_eq!(
        one(&mut client, name).status,
        Some(StatusCode::BadDataEncodingInvalid)
    );
}

#[test]
fn unreadable_attributes_are_refused() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let write_only = space
        .add_variable("write only")
        .value(Value::stored(1_u32))
        .access_level(access_level::CURRENT_WRITE)
        .add()
        .unwrap();
    for (node, attribute, status) in [
        (NodeId::NULL, VALUE, StatusCode::BadNodeIdInvalid),
        (
            NodeId::numeric(0, 999_999),
            VALUE,
            StatusCode::BadNodeIdUnknown,
        ),
        (NodeId::string(7, "?"), 1, StatusCode::BadNodeIdUnknown),
        (
            NodeId::from(ids::SERVER),
            VALUE,
            StatusCode::BadAttributeIdInvalid,
        ),
        (
            NodeId::from(ids::SERVER),
            0,
            StatusCode::BadAttributeIdInvalid,
        ),
        (
            NodeId::from(ids::SERVER),
            u32::MAX,
            StatusCode::BadAttributeIdInvalid,
        ),
        (write_only, VALUE, StatusCode::BadNotReadable),
    ] {
        let result = client.read_attribute(node.clone(), attribute);
        assert_eq!(
            (result.value, result.status),
            (None, Some(status)),
            "{node} {attribute}"
        );
    }
}

#[test]
fn each_variable_of_namespace_0_has_a_value() {
    let mut client = Client::new(&server());
    let mut values = 0;
    for first in (1..40_000).step_by(1000) {
        let nodes = first..first + 1000_u32;
        let items = nodes.clone().map(|id| read_id(id, VALUE)).collect();
        for (id, value) in nodes.zip(client.read(items).unwrap()) {
            match value.status_code() {
                StatusCode::Good => values += 1,
                // No node, or one that is not a Variable.
                StatusCode::BadNodeIdUnknown | StatusCode::BadAttributeIdInvalid => {}
                // The users of all clients are for security-admins.
                StatusCode::BadUserAccessDenied if id == 3708 => {}
                status => panic!("i={id}: {status}"),
            }
        }
    }
    assert!(values > 1000, "{values}");
}

#[test]
fn the_server_shows_diagnostics_and_the_date_of_its_build() {
    let mut client = Client::new(&server());
    let mut summary = || {
        let id = ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY;
        let Some(Variant::ExtensionObject(summary)) = client.read_value(id).value else {
            panic!("a structure");
        };
        summary
            .decode_as::<ServerDiagnosticsSummaryDataType>()
            .unwrap()
    };
    let before = summary();
    assert_eq!(before.current_session_count, 1);
    assert_eq!(before.cumulated_session_count, 1);
    assert_eq!(before.rejected_requests_count, 0);
    let request_header = client.header();
    let nothing: Result<ReadResponse, _> = client.call(ReadRequest {
        request_header,
        ..ReadRequest::default()
    });
    assert_eq!(nothing.unwrap_err(), StatusCode::BadNothingToDo);
    let rejected =
        ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_REJECTED_REQUESTS_COUNT;
    assert_eq!(client.read_value(rejected).value, Some(1_u32.into()));
    let date = client.read_value(ids::SERVER_SERVER_STATUS_BUILD_INFO_BUILD_DATE);
    let Some(Variant::DateTime(date)) = date.value else {
        panic!("a time");
    };
    let year_2020 = takt_ua::DateTime(132_223_104_000_000_000);
    assert!(date > year_2020 && date <= takt_ua::DateTime::now());
}

#[test]
fn both_forms_of_a_request_are_answered_alike() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let cell = |value: Variant| Value::Cell(Arc::new(Cell::of(&value)));
    let numbers: Vec<u32> = (0..10_000).collect();
    let waiting = Cell::for_type(BuiltInType::Double, None, 0);
    let bad = Cell::of(&Variant::from(7_u32));
    bad.set_status(StatusCode::BadSensorFailure, DateTime(99))
        .unwrap();
    let variables = [
        ("number in a cell", cell(Variant::from(7_i16))),
        ("array in a cell", cell(Variant::from(numbers.clone()))),
        ("text in a cell", cell(Variant::from("Grüße"))),
        ("nothing in a cell", Value::Cell(Arc::new(waiting))),
        ("bad in a cell", Value::Cell(Arc::new(bad))),
        ("number", Value::stored(2.5_f64)),
        ("array", Value::stored(numbers)),
        ("not set", Value::not_set()),
        (
            "callback",
            Value::callback(|| {
                DataValue::good(true)
                    .with_status(StatusCode::UncertainLastUsableValue)
                    .with_source_timestamp(DateTime(77))
            }),
        ),
    ];
    let mut items = vec![
        read_id(ids::SERVER_SERVER_ARRAY, VALUE),
        read_id(ids::SERVER, 3),
        read_id(NodeId::numeric(9, 9), VALUE),
        read_id(ids::SERVER, 99),
    ];
    for (name, value) in variables {
        let node = space.add_variable(name).value(value).add().unwrap();
        let mut part = read_id(node.clone(), VALUE);
        part.index_range = "1:2".into();
        items.extend([read_id(node, VALUE), part]);
    }
    for timestamps_to_return in [
        TimestampsToReturn::Both,
        TimestampsToReturn::Source,
        TimestampsToReturn::Server,
        TimestampsToReturn::Neither,
    ] {
        let request = ReadRequest {
            request_header: client.header(),
            timestamps_to_return,
            nodes_to_read: items.clone(),
            ..ReadRequest::default()
        };
        let mut laid_out = client.call_laid_out(&request).unwrap();
        let mut encoded: ReadResponse = client.call(request).unwrap();
        for response in [&mut laid_out, &mut encoded] {
            response.response_header.timestamp = DateTime(1);
            for result in &mut response.results {
                let server_time = result.server_timestamp.is_some();
                result.server_timestamp = server_time.then_some(DateTime(1));
            }
        }
        assert_eq!(laid_out, encoded, "{timestamps_to_return:?}");
    }
}

#[test]
fn the_layout_of_shared_memory_is_for_shared_memory() {
    let server = server();
    let mut client = Client::new(&server);
    let request = ReadRequest {
        request_header: client.header(),
        nodes_to_read: vec![read_id(ids::SERVER, 3)],
        ..ReadRequest::default()
    };
    assert_eq!(client.call_laid_out(&request).unwrap().results.len(), 1);
    let peer = Peer::tcp(([127, 0, 0, 1], 50123).into());
    client.connection = server.connect(
        peer,
        ChannelSecurity::none(),
        "opc.tcp://test".to_owned(),
        Arc::new(|| ()),
    );
    let refused = client.call_laid_out(&request).unwrap_err();
    assert_eq!(refused, StatusCode::BadDecodingError);
}

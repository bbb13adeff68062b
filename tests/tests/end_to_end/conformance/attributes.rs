//! Read (OPC 10000-4, 5.11.2).

use takt_app::{Attribute, Client};
use takt_ua::enumerations::{ServerState, TimestampsToReturn};
use takt_ua::structures::{ReadRequest, ReadValueId, ServerStatusDataType};
use takt_ua::{
    Array, DateTime, Elements, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids,
};

use crate::conformance::plant::{self, MAX_OPERATIONS, attribute, fault, node, read, standard};

pub(crate) fn every_attribute_of_a_variable_is_read(client: &mut Client) {
    let expected: [(Attribute, Variant); 12] = [
        (Attribute::NodeId, Variant::NodeId(Box::new(node("UInt32")))),
        (Attribute::NodeClass, Variant::Int32(2)),
        (
            Attribute::BrowseName,
            Variant::QualifiedName(Box::new(QualifiedName::new(plant::NAMESPACE, "UInt32"))),
        ),
        (
            Attribute::DisplayName,
            Variant::LocalizedText(Box::new(LocalizedText::from("A number"))),
        ),
        (
            Attribute::Description,
            Variant::LocalizedText(Box::new(LocalizedText::from("For all tests"))),
        ),
        (Attribute::WriteMask, 0_u32.into()),
        (Attribute::UserWriteMask, 0_u32.into()),
        (Attribute::Value, 42_u32.into()),
        (
            Attribute::DataType,
            Variant::NodeId(Box::new(standard(ids::UINT32))),
        ),
        (Attribute::ValueRank, Variant::Int32(-1)),
        (Attribute::Historizing, false.into()),
        (Attribute::MinimumSamplingInterval, 0_f64.into()),
    ];
    for (which, value) in expected {
        let result = client.read_attribute(&node("UInt32"), which).unwrap();
        assert_eq!(result.status_code(), StatusCode::Good, "{which:?}");
        assert_eq!(result.value, Some(value), "{which:?}");
    }
    for which in [Attribute::AccessLevel, Attribute::UserAccessLevel] {
        let level = client.read_attribute(&node("UInt32"), which).unwrap();
        assert!(matches!(level.value, Some(Variant::Byte(level)) if level & 3 == 3));
    }
    let dimensions = client
        .read_attribute(&node("Matrix"), Attribute::ArrayDimensions)
        .unwrap();
    assert_eq!(dimensions.value, Some(vec![2_u32, 3].into()));
    // Attributes of other NodeClasses do not exist here.
    for which in [
        Attribute::EventNotifier,
        Attribute::Executable,
        Attribute::IsAbstract,
    ] {
        let result = client.read_attribute(&node("UInt32"), which).unwrap();
        assert_eq!(result.status_code(), StatusCode::BadAttributeIdInvalid);
    }
}

fn range(client: &mut Client, name: &str, range: &str) -> Result<Variant, StatusCode> {
    let item = ReadValueId {
        index_range: range.into(),
        ..attribute(node(name), Attribute::Value)
    };
    let result = read(client, vec![item]).swap_remove(0);
    match result.status_code() {
        StatusCode::Good => Ok(result.value.unwrap()),
        status => Err(status),
    }
}

pub(crate) fn an_index_range_is_read(client: &mut Client) {
    assert_eq!(range(client, "Array", "1:2"), Ok(vec![11_u32, 12].into()));
    assert_eq!(range(client, "Array", "3"), Ok(vec![13_u32].into()));
    // A range that exceeds the value returns its existing part.
    assert_eq!(range(client, "Array", "2:9"), Ok(vec![12_u32, 13].into()));
    let column = Variant::Array(Box::new(Array {
        elements: Elements::Int32(vec![2, 5]),
        dimensions: vec![2, 1],
    }));
    assert_eq!(range(client, "Matrix", "0:1,1"), Ok(column));
    assert_eq!(range(client, "String", "1:2"), Ok("ak".into()));
    assert_eq!(
        range(client, "Array", "4:5"),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range(client, "UInt32", "0"),
        Err(StatusCode::BadIndexRangeNoData)
    );
    for invalid in ["2:1", "1:1", "-1", "a", "1:", "1;2", " "] {
        assert_eq!(
            range(client, "Array", invalid),
            Err(StatusCode::BadIndexRangeInvalid),
            "`{invalid}`"
        );
    }
}

pub(crate) fn timestamps_are_those_requested(client: &mut Client) {
    for (asked, source, server) in [
        (TimestampsToReturn::Source, true, false),
        (TimestampsToReturn::Server, false, true),
        (TimestampsToReturn::Both, true, true),
        (TimestampsToReturn::Neither, false, false),
    ] {
        for name in ["UInt32", "Percent", "Array"] {
            let response = client
                .call(ReadRequest {
                    timestamps_to_return: asked,
                    nodes_to_read: vec![attribute(node(name), Attribute::Value)],
                    ..ReadRequest::default()
                })
                .unwrap();
            let value = &response.results[0];
            assert_eq!(value.source_timestamp.is_some(), source, "{name} {asked:?}");
            assert_eq!(value.server_timestamp.is_some(), server, "{name} {asked:?}");
        }
    }
    let invalid = client.call(ReadRequest {
        timestamps_to_return: TimestampsToReturn(4),
        nodes_to_read: vec![attribute(node("UInt32"), Attribute::Value)],
        ..ReadRequest::default()
    });
    assert_eq!(fault(invalid), StatusCode::BadTimestampsToReturnInvalid);
    let invalid = client.call(ReadRequest {
        max_age: -1.0,
        nodes_to_read: vec![attribute(node("UInt32"), Attribute::Value)],
        ..ReadRequest::default()
    });
    assert_eq!(fault(invalid), StatusCode::BadMaxAgeInvalid);
}

pub(crate) fn a_bad_operation_leaves_the_others_alone(client: &mut Client) {
    let value = |name: &str| attribute(node(name), Attribute::Value);
    let encoded = |name: &str, encoding: &str| ReadValueId {
        data_encoding: QualifiedName::new(0, encoding),
        ..value(name)
    };
    let results = read(
        client,
        vec![
            value("UInt32"),
            value("Nobody"),
            attribute(NodeId::NULL, Attribute::Value),
            attribute(NodeId::numeric(4_000, 1), Attribute::Value),
            ReadValueId {
                attribute_id: 99,
                ..value("UInt32")
            },
            ReadValueId {
                attribute_id: 0,
                ..value("UInt32")
            },
            attribute(node("Plant"), Attribute::Value),
            value("WriteOnly"),
            value("Broken"),
            value("NotSet"),
            encoded("UInt32", "Default Binary"),
            encoded("UInt32", "Nonsense"),
            value("Double"),
        ],
    );
    let statuses: Vec<_> = results.iter().map(|result| result.status_code()).collect();
    assert_eq!(
        statuses,
        [
            StatusCode::Good,
            StatusCode::BadNodeIdUnknown,
            StatusCode::BadNodeIdInvalid,
            StatusCode::BadNodeIdUnknown,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadNotReadable,
            StatusCode::BadSensorFailure,
            StatusCode::BadWaitingForInitialData,
            StatusCode::BadDataEncodingInvalid,
            StatusCode::BadDataEncodingInvalid,
            StatusCode::Good,
        ]
    );
    assert_eq!(results[0].value, Some(42_u32.into()));
    assert_eq!(results[12].value, Some(1.5_f64.into()));
    // A structure is available in the encoding of this connection, by name, and in no other.
    let structure = |encoding: &str| ReadValueId {
        data_encoding: QualifiedName::new(0, encoding),
        ..attribute(standard(ids::SERVER_SERVER_STATUS), Attribute::Value)
    };
    let results = read(
        client,
        vec![structure("Default Binary"), structure("Default XML")],
    );
    assert_eq!(results[0].status_code(), StatusCode::Good);
    assert_eq!(
        results[1].status_code(),
        StatusCode::BadDataEncodingUnsupported
    );
}

pub(crate) fn too_little_and_too_much_is_a_fault(client: &mut Client) {
    assert_eq!(
        fault(client.call(ReadRequest::default())),
        StatusCode::BadNothingToDo
    );
    let item = attribute(node("UInt32"), Attribute::Value);
    let mut read = |count: u32| {
        client.call(ReadRequest {
            nodes_to_read: vec![item.clone(); count as usize],
            ..ReadRequest::default()
        })
    };
    assert_eq!(
        read(MAX_OPERATIONS).unwrap().results.len(),
        MAX_OPERATIONS as usize
    );
    assert_eq!(
        fault(read(MAX_OPERATIONS + 1)),
        StatusCode::BadTooManyOperations
    );
}

pub(crate) fn server_status_is_live(client: &mut Client) {
    let status = |client: &mut Client| {
        let value = client.read_good(&standard(ids::SERVER_SERVER_STATUS));
        match value.unwrap() {
            Variant::ExtensionObject(object) => object.decode_as::<ServerStatusDataType>().unwrap(),
            other => panic!("no structure: {other:?}"),
        }
    };
    let first = status(client);
    assert_eq!(first.state, ServerState::Running);
    assert!(first.start_time <= first.current_time);
    assert!((DateTime::now().0 - first.current_time.0).abs() < 50_000_000);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(status(client).current_time > first.current_time);
    let level = client.read_good(&standard(ids::SERVER_SERVICE_LEVEL));
    assert_eq!(level.unwrap(), Variant::Byte(255));
    assert_eq!(
        client.namespace_array().unwrap(),
        [
            "http://opcfoundation.org/UA/",
            "urn:takt:conformance:server",
            plant::NAMESPACE_URI
        ]
    );
}

pub(crate) fn operation_limits_are_shown(client: &mut Client) {
    for limit in [
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_WRITE,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_METHOD_CALL,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_BROWSE,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_NODE_MANAGEMENT,
    ] {
        let value = client.read_good(&standard(limit)).unwrap();
        assert_eq!(value, MAX_OPERATIONS.into(), "i={limit}");
    }
    let mut limit = |identifier: u32| client.read_good(&standard(identifier)).unwrap();
    assert_eq!(
        limit(ids::SERVER_SERVER_CAPABILITIES_MAX_STRING_LENGTH),
        u32::try_from(plant::MAX_STRING).unwrap().into()
    );
    assert_eq!(
        limit(ids::SERVER_SERVER_CAPABILITIES_MAX_ARRAY_LENGTH),
        u32::try_from(plant::MAX_ARRAY).unwrap().into()
    );
    assert_eq!(
        limit(ids::SERVER_SERVER_CAPABILITIES_MAX_BROWSE_CONTINUATION_POINTS),
        2_u16.into()
    );
}

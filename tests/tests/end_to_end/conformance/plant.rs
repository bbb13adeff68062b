//! The server of the cases.

use std::sync::Arc;

use takt_app::{Attribute, Client};
use takt_services::{EverybodyManages, OperationLimits, Server, ServerBudgets};
use takt_space::{CallError, Caller, Value, ValueSource, access_level};
use takt_ua::binary::Limits;
use takt_ua::structures::{ReadRequest, ReadValueId, WriteRequest, WriteValue};
use takt_ua::{
    Array, DataValue, DateTime, Elements, NodeId, QualifiedName, StatusCode, Variant, ids,
};

pub(crate) const NAMESPACE_URI: &str = "urn:takt:conformance";
/// Index of that namespace: 0 is the standard's, 1 the application's own.
pub(crate) const NAMESPACE: u16 = 2;

/// Largest number of operations in one request.
pub(crate) const MAX_OPERATIONS: u32 = 1_000;
/// Largest length of a string in bytes.
pub(crate) const MAX_STRING: usize = 2 << 20;
/// Largest number of elements of an array.
pub(crate) const MAX_ARRAY: usize = 1 << 20;
/// Number of children of the Object `Many`.
pub(crate) const MANY: usize = 25;

/// Returns a node of the plant.
pub(crate) fn node(name: &str) -> NodeId {
    NodeId::string(NAMESPACE, name)
}

/// Returns a node of the standard.
pub(crate) fn standard(identifier: u32) -> NodeId {
    NodeId::numeric(0, identifier)
}

/// A value between 0 and 100.
struct Percent(std::sync::Mutex<f64>);

impl ValueSource for Percent {
    fn read(&self) -> DataValue {
        DataValue::good(*self.0.lock().unwrap()).with_source_timestamp(DateTime::now())
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match value.value {
            Some(Variant::Double(percent)) if (0.0..=100.0).contains(&percent) => {
                *self.0.lock().unwrap() = percent;
                StatusCode::Good
            }
            _ => StatusCode::BadOutOfRange,
        }
    }
}

pub(crate) fn server() -> Arc<Server> {
    let operations = OperationLimits {
        max_nodes_per_read: MAX_OPERATIONS,
        max_nodes_per_write: MAX_OPERATIONS,
        max_nodes_per_method_call: MAX_OPERATIONS,
        max_nodes_per_browse: MAX_OPERATIONS,
        max_nodes_per_register_nodes: MAX_OPERATIONS,
        max_nodes_per_translate_browse_paths_to_node_ids: MAX_OPERATIONS,
        max_nodes_per_node_management: MAX_OPERATIONS,
        max_monitored_items_per_call: MAX_OPERATIONS,
        max_nodes_per_history_read_data: MAX_OPERATIONS,
        max_nodes_per_history_read_events: MAX_OPERATIONS,
    };
    let encoding = Limits {
        max_string_length: MAX_STRING,
        max_array_length: MAX_ARRAY,
        ..Limits::DEFAULT
    };
    let server = Server::builder("Plant", "urn:takt:conformance:server")
        .namespace(NAMESPACE_URI)
        .budgets(ServerBudgets {
            operations,
            encoding,
            max_browse_continuation_points: 2,
            ..ServerBudgets::default()
        })
        .node_management(Arc::new(EverybodyManages))
        .build()
        .unwrap();
    add_variables(&server);
    add_methods(&server);
    server
}

fn add_variables(server: &Server) {
    let space = server.address_space();
    let name = |name: &str| QualifiedName::new(NAMESPACE, name);
    for object in ["Plant", "Many"] {
        let object_node = space.add_object(name(object)).node_id(node(object));
        object_node.add().unwrap();
    }
    for number in 0..MANY {
        let child = format!("Child{number}");
        let child = space.add_object(name(&child)).node_id(node(&child));
        child.component_of(node("Many")).add().unwrap();
    }
    let matrix = Variant::Array(Box::new(Array {
        elements: Elements::Int32((1..=6).collect()),
        dimensions: vec![2, 3],
    }));
    let variable = |path: &str| {
        let variable = space.add_variable(name(path)).node_id(node(path));
        variable.component_of(node("Plant"))
    };
    let stored = |path: &str, value: Variant| variable(path).value(Value::stored(value));
    let add = |builder: takt_space::NodeBuilder<'_>| builder.add().unwrap();
    add(stored("UInt32", 42_u32.into())
        .writable()
        .display_name("A number")
        .description("For all tests"));
    add(stored("Double", 1.5_f64.into()).writable());
    add(stored("String", "Takt".into()).writable());
    add(stored("ReadOnly", 7_i16.into()));
    add(stored("WriteOnly", 7_i16.into()).access_level(access_level::CURRENT_WRITE));
    add(stored("Array", vec![10_u32, 11, 12, 13].into())
        .array(4)
        .writable());
    add(stored("Matrix", matrix).value_rank(2, &[2, 3]).writable());
    add(stored("Large", vec![0_u32].into()).array(0).writable());
    add(stored(
        "Bytes",
        Variant::ByteString(takt_ua::ByteString::from(&[1_u8, 2, 3])),
    )
    .writable());
    add(stored("Any", Variant::Boolean(true))
        .data_type(ids::BASE_DATA_TYPE)
        .value_rank(-2, &[])
        .writable());
    add(variable("NotSet").data_type(ids::INT64));
    add(variable("Broken").value(Value::callback(|| {
        DataValue::status(StatusCode::BadSensorFailure)
    })));
    add(variable("Percent")
        .data_type(ids::DOUBLE)
        .value(Value::Callback(Arc::new(Percent(50.0.into()))))
        .writable());
}

fn add_methods(server: &Server) {
    let space = server.address_space();
    let add = |_: &Caller, _: &NodeId, inputs: &[Variant]| match inputs {
        [Variant::Double(a), Variant::Double(b)] => Ok(vec![Variant::Double(a + b)]),
        _ => Err(CallError::from(StatusCode::BadInternalError)),
    };
    space
        .add_method(QualifiedName::new(NAMESPACE, "Add"))
        .node_id(node("Add"))
        .component_of(node("Plant"))
        .input("A", ids::DOUBLE, -1)
        .input("B", ids::DOUBLE, -1)
        .output("Sum", ids::DOUBLE, -1)
        .handler(add)
        .add()
        .unwrap();
    space
        .add_method(QualifiedName::new(NAMESPACE, "Refuse"))
        .node_id(node("Refuse"))
        .component_of(node("Plant"))
        .handler(|_: &Caller, _: &NodeId, _: &[Variant]| {
            Err(CallError::from(StatusCode::BadInvalidState))
        })
        .add()
        .unwrap();
}

/// Returns the item for reading one attribute.
pub(crate) fn attribute(node_id: NodeId, attribute: Attribute) -> ReadValueId {
    ReadValueId {
        node_id,
        attribute_id: attribute as u32,
        ..ReadValueId::default()
    }
}

/// Reads some attributes.
pub(crate) fn read(client: &mut Client, nodes_to_read: Vec<ReadValueId>) -> Vec<DataValue> {
    let expected = nodes_to_read.len();
    let response = client.call(ReadRequest {
        timestamps_to_return: takt_ua::enumerations::TimestampsToReturn::Both,
        nodes_to_read,
        ..ReadRequest::default()
    });
    let results = response.unwrap().results;
    assert_eq!(results.len(), expected);
    results
}

/// Writes a part of a Value, or all of it if `range` is empty.
pub(crate) fn write_range(
    client: &mut Client,
    name: &str,
    range: &str,
    value: impl Into<Variant>,
) -> StatusCode {
    let response = client.call(WriteRequest {
        nodes_to_write: vec![WriteValue {
            node_id: node(name),
            attribute_id: Attribute::Value as u32,
            index_range: range.into(),
            value: DataValue {
                value: Some(value.into()),
                ..DataValue::default()
            },
        }],
        ..WriteRequest::default()
    });
    response.unwrap().results[0]
}

/// Returns the Value of a node of the plant.
pub(crate) fn value(client: &mut Client, name: &str) -> Variant {
    client.read_good(&node(name)).unwrap()
}

/// Returns the StatusCode of a service that must fail as a whole.
pub(crate) fn fault<R: std::fmt::Debug>(result: Result<R, takt_app::ClientError>) -> StatusCode {
    match result {
        Err(takt_app::ClientError::Service { status, .. }) => status,
        other => panic!("a fault was expected, not {other:?}"),
    }
}
